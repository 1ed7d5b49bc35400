/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_IDENTITY_H
#define CKPT_MODEL_IDENTITY_H

/*
 * What a model is called by (archives section 2): a digest of its settings and
 * of every tensor that decides what it says, and of nothing else, so that a
 * training checkpoint and the model saved with it have the same.
 */

#include "base/arena.h"
#include "base/sha256.h"
#include "model/state.h"

/* One setting as an archive has it. */
struct ckpt_setting {
	const char *key; /* static */
	char value[40];
};

enum { CKPT_SETTINGS_MOST = 16 };

/* The settings of a state's model in bytewise order of their keys. */
size_t ckpt_archive_settings(const struct ckpt_state *state,
	struct ckpt_setting settings[CKPT_SETTINGS_MOST]);

/* Names of the tensors that a model has beside its parameters. */
#define CKPT_TENSOR_CONSTANTS "model.constants"  /* F64: base, epsilon */
#define CKPT_TENSOR_PAIRS     "tokenizer.merges" /* U32 [merges, 2] */

/* The tensors that identity is about, parameters and the two above (a backbone
 * has no merges), in bytewise order of their names; *n of them, from the
 * arena. NULL when memory is used up. */
struct ckpt_tensor *ckpt_archive_tensors(
	struct ckpt_arena *arena, const struct ckpt_state *state, uint32_t *n);

/* Both are 64 hexadecimal digits; false: out of memory. */
bool ckpt_model_identity(
	const struct ckpt_state *state, char out[CKPT_SHA256_TEXT]);
bool ckpt_optimizer_digest(
	const struct ckpt_state *state, char out[CKPT_SHA256_TEXT]);

#endif
