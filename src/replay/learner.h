/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_LEARNER_H
#define CKPT_REPLAY_LEARNER_H

/*
 * A trainer in the middle of a training job, and one logical update of it
 * (archives section 5): microbatches are accumulated, then the sum decides
 * together. A learner knows nothing of texts: whoever drives it turns the
 * documents that are next into rows of ids.
 */

#include "model/training.h"
#include "replay/trainer.h"

struct ckpt_learner {
	struct ckpt_trainer *trainer;  /* owned; its state is the model's and
					* optimizer's as they are now */
	struct ckpt_training training; /* as it is now */
	/* Between begin and finish. */
	uint64_t pending; /* microbatches that were added */
	bool cleared;     /* gradients are +0.0, every one */
	uint64_t targets; /* of the whole update */
	uint64_t words;   /* of dropout, taken by pending */
	double total;     /* of loss terms */
	/* Work space. */
	double *logits;
	size_t logits_n;
};

/* What an attempt at an update came to. */
struct ckpt_attempt {
	uint64_t step; /* the update's number, from 1 on */
	bool skipped;  /* overflow: only the scale and its progress changed */
	double scale, next_scale;
	/* The rest is of an update that was made. */
	double rate, mean_loss;
	uint64_t targets;
	bool clipped;
	double factor;      /* by which gradients were multiplied then */
	uint32_t monitored; /* the token sampled from the new weights */
};

/* Takes a trainer (ckpt_trainer_start() of a model of a job, with or without
 * moments; NULL for one that memory did not suffice for) and a copy of
 * training; the trainer belongs to the learner, whatever the outcome. The
 * order is borrowed. CKPT_ENOMEM. */
CKPT_MUST_USE enum ckpt_status ckpt_learner_init(struct ckpt_learner *learner,
	struct ckpt_trainer *trainer, const struct ckpt_training *training);
void ckpt_learner_release(struct ckpt_learner *learner);

/* The document that microbatch i of the next update takes. */
uint64_t ckpt_learner_document(const struct ckpt_learner *learner, uint64_t i);

/* The rate of the next update; false if none is left. */
bool ckpt_learner_next_rate(const struct ckpt_learner *learner, double *rate);

/* One attempt at the next update: rows[microbatches], each of one row with
 * targets. CKPT_OK: made, or skipped. CKPT_REJECTED: refusal says why the job
 * cannot go on ("NonFinite", "NonFiniteUpdate", "LossScale", "CounterOverflow",
 * "NoUpdatesLeft", "Pending"); the learner is good for nothing more than to be
 * released then, but for the last two, which change nothing. */
CKPT_MUST_USE enum ckpt_status ckpt_learner_update(struct ckpt_learner *learner,
	const struct ckpt_batch *rows, struct ckpt_attempt *attempt,
	struct ckpt_refusal *refusal);

/* The same in three parts. begin is told the targets of all microbatches that
 * will be added. */
CKPT_MUST_USE enum ckpt_status ckpt_learner_begin(struct ckpt_learner *learner,
	uint64_t targets, struct ckpt_refusal *refusal);
CKPT_MUST_USE enum ckpt_status ckpt_learner_add(struct ckpt_learner *learner,
	const struct ckpt_batch *row, struct ckpt_refusal *refusal);
CKPT_MUST_USE enum ckpt_status ckpt_learner_finish(struct ckpt_learner *learner,
	struct ckpt_attempt *attempt, struct ckpt_refusal *refusal);

/* Whether the learner stands between two updates, so that it can be captured;
 * if not, refusal says why ("Pending", "Uncleared"). Changes nothing. */
CKPT_MUST_USE bool ckpt_learner_settled(
	const struct ckpt_learner *learner, struct ckpt_refusal *refusal);

#endif
