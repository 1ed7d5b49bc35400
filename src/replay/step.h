/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_STEP_H
#define CKPT_REPLAY_STEP_H

/*
 * The one supplied update, made twice: from the decoded state, and from the
 * state encoded to bytes and loaded again. Equality of the two branches, bit
 * for bit, is what a replay shows; it shows that of this update under this
 * arithmetic, and no more.
 */

#include "io/spool.h"
#include "replay/outline.h"
#include "replay/trainer.h"

/* One record of the updated checkpoint, compared between the branches. */
struct ckpt_step_row {
	char *name;        /* owned by the step; "token 3", or role and name */
	uint64_t off, len; /* in the updated file */
	bool compared;
	bool equal;       /* false until it was compared */
	uint64_t first;   /* offset in the record of the first difference */
	uint64_t bits[2]; /* of the element there, if it is a double */
	bool is_f64;
};

/* Fingerprints of one branch. */
struct ckpt_branch {
	uint64_t before, after; /* logits */
	uint64_t parameters, state;
	double loss;
	uint64_t gradients;
	uint64_t rng_next; /* next draw of the sampling stream */
};

struct ckpt_step {
	/* Given. */
	const struct ckpt_batch *batch;
	double rate;
	uint64_t max_memory;
	struct ckpt_team *team; /* not owned; NULL: one thread */
	bool keep_outline;      /* fill in outline */
	/* Asked before each part of the work, what it does in words; false
	 * ends it with CKPT_STOP. NULL: never asked. */
	bool (*go_on)(void *ctx, const char *part);
	void *go_on_ctx;
	/* For tests: what the second branch is loaded from may be spoiled
	 * here. NULL otherwise. */
	enum ckpt_status (*meddle)(struct ckpt_spool *reencoded);
	/* Found. */
	const struct ckpt_format *format;
	struct ckpt_branch branch[2];
	uint64_t step_before, step_after;
	uint64_t sampling_rng_state;
	size_t vocabulary;
	struct ckpt_spool reencoded; /* before the update */
	struct ckpt_spool updated;   /* after it, first branch */
	uint64_t label;              /* checksum of the updated file */
	struct ckpt_outline outline; /* of the updated state, if wanted */
	struct ckpt_step_row *rows;  /* owned */
	size_t nrows;
	bool header_equal;
	bool loads_again; /* the re-encoded bytes were valid */
	struct ckpt_refusal refusal;
};

/* Runs both branches; the checkpoint was loaded and belongs to the step from
 * here on. CKPT_OK: compared, whatever the outcome. CKPT_REJECTED: refusal
 * says why nothing was done. */
CKPT_MUST_USE enum ckpt_status ckpt_step_run(
	struct ckpt_step *step, struct ckpt_checkpoint *checkpoint);

/* A trainer from the re-encoded state before the update, as the second branch
 * has it. Any status of ckpt_checkpoint_read(). */
CKPT_MUST_USE enum ckpt_status ckpt_step_reload(
	const struct ckpt_step *step, struct ckpt_trainer **trainer);

/* Whether everything was equal. */
bool ckpt_step_equal(const struct ckpt_step *step);

void ckpt_step_release(struct ckpt_step *step);

#endif
