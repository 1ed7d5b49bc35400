/* SPDX-License-Identifier: MIT */
/*
 * What the values of a safetensors file are told to be, finite or not: every
 * dtype, counts over all tensors, and infinities that are a mask.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/content.h"

/* ---- NaN, infinities, BOOL ---------------------------------------------- */

static const struct {
	const char *dtype;
	unsigned width;
	uint64_t one, odd;
	const char *want;
} not_finite[] = {
	{ "F64", 8, 0x3ff0000000000000, 0x7ff0000000000001, "CK4201" },
	{ "F64", 8, 0x3ff0000000000000, 0x7ff0000000000000, "CK4202" },
	{ "F64", 8, 0x3ff0000000000000, 0x7fefffffffffffff, "" },
	{ "F32", 4, ONE, 0xffc00000, "CK4201" },
	{ "F32", 4, ONE, 0x7f800001, "CK4201" },
	{ "F32", 4, ONE, 0xff800000, "CK4202" },
	{ "F32", 4, ONE, 0xff7fffff, "" },
	{ "BF16", 2, 0x3f80, 0x7f81, "CK4201" },
	{ "BF16", 2, 0x3f80, 0x7f80, "CK4202" },
	{ "BF16", 2, 0x3f80, 0x7f7f, "" },
	{ "F16", 2, 0x3c00, 0xfc01, "CK4201" },
	{ "F16", 2, 0x3c00, 0xfc00, "CK4202" },
	{ "F16", 2, 0x3c00, 0xfbff, "" },
	{ "F8_E5M2", 1, 0x3c, 0x7d, "CK4201" },
	{ "F8_E5M2", 1, 0x3c, 0xfe, "CK4201" },
	{ "F8_E5M2", 1, 0x3c, 0x7c, "CK4202" },
	{ "F8_E5M2", 1, 0x3c, 0x7b, "" },
	{ "F8_E4M3", 1, 0x38, 0x7f, "CK4201" },
	{ "F8_E4M3", 1, 0x38, 0xff, "CK4201" },
	{ "F8_E4M3", 1, 0x38, 0x7e, "" },
	{ "F8_E4M3", 1, 0x38, 0x80, "" },
	{ "F8_E4M3FNUZ", 1, 0x40, 0x80, "CK4201" },
	{ "F8_E4M3FNUZ", 1, 0x40, 0x7f, "" },
	{ "F8_E4M3FNUZ", 1, 0x40, 0xff, "" },
	{ "F8_E5M2FNUZ", 1, 0x40, 0x80, "CK4201" },
	{ "F8_E5M2FNUZ", 1, 0x40, 0xff, "" },
	{ "F8_E8M0", 1, 0x7f, 0xff, "CK4201" },
	{ "F8_E8M0", 1, 0x7f, 0xfe, "" },
	{ "F8_E8M0", 1, 0x7f, 0x00, "" },
	{ "BOOL", 1, 1, 0, "" },
	{ "BOOL", 1, 1, 2, "CK4204" },
	{ "BOOL", 1, 1, 0xff, "CK4204" },
	{ "U8", 1, 1, 0xff, "" },
	{ "I16", 2, 1, 0x7f81, "" },
	{ "U64", 8, 1, UINT64_MAX, "" },
};

static void
test_content_not_finite_of_every_dtype(void **state)
{
	/* Few values are looked at one by one, many in blocks. */
	static const size_t counts[] = { 12, 3000 };

	(void)state;
	for (size_t i = 0; i < sizeof not_finite / sizeof not_finite[0]; i++)
		for (size_t k = 0; k < 2; k++) {
			uint8_t p[8 * 3000], wide[8];
			char shape[40];
			struct content f;
			size_t n = counts[k], w = not_finite[i].width;

			snprintf(shape, sizeof shape, "[%zu]", n);
			memcpy(p,
				content_same(not_finite[i].one,
					not_finite[i].width, n),
				n * w);
			ckpt_store_u64(wide, not_finite[i].odd);
			memcpy(p + 7 * w, wide, w);
			memcpy(p + (n - 1) * w, wide, w);
			content_begin(&f);
			content_add_ones(&f);
			content_add(
				&f, "t", not_finite[i].dtype, shape, p, n * w);
			if (not_finite[i].want[0])
				content_expect_one(&f, not_finite[i].want,
					"tensors[1].data[7]", 2,
					"\"t\", flat index 7; 2 in 1 of 2 "
					"tensors");
			else
				content_expect(&f, "");
		}
}

/* F6 and F4 have neither. */
static void
test_content_less_than_a_byte_is_always_finite(void **state)
{
	struct content f;

	(void)state;
	content_begin(&f);
	content_add(&f, "a", "F4", "[2,64]", content_same(0xff, 1, 64), 64);
	content_add(&f, "b", "F6_E3M2", "[64]", content_same(0xff, 1, 48), 48);
	content_add(&f, "c", "F6_E2M3", "[64]", content_same(0xff, 1, 48), 48);
	content_expect(&f, "");
}

