/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_RNG_H
#define CKPT_MODEL_RNG_H

/*
 * SplitMix64 (Steele, Lea and Flood, 2014), the generator of sampling and of
 * initial weights. The state is one number, a seed is used as the state as it
 * is, and what a checkpoint stores is the state before the next draw. Each
 * step adds a constant, so the k-th draw of a stream can be had without those
 * before it. All arithmetic is modulo 2^64 on purpose. Inline, because whole
 * tensors are filled with it.
 */

#include <stdint.h>

#define CKPT_RNG_STEP 0x9e3779b97f4a7c15u

struct ckpt_rng {
	uint64_t state;
};

/* 64 bits; moves on. */
static inline uint64_t
ckpt_rng_draw(struct ckpt_rng *rng)
{
	uint64_t z = rng->state += CKPT_RNG_STEP;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* In [0, 1), a multiple of 2^-53; one draw. */
static inline double
ckpt_rng_unit(struct ckpt_rng *rng)
{
	return (double)(ckpt_rng_draw(rng) >> 11) * 0x1p-53;
}

/* Passes over n draws. */
static inline void
ckpt_rng_skip(struct ckpt_rng *rng, uint64_t n)
{
	rng->state += n * CKPT_RNG_STEP;
}

#endif
