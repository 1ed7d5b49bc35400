/* SPDX-License-Identifier: MIT */
/*
 * Builds states from settings. The one idea: a draw of SplitMix64 can be had
 * from its number alone, so a tensor needs to remember only where its draws
 * begin, and any piece of it can be made at any time. What makes the values
 * stands in synth_fill.c; whether settings can be valid in synth_check.c.
 *
 * Invariant: settings have passed ckpt_synth_check(), so no product of them
 * overflows here.
 */
#include "model/synth.h"

#include <math.h>

#include "base/try.h"
#include "model/config.h"
#include "model/params.h"
#include "model/synth_fill.h"

/* What is known while a state is being built. */
struct build {
	struct ckpt_arena *arena;
	const struct ckpt_synth *synth;
	struct ckpt_state *state;
	struct ckpt_tensor *parameters;
	uint64_t *begins;  /* number of elements before parameter k */
	uint64_t draws;    /* of all weights */
	uint64_t elements; /* of all parameters */
};

/* An array of n; the check has bounded n and so the product. */
static void *
array(struct build *b, uint64_t n, size_t size)
{
	return ckpt_arena_zalloc(b->arena, (size_t)n * size);
}

/* ---- Tokenizer ---------------------------------------------------------- */

/* One tensor of shape [rows] or [rows, 2], made by fill from source. */
static bool
make_piece(struct build *b, struct ckpt_tensor *tensor, uint64_t rows,
	bool pairs, const struct ckpt_synth_fill *source)
{
	struct ckpt_synth_fill *kept = array(b, 1, sizeof *kept);
	uint64_t *dims = array(b, 2, sizeof *dims);

	if (!kept || !dims)
		return false;
	*kept = *source;
	dims[0] = rows;
	dims[1] = 2;
	*tensor = (struct ckpt_tensor){
		.rank = pairs ? 2 : 1,
		.dims = dims,
		.len = pairs ? 8 * rows : rows,
		.fill = pairs ? ckpt_synth_fill_pairs : ckpt_synth_fill_piece,
		.fill_ctx = kept,
	};
	return true;
}

static enum ckpt_status
build_literal(struct build *b, struct ckpt_tensor *pieces, uint64_t n)
{
	const struct ckpt_synth *s = b->synth;
	uint64_t digits = ckpt_synth_piece_bytes(s);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t bytes = digits;

		if (i == n - 1 && s->last_token_bytes)
			bytes = s->last_token_bytes;
		if (!make_piece(b, &pieces[i], bytes, false,
			    &(struct ckpt_synth_fill){
				    .number = i, .digits = digits }))
			return ckpt_arena_status(b->arena);
	}
	return CKPT_OK;
}

static enum ckpt_status
build_tokenizer(struct build *b)
{
	const struct ckpt_synth *s = b->synth;
	bool literal = s->tokenizer == CKPT_LITERAL;
	uint64_t n = literal ? s->config.vocabulary : 1;
	struct ckpt_tensor *pieces = array(b, n, sizeof *pieces);

	if (!pieces)
		return ckpt_arena_status(b->arena);
	b->state->tokenizer = (struct ckpt_tokenizer){
		.kind = s->tokenizer,
		.vocabulary = ckpt_synth_vocabulary(s),
		.pieces = pieces,
		.npieces = n,
	};
	if (literal)
		return build_literal(b, pieces, n);
	return make_piece(b, pieces, s->merges, true,
		       &(struct ckpt_synth_fill){ .shape = s->merge_shape })
		       ? CKPT_OK
		       : ckpt_arena_status(b->arena);
}

/* ---- Parameters --------------------------------------------------------- */

static bool
make_values(struct build *b, struct ckpt_tensor *tensor,
	enum ckpt_synth_values values, double scale, uint64_t first_draw)
{
	struct ckpt_synth_fill *source = array(b, 1, sizeof *source);

	if (!source)
		return false;
	*source = (struct ckpt_synth_fill){
		.values = values,
		.scale = scale,
		.rng = { b->synth->seed },
	};
	ckpt_rng_skip(&source->rng, first_draw);
	tensor->data = NULL;
	tensor->fill = ckpt_synth_fill_values;
	tensor->fill_ctx = source;
	return true;
}

