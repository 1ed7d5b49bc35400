/* SPDX-License-Identifier: MIT */
/*
 * The negative controls. What is compared is a fingerprint: of the whole state
 * after the update, or, where the changed thing is itself a part of the state
 * or cannot reach the moments, of the parameters alone.
 *
 * A control can come out the same for a good reason, one that has nothing to
 * do with the replay: gradients that are all zero do not depend on the batch,
 * betas of zero make moments mute. Such a reason is looked for and said.
 */
#include "replay/selfcheck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/try.h"

/* What the controls share. */
struct work {
	struct ckpt_self_check *check;
	const struct ckpt_step *step;
	double *logits;
	uint32_t *ids, *targets; /* the changed batch */
	uint64_t parameters_before;
};

/* One control while it runs. */
struct trial {
	struct ckpt_trainer *t;
	struct ckpt_batch batch;
	double rate;
	struct ckpt_refusal refusal;
	bool refused;
};

const char *
ckpt_control_outcome_name(enum ckpt_control_outcome outcome)
{
	switch (outcome) {
	case CKPT_CONTROL_DIFFERENT: return "different";
	case CKPT_CONTROL_ABSORBED: return "absorbed";
	case CKPT_CONTROL_SAME: return "same";
	case CKPT_CONTROL_NOT_APPLICABLE: return "not-applicable";
	}
	return "";
}

static struct ckpt_control *
add(struct work *w, const char *name)
{
	struct ckpt_self_check *c = w->check;
	struct ckpt_control *control;

	if (c->n == c->room) {
		size_t room = c->room ? 2 * c->room : 16;

		control = realloc(c->controls, room * sizeof *control);
		if (!control)
			return NULL;
		c->controls = control;
		c->room = room;
	}
	control = &c->controls[c->n++];
	memset(control, 0, sizeof *control);
	ckpt_buf_puts(&control->name, name);
	return control;
}

static void
settle(struct ckpt_control *c, enum ckpt_control_outcome outcome,
	const char *why)
{
	c->outcome = outcome;
	ckpt_buf_clear(&c->why);
	ckpt_buf_puts(&c->why, why);
}

static void
settle_refused(struct ckpt_control *c, enum ckpt_control_outcome outcome,
	const struct ckpt_refusal *refusal)
{
	settle(c, outcome, refusal->kind);
	ckpt_buf_printf(
		&c->why, ": %s", refusal->text.p ? refusal->text.p : "refused");
}

/* ---- one trial ---------------------------------------------------------- */

static enum ckpt_status
begin(struct work *w, struct trial *trial)
{
	memset(trial, 0, sizeof *trial);
	trial->batch = *w->step->batch;
	trial->rate = w->step->rate;
	return ckpt_step_reload(w->step, &trial->t);
}

/* Makes the update; one that is refused is an outcome, not a failure. */
static enum ckpt_status
update(struct work *w, struct trial *trial)
{
	struct ckpt_update u = { .no_fingerprints = true };
	enum ckpt_status status;

	trial->refused = !ckpt_trainer_accepts(
		trial->t, &trial->batch, trial->rate, &trial->refusal);
	if (trial->refused)
		return CKPT_OK;
	status = ckpt_trainer_update(trial->t, &trial->batch, trial->rate,
		w->logits, &u, &trial->refusal);
	trial->refused = status == CKPT_REJECTED;
	return trial->refused ? CKPT_OK : status;
}

static void
end(struct trial *trial)
{
	ckpt_trainer_free(trial->t);
	ckpt_buf_release(&trial->refusal.text);
}

static bool
all_zero(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] != 0.0)
			return false;
	return true;
}

/* ---- the controls of the update ----------------------------------------- */

static void
judge_batch(const struct work *w, struct trial *trial, struct ckpt_control *c)
{
	const struct ckpt_branch *base = &w->step->branch[0];
	const struct ckpt_trainer *t = trial->t;

	if (trial->refused)
		settle_refused(c, CKPT_CONTROL_DIFFERENT, &trial->refusal);
	else if (ckpt_trainer_fingerprint(t) != base->state)
		settle(c, CKPT_CONTROL_DIFFERENT, "");
	else if (all_zero(t->gradients, t->scalars))
		settle(c, CKPT_CONTROL_NOT_APPLICABLE,
			"every gradient is zero");
	else
		settle(c, CKPT_CONTROL_SAME, "");
}

