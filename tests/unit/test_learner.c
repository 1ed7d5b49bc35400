/* SPDX-License-Identifier: MIT */
/*
 * The published job's updates against every value that is published of them,
 * also when a new learner takes over after the second; what an overflow does
 * and does not touch; and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/team.h"
#include "model/synth.h"
#include "num/clip.h"
#include "replay/infer.h"
#include "replay/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the job ------------------------------------------------------------ */

static const uint64_t order[] = { 2, 0, 1 };

/* the, and the, thing: encoded as documents. */
static const uint32_t documents[][5] = { { 0, 259, 1 }, { 0, 264, 34, 259, 1 },
	{ 0, 258, 261, 1 } };
static const size_t positions[] = { 2, 4, 3 };

static const struct ckpt_synth model = {
	.config = { 266, 4, 1, 8, 3, 8, 10000.0, 1e-6, 1, 8 },
	.adamw = { 0.001, 0.9, 0.999, 1e-8, 0.01 },
	.tokenizer = CKPT_BYTE_BPE,
	.merges = 8,
	.gain_groups = true,
	.seed = 39,
	.sampling_rng_state = UINT64_MAX - 3,
};

static const struct ckpt_training job = {
	.schedule = { 0.001, 0.0001, 4, 1 },
	.clip = 1.0,
	.recompute_blocks = true,
	.microbatches = 2,
	.order = order,
	.documents = 3,
	.dropout_probability = 0.25,
	.dropout_seed = UINT64_MAX - 2,
	.scaler = { 8.0, 1.0, 32.0, 3, 0 },
};

static struct ckpt_arena arena;
static struct ckpt_state start;
static struct ckpt_refusal refusal;

static int
set_up(void **state)
{
	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	return ckpt_synth_state(&arena, &model, &start) == CKPT_OK ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	ckpt_arena_release(&arena);
	ckpt_buf_release(&refusal.text);
	return 0;
}

static struct ckpt_learner
learner_of(const struct ckpt_state *state, const struct ckpt_training *training)
{
	struct ckpt_learner l;

	assert_int_equal(
		ckpt_learner_init(&l, ckpt_trainer_start(state), training),
		CKPT_OK);
	return l;
}

static void
rows_of(const struct ckpt_learner *l, struct ckpt_batch rows[2])
{
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t d = ckpt_learner_document(l, i);

		rows[i] = (struct ckpt_batch){ 1, positions[d], documents[d],
			documents[d] + 1 };
	}
}

static enum ckpt_status
attempt(struct ckpt_learner *l, struct ckpt_attempt *made)
{
	struct ckpt_batch rows[2];

	rows_of(l, rows);
	return ckpt_learner_update(l, rows, made, &refusal);
}

static uint64_t
parameters(const struct ckpt_learner *l)
{
	return ckpt_trainer_parameters_fingerprint(l->trainer);
}

/* ---- what is published -------------------------------------------------- */

struct record {
	uint64_t documents[2], targets;
	double rate;
	uint64_t cursor, traversals, counter;
	double scale;
	uint64_t progress, sampling, loss;
	uint32_t monitored;
	uint64_t parameters;
};

static const struct record published[] = {
	{ { 2, 0 }, 5, 0.001, 2, 0, 120, 8, 1, 11400714819323198481u,
		0x4016733fdb81cd16, 170, 0x19edceca98936abc },
	{ { 1, 2 }, 7, 0.0007750000000000001, 1, 1, 288, 8, 2,
		4354685564936845350u, 0x40164ef688f8f350, 186,
		0x96cb922036c5974b },
	{ { 0, 1 }, 6, 0.0003250000000000001, 0, 2, 432, 16, 0,
		15755400384260043835u, 0x401691a313f23380, 64,
		0x372cef10bf0db13b },
	{ { 2, 0 }, 5, 0.0001, 2, 2, 552, 16, 1, 8709371129873690704u,
		0x40168eda63d57286, 23, 0x975112740e3cefdf },
};

