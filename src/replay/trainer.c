/* SPDX-License-Identifier: MIT */
/*
 * The trainer (numerics section 5 and the replay procedure of section 6).
 * Values are doubles where a checkpoint has little-endian bytes: the two are
 * the same on the machines this is built for, which is asserted.
 *
 * An update is all or nothing: gradients are checked before, and AdamW is
 * either known to stay finite from the magnitudes alone or tried on a copy of
 * each block first.
 */
#include "replay/trainer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fmath.h"
#include "base/hash.h"
#include "model/params.h"
#include "num/clip.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	"values are used where the file's bytes are");

static void
refuse(struct ckpt_refusal *refusal, const char *kind)
{
	refusal->kind = kind;
	ckpt_buf_clear(&refusal->text);
}

#define SAY(refusal, ...) ckpt_buf_printf(&(refusal)->text, __VA_ARGS__)

void
ckpt_refuse_temporary(struct ckpt_refusal *refusal)
{
	const char *folder = getenv("TMPDIR");
	int error = errno;

	folder = folder && *folder ? folder : "/tmp";
	refuse(refusal, NULL);
	SAY(refusal, "a temporary file in ");
	ckpt_buf_escape(&refusal->text, folder, strlen(folder), 0);
	SAY(refusal, ": %s", strerror(error));
	errno = error;
}

/* ---- making ------------------------------------------------------------- */

static bool
named_in(const struct ckpt_name *names, uint32_t n, const struct ckpt_name *x)
{
	for (uint32_t i = 0; i < n; i++)
		if (names[i].n == x->n && memcmp(names[i].p, x->p, x->n) == 0)
			return true;
	return false;
}

static bool
make_tables(struct ckpt_trainer *t)
{
	struct ckpt_state *s = &t->state;
	struct ckpt_arena *arena = &t->arena;
	uint32_t n = s->nparameters;
	uint32_t *sorted = ckpt_param_bytewise(arena, s->parameters, n);

	t->order = ckpt_arena_alloc(arena, n * sizeof *t->order);
	t->first = ckpt_arena_zalloc(arena, n * sizeof(double *));
	t->second = ckpt_arena_zalloc(arena, n * sizeof(double *));
	t->decay = ckpt_arena_alloc(arena, n * sizeof *t->decay);
	if (!sorted || !t->order || !t->first || !t->second || !t->decay)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct ckpt_name *name = &s->parameters[i].name;

		t->order[sorted[i]] = i;
		t->decay[i] = !s->groups || named_in(s->decay, s->ndecay, name)
				      ? s->adamw.weight_decay
				      : 0.0;
	}
	return true;
}

/* Tables of tensors of our own, so that data can point to our arrays. */
static struct ckpt_tensor *
own_tensors(struct ckpt_trainer *t, const struct ckpt_tensor *from, uint32_t n)
{
	struct ckpt_tensor *to = ckpt_arena_alloc(&t->arena, n * sizeof *to);

	if (to && n)
		memcpy(to, from, n * sizeof *to);
	return to;
}

static bool
bind_values(struct ckpt_trainer *t)
{
	struct ckpt_state *s = &t->state;
	const uint8_t *p = s->parameters[0].data;

	/* The state sink lays the first double on a multiple of eight, and
	 * parameters follow each other. */
	t->parameters = (double *)(uintptr_t)p;
	for (uint32_t k = 0; k < s->nparameters && s->nmoments; k++) {
		t->first[k] = (double *)(uintptr_t)s->first[t->order[k]].data;
		t->second[k] = (double *)(uintptr_t)s->second[t->order[k]].data;
	}
	return (uintptr_t)p % sizeof(double) == 0;
}

/* Without layers the feed-forward width is a number that no tensor has, and
 * may be any. */