static enum ckpt_status
changed_batch(struct work *w)
{
	struct ckpt_control *c = add(w, "token ids + 1");
	const struct ckpt_batch *b = w->step->batch;
	size_t n = b->batch * b->tokens;
	struct trial trial;
	enum ckpt_status status;

	if (!c)
		return CKPT_ENOMEM;
	status = begin(w, &trial);
	if (status == CKPT_OK && trial.t->dims.vocab == 1) {
		settle(c, CKPT_CONTROL_NOT_APPLICABLE,
			"the vocabulary has one token");
	} else if (status == CKPT_OK) {
		uint64_t vocab = trial.t->dims.vocab;

		for (size_t i = 0; i < n; i++) {
			uint64_t id = b->ids[i], target = b->targets[i];

			w->ids[i] = (uint32_t)((id + 1) % vocab);
			w->targets[i] = (uint32_t)((target + 1) % vocab);
		}
		trial.batch.ids = w->ids;
		trial.batch.targets = w->targets;
		status = update(w, &trial);
		if (status == CKPT_OK)
			judge_batch(w, &trial, c);
	}
	end(&trial);
	return status;
}

/* For controls that must move parameters elsewhere. */
static void
judge_parameters(const struct work *w, struct trial *trial,
	struct ckpt_control *c, const char *excuse)
{
	const struct ckpt_branch *base = &w->step->branch[0];

	if (ckpt_trainer_parameters_fingerprint(trial->t) != base->parameters)
		settle(c, CKPT_CONTROL_DIFFERENT, "");
	else if (excuse)
		settle(c, CKPT_CONTROL_NOT_APPLICABLE, excuse);
	else if (base->parameters == w->parameters_before)
		settle(c, CKPT_CONTROL_NOT_APPLICABLE,
			"the update changes no parameter");
	else
		settle(c, CKPT_CONTROL_SAME, "");
}

static enum ckpt_status
twice_the_rate(struct work *w)
{
	struct ckpt_control *c = add(w, "learning rate x 2");
	struct trial trial;
	enum ckpt_status status;

	if (!c)
		return CKPT_ENOMEM;
	status = begin(w, &trial);
	trial.rate *= 2;
	if (status == CKPT_OK) {
		w->parameters_before =
			ckpt_trainer_parameters_fingerprint(trial.t);
		status = update(w, &trial);
	}
	if (status == CKPT_OK && trial.refused)
		settle_refused(c, CKPT_CONTROL_NOT_APPLICABLE, &trial.refusal);
	else if (status == CKPT_OK)
		judge_parameters(w, &trial, c, NULL);
	end(&trial);
	return status;
}

static void
reset(struct ckpt_trainer *t)
{
	for (uint32_t k = 0; k < t->state.nparameters; k++) {
		size_t n = (size_t)t->state.parameters[k].len;

		memset(t->first[k], 0, n);
		memset(t->second[k], 0, n);
	}
	t->state.beta1_power = t->state.beta2_power = 1.0;
}

static enum ckpt_status
no_history(struct work *w)
{
	struct ckpt_control *c = add(w, "moments and powers reset");
	struct trial trial;
	enum ckpt_status status;

	if (!c)
		return CKPT_ENOMEM;
	status = begin(w, &trial);
	if (status == CKPT_OK && trial.t->state.nmoments == 0) {
		settle(c, CKPT_CONTROL_NOT_APPLICABLE,
			"step 0 has no moments, and powers of one");
	} else if (status == CKPT_OK) {
		const struct ckpt_adamw *a = &trial.t->state.adamw;
		bool mute = a->beta1 == 0.0 && a->beta2 == 0.0;

		reset(trial.t);
		status = update(w, &trial);
		if (status == CKPT_OK && trial.refused)
			settle_refused(
				c, CKPT_CONTROL_DIFFERENT, &trial.refusal);
		else if (status == CKPT_OK)
			judge_parameters(w, &trial, c,
				mute ? "both betas are 0, so moments have no "
				       "say"
				     : NULL);
	}
	end(&trial);
	return status;
}

/* ---- flipped bits ------------------------------------------------------- */

/* Flips the top mantissa bit of the largest of n values; returns its
 * index. */
