/* SPDX-License-Identifier: MIT */
/*
 * The first half of fnv1a_lanes.h, where it is explained: a block's bytes as
 * bit planes, and from these the low byte of the hash before each segment. A
 * template too, and what it needs of the includer is declared here.
 */
#include "base/fnv1a.h"

#include <string.h>

#ifndef LANES
#define LANES  16 /* bytes of a vector */
#define TARGET    /* as a function's attribute: the instructions it may use */
#define KERNEL ckpt_fnv1a64_portable
#define REST   ckpt_fnv1a64_plain /* for what is less than a block */
#define PORTABLE
#endif

/* Segment 8 s + q is in lane s of set q. */
enum { SETS = 8, SEGMENT = 8, BLOCK = LANES * SETS * SEGMENT };

_Static_assert(BLOCK >= CKPT_FNV1A64_BLOCK, "as fnv1a.h says");

typedef uint64_t v __attribute__((vector_size(LANES)));

#define ALWAYS TARGET static inline __attribute__((always_inline))

/* Not with every access checked: it takes a minute to compile. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CHECKED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(CHECKED)
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* 16 bytes from p, and from each 1024 bytes on as many as fit. */
ALWAYS v load(const uint8_t *p);
/* The bytes of a and b in turn, of the lower and upper 8 of each 16. */
ALWAYS v low(v a, v b);
ALWAYS v high(v a, v b);
/* *carry is all ones or all zero. Gives it, flipped in each word of 64 bits once
 * for each lower word that has its top bit set, and makes *carry what would be
 * in the word after the last. */
ALWAYS v spread(v words, v *carry);

struct block {
	v bytes[SEGMENT][SETS]; /* byte g of the segments of set q */
	v before[8];            /* bit k of the low byte before a segment, in
				 * the end byte of set q */
	const uint8_t *from;
};

struct work {
	v plane[8][SEGMENT]; /* bit k of byte g; in the end of x */
	v carry[8];          /* bit k of the low byte before the next block */
	/* The multiplication: 3x, the carries of x + 2x, of 3x + 16 * 3x. */
	v triple[4][SEGMENT], carry3[SEGMENT], carry51[SEGMENT];
};

/* Bytes g of 16 segments a lane of 128 bits. Each round brings one more bit of
 * the segment's number into the place of a byte in its vector, at the low end,
 * and moves out the bit at the high end, of g. */
ALWAYS void
deal(struct block *b, unsigned q, const v a[8])
{
	UNROLL
	for (unsigned g = 0; g < 2; g++) {
		v c0, c1, c2, c3, d0, d1;

		c0 = g ? high(a[0], a[4]) : low(a[0], a[4]);
		c1 = g ? high(a[1], a[5]) : low(a[1], a[5]);
		c2 = g ? high(a[2], a[6]) : low(a[2], a[6]);
		c3 = g ? high(a[3], a[7]) : low(a[3], a[7]);
		d0 = low(c0, c2);
		d1 = low(c1, c3);
		b->bytes[4 * g][q] = low(d0, d1);
		b->bytes[4 * g + 1][q] = high(d0, d1);
		d0 = high(c0, c2);
		d1 = high(c1, c3);
		b->bytes[4 * g + 2][q] = low(d0, d1);
		b->bytes[4 * g + 3][q] = high(d0, d1);
	}
}

/* 16 bytes are two segments, of an even and an odd set. */
ALWAYS void
gather(struct block *b, const uint8_t *p)
{
	b->from = p;
	for (unsigned q = 0; q < SETS; q += 2) {
		v even[8], odd[8];

		UNROLL
		for (unsigned i = 0; i < 8; i++) {
			v x = load(p + 64 * i + 8 * q);
			v y = load(p + 64 * (i + 8) + 8 * q);

			even[i] = low(x, y);
			odd[i] = high(x, y);
		}
		deal(b, q, even);
		deal(b, q + 1, odd);
	}
}

#define SWAP(x, y, n, mask)                                                    \
	do {                                                                   \
		v t = ((x) >> (n) ^ (y)) & (mask);                             \
                                                                               \
		(y) ^= t;                                                      \
		(x) ^= t << (n);                                               \
	} while (0)

