/* SPDX-License-Identifier: MIT */
/*
 * The buffer and the one sanitiser.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

static void
check_escape(const void *bytes, size_t n, size_t most, const char *want)
{
	struct ckpt_buf buf;

	ckpt_buf_init(&buf);
	ckpt_buf_puts(&buf, "");
	ckpt_buf_escape(&buf, bytes, n, most);
	assert_false(buf.failed);
	assert_string_equal(buf.p, want);
	assert_int_equal(buf.n, strlen(want));
	ckpt_buf_release(&buf);
}

static void
test_buf_escape_every_byte_alone(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		uint8_t byte = (uint8_t)c;
		char want[8];

		snprintf(want, sizeof want, "\\x%02x", c);
		if (c == '\n')
			strcpy(want, "\\n");
		else if (c == '\r')
			strcpy(want, "\\r");
		else if (c == '\t')
			strcpy(want, "\\t");
		else if (c == '\\')
			strcpy(want, "\\\\");
		else if (c >= 0x20 && c < 0x7f)
			snprintf(want, sizeof want, "%c", (int)c);
		check_escape(&byte, 1, 0, want);
	}
}

static void
test_buf_escape_table(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac \xf0\x9f\x98\x80",
			"\xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\x1b[2J", "\\x1b[2J" },
		{ "\xc2\x80\xc2\x9b\xc2\x9f", "\\u{80}\\u{9b}\\u{9f}" },
		{ "\xc2\xa0", "\xc2\xa0" },
		{ "a\xe2\x80\xae"
		  "b",
			"a\\u{202e}b" },               /* RLO */
		{ "\xe2\x81\xa6", "\\u{2066}" },       /* LRI */
		{ "\xd8\x9c", "\\u{61c}" },            /* ALM */
		{ "\xe2\x80\x8b", "\\u{200b}" },       /* ZWSP */
		{ "\xe2\x80\x8d", "\\u{200d}" },       /* ZWJ */
		{ "\xef\xbb\xbf", "\\u{feff}" },       /* BOM */
		{ "\xe2\x80\xa8", "\\u{2028}" },       /* line separator */
		{ "\xef\xb8\x8f", "\\u{fe0f}" },       /* variation selector */
		{ "\xe3\x85\xa4", "\\u{3164}" },       /* Hangul filler */
		{ "\xf3\xa0\x81\x81", "\\u{e0041}" },  /* tag A */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* surrogate */
		{ "\xc0\x8a", "\\xc0\\x8a" },          /* overlong line feed */
		{ "x\xe2\x82", "x\\xe2\\x82" },        /* cut */
		{ "\xffok", "\\xffok" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check_escape(rows[i].in, strlen(rows[i].in), 0, rows[i].out);
	check_escape("a\0b", 3, 0, "a\\x00b");
	check_escape(NULL, 0, 0, "");
}

static void
test_buf_escape_is_bounded(void **state)
{
	(void)state;
	check_escape("abcdef", 6, 6, "abcdef");
	check_escape("abcdef", 6, 5, "abcde...");
	check_escape("abcdef", 6, 1, "a...");
	check_escape("\n\n\n", 3, 2, "\\n\\n...");
	/* A character that begins within the bound is whole, and nothing is
	 * called cut that is not. */
	check_escape("a\xe2\x82\xac", 4, 2, "a\xe2\x82\xac");
	check_escape("a\xe2\x82\xac!", 5, 2, "a\xe2\x82\xac...");
	check_escape("a\xe2\x82", 3, 2, "a\\xe2...");
}

static bool
harmless(uint32_t c)
{
	return c >= 0x20 && c != 0x7f && (c < 0x80 || c > 0x9f) &&
	       (c < 0x200b || c > 0x200f) && (c < 0x2028 || c > 0x202e) &&
	       (c < 0x2060 || c > 0x206f) && c != 0xfeff && c != 0xad &&
	       c != 0x61c && (c < 0xe0000 || c > 0xe0fff);
}

/* Whatever goes in, UTF-8 without controls comes out, and never more than a
 * known multiple of it. */
static void
test_buf_escape_random_bytes(void **state)
{
	uint32_t seed = 11;
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	for (int round = 0; round < 100000; round++) {
		uint8_t s[24];
		size_t n, most, at = 0;

		for (size_t i = 0; i < sizeof s; i++) {
			seed = seed * 1664525 + 1013904223;
			s[i] = (uint8_t)(seed >> 24);
			if (round % 3 == 1)
				s[i] = s[i] % 2 ? 0xe2 : 0x80 + s[i] / 4;
		}
		n = (seed >> 8) % (sizeof s + 1);
		most = (seed >> 16) % 30;
		ckpt_buf_clear(&buf);
		ckpt_buf_puts(&buf, "");
		ckpt_buf_escape(&buf, s, n, most);
		assert_true(buf.n <= 4 * n + 3);
		while (at < buf.n) {
			uint32_t point = 0;
			size_t k = ckpt_utf8_decode((const uint8_t *)buf.p + at,
				buf.n - at, &point);

			assert_true(k > 0 && harmless(point));
			at += k;
		}
	}
	ckpt_buf_release(&buf);
}

/* No two inputs look alike: the escaped text can be read back. */
static void
test_buf_escape_is_unambiguous(void **state)
{
	(void)state;
	check_escape("\\n", 2, 0, "\\\\n");
	check_escape("\\x0a", 4, 0, "\\\\x0a");
	check_escape("\\u{80}", 6, 0, "\\\\u{80}");
}

static void
test_buf_add_and_printf(void **state)
{
	struct ckpt_buf buf;
	char want[4000] = "";
	size_t n = 0;

	(void)state;
	ckpt_buf_init(&buf);
	for (int i = 0; i < 700; i++) {
		ckpt_buf_printf(&buf, "%d,", i);
		n += (size_t)snprintf(want + n, sizeof want - n, "%d,", i);
		assert_string_equal(buf.p, want);
	}
	ckpt_buf_add(&buf, "\0", 1);
	assert_int_equal(buf.n, n + 1);
	ckpt_buf_clear(&buf);
	assert_int_equal(buf.n, 0);
	assert_string_equal(buf.p, "");
	ckpt_buf_release(&buf);
	assert_null(buf.p);
}

static void
test_buf_failure_is_sticky(void **state)
{
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_buf_puts(&buf, "kept");
	ckpt_buf_add(&buf, NULL, SIZE_MAX);
	assert_true(buf.failed);
	ckpt_buf_puts(&buf, "lost");
	assert_true(buf.failed);
	assert_string_equal(buf.p, "kept");
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buf_escape_every_byte_alone),
		cmocka_unit_test(test_buf_escape_table),
		cmocka_unit_test(test_buf_escape_is_bounded),
		cmocka_unit_test(test_buf_escape_random_bytes),
		cmocka_unit_test(test_buf_escape_is_unambiguous),
		cmocka_unit_test(test_buf_add_and_printf),
		cmocka_unit_test(test_buf_failure_is_sticky),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
