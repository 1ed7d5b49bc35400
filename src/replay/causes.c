/* SPDX-License-Identifier: MIT */
/*
 * The hypotheses, one row each: what is changed before the one update.
 */
#include "replay/causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/try.h"

/* What a row changes; the rate is that of the step unless factor or base says
 * otherwise. */
static const struct {
	const char *name;
	double factor; /* of the learning rate */
	bool base;     /* the stored learning rate */
	bool none;     /* no update at all */
	bool reset;    /* moments and powers */
	bool pow;      /* powers by pow */
	double clip;   /* maximum norm of the gradient */
	enum { DECAY_STORED, DECAY_NONE, DECAY_ALL } decay;
} rows[CKPT_CAUSES] = {
	{ .name = "no update was made", .none = true },
	{ .name = "half the learning rate", .factor = 0.5 },
	{ .name = "twice the learning rate", .factor = 2.0 },
	{ .name = "the stored learning rate", .base = true },
	{ .name = "no weight decay", .decay = DECAY_NONE },
	{ .name = "weight decay on all parameters", .decay = DECAY_ALL },
	{ .name = "beta powers by pow", .pow = true },
	{ .name = "moments and powers reset", .reset = true },
	{ .name = "gradients clipped at norm 1", .clip = 1.0 },
};

const char *
ckpt_cause_outcome_name(enum ckpt_cause_outcome outcome)
{
	switch (outcome) {
	case CKPT_CAUSE_NO: return "no";
	case CKPT_CAUSE_PARAMETERS: return "parameters";
	case CKPT_CAUSE_EQUAL: return "equal";
	case CKPT_CAUSE_NOT_APPLICABLE: return "not-applicable";
	}
	return "";
}

static void
reset(struct ckpt_trainer *t)
{
	for (uint32_t k = 0; k < t->state.nmoments; k++) {
		size_t n = (size_t)t->state.parameters[k].len;

		memset(t->first[k], 0, n);
		memset(t->second[k], 0, n);
	}
	t->state.beta1_power = t->state.beta2_power = 1.0;
}

/* Changes the trainer as row i says. False: that changes nothing. */
static bool
prepare(size_t i, struct ckpt_trainer *t, const struct ckpt_step *step,
	struct ckpt_update *update, double *rate)
{
	const struct ckpt_adamw *a = &t->state.adamw;
	bool changed = rows[i].none || rows[i].pow || rows[i].clip != 0.0;

	*rate = step->rate;
	if (rows[i].factor != 0.0)
		*rate *= rows[i].factor;
	if (rows[i].base)
		*rate = a->learning_rate;
	update->powers_by_pow = rows[i].pow;
	update->clip = rows[i].clip;
	if (rows[i].reset && t->state.nmoments) {
		reset(t);
		changed = true;
	}
	for (uint32_t k = 0; k < t->state.nparameters; k++) {
		double decay = rows[i].decay == DECAY_NONE  ? 0.0
			       : rows[i].decay == DECAY_ALL ? a->weight_decay
							    : t->decay[k];

		changed = changed || decay != t->decay[k];
		t->decay[k] = decay;
	}
	return changed || *rate != step->rate;
}

/* What row i leads to, on a fresh load. */
static enum ckpt_status
try_row(size_t i, struct ckpt_trainer *t, const struct ckpt_step *step,
	const struct ckpt_outcome *theirs, double *logits,
	struct ckpt_cause *cause)
{
	struct ckpt_update update = { .no_fingerprints = true };
	struct ckpt_refusal refusal = { 0 };
	enum ckpt_status status = CKPT_REJECTED;
	uint64_t parameters;

	*cause = (struct ckpt_cause){ .name = rows[i].name,
		.outcome = CKPT_CAUSE_NOT_APPLICABLE };
	if (prepare(i, t, step, &update, &cause->rate) &&
		ckpt_trainer_accepts(t, step->batch, cause->rate, &refusal))
		status = rows[i].none ? CKPT_OK
				      : ckpt_trainer_update(t, step->batch,
						cause->rate, logits, &update,
						&refusal);
	ckpt_buf_release(&refusal.text);
	/* Clipping that has nothing to clip is no hypothesis either. */
	if (status == CKPT_REJECTED ||
		(status == CKPT_OK && rows[i].clip != 0.0 && !update.clipped))
		return CKPT_OK;
	CKPT_TRY(status);
	parameters = ckpt_trainer_parameters_fingerprint(t);
	cause->outcome = parameters != theirs->parameters ? CKPT_CAUSE_NO
			 : ckpt_trainer_fingerprint(t) != theirs->state
				 ? CKPT_CAUSE_PARAMETERS
				 : CKPT_CAUSE_EQUAL;
	return CKPT_OK;
}

enum ckpt_status
ckpt_causes_try(const struct ckpt_step *step, const struct ckpt_outcome *theirs,
	struct ckpt_cause causes[CKPT_CAUSES])
{
	size_t n = step->batch->batch * step->batch->tokens;
	/* The step had as much for its own logits. */
	double *logits = calloc(n * step->vocabulary, sizeof *logits);
	enum ckpt_status status = logits ? CKPT_OK : CKPT_ENOMEM;

	for (size_t i = 0; i < CKPT_CAUSES && status == CKPT_OK; i++) {
		struct ckpt_trainer *t;

		status = ckpt_step_reload(step, &t);
		if (status == CKPT_OK)
			status =
				try_row(i, t, step, theirs, logits, &causes[i]);
		ckpt_trainer_free(t);
	}
	free(logits);
	return status;
}
