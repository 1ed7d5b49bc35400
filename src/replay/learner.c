/* SPDX-License-Identifier: MIT */
/*
 * One logical update of a training job (archives section 5). Only the final
 * gradients decide whether it is made: if one is not finite, everything but
 * the loss scale stays as it was, so that the same update can be tried again.
 */
#include "replay/learner.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/try.h"
#include "model/rng.h"
#include "num/select.h"
#include "num/zero.h"
#include "replay/trainer_parts.h"

/* ---- making ------------------------------------------------------------- */

enum ckpt_status
ckpt_learner_init(struct ckpt_learner *l, struct ckpt_trainer *trainer,
	const struct ckpt_training *training)
{
	*l = (struct ckpt_learner){ .trainer = trainer, .training = *training };
	if (!trainer)
		return CKPT_ENOMEM;
	trainer->dims.only_seen = true;
	if (!trainer->gradients)
		trainer->gradients =
			malloc(trainer->scalars * sizeof *trainer->gradients);
	if (!trainer->gradients)
		return CKPT_ENOMEM;
	memset(trainer->gradients, 0,
		trainer->scalars * sizeof *trainer->gradients);
	l->cleared = true;
	return CKPT_OK;
}

void
ckpt_learner_release(struct ckpt_learner *l)
{
	ckpt_trainer_free(l->trainer);
	free(l->logits);
	l->trainer = NULL;
	l->logits = NULL;
}

/* ---- what is next ------------------------------------------------------- */

uint64_t
ckpt_learner_document(const struct ckpt_learner *l, uint64_t i)
{
	const struct ckpt_training *t = &l->training;
	uint64_t left = t->documents - t->cursor;

	i %= t->documents;
	return t->order[i < left ? t->cursor + i : i - left];
}

bool
ckpt_learner_next_rate(const struct ckpt_learner *l, double *rate)
{
	const struct ckpt_schedule *s = &l->training.schedule;
	uint64_t step = l->trainer->state.optimizer_step;

	if (step >= s->updates)
		return false;
	*rate = ckpt_schedule_rate(s, step + 1);
	return true;
}

/* Cursor and traversals after the next update. */
static bool
advanced(const struct ckpt_training *t, uint64_t *cursor, uint64_t *traversals)
{
	uint64_t n = t->documents, rest = t->microbatches % n;
	uint64_t left = n - t->cursor, whole = t->microbatches / n;
	bool wraps = rest >= left;

	*cursor = wraps ? rest - left : t->cursor + rest;
	return ckpt_add_u64(t->traversals, whole, traversals) &&
	       ckpt_add_u64(*traversals, wraps ? 1 : 0, traversals);
}

/* ---- microbatches ------------------------------------------------------- */

static bool
settled(const struct ckpt_learner *l, bool cleared, struct ckpt_refusal *r)
{
	if (l->pending > 0) {
		ckpt_refuse(r, "Pending");
		SAY(r, "%llu of %llu microbatches of update %llu are pending",
			(unsigned long long)l->pending,
			(unsigned long long)l->training.microbatches,
			(unsigned long long)(l->trainer->state.optimizer_step +
					     1));
		return false;
	}
	if (!cleared) {
		ckpt_refuse(r, "Uncleared");
		SAY(r, "gradients are not cleared");
		return false;
	}
	return true;
}

bool
ckpt_learner_settled(const struct ckpt_learner *l, struct ckpt_refusal *r)
{
	const double *g = l->trainer->gradients;
	bool cleared = l->cleared;

	/* Whoever else has added something has not told us. */
	for (size_t i = 0; i < l->trainer->scalars; i++)
		cleared &= g[i] == 0.0;
	return settled(l, cleared, r);
}

/* Dropout words of rows with so many tokens together. */
static bool
words_of(const struct ckpt_learner *l, uint64_t tokens, uint64_t *words)
{
	return ckpt_decoder_words(&l->trainer->dims, 1, words) &&
	       ckpt_mul_u64(*words, tokens, words);
}

static bool
refuse_count(struct ckpt_refusal *r, const char *what)
{
	ckpt_refuse(r, "CounterOverflow");
	SAY(r, "the %s would pass 2^64 - 1", what);
	return false;
}