static struct ckpt_dims
dims_of(const struct ckpt_config *c)
{
	return (struct ckpt_dims){
		.vocab = (size_t)c->vocabulary,
		.width = (size_t)c->width,
		.heads = (size_t)c->heads,
		.hidden = c->layers ? (size_t)c->feed_forward_width : 0,
		.layers = (size_t)c->layers,
		.rope_base = c->rope_base,
		.epsilon = c->rms_epsilon,
	};
}

static struct ckpt_trainer *
trainer_new(const struct ckpt_state *state)
{
	struct ckpt_trainer *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	ckpt_arena_init(&t->arena, UINT64_MAX);
	t->state = *state;
	t->dims = dims_of(&state->config);
	t->scalars = ckpt_dims_scalars(&t->dims);
	return t;
}

struct ckpt_trainer *
ckpt_trainer_take(struct ckpt_checkpoint *checkpoint)
{
	struct ckpt_trainer *t =
		checkpoint->loaded ? trainer_new(&checkpoint->state) : NULL;

	if (!t) {
		ckpt_checkpoint_free(checkpoint);
		return NULL;
	}
	t->from = checkpoint;
	if (!make_tables(t) || !bind_values(t)) {
		ckpt_trainer_free(t);
		return NULL;
	}
	return t;
}

struct ckpt_trainer *
ckpt_trainer_start(const struct ckpt_state *state)
{
	struct ckpt_trainer *t = trainer_new(state);
	struct ckpt_tensor *tensors;
	double *at;

	if (!t)
		return NULL;
	tensors = own_tensors(t, state->parameters, state->nparameters);
	at = ckpt_arena_alloc(&t->arena, t->scalars * sizeof *at);
	t->parameters = at;
	if (!tensors || !at || !make_tables(t)) {
		ckpt_trainer_free(t);
		return NULL;
	}
	for (uint32_t k = 0; k < state->nparameters; k++) {
		const struct ckpt_tensor *from = &state->parameters[k];

		if (from->data)
			memcpy(at, from->data, (size_t)from->len);
		else
			from->fill(from->fill_ctx, from, 0, (uint8_t *)at,
				(size_t)from->len);
		tensors[k].data = (const uint8_t *)at;
		at += from->len / sizeof *at;
	}
	t->state.parameters = tensors;
	return t;
}

void
ckpt_trainer_free(struct ckpt_trainer *t)
{
	if (!t)
		return;
	ckpt_checkpoint_free(t->from);
	ckpt_arena_release(&t->arena);
	free(t->space);
	free(t->gradients);
	free(t);
}

/* ---- what is accepted --------------------------------------------------- */

static bool
accepts_ids(const struct ckpt_trainer *t, const uint32_t *ids, size_t n,
	const char *what, struct ckpt_refusal *r)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] >= t->dims.vocab) {
			refuse(r, "TokenOutOfRange");
			SAY(r, "%s %zu is token %u; the vocabulary has %zu",
				what, i, ids[i], t->dims.vocab);
			return false;
		}
	return true;
}

static bool
accepts_rate(const struct ckpt_trainer *t, double rate, struct ckpt_refusal *r)
{
	double decay = t->state.adamw.weight_decay, product = rate * decay;

	if (!isfinite(rate) || !(rate > 0.0)) {
		refuse(r, "InvalidLearningRate");
		SAY(r, "the learning rate %.17g is not finite and above 0",
			rate);
		return false;
	}
	if (decay != 0.0 &&
		!(isfinite(product) && product > 0.0 && product < 1.0)) {
		refuse(r, "InvalidDecayProduct");
		SAY(r,
			"learning rate x weight decay = %.17g x %.17g = %.17g "
			"is not above 0 and below 1",
			rate, decay, product);
		return false;
	}
	return true;
}

/* Groups that name other parameters load at step 0, but nothing can be
 * updated with them. */
