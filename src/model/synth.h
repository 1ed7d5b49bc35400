/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_SYNTH_H
#define CKPT_MODEL_SYNTH_H

/*
 * States that no training made, of any shape and size. Same settings, same
 * values. No tensor is in memory: each is made piece by piece as it is
 * written, so a state of a terabyte needs no more than its names.
 *
 * Weights are what a training run would start from: one SplitMix64 stream
 * from the seed, one draw an element, tensors in model order, values even in
 * [-limit, limit) with limit = sqrt(6 / (rows + columns)); gains are 1 and
 * take no draw. Moments, if step > 0, go on with the same stream: first
 * moments in [-2^-7, 2^-7), second moments in (0, 2^-14].
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/checked.h"
#include "model/state.h"

/* Which pairs merge. */
enum ckpt_merge_shape {
	CKPT_MERGES_CHAIN,    /* each result with one more byte */
	CKPT_MERGES_DOUBLING, /* each result with itself: 2^(n+1) bytes */
};

struct ckpt_synth {
	struct ckpt_config config; /* vocabulary counts for LITERAL only */
	struct ckpt_adamw adamw;
	enum ckpt_tokenizer_kind tokenizer;
	/* LITERAL: bytes of every piece (0: as few as keep them distinct) and
	 * of the last one (0: as the others). Pieces are numbers in base 26,
	 * written with the letters a to z; up to 26 are "a", "b", ... */
	uint64_t token_bytes, last_token_bytes;
	/* BYTE_BPE: the vocabulary is 258 + merges. */
	uint64_t merges;
	enum ckpt_merge_shape merge_shape;
	uint64_t step;    /* 0: no moments, powers exactly 1 */
	bool gain_groups; /* two groups: gains do not decay, the rest does */
	uint64_t seed;
	uint64_t sampling_rng_state;
};

/* Whether a valid checkpoint can have these settings; if not, why is a clause
 * that says so. */
CKPT_MUST_USE bool ckpt_synth_check(
	const struct ckpt_synth *synth, struct ckpt_buf *why);

/* Makes the state of settings that passed the check. It lives in the arena;
 * CKPT_ELIMIT or CKPT_ENOMEM when that is used up. */
CKPT_MUST_USE enum ckpt_status ckpt_synth_state(struct ckpt_arena *arena,
	const struct ckpt_synth *synth, struct ckpt_state *state);

/* The vocabulary that follows from the tokenizer. */
uint64_t ckpt_synth_vocabulary(const struct ckpt_synth *synth);

#endif
