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

/* What one run works with. */
struct work {
	double *logits; /* [room][vocabulary] */
	size_t room;    /* tokens that ids and logits have room for */
	struct ckpt_candidate *candidates;
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

/* Room for one token more than there is. */
static enum ckpt_status
make_room(struct ckpt_infer *f, struct work *w, size_t vocab)
{
	size_t room = w->room ? w->room : f->prompt_n, bytes;
	uint32_t *ids;
	double *logits;

	if (f->n < w->room)
		return CKPT_OK;
	/* guards: ids[n] and logits of n tokens are written below room. */
	if (__builtin_mul_overflow(room, 2, &room) ||
		__builtin_mul_overflow(room, vocab, &bytes) ||
		__builtin_mul_overflow(bytes, sizeof *logits, &bytes))
		return CKPT_ELIMIT;
	ids = realloc(f->ids, room * sizeof *ids);
	if (!ids)
		return CKPT_ENOMEM;
	f->ids = ids;
	free(w->logits);
	w->logits = malloc(bytes);
	if (!w->logits)
		return CKPT_ENOMEM;
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

static enum ckpt_status
generate(struct ckpt_infer *f, struct ckpt_trainer *t, struct work *w)
{
	size_t vocab = t->dims.vocab;

	for (;;) {
		struct ckpt_batch batch = { .batch = 1, .tokens = f->n };
		uint32_t id;

		CKPT_TRY(make_room(f, w, vocab));
		batch.ids = f->ids;
		CKPT_TRY(
			ckpt_trainer_logits(t, &batch, w->logits, &f->refusal));
		CKPT_TRY(choose(
			f, w, w->logits + (f->n - 1) * vocab, vocab, &id));
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
	struct work w = { 0 };
	enum ckpt_status status = CKPT_ENOMEM;

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
