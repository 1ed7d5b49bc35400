/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_SAFETENSORS_BLOCK_H
#define CKPT_FORMAT_SAFETENSORS_BLOCK_H

/*
 * What a block of values looks like from a distance: all loops here have a
 * fixed number of turns and no branch, so that compilers make them vectors.
 * Whoever sees something odd looks at the values one by one.
 *
 * A block has SAFETENSORS_BLOCK bytes and begins at any address. Lanes are
 * the numbers in it: u8, u16, u32 or u64, little-endian.
 */

#include <stddef.h>
#include <stdint.h>

enum { SAFETENSORS_BLOCK = 4096 };

/* For lanes of one byte: top is the highest of (lane ^ flip) & mask, any all
 * bits of lane & nonzero. */
struct safetensors_byte_test {
	uint8_t flip, mask, nonzero;
};

struct safetensors_bytes {
	uint8_t top, any;
};

/* For wider lanes: the highest magnitude, which is all bits but the highest,
 * and the lowest that is not 0, less 1; all ones if there is none. */
struct safetensors_magnitudes {
	uint64_t top, low;
};

/* What F32 hold, value by value but still side by side. */
struct safetensors_tally {
	uint64_t nan, infinite, negative; /* negative: -inf */
	/* Of the others but the lowest value, which masks are filled with: how
	 * many, the highest magnitude as bits, the lowest that is not 0, less
	 * 1 (all ones if there is none), and the sum of the squares of all but
	 * one of the highest. */
	uint64_t n;
	uint32_t top, low;
	double rest;
};

enum { SAFETENSORS_HALVES = SAFETENSORS_BLOCK / 2 };

struct safetensors_kernels {
	struct safetensors_bytes (*bytes)(
		const uint8_t *p, struct safetensors_byte_test test);
	struct safetensors_magnitudes (*u16)(const uint8_t *p);
	struct safetensors_magnitudes (*u32)(const uint8_t *p);
	struct safetensors_magnitudes (*u64)(const uint8_t *p);
	/* Sums of squares: of F16, BF16 and F32 in single precision, good to
	 * 1e-5 of the sum while magnitudes that are not 0 lie between 2^-50
	 * and 2^50; of F64 between 2^-300 and 2^300. */
	double (*squares_f16)(const uint8_t *p);
	double (*squares_bf16)(const uint8_t *p);
	double (*squares_f32)(const uint8_t *p);
	double (*squares_f64)(const uint8_t *p);
	/* A block as bits of F32, infinities and NaN too. */
	void (*widen_f16)(const uint8_t *p, uint32_t *bits);
	void (*widen_bf16)(const uint8_t *p, uint32_t *bits);
	void (*widen_f32)(const uint8_t *p, uint32_t *bits);
	/* n is a multiple of 8. */
	void (*tally)(const uint32_t *bits, size_t n, uint32_t lowest,
		struct safetensors_tally *tally);
};

/* Those for any processor. */
const struct safetensors_kernels *safetensors_kernels_plain(void);

/* The fastest that this processor has and base/simd.h allows. */
const struct safetensors_kernels *safetensors_kernels(void);

#endif