static void
test_content_counts_over_all_tensors(void **state)
{
	const struct ckpt_diag *d;
	uint8_t c64[32];
	struct judged j;
	struct content f;

	(void)state;
	content_begin(&f);
	content_add_ones(&f);
	memcpy(c64, content_same(ONE, 4, 8), 32);
	ckpt_store_u32(c64 + 4 * 5, 0x7fc00000); /* imaginary part of 2 */
	ckpt_store_u32(c64 + 4 * 6, 0x7f800000);
	content_add(&f, "c", "C64", "[2,2]", c64, 32);
	content_add(&f, "d", "F32", "[3]",
		content_but_one((float)NAN, 3, 1, 1.0f), 12);
	content_add(&f, "e", "F16", "[2]", content_same(0xfc00, 2, 2), 4);
	content_judge(&j, &f);
	content_check(&j, "CK4201 CK4202");
	d = judged_find(&j, "CK4201");
	assert_string_equal(d->path, "tensors[1].data[1,0]");
	assert_string_equal(d->note,
		"\"c\", flat index 2, imaginary part; 3 in 2 of 4 tensors");
	assert_int_equal(d->count, 3);
	assert_int_equal(d->len, 4);
	d = judged_find(&j, "CK4202");
	assert_string_equal(d->path, "tensors[1].data[1,1]");
	assert_string_equal(d->note,
		"\"c\", flat index 3, real part; 3 (2 of them -inf) in 2 of 4 "
		"tensors");
	judged_free(&j);
}

static const struct {
	const char *dtype, *shape, *want;
	/* Elements: 1 one, - -inf, + inf, n NaN, 0 zero. */
	const char *elements;
} masks[] = {
	{ "F32", "[3,3]", "CK4203", "0--00-000" },
	{ "F32", "[3,3]", "CK4203", "00-000000" },
	{ "F16", "[3,3]", "CK4203", "0--00-000" },
	{ "BF16", "[2,2]", "CK4203", "1-11" },
	{ "F8_E5M2", "[2,2]", "CK4203", "1-11" },
	{ "F64", "[2,2,2]", "CK4203", "1-111-11" },
	{ "F32", "[3,3]", "CK4202", "-0000-000" },
	{ "F32", "[3,3]", "CK4202", "0--0--000" },
	{ "F32", "[3,3]", "CK4202", "0--00-00-" },
	{ "F32", "[3,3]", "CK4202", "0--00-0-0" },
	{ "F32", "[3,3]", "CK4202", "0+-00-000" },
	{ "F32", "[3,3]", "CK4201 CK4202", "0--n0-000" },
	{ "F32", "[3,2]", "CK4202", "0-0000" },
	{ "F32", "[4]", "CK4202", "0-00" },
	{ "F32", "[]", "CK4202", "-" },
	{ "C64", "[2,2]", "CK4202", "11-11111" },
	{ "C64", "[2,2]", "CK4202", "1-111111" },
	{ "F32", "[2,1,1]", "CK4202", "1-" },
};

static void
test_content_mask_pattern(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
		bool f64 = masks[i].dtype[1] == '6' && masks[i].dtype[0] == 'F';
		unsigned width =
			f64 ? 8
			: masks[i].dtype[1] == '3' || masks[i].dtype[0] == 'C'
				? 4
			: masks[i].dtype[1] == '8' ? 1
						   : 2;
		uint8_t p[100], wide[8];
		size_t n = strlen(masks[i].elements);
		struct content f;

		for (size_t k = 0; k < n; k++) {
			char e = masks[i].elements[k];
			uint64_t bits = e == '1' ? 0x3c : 0;

			/* Infinity: the exponent bits of each dtype. */
			uint64_t inf = f64          ? 0x7ff0000000000000
				       : width == 4 ? 0x7f800000
				       : width == 1 ? 0x7c
				       : masks[i].dtype[0] == 'B' ? 0x7f80
								  : 0x7c00;

			if (e == '-' || e == '+' || e == 'n')
				bits = inf;
			if (e == '-')
				bits |= (uint64_t)1 << (8 * width - 1);
			if (e == 'n')
				bits |= 1;
			ckpt_store_u64(wide, bits);
			memcpy(p + k * width, wide, width);
		}
		content_begin(&f);
		content_add_ones(&f);
		content_add(
			&f, "m", masks[i].dtype, masks[i].shape, p, n * width);
		content_expect(&f, masks[i].want);
	}
}

/* Masks and damage in one file are told apart. */
static void
test_content_mask_beside_infinity(void **state)
{
	struct content f;

	(void)state;
	content_begin(&f);
	content_add(&f, "m", "F32", "[2,2]",
		content_but_one(0.0f, 4, 1, -(float)INFINITY), 16);
	content_add(&f, "w", "F32", "[2,2]",
		content_but_one(1.0f, 4, 1, (float)INFINITY), 16);
	content_expect(&f, "CK4202 CK4203");
}

/* ---- Zeros -------------------------------------------------------------- */

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_content_not_finite_of_every_dtype),
		cmocka_unit_test(
			test_content_less_than_a_byte_is_always_finite),
		cmocka_unit_test(test_content_counts_over_all_tensors),
		cmocka_unit_test(test_content_mask_pattern),
		cmocka_unit_test(test_content_mask_beside_infinity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
