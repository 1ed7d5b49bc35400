/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_TRAINING_H
#define CKPT_MODEL_TRAINING_H

/*
 * What decides the next update of a training job, beside the model and its
 * optimizer (which are a ckpt_state, as is the state of the sampling stream):
 * plan, place in the data, dropout, loss scale.
 */

#include "base/sha256.h"
#include "model/state.h"

/* Learning rates: up in a line to the peak, then down along a cosine. */
struct ckpt_schedule {
	double peak, final;
	uint64_t updates, warmup; /* warmup <= updates */
};

/* Powers of two, min <= scale <= max. */
struct ckpt_scaler {
	double scale, min, max;
	uint64_t interval; /* finite updates in a row, then it doubles */
	uint64_t progress; /* of these, < interval */
};

/* Which program under which arithmetic decides the bits of the next update. */
struct ckpt_envelope {
	char executable[CKPT_SHA256_TEXT]; /* of the program's file */
	struct ckpt_name arithmetic;       /* not empty */
	/* Executables' hashes that were set aside, oldest first. */
	const struct ckpt_name *overrides;
	uint32_t noverrides;
};

#define CKPT_ENVELOPE_SEMANTICS "same-binary-cpu-f64-serial"

struct ckpt_training {
	struct ckpt_schedule schedule;
	double clip; /* maximum of the global norm */
	bool recompute_blocks;
	uint64_t microbatches; /* of an update, at least 1 */
	/* The documents' order, a permutation of 0 to documents - 1. Not
	 * owned. */
	const uint64_t *order;
	uint64_t documents;
	uint64_t cursor;     /* place in order of the next document */
	uint64_t traversals; /* of order, completed */
	double dropout_probability;
	uint64_t dropout_seed;
	uint64_t dropout_counter; /* the next word */
	struct ckpt_scaler scaler;
	char data_sha256[CKPT_SHA256_TEXT]; /* identity of the documents */
	struct ckpt_envelope envelope;
};

/* The rate of update t, 1 <= t <= updates. */
double ckpt_schedule_rate(const struct ckpt_schedule *schedule, uint64_t t);

/* After an update whose gradients were finite: progress, and at the interval
 * twice the scale. */
void ckpt_scaler_succeed(struct ckpt_scaler *scaler);

/* After one whose gradients were not: half the scale. False, and unchanged,
 * at the smallest scale. */
bool ckpt_scaler_retreat(struct ckpt_scaler *scaler);

#endif
