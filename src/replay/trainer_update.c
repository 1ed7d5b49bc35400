/* SPDX-License-Identifier: MIT */
/*
 * One update of a trainer (numerics section 5). It is all or nothing:
 * gradients are checked before, and AdamW is either known to stay finite from
 * the magnitudes alone or tried on a copy of each block first.
 */
#include "replay/trainer_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/fmath.h"
#include "base/hash.h"

enum ckpt_status
ckpt_trainer_moments(struct ckpt_trainer *t)
{
	struct ckpt_state *s = &t->state;
	uint32_t n = s->nparameters;
	struct ckpt_tensor *first = ckpt_trainer_tensors(t, s->parameters, n);
	struct ckpt_tensor *second = ckpt_trainer_tensors(t, s->parameters, n);
	double *values =
		ckpt_arena_zalloc(&t->arena, 2 * t->scalars * sizeof *values);

	if (!first || !second || !values)
		return CKPT_ENOMEM;
	for (uint32_t k = 0; k < n; k++) {
		struct ckpt_tensor tensor = s->parameters[k];

		t->first[k] = values;
		tensor.data = (const uint8_t *)values;
		first[t->order[k]] = tensor;
		values += ckpt_trainer_values(t, k);
		t->second[k] = values;
		tensor.data = (const uint8_t *)values;
		second[t->order[k]] = tensor;
		values += ckpt_trainer_values(t, k);
	}
	s->first = first;
	s->second = second;
	return CKPT_OK;
}

static enum ckpt_status
refuse_adamw(const struct ckpt_trainer *t, uint32_t k,
	const struct ckpt_adamw_fault *fault, struct ckpt_refusal *r)
{
	const struct ckpt_name *name = &t->state.parameters[k].name;

	ckpt_refuse(r, "NonFiniteUpdate");
	SAY(r, "the %s of ", fault->stage);
	ckpt_buf_escape(&r->text, name->p, name->n, 80);
	SAY(r, " is not finite at flat index %zu: %.17g", fault->index,
		fault->value);
	return CKPT_REJECTED;
}

/* One parameter's update, to be shared out by elements. */
struct range {
	double *x, *m, *u;
	const double *g;
	double decay;
	const struct ckpt_adamw_update *update;
};

enum { GRAIN = 1 << 14 };

static void
update_range(void *ctx, size_t from, size_t to)
{
	const struct range *r = ctx;

	ckpt_adamw(r->x + from, r->m + from, r->u + from, r->g + from,
		to - from, r->decay, r->update);
}

static enum ckpt_status
adamw(struct ckpt_trainer *t, const struct ckpt_adamw_update *u,
	struct ckpt_refusal *r)
{
	struct ckpt_adamw_fault fault = { 0 };
	double *x = t->parameters, *g = t->gradients;

	for (uint32_t k = 0; k < t->state.nparameters; k++) {
		size_t n = ckpt_trainer_values(t, k);

		if (!ckpt_adamw_stays_finite(
			    x, t->first[k], t->second[k], g, n, u) &&
			!ckpt_adamw_try(x, t->first[k], t->second[k], g, n,
				t->decay[k], u, &fault))
			return refuse_adamw(t, k, &fault, r);
		x += n;
		g += n;
	}
	x = t->parameters;
	g = t->gradients;
	for (uint32_t k = 0; k < t->state.nparameters; k++) {
		size_t n = ckpt_trainer_values(t, k);

		struct range all = { x, t->first[k], t->second[k], g,
			t->decay[k], u };

		ckpt_team_run(t->dims.team, n, GRAIN, update_range, &all);
		x += n;
		g += n;
	}
	return CKPT_OK;
}

static void
fingerprint_gradients(const struct ckpt_trainer *t, struct ckpt_update *update)
{
	const double *g = t->gradients;

	update->gradients =
		ckpt_fnv1a64(CKPT_FNV1A64_START, g, t->scalars * sizeof *g);
	for (uint32_t k = 0; update->tensors && k < t->state.nparameters; k++) {
		size_t n = ckpt_trainer_values(t, k);

		update->tensors[k] =
			ckpt_fnv1a64(CKPT_FNV1A64_START, g, n * sizeof *g);
		g += n;
	}
}

