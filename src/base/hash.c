/* SPDX-License-Identifier: MIT */
/*
 * The plain loop, and the choice of a faster kernel (fnv1a_lanes.h). The plain
 * loop is the definition: a faster path may stand beside it, never replace it.
 */
#include "base/hash.h"

#include "base/fnv1a.h"
#include "base/simd.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ckpt_fnv1a64_kernel *kernel; /* written once, by choose_kernel */

_Static_assert(CKPT_FNV1A64_PRIME *CKPT_FNV1A64_INVERSE == 1,
	"the inverse undoes the prime");

/* The product wraps on purpose, it is the hash. */
uint64_t
ckpt_fnv1a64_plain(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * CKPT_FNV1A64_PRIME;
	return h;
}

ckpt_fnv1a64_kernel *
ckpt_fnv1a64_of(enum ckpt_simd level)
{
	static ckpt_fnv1a64_kernel *const kernels[CKPT_SIMD_LEVELS] = {
		[CKPT_SIMD_OFF] = ckpt_fnv1a64_plain,
		[CKPT_SIMD_PORTABLE] = ckpt_fnv1a64_portable,
#if defined(__x86_64__)
		[CKPT_SIMD_SSE2] = ckpt_fnv1a64_sse2,
		[CKPT_SIMD_AVX2] = ckpt_fnv1a64_avx2,
		[CKPT_SIMD_AVX512] = ckpt_fnv1a64_avx512,
#endif
	};

	return kernels[level];
}

static void
choose_kernel(void)
{
	kernel = ckpt_fnv1a64_of(ckpt_simd_level());
}

uint64_t
ckpt_fnv1a64(uint64_t h, const void *bytes, size_t n)
{
	if (n < CKPT_FNV1A64_BLOCK)
		return ckpt_fnv1a64_plain(h, bytes, n);
	pthread_once(&once, choose_kernel);
	return kernel(h, bytes, n);
}
