/* SPDX-License-Identifier: MIT */
/*
 * The scan of one tensor against a naive one that decodes each value by its
 * row: random values with odd ones among them, every floating dtype, cut in
 * all ways, with the loops for any processor and with the fast ones. And the
 * loops themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/safetensors_content.h"

enum { MOST = 3 * SAFETENSORS_BLOCK };

static uint32_t seed = 1;

static uint32_t
random_number(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* What is learnt of a tensor, all of it by looking at each value. */
struct naive {
	uint64_t nan, first_nan, infinite, first_infinite, negative;
	uint64_t n, zero_tail;
	double max, min, squares;
};

static void
look(struct naive *w, const struct safetensors_dtype *d, const uint8_t *p,
	uint64_t n)
{
	uint64_t half = (uint64_t)1 << (d->bits - 1);
	double lowest = 0.0;
	bool apart = false; /* one of the highest */

	memset(w, 0, sizeof *w);
	w->min = (double)INFINITY;
	for (uint64_t b = half * 2 - 1; lowest == 0.0; b--) {
		double x = safetensors_dtype_value(d, b);

		/* Of 32 bits and more only the ends of the exponents. */
		if (d->bits > 16)
			x = d->bits == 32 ? -0x1.fffffep127
					  : -0x1.fffffffffffffp1023;
		if (isfinite(x))
			lowest = x;
	}
	for (uint64_t i = 0; i < n; i++) {
		double x = safetensors_dtype_value(
			d, safetensors_dtype_load(d, p, i));
		double a = fabs(x);

		w->zero_tail = a == 0.0 ? w->zero_tail + 1 : 0;
		if (isnan(x) && w->nan++ == 0)
			w->first_nan = i;
		if (isinf(x) && w->infinite++ == 0)
			w->first_infinite = i;
		w->negative += isinf(x) && x < 0.0 ? 1 : 0;
		if (!isfinite(x) || x == lowest)
			continue;
		w->n++;
		w->max = a > w->max ? a : w->max;
		w->min = a > 0.0 && a < w->min ? a : w->min;
	}
	for (uint64_t i = 0; i < n; i++) {
		double x = safetensors_dtype_value(
			d, safetensors_dtype_load(d, p, i));

		if (!isfinite(x) || x == lowest)
			continue;
		if (!apart && fabs(x) == w->max)
			apart = true;
		else
			w->squares += x * x;
	}
}

static void
scan(struct safetensors_scan *s, const struct safetensors_tensor *t,
	const struct safetensors_kernels *k, const uint8_t *p, size_t n,
	size_t step)
{
	safetensors_scan_begin(s, t, k, true);
	while (n > 0) {
		size_t m = n < step ? n : step;
		/* Alone, so that a sanitiser sees a read past the end. */
		uint8_t *alone = malloc(m);

		assert_non_null(alone);
		memcpy(alone, p, m);
		safetensors_scan_data(s, alone, m);
		free(alone);
		p += m;
		n -= m;
	}
}

static void
compare(const struct safetensors_scan *s, const struct naive *w)
{
	assert_int_equal(s->nan.count, w->nan);
	assert_int_equal(s->infinite.count, w->infinite);
	assert_int_equal(s->negative, w->negative);
	if (w->nan)
		assert_int_equal(s->nan.at, w->first_nan);
	if (w->infinite)
		assert_int_equal(s->infinite.at, w->first_infinite);
	assert_int_equal(s->at - s->nonzero_end, w->zero_tail * s->width);
	if (!s->squares)
		return;
	assert_int_equal(s->spread.n, w->n);
	assert_true(s->spread.max == w->max);
	assert_true(s->spread.min == w->min);
	if (w->squares > 1e-200 && isfinite(w->squares)) {
		double rms = sqrt(w->squares / (double)(w->n - 1));

		assert_true(fabs(safetensors_spread_rms(&s->spread) / rms -
				    1.0) < 1e-5);
	}
}

/* Weights, then what scale and specials ask for. */
static void
fill(const struct safetensors_dtype *d, uint8_t *p, uint64_t n, int kind)
{
	unsigned width = d->bits / 8;
	/* The middle of the exponents, so about 1. */
	uint64_t one = (uint64_t)d->bias << d->mantissa;
	uint64_t half = (uint64_t)1 << (d->bits - 1);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t bits = (uint64_t)random_number(1 << 20) << 40 ^
				(uint64_t)random_number(1 << 20) << 20 ^
				random_number(1 << 20);
		uint8_t wide[8];

		/* 0: anything, 1: weights, 2: mostly zero, 3: with a few
		 * odd values, 4: zero at the end. */
		if (kind != 0)
			bits = one - (bits % ((uint64_t)4 << d->mantissa)) +
			       (random_number(2) ? half : 0);
		if (kind == 2 && random_number(300) != 0)
			bits = random_number(2) ? half : 0;
		if (kind == 3 && random_number(500) == 0)
			bits = half - 1 - random_number(3) +
			       (random_number(2) ? half : 0);
		if (kind == 3 && random_number(500) == 0)
			bits = 1;
		if (kind == 4 && i > n / 2)
			bits = random_number(2) ? half : 0;
		ckpt_store_u64(wide, bits);
		memcpy(p + i * width, wide, width);
	}
}

