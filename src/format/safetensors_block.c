/* SPDX-License-Identifier: MIT */
/*
 * The loops that every byte of a model goes through. They are written once
 * and built twice on x86: for any processor, and for those with AVX2, where
 * they are about twice as fast. What they give is the same but for the order
 * of single-precision sums, of which only the rough size matters.
 *
 * The lowest magnitude that is not zero: with the highest bit in use as the
 * sign of a comparison, 0 - 1 wraps to the highest number of all.
 */
#include "format/safetensors_block.h"

#include "base/simd.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FROM_WIRE(bits, v) __builtin_bswap##bits(v)
#else
#define FROM_WIRE(bits, v) (v)
#endif

#define ALWAYS static inline __attribute__((always_inline))

enum { BLOCK = SAFETENSORS_BLOCK, LANES = 8 };

typedef float floats __attribute__((vector_size(4 * LANES)));
typedef uint32_t words __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef uint16_t halves __attribute__((vector_size(2 * LANES)));
typedef double doubles __attribute__((vector_size(4 * LANES)));
typedef uint64_t longs __attribute__((vector_size(4 * LANES)));

ALWAYS struct safetensors_bytes
bytes(const uint8_t *p, struct safetensors_byte_test test)
{
	uint8_t top = 0, any = 0;

	for (size_t i = 0; i < BLOCK; i++) {
		uint8_t x = (uint8_t)((p[i] ^ test.flip) & test.mask);

		top = x > top ? x : top;
		any |= (uint8_t)(p[i] & test.nonzero);
	}
	return (struct safetensors_bytes){ top, any };
}