static bool
can_begin(
	const struct ckpt_learner *l, uint64_t targets, struct ckpt_refusal *r)
{
	const struct ckpt_training *t = &l->training;
	uint64_t words, cursor, traversals;

	if (!settled(l, l->cleared, r))
		return false;
	if (l->trainer->state.optimizer_step >= t->schedule.updates) {
		ckpt_refuse(r, "NoUpdatesLeft");
		SAY(r, "all %llu updates of the plan are made",
			(unsigned long long)t->schedule.updates);
		return false;
	}
	if (!words_of(l, targets, &words) ||
		!ckpt_add_u64(t->dropout_counter, words, &words))
		return refuse_count(r, "dropout counter");
	if (!advanced(t, &cursor, &traversals))
		return refuse_count(r, "count of traversals");
	return true;
}

enum ckpt_status
ckpt_learner_begin(
	struct ckpt_learner *l, uint64_t targets, struct ckpt_refusal *r)
{
	if (!can_begin(l, targets, r))
		return CKPT_REJECTED;
	l->targets = targets;
	l->words = 0;
	l->total = 0.0;
	return CKPT_OK;
}

/* Room for logits of so many rows. */
static enum ckpt_status
reserve_logits(struct ckpt_learner *l, size_t rows)
{
	size_t n, bytes;

	if (__builtin_mul_overflow(rows, l->trainer->dims.vocab, &n) ||
		__builtin_mul_overflow(n, sizeof *l->logits, &bytes))
		return CKPT_ELIMIT;
	if (n <= l->logits_n)
		return CKPT_OK;
	free(l->logits);
	l->logits_n = 0;
	l->logits = malloc(bytes);
	if (!l->logits)
		return CKPT_ENOMEM;
	l->logits_n = n;
	return CKPT_OK;
}

enum ckpt_status
ckpt_learner_add(struct ckpt_learner *l, const struct ckpt_batch *row,
	struct ckpt_refusal *r)
{
	const struct ckpt_training *t = &l->training;
	struct ckpt_microbatch microbatch = {
		.batch = *row,
		.dropout = { t->dropout_probability,
			ckpt_dropout_key(t->dropout_seed),
			t->dropout_counter + l->words },
		.recompute = t->recompute_blocks,
		.factor = t->scaler.scale / (double)l->targets,
	};
	struct ckpt_not_finite fault;
	uint64_t words;

	assert(row->batch == 1 && row->targets && l->pending < t->microbatches);
	/* guards: begin has seen that all words have numbers. */
	if (!words_of(l, row->tokens, &words))
		return CKPT_ELIMIT;
	CKPT_TRY(reserve_logits(l, row->tokens));
	CKPT_TRY(ckpt_trainer_reserve(l->trainer, 1, row->tokens,
		t->recompute_blocks ? CKPT_PASS_RECOMPUTED
				    : CKPT_PASS_BACKWARD));
	if (!ckpt_decoder_accumulate(&l->trainer->dims, l->trainer->parameters,
		    &microbatch, l->trainer->space, l->logits,
		    l->trainer->gradients, &l->total, &fault))
		return ckpt_trainer_not_finite(&fault, r);
	l->cleared = false;
	l->pending++;
	l->words += words;
	return CKPT_OK;
}

/* ---- the update --------------------------------------------------------- */

static void
clear(struct ckpt_learner *l)
{
	memset(l->trainer->gradients, 0,
		l->trainer->scalars * sizeof *l->trainer->gradients);
	l->cleared = true;
	l->pending = 0;
}

static enum ckpt_status
skip(struct ckpt_learner *l, struct ckpt_attempt *attempt,
	struct ckpt_refusal *r)
{
	if (!ckpt_scaler_retreat(&l->training.scaler)) {
		ckpt_refuse(r, "LossScale");
		SAY(r,
			"the gradients of update %llu overflow at the "
			"smallest loss scale, %.17g",
			(unsigned long long)attempt->step, attempt->scale);
		return CKPT_REJECTED;
	}
	clear(l);
	attempt->skipped = true;
	attempt->next_scale = l->training.scaler.scale;
	return CKPT_OK;
}

/* One token from the new weights, for whoever watches; only the sampling
 * stream moves on. */