static bool
accepts_groups(const struct ckpt_trainer *t, struct ckpt_refusal *r)
{
	const struct ckpt_state *s = &t->state;
	uint64_t named = (uint64_t)s->ndecay + s->nno_decay;
	bool good = named == s->nparameters;

	if (!s->groups)
		return true;
	for (uint32_t k = 0; good && k < s->nparameters; k++)
		good = named_in(s->decay, s->ndecay, &s->parameters[k].name) ||
		       named_in(s->no_decay, s->nno_decay,
			       &s->parameters[k].name);
	if (good)
		return true;
	refuse(r, "ParameterGroupsMismatch");
	SAY(r,
		"the parameter groups name %llu parameters that are not "
		"exactly the model's %u",
		(unsigned long long)named, s->nparameters);
	return false;
}

bool
ckpt_trainer_accepts(const struct ckpt_trainer *t,
	const struct ckpt_batch *batch, double rate, struct ckpt_refusal *r)
{
	size_t n;

	if (batch->batch == 0 || batch->tokens == 0) {
		refuse(r, "Shape");
		SAY(r, "there are no tokens");
		return false;
	}
	if (batch->tokens > t->state.config.positions) {
		refuse(r, "TooManyPositions");
		SAY(r, "%zu tokens in a row; the model has %llu positions",
			batch->tokens,
			(unsigned long long)t->state.config.positions);
		return false;
	}
	n = batch->batch * batch->tokens;
	if (batch->targets && !accepts_ids(t, batch->targets, n, "target", r))
		return false;
	if (!accepts_ids(t, batch->ids, n, "input", r))
		return false;
	if (!batch->targets)
		return true;
	if (!accepts_rate(t, rate, r) || !accepts_groups(t, r))
		return false;
	if (t->state.optimizer_step == UINT64_MAX) {
		refuse(r, "StepOverflow");
		SAY(r, "step %llu has no successor",
			(unsigned long long)t->state.optimizer_step);
		return false;
	}
	return true;
}

/* ---- passes ------------------------------------------------------------- */

static enum ckpt_status
reserve(struct ckpt_trainer *t, const struct ckpt_batch *batch, bool backward)
{
	size_t n;

	if (!ckpt_decoder_space(
		    &t->dims, batch->batch, batch->tokens, backward, &n))
		return CKPT_ELIMIT;
	if (n <= t->space_n)
		return CKPT_OK;
	free(t->space);
	t->space_n = 0;
	t->space = malloc(n * sizeof *t->space);
	if (!t->space)
		return CKPT_ENOMEM;
	t->space_n = n;
	return CKPT_OK;
}

static enum ckpt_status
refuse_not_finite(const struct ckpt_not_finite *fault, struct ckpt_refusal *r)
{
	refuse(r, "NonFinite");
	SAY(r, "%s of layer %zu is not finite at flat index %zu: %.17g",
		fault->operation, fault->layer, fault->index,
		isnan(fault->value) ? (double)NAN : fault->value);
	return CKPT_REJECTED;
}

enum ckpt_status
ckpt_trainer_logits(struct ckpt_trainer *t, const struct ckpt_batch *batch,
	double *logits, struct ckpt_refusal *r)
{
	struct ckpt_not_finite fault;
	enum ckpt_status status = reserve(t, batch, false);

	if (status != CKPT_OK)
		return status;
	return ckpt_decoder_forward(
		       &t->dims, t->parameters, batch, t->space, logits, &fault)
		       ? CKPT_OK
		       : refuse_not_finite(&fault, r);
}

/* ---- one update --------------------------------------------------------- */

static size_t
values_of(const struct ckpt_trainer *t, uint32_t k)
{
	return (size_t)(t->state.parameters[k].len / sizeof(double));
}

