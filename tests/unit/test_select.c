/* SPDX-License-Identifier: MIT */
/*
 * Token selection: ties and zeros of either sign, exactly k kept tokens,
 * temperatures at both ends, and draws against a second writing of the
 * specification that keeps every token and sorts nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/fmath.h"
#include "model/rng.h"
#include "num/select.h"

#include <math.h>
#include <string.h>

enum { MOST = 32 };

#define LAST_UNIT (1.0 - 0x1p-53)

static uint32_t
sampled(const double *z, size_t n, double temperature, size_t keep, double u)
{
	struct ckpt_candidate space[MOST];
	uint32_t id = UINT32_MAX;
	double sum;

	assert_true(ckpt_select_sample(
		z, n, temperature, keep, u, space, &id, &sum));
	assert_true(fabs(sum - 1.0) <= 1e-12);
	return id;
}

static void
test_select_greedy_takes_the_lower_id_of_a_tie(void **state)
{
	static const double a[] = { 1.0, 3.0, 3.0, 2.0 };
	static const double b[] = { -0.0, 0.0, -0.0 };
	static const double c[] = { -1.0, 0.0, -0.0 };
	static const double d[] = { -5.0 };
	static const double e[] = { -1e308, -1e307, -0x1p-1074 };

	(void)state;
	assert_int_equal(ckpt_select_greedy(a, 4), 1);
	assert_int_equal(ckpt_select_greedy(b, 3), 0);
	assert_int_equal(ckpt_select_greedy(c, 3), 1);
	assert_int_equal(ckpt_select_greedy(d, 1), 0);
	assert_int_equal(ckpt_select_greedy(e, 3), 2);
}

/* The k-th best ties with the next: the lower ids are kept, and no more than
 * k. Zeros tie whatever their sign. */
static void
test_select_keeps_exactly_k(void **state)
{
	static const double tied[] = { 0.0, 1.0, 1.0, 1.0 };
	static const double zeros[] = { -0.0, 0.0, -0.0, 0.0 };

	(void)state;
	for (double u = 0.0; u < 1.0; u += 0x1p-6) {
		assert_int_equal(sampled(tied, 4, 1.0, 1, u), 1);
		assert_int_equal(sampled(tied, 4, 1.0, 2, u), u < 0.5 ? 1 : 2);
		assert_int_equal(sampled(zeros, 4, 1.0, 1, u), 0);
		assert_int_equal(sampled(zeros, 4, 1.0, 2, u), u < 0.5 ? 0 : 1);
		assert_int_equal(sampled(zeros, 4, 1.0, 4, u), (int)(u * 4));
	}
	assert_int_equal(sampled(tied, 4, 1.0, 2, LAST_UNIT), 2);
	assert_int_equal(sampled(tied, 4, 1.0, 4, LAST_UNIT), 3);
	assert_int_equal(sampled(tied, 4, 1.0, 4, 0.0), 0);
}

/* An interval is closed below and open above. */
static void
test_select_intervals_are_half_open(void **state)
{
	static const double z[] = { 2.0, 2.0 };

	(void)state;
	assert_int_equal(sampled(z, 2, 1.0, 2, 0.5 - 0x1p-54), 0);
	assert_int_equal(sampled(z, 2, 1.0, 2, 0.5), 1);
	assert_int_equal(sampled(z, 2, 1.0, 2, LAST_UNIT), 1);
}

static void
test_select_temperature_extremes(void **state)
{
	static const double z[] = { 1.0, 5.0, 4.9999, -1e300 };
	static const double huge[] = { 1e308, -1e308 };
	double least = 0x1p-1074;

	(void)state;
	for (double u = 0.0; u < 1.0; u += 0x1p-4) {
		/* The gap overflows to -inf: weight 0, and never picked. */
		assert_int_equal(sampled(z, 4, least, 4, u), 1);
		assert_int_equal(sampled(huge, 2, 1.0, 2, u), 0);
		/* All quotients are as good as zero. */
		assert_int_equal(sampled(z, 3, 1e308, 3, u), u < 1.0 / 3   ? 0
							     : u < 2.0 / 3 ? 1
									   : 2);
	}
	/* Kept with p = 0: the last token with p > 0 ends at 1. */
	assert_int_equal(sampled(z, 4, 1.0, 4, LAST_UNIT), 2);
	/* From a temperature of 1 on both are divided first: here that makes
	 * a finite gap of what the difference of logits would overflow. */
	assert_int_equal(sampled(huge, 2, 1e308, 2, LAST_UNIT), 1);
	assert_int_equal(sampled(huge, 2, 1e308, 2, 0.0), 0);
}

/* Probabilities that do not add up are refused with what they add up to: a
 * logit that is no number is the way to get there. */
