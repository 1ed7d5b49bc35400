/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_TRAINER_H
#define CKPT_REPLAY_TRAINER_H

/*
 * A model with its optimizer, and the one thing that changes them: an update.
 * Model, moments, powers and step are made from one checkpoint or from
 * nothing, together, and leave together; there is no way to set one of them.
 *
 * The values are worked on where the checkpoint holds them, so a trainer that
 * takes a checkpoint needs no second copy of it.
 */

#include "base/buf.h"
#include "num/adamw.h"
#include "num/decoder.h"
#include "sink/state.h"

struct ckpt_trainer {
	struct ckpt_checkpoint *from; /* owned; the values live in it. NULL
				       * for a trainer from nothing */
	struct ckpt_arena arena;
	/* Settings, tokenizer, names, and the tensors as they are now. */
	struct ckpt_state state;
	struct ckpt_dims dims;
	size_t scalars;
	double *parameters; /* model order */
	uint32_t *order;    /* parameter k's moments are number order[k] */
	double **first, **second; /* by parameter, model order */
	double *decay;            /* weight decay, by parameter */
	double *gradients;        /* NULL until the first update */
	double *space;            /* work space, space_n doubles */
	size_t space_n;
};

/* Why a request cannot be carried out, before anything was changed. */
struct ckpt_refusal {
	const char *kind; /* static, the specification's word */
	struct ckpt_buf text;
};

/* Says of trouble, CKPT_EIO, that it is not with an input but with what is put
 * aside in the folder for temporary files. Leaves errno alone. */
void ckpt_refuse_temporary(struct ckpt_refusal *refusal);

/* What one update did. */
struct ckpt_update {
	double loss;
	uint64_t gradients; /* fingerprint, before clipping */
	uint64_t *tensors;  /* fingerprint of each parameter's gradient, if
			     * not NULL: state.nparameters entries */
	double clip;        /* maximum norm, 0 for none */
	bool clipped;
	double factor; /* by which gradients were multiplied, if clipped */
	bool no_fingerprints;
	/* The slip of another program: powers are pow(beta, step). */
	bool powers_by_pow;
};

/* Takes a checkpoint that was loaded; it belongs to the trainer, whatever the
 * outcome. NULL if memory is used up. */
struct ckpt_trainer *ckpt_trainer_take(struct ckpt_checkpoint *checkpoint);

/* A trainer from nothing: parameters by the rule of synth (seed), step 0.
 * state gives settings, tokenizer, groups and parameter names; what it points
 * to must outlive the trainer. */
struct ckpt_trainer *ckpt_trainer_start(const struct ckpt_state *state);

void ckpt_trainer_free(struct ckpt_trainer *trainer);

/* The checks of numerics section 2 and, with a rate, 5, in order. Targets and
 * rate are not looked at when targets is NULL. False: refusal says why. */
CKPT_MUST_USE bool ckpt_trainer_accepts(const struct ckpt_trainer *trainer,
	const struct ckpt_batch *batch, double rate,
	struct ckpt_refusal *refusal);

/* logits[rows][vocabulary] of an accepted batch. CKPT_REJECTED with a refusal
 * when something is not finite. */
CKPT_MUST_USE enum ckpt_status ckpt_trainer_logits(struct ckpt_trainer *trainer,
	const struct ckpt_batch *batch, double *logits,
	struct ckpt_refusal *refusal);

/* One update of an accepted batch. On failure nothing has changed. logits is
 * work space of [rows][vocabulary]. */
CKPT_MUST_USE enum ckpt_status ckpt_trainer_update(struct ckpt_trainer *trainer,
	const struct ckpt_batch *batch, double rate, double *logits,
	struct ckpt_update *update, struct ckpt_refusal *refusal);

/* The fingerprint of parameters, then moments, then powers (numerics section
 * 10, state), and of the parameters alone. */
uint64_t ckpt_trainer_fingerprint(const struct ckpt_trainer *trainer);
uint64_t ckpt_trainer_parameters_fingerprint(
	const struct ckpt_trainer *trainer);

#endif
