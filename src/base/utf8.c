/* SPDX-License-Identifier: MIT */
/*
 * The table of well-formed sequences: the first byte fixes the length and the
 * range of the second byte, all others are 80..BF. That range is what keeps
 * out overlong forms, surrogates and everything above U+10FFFF.
 */
#include "base/utf8.h"

#include <string.h>

struct lead {
	uint8_t first, last; /* range of the lead byte */
	uint8_t length;
	uint8_t low, high; /* range of the second byte */
	uint8_t mask;      /* payload bits of the lead byte */
};

static const struct lead leads[] = {
	{ 0xc2, 0xdf, 2, 0x80, 0xbf, 0x1f },
	{ 0xe0, 0xe0, 3, 0xa0, 0xbf, 0x0f },
	{ 0xe1, 0xec, 3, 0x80, 0xbf, 0x0f },
	{ 0xed, 0xed, 3, 0x80, 0x9f, 0x0f },
	{ 0xee, 0xef, 3, 0x80, 0xbf, 0x0f },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf, 0x07 },
	{ 0xf1, 0xf3, 4, 0x80, 0xbf, 0x07 },
	{ 0xf4, 0xf4, 4, 0x80, 0x8f, 0x07 },
	{ 0 },
};

size_t
ckpt_utf8_decode(const uint8_t *p, size_t n, uint32_t *point)
{
	if (n == 0)
		return 0;
	if (p[0] < 0x80) {
		*point = p[0];
		return 1;
	}
	for (const struct lead *lead = leads; lead->length > 0; lead++) {
		if (p[0] < lead->first || p[0] > lead->last)
			continue;
		if (n < lead->length || p[1] < lead->low || p[1] > lead->high)
			return 0;
		*point = p[0] & lead->mask;
		for (size_t k = 1; k < lead->length; k++) {
			if ((p[k] & 0xc0) != 0x80)
				return 0;
			*point = *point << 6 | (p[k] & 0x3f);
		}
		return lead->length;
	}
	return 0;
}

/* Behind the ASCII characters from i on, found eight at a time. */
static size_t
skip_ascii(const uint8_t *p, size_t n, size_t i)
{
	while (n - i >= 8) {
		uint64_t eight;

		memcpy(&eight, p + i, sizeof eight);
		if (eight & 0x8080808080808080u)
			break;
		i += 8;
	}
	while (i < n && p[i] < 0x80)
		i++;
	return i;
}

bool
ckpt_utf8_valid(const void *bytes, size_t n, size_t *valid)
{
	const uint8_t *p = bytes;
	size_t i = 0;

	for (;;) {
		uint32_t point;
		size_t k;

		/* p may be NULL if there is nothing. */
		i = skip_ascii(p, n, i);
		if (i == n)
			break;
		k = ckpt_utf8_decode(p + i, n - i, &point);
		if (k == 0)
			break;
		i += k;
	}
	if (valid)
		*valid = i;
	return i == n;
}