static void
follow(struct ckpt_learner *l, const struct record *records, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct record *want = &records[i];
		const struct ckpt_training *t = &l->training;
		struct ckpt_attempt made;
		double rate;

		for (uint64_t k = 0; k < 2; k++)
			assert_int_equal(ckpt_learner_document(l, k),
				want->documents[k]);
		assert_true(ckpt_learner_next_rate(l, &rate));
		assert_true(rate == want->rate);
		assert_int_equal(attempt(l, &made), CKPT_OK);
		assert_false(made.skipped);
		assert_int_equal(made.step, l->trainer->state.optimizer_step);
		assert_true(made.rate == want->rate);
		assert_int_equal(made.targets, want->targets);
		assert_int_equal(ckpt_f64_bits(made.mean_loss), want->loss);
		assert_int_equal(made.monitored, want->monitored);
		assert_true(made.next_scale == want->scale);
		assert_int_equal(t->cursor, want->cursor);
		assert_int_equal(t->traversals, want->traversals);
		assert_int_equal(t->dropout_counter, want->counter);
		assert_true(t->scaler.scale == want->scale);
		assert_int_equal(t->scaler.progress, want->progress);
		assert_int_equal(
			l->trainer->state.sampling_rng_state, want->sampling);
		assert_int_equal(parameters(l), want->parameters);
		assert_true(ckpt_learner_settled(l, &refusal));
	}
}

/* The bits of "ab" -> "jj5", with and without a cache. */
static void
generates_jj5(struct ckpt_trainer *t)
{
	static const uint32_t prompt[] = { 0, 99, 100 };
	double logits[2][3 * 266];

	for (int cache = 0; cache < 2; cache++) {
		struct ckpt_infer f = { .prompt = prompt,
			.prompt_n = 3,
			.most = 3,
			.has_eos = true,
			.eos = 1,
			.cache = cache,
			.prompt_logits = logits[cache] };

		assert_int_equal(ckpt_infer_run(&f, t), CKPT_OK);
		assert_int_equal(f.n, 6);
		assert_int_equal(f.ids[3], 108);
		assert_int_equal(f.ids[4], 108);
		assert_int_equal(f.ids[5], 55);
		ckpt_infer_release(&f);
	}
	assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
}

static void
test_published_job(void **state)
{
	struct ckpt_learner l = learner_of(&start, &job);
	const struct ckpt_state *s = &l.trainer->state;
	struct ckpt_attempt made;
	double rate;

	(void)state;
	assert_int_equal(parameters(&l), 0x39ce25a055a6f7f4);
	follow(&l, published, 2);
	assert_int_equal(ckpt_f64_bits(s->beta1_power), 0x3fe9eb851eb851ec);
	assert_int_equal(ckpt_f64_bits(s->beta2_power), 0x3fefef9fcb0c026d);
	generates_jj5(l.trainer);
	follow(&l, published + 2, 2);
	assert_int_equal(ckpt_f64_bits(s->beta1_power), 0x3fe4fec56d5cfaae);
	assert_int_equal(ckpt_f64_bits(s->beta2_power), 0x3fefdf47f76e36e7);
	generates_jj5(l.trainer);
	/* There is no fifth. */
	assert_false(ckpt_learner_next_rate(&l, &rate));
	assert_int_equal(attempt(&l, &made), CKPT_REJECTED);
	assert_string_equal(refusal.kind, "NoUpdatesLeft");
	assert_int_equal(parameters(&l), published[3].parameters);
	ckpt_learner_release(&l);
}

/* How blocks are kept and who computes what are not part of the answer. */
static void
test_published_job_otherwise(void **state)
{
	struct ckpt_training stored = job;
	struct ckpt_learner l;

	(void)state;
	stored.recompute_blocks = false;
	l = learner_of(&start, &stored);
	l.trainer->dims.team = ckpt_team_new(2);
	follow(&l, published, 4);
	ckpt_team_free(l.trainer->dims.team);
	ckpt_learner_release(&l);
}

/* State and training as they were after two updates are all it takes. */
static void
test_published_job_continued(void **state)
{
	struct ckpt_learner first = learner_of(&start, &job), second;

	(void)state;
	follow(&first, published, 2);
	second = learner_of(&first.trainer->state, &first.training);
	/* The first may go on without a trace in the second. */
	follow(&first, published + 2, 2);
	follow(&second, published + 2, 2);
	assert_int_equal(ckpt_trainer_fingerprint(first.trainer),
		ckpt_trainer_fingerprint(second.trainer));
	ckpt_learner_release(&first);
	ckpt_learner_release(&second);
}

