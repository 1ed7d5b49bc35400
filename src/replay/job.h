/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_JOB_H
#define CKPT_REPLAY_JOB_H

/*
 * A job file (archives section 6): everything that a training run starts from,
 * and the documents, which no checkpoint holds.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/checked.h"
#include "model/training.h"

/* A text, and what it is to the model: BOS, content, EOS. */
struct ckpt_document {
	struct ckpt_name id, bytes;
	const uint32_t *ids;
	size_t n; /* at least 2: n - 1 positions, as many targets */
};

struct ckpt_job {
	struct ckpt_arena arena;   /* owned; holds all of it */
	struct ckpt_config config; /* kv_heads and window are spelled out */
	struct ckpt_adamw adamw;   /* its rate is the peak */
	struct ckpt_tokenizer tokenizer;
	bool gain_groups; /* gains do not decay */
	uint64_t init_seed, sampling_seed;
	const struct ckpt_document *documents;
	/* As it is before the first update; the envelope is empty. */
	struct ckpt_training training;
	/* What ckpt_job_state() gave, once it was asked. */
	bool stated;
	struct ckpt_state state;
};

/* Reads the text of a job. CKPT_REJECTED: why names the field and what is
 * wrong with it. Release it in any case. */
CKPT_MUST_USE enum ckpt_status ckpt_job_read(
	struct ckpt_job *job, const void *text, size_t n, struct ckpt_buf *why);

/* The job that is built in. */
CKPT_MUST_USE enum ckpt_status ckpt_job_published(struct ckpt_job *job);
extern const char ckpt_job_published_text[];

void ckpt_job_release(struct ckpt_job *job);

/* The state before the first update: initial weights, no moments. It borrows
 * from the job and lives in its arena. */
CKPT_MUST_USE enum ckpt_status ckpt_job_state(
	struct ckpt_job *job, struct ckpt_state *state);

#endif
