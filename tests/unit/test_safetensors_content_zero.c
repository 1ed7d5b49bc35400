/* SPDX-License-Identifier: MIT */
/*
 * Values that are zero where they should not be: all of them, a weight, an
 * adapter, the tail of a file; each at its threshold and where it is silent.
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

static void
test_content_nothing_but_zero(void **state)
{
	static const struct {
		const char *dtype, *shape;
		uint64_t bits;
		unsigned width;
		size_t n;
		const char *want;
	} rows[] = {
		{ "F32", "[]", 0, 4, 1, "CK4211" },
		{ "F32", "[1]", 0x80000000, 4, 1, "CK4211" },
		{ "F32", "[1]", 1, 4, 1, "" },
		{ "F16", "[2,64]", 0x8000, 2, 128, "CK4211" },
		{ "F64", "[64,64]", 0, 8, 4096, "CK4211" },
		{ "BOOL", "[1]", 0, 1, 1, "CK4211" },
		{ "I64", "[100]", 0, 8, 100, "CK4211" },
		{ "I64", "[1]", 0x8000000000000000, 8, 1, "" },
		{ "U8", "[1]", 0x80, 1, 1, "" },
		{ "F8_E4M3", "[4]", 0x80, 1, 4, "CK4211" },
		{ "F8_E4M3FNUZ", "[4]", 0, 1, 4, "CK4211" },
		{ "F8_E8M0", "[4]", 0, 1, 4, "" },
		{ "F8_E8M0", "[8,128]", 0, 1, 1024, "" },
		{ "F4", "[4]", 0, 1, 2, "CK4211" },
		{ "F4", "[4]", 0x88, 1, 2, "" },
		{ "F6_E2M3", "[4]", 0, 1, 3, "CK4211" },
		{ "C64", "[1]", 0x8000000080000000, 8, 1, "CK4211" },
		{ "C64", "[1]", 0x0000000180000000, 8, 1, "" },
	};
	struct content f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		content_begin(&f);
		content_add(&f, "w", rows[i].dtype, rows[i].shape,
			content_same(rows[i].bits, rows[i].width, rows[i].n),
			rows[i].n * rows[i].width);
		content_expect(&f, rows[i].want);
	}
	/* No other rule speaks of zeros then. */
	content_begin(&f);
	content_add(&f, "x.lora_B.weight", "F32", "[8,64]", NULL, 2048);
	content_add(&f, "w", "F32", "[8,64]", NULL, 2048);
	content_expect(&f, "CK4211");
	/* Nothing is no value. */
	content_begin(&f);
	content_add(&f, "w", "F32", "[0,4]", NULL, 0);
	content_expect(&f, "");
}

static void
test_content_zero_weight(void **state)
{
	static const struct {
		const char *name, *dtype, *shape;
		size_t n;
		bool speaks;
	} rows[] = {
		{ "w", "F32", "[8,8]", 256, true },
		{ "w", "F32", "[1,64]", 256, true },
		{ "w", "F32", "[1,63]", 252, false },
		{ "w", "F32", "[64]", 256, false },
		{ "w", "F32", "[4,4,4]", 256, true },
		{ "w.bias", "F32", "[4,4,4]", 256, false },
		{ "bias", "F32", "[1,64]", 256, false },
		{ "w_bias", "F32", "[1,64]", 256, true },
		{ "bias.w", "F32", "[1,64]", 256, true },
		{ "w.weight", "F32", "[4096]", 16384, false },
		{ "w", "C64", "[8,8]", 512, true },
		{ "w", "F8_E5M2", "[8,8]", 64, true },
		{ "w", "F8_E4M3FNUZ", "[8,8]", 64, true },
		{ "w", "F8_E8M0", "[8,8]", 64, false },
		{ "w", "F4", "[8,8]", 32, true },
		{ "w", "F4", "[2,31]", 31, false },
		{ "w", "F6_E2M3", "[8,8]", 48, true },
		{ "w", "I32", "[8,8]", 256, false },
		{ "w.weight", "I32", "[8,8]", 256, true },
		{ "w.qweight", "U8", "[8,8]", 64, true },
		{ "w.weight_packed", "I32", "[8,8]", 256, true },
		{ "w_blocks", "U8", "[8,8]", 64, true },
		{ "w_blocks_", "U8", "[8,8]", 64, false },
		{ "w.weight", "BOOL", "[8,8]", 64, false },
	};
	struct content f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		content_begin(&f);
		content_add(&f, rows[i].name, rows[i].dtype, rows[i].shape,
			NULL, rows[i].n);
		content_add_ones(&f);
		if (rows[i].speaks)
			content_expect_one(
				&f, "CK4212", "tensors[0]", 1, rows[i].name);
		else
			content_expect(&f, "");
	}
	content_begin(&f);
	content_add(&f, "w", "F32", "[8,8]",
		content_but_one(-0.0f, 64, 63, 1e-45f), 256);
	content_expect(&f, "");
	content_begin(&f); /* each of them */
	content_add(&f, "v", "F32", "[8,8]", NULL, 256);
	content_add_ones(&f);
	content_add(
		&f, "w", "F32", "[8,8]", content_same(0x80000000, 4, 64), 256);
	content_add(&f, "x", "F32", "[1]", content_same(ONE, 4, 1), 4);
	content_expect(&f, "CK4212 CK4212");
}

