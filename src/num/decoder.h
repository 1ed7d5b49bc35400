/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_DECODER_H
#define CKPT_NUM_DECODER_H

/*
 * The decoder: forward pass, loss, backward pass. Parameters, gradients and
 * work space are the caller's arrays; nothing is allocated here.
 */

#include "num/dims.h"
#include "num/dropout.h"

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

/* How much of a pass is kept. */
enum ckpt_pass {
	CKPT_PASS_FORWARD,
	CKPT_PASS_BACKWARD, /* everything, for the gradients */
	/* The input of every block alone; what is in a block is computed
	 * again on the way back. */
	CKPT_PASS_RECOMPUTED,
};

/* Doubles of work space that a pass needs; false if that is beyond size_t. */
bool ckpt_decoder_space(const struct ckpt_dims *dims, size_t batch,
	size_t tokens, enum ckpt_pass pass, size_t *doubles);

/* logits[B][T][V] of the batch. False if something was not finite. */
bool ckpt_decoder_forward(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, double *space, double *logits,
	struct ckpt_not_finite *fault);

/* hidden[B][T][D], the features after the final norm, of embeddings
 * [B][T][D]; ids of the batch are not looked at. Of a model's parameters the
 * embedding is not used. Space as for a forward pass; hidden may be
 * embeddings. False if something was not finite. */
bool ckpt_decoder_hidden(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, const double *embeddings, double *space,
	double *hidden, struct ckpt_not_finite *fault);

/* The loss and the gradient of every parameter. logits is [B][T][V] of work
 * space. False if something was not finite. */
bool ckpt_decoder_gradients(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, double *space, double *logits,
	double *gradients, double *loss, struct ckpt_not_finite *fault);

/* One microbatch of a larger update (archives section 5). */
struct ckpt_microbatch {
	struct ckpt_batch batch;     /* of one row */
	struct ckpt_dropout dropout; /* counter: the microbatch's first word */
	bool recompute;              /* space is for CKPT_PASS_RECOMPUTED */
	double factor;               /* loss scale / targets of the update */
};

/* Dropout words that a row of tokens takes: two sites a block. False if that
 * is beyond u64. */
bool ckpt_decoder_words(
	const struct ckpt_dims *dims, size_t tokens, uint64_t *words);

/* Adds the microbatch's gradients to gradients, and the loss terms of its
 * rows, one after the other, to *total. Gradients may come out not finite,
 * without a fault. False if something was not finite on the way forward;
 * gradients are as they were then. */
bool ckpt_decoder_accumulate(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_microbatch *microbatch, double *space, double *logits,
	double *gradients, double *total, struct ckpt_not_finite *fault);

/* Keys and values of the tokens so far, so that the next ones need no more
 * than themselves. The rows of logits have the bits that the whole prefix at
 * once would give. */
struct ckpt_cache {
	size_t room;   /* positions that there is place for */
	size_t tokens; /* positions so far; 0 to begin anew */
	double *k, *v; /* [L][room][Kd], the caller's */
};

/* Doubles of k, and of v; and of the work space for n tokens more behind those
 * before. False if beyond size_t. */
bool ckpt_cache_space(
	const struct ckpt_dims *dims, size_t room, size_t *doubles);
bool ckpt_cache_work(
	const struct ckpt_dims *dims, size_t before, size_t n, size_t *doubles);

/* logits[n][V] of the n next ids, tokens + n <= room. Space is what
 * ckpt_cache_work() says. False if something was not finite; the cache is as
 * it was then. dims->only_seen must be true: later tokens' scores are not
 * there to be judged. */
bool ckpt_decoder_extend(const struct ckpt_dims *dims, double *parameters,
	const uint32_t *ids, size_t n, struct ckpt_cache *cache, double *space,
	double *logits, struct ckpt_not_finite *fault);

#endif