static enum ckpt_status
monitor(struct ckpt_learner *l, uint32_t *token, struct ckpt_refusal *r)
{
	static const uint32_t prompt[] = { 0, 99 };
	enum { PROMPT = 2, KEEP = 8 };
	const struct ckpt_batch batch = { 1, PROMPT, prompt, NULL };
	struct ckpt_trainer *t = l->trainer;
	size_t V = t->dims.vocab;
	struct ckpt_rng rng = { t->state.sampling_rng_state };
	struct ckpt_candidate *space;
	double sum;
	bool good;

	CKPT_TRY(reserve_logits(l, PROMPT));
	CKPT_TRY(ckpt_trainer_logits(t, &batch, l->logits, r));
	space = calloc(V, sizeof *space);
	if (!space)
		return CKPT_ENOMEM;
	good = ckpt_select_sample(l->logits + (PROMPT - 1) * V, V, 1.0, KEEP,
		ckpt_rng_unit(&rng), space, token, &sum);
	free(space);
	if (!good) {
		ckpt_refuse(r, "ProbabilitySum");
		SAY(r,
			"the probabilities of the monitoring token add up to "
			"%.17g",
			sum);
		return CKPT_REJECTED;
	}
	t->state.sampling_rng_state = rng.state;
	return CKPT_OK;
}

static enum ckpt_status
make(struct ckpt_learner *l, const struct ckpt_norm_sum *norm,
	struct ckpt_attempt *attempt, struct ckpt_refusal *r)
{
	struct ckpt_training *t = &l->training;
	struct ckpt_state *s = &l->trainer->state;
	struct ckpt_clip clip;
	bool counted;

	if (!ckpt_trainer_clip(l->trainer, norm, t->clip, &clip, r))
		return CKPT_REJECTED;
	attempt->clipped = clip.needed;
	attempt->factor = clip.factor;
	attempt->rate = ckpt_schedule_rate(&t->schedule, attempt->step);
	CKPT_TRY(ckpt_trainer_apply(l->trainer, attempt->rate,
		s->beta1_power * s->adamw.beta1,
		s->beta2_power * s->adamw.beta2, r));
	clear(l);
	counted =
		advanced(t, &t->cursor, &t->traversals) &&
		ckpt_add_u64(t->dropout_counter, l->words, &t->dropout_counter);
	/* It could when the update began. */
	assert(counted);
	(void)counted;
	ckpt_scaler_succeed(&t->scaler);
	attempt->next_scale = t->scaler.scale;
	return monitor(l, &attempt->monitored, r);
}

enum ckpt_status
ckpt_learner_finish(struct ckpt_learner *l, struct ckpt_attempt *attempt,
	struct ckpt_refusal *r)
{
	double scale = l->training.scaler.scale;
	struct ckpt_norm_sum norm = { 0.0, 1.0 };

	assert(l->pending == l->training.microbatches);
	*attempt = (struct ckpt_attempt){
		.step = l->trainer->state.optimizer_step + 1,
		.scale = scale,
		.targets = l->targets,
		.mean_loss = ckpt_z(l->total / (double)l->targets),
	};
	if (!isfinite(attempt->mean_loss)) {
		ckpt_refuse(r, "NonFinite");
		SAY(r, "the mean loss of update %llu is not finite",
			(unsigned long long)attempt->step);
		return CKPT_REJECTED;
	}
	return ckpt_norm_unscale(
		       &norm, l->trainer->gradients, l->trainer->scalars, scale)
		       ? make(l, &norm, attempt, r)
		       : skip(l, attempt, r);
}

enum ckpt_status
ckpt_learner_update(struct ckpt_learner *l, const struct ckpt_batch *rows,
	struct ckpt_attempt *attempt, struct ckpt_refusal *r)
{
	uint64_t n = l->training.microbatches, targets = 0;

	for (uint64_t i = 0; i < n; i++)
		if (!ckpt_add_u64(targets, rows[i].tokens, &targets))
			return CKPT_ELIMIT;
	CKPT_TRY(ckpt_learner_begin(l, targets, r));
	for (uint64_t i = 0; i < n; i++)
		CKPT_TRY(ckpt_learner_add(l, &rows[i], r));
	return ckpt_learner_finish(l, attempt, r);
}