static void
test_content_adapter_without_effect(void **state)
{
	static const struct {
		const char *name, *shape;
		size_t n;
		const char *want;
	} rows[] = {
		{ "m.q.lora_B.weight", "[2,2]", 16, "CK4213" },
		{ "m.q.lora_B.default.weight", "[1]", 4, "CK4213" },
		{ "m.q.lora_up.weight", "[64,64]", 16384, "CK4213" },
		{ "m.to_q_lora.up.weight", "[64,64]", 16384, "CK4213" },
		{ "lora.up", "[8,8]", 256, "CK4213" },
		{ "lora_B", "[8,8]", 256, "CK4213" },
		{ "m.lora.x.up_proj.weight", "[8,8]", 256, "CK4212" },
		{ "m.mlp.up.weight", "[8,8]", 256, "CK4212" },
		{ "m.q_lora.x.up.weight", "[8,8]", 256, "CK4212" },
		{ "m.q.lora_A.weight", "[8,8]", 256, "CK4212" },
		{ "m.q.lora_Bx.weight", "[8,8]", 256, "CK4212" },
		{ "m.q.lora_B.weight", "[0]", 0, "" },
	};
	struct content f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		content_begin(&f);
		content_add(&f, rows[i].name, "F32", rows[i].shape, NULL,
			rows[i].n);
		content_add_ones(&f);
		content_expect(&f, rows[i].want);
	}
	content_begin(&f); /* all of them, empty ones apart */
	content_add(&f, "a.lora_B.weight", "F32", "[8,8]", NULL, 256);
	content_add(&f, "b.lora_B.weight", "F32", "[0,8]", NULL, 0);
	content_add(&f, "c.lora_B.weight", "F16", "[2]", NULL, 4);
	content_add(&f, "v", "F32", "[8,8]", NULL,
		256); /* and this one for itself */
	content_add_ones(&f);
	content_expect(&f, "CK4212 CK4213");
	content_begin(&f); /* one that was trained */
	content_add(&f, "a.lora_B.weight", "F32", "[8,8]", NULL, 256);
	content_add(&f, "b.lora_B.weight", "F32", "[1]",
		content_same(ONE, 4, 1), 4);
	content_expect(&f, "CK4212");
}

/* One F32 weight of n elements, zero from one on, and what stands before and
 * behind it. */
static void
expect_tail(const char *shape, size_t n, size_t from, const char *want)
{
	uint8_t *p = calloc(n, 4);
	struct content f;

	assert_non_null(p);
	memcpy(p, content_same(ONE, 4, from), 4 * from);
	content_begin(&f);
	content_add(&f, "w", "F32", shape, p, 4 * n);
	free(p);
	content_expect(&f, want);
}

static void
test_content_zero_tail_inside_of_a_weight(void **state)
{
	struct content f;

	(void)state;
	expect_tail("[32,2]", 64, 40, "CK4214"); /* 24 x 4 = 96 bytes */
	expect_tail("[32,2]", 64, 41, "");
	expect_tail("[100]", 100, 76, "CK4214"); /* a vector is a weight too */
	expect_tail("[100]", 100, 77, "");
	/* Whole last rows, one in eight of them: padding. */
	expect_tail("[64,32]", 2048, 2048 - 8 * 32, "");
	expect_tail("[64,32]", 2048, 2048 - 9 * 32, "CK4214");
	expect_tail("[64,32]", 2048, 2048 - 32, "");
	expect_tail("[64,32]", 2048, 2048 - 33, "CK4214");
	expect_tail("[64,32]", 2048, 2048 - 31, "CK4214");
	expect_tail("[64,4,8]", 2048, 2048 - 8 * 32, "");
	expect_tail("[2048]", 2048, 2048 - 32, "CK4214");
	content_begin(&f); /* in bytes, whatever the dtype */
	content_add(&f, "w", "F8_E5M2", "[200]",
		content_headed(content_same(1, 1, 104), 104, 200), 200);
	content_expect(&f, "CK4214");
	content_begin(&f);
	content_add(&f, "w", "F8_E5M2", "[200]",
		content_headed(content_same(1, 1, 105), 105, 200), 200);
	content_expect(&f, "");
	/* Zero bytes of an integer that is not zero are not of the tail. */
	content_begin(&f);
	content_add(&f, "w.weight", "I32", "[64,32]",
		content_headed(
			content_same(1, 4, 2048 - 32), 4 * (2048 - 32), 8192),
		8192);
	content_expect(&f, "");
	content_begin(&f); /* a vocabulary of halves of a byte */
	content_add(&f, "w", "F4", "[64,512]",
		content_headed(
			content_same(0x11, 1, 16384 - 256), 16384 - 256, 16384),
		16384);
	content_expect(&f, "");
	content_begin(&f); /* 200 elements are no whole rows of three */
	content_add(&f, "w", "F4", "[1000,3]",
		content_headed(content_same(0x11, 1, 1400), 1400, 1500), 1500);
	content_expect(&f, "CK4214");
	/* Of the last tensor only. */
	content_begin(&f);
	content_add(&f, "w", "F32", "[64,32]",
		content_headed(
			content_same(ONE, 4, 2048 - 32), 4 * (2048 - 32), 8192),
		8192);
	content_add(&f, "b", "F32", "[4]", NULL, 16);
	content_expect(&f, "CK4214");
}

