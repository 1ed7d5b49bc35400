/* SPDX-License-Identifier: MIT */
/*
 * Strict UTF-8: all code points, a table of what is not UTF-8, and random
 * strings against a decoder that is slow and follows the definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"

/* Gathers the bits first and asks whether they are legal afterwards. */
static size_t
slow_decode(const uint8_t *p, size_t n, uint32_t *point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t k = 0;
	uint32_t c;

	while (k < 8 && n > 0 && p[0] & (0x80 >> k))
		k++;
	if (n == 0 || k == 1 || k > 4 || k > n)
		return 0;
	c = k ? p[0] & (0x7fu >> k) : p[0];
	for (size_t i = 1; i < k; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c * 64 + p[i] % 64;
	}
	if (k && (c < least[k] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)))
		return 0;
	*point = c;
	return k ? k : 1;
}

static void
check_same(const uint8_t *p, size_t n)
{
	uint32_t a = 0, b = 0;
	size_t k = ckpt_utf8_decode(p, n, &a);

	assert_int_equal(k, slow_decode(p, n, &b));
	if (k)
		assert_int_equal(a, b);
}

/* All lead bytes with all second bytes and telling third and fourth ones. */
static void
test_utf8_all_short_sequences(void **state)
{
	static const uint8_t tails[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
		0xa0, 0xbf, 0xc0, 0xff };
	uint8_t s[4];

	(void)state;
	for (unsigned lead = 0; lead < 256; lead++)
		for (unsigned second = 0; second < 256; second++)
			for (size_t i = 0; i < 100; i++) {
				s[0] = (uint8_t)lead;
				s[1] = (uint8_t)second;
				s[2] = tails[i / 10];
				s[3] = tails[i % 10];
				for (size_t n = 0; n <= 4; n++)
					check_same(s, n);
			}
}

static size_t
encode(uint32_t c, uint8_t *s)
{
	if (c < 0x80) {
		s[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		s[0] = (uint8_t)(0xc0 | c >> 6);
		s[1] = (uint8_t)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		s[0] = (uint8_t)(0xe0 | c >> 12);
		s[1] = (uint8_t)(0x80 | (c >> 6 & 63));
		s[2] = (uint8_t)(0x80 | (c & 63));
		return 3;
	}
	s[0] = (uint8_t)(0xf0 | c >> 18);
	s[1] = (uint8_t)(0x80 | (c >> 12 & 63));
	s[2] = (uint8_t)(0x80 | (c >> 6 & 63));
	s[3] = (uint8_t)(0x80 | (c & 63));
	return 4;
}

static void
test_utf8_all_code_points(void **state)
{
	(void)state;
	for (uint32_t c = 0; c <= 0x110000; c++) {
		uint8_t s[4];
		uint32_t point;
		size_t n = encode(c, s);
		bool legal = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);

		assert_int_equal(ckpt_utf8_decode(s, n, &point), legal ? n : 0);
		if (legal)
			assert_int_equal(point, c);
		if (n > 1)
			assert_int_equal(ckpt_utf8_decode(s, n - 1, &point), 0);
	}
}

static void
test_utf8_table(void **state)
{
	static const struct {
		const char *s;
		size_t n, valid;
	} rows[] = {
		{ "", 0, 0 }, { "\0", 1, 1 }, { "gr\xc3\xbc\xc3\x9f", 6, 6 },
		{ "\xf4\x8f\xbf\xbf", 4, 4 },
		{ "a\xf4\x90\x80\x80", 5, 1 }, /* above U+10FFFF */
		{ "ab\xed\xa0\x80", 5, 2 },    /* surrogate */
		{ "\xed\x9f\xbf", 3, 3 },      /* the one before them */
		{ "\xc0\x80", 2, 0 },          /* overlong NUL */
		{ "\xc1\xbf", 2, 0 },          /* overlong DEL */
		{ "\xe0\x9f\xbf", 3, 0 },      /* overlong U+07FF */
		{ "\xf0\x8f\xbf\xbf", 4, 0 },  /* overlong U+FFFF */
		{ "x\xe2\x82", 3, 1 },         /* cut */
		{ "x\xf0\x9f\x98", 4, 1 },     /* cut */
		{ "x\x80", 2, 1 },             /* continuation alone */
		{ "\xfe", 1, 0 },
		{ "\xf8\x88\x80\x80\x80", 5, 0 }, /* five bytes */
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t valid = 99;

		assert_int_equal(ckpt_utf8_valid(rows[i].s, rows[i].n, &valid),
			rows[i].valid == rows[i].n);
		assert_int_equal(valid, rows[i].valid);
	}
	assert_true(ckpt_utf8_valid(NULL, 0, NULL));
}

static void
test_utf8_random_strings(void **state)
{
	static const uint8_t likely[] = { 0x41, 0x80, 0x9f, 0xa0, 0xbf, 0xc2,
		0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0x90, 0x8f };
	uint32_t seed = 3;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		uint8_t s[12];
		size_t n, valid, at = 0;
		uint32_t point;

		for (size_t i = 0; i < sizeof s; i++) {
			seed = seed * 1664525 + 1013904223;
			s[i] = likely[seed >> 28];
		}
		n = seed >> 8 & 7;
		while (at < n) {
			size_t k = slow_decode(s + at, n - at, &point);

			if (k == 0)
				break;
			at += k;
		}
		assert_int_equal(ckpt_utf8_valid(s, n, &valid), at == n);
		assert_int_equal(valid, at);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8_all_short_sequences),
		cmocka_unit_test(test_utf8_all_code_points),
		cmocka_unit_test(test_utf8_table),
		cmocka_unit_test(test_utf8_random_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
