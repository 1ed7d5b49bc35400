/* SPDX-License-Identifier: MIT */
/*
 * Replays whose every number was computed elsewhere: the training fixture and
 * three made-up models that see what its round sizes are blind to (an odd
 * width, more heads, merges, eleven layers, updates before the file). Bits
 * and fingerprints, never tolerances.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/fmath.h"
#include "base/hash.h"
#include "model/rng.h"
#include "model/synth.h"
#include "num/clip.h"
#include "num/loss.h"
#include "num/rope.h"
#include "replay/fixture.h"
#include "replay/step.h"
#include "sink/save.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 6, MOST_LOGITS = MOST_TOKENS * 261, TENSORS = 11 };

struct golden {
	/* The file. */
	struct ckpt_synth synth;
	bool pairs; /* merges are those below, not the ones of synth */
	unsigned updates;
	uint64_t bytes, label;
	/* The replay of it. */
	uint64_t before, loss, gradients, after, state;
	uint64_t updated_bytes, updated_label;
};

#define COMMON .adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 }, .sampling_rng_state = 1

static const struct golden s1 = {
	.synth = { COMMON, .config = { 7, 6, 3, 5, 3, 5, 500.0, 1e-5, 0, 0 },
		.seed = 1 },
	.bytes = 8676,
	.label = 0xdae9b18dc7729be8,
	.before = 0x961db1608c0d50f4,
	.loss = 0x4003aeb15d94157e,
	.gradients = 0x3275cc1efcc8a997,
	.after = 0x145f1ce8f726ddcf,
	.state = 0x7d31651ac8b6f6eb,
	.updated_bytes = 25108,
	.updated_label = 0x7ab4b5beb4371da8,
};
static const struct golden s2 = {
	.synth = { COMMON, .config = { 0, 12, 3, 10, 2, 6, 500.0, 1e-5, 0, 0 },
		.tokenizer = CKPT_BYTE_BPE, .merges = 3, .gain_groups = true,
		.seed = 3 },
	.pairs = true,
	.updates = 2,
	.bytes = 126404,
	.label = 0xea2ff2b38544bf8d,
	.before = 0xfca21a6c402231dc,
	.loss = 0x4013774f0035c26a,
	.gradients = 0x4973ed33e6d515c7,
	.after = 0x4ba133406b5c9d10,
	.state = 0x31c7d87df56042ec,
	.updated_bytes = 126404,
	.updated_label = 0x333d59bba39bb788,
};
static const struct golden s3 = {
	.synth = { COMMON, .config = { 9, 20, 2, 7, 11, 3, 500.0, 1e-5, 0, 0 },
		.gain_groups = true, .seed = 1 },
	.updates = 1,
	.bytes = 572634,
	.label = 0x2ae8d385806b1a3f,
	.before = 0x74e4bc1b2e4367bd,
	.loss = 0x4003a8c63ad0ea76,
	.gradients = 0x1308e6e42bdf2f4e,
	.after = 0x7e0753503a7e37fd,
	.state = 0xcfff3481d7d12bdf,
	.updated_bytes = 572634,
	.updated_label = 0x676687a6b25be5f9,
};
static const struct golden f = {
	.bytes = 6330,
	.label = 0x2b8b6097eaed6a91,
	.before = 0x6029064fe7cd162d,
	.loss = 0x3ff48bbca624a0dd,
	.gradients = 0x292a61f5565c974e,
	.after = 0x0b875a0c9f380d8f,
	.state = 0xb0ee0633ba258f6e,
	.updated_bytes = 6330,
	.updated_label = 0x45d7ae026fcf6d0b,
};

/* ---- making ------------------------------------------------------------- */

struct row {
	struct ckpt_batch batch;
	uint32_t ids[MOST_TOKENS], targets[MOST_TOKENS];
};

/* inputs (3t + 1 + k) mod V, targets (5t + 2 + k) mod V. */
static void
row_make(struct row *row, size_t tokens, uint64_t vocab, unsigned k)
{
	assert_true(tokens <= MOST_TOKENS);
	for (size_t t = 0; t < tokens; t++) {
		row->ids[t] = (uint32_t)((3 * t + 1 + k) % vocab);
		row->targets[t] = (uint32_t)((5 * t + 2 + k) % vocab);
	}
	row->batch = (struct ckpt_batch){ 1, tokens, row->ids, row->targets };
}

static void
train(const struct ckpt_state *state, unsigned updates, struct ckpt_buf *bytes,
	struct ckpt_value *label)
{
	static double logits[MOST_LOGITS];
	struct ckpt_trainer *t = ckpt_trainer_start(state);
	struct ckpt_refusal refusal = { 0 };

	assert_non_null(t);
	for (unsigned k = 0; k < updates; k++) {
		struct ckpt_update update = { 0 };
		struct row row;

		row_make(&row, (size_t)state->config.positions, t->dims.vocab,
			k);
		assert_true(
			ckpt_trainer_accepts(t, &row.batch, 0.02, &refusal));
		assert_int_equal(ckpt_trainer_update(t, &row.batch, 0.02,
					 logits, &update, &refusal),
			CKPT_OK);
	}
	assert_int_equal(
		ckpt_encode(bytes, ckpt_format_at(0), &t->state, label),
		CKPT_OK);
	ckpt_trainer_free(t);
	ckpt_buf_release(&refusal.text);
}

