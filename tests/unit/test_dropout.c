/* SPDX-License-Identifier: MIT */
/*
 * Dropout words: known draws, any word without those before it, and what a
 * word does to an element and to its gradient.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "model/rng.h"
#include "num/dropout.h"

#include <math.h>

/* Published draws of SplitMix64 from state 0. */
static const uint64_t zero[] = { 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4,
	0x06c45d188009454f, 0xf88bb8a8724c81ec };

static void
test_words_are_numbered_from_zero(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(ckpt_dropout_word(0, i), zero[i]);
	assert_int_equal(ckpt_dropout_key(0), zero[0]);
}

static void
test_words_are_draws_from_the_key(void **state)
{
	/* The last one wraps around. */
	static const uint64_t seeds[] = { 1, 77, UINT64_MAX - 2 };

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		uint64_t key = ckpt_dropout_key(seeds[k]);
		struct ckpt_rng rng = { key };

		for (uint64_t i = 0; i < 1000; i++)
			assert_int_equal(
				ckpt_dropout_word(key, i), ckpt_rng_draw(&rng));
	}
	/* Numbers use all 64 bits: the stream's period is 2^64. */
	assert_int_equal(ckpt_dropout_word(0, UINT64_MAX),
		ckpt_dropout_word(0 - CKPT_RNG_STEP, 0));
}

/* Units of the words of key 0: 0.88, 0.43, 0.026, 0.97. */
static void
test_words_decide_elements(void **state)
{
	const struct ckpt_dropout d = { 0.25, 0, 0 }, later = { 0.25, 0, 1 };
	const double x[] = { 3.0, -6.0, (double)INFINITY, -0.0 };
	double y[4];

	(void)state;
	ckpt_dropout_forward(y, x, 4, &d, 0);
	assert_true(y[0] == 3.0 * (1.0 / 0.75) && y[1] == -6.0 * (1.0 / 0.75));
	/* What is dropped is +0.0, whatever it was. */
	assert_int_equal(ckpt_f64_bits(y[2]), 0);
	assert_int_equal(ckpt_f64_bits(y[3]), ckpt_f64_bits(-0.0));
	ckpt_dropout_backward(y, x, 4, &d, 0);
	assert_true(y[0] == 3.0 * (1.0 / 0.75) && y[1] == -6.0 * (1.0 / 0.75));
	assert_int_equal(ckpt_f64_bits(y[2]), 0);
	/* A gradient goes through a fresh +0.0. */
	assert_int_equal(ckpt_f64_bits(y[3]), 0);
	/* Counter and first word add up. */
	for (uint64_t first = 0; first < 2; first++) {
		ckpt_dropout_forward(y, x, 1, &later, first);
		assert_true(first ? y[0] == 0.0 : y[0] == 3.0 * (1.0 / 0.75));
	}
}

/* The unit must be below the probability, which it has 53 bits for. */
static void
test_probability_is_compared_exactly(void **state)
{
	double unit = (double)(zero[1] >> 11) * 0x1p-53, x = 1.0, y;
	struct ckpt_dropout d = { unit, 0, 1 };

	(void)state;
	ckpt_dropout_forward(&y, &x, 1, &d, 0);
	assert_true(y == 1.0 / (1.0 - unit));
	d.probability = nextafter(unit, 1.0);
	ckpt_dropout_forward(&y, &x, 1, &d, 0);
	assert_true(y == 0.0);
}

static void
test_probability_zero_keeps_everything(void **state)
{
	const struct ckpt_dropout d = { 0.0, 5, 0 };
	double x[100], y[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		x[i] = (double)(50 - i) / 3.0;
	ckpt_dropout_forward(y, x, 100, &d, 0);
	assert_memory_equal(x, y, sizeof x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_numbered_from_zero),
		cmocka_unit_test(test_words_are_draws_from_the_key),
		cmocka_unit_test(test_words_decide_elements),
		cmocka_unit_test(test_probability_is_compared_exactly),
		cmocka_unit_test(test_probability_zero_keeps_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