static enum ckpt_status
build_parameter(struct build *b, uint64_t k, uint64_t count)
{
	const struct ckpt_param *row =
		ckpt_param_row(ckpt_param_slot(k, count, NULL));
	struct ckpt_tensor *t = &b->parameters[k];
	uint64_t *dims = array(b, row->rank, sizeof *dims);
	char name[CKPT_PARAM_NAME];
	size_t n = ckpt_param_name(k, count, name);
	char *kept = ckpt_arena_strndup(b->arena, name, n);
	uint64_t elements = 1;
	double sum = 0.0;

	if (!dims || !kept)
		return ckpt_arena_status(b->arena);
	for (uint32_t i = 0; i < row->rank; i++) {
		dims[i] = ckpt_param_dim(row, i, &b->state->config);
		elements *= dims[i];
		sum += (double)dims[i];
	}
	*t = (struct ckpt_tensor){
		.name = { (const uint8_t *)kept, (uint32_t)n },
		.rank = row->rank,
		.dims = dims,
		.len = 8 * elements,
	};
	if (!make_values(b, t,
		    row->rank == 2 ? CKPT_SYNTH_EVEN : CKPT_SYNTH_ONE,
		    sqrt(6.0 / sum), b->draws))
		return ckpt_arena_status(b->arena);
	b->begins[k] = b->elements;
	b->elements += elements;
	if (row->rank == 2)
		b->draws += elements;
	return CKPT_OK;
}

/* ---- Moments and groups, both in bytewise order of names ---------------- */

static enum ckpt_status
build_moments(struct build *b, const uint32_t *order, uint32_t n)
{
	struct ckpt_tensor *first = array(b, n, sizeof *first);
	struct ckpt_tensor *second = array(b, n, sizeof *second);

	if (!first || !second)
		return ckpt_arena_status(b->arena);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t draw = b->draws + b->begins[order[i]];

		first[i] = second[i] = b->parameters[order[i]];
		if (!make_values(b, &first[i], CKPT_SYNTH_EVEN, 0x1p-7, draw) ||
			!make_values(b, &second[i], CKPT_SYNTH_ABOVE_ZERO,
				0x1p-14, draw + b->elements))
			return ckpt_arena_status(b->arena);
	}
	b->state->first = first;
	b->state->second = second;
	b->state->nmoments = n;
	return CKPT_OK;
}

static enum ckpt_status
build_groups(struct build *b, const uint32_t *order, uint32_t n)
{
	struct ckpt_state *state = b->state;
	struct ckpt_name *decay = array(b, n, sizeof *decay);
	struct ckpt_name *no_decay = array(b, n, sizeof *no_decay);

	if (!decay || !no_decay)
		return ckpt_arena_status(b->arena);
	for (uint32_t i = 0; i < n; i++) {
		const struct ckpt_tensor *t = &b->parameters[order[i]];

		if (t->rank == 1)
			no_decay[state->nno_decay++] = t->name;
		else
			decay[state->ndecay++] = t->name;
	}
	state->groups = true;
	state->decay = decay;
	state->no_decay = no_decay;
	return CKPT_OK;
}

/* ---- The whole ---------------------------------------------------------- */

static enum ckpt_status
build(struct build *b)
{
	const struct ckpt_synth *s = b->synth;
	uint64_t count;
	uint32_t *order, n;

	if (!ckpt_param_count(s->config.layers, &count))
		return CKPT_REJECTED;
	b->parameters = array(b, count, sizeof *b->parameters);
	b->begins = array(b, count, sizeof *b->begins);
	if (!b->parameters || !b->begins)
		return ckpt_arena_status(b->arena);
	CKPT_TRY(build_tokenizer(b));
	for (uint64_t k = 0; k < count; k++)
		CKPT_TRY(build_parameter(b, k, count));
	n = (uint32_t)count;
	order = ckpt_param_bytewise(b->arena, b->parameters, n);
	if (!order)
		return ckpt_arena_status(b->arena);
	b->state->parameters = b->parameters;
	b->state->nparameters = n;
	if (s->gain_groups)
		CKPT_TRY(build_groups(b, order, n));
	return s->step ? build_moments(b, order, n) : CKPT_OK;
}

enum ckpt_status
ckpt_synth_state(struct ckpt_arena *arena, const struct ckpt_synth *synth,
	struct ckpt_state *state)
{
	struct build b = { .arena = arena, .synth = synth, .state = state };

	*state = (struct ckpt_state){
		.config = synth->config,
		.adamw = synth->adamw,
		.selected_step = synth->step,
		.sampling_rng_state = synth->sampling_rng_state,
		.optimizer_step = synth->step,
	};
	state->config.vocabulary = ckpt_synth_vocabulary(synth);
	/* The check has seen that both exist. */
	if (!ckpt_beta_power(
		    synth->adamw.beta1, synth->step, &state->beta1_power) ||
		!ckpt_beta_power(
			synth->adamw.beta2, synth->step, &state->beta2_power))
		return CKPT_REJECTED;
	return build(&b);
}
