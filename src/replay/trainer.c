/* SPDX-License-Identifier: MIT */
/*
 * The trainer (the replay procedure of numerics section 6).
 * Values are doubles where a checkpoint has little-endian bytes: the two are
 * the same on the machines this is built for, which is asserted.
 */
#include "replay/trainer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "model/params.h"
#include "replay/trainer_parts.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	"values are used where the file's bytes are");

void
ckpt_refuse_temporary(struct ckpt_refusal *refusal)
{
	const char *folder = getenv("TMPDIR");
	int error = errno;

	folder = folder && *folder ? folder : "/tmp";
	ckpt_refuse(refusal, NULL);
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

struct ckpt_tensor *
ckpt_trainer_tensors(
	struct ckpt_trainer *t, const struct ckpt_tensor *from, uint32_t n)
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
		.kv_heads = (size_t)c->kv_heads,
		.window = (size_t)c->context_window,
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

static void
copy_values(double *to, const struct ckpt_tensor *from)
{
	if (from->data)
		memcpy(to, from->data, (size_t)from->len);
	else
		from->fill(from->fill_ctx, from, 0, (uint8_t *)to,
			(size_t)from->len);
}

static bool
copy_moments(struct ckpt_trainer *t, const struct ckpt_state *from)
{
	if (ckpt_trainer_moments(t) != CKPT_OK)
		return false;
	for (uint32_t k = 0; k < from->nparameters; k++) {
		copy_values(t->first[k], &from->first[t->order[k]]);
		copy_values(t->second[k], &from->second[t->order[k]]);
	}
	return true;
}

struct ckpt_trainer *
ckpt_trainer_start(const struct ckpt_state *state)
{
	struct ckpt_trainer *t = trainer_new(state);
	struct ckpt_tensor *tensors;
	double *at;

	if (!t)
		return NULL;
	tensors =
		ckpt_trainer_tensors(t, state->parameters, state->nparameters);
	at = ckpt_arena_alloc(&t->arena, t->scalars * sizeof *at);
	t->parameters = at;
	if (!tensors || !at || !make_tables(t)) {
		ckpt_trainer_free(t);
		return NULL;
	}
	for (uint32_t k = 0; k < state->nparameters; k++) {
		copy_values(at, &state->parameters[k]);
		tensors[k].data = (const uint8_t *)at;
		at += ckpt_trainer_values(t, k);
	}
	t->state.parameters = tensors;
	if (state->nmoments && !copy_moments(t, state)) {
		ckpt_trainer_free(t);
		return NULL;
	}
	return t;
}

struct ckpt_trainer *
ckpt_trainer_take(struct ckpt_checkpoint *checkpoint)
{
	const struct ckpt_state *state = &checkpoint->state;
	bool archive = state->archive != CKPT_ARCHIVE_NONE;
	struct ckpt_trainer *t = !checkpoint->loaded ? NULL
				 : archive           ? ckpt_trainer_start(state)
						     : trainer_new(state);

	if (!t) {
		ckpt_checkpoint_free(checkpoint);
		return NULL;
	}
	t->from = checkpoint;
	/* The values of an archive lie as its names do, and anywhere: they
	 * have been copied. */
	if (!archive && (!make_tables(t) || !bind_values(t))) {
		ckpt_trainer_free(t);
		return NULL;
	}
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
			ckpt_refuse(r, "TokenOutOfRange");
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
		ckpt_refuse(r, "InvalidLearningRate");
		SAY(r, "the learning rate %.17g is not finite and above 0",
			rate);
		return false;
	}
	if (decay != 0.0 &&
		!(isfinite(product) && product > 0.0 && product < 1.0)) {
		ckpt_refuse(r, "InvalidDecayProduct");
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
	ckpt_refuse(r, "ParameterGroupsMismatch");
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
		ckpt_refuse(r, "Shape");
		SAY(r, "there are no tokens");
		return false;
	}
	if (batch->tokens > t->state.config.positions) {
		ckpt_refuse(r, "TooManyPositions");
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
		ckpt_refuse(r, "StepOverflow");
		SAY(r, "step %llu has no successor",
			(unsigned long long)t->state.optimizer_step);
		return false;
	}
	return true;
}

/* ---- passes ------------------------------------------------------------- */

enum ckpt_status
ckpt_trainer_reserve_space(struct ckpt_trainer *t, size_t n)
{
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

enum ckpt_status
ckpt_trainer_reserve(
	struct ckpt_trainer *t, size_t rows, size_t tokens, enum ckpt_pass pass)
{
	size_t n;

	return ckpt_decoder_space(&t->dims, rows, tokens, pass, &n)
		       ? ckpt_trainer_reserve_space(t, n)
		       : CKPT_ELIMIT;
}

enum ckpt_status
ckpt_trainer_not_finite(
	const struct ckpt_not_finite *fault, struct ckpt_refusal *r)
{
	ckpt_refuse(r, "NonFinite");
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
	enum ckpt_status status = ckpt_trainer_reserve(
		t, batch->batch, batch->tokens, CKPT_PASS_FORWARD);

	if (status != CKPT_OK)
		return status;
	return ckpt_decoder_forward(
		       &t->dims, t->parameters, batch, t->space, logits, &fault)
		       ? CKPT_OK
		       : ckpt_trainer_not_finite(&fault, r);
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
		size_t n = ckpt_trainer_values(t, k) * sizeof(double);

		h = ckpt_fnv1a64(h, t->first[k], n);
		h = ckpt_fnv1a64(h, t->second[k], n);
	}
	return ckpt_fnv1a64(h, powers, sizeof powers);
}
