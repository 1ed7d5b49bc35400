/* SPDX-License-Identifier: MIT */
/*
 * The table of the decoder's parameters (format section 2, "record order").
 * The rules that judge names and shapes and whoever makes a model read these
 * rows; a tensor is added here and nowhere else.
 */
#include "model/params.h"

#include <assert.h>
#include <stdio.h>

#include "base/sort.h"

#define V CKPT_EXTENT_VOCABULARY
#define D CKPT_EXTENT_WIDTH
#define F CKPT_EXTENT_FEED_FORWARD
#define K CKPT_EXTENT_KEY_VALUE

static const struct ckpt_param params[CKPT_SLOTS] = {
	[CKPT_SLOT_EMBEDDING] = { "token_embedding.weight", 2, { V, D } },
	[CKPT_SLOT_ATTENTION_NORM] = { "attention_norm.gain", 1, { D } },
	[CKPT_SLOT_QUERY] = { "attention.query.weight", 2, { D, D } },
	[CKPT_SLOT_KEY] = { "attention.key.weight", 2, { D, K } },
	[CKPT_SLOT_VALUE] = { "attention.value.weight", 2, { D, K } },
	[CKPT_SLOT_OUTPUT] = { "attention.output.weight", 2, { D, D } },
	[CKPT_SLOT_FFN_NORM] = { "ffn_norm.gain", 1, { D } },
	[CKPT_SLOT_GATE] = { "ffn.gate.weight", 2, { D, F } },
	[CKPT_SLOT_UP] = { "ffn.up.weight", 2, { D, F } },
	[CKPT_SLOT_DOWN] = { "ffn.down.weight", 2, { F, D } },
	[CKPT_SLOT_FINAL_NORM] = { "final_norm.gain", 1, { D } },
};

bool
ckpt_param_count(uint64_t layers, uint64_t *count)
{
	return ckpt_mul_u64(layers, CKPT_LAYER_PARAMS, count) &&
	       ckpt_add_u64(*count, 2, count);
}

enum ckpt_slot
ckpt_param_slot(uint64_t k, uint64_t count, uint64_t *layer)
{
	assert(k < count);
	if (k == 0)
		return CKPT_SLOT_EMBEDDING;
	if (k == count - 1)
		return CKPT_SLOT_FINAL_NORM;
	if (layer)
		*layer = (k - 1) / CKPT_LAYER_PARAMS;
	return (enum ckpt_slot)((k - 1) % CKPT_LAYER_PARAMS + 1);
}

const struct ckpt_param *
ckpt_param_row(enum ckpt_slot slot)
{
	return &params[slot];
}

size_t
ckpt_param_name(uint64_t k, uint64_t count, char out[CKPT_PARAM_NAME])
{
	uint64_t layer = UINT64_MAX;
	enum ckpt_slot slot = ckpt_param_slot(k, count, &layer);
	const char *name = params[slot].name;
	int n;

	if (slot == CKPT_SLOT_EMBEDDING || slot == CKPT_SLOT_FINAL_NORM)
		n = snprintf(out, CKPT_PARAM_NAME, "%s", name);
	else
		n = snprintf(out, CKPT_PARAM_NAME, "blocks.%llu.%s",
			(unsigned long long)layer, name);
	return (size_t)n;
}

uint64_t
ckpt_param_dim(const struct ckpt_param *row, uint32_t i,
	const struct ckpt_config *config)
{
	assert(i < row->rank);
	switch (row->dims[i]) {
	case CKPT_EXTENT_VOCABULARY: return config->vocabulary;
	case CKPT_EXTENT_WIDTH: return config->width;
	case CKPT_EXTENT_FEED_FORWARD: return config->feed_forward_width;
	case CKPT_EXTENT_KEY_VALUE:
		return config->kv_heads ? config->width / config->heads *
						  config->kv_heads
					: config->width;
	}
	return 0;
}

static int
by_name(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_tensor *tensors = ctx;
	const struct ckpt_name *x = &tensors[a].name, *y = &tensors[b].name;

	return ckpt_bytes_compare(x->p, x->n, y->p, y->n);
}

uint32_t *
ckpt_param_bytewise(
	struct ckpt_arena *arena, const struct ckpt_tensor *tensors, uint32_t n)
{
	return ckpt_sorted(arena, n, by_name, tensors);
}
