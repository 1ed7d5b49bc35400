/* SPDX-License-Identifier: MIT */
/*
 * The training fixture. Three SplitMix64 streams that know nothing of each
 * other: initial weights, order of the windows, sampling. What training needs
 * beyond a checkpoint (documents, order, schedule, clipping, selection) is all
 * here, and none of it can be found in the file that comes of it.
 */
#include "replay/fixture.h"

#include <string.h>

#include "base/try.h"
#include "model/rng.h"
#include "model/synth.h"
#include "num/loss.h"
#include "sink/save.h"

enum {
	VOCABULARY = 5,
	CONTEXT = 2,
	UPDATES = 8,
	UPDATE_ROWS = 2,
	MEASURE_ROWS = 4,
	MEASURE_EVERY = 2,
	SHUFFLE_SEED = 33,
	SAMPLING_SEED = 35,
	MOST_WINDOWS = 32,
};

static const double rates[UPDATES] = { 0.04, 0.04, 0.025, 0.025, 0.015, 0.015,
	0.008, 0.008 };
static const double clip_norm = 0.35;

static const struct ckpt_synth start = {
	.config = { VOCABULARY, 4, 2, 4, 1, 2, 10000.0, 1e-6, 0, 0 },
	.adamw = { 0.04, 0.9, 0.999, 1e-8, 0.01 },
	.tokenizer = CKPT_LITERAL,
	.gain_groups = true,
	.seed = 33,
};

/* ---- documents ---------------------------------------------------------- */

struct document {
	size_t n;
	uint32_t tokens[12];
};

enum { DOCUMENTS = 2 };

