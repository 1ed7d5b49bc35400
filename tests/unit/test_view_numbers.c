/* SPDX-License-Identifier: MIT */
/*
 * Bytes as numbers of every type against known answers, and doubles taken
 * apart, against known answers and the C library.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "view/numbers.h"

static void
parts_of_doubles(void **state)
{
	static const struct {
		uint64_t bits;
		const char *words;
	} rows[] = {
		{ 0, "sign +, exponent -1022, mantissa 0x0000000000000, "
		     "zero" },
		{ 0x8000000000000000, "sign -, exponent -1022, mantissa "
				      "0x0000000000000, zero" },
		{ 1, "sign +, exponent -1022, mantissa 0x0000000000001, "
		     "subnormal" },
		{ 0x0010000000000000, "sign +, exponent -1022, mantissa "
				      "0x0000000000000, normal" },
		{ 0xbff8000000000000, "sign -, exponent 0, mantissa "
				      "0x8000000000000, normal" },
		{ 0x7fefffffffffffff, "sign +, exponent 1023, mantissa "
				      "0xfffffffffffff, normal" },
		{ 0xfff0000000000000, "sign -, exponent 1024, mantissa "
				      "0x0000000000000, infinite" },
		{ 0x7ff0000000000abc, "sign +, exponent 1024, mantissa "
				      "0x0000000000abc, signalling NaN, "
				      "payload 0xabc" },
		{ 0xfff8000000000001, "sign -, exponent 1024, mantissa "
				      "0x8000000000001, quiet NaN, payload "
				      "0x1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_buf buf = { 0 };

		view_f64_parts_write(&buf, rows[i].bits);
		assert_string_equal(buf.p, rows[i].words);
		ckpt_buf_release(&buf);
	}
}

static void
neighbours_are_those_of_the_library(void **state)
{
	static const uint64_t edges[] = { 0, 1, 2, 0x000fffffffffffff,
		0x0010000000000000, 0x3ff0000000000000, 0x3fefffffffffffff,
		0x7fefffffffffffff, 0x7ff0000000000000 };
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < 20000; i++) {
		uint64_t bits, next;
		double x;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bits = i < 18 ? edges[i / 2] | (uint64_t)(i & 1) << 63
			      : seed ^ seed >> 29;
		x = ckpt_f64_from_bits(bits);
		if (isnan(x)) {
			assert_false(view_f64_above(bits, &next));
			assert_false(view_f64_below(bits, &next));
			continue;
		}
		if (view_f64_above(bits, &next))
			assert_int_equal(next,
				ckpt_f64_bits(nextafter(x, (double)INFINITY)));
		else
			assert_true(isinf(x) && x > 0);
		if (view_f64_below(bits, &next))
			assert_int_equal(next,
				ckpt_f64_bits(nextafter(x, -(double)INFINITY)));
		else
			assert_true(isinf(x) && x < 0);
	}
}

static size_t
pair(const char *names)
{
	size_t i = 0;

	while (strcmp(view_number_pair(i), names) != 0)
		i++;
	return i;
}

static void
numbers_of_every_type(void **state)
{
	static const struct {
		const char *names;
		uint64_t bits;
		const char *words;
	} rows[] = {
		{ "u8 i8", 0xff, "255  -1" },
		{ "u16 i16", 0x8000, "32768  -32768" },
		{ "u32 i32", 0xfffffffe, "4294967294  -2" },
		{ "u64 i64", UINT64_MAX, "18446744073709551615  -1" },
		{ "f16 bf16", 0x3c00, "1  0.007812" },
		{ "f16 bf16", 0x3f80, "1.875  1" },
		{ "f16 bf16", 0x7bff, "65504  2.648e+36" },
		{ "f16 bf16", 0x0001, "5.9605e-08  9.184e-41" },
		{ "f16 bf16", 0xfc00, "-inf  -2.658e+36" },
		{ "f16 bf16", 0x7e00, "NaN  4.254e+37" },
		{ "f16 bf16", 0xff80, "NaN  -inf" },
		{ "f16 bf16", 0x8000, "-0  -0" },
		{ "f32", 0x3dcccccd, "0.1" },
		{ "f32", 0x3f800001, "1.0000001" },
		{ "f32", 0x00000001, "1e-45" },
		{ "f32", 0x7f7fffff, "3.4028235e+38" },
		{ "f32", 0x7f800000, "inf" },
		{ "f32", 0xffc00000, "NaN" },
		{ "f64", 0x3fb999999999999a, "0.1 (bits 3fb999999999999a)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_buf buf = { 0 };
		uint8_t bytes[8];

		ckpt_store_u64(bytes, rows[i].bits);
		view_number_pair_write(&buf, pair(rows[i].names), bytes, 8);
		assert_string_equal(buf.p, rows[i].words);
		ckpt_buf_release(&buf);
	}
}

/* Five digits tell every half from the next, and ascend as their bits do. */
static void
halves_ascend(void **state)
{
	double last = -1.0;

	(void)state;
	for (unsigned bits = 0; bits < 0x7c00; bits++) {
		struct ckpt_buf buf = { 0 };
		uint8_t bytes[2] = { (uint8_t)bits, (uint8_t)(bits >> 8) };
		double x;

		view_number_pair_write(&buf, pair("f16 bf16"), bytes, 2);
		x = strtod(buf.p, NULL);
		assert_true(x > last);
		last = x;
		ckpt_buf_release(&buf);
	}
}

static void
too_few_bytes_are_no_number(void **state)
{
	static const size_t widths[] = { 1, 2, 2, 4, 4, 8, 8 };
	struct ckpt_buf buf = { 0 };
	uint8_t bytes[8] = { 0 };

	(void)state;
	for (size_t i = 0; view_number_pair(i); i++)
		for (size_t n = 0; n <= 8; n++) {
			ckpt_buf_clear(&buf);
			view_number_pair_write(&buf, i, bytes, n);
			assert_int_equal(buf.n > 0, n >= widths[i]);
		}
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_doubles),
		cmocka_unit_test(neighbours_are_those_of_the_library),
		cmocka_unit_test(numbers_of_every_type),
		cmocka_unit_test(halves_ascend),
		cmocka_unit_test(too_few_bytes_are_no_number),
	};

	return cmocka_run_group_tests_name("view_numbers", tests, NULL, NULL);
}
