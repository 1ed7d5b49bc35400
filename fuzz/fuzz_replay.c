/* SPDX-License-Identifier: MIT */
/*
 * Targets: replay/step*, replay/trainer*, num/ all, sink/save, model/synth*.
 *
 * A tiny model is updated once, in both branches. It is the one in the bytes,
 * where they are a file, and otherwise one that the bytes describe: settings,
 * then values for single elements. What is refused is refused with a reason;
 * whatever else comes out is finite, equal in both branches, and a file that
 * is valid.
 */
#undef NDEBUG
#include <assert.h>
#include <ckpt_train.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/target.h"
#include "base/bytes.h"
#include "format/format.h"
#include "model/synth.h"
#include "replay/step.h"
#include "sink/save.h"

/* An update of the largest takes less than a millisecond. */
enum { FEW = 32, SCALARS = 5000, ROWS = 2, TOKENS = 4, IDS = ROWS * TOKENS };

static const struct ckpt_options options = { .max_memory = CKPT_FUZZ_MEMORY };

/* ---- what the bytes ask for --------------------------------------------- */

/* Bytes that are still to be taken; zeros behind them. */
struct wishes {
	const uint8_t *p;
	size_t n;
};

static uint64_t
take(struct wishes *w, size_t bytes)
{
	uint8_t b[8] = { 0 };
	size_t n = bytes < w->n ? bytes : w->n;

	if (n)
		memcpy(b, w->p, n);
	w->p += n;
	w->n -= n;
	return ckpt_load_u64(b);
}

static uint64_t
take_below(struct wishes *w, uint64_t n)
{
	return take(w, 1) % n;
}

/* One of those that matter, or any. */
static double
take_real(struct wishes *w)
{
	static const double reals[] = { 0.0, 1.0, 0.5, 1e-3, 1e-8, 0.9, 0.999,
		10000.0, 5e-324, 1.7976931348623157e308, -0.0, -1.0, 1e154 };
	enum { REALS = sizeof reals / sizeof reals[0] };
	uint64_t pick = take(w, 1), bits;
	double x;

	if (pick < REALS)
		return reals[pick];
	bits = take(w, 8);
	memcpy(&x, &bits, sizeof x);
	return x;
}

static void
take_settings(struct wishes *w, struct ckpt_synth *s)
{
	*s = (struct ckpt_synth){ .sampling_rng_state = 1 };
	s->config.vocabulary = take_below(w, 24);
	s->config.heads = 1 + take_below(w, 3);
	s->config.width = 2 * s->config.heads * (1 + take_below(w, 3));
	s->config.feed_forward_width = 1 + take_below(w, 9);
	s->config.layers = take_below(w, 3);
	s->config.positions = 1 + take_below(w, 6);
	s->config.rope_base = take_real(w);
	s->config.rms_epsilon = take_real(w);
	s->adamw.learning_rate = take_real(w);
	s->adamw.beta1 = take_real(w);
	s->adamw.beta2 = take_real(w);
	s->adamw.epsilon = take_real(w);
	s->adamw.weight_decay = take_real(w);
	s->step = take(w, 2);
	s->gain_groups = take_below(w, 2);
	s->seed = take_below(w, 4);
}

static void
take_batch(struct wishes *w, uint64_t vocabulary, struct ckpt_batch *batch,
	uint32_t ids[IDS], uint32_t targets[IDS])
{
	/* Now and then one that there is not. */
	uint64_t below = take_below(w, 16) ? vocabulary : vocabulary + 1;

	*batch = (struct ckpt_batch){ take_below(w, ROWS + 1),
		take_below(w, TOKENS + 1), ids, targets };
	for (size_t i = 0; i < IDS; i++) {
		ids[i] = (uint32_t)(take(w, 1) % (below ? below : 1));
		targets[i] = (uint32_t)(take(w, 1) % (below ? below : 1));
	}
}

/* ---- the model ---------------------------------------------------------- */

static bool
is_small(const struct ckpt_checkpoint *c)
{
	const struct ckpt_state *s = &c->state;
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nparameters; i++)
		n += s->parameters[i].len / 8;
	return n <= SCALARS && s->config.layers <= FEW &&
	       s->config.vocabulary <= 10 * FEW && s->config.heads <= FEW;
}

static struct ckpt_checkpoint *
read_bytes(const void *p, size_t n)
{
	struct ckpt_checkpoint *c;
	enum ckpt_status status =
		ckpt_checkpoint_from_bytes(p, n, &options, &c);

	assert(status != CKPT_ENOMEM && status != CKPT_EIO);
	assert((status == CKPT_OK) == (c && c->loaded));
	if (status == CKPT_OK && is_small(c))
		return c;
	ckpt_checkpoint_free(c);
	return NULL;
}

/* Any element of any tensor, any value: what it is read as is for the reader
 * to say. */