static void
test_scan_agrees_with_looking_at_each_value(void **state)
{
	const struct safetensors_kernels *const sets[] = {
		safetensors_kernels_plain(), safetensors_kernels()
	};
	const struct safetensors_dtype *d;
	static uint8_t bytes[MOST];

	(void)state;
	for (size_t i = 0; (d = safetensors_dtype_at(i)); i++)
		for (int k = 0; k < 60; k++) {
			uint64_t dims[2] = { 1, 0 };
			struct safetensors_tensor t = { .dtype = d,
				.shape = { .p = dims, .n = 2 } };
			struct safetensors_scan s;
			struct naive want;
			size_t n, step;

			if (d->kind != SAFETENSORS_FLOAT || d->bits < 8 ||
				!d->sign)
				continue;
			dims[1] = 1 + random_number(MOST / (d->bits / 8));
			n = (size_t)dims[1] * (d->bits / 8);
			fill(d, bytes, dims[1], k % 5);
			look(&want, d, bytes, dims[1]);
			step = 24 * (1 + random_number(k % 3 ? 500 : 10));
			scan(&s, &t, sets[k % 2], bytes, n, step);
			compare(&s, &want);
		}
}

/* A C64 is two F32. */
static void
test_scan_complex_is_two_singles(void **state)
{
	const struct safetensors_dtype *single =
		safetensors_dtype_find("F32", 3);
	static uint8_t bytes[MOST];

	(void)state;
	for (int k = 0; k < 20; k++) {
		uint64_t dims[2] = { 1, MOST / 8 };
		struct safetensors_tensor t = {
			.dtype = safetensors_dtype_find("C64", 3),
			.shape = { .p = dims, .n = 2 },
		};
		struct safetensors_scan s;
		struct naive want;

		fill(single, bytes, MOST / 4, k % 5);
		look(&want, single, bytes, MOST / 4);
		scan(&s, &t, safetensors_kernels(), bytes, MOST, 4104);
		compare(&s, &want);
	}
}

/* Squares that no double holds, and values that cancel nowhere. */
static void
test_scan_spread_of_extremes(void **state)
{
	uint64_t dims[2] = { 1, 1024 };
	struct safetensors_tensor t = {
		.dtype = safetensors_dtype_find("F64", 3),
		.shape = { .p = dims, .n = 2 },
	};
	struct safetensors_scan s;
	static uint8_t bytes[8192];

	(void)state;
	for (size_t i = 0; i < 1024; i++)
		ckpt_store_u64(bytes + 8 * i, ckpt_f64_bits(1e-200));
	ckpt_store_u64(bytes + 8 * 700, ckpt_f64_bits(1.0));
	scan(&s, &t, safetensors_kernels(), bytes, sizeof bytes, 8192);
	assert_true(s.spread.max == 1.0);
	assert_int_equal(s.spread.max_at, 700);
	assert_true(
		fabs(safetensors_spread_rms(&s.spread) / 1e-200 - 1.0) < 1e-9);
	/* The highest is 10^9 times the others: its square, taken off again,
	 * would leave nothing of theirs. */
	for (size_t i = 0; i < 1024; i++)
		ckpt_store_u64(
			bytes + 8 * i, ckpt_f64_bits(i == 5 ? 1e9 : 1.0));
	scan(&s, &t, safetensors_kernels(), bytes, sizeof bytes, 8192);
	assert_true(safetensors_spread_rms(&s.spread) == 1.0);
}

static void
test_scan_kernels_agree_with_naive_loops(void **state)
{
	const struct safetensors_kernels *const sets[] = {
		safetensors_kernels_plain(), safetensors_kernels()
	};
	static uint8_t p[SAFETENSORS_BLOCK + 1];

	(void)state;
	for (int k = 0; k < 400; k++) {
		const struct safetensors_kernels *set = sets[k % 2];
		const uint8_t *q = p + k % 4 / 2;
		uint64_t top[3] = { 0 },
			 low[3] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
		struct safetensors_magnitudes m[3];
		struct safetensors_byte_test test = { 0x7f, 0xff, 0x7f };
		struct safetensors_bytes b = { 0, 0 }, got;

		for (size_t i = 0; i < sizeof p; i++)
			p[i] = k % 5 && random_number(1000)
				       ? 0
				       : (uint8_t)random_number(256);
		m[0] = set->u16(q);
		m[1] = set->u32(q);
		m[2] = set->u64(q);
		for (unsigned w = 0; w < 3; w++) {
			size_t width = (size_t)2 << w;
			uint64_t all = ((uint64_t)1 << (8 * width - 1)) - 1;

			for (size_t i = 0; i < SAFETENSORS_BLOCK; i += width) {
				uint8_t wide[8] = { 0 };
				uint64_t v;

				memcpy(wide, q + i, width);
				v = ckpt_load_u64(wide) & all;
				top[w] = v > top[w] ? v : top[w];
				if (v > 0 && v - 1 < low[w])
					low[w] = v - 1;
			}
			assert_true(m[w].top == top[w]);
			assert_true(m[w].low == low[w]);
		}
		got = set->bytes(q, test);
		for (size_t i = 0; i < SAFETENSORS_BLOCK; i++) {
			uint8_t x = q[i] ^ 0x7f;

			b.top = x > b.top ? x : b.top;
			b.any |= q[i] & 0x7f;
		}
		assert_int_equal(got.top, b.top);
		assert_int_equal(got.any, b.any);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan_agrees_with_looking_at_each_value),
		cmocka_unit_test(test_scan_complex_is_two_singles),
		cmocka_unit_test(test_scan_spread_of_extremes),
		cmocka_unit_test(test_scan_kernels_agree_with_naive_loops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
