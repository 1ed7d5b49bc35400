/* SPDX-License-Identifier: MIT */
/*
 * Magnitudes, values that fit a narrower dtype, identical tensors; which rules
 * which option runs; any chunks, and a file that is cut.
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

/* ---- Magnitudes --------------------------------------------------------- */

static void
expect_spread(const char *shape, float x, size_t n, size_t at, float y,
	const char *want)
{
	struct content f;

	content_begin(&f);
	content_add(&f, "w", "F32", shape, content_but_one(x, n, at, y), 4 * n);
	content_expect(&f, want);
}

static void
test_content_absurd_magnitudes(void **state)
{
	struct content f;

	(void)state;
	expect_spread("[2,2]", 1.0f, 4, 3, 1.01e30f, "CK4215");
	expect_spread("[2,2]", 1.0f, 4, 3, -1.01e30f, "CK4215");
	expect_spread("[2,2]", 1.0f, 4, 3, 0.99e30f, "");
	expect_spread("[4]", 1.0f, 4, 3, 1e35f, "");
	/* Both ends in one tensor. */
	expect_spread("[2,2]", 1.01e15f, 4, 3, 0.99e-15f, "CK4215");
	expect_spread("[2,2]", 0.99e15f, 4, 3, 0.99e-15f, "");
	expect_spread("[2,2]", 1.01e15f, 4, 3, 1.01e-15f, "");
	expect_spread("[2,2]", 1.01e15f, 4, 3, 0.0f, "");
	/* One against the others: from 64 on, above 10^5. */
	expect_spread("[8,8]", 1.0f, 64, 3, 100001.0f, "CK4215");
	expect_spread("[8,8]", -1.0f, 64, 63, -100001.0f, "CK4215");
	expect_spread("[8,8]", 1.0f, 64, 3, 100000.0f, "");
	expect_spread("[9,7]", 1.0f, 63, 3, 100001.0f, "");
	expect_spread("[8,8]", 0.0f, 64, 63, 100001.0f, "");
	expect_spread("[64,64]", 1.0f, 4096, 77, 100001.0f, "CK4215");
	expect_spread("[64,64]", 1.0f, 4096, 77, 100000.0f, "");
	expect_spread("[4096]", 1.0f, 4096, 77, 100001.0f, "");
	/* The lowest value is a mask constant, the highest is not. */
	expect_spread("[8,8]", 1.0f, 64, 3, -0x1.fffffep127f, "");
	expect_spread("[8,8]", 1.0f, 64, 3, 0x1.fffffep127f, "CK4215");
	/* It does not count towards the 64 either, and neither does NaN. */
	content_begin(&f);
	content_add(&f, "w", "F32", "[65]", content_but_one(1.0f, 65, 0, 1e5f),
		260);
	content_expect(&f, "");
}

static void
test_content_absurd_counts_finite_values(void **state)
{
	static uint8_t p[65 * 4];
	const uint32_t odd[] = { 0xff7fffff, 0x7fc00000, ONE };
	const char *const want[] = { "", "CK4201", "CK4215" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct content f;

		memcpy(p, content_but_one(1.0f, 64, 5, 100001.0f), 256);
		ckpt_store_u32(p + 4 * 40, odd[i]);
		content_begin(&f);
		content_add(&f, "w", "F32", "[8,8]", p, 256);
		content_expect(&f, want[i]);
	}
}

