/* SPDX-License-Identifier: MIT */
/*
 * Asks processor and environment once. __builtin_cpu_supports says yes to AVX
 * and later only if the system also saves the wider registers (XGETBV).
 */
#include "base/simd.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[CKPT_SIMD_LEVELS] = {
	[CKPT_SIMD_OFF] = "off",
	[CKPT_SIMD_PORTABLE] = "portable",
	[CKPT_SIMD_SSE2] = "sse2",
	[CKPT_SIMD_AVX2] = "avx2",
	[CKPT_SIMD_AVX512] = "avx512",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum ckpt_simd chosen; /* written once, by choose_level */

enum ckpt_simd
ckpt_simd_best(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vnni"))
		return CKPT_SIMD_AVX512;
	if (__builtin_cpu_supports("avx2"))
		return CKPT_SIMD_AVX2;
	return CKPT_SIMD_SSE2;
#else
	return CKPT_SIMD_PORTABLE;
#endif
}

enum ckpt_simd
ckpt_simd_choose(const char *word, enum ckpt_simd best)
{
	for (unsigned i = 0; word && i < CKPT_SIMD_LEVELS; i++)
		if (strcmp(word, names[i]) == 0)
			return i < best ? (enum ckpt_simd)i : best;
	return best;
}

const char *
ckpt_simd_name(enum ckpt_simd level)
{
	return names[level];
}

static void
choose_level(void)
{
	chosen = ckpt_simd_choose(getenv("CKPT_SIMD"), ckpt_simd_best());
}

enum ckpt_simd
ckpt_simd_level(void)
{
	pthread_once(&once, choose_level);
	return chosen;
}
