/* SPDX-License-Identifier: MIT */
/*
 * FNV-1a 64 of many bytes at a time, exactly. A template: each fnv1a_*.c
 * defines the width and the few instructions that have no operator in C, and
 * includes this. Alone it is the portable kernel.
 *
 * The hash seems to forbid this. Each step needs the one before:
 *
 *	h' = (h ^ b) * P  mod 2^64,  P = 2^40 + 435
 *
 * But b is one byte. With l the low byte of h, x = l ^ b and d = x - l, the
 * xor changes the low byte only, so h ^ b is exactly h + d, and unrolled
 *
 *	h after n bytes = h * P^n + sum of d[i] * P^(n-i)  mod 2^64.
 *
 * A sum with known weights can be taken in any order. It needs every d[i],
 * for which it needs the low byte l before every byte; and
 *
 * 1. the low bytes go their own way: l' = 179 x mod 256 (P mod 256 is 179),
 *    whatever the rest of h is;
 * 2. so do their lowest bits. 179 = 128 + 3 * 17, and sums carry upwards
 *    only: bit k of 179 x is bit k of x xor something, c, made of lower bits
 *    of x. With l[i+1] = x[i] ^ c[i] and x[i] = l[i] ^ b[i], bit by bit,
 *
 *	bit k of l[n] = bit k of l[0] ^ xor of (b[i] ^ c[i]) over all i < n:
 *
 *    once the bits below k are known everywhere, bit k is everywhere a
 *    running xor, and xor too may be taken in any order.
 *
 * So a block is cut in segments of 8 bytes and turned into bit planes: the
 * vector plane[k][g] holds bit k of byte g of all segments of the block. For
 * k = 0 to 7 the running xor goes over the 8 bytes of a segment, one
 * instruction each for all segments, as if every segment began with 0; then
 * over the segments (prefix). What comes before a segment flips bit k of all
 * of its low bytes or of none, so it is put right by one xor, at the next k.
 *
 * The planes of what comes before each segment, turned back into bytes, are
 * the low bytes that the segments start with. From these the second half
 * (weigh) runs through the 8 bytes of all segments side by side and adds up
 * d[i] * P^(n-i), the weight in four signed parts of 16 bits, for which there
 * are instructions; a compiler's vectors have none, so the portable kernel
 * instead hashes eight stretches of the block in turn, to keep the multiplier
 * busy (chains).
 *
 * The first half mostly waits, for one bit after the other; the second has
 * much to do and waits for nothing. So the second half of each block is done
 * in eight parts, in between the bits of the next block.
 *
 * At the end the low byte of the hash must be the one that the planes gave:
 * the two halves check each other.
 */
#include "base/fnv1a_planes.h"
#include "base/hash.h"

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <string.h>

/* P^n for a power of two. */
ALWAYS uint64_t
power(size_t n)
{
	uint64_t w = CKPT_FNV1A64_PRIME;

	for (; n > 1; n /= 2)
		w *= w;
	return w;
}

#ifdef PORTABLE
enum { CHAINS = 8, STRETCH = BLOCK / CHAINS };

ALWAYS void
prepare(void)
{
}

/* Only the low byte of a hash decides about the d[i] that follow. So a stretch
 * may be hashed from its low byte alone, and what was above it, times P^n,
 * comes on top: h = (h - low) * P^n + hashed. */
struct sum {
	uint64_t chain[CHAINS];
	uint8_t first[LANES];
};

ALWAYS struct sum
nothing(const struct block *b)
{
	struct sum s;

	memcpy(s.first, &b->before[0], sizeof s.first);
	UNROLL
	for (size_t i = 0; i < CHAINS; i++)
		s.chain[i] = s.first[i * STRETCH / 64];
	return s;
}

ALWAYS void
add_part(struct sum *s, const struct block *b, unsigned k)
{
	const uint8_t *p = b->from + k * STRETCH / 8;

	for (size_t j = 0; j < STRETCH / 8; j++, p++) {
		UNROLL
		for (size_t i = 0; i < CHAINS; i++)
			s->chain[i] = (s->chain[i] ^ p[i * STRETCH]) *
				      CKPT_FNV1A64_PRIME;
	}
}

ALWAYS uint64_t
finish(const struct sum *s, uint64_t h)
{
	for (size_t i = 0; i < CHAINS; i++)
		h = (h - s->first[i * STRETCH / 64]) * power(STRETCH) +
		    s->chain[i];
	return h;
}
#else
enum { LIMBS = 4 };

typedef uint16_t halves __attribute__((vector_size(LANES)));
typedef uint32_t sums __attribute__((vector_size(LANES)));

/* An int32 of a sum takes up two products of each vector of halves, and there
 * are two of these for each of bytes. |d| <= 255, |limb| <= 32768. */
_Static_assert(SETS *SEGMENT * 2 * 2 * INT64_C(255) * 32768 <= INT32_MAX,
	"no sum overflows");

/* sum plus the products of signed halves, added in pairs. */
ALWAYS sums add_products(sums sum, halves d, halves weights);

