/* SPDX-License-Identifier: MIT */
/*
 * Numbers of JSON. Integers are exact up to 2^64 - 1. Whether a double can
 * hold the others is decided on their digits, without converting: a number
 * rounds to infinity exactly from the point half way behind the largest
 * double, 2^1024 - 2^970, which has 309 digits. The format's own loader does
 * convert, in two roundings, and refuses a few numbers just below that point;
 * whoever is to be no laxer has to refuse them, too.
 */
#include "format/json_parts.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

static const char half_way[] =
	"179769313486231580793728971405303415079934132710037826936173"
	"778980444968292764750946649017977587207096330286416692887910"
	"946555547851940402630657488671505820681908902000708383676273"
	"854845817711531764475730270069855571366959622842914819860834"
	"936475292719074168444365510704342711559699508093042880177904"
	"174497792";

enum { DIGITS = sizeof half_way - 1 };

/* Far beyond every header, and far from overflowing when added. */
#define EXPONENT_MOST ((int64_t)1 << 40)

static bool
digit(const uint8_t *p, size_t n, size_t i)
{
	return i < n && p[i] >= '0' && p[i] <= '9';
}

static size_t
digits(const uint8_t *p, size_t n, size_t i)
{
	while (digit(p, n, i))
		i++;
	return i;
}

/* What could have been meant as part of the number, so that a finding shows
 * all of it. */
static size_t
word_end(const uint8_t *p, size_t n, size_t i)
{
	while (i < n && (digit(p, n, i) || ckpt_scan_letter(p[i]) ||
				p[i] == '.' || p[i] == '+' || p[i] == '-'))
		i++;
	return i;
}

static int64_t
read_exponent(const uint8_t *p, size_t at, size_t end)
{
	bool minus = p[at] == '-';
	int64_t e = 0;

	if (p[at] == '-' || p[at] == '+')
		at++;
	for (; at < end; at++)
		if (e < EXPONENT_MOST)
			e = 10 * e + (p[at] - '0');
	return minus ? -e : e;
}

/* Whether the digits of p[at, end), in which a point may stand, are below
 * half_way when their first that is not zero is the first of 309. */
static bool
below_half_way(const uint8_t *p, size_t at, size_t end)
{
	size_t i = 0;

	for (; at < end && i < DIGITS; at++) {
		if (p[at] == '.')
			continue;
		if (p[at] != (uint8_t)half_way[i])
			return p[at] < (uint8_t)half_way[i];
		i++;
	}
	/* The last digit of half_way is not zero. */
	return i < DIGITS;
}

/* The product that the loader takes: the digits that fit 64 bits, times the
 * power of ten that gives the number 309 places. */
static bool
loader_holds(const uint8_t *p, size_t at, size_t end)
{
	uint64_t digits_of = 0, next;
	int exponent = DIGITS;
	char power[16];

	for (; at < end; at++) {
		if (p[at] == '.')
			continue;
		if (!ckpt_mul_u64(digits_of, 10, &next) ||
			!ckpt_add_u64(next, (uint64_t)(p[at] - '0'), &next))
			break;
		digits_of = next;
		exponent--;
	}
	snprintf(power, sizeof power, "1e%d", exponent);
	return (double)digits_of * strtod(power, NULL) <= DBL_MAX;
}

/* p[at, end) are digits with or without a point, point is where the integer
 * part ends. */
static bool
finite(const uint8_t *p, size_t at, size_t point, size_t end, int64_t exponent)
{
	int64_t places;

	while (at < end && (p[at] == '0' || p[at] == '.'))
		at++;
	if (at == end)
		return true;
	/* The number is 0.d1d2d3... times ten to the places. */
	places =
		at < point ? (int64_t)(point - at) : -(int64_t)(at - point - 1);
	places += exponent;
	return places < DIGITS ||
	       (places == DIGITS && below_half_way(p, at, end) &&
		       loader_holds(p, at, end));
}

static void
whole(const uint8_t *p, size_t at, size_t end, struct ckpt_token *token)
{
	uint64_t v = 0;

	token->whole = true;
	token->fits = true;
	for (; at < end && token->fits; at++)
		token->fits = ckpt_mul_u64(v, 10, &v) &&
			      ckpt_add_u64(v, (uint64_t)(p[at] - '0'), &v);
	token->u64 = token->fits ? v : 0;
}

enum ckpt_scan_fault
ckpt_scan_number(const uint8_t *p, size_t n, struct ckpt_token *token)
{
	size_t i = token->at, first, point, mantissa;
	bool minus = p[i] == '-', leading;
	int64_t exponent = 0;

	i += minus;
	first = i;
	i = point = digits(p, n, i);
	leading = point - first > 1 && p[first] == '0';
	if (i < n && p[i] == '.') {
		i = digits(p, n, i + 1);
		if (i == point + 1)
			point = first; /* no digit behind it: no number */
	}
	mantissa = i;
	if (i < n && (p[i] | 0x20) == 'e') {
		size_t sign = ++i < n && (p[i] == '+' || p[i] == '-');
		size_t end = digits(p, n, i + sign);

		if (end == i + sign)
			point = first;
		else
			exponent = read_exponent(p, i, end);
		i = end;
	}
	token->end = word_end(p, n, i);
	if (point == first || leading || token->end != i)
		return CKPT_FAULT_NUMBER;
	if (i == point && !minus)
		whole(p, first, point, token);
	return finite(p, first, point, mantissa, exponent) ? CKPT_FAULT_NONE
							   : CKPT_FAULT_RANGE;
}