static const struct document train[DOCUMENTS] = {
	{ 12, { 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1 } },
	{ 12, { 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3 } },
};
static const struct document validation[DOCUMENTS] = {
	{ 9, { 0, 1, 2, 3, 4, 0, 1, 2, 3 } },
	{ 9, { 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
};

struct windows {
	const struct document *documents;
	struct ckpt_window list[MOST_WINDOWS];
	size_t n;
};

/* One at every start that leaves a target for each token. */
static void
cut(struct windows *w, const struct document *documents)
{
	w->documents = documents;
	w->n = 0;
	for (unsigned d = 0; d < DOCUMENTS; d++)
		for (unsigned s = 0; s + CONTEXT < documents[d].n; s++)
			w->list[w->n++] = (struct ckpt_window){ d, s };
}

/* Even in [0, n): draws below 2^64 mod n are thrown away. */
static uint64_t
below(struct ckpt_rng *rng, uint64_t n)
{
	uint64_t least = (UINT64_MAX - n + 1) % n, x;

	do
		x = ckpt_rng_draw(rng);
	while (x < least);
	return x % n;
}

/* Fisher and Yates, from the back. */
static void
shuffle(struct windows *w)
{
	struct ckpt_rng rng = { SHUFFLE_SEED };

	for (size_t i = w->n - 1; i > 0; i--) {
		size_t k = (size_t)below(&rng, i + 1);
		struct ckpt_window kept = w->list[i];

		w->list[i] = w->list[k];
		w->list[k] = kept;
	}
}

/* A batch and the arrays that it points into. */
struct batch {
	struct ckpt_batch batch;
	uint32_t ids[MEASURE_ROWS * CONTEXT], targets[MEASURE_ROWS * CONTEXT];
};

/* Windows first, first + 1, ..., rows of them. */
static void
gather(struct batch *b, const struct windows *w, size_t first, size_t rows)
{
	for (size_t r = 0; r < rows; r++) {
		const struct ckpt_window *window = &w->list[first + r];
		const uint32_t *tokens =
			w->documents[window->document].tokens + window->start;

		for (size_t t = 0; t < CONTEXT; t++) {
			b->ids[r * CONTEXT + t] = tokens[t];
			b->targets[r * CONTEXT + t] = tokens[t + 1];
		}
	}
	b->batch = (struct ckpt_batch){ rows, CONTEXT, b->ids, b->targets };
}

/* ---- training ----------------------------------------------------------- */

struct training {
	const struct ckpt_format *format;
	const struct ckpt_fixture_watch *watch;
	struct windows updates, validation;
	struct ckpt_trainer *trainer;
	double best;
	struct ckpt_buf *bytes; /* of the best so far */
	struct ckpt_value *label;
	struct ckpt_refusal refusal;
};

/* The mean over targets, not over batches, which differ in size. */
static enum ckpt_status
validate(struct training *t, double *mean)
{
	const struct windows *w = &t->validation;
	double logits[MEASURE_ROWS * CONTEXT * VOCABULARY], total = 0.0;
	size_t targets = 0;

	for (size_t i = 0; i < w->n; i += MEASURE_ROWS) {
		size_t rows = w->n - i < MEASURE_ROWS ? w->n - i : MEASURE_ROWS;
		size_t n = rows * CONTEXT;
		struct batch b;
		double loss;

		gather(&b, w, i, rows);
		CKPT_TRY(ckpt_trainer_logits(
			t->trainer, &b.batch, logits, &t->refusal));
		loss = ckpt_loss_forward(
			logits, logits, b.targets, n, VOCABULARY);
		total = total + loss * (double)n;
		targets += n;
	}
	*mean = total / (double)targets;
	return CKPT_OK;
}

/* A later step must be strictly better than the best one so far. */
static enum ckpt_status
measure(struct training *t, unsigned step)
{
	double mean;
	bool selected;

	CKPT_TRY(validate(t, &mean));
	selected = step == 0 || mean < t->best;
	if (t->watch && t->watch->measured)
		t->watch->measured(
			t->watch->ctx, step, mean, selected, t->trainer);
	if (!selected)
		return CKPT_OK;
	t->best = mean;
	ckpt_buf_clear(t->bytes);
	return ckpt_encode(t->bytes, t->format, &t->trainer->state, t->label);
}

static enum ckpt_status
update(struct training *t, unsigned step)
{
	double logits[UPDATE_ROWS * CONTEXT * VOCABULARY];
	struct ckpt_update made = { .clip = clip_norm };
	size_t batches = t->updates.n / UPDATE_ROWS;
	struct batch b;

	gather(&b, &t->updates, (step - 1) % batches * UPDATE_ROWS,
		UPDATE_ROWS);
	CKPT_TRY(ckpt_trainer_update(t->trainer, &b.batch, rates[step - 1],
		logits, &made, &t->refusal));
	if (t->watch && t->watch->updated)
		t->watch->updated(t->watch->ctx, step, &made, t->trainer);
	return step % MEASURE_EVERY == 0 ? measure(t, step) : CKPT_OK;
}

static enum ckpt_status
run(struct training *t)
{
	cut(&t->updates, train);
	cut(&t->validation, validation);
	shuffle(&t->updates);
	if (t->watch && t->watch->shuffled)
		t->watch->shuffled(
			t->watch->ctx, t->updates.list, t->updates.n);
	CKPT_TRY(measure(t, 0));
	for (unsigned step = 1; step <= UPDATES; step++)
		CKPT_TRY(update(t, step));
	return CKPT_OK;
}

enum ckpt_status
ckpt_fixture_selected_step8(const struct ckpt_format *format,
	const struct ckpt_fixture_watch *watch, struct ckpt_buf *bytes,
	struct ckpt_value *label)
{
	static const uint8_t digits[VOCABULARY] = "01234";
	static const uint64_t one = 1;
	struct training t = {
		.format = format, .watch = watch, .bytes = bytes, .label = label
	};
	struct ckpt_tensor pieces[VOCABULARY];
	struct ckpt_rng sampling = { SAMPLING_SEED };
	struct ckpt_state state;
	struct ckpt_arena arena;
	enum ckpt_status status;

	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	status = ckpt_synth_state(&arena, &start, &state);
	for (size_t i = 0; i < VOCABULARY; i++)
		pieces[i] = (struct ckpt_tensor){
			.rank = 1, .dims = &one, .len = 1, .data = &digits[i]
		};
	/* One sample was drawn before the capture. */
	(void)ckpt_rng_draw(&sampling);
	if (status == CKPT_OK) {
		state.tokenizer.pieces = pieces;
		state.sampling_rng_state = sampling.state;
		t.trainer = ckpt_trainer_start(&state);
		status = t.trainer ? run(&t) : CKPT_ENOMEM;
	}
	ckpt_trainer_free(t.trainer);
	ckpt_buf_release(&t.refusal.text);
	ckpt_arena_release(&arena);
	return status;
}
