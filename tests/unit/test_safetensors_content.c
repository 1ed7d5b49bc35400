/* SPDX-License-Identifier: MIT */
/*
 * What the values of a safetensors file are told to be: every rule at its
 * threshold, and each of the conditions under which it stays silent. Files are
 * built in memory; a test names all findings that it expects, so that nothing
 * speaks that should not.
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

#include "base/buf.h"
#include "base/bytes.h"
#include "support/judged.h"

/* ---- Files -------------------------------------------------------------- */

struct file {
	struct ckpt_buf header, data;
	enum ckpt_values values;
};

static void
begin(struct file *f)
{
	memset(f, 0, sizeof *f);
	ckpt_buf_init(&f->header);
	ckpt_buf_init(&f->data);
}

/* n bytes, or zeros if p is NULL. */
static void
add(struct file *f, const char *name, const char *dtype, const char *shape,
	const void *p, size_t n)
{
	uint8_t *zeros = calloc(1, n + 1);

	assert_non_null(zeros);
	ckpt_buf_printf(&f->header,
		"%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,"
		"\"data_offsets\":[%zu,%zu]}",
		f->header.n ? "," : "{", name, dtype, shape, f->data.n,
		f->data.n + n);
	ckpt_buf_add(&f->data, p ? p : zeros, n);
	free(zeros);
}

static uint8_t *
whole(struct file *f, size_t *n)
{
	uint8_t *bytes;

	ckpt_buf_puts(&f->header, f->header.n ? "}" : "{}");
	*n = 8 + f->header.n + f->data.n;
	bytes = malloc(*n);
	assert_non_null(bytes);
	ckpt_store_u64(bytes, f->header.n);
	memcpy(bytes + 8, f->header.p, f->header.n);
	if (f->data.n)
		memcpy(bytes + 8 + f->header.n, f->data.p, f->data.n);
	return bytes;
}

/* Judges and frees the file; what is found stays in the judgement. */
static void
judge(struct judged *j, struct file *f)
{
	const struct ckpt_options options = { .values = f->values };
	size_t n;
	uint8_t *bytes = whole(f, &n);
	struct ckpt_source *source;

	memset(j, 0, sizeof *j);
	ckpt_buf_init(&j->text);
	source = ckpt_source_memory(bytes, n);
	j->run = ckpt_run_new(&options);
	assert_non_null(source);
	assert_non_null(j->run);
	j->verdict = ckpt_verify(j->run, source);
	ckpt_source_close(source);
	free(bytes);
	ckpt_buf_release(&f->header);
	ckpt_buf_release(&f->data);
	assert_int_equal(j->verdict, CKPT_VALID);
}

static int
by_id(const void *a, const void *b)
{
	return memcmp(a, b, 6);
}

/* The ids of all findings, sorted, with spaces between. */
static void
check(const struct judged *j, const char *want)
{
	size_t n = ckpt_run_finding_count(j->run);
	char got[20 * 7] = "";

	assert_true(n < 20);
	for (size_t i = 0; i < n; i++)
		snprintf(got + 7 * i, 8, "%s ",
			ckpt_run_finding(j->run, i)->rule->id);
	qsort(got, n, 7, by_id);
	if (n > 0)
		got[7 * n - 1] = '\0';
	assert_string_equal(got, want);
}

static void
expect(struct file *f, const char *want)
{
	struct judged j;

	judge(&j, f);
	check(&j, want);
	judged_free(&j);
}

/* One finding, and what it says. */
static void
expect_one(struct file *f, const char *id, const char *path, uint64_t count,
	const char *words)
{
	const struct ckpt_diag *d;
	struct judged j;

	judge(&j, f);
	check(&j, id);
	d = judged_find(&j, id);
	assert_string_equal(d->path, path);
	assert_int_equal(d->count, count);
	assert_non_null(d->note);
	if (!strstr(d->note, words))
		fail_msg("\"%s\" does not say \"%s\"", d->note, words);
	judged_free(&j);
}

