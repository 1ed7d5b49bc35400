/* SPDX-License-Identifier: MIT */
/*
 * Checked arithmetic at its edges, against the same sums in 128 bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/checked.h"

__extension__ typedef unsigned __int128 wide;

static const uint64_t edges[] = { 0, 1, 2, 3, 7, 8, 9, 255, 256, 65535,
	UINT32_MAX - 1u, UINT32_MAX, (uint64_t)UINT32_MAX + 1,
	(uint64_t)UINT32_MAX + 2, INT64_MAX - 1u, INT64_MAX,
	(uint64_t)INT64_MAX + 1, (uint64_t)INT64_MAX + 2, UINT64_MAX / 3,
	UINT64_MAX - 8, UINT64_MAX - 1, UINT64_MAX };

enum { EDGES = sizeof edges / sizeof edges[0] };

static void
check_pair(uint64_t a, uint64_t b)
{
	uint64_t out = 0;
	wide sum = (wide)a + b, product = (wide)a * b;

	assert_int_equal(ckpt_add_u64(a, b, &out), sum <= UINT64_MAX);
	if (sum <= UINT64_MAX)
		assert_true(out == (uint64_t)sum);
	assert_int_equal(ckpt_sub_u64(a, b, &out), a >= b);
	if (a >= b)
		assert_true(out == a - b);
	assert_int_equal(ckpt_mul_u64(a, b, &out), product <= UINT64_MAX);
	if (product <= UINT64_MAX)
		assert_true(out == (uint64_t)product);
	if (b != 0) {
		wide up = ((wide)a + b - 1) / b * b;

		assert_int_equal(ckpt_align_u64(a, b, &out), up <= UINT64_MAX);
		if (up <= UINT64_MAX)
			assert_true(out == (uint64_t)up);
	}
	for (size_t i = 0; i < EDGES; i++)
		assert_int_equal(
			ckpt_within(a, b, edges[i]), (wide)a + b <= edges[i]);
}

static void
test_checked_agrees_with_wider_arithmetic(void **state)
{
	(void)state;
	for (size_t i = 0; i < EDGES; i++)
		for (size_t k = 0; k < EDGES; k++)
			check_pair(edges[i], edges[k]);
}

static void
test_checked_result_may_be_an_operand(void **state)
{
	uint64_t x = 5;

	(void)state;
	assert_true(ckpt_add_u64(x, 7, &x));
	assert_int_equal(x, 12);
	assert_true(ckpt_mul_u64(x, x, &x));
	assert_int_equal(x, 144);
	assert_true(ckpt_align_u64(x, 100, &x));
	assert_int_equal(x, 200);
}

static void
test_checked_to_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < EDGES; i++) {
		size_t n = 1;

		assert_int_equal(
			ckpt_to_size(edges[i], &n), edges[i] <= SIZE_MAX);
		if (edges[i] <= SIZE_MAX)
			assert_true(n == edges[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checked_agrees_with_wider_arithmetic),
		cmocka_unit_test(test_checked_result_may_be_an_operand),
		cmocka_unit_test(test_checked_to_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
