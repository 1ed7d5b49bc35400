/* SPDX-License-Identifier: MIT */
/*
 * The kernel for SSE2, which every x86-64 has; how it works is told in fnv1a_lanes.h.
 */
#include "base/fnv1a.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES  16
#define TARGET __attribute__((target("sse2")))
#define KERNEL ckpt_fnv1a64_sse2
#define REST   ckpt_fnv1a64_plain
#define KEEP   "+x"
#include "base/fnv1a_lanes.h"

ALWAYS v
load(const uint8_t *p)
{
	return (v)_mm_loadu_si128((const __m128i *)(const void *)p);
}

ALWAYS v
low(v a, v b)
{
	return (v)_mm_unpacklo_epi8((__m128i)a, (__m128i)b);
}

ALWAYS v
high(v a, v b)
{
	return (v)_mm_unpackhi_epi8((__m128i)a, (__m128i)b);
}

ALWAYS v
spread(v words, v *carry)
{
	__m128i tops = _mm_shuffle_epi32((__m128i)words, 0xf5);
	__m128i w = _mm_srai_epi32(tops, 31);
	v before = *carry ^ (v)_mm_slli_si128(w, 8);

	*carry ^= (v)w ^ (v)_mm_shuffle_epi32(w, 0x4e);
	return before;
}

ALWAYS sums
add_products(sums sum, halves d, halves w)
{
	return sum + (sums)_mm_madd_epi16((__m128i)d, (__m128i)w);
}
#endif