/* Moments of zero, for a model that has none yet. */
static enum ckpt_status
make_moments(struct ckpt_trainer *t)
{
	struct ckpt_state *s = &t->state;
	uint32_t n = s->nparameters;
	struct ckpt_tensor *first = own_tensors(t, s->parameters, n);
	struct ckpt_tensor *second = own_tensors(t, s->parameters, n);
	double *values =
		ckpt_arena_zalloc(&t->arena, 2 * t->scalars * sizeof *values);

	if (!first || !second || !values)
		return CKPT_ENOMEM;
	for (uint32_t k = 0; k < n; k++) {
		struct ckpt_tensor tensor = s->parameters[k];

		t->first[k] = values;
		tensor.data = (const uint8_t *)values;
		first[t->order[k]] = tensor;
		values += values_of(t, k);
		t->second[k] = values;
		tensor.data = (const uint8_t *)values;
		second[t->order[k]] = tensor;
		values += values_of(t, k);
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

	refuse(r, "NonFiniteUpdate");
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
		size_t n = values_of(t, k);

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
		size_t n = values_of(t, k);

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
		size_t n = values_of(t, k);

		update->tensors[k] =
			ckpt_fnv1a64(CKPT_FNV1A64_START, g, n * sizeof *g);
		g += n;
	}
}

static void
clip(struct ckpt_trainer *t, struct ckpt_update *update)
{
	struct ckpt_norm_sum norm = { 0.0, 1.0 };

	if (update->clip == 0.0)
		return;
	ckpt_norm_add(&norm, t->gradients, t->scalars);
	update->clipped =
		ckpt_clip_factor(&norm, update->clip, &update->factor);
	for (size_t i = 0; update->clipped && i < t->scalars; i++)
		t->gradients[i] = t->gradients[i] * update->factor;
}

static enum ckpt_status
gradients(struct ckpt_trainer *t, const struct ckpt_batch *batch,
	double *logits, struct ckpt_update *update, struct ckpt_refusal *r)
{
	struct ckpt_not_finite fault;
	enum ckpt_status status = reserve(t, batch, true);

	if (status != CKPT_OK)
		return status;
	if (!t->gradients)
		t->gradients = malloc(t->scalars * sizeof *t->gradients);
	if (!t->gradients)
		return CKPT_ENOMEM;
	if (!ckpt_decoder_gradients(&t->dims, t->parameters, batch, t->space,
		    logits, t->gradients, &update->loss, &fault))
		return refuse_not_finite(&fault, r);
	if (!update->no_fingerprints)
		fingerprint_gradients(t, update);
	clip(t, update);
	return CKPT_OK;
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
ckpt_trainer_update(struct ckpt_trainer *t, const struct ckpt_batch *batch,
	double rate, double *logits, struct ckpt_update *update,
	struct ckpt_refusal *r)
{
	struct ckpt_state *s = &t->state;
	double power1 = power(s, s->adamw.beta1, s->beta1_power, update);
	double power2 = power(s, s->adamw.beta2, s->beta2_power, update);
	struct ckpt_adamw_update u = { rate, s->adamw.beta1, s->adamw.beta2,
		s->adamw.epsilon, 1.0 - power1, 1.0 - power2 };
	enum ckpt_status status = gradients(t, batch, logits, update, r);

	if (status == CKPT_OK && s->nmoments == 0 && !t->first[0])
		status = make_moments(t);
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

/* ---- fingerprints ------------------------------------------------------- */

uint64_t
ckpt_trainer_parameters_fingerprint(const struct ckpt_trainer *t)
{
	return ckpt_fnv1a64(CKPT_FNV1A64_START, t->parameters,
		t->scalars * sizeof *t->parameters);
}

uint64_t
ckpt_trainer_fingerprint(const struct ckpt_trainer *t)
{
	uint64_t h = ckpt_trainer_parameters_fingerprint(t);
	const double powers[] = { t->state.beta1_power, t->state.beta2_power };

	for (uint32_t k = 0; k < t->state.nmoments; k++) {
		size_t n = values_of(t, k) * sizeof(double);

		h = ckpt_fnv1a64(h, t->first[k], n);
		h = ckpt_fnv1a64(h, t->second[k], n);
	}
	return ckpt_fnv1a64(h, powers, sizeof powers);
}