static void
edit_values(struct wishes *w, struct ckpt_state *s)
{
	while (w->n > 0) {
		uint64_t where = take(w, 2);
		uint32_t i = (uint32_t)(where % s->nparameters);
		uint64_t role = s->nmoments ? take_below(w, 3) : 0;
		const struct ckpt_tensor *t = role == 0   ? &s->parameters[i]
					      : role == 1 ? &s->first[i]
							  : &s->second[i];
		double x = take_real(w);
		uint8_t *p = (uint8_t *)(uintptr_t)t->data;

		if (t->len >= 8)
			memcpy(p + where / 7 % (t->len / 8) * 8, &x, 8);
	}
}

/* NULL where no file says what the bytes ask for. */
static struct ckpt_checkpoint *
make(struct wishes *w, const struct ckpt_synth *synth)
{
	struct ckpt_arena arena;
	struct ckpt_state state;
	struct ckpt_buf bytes = { 0 };
	struct ckpt_checkpoint *c = NULL;
	uint8_t *edited;
	size_t n;

	ckpt_arena_init(&arena, CKPT_FUZZ_MEMORY);
	assert(ckpt_synth_state(&arena, synth, &state) == CKPT_OK);
	assert(ckpt_encode(&bytes, ckpt_format_at(0), &state, NULL) == CKPT_OK);
	ckpt_arena_release(&arena);
	c = read_bytes(bytes.p, bytes.n);
	assert(c);
	ckpt_buf_release(&bytes);
	edit_values(w, &c->state);
	assert(ckpt_checkpoint_encode(c, &edited, &n) == CKPT_OK);
	ckpt_checkpoint_free(c);
	c = read_bytes(edited, n);
	free(edited);
	return c;
}

/* ---- the update --------------------------------------------------------- */

/* Forward alone, which models without an optimizer can do too. */
static void
try_logits(const struct ckpt_checkpoint *c, const struct ckpt_batch *batch)
{
	struct ckpt_tokens tokens = { batch->batch, batch->tokens, batch->ids,
		NULL };
	size_t n = batch->batch * batch->tokens *
		   (size_t)c->state.config.vocabulary;
	double *logits = calloc(n ? n : 1, sizeof *logits);
	struct ckpt_model *model;
	enum ckpt_status status = ckpt_checkpoint_restore_model(c, &model);

	assert(logits && status == CKPT_OK);
	status = ckpt_model_logits(model, &tokens, logits);
	assert(status == CKPT_OK || status == CKPT_REJECTED);
	for (size_t i = 0; status == CKPT_OK && i < n; i++)
		assert(isfinite(logits[i]));
	ckpt_model_free(model);
	free(logits);
}

static void
check_updated(const struct ckpt_step *step)
{
	struct ckpt_source *source = ckpt_spool_source(&step->updated);
	struct ckpt_run *run = ckpt_run_new(&options);

	assert(source && run);
	assert(ckpt_verify(run, source) == CKPT_VALID);
	ckpt_source_close(source);
	ckpt_run_free(run);
}

/* Takes the checkpoint. */
static void
try_update(
	struct ckpt_checkpoint *c, const struct ckpt_batch *batch, double rate)
{
	struct ckpt_step step = {
		.batch = batch, .rate = rate, .max_memory = CKPT_FUZZ_MEMORY
	};
	uint64_t before = c->state.optimizer_step;
	enum ckpt_status status = ckpt_step_run(&step, c);

	assert(status == CKPT_OK || status == CKPT_REJECTED);
	if (status == CKPT_REJECTED) {
		assert(step.refusal.kind && step.refusal.text.n > 0);
	} else {
		assert(step.loads_again && ckpt_step_equal(&step));
		assert(isfinite(step.branch[0].loss));
		assert(step.step_after == before + 1);
		check_updated(&step);
	}
	ckpt_step_release(&step);
}

void
ckpt_fuzz_replay(const uint8_t *data, size_t size)
{
	struct wishes w = { data, size };
	uint32_t ids[IDS], targets[IDS];
	struct ckpt_buf why = { 0 };
	struct ckpt_checkpoint *c;
	struct ckpt_batch batch;
	struct ckpt_synth synth;
	double rate = 1e-3;

	if (ckpt_format_sniff(data, size)) {
		c = read_bytes(data, size);
		/* The last bytes are values: any will do. */
		w.p = data + size - (size < 24 ? size : 24);
		w.n = size < 24 ? size : 24;
		if (c)
			take_batch(&w, c->state.config.vocabulary, &batch, ids,
				targets);
	} else {
		take_settings(&w, &synth);
		take_batch(&w, synth.config.vocabulary, &batch, ids, targets);
		rate = take_real(&w);
		c = ckpt_synth_check(&synth, &why) ? make(&w, &synth) : NULL;
	}
	if (c)
		try_logits(c, &batch);
	if (c && c->run->format == ckpt_format_at(0))
		try_update(c, &batch, rate);
	else
		ckpt_checkpoint_free(c);
	ckpt_buf_release(&why);
}
