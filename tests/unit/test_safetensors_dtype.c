/* SPDX-License-Identifier: MIT */
/*
 * The dtypes of safetensors: published values of every layout, the C
 * compiler's own float as a second opinion, and what every layout has in
 * common.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "format/safetensors_dtype.h"

static const struct safetensors_dtype *
dtype(const char *name)
{
	const struct safetensors_dtype *d =
		safetensors_dtype_find(name, strlen(name));

	assert_non_null(d);
	return d;
}

static void
test_dtype_names_and_sizes(void **state)
{
	static const struct {
		const char *name;
		unsigned bits;
	} rows[] = { { "BOOL", 8 }, { "U8", 8 }, { "I8", 8 }, { "U16", 16 },
		{ "I16", 16 }, { "F16", 16 }, { "BF16", 16 }, { "U32", 32 },
		{ "I32", 32 }, { "F32", 32 }, { "U64", 64 }, { "I64", 64 },
		{ "F64", 64 }, { "C64", 64 }, { "F8_E4M3", 8 },
		{ "F8_E5M2", 8 }, { "F8_E8M0", 8 }, { "F8_E4M3FNUZ", 8 },
		{ "F8_E5M2FNUZ", 8 }, { "F6_E2M3", 6 }, { "F6_E3M2", 6 },
		{ "F4", 4 } };
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(dtype(rows[i].name)->bits, rows[i].bits);
	while (safetensors_dtype_at(n))
		n++;
	assert_int_equal(n, sizeof rows / sizeof rows[0]);
	assert_null(safetensors_dtype_find("f32", 3));
	assert_null(safetensors_dtype_find("F32 ", 4));
	assert_null(safetensors_dtype_find("F3", 2));
	assert_null(safetensors_dtype_find("", 0));
	assert_null(safetensors_dtype_find("F32\0", 4));
}

/* OCP 8-bit floating point 1.0, OCP microscaling formats 1.0, ONNX for FNUZ,
 * IEEE 754 for the others. */
