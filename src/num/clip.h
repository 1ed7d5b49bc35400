/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_CLIP_H
#define CKPT_NUM_CLIP_H

#include <stdbool.h>
#include <stddef.h>

/* The global norm of gradients as scaled sum of squares: norm = scale
 * sqrt(sum). Starts at { 0, 1 }; add tensors in model order. */
struct ckpt_norm_sum {
	double scale;
	double sum;
};

void ckpt_norm_add(struct ckpt_norm_sum *norm, const double *g, size_t n);

/* Whether gradients of this norm must be multiplied by *factor to obey the
 * maximum. */
bool ckpt_clip_factor(
	const struct ckpt_norm_sum *norm, double maximum, double *factor);

#endif
