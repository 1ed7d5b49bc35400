/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_DECODER_H
#define CKPT_NUM_DECODER_H

/*
 * The decoder: forward pass, loss, backward pass. Parameters, gradients and
 * work space are the caller's arrays; nothing is allocated here. Parameters
 * lie one behind the other in model order, gradients in the same layout.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/team.h"

struct ckpt_dims {
	size_t vocab;  /* V */
	size_t width;  /* D */
	size_t heads;  /* H */
	size_t hidden; /* F, feed-forward width */
	size_t layers; /* L */
	double rope_base;
	double epsilon;         /* of RMS */
	struct ckpt_team *team; /* not owned; NULL: the caller alone */
};

/* One block's parameters, or their gradients. */
struct ckpt_block {
	double *attention_norm; /* [D] */
	double *query;          /* [D][D] */
	double *key;
	double *value;
	double *output;
	double *ffn_norm; /* [D] */
	double *gate;     /* [D][F] */
	double *up;       /* [D][F] */
	double *down;     /* [F][D] */
};

/* Scalars of all parameters, and the places of one block, of the embedding
 * [V][D] (at the front) and of the final norm's gain [D] (at the end). */
size_t ckpt_dims_scalars(const struct ckpt_dims *dims);
struct ckpt_block ckpt_dims_block(
	const struct ckpt_dims *dims, double *parameters, size_t layer);
double *ckpt_dims_final(const struct ckpt_dims *dims, double *parameters);

/* Tokens of one call: batch rows of tokens ids each. */
struct ckpt_batch {
	size_t batch;  /* B */
	size_t tokens; /* T */
	const uint32_t *ids;
	const uint32_t *targets; /* NULL for a forward pass alone */
};

/* The operation whose result was not finite; ends the run. */
struct ckpt_not_finite {
	const char *operation; /* static */
	size_t layer;
	size_t index; /* flat */
	double value;
};

/* Doubles of work space that a pass needs; false if that is beyond size_t.
 * backward adds what the gradients of activations need. */
bool ckpt_decoder_space(const struct ckpt_dims *dims, size_t batch,
	size_t tokens, bool backward, size_t *doubles);

/* logits[B][T][V] of the batch. False if something was not finite. */
bool ckpt_decoder_forward(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, double *space, double *logits,
	struct ckpt_not_finite *fault);

/* The loss and the gradient of every parameter. logits is [B][T][V] of work
 * space. False if something was not finite. */
bool ckpt_decoder_gradients(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, double *space, double *logits,
	double *gradients, double *loss, struct ckpt_not_finite *fault);

#endif
