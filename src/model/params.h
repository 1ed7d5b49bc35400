/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_PARAMS_H
#define CKPT_MODEL_PARAMS_H

/*
 * The parameters of the decoder: one row a tensor says its name and its shape.
 * Parameter k of a model with L layers, in model order, is the embedding
 * (k = 0), slot s of layer l (k = 9 l + s, s from 1 to 9), or the last norm
 * (k = 9 L + 1). Weights are stored [input, output], row-major.
 */

#include "base/arena.h"
#include "base/checked.h"
#include "model/state.h"

/* Rows, in model order. */
enum ckpt_slot {
	CKPT_SLOT_EMBEDDING,
	CKPT_SLOT_ATTENTION_NORM, /* the first of a layer */
	CKPT_SLOT_QUERY,
	CKPT_SLOT_KEY,
	CKPT_SLOT_VALUE,
	CKPT_SLOT_OUTPUT,
	CKPT_SLOT_FFN_NORM,
	CKPT_SLOT_GATE,
	CKPT_SLOT_UP,
	CKPT_SLOT_DOWN, /* the last of a layer */
	CKPT_SLOT_FINAL_NORM,
};

enum { CKPT_SLOTS = CKPT_SLOT_FINAL_NORM + 1, CKPT_LAYER_PARAMS = 9 };

/* Which setting a dimension is. */
enum ckpt_extent {
	CKPT_EXTENT_VOCABULARY,
	CKPT_EXTENT_WIDTH,
	CKPT_EXTENT_FEED_FORWARD,
	CKPT_EXTENT_KEY_VALUE, /* width of all key/value heads */
};

struct ckpt_param {
	const char *name; /* in a layer, what follows "blocks.N." */
	uint32_t rank;    /* 1: a gain; 2: a weight */
	enum ckpt_extent dims[2];
};

/* Bytes of the longest name, with its NUL. */
enum { CKPT_PARAM_NAME = 64 };

/* 9 L + 2; false if that does not fit. */
CKPT_MUST_USE bool ckpt_param_count(uint64_t layers, uint64_t *count);

/* Slot of parameter k of count; the layer if it is in one (layer may be
 * NULL). */
enum ckpt_slot ckpt_param_slot(uint64_t k, uint64_t count, uint64_t *layer);

const struct ckpt_param *ckpt_param_row(enum ckpt_slot slot);

/* Writes the whole name of parameter k of count; returns its length. */
size_t ckpt_param_name(uint64_t k, uint64_t count, char out[CKPT_PARAM_NAME]);

/* The extent of dimension i. */
uint64_t ckpt_param_dim(const struct ckpt_param *row, uint32_t i,
	const struct ckpt_config *config);

/* The numbers of n tensors in the bytewise order of their names, in which
 * optimizer state is stored. From the arena; NULL when memory is used up. */
uint32_t *ckpt_param_bytewise(struct ckpt_arena *arena,
	const struct ckpt_tensor *tensors, uint32_t n);

#endif