static size_t
flip(double *x, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (fabs(x[i]) > fabs(x[best]))
			best = i;
	x[best] =
		ckpt_f64_from_bits(ckpt_f64_bits(x[best]) ^ (uint64_t)1 << 51);
	return best;
}

/* Tensor k of the inputs: parameters, then first, then second moments. */
static double *
input(const struct ckpt_trainer *t, uint32_t k, uint32_t *parameter,
	const char **role)
{
	uint32_t n = t->state.nparameters;
	const struct ckpt_tensor *p = t->state.parameters;
	double *at = t->parameters;

	*parameter = k % n;
	*role = k < n       ? "parameter "
		: k < 2 * n ? "first moment "
			    : "second moment ";
	if (k >= n)
		return (k < 2 * n ? t->first : t->second)[*parameter];
	for (uint32_t i = 0; i < k; i++)
		at += p[i].len / sizeof *at;
	return at;
}

static enum ckpt_status
flipped(struct work *w, uint32_t k, uint32_t *inputs)
{
	struct ckpt_control *c = add(w, "top mantissa bit of ");
	struct trial trial;
	enum ckpt_status status = c ? begin(w, &trial) : CKPT_ENOMEM;
	const struct ckpt_tensor *tensor;
	const char *role;
	uint32_t parameter;
	double *x;

	if (!c)
		return status;
	if (status != CKPT_OK)
		goto out;
	*inputs =
		trial.t->state.nparameters * (trial.t->state.nmoments ? 3 : 1);
	x = input(trial.t, k, &parameter, &role);
	tensor = &trial.t->state.parameters[parameter];
	ckpt_buf_puts(&c->name, role);
	ckpt_buf_escape(&c->name, tensor->name.p, tensor->name.n, 0);
	ckpt_buf_printf(&c->name, ", element %zu",
		flip(x, (size_t)(tensor->len / sizeof *x)));
	status = update(w, &trial);
	if (status != CKPT_OK)
		goto out;
	if (trial.refused)
		settle_refused(c, CKPT_CONTROL_DIFFERENT, &trial.refusal);
	else if (ckpt_trainer_fingerprint(trial.t) == w->step->branch[0].state)
		settle(c, CKPT_CONTROL_ABSORBED, "rounding swallows it");
	else
		settle(c, CKPT_CONTROL_DIFFERENT, "");
out:
	end(&trial);
	return status;
}

/* ---- all ---------------------------------------------------------------- */

static enum ckpt_status
run_all(struct work *w)
{
	uint32_t inputs = 1;

	CKPT_TRY(changed_batch(w));
	CKPT_TRY(twice_the_rate(w));
	CKPT_TRY(no_history(w));
	for (uint32_t k = 0; k < inputs; k++)
		CKPT_TRY(flipped(w, k, &inputs));
	return CKPT_OK;
}

enum ckpt_status
ckpt_self_check_run(struct ckpt_self_check *check, const struct ckpt_step *step)
{
	struct work w = { .check = check, .step = step };
	size_t n = step->batch->batch * step->batch->tokens;
	enum ckpt_status status = CKPT_ENOMEM;

	memset(check, 0, sizeof *check);
	/* The step had as much for its own logits. */
	w.logits = calloc(n * step->vocabulary, sizeof *w.logits);
	w.ids = calloc(n, sizeof *w.ids);
	w.targets = calloc(n, sizeof *w.targets);
	if (w.logits && w.ids && w.targets)
		status = run_all(&w);
	free(w.logits);
	free(w.ids);
	free(w.targets);
	for (size_t i = 0; i < check->n; i++)
		if (check->controls[i].name.failed ||
			check->controls[i].why.failed)
			status = CKPT_ENOMEM;
	return status;
}

bool
ckpt_self_check_passed(const struct ckpt_self_check *check)
{
	for (size_t i = 0; i < check->n; i++)
		if (check->controls[i].outcome == CKPT_CONTROL_SAME)
			return false;
	return true;
}

void
ckpt_self_check_release(struct ckpt_self_check *check)
{
	for (size_t i = 0; i < check->n; i++) {
		ckpt_buf_release(&check->controls[i].name);
		ckpt_buf_release(&check->controls[i].why);
	}
	free(check->controls);
	memset(check, 0, sizeof *check);
}
