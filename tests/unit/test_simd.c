/* SPDX-License-Identifier: MIT */
/*
 * CKPT_SIMD: what each word means, that hash and value scan both follow it,
 * and that the first threads to ask may be many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fnv1a.h"
#include "base/hash.h"
#include "base/simd.h"
#include "format/safetensors_block.h"

static void
test_simd_words(void **state)
{
	static const char *const unknown[] = { "auto", "", "AVX2", "avx2 ",
		"sse", "avx", "avx5122", "1", "-1", "none" };
	const enum ckpt_simd best = CKPT_SIMD_AVX2;

	(void)state;
	assert_int_equal(ckpt_simd_choose("off", best), CKPT_SIMD_OFF);
	assert_int_equal(
		ckpt_simd_choose("portable", best), CKPT_SIMD_PORTABLE);
	assert_int_equal(ckpt_simd_choose("sse2", best), CKPT_SIMD_SSE2);
	assert_int_equal(ckpt_simd_choose("avx2", best), CKPT_SIMD_AVX2);
	assert_int_equal(ckpt_simd_choose(NULL, best), best);
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		assert_int_equal(ckpt_simd_choose(unknown[i], best), best);
}

static void
test_simd_falls_back_to_the_best_below(void **state)
{
	(void)state;
	for (unsigned best = 0; best < CKPT_SIMD_LEVELS; best++)
		for (unsigned k = 0; k < CKPT_SIMD_LEVELS; k++)
			assert_int_equal(
				ckpt_simd_choose(
					ckpt_simd_name((enum ckpt_simd)k),
					(enum ckpt_simd)best),
				k < best ? k : best);
}

static void *
ask(void *arg)
{
	*(enum ckpt_simd *)arg = ckpt_simd_level();
	return NULL;
}

/* In a process that has not asked yet. */
static int
level_of(const char *word)
{
	enum ckpt_simd seen[8], level;
	pthread_t threads[8];

	if (word ? setenv("CKPT_SIMD", word, 1) : unsetenv("CKPT_SIMD"))
		return 100;
	for (size_t i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, ask, &seen[i]) != 0)
			return 101;
	for (size_t i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	level = ckpt_simd_level();
	for (size_t i = 0; i < 8; i++)
		if (seen[i] != level)
			return 102;
	setenv("CKPT_SIMD", "portable", 1);
	if (ckpt_simd_level() != level)
		return 103;
	if (level < CKPT_SIMD_AVX2 &&
		safetensors_kernels() != safetensors_kernels_plain())
		return 104;
	return (int)level;
}

static void
test_simd_by_environment(void **state)
{
	static const char *const words[] = { NULL, "off", "portable", "sse2",
		"avx2", "avx512", "auto", "nonsense", "" };

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (child == 0)
			_exit(level_of(words[i]));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status),
			ckpt_simd_choose(words[i], ckpt_simd_best()));
	}
}

static void
test_simd_each_level_has_its_kernel(void **state)
{
	(void)state;
	assert_ptr_equal(ckpt_fnv1a64_of(CKPT_SIMD_OFF), ckpt_fnv1a64_plain);
	for (unsigned k = 0; k <= ckpt_simd_best(); k++) {
		assert_non_null(ckpt_fnv1a64_of((enum ckpt_simd)k));
		for (unsigned i = 0; i < k; i++)
			assert_ptr_not_equal(ckpt_fnv1a64_of((enum ckpt_simd)k),
				ckpt_fnv1a64_of((enum ckpt_simd)i));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simd_words),
		cmocka_unit_test(test_simd_falls_back_to_the_best_below),
		cmocka_unit_test(test_simd_by_environment),
		cmocka_unit_test(test_simd_each_level_has_its_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
