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

/* Divides n gradients by a loss scale, which is a power of two, and adds them
 * to the norm. False if one is not finite then. */
bool ckpt_norm_unscale(
	struct ckpt_norm_sum *norm, double *g, size_t n, double scale);

/* How gradients obey a maximum: g becomes g x factor, or, if divisor is not
 * 1, (g / divisor) x factor. */
struct ckpt_clip {
	bool needed;
	double divisor, factor;
};

/* What gradients of this norm need. False: the maximum is too small for any
 * factor. */
bool ckpt_clip_plan(const struct ckpt_norm_sum *norm, double maximum,
	struct ckpt_clip *clip);

void ckpt_clip_apply(double *g, size_t n, const struct ckpt_clip *clip);

#endif