/* Weights alone: everything else begins anew. */
static void
test_published_job_from_its_weights(void **state)
{
	static const struct record warm[] = {
		{ { 2, 0 }, 5, 0.001, 2, 0, 120, 8, 1, 11400714819323198481u,
			0x401660cbf4f014fc, 170, 0x2791a71da16881cd },
		{ { 1, 2 }, 7, 0.0007750000000000001, 1, 1, 288, 8, 2,
			4354685564936845350u, 0x401642f30844486a, 246,
			0xebe684977a790d5d },
	};
	struct ckpt_learner l = learner_of(&start, &job), again;
	struct ckpt_state weights = start;

	(void)state;
	follow(&l, published, 2);
	weights.parameters = l.trainer->state.parameters;
	again = learner_of(&weights, &job);
	follow(&again, warm, 2);
	ckpt_learner_release(&l);
	ckpt_learner_release(&again);
}

/* ---- overflow ----------------------------------------------------------- */

/* A loss scale is a power of two, so as long as nothing overflows it leaves no
 * trace in the bits: once the scale is small enough, the published updates. */
static void
test_overflow_halves_the_scale(void **state)
{
	struct ckpt_training large = job;
	struct ckpt_learner l;
	struct ckpt_attempt made;
	uint64_t before;
	unsigned skipped = 0;

	(void)state;
	large.scaler = (struct ckpt_scaler){ 0x1p1023, 1.0, 0x1p1023, 9, 5 };
	l = learner_of(&start, &large);
	before = ckpt_trainer_fingerprint(l.trainer);
	for (;;) {
		assert_int_equal(attempt(&l, &made), CKPT_OK);
		assert_int_equal(made.step, 1);
		if (!made.skipped)
			break;
		skipped++;
		assert_true(made.scale == ldexp(1.0, 1024 - (int)skipped));
		assert_true(made.next_scale == made.scale / 2.0);
		assert_true(l.training.scaler.scale == made.next_scale);
		assert_int_equal(l.training.scaler.progress, 0);
		assert_int_equal(ckpt_trainer_fingerprint(l.trainer), before);
		assert_int_equal(l.trainer->state.optimizer_step, 0);
		assert_int_equal(l.training.cursor, 0);
		assert_int_equal(l.training.dropout_counter, 0);
		assert_int_equal(l.trainer->state.sampling_rng_state,
			model.sampling_rng_state);
		assert_true(ckpt_learner_settled(&l, &refusal));
	}
	assert_in_range(skipped, 1, 20);
	assert_int_equal(ckpt_f64_bits(made.mean_loss), published[0].loss);
	assert_int_equal(parameters(&l), published[0].parameters);
	assert_int_equal(l.training.scaler.progress, 1);
	ckpt_learner_release(&l);
}

static void
test_overflow_at_the_smallest_scale_ends(void **state)
{
	struct ckpt_training large = job;
	struct ckpt_learner l;
	struct ckpt_attempt made;

	(void)state;
	large.scaler =
		(struct ckpt_scaler){ 0x1p1023, 0x1p1023, 0x1p1023, 1, 0 };
	l = learner_of(&start, &large);
	assert_int_equal(attempt(&l, &made), CKPT_REJECTED);
	assert_string_equal(refusal.kind, "LossScale");
	assert_int_equal(parameters(&l), 0x39ce25a055a6f7f4);
	ckpt_learner_release(&l);
}

/* Division by a scale below one can overflow as well. */
static void
test_overflow_of_the_division_is_one(void **state)
{
	struct ckpt_norm_sum norm = { 0.0, 1.0 };
	double g[9] = { 0.0 };

	(void)state;
	for (size_t i = 0; i < 9; i++) {
		g[i] = 0x1p700;
		assert_false(ckpt_norm_unscale(&norm, g, 9, 0x1p-400));
		g[i] = 0.0;
	}
	g[4] = 3.0;
	norm = (struct ckpt_norm_sum){ 0.0, 1.0 };
	assert_true(ckpt_norm_unscale(&norm, g, 9, 0x1p-1022));
	assert_true(g[4] == 3.0 * 0x1p1022 && norm.scale == g[4]);
}

