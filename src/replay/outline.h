/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_OUTLINE_H
#define CKPT_REPLAY_OUTLINE_H

/*
 * A state whose values were put aside: settings, names and shapes in memory,
 * each tensor's values in a spool, from where they are read piece by piece.
 */

#include "base/arena.h"
#include "io/spool.h"
#include "model/state.h"

struct ckpt_outline {
	struct ckpt_arena arena;
	struct ckpt_state state; /* tensors have fill instead of data */
	const struct ckpt_spool *spool;
	bool failed; /* a read failed; what was filled in is not the value */
};

/* Copies everything but the values of state. where[] has an offset in the
 * spool for each tensor: tokenizer, parameters, then first and second moment
 * of each. The outline must not move afterwards, and the spool must outlive
 * it. CKPT_ENOMEM: release it all the same. */
CKPT_MUST_USE enum ckpt_status ckpt_outline_make(struct ckpt_outline *outline,
	const struct ckpt_state *state, const struct ckpt_spool *spool,
	const uint64_t *where);

void ckpt_outline_release(struct ckpt_outline *outline);

#endif
