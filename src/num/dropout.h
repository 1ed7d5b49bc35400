/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_DROPOUT_H
#define CKPT_NUM_DROPOUT_H

/*
 * Dropout by numbered words: word i of a seed's stream can be had without
 * those before it, so a block that is computed again takes the same words as
 * the first time.
 */

#include <stddef.h>
#include <stdint.h>

struct ckpt_dropout {
	double probability; /* of an element to be dropped: [0, 1) */
	uint64_t key;       /* from ckpt_dropout_key() */
	uint64_t counter;   /* the first word of whatever is done with it */
};

/* The key of a seed: the first draw from it. */
uint64_t ckpt_dropout_key(uint64_t seed);

/* Word number i. */
uint64_t ckpt_dropout_word(uint64_t key, uint64_t i);

/* y[i] = +0.0 or x[i] / (1 - p), by word counter + first + i; y may be x. */
void ckpt_dropout_forward(double *y, const double *x, size_t n,
	const struct ckpt_dropout *dropout, uint64_t first);

/* The gradient of x from that of y; dx may be dy. */
void ckpt_dropout_backward(double *dx, const double *dy, size_t n,
	const struct ckpt_dropout *dropout, uint64_t first);

#endif