/* ---- refusals ----------------------------------------------------------- */

static void
test_pending_microbatches_are_left_alone(void **state)
{
	struct ckpt_learner l = learner_of(&start, &job);
	size_t bytes = l.trainer->scalars * sizeof(double);
	double *before = malloc(bytes);
	struct ckpt_batch rows[2];
	struct ckpt_attempt made;

	(void)state;
	assert_non_null(before);
	rows_of(&l, rows);
	assert_int_equal(ckpt_learner_begin(&l, 5, &refusal), CKPT_OK);
	assert_true(ckpt_learner_settled(&l, &refusal));
	assert_int_equal(ckpt_learner_add(&l, &rows[0], &refusal), CKPT_OK);
	memcpy(before, l.trainer->gradients, bytes);
	assert_false(ckpt_learner_settled(&l, &refusal));
	assert_string_equal(refusal.kind, "Pending");
	/* A second beginning is no way around it. */
	assert_int_equal(ckpt_learner_begin(&l, 5, &refusal), CKPT_REJECTED);
	assert_string_equal(refusal.kind, "Pending");
	assert_memory_equal(before, l.trainer->gradients, bytes);
	/* And nothing was lost. */
	assert_int_equal(ckpt_learner_add(&l, &rows[1], &refusal), CKPT_OK);
	assert_int_equal(ckpt_learner_finish(&l, &made, &refusal), CKPT_OK);
	assert_int_equal(parameters(&l), published[0].parameters);
	free(before);
	ckpt_learner_release(&l);
}

static void
test_gradients_that_nobody_announced(void **state)
{
	struct ckpt_learner l = learner_of(&start, &job);
	double *g = l.trainer->gradients;

	(void)state;
	g[l.trainer->scalars - 1] = 0x1p-1074;
	assert_false(ckpt_learner_settled(&l, &refusal));
	assert_string_equal(refusal.kind, "Uncleared");
	assert_true(g[l.trainer->scalars - 1] == 0x1p-1074);
	ckpt_learner_release(&l);
}

