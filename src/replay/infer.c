/* SPDX-License-Identifier: MIT */
/*
 * The loop of generation. Every request is checked before the first forward
 * pass, in the order of the specification; a full context still gives one more
 * token, because the last row of its logits is there.
 */
#include "replay/infer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/try.h"
#include "model/rng.h"
#include "num/select.h"
#include "replay/trainer_parts.h"

/* What one run works with. */
struct work {
	double *logits; /* [room or, with a cache, prompt][vocabulary] */
	size_t room;    /* tokens that ids, logits and cache have room for */
	struct ckpt_candidate *candidates;
	struct ckpt_dims dims; /* of passes with a cache */
	struct ckpt_cache cache;
};

const char *
ckpt_infer_stop_name(enum ckpt_infer_stop stop)
{
	switch (stop) {
	case CKPT_INFER_EOS: return "eos";
	case CKPT_INFER_TOKENS: return "token-limit";
	case CKPT_INFER_CONTEXT: return "context";
	}
	return "";
}

/* ---- what is refused ---------------------------------------------------- */

/* False, always. */
__attribute__((format(printf, 3, 4))) static bool
refuse(struct ckpt_infer *f, const char *kind, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	f->refusal.kind = kind;
	ckpt_buf_clear(&f->refusal.text);
	ckpt_buf_puts(&f->refusal.text, text);
	return false;
}

static bool
accepts_prompt(struct ckpt_infer *f, const struct ckpt_trainer *t)
{
	uint64_t positions = t->state.config.positions;

	if (f->prompt_n == 0)
		return refuse(f, "EmptyPrompt", "the prompt has no tokens");
	if (f->prompt_n > positions)
		return refuse(f, "TooManyPositions",
			"the prompt has %zu tokens; the model has %" PRIu64
			" positions",
			f->prompt_n, positions);
	for (size_t i = 0; i < f->prompt_n; i++)
		if (f->prompt[i] >= t->dims.vocab)
			return refuse(f, "TokenOutOfRange",
				"prompt position %zu is token %" PRIu32
				"; the vocabulary has %zu",
				i, f->prompt[i], t->dims.vocab);
	return true;
}

static bool
accepts(struct ckpt_infer *f, const struct ckpt_trainer *t)
{
	if (!accepts_prompt(f, t))
		return false;
	if (f->has_eos && f->eos >= t->dims.vocab)
		return refuse(f, "EosOutOfRange",
			"the EOS id is %" PRIu64 "; the vocabulary has %zu",
			f->eos, t->dims.vocab);
	if (!f->sample)
		return true;
	if (!isfinite(f->temperature) || !(f->temperature > 0.0))
		return refuse(f, "InvalidTemperature",
			"the temperature %.17g is not finite and above 0",
			f->temperature);
	if (f->keep == 0 || f->keep > t->dims.vocab)
		return refuse(f, "InvalidTopK",
			"top-k %" PRIu64 " is not between 1 and the "
			"vocabulary, %zu",
			f->keep, t->dims.vocab);
	return true;
}

/* ---- the loop ----------------------------------------------------------- */

/* A larger cache, with what the old one holds. */
static enum ckpt_status
grow_cache(struct work *w, size_t room)
{
	struct ckpt_cache *old = &w->cache, new = { room, old->tokens, 0, 0 };
	size_t kd = ckpt_dims_kv_width(&w->dims), n;
	size_t bytes = old->tokens * kd * sizeof *new.k;

	if (!ckpt_cache_space(&w->dims, room, &n))
		return CKPT_ELIMIT;
	new.k = malloc((n ? n : 1) * sizeof *new.k);
	new.v = malloc((n ? n : 1) * sizeof *new.v);
	if (!new.k || !new.v) {
		free(new.k);
		free(new.v);
		return CKPT_ENOMEM;
	}
	for (size_t l = 0; bytes > 0 && l < w->dims.layers; l++) {
		memcpy(new.k + l *room *kd, old->k + l * old->room * kd, bytes);
		memcpy(new.v + l *room *kd, old->v + l * old->room * kd, bytes);
	}
	free(old->k);
	free(old->v);
	*old = new;
	return CKPT_OK;
}

/* Logits of so many rows; what they held is lost. */
static enum ckpt_status
make_logits(struct work *w, size_t rows, size_t vocab)
{
	size_t bytes;

	if (__builtin_mul_overflow(rows, vocab, &bytes) ||
		__builtin_mul_overflow(bytes, sizeof *w->logits, &bytes))
		return CKPT_ELIMIT;
	free(w->logits);
	w->logits = malloc(bytes);
	return w->logits ? CKPT_OK : CKPT_ENOMEM;
}