static const struct {
	const char *name;
	uint64_t bits;
	double value;
} published[] = {
	{ "F4", 0x0, 0.0 },
	{ "F4", 0x1, 0.5 },
	{ "F4", 0x2, 1.0 },
	{ "F4", 0x3, 1.5 },
	{ "F4", 0x4, 2.0 },
	{ "F4", 0x5, 3.0 },
	{ "F4", 0x6, 4.0 },
	{ "F4", 0x7, 6.0 },
	{ "F4", 0xf, -6.0 },
	{ "F6_E2M3", 0x01, 0.125 },
	{ "F6_E2M3", 0x07, 0.875 },
	{ "F6_E2M3", 0x08, 1.0 },
	{ "F6_E2M3", 0x1f, 7.5 },
	{ "F6_E2M3", 0x3f, -7.5 },
	{ "F6_E3M2", 0x01, 0.0625 },
	{ "F6_E3M2", 0x03, 0.1875 },
	{ "F6_E3M2", 0x04, 0.25 },
	{ "F6_E3M2", 0x1f, 28.0 },
	{ "F6_E3M2", 0x3f, -28.0 },
	{ "F8_E4M3", 0x01, 0x1p-9 },
	{ "F8_E4M3", 0x07, 0x1.cp-7 },
	{ "F8_E4M3", 0x08, 0x1p-6 },
	{ "F8_E4M3", 0x38, 1.0 },
	{ "F8_E4M3", 0x7e, 448.0 },
	{ "F8_E4M3", 0xfe, -448.0 },
	{ "F8_E5M2", 0x01, 0x1p-16 },
	{ "F8_E5M2", 0x03, 0x1.8p-15 },
	{ "F8_E5M2", 0x04, 0x1p-14 },
	{ "F8_E5M2", 0x3c, 1.0 },
	{ "F8_E5M2", 0x7b, 57344.0 },
	{ "F8_E5M2", 0x7c, (double)INFINITY },
	{ "F8_E5M2", 0xfc, -(double)INFINITY },
	{ "F8_E4M3FNUZ", 0x01, 0x1p-10 },
	{ "F8_E4M3FNUZ", 0x08, 0x1p-7 },
	{ "F8_E4M3FNUZ", 0x40, 1.0 },
	{ "F8_E4M3FNUZ", 0x7f, 240.0 },
	{ "F8_E4M3FNUZ", 0xff, -240.0 },
	{ "F8_E5M2FNUZ", 0x01, 0x1p-17 },
	{ "F8_E5M2FNUZ", 0x04, 0x1p-15 },
	{ "F8_E5M2FNUZ", 0x40, 1.0 },
	{ "F8_E5M2FNUZ", 0x7f, 57344.0 },
	{ "F8_E5M2FNUZ", 0xff, -57344.0 },
	{ "F8_E8M0", 0x00, 0x1p-127 },
	{ "F8_E8M0", 0x01, 0x1p-126 },
	{ "F8_E8M0", 0x7f, 1.0 },
	{ "F8_E8M0", 0xfe, 0x1p127 },
	{ "F16", 0x0001, 0x1p-24 },
	{ "F16", 0x03ff, 0x1.ff8p-15 },
	{ "F16", 0x0400, 0x1p-14 },
	{ "F16", 0x3555, 0x1.554p-2 },
	{ "F16", 0x7bff, 65504.0 },
	{ "F16", 0x7c00, (double)INFINITY },
	{ "F16", 0xfc00, -(double)INFINITY },
	{ "BF16", 0x0001, 0x1p-133 },
	{ "BF16", 0x3f80, 1.0 },
	{ "BF16", 0xc049, -3.140625 },
	{ "BF16", 0x7f7f, 0x1.fep127 },
	{ "BF16", 0xff80, -(double)INFINITY },
	{ "F32", 0x00000001, 0x1p-149 },
	{ "F32", 0x3dcccccd, (double)0.1f },
	{ "F64", 0x3fb999999999999a, 0.1 },
	{ "F64", 0x0000000000000001, 0x1p-1074 },
	{ "C64", 0xbf8000003f000000, 0.5 },
	{ "BOOL", 1, 1.0 },
	{ "U8", 0xff, 255.0 },
	{ "I8", 0x80, -128.0 },
	{ "I8", 0xff, -1.0 },
	{ "I16", 0x8000, -32768.0 },
	{ "I16", 0x7fff, 32767.0 },
	{ "I32", 0xfffffffe, -2.0 },
	{ "U32", 0xffffffff, 4294967295.0 },
	{ "I64", 0x8000000000000000, -0x1p63 },
	{ "I64", 0xffffffffffffffff, -1.0 },
	{ "U64", 0xffffffffffffffff, 0x1p64 },
};

static void
test_dtype_published_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
		double x = safetensors_dtype_value(
			dtype(published[i].name), published[i].bits);

		if (ckpt_f64_bits(x) != ckpt_f64_bits(published[i].value))
			fail_msg("%s %llx is %a", published[i].name,
				(unsigned long long)published[i].bits, x);
	}
}

static void
test_dtype_nan(void **state)
{
	static const struct {
		const char *name;
		uint64_t bits;
		uint64_t nan; /* how many bit patterns are NaN */
	} rows[] = { { "F4", 0, 0 }, { "F6_E2M3", 0, 0 }, { "F6_E3M2", 0, 0 },
		{ "F8_E4M3", 0x7f, 2 }, { "F8_E4M3", 0xff, 2 },
		{ "F8_E5M2", 0x7d, 6 }, { "F8_E5M2", 0xff, 6 },
		{ "F8_E8M0", 0xff, 1 }, { "F8_E4M3FNUZ", 0x80, 1 },
		{ "F8_E5M2FNUZ", 0x80, 1 }, { "F16", 0x7c01, 2046 },
		{ "F16", 0xfe00, 2046 }, { "BF16", 0x7f81, 254 },
		{ "BF16", 0xffff, 254 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct safetensors_dtype *d = dtype(rows[i].name);
		uint64_t n = 0;

		for (uint64_t b = 0; b < (uint64_t)1 << d->bits; b++)
			n += isnan(safetensors_dtype_value(d, b)) ? 1 : 0;
		assert_int_equal(n, rows[i].nan);
		if (n > 0)
			assert_true(isnan(
				safetensors_dtype_value(d, rows[i].bits)));
	}
}

/* F32 against the compiler's float, BF16 and F16 against F32 that hold the
 * same; a NaN keeps its payload. */
static void
test_dtype_agrees_with_float(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint32_t bits;
		float f;
		double x, y;

		seed = seed * 1664525 + 1013904223;
		bits = seed ^ seed >> 13;
		memcpy(&f, &bits, sizeof f);
		x = safetensors_dtype_value(dtype("F32"), bits);
		if (!isnan(f))
			assert_true(
				ckpt_f64_bits(x) == ckpt_f64_bits((double)f));
		else
			assert_true(ckpt_f64_bits(x) ==
				    ((uint64_t)(bits >> 31) << 63 |
					    0x7ff0000000000000 |
					    (uint64_t)(bits & 0x7fffff) << 29));
		x = safetensors_dtype_value(dtype("BF16"), bits >> 16);
		y = safetensors_dtype_value(dtype("F32"), bits & 0xffff0000);
		assert_true(ckpt_f64_bits(x) == ckpt_f64_bits(y));
	}
}