/* Bit i of a byte of vector k becomes bit k of that byte of vector i. */
ALWAYS void
transpose_bits(v a[8])
{
	UNROLL
	for (unsigned i = 0; i < 4; i++)
		SWAP(a[i], a[i + 4], 4, 0x0f0f0f0f0f0f0f0f);
	UNROLL
	for (unsigned i = 0; i < 2; i++) {
		SWAP(a[i], a[i + 2], 2, 0x3333333333333333);
		SWAP(a[i + 4], a[i + 6], 2, 0x3333333333333333);
	}
	UNROLL
	for (unsigned i = 0; i < 8; i += 2)
		SWAP(a[i], a[i + 1], 1, 0x5555555555555555);
}

ALWAYS void
make_planes(struct work *w, const struct block *b)
{
	for (unsigned g = 0; g < SEGMENT; g++) {
		v a[8];

		UNROLL
		for (unsigned q = 0; q < SETS; q++)
			a[q] = b->bytes[g][q];
		transpose_bits(a);
		UNROLL
		for (unsigned k = 0; k < 8; k++)
			w->plane[k][g] = a[k];
	}
}

/* What a sum of three bits carries. */
ALWAYS v
majority(v x, v y, v z)
{
	return (x & y) | (z & (x ^ y));
}

/* c of bit k of 179 x = t + 128 x, t = 3x + 16 * 3x, 3x = x + 2x; first puts
 * bit k - 1 of x right, on which it is the first to depend. */
ALWAYS v
flips(struct work *w, const struct block *b, unsigned k, unsigned g)
{
	v x, three, c;

	if (k == 0)
		return (v){ 0 };
	x = w->plane[k - 1][g] ^ b->before[k - 1];
	w->plane[k - 1][g] = x;
	if (k == 1) {
		w->triple[0][g] = x;
		return x;
	}
	c = w->plane[k - 2][g];
	if (k == 2) {
		three = x ^ c;
		w->carry3[g] = x & c;
	} else {
		three = x ^ c ^ w->carry3[g];
		w->carry3[g] = majority(x, c, w->carry3[g]);
	}
	if (k <= 4)
		w->triple[k - 1][g] = three;
	c = x ^ w->carry3[g];
	if (k == 5)
		w->carry51[g] = three & w->triple[0][g];
	if (k > 5)
		w->carry51[g] =
			majority(three, w->triple[k - 5][g], w->carry51[g]);
	if (k >= 4)
		c ^= w->triple[k - 4][g];
	if (k >= 5)
		c ^= w->carry51[g];
	if (k == 7)
		c ^= w->plane[0][g];
	return c;
}

/* Before each segment, the xor of all segments before it and *carry; the bits
 * of a vector are in the order of the segments. */
ALWAYS v
prefix(v each, v *carry)
{
	v all = each;

	all ^= all << 1;
	all ^= all << 2;
	all ^= all << 4;
	all ^= all << 8;
	all ^= all << 16;
	all ^= all << 32;
	return all ^ each ^ spread(all, carry);
}

/* The asm has everything in memory here: gcc and clang else keep copies of too
 * much, and move them about. */
ALWAYS void
scan_bit(struct work *w, struct block *b, unsigned k)
{
	v bit = { 0 };

	__asm__ volatile("" : : "r"(w), "r"(b) : "memory");
	UNROLL
	for (unsigned g = 0; g < SEGMENT; g++) {
		v flip = w->plane[k][g] ^ flips(w, b, k, g);

		w->plane[k][g] ^= bit;
		bit ^= flip;
	}
	b->before[k] = prefix(bit, &w->carry[k]);
}

#ifdef PORTABLE
ALWAYS v
load(const uint8_t *p)
{
	v x;

	memcpy(&x, p, sizeof x);
	return x;
}

typedef uint8_t octets __attribute__((vector_size(LANES)));

ALWAYS v
low(v a, v b)
{
	return (v)__builtin_shufflevector((octets)a, (octets)b, 0, 16, 1, 17, 2,
		18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

ALWAYS v
high(v a, v b)
{
	return (v)__builtin_shufflevector((octets)a, (octets)b, 8, 24, 9, 25,
		10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

ALWAYS v
spread(v words, v *carry)
{
	uint64_t c0 = (*carry)[0];
	uint64_t c1 = c0 ^ (0 - (words[0] >> 63));

	*carry = (v){ 0 } + (c1 ^ (0 - (words[1] >> 63)));
	return (v){ c0, c1 };
}
#endif