static void
test_counters_do_not_wrap(void **state)
{
	/* The first update takes 120 words; the second ends a traversal. */
	static const struct {
		uint64_t counter, traversals;
		unsigned good; /* updates before the refusal */
	} rows[] = {
		{ UINT64_MAX - 119, 0, 0 },
		{ UINT64_MAX - 120, 0, 1 },
		{ 0, UINT64_MAX, 1 },
		{ 0, UINT64_MAX - 1, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_training t = job;
		struct ckpt_learner l;
		struct ckpt_attempt made;

		t.dropout_counter = rows[i].counter;
		t.traversals = rows[i].traversals;
		l = learner_of(&start, &t);
		for (unsigned k = 0; k < rows[i].good; k++)
			assert_int_equal(attempt(&l, &made), CKPT_OK);
		assert_int_equal(attempt(&l, &made), CKPT_REJECTED);
		assert_string_equal(refusal.kind, "CounterOverflow");
		assert_true(ckpt_learner_settled(&l, &refusal));
		ckpt_learner_release(&l);
	}
}

/* Weights so large that the norm's sum of squares is not finite: no scale can
 * help, so nothing is skipped. */
static void
test_forward_pass_that_is_not_finite_ends(void **state)
{
	struct ckpt_learner l = learner_of(&start, &job);
	struct ckpt_attempt made;

	(void)state;
	for (size_t i = 0; i < 266 * 4; i++)
		l.trainer->parameters[i] *= 0x1p600;
	assert_int_equal(attempt(&l, &made), CKPT_REJECTED);
	assert_string_equal(refusal.kind, "NonFinite");
	ckpt_learner_release(&l);
}

/* ---- clocks ------------------------------------------------------------- */

static void
test_rates_follow_the_plan(void **state)
{
	/* Peak 1, final 0.5: up over four updates, then down over four. */
	const struct ckpt_schedule s = { 1.0, 0.5, 8, 4 };
	const struct ckpt_schedule none = { 1.0, 0.5, 1, 0 };
	const struct ckpt_schedule all = { 1.0, 0.5, 3, 3 };
	static const double rates[] = { 0.25, 0.5, 0.75, 1.0 };

	(void)state;
	for (uint64_t t = 1; t <= 4; t++)
		assert_true(ckpt_schedule_rate(&s, t) == rates[t - 1]);
	assert_true(fabs(ckpt_schedule_rate(&s, 6) - 0.75) < 1e-15);
	assert_true(ckpt_schedule_rate(&s, 8) == 0.5);
	assert_true(ckpt_schedule_rate(&none, 1) == 0.5);
	assert_true(ckpt_schedule_rate(&all, 1) == 1.0 / 3.0);
	assert_true(ckpt_schedule_rate(&all, 3) == 1.0);
}

static void
test_scales_stay_in_bounds(void **state)
{
	struct ckpt_scaler s = { 4.0, 2.0, 8.0, 2, 1 };

	(void)state;
	ckpt_scaler_succeed(&s);
	assert_true(s.scale == 8.0 && s.progress == 0);
	ckpt_scaler_succeed(&s);
	assert_true(s.scale == 8.0 && s.progress == 1);
	ckpt_scaler_succeed(&s);
	assert_true(s.scale == 8.0 && s.progress == 0);
	s.progress = 1;
	assert_true(ckpt_scaler_retreat(&s));
	assert_true(s.scale == 4.0 && s.progress == 0);
	assert_true(ckpt_scaler_retreat(&s));
	assert_false(ckpt_scaler_retreat(&s));
	assert_true(s.scale == 2.0);
	s = (struct ckpt_scaler){ 0x1p1023, 0x1p-1022, 0x1p1023, 1, 0 };
	ckpt_scaler_succeed(&s);
	assert_true(s.scale == 0x1p1023);
}

/* One factor may be too small for a double where two are not. */
static void
test_clip_in_two_parts(void **state)
{
	struct ckpt_norm_sum norm = { 0.0, 1.0 };
	double g[] = { 0x1p1000, -0x1p1000, 0.0, 0x1p999 };
	struct ckpt_clip clip;

	(void)state;
	ckpt_norm_add(&norm, g, 4);
	assert_true(ckpt_clip_plan(&norm, 0x1p-200, &clip) && clip.needed);
	assert_true(clip.divisor == 0x1p1000);
	assert_true(clip.factor == 0x1p-200 / 1.5);
	ckpt_clip_apply(g, 4, &clip);
	assert_true(g[0] == clip.factor && g[1] == -clip.factor);
	assert_true(g[3] == 0.5 * clip.factor);
	assert_true(ckpt_clip_plan(&norm, 1.0, &clip) && clip.needed);
	assert_true(clip.divisor == 1.0 && clip.factor == 0x1p-1000 / 1.5);
	norm = (struct ckpt_norm_sum){ 0x1p10, 9.0 };
	assert_false(ckpt_clip_plan(&norm, 0x1p-1074, &clip));
	norm = (struct ckpt_norm_sum){ 0x1p-3, 1.0 };
	assert_true(ckpt_clip_plan(&norm, 0.125, &clip) && !clip.needed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_job),
		cmocka_unit_test(test_published_job_otherwise),
		cmocka_unit_test(test_published_job_continued),
		cmocka_unit_test(test_published_job_from_its_weights),
		cmocka_unit_test(test_overflow_halves_the_scale),
		cmocka_unit_test(test_overflow_at_the_smallest_scale_ends),
		cmocka_unit_test(test_overflow_of_the_division_is_one),
		cmocka_unit_test(test_pending_microbatches_are_left_alone),
		cmocka_unit_test(test_gradients_that_nobody_announced),
		cmocka_unit_test(test_counters_do_not_wrap),
		cmocka_unit_test(test_forward_pass_that_is_not_finite_ends),
		cmocka_unit_test(test_rates_follow_the_plan),
		cmocka_unit_test(test_scales_stay_in_bounds),
		cmocka_unit_test(test_clip_in_two_parts),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
