/* SPDX-License-Identifier: MIT */
/*
 * The kernel for AVX2; how it works is told in fnv1a_lanes.h.
 */
#include "base/fnv1a.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES  32
#define TARGET __attribute__((target("avx2")))
#define KERNEL ckpt_fnv1a64_avx2
#define REST   ckpt_fnv1a64_sse2
#define KEEP   "+x"
#include "base/fnv1a_lanes.h"

ALWAYS v
load(const uint8_t *p)
{
	return (v)_mm256_loadu2_m128i((const __m128i *)(const void *)(p + 1024),
		(const __m128i *)(const void *)p);
}

ALWAYS v
low(v a, v b)
{
	return (v)_mm256_unpacklo_epi8((__m256i)a, (__m256i)b);
}

ALWAYS v
high(v a, v b)
{
	return (v)_mm256_unpackhi_epi8((__m256i)a, (__m256i)b);
}

/* First within each half, then what the lower half does to the upper. */
ALWAYS v
spread(v words, v *carry)
{
	const __m256i upper = _mm256_set_epi64x(-1, -1, 0, 0);
	__m256i w, pairs, first;

	w = _mm256_cmpgt_epi64(_mm256_setzero_si256(), (__m256i)words);
	w = _mm256_slli_si256(w, 8);
	pairs = _mm256_cmpgt_epi64(_mm256_setzero_si256(), (__m256i)words);
	pairs = _mm256_xor_si256(pairs, w);
	first = _mm256_permute4x64_epi64(pairs, 0x55);
	w = _mm256_xor_si256(w, _mm256_and_si256(first, upper));
	w = _mm256_xor_si256(w, (__m256i)*carry);
	*carry ^= (v)first ^ (v)_mm256_permute4x64_epi64(pairs, 0xff);
	return (v)w;
}

ALWAYS sums
add_products(sums sum, halves d, halves w)
{
	return sum + (sums)_mm256_madd_epi16((__m256i)d, (__m256i)w);
}
#endif
