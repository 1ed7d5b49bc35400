/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_ATTN_H
#define CKPT_NUM_ATTN_H

#include <stdbool.h>
#include <stddef.h>

/* One causal head over the tokens of one batch row. Arrays are columns of
 * rows that are stride doubles apart (q and o), or kv_stride (k and v); q and
 * k are already rotated. */
struct ckpt_head {
	size_t tokens; /* rows of q and o */
	size_t before; /* tokens in front of them, in k and v alone */
	size_t width, stride, kv_stride;
	size_t window;  /* tokens that one attends to; 0: all before it */
	bool only_seen; /* masked scores are not computed */
	const double *q, *k, *v;
	double *w; /* [tokens][before + tokens] weights, kept for the
		    * backward pass */
};

/* o[i] = SUM(j) w[i][j] v[j]. False: a score was not finite; without
 * only_seen, also one that the mask hides. */
bool ckpt_head_forward(const struct ckpt_head *head, double *o);

/* Gradients of q, k (still rotated) and v from that of o. dk and dv have rows
 * dkv_stride apart; scratch is [2][tokens][tokens]. before must be 0. False:
 * the gradient of a weight was not finite; as above. */
bool ckpt_head_backward(const struct ckpt_head *head, const double *d_o,
	double *dq, double *dk, double *dv, size_t dkv_stride, double *scratch);

#endif