/* Room for one token more than there is. */
static enum ckpt_status
make_room(struct ckpt_infer *f, struct work *w, size_t vocab)
{
	size_t room = w->room ? w->room : f->prompt_n, bytes;
	uint32_t *ids;

	if (f->n < w->room)
		return CKPT_OK;
	/* guards: ids[n] and logits of n tokens are written below room. */
	if (__builtin_mul_overflow(room, 2, &room) ||
		__builtin_mul_overflow(room, sizeof *ids, &bytes))
		return CKPT_ELIMIT;
	ids = realloc(f->ids, bytes);
	if (!ids)
		return CKPT_ENOMEM;
	f->ids = ids;
	if (!f->cache)
		CKPT_TRY(make_logits(w, room, vocab));
	else
		CKPT_TRY(grow_cache(w, room));
	if (!w->logits)
		CKPT_TRY(make_logits(w, f->prompt_n, vocab));
	w->room = room;
	return CKPT_OK;
}

/* The token that the last row of logits gives. A draw counts only once all
 * checks have passed. */
static enum ckpt_status
choose(struct ckpt_infer *f, struct work *w, const double *row, size_t vocab,
	uint32_t *id)
{
	struct ckpt_rng rng = { f->rng_after };
	double sum;

	if (!f->sample) {
		*id = ckpt_select_greedy(row, vocab);
		return CKPT_OK;
	}
	if (!ckpt_select_sample(row, vocab, f->temperature, (size_t)f->keep,
		    ckpt_rng_unit(&rng), w->candidates, id, &sum)) {
		refuse(f, "ProbabilitySum",
			"the probabilities of new token %zu add up to %.17g",
			f->n - f->prompt_n, sum);
		return CKPT_REJECTED;
	}
	f->rng_after = rng.state;
	f->draws++;
	return CKPT_OK;
}

/* Logits of the tokens that have none yet; *row is the last one's. */
static enum ckpt_status
extend(struct ckpt_infer *f, struct ckpt_trainer *t, struct work *w,
	const double **row)
{
	size_t before = w->cache.tokens, n = f->n - before, space;
	struct ckpt_not_finite fault;

	if (!ckpt_cache_work(&w->dims, before, n, &space))
		return CKPT_ELIMIT;
	CKPT_TRY(ckpt_trainer_reserve_space(t, space));
	if (!ckpt_decoder_extend(&w->dims, t->parameters, f->ids + before, n,
		    &w->cache, t->space, w->logits, &fault))
		return ckpt_trainer_not_finite(&fault, &f->refusal);
	*row = w->logits + (n - 1) * w->dims.vocab;
	return CKPT_OK;
}

/* The last row of logits of all tokens. */
static enum ckpt_status
forward(struct ckpt_infer *f, struct ckpt_trainer *t, struct work *w,
	const double **row)
{
	const struct ckpt_batch batch = { 1, f->n, f->ids, NULL };

	if (f->cache)
		return extend(f, t, w, row);
	CKPT_TRY(ckpt_trainer_logits(t, &batch, w->logits, &f->refusal));
	*row = w->logits + (f->n - 1) * t->dims.vocab;
	return CKPT_OK;
}

static enum ckpt_status
generate(struct ckpt_infer *f, struct ckpt_trainer *t, struct work *w)
{
	size_t vocab = t->dims.vocab;

	for (;;) {
		const double *row = NULL;
		uint32_t id;

		CKPT_TRY(make_room(f, w, vocab));
		CKPT_TRY(forward(f, t, w, &row));
		if (f->prompt_logits && f->n == f->prompt_n)
			memcpy(f->prompt_logits, w->logits,
				f->n * vocab * sizeof *w->logits);
		CKPT_TRY(choose(f, w, row, vocab, &id));
		f->ids[f->n++] = id;
		if (f->has_eos && id == f->eos)
			f->stop = CKPT_INFER_EOS;
		else if (f->n - f->prompt_n == f->most)
			f->stop = CKPT_INFER_TOKENS;
		else if (f->n > t->state.config.positions)
			f->stop = CKPT_INFER_CONTEXT;
		else
			continue;
		return CKPT_OK;
	}
}

enum ckpt_status
ckpt_infer_run(struct ckpt_infer *f, struct ckpt_trainer *t)
{
	struct work w = { .dims = t->dims };
	enum ckpt_status status = CKPT_ENOMEM;

	w.dims.only_seen = true;
	f->rng_before = f->rng_after = t->state.sampling_rng_state;
	f->draws = 0;
	f->n = 0;
	f->stop = CKPT_INFER_TOKENS;
	if (!accepts(f, t))
		return CKPT_REJECTED;
	f->ids = malloc(f->prompt_n * sizeof *f->ids);
	if (f->sample)
		w.candidates = calloc(t->dims.vocab, sizeof *w.candidates);
	if (f->ids && (!f->sample || w.candidates)) {
		memcpy(f->ids, f->prompt, f->prompt_n * sizeof *f->ids);
		f->n = f->prompt_n;
		status = f->most == 0 ? CKPT_OK : generate(f, t, &w);
	}
	free(w.logits);
	free(w.cache.k);
	free(w.cache.v);
	free(w.candidates);
	return status;
}

void
ckpt_infer_release(struct ckpt_infer *f)
{
	free(f->ids);
	f->ids = NULL;
	ckpt_buf_release(&f->refusal.text);
}