static void
test_select_checks_the_sum(void **state)
{
	static const double z[] = { 0.0, (double)NAN, 1.0 };
	struct ckpt_candidate space[3];
	uint32_t id;
	double sum = 0.0;

	(void)state;
	assert_false(ckpt_select_sample(z, 3, 1.0, 3, 0.0, space, &id, &sum));
	assert_true(isnan(sum));
}

struct kahan {
	double s, c;
};

static void
add(struct kahan *k, double x)
{
	double y = x - k->c, t = k->s + y;

	k->c = (t - k->s) - y;
	k->s = t;
}

/* Whether token a ranks before token b. */
static bool
before(const double *z, size_t a, size_t b)
{
	return z[a] > z[b] || (z[a] == z[b] && a < b);
}

static uint32_t
by_the_book(
	const double *z, size_t n, double temperature, size_t keep, double u)
{
	double p[MOST] = { 0 }, start = 0.0;
	size_t order[MOST], last = 0;
	struct kahan w = { 0.0, 0.0 };

	for (size_t v = 0; v < n; v++) {
		size_t rank = 0;

		for (size_t o = 0; o < n; o++)
			rank += o != v && before(z, o, v);
		order[rank] = v;
	}
	for (size_t i = 0; i < keep; i++) {
		double max = z[order[0]], x = z[order[i]];

		p[order[i]] =
			i == 0 ? 1.0
			: temperature < 1.0
				? ckpt_exp((x - max) / temperature)
				: ckpt_exp(x / temperature - max / temperature);
		add(&w, p[order[i]]);
	}
	for (size_t v = 0; v < n; v++) {
		p[v] = p[v] / w.s;
		if (p[v] > 0.0)
			last = v;
	}
	for (size_t v = 0; v < n; v++) {
		double end = v == last ? 1.0 : fmin(start + p[v], 1.0);

		if (p[v] > 0.0 && (u < end || v == last))
			return (uint32_t)v;
		if (p[v] > 0.0)
			start = end;
	}
	return UINT32_MAX;
}

static void
test_select_draws_as_the_specification(void **state)
{
	static const double temperatures[] = { 0.01, 0.5, 0.999, 1.0, 2.0,
		50.0 };
	struct ckpt_rng rng = { 99 };

	(void)state;
	for (int k = 0; k < 20000; k++) {
		double z[MOST], t = temperatures[k % 6], u;
		size_t n = 1 + ckpt_rng_draw(&rng) % MOST;
		size_t keep = 1 + ckpt_rng_draw(&rng) % n;

		/* Few different values, so that there are ties. */
		for (size_t i = 0; i < n; i++)
			z[i] = k % 2 ? floor(ckpt_rng_unit(&rng) * 4) - 2
				     : ckpt_rng_unit(&rng) * 20 - 10;
		/* A last token of p = 0, and a draw beyond what sums of p may
		 * come to. */
		if (k % 5 == 0)
			z[n - 1] = -1e300;
		u = k % 3 == 0 ? LAST_UNIT : ckpt_rng_unit(&rng);
		assert_int_equal(sampled(z, n, t, keep, u),
			by_the_book(z, n, t, keep, u));
	}
}

/* The total of weights is compensated: 1 and ten of 2^-54 are 1 + 10 x 2^-54,
 * where plain additions would stay at 1. Without it the sum that is checked
 * differs in its last bits from what stands here. */
static void
test_select_sums_are_compensated(void **state)
{
	double z[11] = { 0.0 };
	struct ckpt_candidate space[11];
	struct kahan weights = { 0.0, 0.0 };
	double plain = 0.0, p0, sum;
	uint32_t id;

	(void)state;
	for (size_t i = 1; i < 11; i++)
		z[i] = -37.429947750237; /* about log(2^-54) */
	for (size_t i = 0; i < 11; i++) {
		double w = i == 0 ? 1.0 : ckpt_exp(z[i] - z[0]);

		add(&weights, w);
		plain = plain + w;
	}
	assert_true(plain == 1.0 && weights.s > 1.0);
	assert_true(ckpt_select_sample(z, 11, 1.0, 11, 0.0, space, &id, &sum));
	/* After the call the candidates stand in the order of ids. */
	p0 = 1.0 / weights.s;
	assert_int_equal(ckpt_f64_bits(space[0].p), ckpt_f64_bits(p0));
	assert_true(p0 < 1.0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_select_greedy_takes_the_lower_id_of_a_tie),
		cmocka_unit_test(test_select_keeps_exactly_k),
		cmocka_unit_test(test_select_intervals_are_half_open),
		cmocka_unit_test(test_select_temperature_extremes),
		cmocka_unit_test(test_select_checks_the_sum),
		cmocka_unit_test(test_select_draws_as_the_specification),
		cmocka_unit_test(test_select_sums_are_compensated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