static void
test_content_absurd_of_every_dtype(void **state)
{
	static const struct {
		const char *dtype;
		unsigned width;
		uint64_t usual, odd;
		bool speaks;
	} rows[] = {
		/* 2^-9 and 2^8, 131072 times. */
		{ "F16", 2, 0x1800, 0x5c00, true },
		{ "F16", 2, 0x1800, 0x5800, false },
		{ "F16", 2, 0x0001, 0xfbff, false }, /* the lowest */
		{ "F16", 2, 0x0001, 0x7bff, true },  /* denormals are values */
		{ "BF16", 2, 0x3f80, 0x4800, true },
		{ "BF16", 2, 0x3f80, 0x4780, false },
		{ "BF16", 2, 0x3f80, 0xff7f, false },
		{ "F64", 8, 0x3ff0000000000000, 0x4100000000000000, true },
		{ "F64", 8, 0x3ff0000000000000, 0x40f0000000000000, false },
		{ "F64", 8, 0x3ff0000000000000, 0xffefffffffffffff, false },
		{ "F64", 8, 0x0010000000000000, 0x3ff0000000000000, true },
		{ "C64", 8, 0x3f8000003f800000, 0x480000003f800000, true },
		{ "C64", 8, 0x3f8000003f800000, 0x478000003f800000, false },
		{ "F8_E5M2", 1, 0x01, 0x7b, false }, /* not asked */
		{ "I32", 4, 1, 0x7fffffff, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (size_t n = 64; n <= 4096; n *= 64) {
			uint8_t *p = malloc(8 * n), wide[8];
			size_t w = rows[i].width;
			struct content f;

			assert_non_null(p);
			memcpy(p, content_same(rows[i].usual, rows[i].width, n),
				n * w);
			ckpt_store_u64(wide, rows[i].odd);
			memcpy(p + (n - 2) * w, wide, w);
			content_begin(&f);
			content_add(&f, "w", rows[i].dtype,
				n == 64 ? "[8,8]" : "[64,64]", p, n * w);
			free(p);
			content_expect(&f, rows[i].speaks ? "CK4215" : "");
		}
}

static void
test_content_absurd_says_which(void **state)
{
	struct content f;

	(void)state;
	content_begin(&f);
	content_add(&f, "w", "F32", "[64,64]",
		content_but_one(2.0f, 4096, 130, 1e7f), 16384);
	content_expect_one(
		&f, "CK4215", "tensors[0].data[2,2]", 1, "flat index 130");
}

/* ---- Notes -------------------------------------------------------------- */

static void
expect_narrow(
	uint32_t usual, size_t n, size_t at, uint32_t odd, const char *want)
{
	static uint8_t p[4096 * 4];
	struct content f;
	char shape[40];

	memcpy(p, content_same(usual, 4, n), 4 * n);
	ckpt_store_u32(p + 4 * at, odd);
	snprintf(shape, sizeof shape, "[%zu]", n);
	content_begin(&f);
	content_add(&f, "w", "F32", shape, p, 4 * n);
	content_expect(&f, want);
}

static void
test_content_singles_that_are_halves(void **state)
{
	struct content f;

	(void)state;
	expect_narrow(0x3f000000, 4096, 9, 0xbf010000, "CK4221");
	expect_narrow(0x3f000000, 4095, 9, 0xbf010000, "");
	expect_narrow(0x3f000000, 4096, 4095, 0x3f000001, "");
	expect_narrow(0x3f000000, 4096, 0, 0x3f008000, "");
	/* Integers are not evidence. */
	expect_narrow(ONE, 4096, 9, 0xc0000000, "");
	expect_narrow(ONE, 4096, 9, 0, "");
	expect_narrow(ONE, 4096, 4000, 0x3f000000, "CK4221");
	/* Only F32. */
	content_begin(&f);
	content_add(&f, "w", "C64", "[2048]", content_same(0x3f000000, 4, 4096),
		16384);
	content_expect(&f, "");
	content_begin(&f);
	content_add(&f, "v", "F32", "[4096]", content_same(0x3f000000, 4, 4096),
		16384);
	content_add_ones(&f);
	content_add(&f, "w", "F32", "[64,64]",
		content_same(0x3e000000, 4, 4096), 16384);
	content_expect_one(&f, "CK4221", "tensors[0]", 2, "2 of 3 F32 tensors");
}

static const uint8_t *
counted(size_t n)
{
	static uint8_t p[1 << 16];

	for (size_t i = 0; i < n / 4; i++)
		ckpt_store_u32(p + 4 * i, ONE + (uint32_t)(3 * i % 7919));
	return p;
}

static void
expect_twins(const char *dtype, const char *shape, const char *other, size_t n,
	const char *want)
{
	struct content f;

	content_begin(&f);
	content_add(&f, "v", dtype, shape, counted(n), n);
	content_add(&f, "between", "F32", "[1]", content_same(ONE, 4, 1), 4);
	content_add(&f, "w", other, shape, counted(n), n);
	content_expect(&f, want);
}

static void
test_content_identical_tensors(void **state)
{
	static uint8_t p[4096];
	struct content f;

	(void)state;
	expect_twins("F32", "[32,32]", "F32", 4096, "CK4222");
	expect_twins("F32", "[33,31]", "F32", 4092, "");
	expect_twins("F32", "[1024]", "F32", 4096, "");
	expect_twins("F32", "[32,32]", "I32", 4096, "");
	expect_twins("I32", "[32,32]", "I32", 4096, "");
	expect_twins("F16", "[64,32]", "BF16", 4096, "");
	expect_twins("F8_E8M0", "[64,64]", "F8_E8M0", 4096, "CK4201 CK4222");
	expect_twins("C64", "[32,16]", "C64", 4096, "CK4222");
	expect_twins("F4", "[128,64]", "F4", 4096, "");
	expect_twins("F32", "[128,96]", "F32", 49152, "CK4222");
	content_begin(&f); /* one constant */
	content_add(&f, "v", "F32", "[32,32]",
		content_same(0x3e99999a, 4, 1024), 4096);
	content_add(&f, "w", "F32", "[32,32]",
		content_same(0x3e99999a, 4, 1024), 4096);
	content_expect(&f, "");
	content_begin(&f); /* one byte in the end */
	memcpy(p, counted(4096), 4096);
	p[4095] ^= 1;
	content_add(&f, "v", "F32", "[32,32]", counted(4096), 4096);
	content_add(&f, "w", "F32", "[32,32]", p, 4096);
	content_expect(&f, "");
	content_begin(&f); /* another shape of the same size; each copy */
	content_add(&f, "v", "F32", "[32,32]", counted(4096), 4096);
	content_add(&f, "w", "F32", "[64,16]", counted(4096), 4096);
	content_add(&f, "x", "F32", "[8,8,16]", counted(4096), 4096);
	content_expect(&f, "CK4222 CK4222");
	content_begin(&f);
	content_add(&f, "v", "F32", "[32,32]", counted(4096), 4096);
	content_add(&f, "w", "F32", "[32,32]", counted(4096), 4096);
	content_expect_one(
		&f, "CK4222", "tensors[1]", 1, "\"w\" is \"v\" again");
}

/* ---- Options, chunks ---------------------------------------------------- */

/* Something for every rule. */
static void
everything(struct content *f)
{
	content_begin(f);
	content_add(f, "odd", "F32", "[2,2]",
		content_but_one(1.0f, 4, 1, (float)NAN), 16);
	content_add(f, "inf", "F16", "[2]", content_same(0x7c00, 2, 2), 4);
	content_add(f, "mask", "F32", "[2,2]",
		content_but_one(0.0f, 4, 1, -(float)INFINITY), 16);
	content_add(f, "flag", "BOOL", "[3]", "\1\2\3", 3);
	content_add(f, "zero", "F32", "[8,8]", NULL, 256);
	content_add(f, "lora_B", "F32", "[2]", NULL, 8);
	content_add(f, "huge", "F32", "[2,2]",
		content_but_one(1.0f, 4, 2, 1e31f), 16);
	content_add(f, "v", "F32", "[128,96]", counted(49152), 49152);
	content_add(f, "w", "F32", "[128,96]", counted(49152), 49152);
	content_add(f, "narrow", "F32", "[64,64]",
		content_but_one(0.5f, 4096, 4000, 0.25f), 16384);
	content_add(f, "tail", "F32", "[100]",
		content_but_one(0.0f, 100, 9, 1.0f), 400);
}

#define EVERYTHING                                                             \
	"CK4201 CK4202 CK4203 CK4204 CK4212 CK4213 CK4214 CK4215 CK4221 "      \
	"CK4222"

static void
test_content_options(void **state)
{
	static const struct {
		enum ckpt_values values;
		const char *want;
		uint8_t finite, stats;
	} rows[] = {
		{ CKPT_VALUES_STATS, EVERYTHING, CKPT_RAN, CKPT_RAN },
		{ CKPT_VALUES_FINITE, "CK4201 CK4202 CK4203 CK4204", CKPT_RAN,
			CKPT_NOT_RUN },
		{ CKPT_VALUES_OFF, "", CKPT_NOT_RUN, CKPT_NOT_RUN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct judged j;
		struct content f;

		everything(&f);
		f.values = rows[i].values;
		content_judge(&j, &f);
		content_check(&j, rows[i].want);
		assert_int_equal(
			j.run->diags.ran[CKPT_D_ST_BOOL], rows[i].finite);
		assert_int_equal(
			j.run->diags.ran[CKPT_D_ST_ZERO_TAIL], rows[i].stats);
		judged_free(&j);
	}
}

/* The same words however the bytes come. */
static void
test_content_in_any_chunks(void **state)
{
	static const size_t most[] = { 1, 7, 100, 4099, 65536 };
	struct judged j;
	struct content f;
	uint8_t *bytes;
	char *want, *got;
	size_t n;

	(void)state;
	everything(&f);
	bytes = content_whole(&f, &n);
	judged_bytes(&j, bytes, n);
	content_check(&j, EVERYTHING);
	want = judged_log(&j);
	judged_free(&j);
	for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
		judged_slowly(&j, bytes, n, most[i], i % 2, UINT64_MAX);
		got = judged_log(&j);
		assert_string_equal(got, want);
		free(got);
		judged_free(&j);
	}
	free(want);
	free(bytes);
	ckpt_buf_release(&f.header);
	ckpt_buf_release(&f.data);
}

/* A file that is cut off has no say about its values. */
static void
test_content_of_a_cut_file(void **state)
{
	struct judged j;
	struct content f;
	uint8_t *bytes;
	size_t n;

	(void)state;
	everything(&f);
	bytes = content_whole(&f, &n);
	for (int pipe = 0; pipe < 2; pipe++) {
		judged_slowly(&j, bytes, n - 1, 1000, pipe, UINT64_MAX);
		assert_int_equal(j.verdict, CKPT_INVALID);
		assert_int_equal(ckpt_run_finding_count(j.run), 1);
		assert_int_equal(j.run->diags.ran[CKPT_D_ST_NAN], CKPT_NOT_RUN);
		judged_free(&j);
	}
	free(bytes);
	ckpt_buf_release(&f.header);
	ckpt_buf_release(&f.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_content_absurd_magnitudes),
		cmocka_unit_test(test_content_absurd_counts_finite_values),
		cmocka_unit_test(test_content_absurd_of_every_dtype),
		cmocka_unit_test(test_content_absurd_says_which),
		cmocka_unit_test(test_content_singles_that_are_halves),
		cmocka_unit_test(test_content_identical_tensors),
		cmocka_unit_test(test_content_options),
		cmocka_unit_test(test_content_in_any_chunks),
		cmocka_unit_test(test_content_of_a_cut_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
