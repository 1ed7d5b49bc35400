/* SPDX-License-Identifier: MIT */
/*
 * Mean and L2 of elements of any size, against answers that are known: what
 * is rounded off, overflows or is lost below the least double would show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "base/bytes.h"
#include "model/rng.h"
#include "sink/stats.h"

enum { MOST = 200 };

static struct ckpt_stats
stats_of(const double *x, size_t n)
{
	const struct ckpt_span span = { .dtype = "F64", .width = 8 };
	struct ckpt_stats s = { 0 };
	uint8_t p[8];

	for (size_t i = 0; i < n; i++) {
		ckpt_store_u64(p, ckpt_f64_bits(x[i]));
		ckpt_stats_add(&s, &span, p, sizeof p);
	}
	return s;
}

/* Within a few units in the last place. */
static bool
near(double a, double b)
{
	return a == b || fabs(a - b) <= fabs(b) * 32 * DBL_EPSILON;
}

static void
test_stats_of_any_size(void **state)
{
	static const struct {
		double x[4];
		size_t n;
		double mean, l2;
	} rows[] = {
		{ { 0 }, 0, 0, 0 },
		{ { 0, -0.0 }, 2, 0, 0 },
		{ { 3, -4 }, 2, -0.5, 5 },
		/* What the last bit has no room for. */
		{ { 1e16, 1, -1e16 }, 3, 1.0 / 3, 1.4142135623730951e16 },
		{ { 1, 1e100, 1, -1e100 }, 4, 0.5, 1.4142135623730951e100 },
		{ { 1e300, 1, -1e300 }, 3, 1.0 / 3, 1.4142135623730951e300 },
		/* A sum or squares beyond doubles. */
		{ { 1.7e308, 1.7e308 }, 2, 1.7e308, (double)INFINITY },
		{ { -1.7e308, 1.7e308 }, 2, 0, (double)INFINITY },
		{ { DBL_MAX, DBL_MAX, DBL_MAX }, 3, DBL_MAX, (double)INFINITY },
		{ { DBL_MAX }, 1, DBL_MAX, DBL_MAX },
		{ { 3e200, 4e200 }, 2, 3.5e200, 5e200 },
		{ { 3e200, 4e200, 1, 1e-200 }, 4, 1.75e200, 5e200 },
		/* Squares below them. */
		{ { 1e-200, 1e-200 }, 2, 1e-200, 1.4142135623730951e-200 },
		{ { 3e-200, -4e-200 }, 2, -5e-201, 5e-200 },
		{ { 0x1p-1074 }, 1, 0x1p-1074, 0x1p-1074 },
		{ { 0x3p-1074, 0x4p-1074 }, 2, 0x4p-1074, 0x5p-1074 },
		/* On both sides of where they are scaled. */
		{ { 0x3p-513, 0x4p-513 }, 2, 0x7p-514, 0x5p-513 },
		{ { 0x3p485, 0x4p485 }, 2, 0x7p484, 0x5p485 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_stats s = stats_of(rows[i].x, rows[i].n);

		if (!near(ckpt_stats_mean(&s), rows[i].mean))
			fail_msg("row %zu: mean %.17g", i, ckpt_stats_mean(&s));
		if (!near(ckpt_stats_l2(&s), rows[i].l2))
			fail_msg("row %zu: L2 %.17g", i, ckpt_stats_l2(&s));
	}
}

/* Integers times a power of two: the mean is that of the integers, whose sum
 * is exact, to the bit; wherever the power puts them. */
static void
test_stats_scaled(void **state)
{
	struct ckpt_rng random = { 7 };

	(void)state;
	for (int power = -1000; power <= 960; power++) {
		double x[MOST], sum = 0, squares = 0;
		struct ckpt_stats s;

		for (size_t i = 0; i < MOST; i++) {
			uint64_t u = ckpt_rng_draw(&random);
			double k = (double)(u >> 24) - (double)(1ull << 39);

			k = i % 3 ? k : floor(k / (1 << 26));
			sum += k;
			squares += k * k;
			x[i] = ldexp(k, power);
		}
		s = stats_of(x, MOST);
		assert_true(ckpt_stats_mean(&s) == ldexp(sum / MOST, power));
		if (!near(ckpt_stats_l2(&s), ldexp(sqrt(squares), power)))
			fail_msg("2^%d: L2 %.17g", power, ckpt_stats_l2(&s));
	}
}

static void
test_stats_write(void **state)
{
	struct ckpt_buf buf = { 0 };

	(void)state;
	ckpt_stats_write(&buf, 0.1);
	ckpt_buf_puts(&buf, " ");
	ckpt_stats_write(&buf, (double)INFINITY);
	assert_string_equal(buf.p, "0.1 >1.79769e+308");
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stats_of_any_size),
		cmocka_unit_test(test_stats_scaled),
		cmocka_unit_test(test_stats_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