static void
test_content_zero_tail_says_where(void **state)
{
	const struct ckpt_diag *d;
	struct judged j;
	struct content f;
	uint8_t p[400] = { 0 };

	(void)state;
	content_begin(&f);
	/* Byte 200 is the last one that is not zero, so element 51 begins the
	 * tail: 49 x 4 bytes. */
	memset(p, 0x11, 201);
	content_add(&f, "w", "F32", "[100]", p, 400);
	content_add(&f, "flags", "BOOL", "[3]", NULL, 3);
	content_judge(&j, &f);
	content_check(&j, "CK4214");
	d = judged_find(&j, "CK4214");
	assert_string_equal(d->path, "tensors[0]");
	assert_int_equal(d->len, 196 + 3);
	assert_non_null(strstr(d->note, "inside of \"w\""));
	assert_non_null(strstr(d->note, "199 bytes, 196 of them in weights"));
	judged_free(&j);
	content_begin(&f);
	content_add(&f, "head", "F32", "[100]", content_same(ONE, 4, 100), 400);
	content_add(&f, "w", "F32", "[7,7]", NULL, 196);
	content_add(&f, "flags", "BOOL", "[3]", NULL, 3);
	content_judge(&j, &f);
	d = judged_find(&j, "CK4214");
	assert_non_null(d);
	assert_string_equal(d->path, "tensors[1]");
	assert_int_equal(d->len, 196 + 3);
	assert_non_null(strstr(d->note, "the begin of \"w\""));
	judged_free(&j);
}

static void
test_content_zero_tail_of_whole_tensors(void **state)
{
	struct content f;

	(void)state;
	content_begin(&f); /* two tensors, a matrix among them */
	content_add_ones(&f);
	content_add(&f, "w", "F32", "[4,4]", NULL, 64);
	content_add(&f, "b", "F32", "[8]", NULL, 32);
	content_expect(&f, "CK4214");
	content_begin(&f); /* 92 bytes */
	content_add_ones(&f);
	content_add(&f, "w", "F32", "[4,4]", NULL, 64);
	content_add(&f, "b", "F32", "[7]", NULL, 28);
	content_expect(&f, "");
	content_begin(&f); /* zero biases at the end are normal */
	content_add_ones(&f);
	content_add(&f, "a", "F32", "[100]", NULL, 400);
	content_add(&f, "b", "F32", "[100]", NULL, 400);
	content_expect(&f, "");
	content_begin(&f); /* one tensor */
	content_add_ones(&f);
	content_add(&f, "w", "F32", "[7,7]", NULL, 196);
	content_expect(&f, "");
	content_begin(&f); /* empty ones do not count */
	content_add_ones(&f);
	content_add(&f, "w", "F32", "[7,7]", NULL, 196);
	content_add(&f, "x", "F32", "[0,7]", NULL, 0);
	content_expect(&f, "");
	content_begin(&f); /* bytes that are not in weights do not count */
	content_add_ones(&f);
	content_add(&f, "w", "F32", "[4,4]", NULL, 64);
	content_add(&f, "i", "I64", "[100]", NULL, 800);
	content_expect(&f, "");
	content_begin(&f); /* a matrix that is no weight is none */
	content_add_ones(&f);
	content_add(&f, "i", "I64", "[10,10]", NULL, 800);
	content_add(&f, "b", "F32", "[100]", NULL, 400);
	content_expect(&f, "");
	content_begin(&f); /* not at the end */
	content_add(&f, "w", "F32", "[4,4]", NULL, 64);
	content_add(&f, "b", "F32", "[8]", NULL, 32);
	content_add_ones(&f);
	content_expect(&f, "");
	content_begin(
		&f); /* a tail that begins in a counter has no head of a weight */
	content_add(&f, "i", "I64", "[100]", content_headed("\1", 1, 800), 800);
	content_add(&f, "b", "F32", "[100]", NULL, 400);
	content_expect(&f, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_content_nothing_but_zero),
		cmocka_unit_test(test_content_zero_weight),
		cmocka_unit_test(test_content_adapter_without_effect),
		cmocka_unit_test(test_content_zero_tail_inside_of_a_weight),
		cmocka_unit_test(test_content_zero_tail_says_where),
		cmocka_unit_test(test_content_zero_tail_of_whole_tensors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