/* The file of a golden; the caller releases it. */
static void
make(const struct golden *g, struct ckpt_buf *bytes)
{
	static const uint32_t pairs[] = { 97, 98, 256, 99, 257, 257 };
	static const uint64_t dims[] = { 3, 2 };
	uint8_t data[sizeof pairs];
	const struct ckpt_tensor merges = {
		.rank = 2, .dims = dims, .len = sizeof data, .data = data
	};
	struct ckpt_value label;
	struct ckpt_arena arena;
	struct ckpt_state state;

	ckpt_buf_init(bytes);
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		ckpt_store_u32(data + 4 * i, pairs[i]);
	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	if (g == &f) {
		assert_int_equal(ckpt_fixture_selected_step8(ckpt_format_at(0),
					 NULL, bytes, &label),
			CKPT_OK);
	} else {
		assert_int_equal(
			ckpt_synth_state(&arena, &g->synth, &state), CKPT_OK);
		if (g->pairs)
			state.tokenizer.pieces = &merges;
		train(&state, g->updates, bytes, &label);
	}
	ckpt_arena_release(&arena);
	assert_int_equal(bytes->n, g->bytes);
	assert_int_equal(label.u64, g->label);
}

static struct ckpt_checkpoint *
load(const struct ckpt_buf *bytes)
{
	struct ckpt_source *source = ckpt_source_memory(bytes->p, bytes->n);
	struct ckpt_checkpoint *c;

	assert_non_null(source);
	assert_int_equal(ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
	ckpt_source_close(source);
	return c;
}

/* ---- replays ------------------------------------------------------------ */

/* Of F: 0,1 to 1,2. */
static void
row_of(const struct golden *g, struct row *row)
{
	static const struct row fixture = { .ids = { 0, 1 },
		.targets = { 1, 2 } };

	if (g != &f) {
		row_make(row, (size_t)g->synth.config.positions,
			ckpt_synth_vocabulary(&g->synth), 0);
		return;
	}
	*row = fixture;
	row->batch = (struct ckpt_batch){ 1, 2, row->ids, row->targets };
}

static void
check(const struct golden *g)
{
	struct ckpt_buf bytes;
	struct row row;
	struct ckpt_step step = { .batch = &row.batch, .rate = 0.006 };
	uint64_t updates = g == &f ? 8 : g->updates;

	make(g, &bytes);
	row_of(g, &row);
	assert_int_equal(ckpt_step_run(&step, load(&bytes)), CKPT_OK);
	assert_int_equal(step.step_before, updates);
	assert_int_equal(step.step_after, updates + 1);
	for (size_t i = 0; i < 2; i++) {
		const struct ckpt_branch *b = &step.branch[i];

		assert_int_equal(b->before, g->before);
		assert_int_equal(ckpt_f64_bits(b->loss), g->loss);
		assert_int_equal(b->gradients, g->gradients);
		assert_int_equal(b->after, g->after);
		assert_int_equal(b->state, g->state);
	}
	assert_int_equal(step.updated.n, g->updated_bytes);
	assert_int_equal(step.label, g->updated_label);
	assert_true(ckpt_step_equal(&step));
	ckpt_step_release(&step);
	ckpt_buf_release(&bytes);
}

static void
test_goldens_of_the_fixture(void **state)
{
	(void)state;
	check(&f);
}

static void
test_goldens_of_an_odd_model_at_step_zero(void **state)
{
	(void)state;
	check(&s1);
}

static void
test_goldens_of_a_model_with_merges(void **state)
{
	(void)state;
	check(&s2);
}

static void
test_goldens_of_eleven_layers(void **state)
{
	(void)state;
	check(&s3);
}

static void
test_goldens_of_each_gradient(void **state)
{
	static const uint64_t want[TENSORS] = { 0xef94213646316b89,
		0x05be10da0bbfb484, 0x0bcd1cdb2f64cd41, 0x7015d4dac6754888,
		0x855796e9f7e4b1f5, 0x1badc3c69aa398c4, 0x2202729a20370f7c,
		0x105285b31da0903c, 0x922428040ece539a, 0x4a3fd65869c92208,
		0x04ffcf833a2a2d61 };
	static double logits[MOST_LOGITS];
	uint64_t tensors[TENSORS] = { 0 };
	struct ckpt_update update = { .tensors = tensors };
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_trainer *t;
	struct ckpt_buf bytes;
	struct row row;

	(void)state;
	make(&f, &bytes);
	row_of(&f, &row);
	t = ckpt_trainer_take(load(&bytes));
	assert_non_null(t);
	assert_int_equal(t->state.nparameters, TENSORS);
	assert_int_equal(ckpt_trainer_update(t, &row.batch, 0.006, logits,
				 &update, &refusal),
		CKPT_OK);
	for (size_t i = 0; i < TENSORS; i++)
		assert_int_equal(tensors[i], want[i]);
	assert_false(update.clipped);
	ckpt_trainer_free(t);
	ckpt_buf_release(&bytes);
	ckpt_buf_release(&refusal.text);
}

/* ---- the loss ----------------------------------------------------------- */

/* log(1 + tail) would be 0 here. */
static void
test_loss_keeps_a_tail_far_below_one(void **state)
{
	static const double logits[] = { 0.0, -40.0 };
	static const uint32_t target = 0;
	double prob[2];

	(void)state;
	assert_int_equal(
		ckpt_f64_bits(ckpt_loss_forward(prob, logits, &target, 1, 2)),
		0x3c539792499b1a24);
}

/* Of two equal maxima only the first is left out of the tail: 1 + exp(0). */
static void
test_loss_counts_a_second_maximum(void **state)
{
	static const double logits[] = { 3.0, 3.0 };
	static const uint32_t target = 1;
	double prob[2];

	(void)state;
	/* log 2 */
	assert_int_equal(
		ckpt_f64_bits(ckpt_loss_forward(prob, logits, &target, 1, 2)),
		0x3fe62e42fefa39ef);
	assert_true(prob[0] == 0.5 && prob[1] == 0.5);
}

/* A gap, or a total of gaps, beyond the largest double whose mean is not:
 * (M/2 - l/2) + 0, and 2 x (M/2). */
static void
test_loss_divides_before_it_overflows(void **state)
{
	static const double gap[] = { 0x1p1023, -0x1p1023, 0.0, 0.0 };
	static const double total[] = { DBL_MAX, 0.0, DBL_MAX, 0.0 };
	static const double each[] = { 0x1p1023, -0x1p1023 };
	static const uint32_t first[] = { 1, 0 }, both[] = { 1, 1 };
	double prob[4];

	(void)state;
	assert_true(ckpt_loss_forward(prob, gap, first, 2, 2) == 0x1p1023);
	assert_true(ckpt_loss_forward(prob, total, both, 2, 2) == DBL_MAX);
	/* The mean itself is too large. */
	assert_true(
		ckpt_loss_forward(prob, each, both, 1, 2) == (double)INFINITY);
}

/* ---- parts that the goldens are too small for --------------------------- */

/* A head wide enough to tell pow(c, -e) from 1 / pow(c, e). */
static void
test_rope_tables_are_made_by_pow(void **state)
{
	enum { PAIRS = 32, POSITIONS = 9 };
	double sn[POSITIONS * PAIRS], cs[POSITIONS * PAIRS];

	(void)state;
	assert_true(ckpt_rope_tables(sn, cs, 10000.0, 0, POSITIONS, PAIRS));
	for (size_t t = 0; t < POSITIONS; t++)
		for (size_t p = 0; p < PAIRS; p++) {
			double e = (-2.0 * (double)p) / (2.0 * PAIRS);
			double angle = (double)t * ckpt_pow(10000.0, e);

			assert_int_equal(ckpt_f64_bits(sn[t * PAIRS + p]),
				ckpt_f64_bits(ckpt_sin(angle)));
			assert_int_equal(ckpt_f64_bits(cs[t * PAIRS + p]),
				ckpt_f64_bits(ckpt_cos(angle)));
		}
}

/* Products of the norm are rounded before they are added: volatile keeps them
 * from being contracted here, whatever the compiler does there. */
static void
test_clip_norm_rounds_every_product(void **state)
{
	struct ckpt_norm_sum norm = { 0.0, 1.0 };
	struct ckpt_rng rng = { 5 };
	double sc = 0.0, ss = 1.0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		double g = ckpt_rng_unit(&rng) - 0.5, a = fabs(g);
		volatile double square;

		/* A few that grow, so that there is a new largest one. */
		if (i % 100 == 0)
			a = fabs(g = g * (1.0 + i));
		ckpt_norm_add(&norm, &g, 1);
		square = sc < a ? sc / a : a / sc;
		if (sc < a) {
			double t = square;

			square = ss * t;
			square = square * t;
			ss = 1.0 + square;
			sc = a;
		} else {
			square = square * square;
			ss = ss + square;
		}
		assert_int_equal(ckpt_f64_bits(norm.sum), ckpt_f64_bits(ss));
		assert_int_equal(ckpt_f64_bits(norm.scale), ckpt_f64_bits(sc));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens_of_the_fixture),
		cmocka_unit_test(test_goldens_of_an_odd_model_at_step_zero),
		cmocka_unit_test(test_goldens_of_a_model_with_merges),
		cmocka_unit_test(test_goldens_of_eleven_layers),
		cmocka_unit_test(test_goldens_of_each_gradient),
		cmocka_unit_test(test_loss_keeps_a_tail_far_below_one),
		cmocka_unit_test(test_loss_counts_a_second_maximum),
		cmocka_unit_test(test_loss_divides_before_it_overflows),
		cmocka_unit_test(test_rope_tables_are_made_by_pow),
		cmocka_unit_test(test_clip_norm_rounds_every_product),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