/* Signed comparisons, because the oldest vectors have no others. */
#define MAGNITUDES(bits)                                                       \
	ALWAYS struct safetensors_magnitudes magnitudes_##bits(                \
		const uint8_t *p)                                              \
	{                                                                      \
		const uint##bits##_t all = INT##bits##_MAX;                    \
		int##bits##_t top = 0, low = INT##bits##_MAX;                  \
                                                                               \
		for (size_t i = 0; i < BLOCK / sizeof top; i++) {              \
			uint##bits##_t v;                                      \
			int##bits##_t a, b;                                    \
                                                                               \
			memcpy(&v, p + i * sizeof v, sizeof v);                \
			v = (uint##bits##_t)(FROM_WIRE(bits, v) & all);        \
			a = (int##bits##_t)v;                                  \
			b = (int##bits##_t)(uint##bits##_t)(v + all);          \
			top = a > top ? a : top;                               \
			low = b < low ? b : low;                               \
		}                                                              \
		return (struct safetensors_magnitudes){ (uint64_t)top,         \
			low == INT##bits##_MAX ? UINT64_MAX                    \
					       : (uint64_t)low + all + 1 };    \
	}

MAGNITUDES(16)
MAGNITUDES(32)
MAGNITUDES(64)

/* Lane by lane in twos, to halve the length of the sums and not to wait. */
ALWAYS double
sum(const floats *a, const floats *b)
{
	double s = 0.0;

	for (size_t l = 0; l < LANES; l++)
		s += (double)(*a)[l] + (double)(*b)[l];
	return s;
}

ALWAYS void
load_words(words *w, const uint8_t *p)
{
	memcpy(w, p, sizeof *w);
	for (size_t l = 0; FROM_WIRE(16, 1) != 1 && l < LANES; l++)
		(*w)[l] = FROM_WIRE(32, (*w)[l]);
}

ALWAYS void
add_square(floats *sum, const words *bits)
{
	floats f;

	memcpy(&f, bits, sizeof f);
	*sum += f * f;
}

ALWAYS void
square_f32(floats *sum, const uint8_t *p)
{
	words w;

	load_words(&w, p);
	add_square(sum, &w);
}

/* A word holds two; each is the upper half of its F32. */
ALWAYS void
square_bf16(floats *sum, const uint8_t *p)
{
	words w, low;

	load_words(&w, p);
	low = w << 16;
	w &= 0xffff0000;
	add_square(sum, &low);
	add_square(sum, &w);
}

/* With the exponent moved to its new bias. A denormal half gets an exponent
 * and the leading one that it does not have, which is taken off again. */
ALWAYS void
add_half(floats *sum, words *w)
{
	words small, lead;
	floats f, g;

	small = (words)(*w < 0x400);
	lead = small & (113u << 23);
	*w = (*w << 13) + (112u << 23) + (small & (1u << 23));
	memcpy(&f, w, sizeof f);
	memcpy(&g, &lead, sizeof g);
	f -= g;
	*sum += f * f;
}

ALWAYS void
square_f16(floats *sum, const uint8_t *p)
{
	words w, high;

	load_words(&w, p);
	high = w >> 16 & 0x7fff;
	w &= 0x7fff;
	add_half(sum, &w);
	add_half(sum, &high);
}

#define SQUARES(dtype)                                                         \
	ALWAYS double squares_##dtype(const uint8_t *p)                        \
	{                                                                      \
		floats a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };             \
                                                                               \
		for (size_t i = 0; i < BLOCK; i += 4 * sizeof a) {             \
			square_##dtype(&a, p + i);                             \
			square_##dtype(&b, p + i + sizeof a);                  \
			square_##dtype(&c, p + i + 2 * sizeof a);              \
			square_##dtype(&d, p + i + 3 * sizeof a);              \
		}                                                              \
		return sum(&a, &b) + sum(&c, &d);                              \
	}

SQUARES(f16)
SQUARES(bf16)
SQUARES(f32)

ALWAYS void
square_f64(doubles *sum, const uint8_t *p)
{
	longs w;
	doubles f;

	memcpy(&w, p, sizeof w);
	for (size_t l = 0; FROM_WIRE(16, 1) != 1 && l < LANES / 2; l++)
		w[l] = FROM_WIRE(64, w[l]);
	memcpy(&f, &w, sizeof f);
	*sum += f * f;
}

ALWAYS double
squares_f64(const uint8_t *p)
{
	doubles a = { 0 }, b = { 0 };
	double total = 0.0;

	for (size_t i = 0; i < BLOCK; i += 2 * sizeof a) {
		square_f64(&a, p + i);
		square_f64(&b, p + i + sizeof a);
	}
	for (size_t l = 0; l < LANES / 2; l++)
		total += a[l] + b[l];
	return total;
}

ALWAYS void
widen_f32(const uint8_t *p, uint32_t *bits)
{
	for (size_t i = 0; i < BLOCK / 4; i++) {
		uint32_t w;

		memcpy(&w, p + 4 * i, sizeof w);
		bits[i] = FROM_WIRE(32, w);
	}
}

ALWAYS void
load_halves(words *w, const uint8_t *p)
{
	halves h;

	memcpy(&h, p, sizeof h);
	for (size_t l = 0; FROM_WIRE(16, 1) != 1 && l < LANES; l++)
		h[l] = FROM_WIRE(16, h[l]);
	*w = __builtin_convertvector(h, words);
}

ALWAYS void
widen_bf16(const uint8_t *p, uint32_t *bits)
{
	for (size_t i = 0; i < BLOCK / 2; i += LANES) {
		words w;

		load_halves(&w, p + 2 * i);
		w <<= 16;
		memcpy(bits + i, &w, sizeof w);
	}
}

/* As in add_half; the highest exponent is moved twice. */
ALWAYS void
widen_f16(const uint8_t *p, uint32_t *bits)
{
	for (size_t i = 0; i < BLOCK / 2; i += LANES) {
		words w, sign, small, special, lead;
		floats f, g;

		load_halves(&w, p + 2 * i);
		sign = (w & 0x8000) << 16;
		w &= 0x7fff;
		small = (words)(w < 0x400);
		special = (words)(w >= 0x7c00) & (112u << 23);
		lead = small & (113u << 23);
		w = (w << 13) + (112u << 23) + (small & (1u << 23));
		memcpy(&f, &w, sizeof f);
		memcpy(&g, &lead, sizeof g);
		f -= g;
		memcpy(&w, &f, sizeof w);
		w = (w + special) | sign;
		memcpy(bits + i, &w, sizeof w);
	}
}

/* Lanes of a comparison that hold count one more each. */
ALWAYS uint64_t
lanes_of(const ints *counts)
{
	uint64_t n = 0;

	for (size_t l = 0; l < LANES; l++)
		n += (uint32_t) - (*counts)[l];
	return n;
}

#define F32_INFINITY 0x7f800000

/* Zero where the value is left out. */
ALWAYS void
load_counted(ints *v, ints *skipped, const uint32_t *bits, uint32_t lowest)
{
	ints w;

	memcpy(&w, bits, sizeof w);
	*v = w & INT32_MAX;
	*skipped = (*v >= F32_INFINITY) | (w == (int32_t)lowest);
	*v &= ~*skipped;
}

ALWAYS double
rest_of(const uint32_t *bits, size_t n, uint32_t lowest, uint32_t top)
{
	doubles a = { 0 }, b = { 0 };
	ints same = { 0 };
	double high, total = 0.0;
	float f;

	for (size_t i = 0; i < n; i += LANES) {
		ints v, skipped, equal;
		float parts[LANES];
		doubles x, y;

		load_counted(&v, &skipped, bits + i, lowest);
		equal = v == (int32_t)top;
		same += equal;
		v &= ~equal;
		memcpy(parts, &v, sizeof parts);
		for (size_t l = 0; l < LANES / 2; l++) {
			x[l] = (double)parts[l];
			y[l] = (double)parts[l + LANES / 2];
		}
		a += x * x;
		b += y * y;
	}
	for (size_t l = 0; l < LANES / 2; l++)
		total += a[l] + b[l];
	memcpy(&f, &top, sizeof f);
	high = (double)f;
	return total + (double)(lanes_of(&same) - 1) * high * high;
}

ALWAYS void
tally(const uint32_t *bits, size_t n, uint32_t lowest,
	struct safetensors_tally *t)
{
	ints top = { 0 }, low, nan = { 0 }, infinite = { 0 }, minus = { 0 };
	ints skips = { 0 };

	low = top + INT32_MAX;
	for (size_t i = 0; i < n; i += LANES) {
		ints w, v, skipped, above, below, less;

		memcpy(&w, bits + i, sizeof w);
		nan += (w & INT32_MAX) > F32_INFINITY;
		infinite += (w & INT32_MAX) == F32_INFINITY;
		minus += w == (int32_t)(0x80000000u | F32_INFINITY);
		load_counted(&v, &skipped, bits + i, lowest);
		skips += skipped;
		above = v > top;
		top = (v & above) | (top & ~above);
		less = (ints)((words)v + INT32_MAX);
		below = less < low;
		low = (less & below) | (low & ~below);
	}
	*t = (struct safetensors_tally){ .nan = lanes_of(&nan),
		.infinite = lanes_of(&infinite),
		.negative = lanes_of(&minus),
		.n = n - lanes_of(&skips),
		.low = INT32_MAX };
	for (size_t l = 0; l < LANES; l++) {
		uint32_t high = (uint32_t)top[l];

		t->top = high > t->top ? high : t->top;
		if (low[l] < (int32_t)t->low)
			t->low = (uint32_t)low[l];
	}
	t->low = t->low == INT32_MAX ? UINT32_MAX : t->low + INT32_MAX + 1;
	if (t->top > 0)
		t->rest = rest_of(bits, n, lowest, t->top);
}

#define BUILD_ONE(set, target, name, type, body)                               \
	target static type set##_##name(const uint8_t *p)                      \
	{                                                                      \
		return body(p);                                                \
	}

#define BUILD_WIDEN(set, target, dtype)                                        \
	target static void set##_widen_##dtype(                                \
		const uint8_t *p, uint32_t *bits)                              \
	{                                                                      \
		widen_##dtype(p, bits);                                        \
	}

/* All but halves. */
#define BUILD(set, target)                                                     \
	target static struct safetensors_bytes set##_bytes(                    \
		const uint8_t *p, struct safetensors_byte_test test)           \
	{                                                                      \
		return bytes(p, test);                                         \
	}                                                                      \
	target static void set##_tally(const uint32_t *bits, size_t n,         \
		uint32_t lowest, struct safetensors_tally *t)                  \
	{                                                                      \
		tally(bits, n, lowest, t);                                     \
	}                                                                      \
	BUILD_WIDEN(set, target, f16)                                          \
	BUILD_WIDEN(set, target, bf16)                                         \
	BUILD_WIDEN(set, target, f32)                                          \
	BUILD_ONE(set, target, u16, struct safetensors_magnitudes,             \
		magnitudes_16)                                                 \
	BUILD_ONE(set, target, u32, struct safetensors_magnitudes,             \
		magnitudes_32)                                                 \
	BUILD_ONE(set, target, u64, struct safetensors_magnitudes,             \
		magnitudes_64)                                                 \
	BUILD_ONE(set, target, bf16, double, squares_bf16)                     \
	BUILD_ONE(set, target, f32, double, squares_f32)                       \
	BUILD_ONE(set, target, f64, double, squares_f64)                       \
	static const struct safetensors_kernels set = { set##_bytes,           \
		set##_u16, set##_u32, set##_u64, set##_f16, set##_bf16,        \
		set##_f32, set##_f64, set##_widen_f16, set##_widen_bf16,       \
		set##_widen_f32, set##_tally };

BUILD_ONE(plain, , f16, double, squares_f16)
BUILD(plain, )

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,f16c")))

/* There is an instruction for halves. */
AVX2 static double
avx2_f16(const uint8_t *p)
{
	floats sums[4] = { { 0 }, { 0 }, { 0 }, { 0 } };

	for (size_t i = 0; i < BLOCK; i += 4 * 2 * LANES)
		for (size_t k = 0; k < 4; k++) {
			__m128i h;
			floats f;

			memcpy(&h, p + i + k * 2 * LANES, sizeof h);
			f = (floats)_mm256_cvtph_ps(h);
			sums[k] += f * f;
		}
	return sum(&sums[0], &sums[1]) + sum(&sums[2], &sums[3]);
}

BUILD(avx2, AVX2)
#endif

const struct safetensors_kernels *
safetensors_kernels_plain(void)
{
	return &plain;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct safetensors_kernels *chosen; /* written once */

/* Once: a virtual machine takes longer to answer than a small file. */
static void
choose(void)
{
	chosen = &plain;
#if defined(__x86_64__)
	unsigned a, b, c, d;

	if (ckpt_simd_level() >= CKPT_SIMD_AVX2 &&
		__get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0)
		chosen = &avx2;
#endif
}

const struct safetensors_kernels *
safetensors_kernels(void)
{
	pthread_once(&once, choose);
	return chosen;
}
