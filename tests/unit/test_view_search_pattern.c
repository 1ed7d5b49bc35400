/* SPDX-License-Identifier: MIT */
/*
 * What is typed after /: bytes with gaps, texts, values, names, and what is
 * said of the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "view/search_pattern.h"

static void
test_parse_bytes(void **state)
{
	static const uint8_t bytes[] = { 0x0a, 0, 0xff, 0xa0, 0x0b };
	static const uint8_t mask[] = { 0xff, 0, 0xff, 0xf0, 0x0f };
	static const char *const same[] = { "x 0a ?? ff a? ?b", "/x 0A??FFA??B",
		"x   0a??  ff a??b  " };
	struct view_pattern p;
	struct ckpt_buf why = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		assert_true(view_pattern_parse(&p, same[i], &why));
		assert_int_equal(p.kind, VIEW_SEARCH_BYTES);
		assert_int_equal(p.n, 5);
		assert_memory_equal(p.bytes, bytes, 5);
		assert_memory_equal(p.mask, mask, 5);
		assert_int_equal(p.anchor, 0);
	}
	assert_true(view_pattern_parse(&p, "x 00 ?? 00 01", &why));
	assert_int_equal(p.anchor, 3);
	assert_true(view_pattern_parse(&p, "t a b", &why));
	assert_int_equal(p.n, 3);
	assert_memory_equal(p.bytes, "a b", 3);
	assert_true(view_pattern_parse(&p, "t é", &why));
	assert_memory_equal(p.bytes, "\xc3\xa9", 2);
	assert_int_equal(why.n, 0);
	ckpt_buf_release(&why);
}

static void
test_parse_values(void **state)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{ "f 0.5", 0.5 },
		{ "/f  -1e3 ", -1000 },
		{ "f 0x1.8p1", 3 },
		{ "f inf", (double)INFINITY },
		{ "f -inf", -(double)INFINITY },
		{ "f bits:3ff0000000000000", 1 },
	};
	struct view_pattern p;
	struct ckpt_buf why = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_true(view_pattern_parse(&p, rows[i].text, &why));
		assert_int_equal(p.kind, VIEW_SEARCH_VALUE);
		assert_true(p.value == rows[i].value);
	}
	assert_true(view_pattern_parse(&p, "f nan", &why));
	assert_true(isnan(p.value));
	ckpt_buf_release(&why);
}

static void
test_parse_names(void **state)
{
	static const char *const names[] = { "x", "f", "f0.5", "xylophone",
		"token", "for x" };
	struct view_pattern p;
	struct ckpt_buf why = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_true(view_pattern_parse(&p, names[i], &why));
		assert_int_equal(p.kind, VIEW_SEARCH_NAME);
		assert_string_equal(p.name, names[i]);
	}
	ckpt_buf_release(&why);
}

static void
test_parse_errors(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "x 0", "a byte has two digits: 0a, a?, ??" },
		{ "x 0 a", "a byte has two digits: 0a, a?, ??" },
		{ "x 0a g1", "neither a hexadecimal digit nor ?: g1" },
		{ "x 0x0a", "neither a hexadecimal digit nor ?: x0a" },
		{ "x \x1b[", "neither a hexadecimal digit nor ?: \\x1b[" },
		{ "x ", "which bytes? as in: x 0a ?? ff" },
		{ "/x", "which bytes? as in: x 0a ?? ff" },
		{ "x ?? ??", "?? alone is everywhere" },
		{ "t ", "which text? as in: t hello" },
		{ "f ", "which value? as in: f 0.5, f nan, f -inf" },
		{ "f 0.5.1", "not a number: 0.5.1" },
		{ "f one", "not a number: one" },
		{ "", "nothing to search for" },
	};
	struct view_pattern p;
	char longest[4000];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_buf why = { 0 };

		assert_false(view_pattern_parse(&p, rows[i].text, &why));
		assert_string_equal(why.p, rows[i].why);
		ckpt_buf_release(&why);
	}
	for (int i = 0; i < 2; i++) {
		struct ckpt_buf why = { 0 };

		memset(longest, 'a', sizeof longest - 1);
		longest[sizeof longest - 1] = '\0';
		memcpy(longest, i ? "t " : "x ", 2);
		assert_false(view_pattern_parse(&p, longest, &why));
		assert_string_equal(why.p, "at most 1024 bytes");
		ckpt_buf_release(&why);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_bytes),
		cmocka_unit_test(test_parse_values),
		cmocka_unit_test(test_parse_names),
		cmocka_unit_test(test_parse_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
