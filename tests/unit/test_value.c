/* SPDX-License-Identifier: MIT */
/*
 * Values as text, legal values as text, and judging one against the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/value.h"

static struct ckpt_buf buf;

static const char *
shown(struct ckpt_value value)
{
	ckpt_buf_clear(&buf);
	ckpt_buf_puts(&buf, "");
	ckpt_value_write(&buf, &value);
	return buf.p;
}

static void
test_value_kinds(void **state)
{
	char many[100];

	(void)state;
	memset(many, 'a', sizeof many);
	assert_string_equal(shown(ckpt_v_none()), "");
	assert_string_equal(
		shown(ckpt_v_u64(UINT64_MAX)), "18446744073709551615");
	assert_string_equal(
		shown(ckpt_v_hash(0x1234)), "fnv1a64:0000000000001234");
	assert_string_equal(shown(ckpt_v_text("words")), "words");
	assert_string_equal(shown(ckpt_v_bytes("a\x1b\n", 3)), "\"a\\x1b\\n\"");
	assert_non_null(
		strstr(shown(ckpt_v_bytes(many, 100)), "aa...\" (100 bytes)"));
}

static void
test_value_doubles(void **state)
{
	static const struct {
		uint64_t bits;
		const char *text;
	} rows[] = {
		{ 0x0000000000000000, "0 (bits 0000000000000000)" },
		{ 0x8000000000000000, "-0 (bits 8000000000000000)" },
		{ 0x3fb999999999999a, "0.1 (bits 3fb999999999999a)" },
		{ 0x3fd3333333333334,
			"0.30000000000000004 (bits 3fd3333333333334)" },
		{ 0x0000000000000001, "5e-324 (bits 0000000000000001)" },
		{ 0x7ff0000000000000, "inf (bits 7ff0000000000000)" },
		{ 0xfff0000000000000, "-inf (bits fff0000000000000)" },
		{ 0xfff8000000000001, "NaN (bits fff8000000000001)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(
			shown(ckpt_v_f64(rows[i].bits)), rows[i].text);
}

/* The shortest text that reads back to the same bits. */
static void
test_value_doubles_read_back(void **state)
{
	uint64_t bits = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		double x;

		bits = bits * 6364136223846793005u + 1442695040888963407u;
		x = ckpt_f64_from_bits(bits);
		if (x != x)
			continue;
		assert_true(ckpt_f64_bits(strtod(
				    shown(ckpt_v_f64(bits)), NULL)) == bits);
	}
}

static void
test_value_fields(void **state)
{
	static const struct ckpt_tag tags[] = { { 1, "one", "" },
		{ 7, "seven", "" } };
	const struct ckpt_want want = {
		.kind = CKPT_WANT_TAGS, .tags = tags, .ntags = 2
	};
	struct ckpt_field field = { .type = CKPT_U16, .want = &want };
	struct ckpt_value value = ckpt_v_u64(7);

	(void)state;
	ckpt_buf_clear(&buf);
	ckpt_field_value_write(&buf, &field, &value);
	assert_string_equal(buf.p, "7 seven");
	ckpt_buf_clear(&buf);
	field.flags = CKPT_SHOW_HEX;
	value.u64 = 0xab;
	ckpt_field_value_write(&buf, &field, &value);
	assert_string_equal(buf.p, "0x00ab");
	ckpt_buf_clear(&buf);
	field.flags = CKPT_HASH_AS_ZERO;
	ckpt_field_value_write(&buf, &field, &value);
	assert_string_equal(buf.p, "fnv1a64:00000000000000ab");
	ckpt_buf_clear(&buf);
	ckpt_want_write(&buf, &want);
	assert_string_equal(buf.p, "1 one, 7 seven");
	assert_string_equal(ckpt_tag_name(&want, 1), "one");
	assert_null(ckpt_tag_name(&want, 2));
	assert_null(ckpt_tag_name(NULL, 1));
}

