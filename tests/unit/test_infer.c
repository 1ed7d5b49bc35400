/* SPDX-License-Identifier: MIT */
/*
 * Generation: refusals in their order, the three ways to stop and which of
 * them wins, the stream that is continued, and the property that a prefix is
 * a prefix: what was generated can be handed in as a prompt and goes on alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/rng.h"
#include "model/synth.h"
#include "num/select.h"
#include "replay/infer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VOCAB = 7, POSITIONS = 6 };

static struct ckpt_arena arena;
static struct ckpt_state synth_state;
static struct ckpt_trainer *trainer;

static int
set_up(void **state)
{
	struct ckpt_synth synth = { .config = { VOCAB, 8, 2, 6, 2, POSITIONS,
					    500.0, 1e-5, 0, 0 },
		.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
		.seed = 3,
		.sampling_rng_state = UINT64_MAX - 5 };

	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	if (ckpt_synth_state(&arena, &synth, &synth_state) != CKPT_OK)
		return -1;
	trainer = ckpt_trainer_start(&synth_state);
	return trainer ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	ckpt_trainer_free(trainer);
	ckpt_arena_release(&arena);
	return 0;
}

static const uint32_t prompt[] = { 1, 4, 2, 0, 6, 3, 5 };

static struct ckpt_infer
greedy(size_t n, uint64_t most)
{
	return (struct ckpt_infer){
		.prompt = prompt, .prompt_n = n, .most = most
	};
}

static void
test_infer_refuses_in_order(void **state)
{
	/* Each line mends the first fault of the one before. */
	static const uint32_t bad[] = { 1, VOCAB, 2, 0, 6, 3, 5 };
	static const char *const kinds[] = { "EmptyPrompt", "TooManyPositions",
		"TokenOutOfRange", "EosOutOfRange", "InvalidTemperature",
		"InvalidTopK" };
	struct ckpt_infer f = { .prompt = bad,
		.has_eos = true,
		.eos = VOCAB,
		.sample = true,
		.temperature = 0.0,
		.keep = VOCAB + 1 };

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		f.prompt_n = i == 0 ? 0 : i == 1 ? POSITIONS + 1 : 3;
		if (i == 3)
			f.prompt = prompt;
		if (i == 4)
			f.eos = VOCAB - 1;
		if (i == 5)
			f.temperature = 1.0;
		assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_REJECTED);
		assert_string_equal(f.refusal.kind, kinds[i]);
		assert_int_equal(f.n, 0);
		assert_int_equal(f.rng_after, UINT64_MAX - 5);
		ckpt_infer_release(&f);
	}
}

static void
test_infer_refuses_temperatures(void **state)
{
	static const double bad[] = { -1.0, -0.0, (double)NAN,
		(double)INFINITY };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct ckpt_infer f = greedy(1, 0);

		f.sample = true;
		f.temperature = bad[i];
		f.keep = 0;
		assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_REJECTED);
		assert_string_equal(f.refusal.kind, "InvalidTemperature");
		f.temperature = 0x1p-1074;
		ckpt_infer_release(&f);
		assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_REJECTED);
		assert_string_equal(f.refusal.kind, "InvalidTopK");
		ckpt_infer_release(&f);
	}
}

static void
test_infer_of_no_tokens_is_nothing(void **state)
{
	struct ckpt_infer f = greedy(POSITIONS, 0);

	(void)state;
	f.sample = true;
	f.temperature = 1.0;
	f.keep = 1;
	assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_OK);
	assert_int_equal(f.stop, CKPT_INFER_TOKENS);
	assert_int_equal(f.n, POSITIONS);
	assert_int_equal(f.draws, 0);
	assert_int_equal(f.rng_after, f.rng_before);
	ckpt_infer_release(&f);
}

/* A full context gives one more token. */
static void
test_infer_fills_the_context(void **state)
{
	(void)state;
	for (size_t n = 1; n <= POSITIONS; n++) {
		struct ckpt_infer f = greedy(n, UINT64_MAX);

		assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_OK);
		assert_int_equal(f.stop, CKPT_INFER_CONTEXT);
		assert_int_equal(f.n, POSITIONS + 1);
		assert_memory_equal(f.ids, prompt, n * sizeof *prompt);
		assert_int_equal(f.draws, 0);
		assert_int_equal(f.rng_after, UINT64_MAX - 5);
		ckpt_infer_release(&f);
	}
}

/* Each token is the best of the last row of a pass over all before it. */
static void
test_infer_greedy_is_the_best_of_the_last_row(void **state)
{
	struct ckpt_infer f = greedy(2, UINT64_MAX);
	double logits[POSITIONS * VOCAB];

	(void)state;
	assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_OK);
	for (size_t n = 2; n <= POSITIONS; n++) {
		struct ckpt_batch batch = { 1, n, f.ids, NULL };

		assert_int_equal(ckpt_trainer_logits(
					 trainer, &batch, logits, &f.refusal),
			CKPT_OK);
		assert_int_equal(f.ids[n],
			ckpt_select_greedy(logits + (n - 1) * VOCAB, VOCAB));
	}
	ckpt_infer_release(&f);
}