/* P^(n-i) as limbs, for the even and the odd lanes. Written once. */
static alignas(64) int16_t weights[SETS][SEGMENT][2][LIMBS][LANES / 2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
fill_weights(void)
{
	uint64_t w = CKPT_FNV1A64_PRIME;

	for (size_t i = BLOCK; i-- > 0; w *= CKPT_FNV1A64_PRIME) {
		size_t s = i / 64, q = i / 8 % 8, g = i % 8;
		uint64_t left = w;

		for (size_t k = 0; k < LIMBS; k++) {
			int32_t limb = (int32_t)(left & 0xffff);

			limb -= limb < 0x8000 ? 0 : 0x10000;
			weights[q][g][s % 2][k][s / 2] = (int16_t)limb;
			left = (left - (uint64_t)limb) >> 16;
		}
	}
}

ALWAYS void
prepare(void)
{
	pthread_once(&once, fill_weights);
}

/* d times the four limbs. By name, as gcc keeps an array in memory. */
struct sum {
	sums limb0, limb1, limb2, limb3;
};

/* Without the asm gcc adds in another order and runs out of registers. */
#define WEIGH(sum, d, weight, k)                                               \
	do {                                                                   \
		halves w;                                                      \
                                                                               \
		memcpy(&w, (weight)[k], sizeof w);                             \
		(sum)->limb##k = add_products((sum)->limb##k, d, w);           \
		__asm__("" : KEEP((sum)->limb##k));                            \
	} while (0)

/* One byte of some segments: byte and *before are in the low bytes of halves,
 * and above *before is what does not matter: it is in x too, not in d, and the
 * product leaves it above. */
ALWAYS void
weigh(struct sum *sum, halves *before, halves byte,
	int16_t weight[LIMBS][LANES / 2])
{
	halves x = *before ^ byte;
	halves d = x - *before;

	WEIGH(sum, d, weight, 0);
	WEIGH(sum, d, weight, 1);
	WEIGH(sum, d, weight, 2);
	WEIGH(sum, d, weight, 3);
	*before = x * 179;
}

ALWAYS uint64_t
add_up(sums sum)
{
	int64_t all = 0;

	for (size_t i = 0; i < LANES / 4; i++)
		all += (int32_t)sum[i];
	return (uint64_t)all;
}

ALWAYS struct sum
nothing(const struct block *b)
{
	const sums zero = { 0 };

	(void)b;
	return (struct sum){ zero, zero, zero, zero };
}

ALWAYS void
add_part(struct sum *s, const struct block *b, unsigned q)
{
	halves even = (halves)b->before[q] & 0xff;
	halves odd = (halves)b->before[q] >> 8;

	for (size_t g = 0; g < SEGMENT; g++) {
		halves both = (halves)b->bytes[g][q];

		weigh(s, &even, both & 0xff, weights[q][g][0]);
		weigh(s, &odd, both >> 8, weights[q][g][1]);
	}
}

ALWAYS uint64_t
finish(const struct sum *s, uint64_t h)
{
	return h * power(BLOCK) + add_up(s->limb0) + (add_up(s->limb1) << 16) +
	       (add_up(s->limb2) << 32) + (add_up(s->limb3) << 48);
}
#endif

/* The low byte before the next block. */
ALWAYS unsigned
low_byte(const struct work *w)
{
	unsigned byte = 0;

	for (unsigned k = 0; k < 8; k++)
		byte |= (unsigned)(w->carry[k][0] & 1) << k;
	return byte;
}

ALWAYS void
prepare_block(struct work *w, struct block *b, const uint8_t *p)
{
	for (size_t i = 0; i < BLOCK; i += 64)
		__builtin_prefetch(
			(const void *)((uintptr_t)p + 2 * BLOCK + i));
	gather(b, p);
	make_planes(w, b);
}

/* The first half for the block at p. */
ALWAYS void
find_low_bytes(struct work *w, struct block *b, const uint8_t *p)
{
	prepare_block(w, b, p);
	UNROLL
	for (unsigned k = 0; k < 8; k++)
		scan_bit(w, b, k);
	transpose_bits(b->before);
}

/* The second. */
ALWAYS uint64_t
add_block(const struct block *b, uint64_t h)
{
	struct sum sum = nothing(b);

	for (unsigned k = 0; k < 8; k++)
		add_part(&sum, b, k);
	return finish(&sum, h);
}

/* The first half for the block at p, the second for the one before. */
ALWAYS uint64_t
do_both(struct work *w, struct block *b, const uint8_t *p,
	const struct block *before, uint64_t h)
{
	struct sum sum = nothing(before);

	prepare_block(w, b, p);
	UNROLL
	for (unsigned k = 0; k < 8; k++) {
		scan_bit(w, b, k);
		add_part(&sum, before, k);
	}
	transpose_bits(b->before);
	return finish(&sum, h);
}

TARGET uint64_t
KERNEL(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	struct work w;
	struct block b[2];
	unsigned i = 0;

	if (n < BLOCK)
		return REST(h, bytes, n);
	prepare();
	for (unsigned k = 0; k < 8; k++)
		w.carry[k] = (v){ 0 } - (h >> k & 1);
	find_low_bytes(&w, &b[0], p);
	for (; n >= 2 * BLOCK; n -= BLOCK, i ^= 1) {
		p += BLOCK;
		h = do_both(&w, &b[i ^ 1], p, &b[i], h);
	}
	h = add_block(&b[i], h);
	assert(low_byte(&w) == (h & 255));
	return REST(h, p + BLOCK, n - BLOCK);
}