static void
check_want(enum ckpt_want_kind kind, uint64_t bits, bool holds)
{
	const struct ckpt_want want = { .kind = kind, .min = 3, .max = 5 };
	struct ckpt_value value = ckpt_v_f64(bits);

	assert_int_equal(ckpt_want_holds(&want, &value), holds);
}

static void
test_value_wants(void **state)
{
	static const struct {
		double x;
		bool positive, not_negative, below_one;
	} rows[] = {
		{ 0.0, false, true, true },
		{ -0.0, false, true, true },
		{ 5e-324, true, true, true },
		{ -5e-324, false, false, false },
		{ 1.0, true, true, false },
		{ 0x1.fffffffffffffp-1, true, true, true },
		{ 1e308, true, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t bits = ckpt_f64_bits(rows[i].x);

		check_want(CKPT_WANT_F64_POSITIVE, bits, rows[i].positive);
		check_want(
			CKPT_WANT_F64_NOT_NEGATIVE, bits, rows[i].not_negative);
		check_want(CKPT_WANT_F64_BELOW_ONE, bits, rows[i].below_one);
	}
	for (enum ckpt_want_kind k = CKPT_WANT_F64_POSITIVE;
		k <= CKPT_WANT_F64_BELOW_ONE; k++) {
		check_want(k, 0x7ff0000000000000, false);
		check_want(k, 0xfff0000000000000, false);
		check_want(k, 0x7ff0000000000001, false);
		check_want(k, 0xfff8000000000000, false);
	}
	for (uint64_t v = 0; v < 9; v++)
		check_want(CKPT_WANT_RANGE, v, v >= 3 && v <= 5);
	check_want(CKPT_WANT_ANY, 9, true);
}

static void
test_value_wants_of_bytes(void **state)
{
	static const uint8_t magic[8] = "MAGIC\1\2";
	const struct ckpt_want bytes = { .kind = CKPT_WANT_BYTES,
		.bytes = magic };
	const struct ckpt_want text = { .kind = CKPT_WANT_UTF8 };
	uint8_t found[8];
	struct ckpt_value value = ckpt_v_bytes(found, sizeof found);

	(void)state;
	for (size_t i = 0; i < sizeof magic; i++) {
		memcpy(found, magic, sizeof found);
		assert_true(ckpt_want_holds(&bytes, &value));
		assert_true(ckpt_want_holds(&text, &value));
		found[i] ^= 0x80;
		assert_false(ckpt_want_holds(&bytes, &value));
		assert_false(ckpt_want_holds(&text, &value));
	}
}

static void
test_value_wants_as_text(void **state)
{
	static const uint8_t magic[8] = "MAGIC\1\2";
	static const struct {
		struct ckpt_want want;
		const char *text;
	} rows[] = {
		{ { .kind = CKPT_WANT_RANGE, .min = 2, .max = 2 }, "2" },
		{ { .kind = CKPT_WANT_RANGE, .min = 1, .max = UINT64_MAX },
			"at least 1" },
		{ { .kind = CKPT_WANT_RANGE, .max = 1 }, "0 to 1" },
		{ { .kind = CKPT_WANT_BYTES, .bytes = magic },
			"4d 41 47 49 43 01 02 00" },
		{ { .kind = CKPT_WANT_UTF8, .min = 1 }, "UTF-8, not empty" },
		{ { .kind = CKPT_WANT_UTF8 }, "UTF-8" },
		{ { .kind = CKPT_WANT_F64_BELOW_ONE }, "finite, >= 0, < 1" },
		{ { .kind = CKPT_WANT_ANY }, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ckpt_buf_clear(&buf);
		ckpt_buf_puts(&buf, "");
		ckpt_want_write(&buf, &rows[i].want);
		assert_string_equal(buf.p, rows[i].text);
	}
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_kinds),
		cmocka_unit_test(test_value_doubles),
		cmocka_unit_test(test_value_doubles_read_back),
		cmocka_unit_test(test_value_fields),
		cmocka_unit_test(test_value_wants),
		cmocka_unit_test(test_value_wants_of_bytes),
		cmocka_unit_test(test_value_wants_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