/* EOS before the token limit, the limit before the context. */
static void
test_infer_stops_in_order(void **state)
{
	struct ckpt_infer f = greedy(POSITIONS, 1);
	uint32_t first;

	(void)state;
	assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_OK);
	assert_int_equal(f.stop, CKPT_INFER_TOKENS);
	assert_int_equal(f.n, POSITIONS + 1);
	first = f.ids[POSITIONS];
	ckpt_infer_release(&f);
	f = greedy(POSITIONS, 1);
	f.has_eos = true;
	f.eos = first;
	assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_OK);
	assert_int_equal(f.stop, CKPT_INFER_EOS);
	assert_int_equal(f.n, POSITIONS + 1);
	assert_int_equal(f.ids[POSITIONS], first);
	ckpt_infer_release(&f);
	/* An EOS that does not come, or stands in the prompt, stops nothing. */
	f = greedy(1, 2);
	f.has_eos = true;
	f.eos = prompt[0];
	assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_OK);
	assert_true(f.stop == CKPT_INFER_TOKENS || f.ids[f.n - 1] == f.eos);
	assert_true(f.n > 1);
	ckpt_infer_release(&f);
}

/* One draw a token, from the stored state on, across 2^64; the same tokens as
 * with logits and draws taken by hand. */
static void
test_infer_continues_the_sampling_stream(void **state)
{
	struct ckpt_infer f = greedy(1, 5);
	struct ckpt_rng rng = { UINT64_MAX - 5 };
	struct ckpt_candidate space[VOCAB];
	double logits[POSITIONS * VOCAB], sum;

	(void)state;
	f.sample = true;
	f.temperature = 1.5;
	f.keep = 4;
	assert_int_equal(ckpt_infer_run(&f, trainer), CKPT_OK);
	assert_int_equal(f.draws, 5);
	assert_int_equal(f.n, 6);
	assert_int_equal(f.rng_before, UINT64_MAX - 5);
	for (size_t n = 1; n < f.n; n++) {
		struct ckpt_batch batch = { 1, n, f.ids, NULL };
		uint32_t id;

		assert_int_equal(ckpt_trainer_logits(
					 trainer, &batch, logits, &f.refusal),
			CKPT_OK);
		assert_true(ckpt_select_sample(logits + (n - 1) * VOCAB, VOCAB,
			1.5, 4, ckpt_rng_unit(&rng), space, &id, &sum));
		assert_int_equal(f.ids[n], id);
	}
	assert_int_equal(f.rng_after, rng.state);
	ckpt_infer_release(&f);
}

static void
test_infer_goes_on_from_what_it_generated(void **state)
{
	struct ckpt_infer whole = greedy(1, 6), rest;

	(void)state;
	assert_int_equal(ckpt_infer_run(&whole, trainer), CKPT_OK);
	for (size_t n = 2; n <= POSITIONS; n++) {
		rest = (struct ckpt_infer){
			.prompt = whole.ids, .prompt_n = n, .most = 7 - n
		};
		assert_int_equal(ckpt_infer_run(&rest, trainer), CKPT_OK);
		assert_int_equal(rest.n, whole.n);
		assert_memory_equal(
			rest.ids, whole.ids, whole.n * sizeof *rest.ids);
		ckpt_infer_release(&rest);
	}
	ckpt_infer_release(&whole);
}

/* What is drawn, and where the stream and the run end, is the same. */
static void
test_infer_with_a_cache(void **state)
{
	(void)state;
	for (size_t n = 1; n <= POSITIONS; n++)
		for (uint64_t most = 0; most < 9; most++) {
			struct ckpt_infer f[2];

			for (int cache = 0; cache < 2; cache++) {
				f[cache] = greedy(n, most);
				f[cache].sample = true;
				f[cache].temperature = 1.5;
				f[cache].keep = VOCAB;
				f[cache].cache = cache;
				assert_int_equal(
					ckpt_infer_run(&f[cache], trainer),
					CKPT_OK);
			}
			assert_int_equal(f[0].n, f[1].n);
			assert_memory_equal(
				f[0].ids, f[1].ids, f[0].n * sizeof *f[0].ids);
			assert_int_equal(f[0].stop, f[1].stop);
			assert_int_equal(f[0].rng_after, f[1].rng_after);
			ckpt_infer_release(&f[0]);
			ckpt_infer_release(&f[1]);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_infer_refuses_in_order),
		cmocka_unit_test(test_infer_refuses_temperatures),
		cmocka_unit_test(test_infer_of_no_tokens_is_nothing),
		cmocka_unit_test(test_infer_fills_the_context),
		cmocka_unit_test(test_infer_greedy_is_the_best_of_the_last_row),
		cmocka_unit_test(test_infer_stops_in_order),
		cmocka_unit_test(test_infer_continues_the_sampling_stream),
		cmocka_unit_test(test_infer_goes_on_from_what_it_generated),
		cmocka_unit_test(test_infer_with_a_cache),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
