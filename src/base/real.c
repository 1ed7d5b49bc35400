/* SPDX-License-Identifier: MIT */
/*
 * Real numbers of a command line. strtod does the rounding; what it takes
 * beyond numbers is turned away first. The tools never set a locale, so the
 * point is a point.
 */
#include "base/real.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a digit other than 0 stands before the exponent. */
static bool
has_value(const char *text)
{
	bool hex = strpbrk(text, "xX") != NULL;
	const char *end = strpbrk(text, hex ? "pP" : "eE");
	size_t n = end ? (size_t)(end - text) : strlen(text);

	for (size_t i = 0; i < n; i++)
		if (!strchr("+-.0xX", text[i]))
			return true;
	return false;
}

bool
ckpt_real_parse(const char *text, double *out)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *end;
	double x;

	/* Neither blanks nor words begin with these. */
	if (!*digits || !strchr(".0123456789", *digits))
		return false;
	errno = 0;
	x = strtod(text, &end);
	if (end == text || *end || !isfinite(x))
		return false;
	if (x == 0.0 && has_value(text))
		return false;
	*out = x;
	return true;
}