/* n elements of width bytes, all with the same bits. */
static const uint8_t *
same(uint64_t bits, unsigned width, size_t n)
{
	static uint8_t p[1 << 17];
	uint8_t wide[8];

	assert_true(n * width <= sizeof p);
	ckpt_store_u64(wide, bits);
	for (size_t i = 0; i < n; i++)
		memcpy(p + i * width, wide, width);
	return p;
}

static uint32_t
single(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

/* n F32 that are all x, but at at y. */
static const uint8_t *
but_one(float x, size_t n, size_t at, float y)
{
	static uint8_t p[1 << 17];

	memcpy(p, same(single(x), 4, n), 4 * n);
	ckpt_store_u32(p + 4 * at, single(y));
	return p;
}

/* n bytes of which the first k come from p, the others are 0. */
static const uint8_t *
headed(const void *p, size_t k, size_t n)
{
	static uint8_t bytes[1 << 14];

	assert_true(k <= n && n <= sizeof bytes);
	memset(bytes, 0, n);
	memcpy(bytes, p, k);
	return bytes;
}

static void
add_ones(struct file *f)
{
	add(f, "ones", "F32", "[2]", same(0x3f800000, 4, 2), 8);
}

#define ONE 0x3f800000u

/* ---- NaN, infinities, BOOL ---------------------------------------------- */

static void
test_content_not_finite_of_every_dtype(void **state)
{
	static const struct {
		const char *dtype;
		unsigned width;
		uint64_t one, odd;
		const char *want;
	} rows[] = {
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
	/* Few values are looked at one by one, many in blocks. */
	static const size_t counts[] = { 12, 3000 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (size_t k = 0; k < 2; k++) {
			uint8_t p[8 * 3000], wide[8];
			char shape[40];
			struct file f;
			size_t n = counts[k], w = rows[i].width;

			snprintf(shape, sizeof shape, "[%zu]", n);
			memcpy(p, same(rows[i].one, rows[i].width, n), n * w);
			ckpt_store_u64(wide, rows[i].odd);
			memcpy(p + 7 * w, wide, w);
			memcpy(p + (n - 1) * w, wide, w);
			begin(&f);
			add_ones(&f);
			add(&f, "t", rows[i].dtype, shape, p, n * w);
			if (rows[i].want[0])
				expect_one(&f, rows[i].want,
					"tensors[1].data[7]", 2,
					"\"t\", flat index 7; 2 in 1 of 2 "
					"tensors");
			else
				expect(&f, "");
		}
}

/* F6 and F4 have neither. */
static void
test_content_less_than_a_byte_is_always_finite(void **state)
{
	struct file f;

	(void)state;
	begin(&f);
	add(&f, "a", "F4", "[2,64]", same(0xff, 1, 64), 64);
	add(&f, "b", "F6_E3M2", "[64]", same(0xff, 1, 48), 48);
	add(&f, "c", "F6_E2M3", "[64]", same(0xff, 1, 48), 48);
	expect(&f, "");
}

static void
test_content_counts_over_all_tensors(void **state)
{
	const struct ckpt_diag *d;
	uint8_t c64[32];
	struct judged j;
	struct file f;

	(void)state;
	begin(&f);
	add_ones(&f);
	memcpy(c64, same(ONE, 4, 8), 32);
	ckpt_store_u32(c64 + 4 * 5, 0x7fc00000); /* imaginary part of 2 */
	ckpt_store_u32(c64 + 4 * 6, 0x7f800000);
	add(&f, "c", "C64", "[2,2]", c64, 32);
	add(&f, "d", "F32", "[3]", but_one((float)NAN, 3, 1, 1.0f), 12);
	add(&f, "e", "F16", "[2]", same(0xfc00, 2, 2), 4);
	judge(&j, &f);
	check(&j, "CK4201 CK4202");
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

static void
test_content_mask_pattern(void **state)
{
	static const struct {
		const char *dtype, *shape, *want;
		/* Elements: 1 one, - -inf, + inf, n NaN, 0 zero. */
		const char *elements;
	} rows[] = {
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

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool f64 = rows[i].dtype[1] == '6' && rows[i].dtype[0] == 'F';
		unsigned width =
			f64                                                  ? 8
			: rows[i].dtype[1] == '3' || rows[i].dtype[0] == 'C' ? 4
			: rows[i].dtype[1] == '8'                            ? 1
						  : 2;
		uint8_t p[100], wide[8];
		size_t n = strlen(rows[i].elements);
		struct file f;

		for (size_t k = 0; k < n; k++) {
			char e = rows[i].elements[k];
			uint64_t bits = e == '1' ? 0x3c : 0;

			/* Infinity: the exponent bits of each dtype. */
			uint64_t inf = f64          ? 0x7ff0000000000000
				       : width == 4 ? 0x7f800000
				       : width == 1 ? 0x7c
				       : rows[i].dtype[0] == 'B' ? 0x7f80
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
		begin(&f);
		add_ones(&f);
		add(&f, "m", rows[i].dtype, rows[i].shape, p, n * width);
		expect(&f, rows[i].want);
	}
}

/* Masks and damage in one file are told apart. */
static void
test_content_mask_beside_infinity(void **state)
{
	struct file f;

	(void)state;
	begin(&f);
	add(&f, "m", "F32", "[2,2]", but_one(0.0f, 4, 1, -(float)INFINITY), 16);
	add(&f, "w", "F32", "[2,2]", but_one(1.0f, 4, 1, (float)INFINITY), 16);
	expect(&f, "CK4202 CK4203");
}

/* ---- Zeros -------------------------------------------------------------- */

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
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin(&f);
		add(&f, "w", rows[i].dtype, rows[i].shape,
			same(rows[i].bits, rows[i].width, rows[i].n),
			rows[i].n * rows[i].width);
		expect(&f, rows[i].want);
	}
	/* No other rule speaks of zeros then. */
	begin(&f);
	add(&f, "x.lora_B.weight", "F32", "[8,64]", NULL, 2048);
	add(&f, "w", "F32", "[8,64]", NULL, 2048);
	expect(&f, "CK4211");
	/* Nothing is no value. */
	begin(&f);
	add(&f, "w", "F32", "[0,4]", NULL, 0);
	expect(&f, "");
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
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin(&f);
		add(&f, rows[i].name, rows[i].dtype, rows[i].shape, NULL,
			rows[i].n);
		add_ones(&f);
		if (rows[i].speaks)
			expect_one(&f, "CK4212", "tensors[0]", 1, rows[i].name);
		else
			expect(&f, "");
	}
	begin(&f);
	add(&f, "w", "F32", "[8,8]", but_one(-0.0f, 64, 63, 1e-45f), 256);
	expect(&f, "");
	begin(&f); /* each of them */
	add(&f, "v", "F32", "[8,8]", NULL, 256);
	add_ones(&f);
	add(&f, "w", "F32", "[8,8]", same(0x80000000, 4, 64), 256);
	add(&f, "x", "F32", "[1]", same(ONE, 4, 1), 4);
	expect(&f, "CK4212 CK4212");
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
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		begin(&f);
		add(&f, rows[i].name, "F32", rows[i].shape, NULL, rows[i].n);
		add_ones(&f);
		expect(&f, rows[i].want);
	}
	begin(&f); /* all of them, empty ones apart */
	add(&f, "a.lora_B.weight", "F32", "[8,8]", NULL, 256);
	add(&f, "b.lora_B.weight", "F32", "[0,8]", NULL, 0);
	add(&f, "c.lora_B.weight", "F16", "[2]", NULL, 4);
	add(&f, "v", "F32", "[8,8]", NULL, 256); /* and this one for itself */
	add_ones(&f);
	expect(&f, "CK4212 CK4213");
	begin(&f); /* one that was trained */
	add(&f, "a.lora_B.weight", "F32", "[8,8]", NULL, 256);
	add(&f, "b.lora_B.weight", "F32", "[1]", same(ONE, 4, 1), 4);
	expect(&f, "CK4212");
}

/* One F32 weight of n elements, zero from one on, and what stands before and
 * behind it. */
static void
expect_tail(const char *shape, size_t n, size_t from, const char *want)
{
	uint8_t *p = calloc(n, 4);
	struct file f;

	assert_non_null(p);
	memcpy(p, same(ONE, 4, from), 4 * from);
	begin(&f);
	add(&f, "w", "F32", shape, p, 4 * n);
	free(p);
	expect(&f, want);
}

static void
test_content_zero_tail_inside_of_a_weight(void **state)
{
	struct file f;

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
	begin(&f); /* in bytes, whatever the dtype */
	add(&f, "w", "F8_E5M2", "[200]", headed(same(1, 1, 104), 104, 200),
		200);
	expect(&f, "CK4214");
	begin(&f);
	add(&f, "w", "F8_E5M2", "[200]", headed(same(1, 1, 105), 105, 200),
		200);
	expect(&f, "");
	/* Zero bytes of an integer that is not zero are not of the tail. */
	begin(&f);
	add(&f, "w.weight", "I32", "[64,32]",
		headed(same(1, 4, 2048 - 32), 4 * (2048 - 32), 8192), 8192);
	expect(&f, "");
	begin(&f); /* a vocabulary of halves of a byte */
	add(&f, "w", "F4", "[64,512]",
		headed(same(0x11, 1, 16384 - 256), 16384 - 256, 16384), 16384);
	expect(&f, "");
	/* Of the last tensor only. */
	begin(&f);
	add(&f, "w", "F32", "[64,32]",
		headed(same(ONE, 4, 2048 - 32), 4 * (2048 - 32), 8192), 8192);
	add(&f, "b", "F32", "[4]", NULL, 16);
	expect(&f, "CK4214");
}

static void
test_content_zero_tail_says_where(void **state)
{
	const struct ckpt_diag *d;
	struct judged j;
	struct file f;
	uint8_t p[400] = { 0 };

	(void)state;
	begin(&f);
	/* Byte 200 is the last one that is not zero, so element 51 begins the
	 * tail: 49 x 4 bytes. */
	memset(p, 0x11, 201);
	add(&f, "w", "F32", "[100]", p, 400);
	add(&f, "flags", "BOOL", "[3]", NULL, 3);
	judge(&j, &f);
	check(&j, "CK4214");
	d = judged_find(&j, "CK4214");
	assert_string_equal(d->path, "tensors[0]");
	assert_int_equal(d->len, 196 + 3);
	assert_non_null(strstr(d->note, "inside of \"w\""));
	assert_non_null(strstr(d->note, "199 bytes, 196 of them in weights"));
	judged_free(&j);
}

static void
test_content_zero_tail_of_whole_tensors(void **state)
{
	struct file f;

	(void)state;
	begin(&f); /* two tensors, a matrix among them */
	add_ones(&f);
	add(&f, "w", "F32", "[4,4]", NULL, 64);
	add(&f, "b", "F32", "[8]", NULL, 32);
	expect(&f, "CK4214");
	begin(&f); /* 92 bytes */
	add_ones(&f);
	add(&f, "w", "F32", "[4,4]", NULL, 64);
	add(&f, "b", "F32", "[7]", NULL, 28);
	expect(&f, "");
	begin(&f); /* zero biases at the end are normal */
	add_ones(&f);
	add(&f, "a", "F32", "[100]", NULL, 400);
	add(&f, "b", "F32", "[100]", NULL, 400);
	expect(&f, "");
	begin(&f); /* one tensor */
	add_ones(&f);
	add(&f, "w", "F32", "[7,7]", NULL, 196);
	expect(&f, "");
	begin(&f); /* empty ones do not count */
	add_ones(&f);
	add(&f, "w", "F32", "[7,7]", NULL, 196);
	add(&f, "x", "F32", "[0,7]", NULL, 0);
	expect(&f, "");
	begin(&f); /* bytes that are not in weights do not count */
	add_ones(&f);
	add(&f, "w", "F32", "[4,4]", NULL, 64);
	add(&f, "i", "I64", "[100]", NULL, 800);
	expect(&f, "");
	begin(&f); /* a matrix that is no weight is none */
	add_ones(&f);
	add(&f, "i", "I64", "[10,10]", NULL, 800);
	add(&f, "b", "F32", "[100]", NULL, 400);
	expect(&f, "");
	begin(&f); /* not at the end */
	add(&f, "w", "F32", "[4,4]", NULL, 64);
	add(&f, "b", "F32", "[8]", NULL, 32);
	add_ones(&f);
	expect(&f, "");
	begin(&f); /* a tail that begins in a counter has no head of a weight */
	add(&f, "i", "I64", "[100]", headed("\1", 1, 800), 800);
	add(&f, "b", "F32", "[100]", NULL, 400);
	expect(&f, "");
}

/* ---- Magnitudes --------------------------------------------------------- */

static void
expect_spread(const char *shape, float x, size_t n, size_t at, float y,
	const char *want)
{
	struct file f;

	begin(&f);
	add(&f, "w", "F32", shape, but_one(x, n, at, y), 4 * n);
	expect(&f, want);
}

static void
test_content_absurd_magnitudes(void **state)
{
	struct file f;

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
	begin(&f);
	add(&f, "w", "F32", "[65]", but_one(1.0f, 65, 0, 1e5f), 260);
	expect(&f, "");
}

static void
test_content_absurd_counts_finite_values(void **state)
{
	static uint8_t p[65 * 4];
	const uint32_t odd[] = { 0xff7fffff, 0x7fc00000, ONE };
	const char *const want[] = { "", "CK4201", "CK4215" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct file f;

		memcpy(p, but_one(1.0f, 64, 5, 100001.0f), 256);
		ckpt_store_u32(p + 4 * 40, odd[i]);
		begin(&f);
		add(&f, "w", "F32", "[8,8]", p, 256);
		expect(&f, want[i]);
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
			struct file f;

			assert_non_null(p);
			memcpy(p, same(rows[i].usual, rows[i].width, n), n * w);
			ckpt_store_u64(wide, rows[i].odd);
			memcpy(p + (n - 2) * w, wide, w);
			begin(&f);
			add(&f, "w", rows[i].dtype,
				n == 64 ? "[8,8]" : "[64,64]", p, n * w);
			free(p);
			expect(&f, rows[i].speaks ? "CK4215" : "");
		}
}

static void
test_content_absurd_says_which(void **state)
{
	struct file f;

	(void)state;
	begin(&f);
	add(&f, "w", "F32", "[64,64]", but_one(2.0f, 4096, 130, 1e7f), 16384);
	expect_one(&f, "CK4215", "tensors[0].data[2,2]", 1, "flat index 130");
}

/* ---- Notes -------------------------------------------------------------- */

static void
expect_narrow(
	uint32_t usual, size_t n, size_t at, uint32_t odd, const char *want)
{
	static uint8_t p[4096 * 4];
	struct file f;
	char shape[40];

	memcpy(p, same(usual, 4, n), 4 * n);
	ckpt_store_u32(p + 4 * at, odd);
	snprintf(shape, sizeof shape, "[%zu]", n);
	begin(&f);
	add(&f, "w", "F32", shape, p, 4 * n);
	expect(&f, want);
}

static void
test_content_singles_that_are_halves(void **state)
{
	struct file f;

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
	begin(&f);
	add(&f, "w", "C64", "[2048]", same(0x3f000000, 4, 4096), 16384);
	expect(&f, "");
	begin(&f);
	add(&f, "v", "F32", "[4096]", same(0x3f000000, 4, 4096), 16384);
	add_ones(&f);
	add(&f, "w", "F32", "[64,64]", same(0x3e000000, 4, 4096), 16384);
	expect_one(&f, "CK4221", "tensors[0]", 2, "2 of 3 F32 tensors");
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
	struct file f;

	begin(&f);
	add(&f, "v", dtype, shape, counted(n), n);
	add(&f, "between", "F32", "[1]", same(ONE, 4, 1), 4);
	add(&f, "w", other, shape, counted(n), n);
	expect(&f, want);
}

static void
test_content_identical_tensors(void **state)
{
	static uint8_t p[4096];
	struct file f;

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
	begin(&f); /* one constant */
	add(&f, "v", "F32", "[32,32]", same(0x3e99999a, 4, 1024), 4096);
	add(&f, "w", "F32", "[32,32]", same(0x3e99999a, 4, 1024), 4096);
	expect(&f, "");
	begin(&f); /* one byte in the end */
	memcpy(p, counted(4096), 4096);
	p[4095] ^= 1;
	add(&f, "v", "F32", "[32,32]", counted(4096), 4096);
	add(&f, "w", "F32", "[32,32]", p, 4096);
	expect(&f, "");
	begin(&f); /* another shape of the same size; each copy */
	add(&f, "v", "F32", "[32,32]", counted(4096), 4096);
	add(&f, "w", "F32", "[64,16]", counted(4096), 4096);
	add(&f, "x", "F32", "[8,8,16]", counted(4096), 4096);
	expect(&f, "CK4222 CK4222");
	begin(&f);
	add(&f, "v", "F32", "[32,32]", counted(4096), 4096);
	add(&f, "w", "F32", "[32,32]", counted(4096), 4096);
	expect_one(&f, "CK4222", "tensors[1]", 1, "\"w\" is \"v\" again");
}

/* ---- Options, chunks ---------------------------------------------------- */

/* Something for every rule. */
static void
everything(struct file *f)
{
	begin(f);
	add(f, "odd", "F32", "[2,2]", but_one(1.0f, 4, 1, (float)NAN), 16);
	add(f, "inf", "F16", "[2]", same(0x7c00, 2, 2), 4);
	add(f, "mask", "F32", "[2,2]", but_one(0.0f, 4, 1, -(float)INFINITY),
		16);
	add(f, "flag", "BOOL", "[3]", "\1\2\3", 3);
	add(f, "zero", "F32", "[8,8]", NULL, 256);
	add(f, "lora_B", "F32", "[2]", NULL, 8);
	add(f, "huge", "F32", "[2,2]", but_one(1.0f, 4, 2, 1e31f), 16);
	add(f, "v", "F32", "[128,96]", counted(49152), 49152);
	add(f, "w", "F32", "[128,96]", counted(49152), 49152);
	add(f, "narrow", "F32", "[64,64]", but_one(0.5f, 4096, 4000, 0.25f),
		16384);
	add(f, "tail", "F32", "[100]", but_one(0.0f, 100, 9, 1.0f), 400);
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
		struct file f;

		everything(&f);
		f.values = rows[i].values;
		judge(&j, &f);
		check(&j, rows[i].want);
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
	struct file f;
	uint8_t *bytes;
	char *want, *got;
	size_t n;

	(void)state;
	everything(&f);
	bytes = whole(&f, &n);
	judged_bytes(&j, bytes, n);
	check(&j, EVERYTHING);
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
	struct file f;
	uint8_t *bytes;
	size_t n;

	(void)state;
	everything(&f);
	bytes = whole(&f, &n);
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
		cmocka_unit_test(test_content_not_finite_of_every_dtype),
		cmocka_unit_test(
			test_content_less_than_a_byte_is_always_finite),
		cmocka_unit_test(test_content_counts_over_all_tensors),
		cmocka_unit_test(test_content_mask_pattern),
		cmocka_unit_test(test_content_mask_beside_infinity),
		cmocka_unit_test(test_content_nothing_but_zero),
		cmocka_unit_test(test_content_zero_weight),
		cmocka_unit_test(test_content_adapter_without_effect),
		cmocka_unit_test(test_content_zero_tail_inside_of_a_weight),
		cmocka_unit_test(test_content_zero_tail_says_where),
		cmocka_unit_test(test_content_zero_tail_of_whole_tensors),
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
