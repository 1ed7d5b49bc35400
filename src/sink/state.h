/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_STATE_H
#define CKPT_SINK_STATE_H

/*
 * A whole checkpoint in memory: the listener that keeps the payload while a
 * file is verified, and the neutral state that comes of it. The state is
 * published at the END event and only if no finding stands against it.
 */

#include "diag/run.h"
#include "model/state.h"

struct ckpt_checkpoint {
	struct ckpt_run *run; /* owned; its arena holds everything */
	enum ckpt_verdict verdict;
	bool loaded;             /* state is what the file says */
	struct ckpt_state state; /* borrows from the run's arena */
	struct ckpt_sink sink;   /* the rest is for state.c only */
	uint8_t *payload;
	uint64_t n, room;
	bool aligned;
	size_t shift; /* bytes before the payload in its block */
	bool gap;     /* payload bytes did not follow each other */
};

/* The two halves of ckpt_checkpoint_read(). NULL if out of memory. Load at
 * most once. */
struct ckpt_checkpoint *ckpt_checkpoint_new(const struct ckpt_options *options);
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_load(
	struct ckpt_checkpoint *checkpoint, struct ckpt_source *source);

#endif
