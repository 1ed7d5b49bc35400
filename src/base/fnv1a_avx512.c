/* SPDX-License-Identifier: MIT */
/*
 * The kernel for AVX-512 with its byte (BW) and dot product (VNNI)
 * instructions; how it works is told in fnv1a_lanes.h.
 */
#include "base/fnv1a.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES  64
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define KERNEL ckpt_fnv1a64_avx512
#define REST   ckpt_fnv1a64_avx2
#define KEEP   "+v"
#include "base/fnv1a_lanes.h"

ALWAYS v
load(const uint8_t *p)
{
	const __m128i *at = (const __m128i *)(const void *)p;
	__m512i x = _mm512_castsi128_si512(_mm_loadu_si128(at));

	x = _mm512_inserti32x4(x, _mm_loadu_si128(at + 64), 1);
	x = _mm512_inserti32x4(x, _mm_loadu_si128(at + 128), 2);
	x = _mm512_inserti32x4(x, _mm_loadu_si128(at + 192), 3);
	return (v)x;
}

ALWAYS v
low(v a, v b)
{
	return (v)_mm512_unpacklo_epi8((__m512i)a, (__m512i)b);
}

ALWAYS v
high(v a, v b)
{
	return (v)_mm512_unpackhi_epi8((__m512i)a, (__m512i)b);
}

/* The tops as one byte, where a running xor takes three shifts. */
ALWAYS v
spread(v words, v *carry)
{
	const __m512i ones = _mm512_set1_epi64(-1);
	unsigned w =
		_mm512_cmplt_epi64_mask((__m512i)words, _mm512_setzero_si512());

	w ^= w << 1;
	w ^= w << 2;
	w ^= w << 4;
	words = *carry;
	*carry ^= (v)_mm512_maskz_set1_epi64((__mmask8)(0 - (w >> 7 & 1)), -1);
	return (v)_mm512_mask_xor_epi64(
		(__m512i)words, (__mmask8)(w << 1), (__m512i)words, ones);
}

ALWAYS sums
add_products(sums sum, halves d, halves w)
{
	return (sums)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)d, (__m512i)w);
}
#endif
