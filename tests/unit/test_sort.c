/* SPDX-License-Identifier: MIT */
/*
 * Index sorting: a permutation, in order, equal elements by their number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static int
by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const uint32_t *keys = ctx;

	return (keys[a] > keys[b]) - (keys[a] < keys[b]);
}

static void
check_sorted(const uint32_t *keys, uint32_t n)
{
	struct ckpt_arena arena;
	uint8_t *seen = calloc(n + 1, 1);
	uint32_t *order;

	ckpt_arena_init(&arena, UINT64_MAX);
	order = ckpt_sorted(&arena, n, by_key, keys);
	assert_non_null(order);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(order[i] < n);
		assert_int_equal(seen[order[i]]++, 0);
		if (i == 0)
			continue;
		assert_true(keys[order[i - 1]] <= keys[order[i]]);
		if (keys[order[i - 1]] == keys[order[i]])
			assert_true(order[i - 1] < order[i]);
	}
	free(seen);
	ckpt_arena_release(&arena);
}

static void
test_sort_orders_and_keeps_equals_ascending(void **state)
{
	enum { MOST = 20000 };
	static uint32_t keys[MOST];
	uint32_t seed = 5;

	(void)state;
	for (uint32_t n = 0; n < MOST; n = n * 2 + 1)
		for (uint32_t range = 1; range < 1u << 30; range *= 32) {
			for (uint32_t i = 0; i < n; i++) {
				seed = seed * 1664525 + 1013904223;
				keys[i] = (seed >> 4) % range;
			}
			check_sorted(keys, n);
			for (uint32_t i = 0; i < n; i++)
				keys[i] = n - i;
			check_sorted(keys, n);
		}
}

static void
test_sort_without_memory(void **state)
{
	struct ckpt_arena arena;
	uint32_t key = 0;

	(void)state;
	ckpt_arena_init(&arena, 1000);
	assert_null(ckpt_sorted(&arena, 100000, by_key, &key));
	assert_int_equal(arena.failure, CKPT_ARENA_BUDGET);
	ckpt_arena_release(&arena);
}

static void
test_sort_bytes_compare(void **state)
{
	static const char *const ascending[] = { "", "a", "a.", "a.b", "a_",
		"ab", "b", "\x7f", "\x80", "\xff" };
	enum { N = sizeof ascending / sizeof ascending[0] };

	(void)state;
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < N; k++) {
			int c = ckpt_bytes_compare(ascending[i],
				strlen(ascending[i]), ascending[k],
				strlen(ascending[k]));

			assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
		}
	assert_int_equal(ckpt_bytes_compare(NULL, 0, NULL, 0), 0);
	assert_true(ckpt_bytes_compare(NULL, 0, "\0", 1) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort_orders_and_keeps_equals_ascending),
		cmocka_unit_test(test_sort_without_memory),
		cmocka_unit_test(test_sort_bytes_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
