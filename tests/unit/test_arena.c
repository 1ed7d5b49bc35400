/* SPDX-License-Identifier: MIT */
/*
 * The arena: contents, budget, accounting, failures on request. What leaks
 * or overlaps is found by the sanitised builds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

static uint32_t
random_number(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void
test_arena_blocks_do_not_overlap(void **state)
{
	enum { BLOCKS = 3000 };
	static struct {
		uint8_t *p;
		size_t n;
	} blocks[BLOCKS];
	struct ckpt_arena arena;
	uint32_t seed = 1;

	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	for (size_t i = 0; i < BLOCKS; i++) {
		size_t n = random_number(&seed) % (i % 50 ? 300 : 40 * KIB);
		bool aligned = random_number(&seed) % 2;
		uint8_t *p = aligned ? ckpt_arena_alloc(&arena, n)
				     : ckpt_arena_bytes(&arena, n);

		assert_non_null(p);
		if (aligned)
			assert_int_equal((uintptr_t)p % 8, 0);
		memset(p, (int)(i % 251), n);
		blocks[i].p = p;
		blocks[i].n = n;
	}
	for (size_t i = 0; i < BLOCKS; i++)
		for (size_t k = 0; k < blocks[i].n; k++)
			assert_int_equal(blocks[i].p[k], i % 251);
	ckpt_arena_release(&arena);
	assert_int_equal(arena.used, 0);
}

/* Growth by any steps keeps what was there, over the bound between blocks in
 * chunks and blocks of their own, with other blocks in between. */
static void
test_arena_grow_keeps_contents(void **state)
{
	struct ckpt_arena arena;
	uint8_t *p[3] = { NULL };
	size_t n[3] = { 0 };
	uint32_t seed = 7;

	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	for (int round = 0; round < 400; round++) {
		size_t i = (size_t)round % 3;
		size_t more = n[i] + 1 + random_number(&seed) % (2 * KIB);

		p[i] = ckpt_arena_grow(&arena, p[i], n[i], more);
		assert_non_null(p[i]);
		for (size_t k = 0; k < n[i]; k++)
			assert_int_equal(p[i][k], (k * 7 + i) % 256);
		for (size_t k = n[i]; k < more; k++)
			p[i][k] = (uint8_t)((k * 7 + i) % 256);
		n[i] = more;
	}
	ckpt_arena_release(&arena);
}

static void
check_push(size_t size, uint64_t most)
{
	struct ckpt_arena arena;
	uint8_t *p = NULL;

	ckpt_arena_init(&arena, UINT64_MAX);
	for (uint64_t i = 0; i < most; i++) {
		p = ckpt_arena_push(&arena, p, i, size);
		assert_non_null(p);
		memset(p + i * size, (int)(i % 253), size);
	}
	for (uint64_t i = 0; i < most; i++) {
		assert_int_equal(p[i * size], i % 253);
		assert_int_equal(p[(i + 1) * size - 1], i % 253);
	}
	/* A large array is at most a quarter too large, and what it was
	 * before it became large is less than two chunks. */
	if (most * size > MIB)
		assert_true(arena.used <= most * size * 5 / 4 + 128 * KIB);
	ckpt_arena_release(&arena);
}

static void
test_arena_push_elements(void **state)
{
	static const size_t sizes[] = { 1, 3, 8, 16, 24, 64, 100, 4096,
		16 * KIB - 1, 16 * KIB, 20000 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (uint64_t most = 1; most * sizes[i] < 6 * MIB;
			most = most * 3 + 1)
			check_push(sizes[i], most);
}

static void
test_arena_budget_is_never_passed(void **state)
{
	struct ckpt_arena arena;
	uint8_t *p, *q;

	(void)state;
	ckpt_arena_init(&arena, 200 * KIB);
	p = ckpt_arena_zalloc(&arena, 100 * KIB);
	assert_non_null(p);
	assert_int_equal(arena.used, 100 * KIB);
	/* A chunk of 64 KiB still fits, another does not. */
	assert_non_null(ckpt_arena_alloc(&arena, 1));
	assert_null(ckpt_arena_alloc(&arena, 40 * KIB));
	assert_int_equal(arena.failure, CKPT_ARENA_BUDGET);
	assert_true(arena.used <= arena.budget);
	/* What failed to grow is still there, and may grow less. */
	p[100 * KIB - 1] = 9;
	assert_null(ckpt_arena_grow(&arena, p, 100 * KIB, 150 * KIB));
	assert_int_equal(p[100 * KIB - 1], 9);
	q = ckpt_arena_grow(&arena, p, 100 * KIB, 130 * KIB);
	assert_non_null(q);
	assert_int_equal(q[100 * KIB - 1], 9);
	assert_true(arena.used <= arena.budget);
	ckpt_arena_release(&arena);

	ckpt_arena_init(&arena, UINT64_MAX);
	assert_null(ckpt_arena_alloc(&arena, SIZE_MAX - 4));
	assert_null(ckpt_arena_push(
		&arena, NULL, (uint64_t)1 << 62, (size_t)1 << 62));
	ckpt_arena_release(&arena);
}

static void
test_arena_fails_at_the_chosen_allocation(void **state)
{
	(void)state;
	for (uint64_t at = 1; at <= 4; at++) {
		struct ckpt_arena arena;

		ckpt_arena_init(&arena, UINT64_MAX);
		arena.fail_at = at;
		for (uint64_t i = 1; i <= 4; i++) {
			void *p = ckpt_arena_alloc(&arena, 20 * KIB);

			assert_int_equal(p == NULL, i == at);
		}
		assert_int_equal(arena.failure, CKPT_ARENA_MEMORY);
		ckpt_arena_release(&arena);
	}
}

static void
test_arena_reuse_keeps_one_chunk(void **state)
{
	struct ckpt_arena arena;

	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	ckpt_arena_reuse(&arena);
	assert_int_equal(arena.used, 0);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 100; i++) {
			memset(ckpt_arena_alloc(&arena, 1000), round, 1000);
			memset(ckpt_arena_bytes(&arena, 999), round, 999);
		}
		memset(ckpt_arena_alloc(&arena, MIB), round, MIB);
		assert_true(arena.used > MIB && arena.used < 2 * MIB);
		ckpt_arena_reuse(&arena);
		assert_int_equal(arena.used, 64 * KIB);
	}
	ckpt_arena_release(&arena);
}

static void
test_arena_strings(void **state)
{
	struct ckpt_arena arena;
	char *s;

	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	s = ckpt_arena_strndup(&arena, "a\0b", 3);
	assert_memory_equal(s, "a\0b", 4);
	assert_string_equal(ckpt_arena_strndup(&arena, NULL, 0), "");
	assert_string_equal(
		ckpt_arena_printf(&arena, "%d-%s", 7, "seven"), "7-seven");
	ckpt_arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_blocks_do_not_overlap),
		cmocka_unit_test(test_arena_grow_keeps_contents),
		cmocka_unit_test(test_arena_push_elements),
		cmocka_unit_test(test_arena_budget_is_never_passed),
		cmocka_unit_test(test_arena_fails_at_the_chosen_allocation),
		cmocka_unit_test(test_arena_reuse_keeps_one_chunk),
		cmocka_unit_test(test_arena_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