bool
ckpt_trainer_clip(struct ckpt_trainer *t, const struct ckpt_norm_sum *norm,
	double maximum, struct ckpt_clip *clip, struct ckpt_refusal *r)
{
	if (!ckpt_clip_plan(norm, maximum, clip)) {
		ckpt_refuse(r, "ClipUnderflow");
		SAY(r,
			"gradients of global norm %.17g x %.17g cannot be "
			"clipped to %.17g",
			norm->scale, sqrt(norm->sum), maximum);
		return false;
	}
	if (clip->needed)
		ckpt_clip_apply(t->gradients, t->scalars, clip);
	return true;
}

/* As the update wants it. */
static enum ckpt_status
clip(struct ckpt_trainer *t, struct ckpt_update *update, struct ckpt_refusal *r)
{
	struct ckpt_norm_sum norm = { 0.0, 1.0 };
	struct ckpt_clip made;

	if (update->clip == 0.0)
		return CKPT_OK;
	ckpt_norm_add(&norm, t->gradients, t->scalars);
	if (!ckpt_trainer_clip(t, &norm, update->clip, &made, r))
		return CKPT_REJECTED;
	update->clipped = made.needed;
	if (made.needed)
		update->factor = made.factor;
	return CKPT_OK;
}

static enum ckpt_status
gradients(struct ckpt_trainer *t, const struct ckpt_batch *batch,
	double *logits, struct ckpt_update *update, struct ckpt_refusal *r)
{
	struct ckpt_not_finite fault;
	enum ckpt_status status = ckpt_trainer_reserve(
		t, batch->batch, batch->tokens, CKPT_PASS_BACKWARD);

	if (status != CKPT_OK)
		return status;
	if (!t->gradients)
		t->gradients = malloc(t->scalars * sizeof *t->gradients);
	if (!t->gradients)
		return CKPT_ENOMEM;
	if (!ckpt_decoder_gradients(&t->dims, t->parameters, batch, t->space,
		    logits, t->gradients, &update->loss, &fault))
		return ckpt_trainer_not_finite(&fault, r);
	if (!update->no_fingerprints)
		fingerprint_gradients(t, update);
	return clip(t, update, r);
}

/* A power after this update: one multiplication, never pow. */
static double
power(const struct ckpt_state *s, double beta, double before,
	const struct ckpt_update *update)
{
	return update->powers_by_pow
		       ? ckpt_pow(beta, (double)(s->optimizer_step + 1))
		       : before * beta;
}

enum ckpt_status
ckpt_trainer_apply(struct ckpt_trainer *t, double rate, double power1,
	double power2, struct ckpt_refusal *r)
{
	struct ckpt_state *s = &t->state;
	struct ckpt_adamw_update u = { rate, s->adamw.beta1, s->adamw.beta2,
		s->adamw.epsilon, 1.0 - power1, 1.0 - power2 };
	enum ckpt_status status = CKPT_OK;

	if (s->nmoments == 0 && !t->first[0])
		status = ckpt_trainer_moments(t);
	if (status == CKPT_OK)
		status = adamw(t, &u, r);
	if (status != CKPT_OK)
		return status;
	s->nmoments = s->nparameters;
	s->beta1_power = power1;
	s->beta2_power = power2;
	s->optimizer_step++;
	s->selected_step = s->optimizer_step;
	return CKPT_OK;
}

enum ckpt_status
ckpt_trainer_update(struct ckpt_trainer *t, const struct ckpt_batch *batch,
	double rate, double *logits, struct ckpt_update *update,
	struct ckpt_refusal *r)
{
	struct ckpt_state *s = &t->state;
	double power1 = power(s, s->adamw.beta1, s->beta1_power, update);
	double power2 = power(s, s->adamw.beta2, s->beta2_power, update);
	enum ckpt_status status = gradients(t, batch, logits, update, r);

	return status == CKPT_OK
		       ? ckpt_trainer_apply(t, rate, power1, power2, r)
		       : status;
}
