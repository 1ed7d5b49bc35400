/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_ATTN_H
#define CKPT_NUM_ATTN_H

#include <stdbool.h>
#include <stddef.h>

/* One causal head over the tokens of one batch row. q, k, v and o are columns
 * of [tokens][stride] arrays; q and k are already rotated. */
struct ckpt_head {
	size_t tokens, width, stride;
	const double *q, *k, *v;
	double *w; /* [tokens][tokens] weights, kept for the backward pass */
};

/* o[i] = SUM(j) w[i][j] v[j]. False: a score was not finite, also one that
 * the mask hides. */
bool ckpt_head_forward(const struct ckpt_head *head, double *o);

/* Gradients of q, k (still rotated) and v from that of o; scratch is
 * [2][tokens][tokens]. False: the gradient of a weight was not finite, also of
 * one that the mask hides. */
bool ckpt_head_backward(const struct ckpt_head *head, const double *d_o,
	double *dq, double *dk, double *dv, double *scratch);

#endif