/* Positive bit patterns ascend, negative ones mirror them. */
static void
test_dtype_values_are_in_order(void **state)
{
	const struct safetensors_dtype *d;

	(void)state;
	for (size_t i = 0; (d = safetensors_dtype_at(i)); i++) {
		uint64_t half = (uint64_t)1 << (d->bits - 1);

		if (d->kind != SAFETENSORS_FLOAT || d->bits > 16 || !d->sign)
			continue;
		for (uint64_t b = 0; b < half; b++) {
			double x = safetensors_dtype_value(d, b);
			double y = safetensors_dtype_value(d, b | half);

			if (isnan(x) || isnan(y))
				continue;
			assert_true(x == -y);
			if (b > 0)
				assert_true(
					x > safetensors_dtype_value(d, b - 1));
		}
	}
}

static void
test_dtype_smallest_normal(void **state)
{
	(void)state;
	assert_true(safetensors_dtype_normal(dtype("F32")) == 0x1p-126);
	assert_true(safetensors_dtype_normal(dtype("C64")) == 0x1p-126);
	assert_true(safetensors_dtype_normal(dtype("F16")) == 0x1p-14);
	assert_true(safetensors_dtype_normal(dtype("F64")) == 0x1p-1022);
	assert_true(safetensors_dtype_normal(dtype("F4")) == 1.0);
	assert_true(safetensors_dtype_normal(dtype("F8_E4M3FNUZ")) == 0x1p-7);
	assert_true(safetensors_dtype_normal(dtype("F8_E8M0")) == 0x1p-127);
	assert_true(safetensors_dtype_normal(dtype("I32")) == 0.0);
}

/* Elements of less than a byte fill bytes from the lowest bit. */
static void
test_dtype_loads_elements(void **state)
{
	static const uint8_t bytes[] = { 0x21, 0x43, 0x65, 0x87, 0xa9, 0xcb,
		0xed, 0x0f };
	static const uint64_t sixes[] = { 0x21, 0x0c, 0x14, 0x19, 0x07, 0x26,
		0x3a, 0x32 };

	(void)state;
	for (uint64_t i = 0; i < 14; i++)
		assert_int_equal(safetensors_dtype_load(dtype("F4"), bytes, i),
			(i + 1) & 15);
	/* 0x654321 and 0xcba987 in groups of six bits. */
	assert_int_equal(safetensors_dtype_load(dtype("F6_E2M3"), bytes, 0),
		0x654321 & 63);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(
			safetensors_dtype_load(dtype("F6_E3M2"), bytes, i),
			sixes[i]);
	assert_int_equal(
		safetensors_dtype_load(dtype("U16"), bytes, 2), 0xcba9);
	assert_true(safetensors_dtype_load(dtype("C64"), bytes, 0) ==
		    0x0fedcba987654321);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dtype_names_and_sizes),
		cmocka_unit_test(test_dtype_published_values),
		cmocka_unit_test(test_dtype_nan),
		cmocka_unit_test(test_dtype_agrees_with_float),
		cmocka_unit_test(test_dtype_values_are_in_order),
		cmocka_unit_test(test_dtype_smallest_normal),
		cmocka_unit_test(test_dtype_loads_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
