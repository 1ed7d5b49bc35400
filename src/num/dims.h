/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_DIMS_H
#define CKPT_NUM_DIMS_H

/*
 * The shape of a decoder, and where its parameters stand: one behind the other
 * in model order, in one array. Gradients and moments lie the same way.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/team.h"

struct ckpt_dims {
	size_t vocab;  /* V; 0: a backbone, which has no embedding */
	size_t width;  /* D */
	size_t heads;  /* H, of width d = D/H */
	size_t hidden; /* F, feed-forward width */
	size_t layers; /* L */
	double rope_base;
	double epsilon;         /* of RMS */
	struct ckpt_team *team; /* not owned; NULL: the caller alone */
	size_t kv_heads;        /* K, of key and value; divides H. 0: H */
	size_t window;          /* a token attends to that many, itself and
				 * those just before it; 0: to all before it */
	/* Scores that the mask hides are not computed. They reach nothing; but
	 * when this is false, one that is not finite is still an error. */
	bool only_seen;
};

/* One block's parameters, or their gradients. */
struct ckpt_block {
	double *attention_norm; /* [D] */
	double *query;          /* [D][D] */
	double *key;            /* [D][Kd] */
	double *value;          /* [D][Kd] */
	double *output;         /* [D][D] */
	double *ffn_norm;       /* [D] */
	double *gate;           /* [D][F] */
	double *up;             /* [D][F] */
	double *down;           /* [F][D] */
};

/* Columns of key and value: K x d. */
size_t ckpt_dims_kv_width(const struct ckpt_dims *dims);

/* Scalars of all parameters, and the places of one block, of the embedding
 * [V][D] (at the front) and of the final norm's gain [D] (at the end). */
size_t ckpt_dims_scalars(const struct ckpt_dims *dims);
size_t ckpt_dims_block_scalars(const struct ckpt_dims *dims);
struct ckpt_block ckpt_dims_block(
	const struct ckpt_dims *dims, double *parameters, size_t layer);
double *ckpt_dims_final(const struct ckpt_dims *dims, double *parameters);

#endif
