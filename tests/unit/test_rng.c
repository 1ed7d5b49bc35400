/* SPDX-License-Identifier: MIT */
/*
 * SplitMix64 against published draws, and the property that everything made
 * piece by piece rests on: skipping n draws is drawing n times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "model/rng.h"

static void
test_rng_draws_known_values(void **state)
{
	static const uint64_t draws[] = { 0xe220a8397b1dcdaf,
		0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec };
	struct ckpt_rng rng = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++)
		assert_int_equal(ckpt_rng_draw(&rng), draws[i]);
}

/* A stored state is the one before the next draw. */
static void
test_rng_goes_on_from_a_stored_state(void **state)
{
	struct ckpt_rng rng = { 0x9e3779b97f4a7c38 };

	(void)state;
	assert_int_equal(ckpt_rng_draw(&rng), 0x9a8c505971939232);
	rng.state = 35;
	(void)ckpt_rng_draw(&rng);
	assert_int_equal(rng.state, 0x9e3779b97f4a7c38);
}

static void
test_rng_skips_as_it_draws(void **state)
{
	struct ckpt_rng drawn = { 0xfedcba9876543210 };

	(void)state;
	for (uint64_t n = 0; n < 1000; n++) {
		struct ckpt_rng skipped = { 0xfedcba9876543210 };

		ckpt_rng_skip(&skipped, n);
		assert_int_equal(skipped.state, drawn.state);
		(void)ckpt_rng_draw(&drawn);
	}
	drawn.state = 7;
	ckpt_rng_skip(&drawn, UINT64_MAX);
	ckpt_rng_skip(&drawn, 1);
	assert_int_equal(drawn.state, 7);
}

static void
test_rng_unit_is_the_top_of_a_draw(void **state)
{
	struct ckpt_rng rng = { 33 }, same = rng;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		double unit = ckpt_rng_unit(&rng);
		uint64_t draw = ckpt_rng_draw(&same);

		assert_true(unit >= 0.0 && unit < 1.0);
		assert_int_equal(ckpt_f64_bits(unit * 0x1p53),
			ckpt_f64_bits((double)(draw >> 11)));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rng_draws_known_values),
		cmocka_unit_test(test_rng_goes_on_from_a_stored_state),
		cmocka_unit_test(test_rng_skips_as_it_draws),
		cmocka_unit_test(test_rng_unit_is_the_top_of_a_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
