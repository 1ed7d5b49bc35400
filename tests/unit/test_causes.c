/* SPDX-License-Identifier: MIT */
/*
 * The slips that are tried as causes, each really made and then found again;
 * and the negative controls, which must notice when nothing was changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/format.h"
#include "model/synth.h"
#include "replay/causes.h"
#include "replay/selfcheck.h"
#include "sink/save.h"

#include <stdlib.h>
#include <string.h>

enum { VOCAB = 5, TOKENS = 3, LOGITS = VOCAB * TOKENS };

static const uint32_t ids[] = { 0, 3, 1 }, targets[] = { 3, 1, 4 };
static const struct ckpt_batch batch = { 1, TOKENS, ids, targets };

/* A step that has been run on a synthetic checkpoint. */
static void
run_step(struct ckpt_step *step, uint64_t at, double beta, double rate)
{
	struct ckpt_synth synth = { .config = { VOCAB, 8, 2, 6, 1, 4, 500.0,
					    1e-5, 0, 0 },
		.adamw = { 0.02, beta, beta, 1e-8, 0.1 },
		.step = at,
		.gain_groups = true,
		.seed = 11,
		.sampling_rng_state = 1 };
	struct ckpt_arena arena;
	struct ckpt_state state;
	struct ckpt_buf bytes = { 0 };
	struct ckpt_source *source;
	struct ckpt_checkpoint *c;

	ckpt_arena_init(&arena, UINT64_MAX);
	assert_int_equal(ckpt_synth_state(&arena, &synth, &state), CKPT_OK);
	assert_int_equal(
		ckpt_encode(&bytes, ckpt_format_find("llmcp35"), &state, NULL),
		CKPT_OK);
	source = ckpt_source_memory(bytes.p, bytes.n);
	assert_non_null(source);
	assert_int_equal(ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
	ckpt_source_close(source);
	memset(step, 0, sizeof *step);
	step->batch = &batch;
	step->rate = rate;
	step->max_memory = UINT64_MAX;
	assert_int_equal(ckpt_step_run(step, c), CKPT_OK);
	assert_true(ckpt_step_equal(step));
	ckpt_buf_release(&bytes);
	ckpt_arena_release(&arena);
}

/* What somebody's program has if it made the slip of row i. */
static struct ckpt_outcome
slip(const struct ckpt_step *step, size_t i)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_update update = { 0 };
	struct ckpt_outcome theirs;
	struct ckpt_trainer *t;
	double logits[LOGITS], rate = step->rate;

	assert_int_equal(ckpt_step_reload(step, &t), CKPT_OK);
	rate = i == 1 ? rate / 2 : i == 2 ? rate * 2 : i == 3 ? 0.02 : rate;
	for (uint32_t k = 0; k < t->state.nparameters; k++) {
		size_t n = (size_t)t->state.parameters[k].len;

		if (i == 4 || i == 5)
			t->decay[k] = i == 4 ? 0.0 : 0.1;
		if (i != 7)
			continue;
		memset(t->first[k], 0, n);
		memset(t->second[k], 0, n);
		t->state.beta1_power = t->state.beta2_power = 1.0;
	}
	update.powers_by_pow = i == 6;
	update.clip = i == 8 ? 1.0 : 0.0;
	if (i != 0)
		assert_int_equal(ckpt_trainer_update(t, step->batch, rate,
					 logits, &update, &refusal),
			CKPT_OK);
	theirs.parameters = ckpt_trainer_parameters_fingerprint(t);
	theirs.state = ckpt_trainer_fingerprint(t);
	ckpt_trainer_free(t);
	return theirs;
}

static void
test_causes_name_the_slip_that_was_made(void **state)
{
	struct ckpt_step step;
	struct ckpt_cause causes[CKPT_CAUSES];

	(void)state;
	run_step(&step, 7, 0.9, 0.006);
	for (size_t i = 0; i < CKPT_CAUSES; i++) {
		struct ckpt_outcome theirs = slip(&step, i);

		assert_int_equal(
			ckpt_causes_try(&step, &theirs, causes), CKPT_OK);
		/* Clipping is no slip where gradients are small. */
		if (causes[i].outcome == CKPT_CAUSE_NOT_APPLICABLE)
			assert_int_equal(i, 8);
		else
			assert_int_equal(causes[i].outcome, CKPT_CAUSE_EQUAL);
		for (size_t k = 0; k < CKPT_CAUSES; k++)
			assert_true(k == i ||
				    causes[k].outcome != CKPT_CAUSE_EQUAL);
	}
	ckpt_step_release(&step);
}

/* What changes nothing here is no hypothesis, and other bits have no cause. */
static void
test_causes_do_not_guess(void **state)
{
	static const bool idle[CKPT_CAUSES] = { [3] = true, [7] = true };
	struct ckpt_outcome theirs = { 1, 2 };
	struct ckpt_step step;
	struct ckpt_cause causes[CKPT_CAUSES];

	(void)state;
	/* The rate is the stored one, and step 0 has no moments. */
	run_step(&step, 0, 0.9, 0.02);
	assert_int_equal(ckpt_causes_try(&step, &theirs, causes), CKPT_OK);
	for (size_t i = 0; i < CKPT_CAUSES; i++) {
		assert_true(causes[i].outcome == CKPT_CAUSE_NO ||
			    causes[i].outcome == CKPT_CAUSE_NOT_APPLICABLE);
		if (idle[i])
			assert_int_equal(
				causes[i].outcome, CKPT_CAUSE_NOT_APPLICABLE);
	}
	/* Their parameters, but something else in the moments. */
	theirs = slip(&step, 2);
	theirs.state++;
	assert_int_equal(ckpt_causes_try(&step, &theirs, causes), CKPT_OK);
	assert_int_equal(causes[2].outcome, CKPT_CAUSE_PARAMETERS);
	ckpt_step_release(&step);
}

static void
test_self_check_sees_every_change(void **state)
{
	struct ckpt_step step;
	struct ckpt_self_check check;

	(void)state;
	run_step(&step, 7, 0.9, 0.006);
	assert_int_equal(ckpt_self_check_run(&check, &step), CKPT_OK);
	assert_int_equal(check.n, 3 + 3 * 11);
	for (size_t i = 0; i < check.n; i++)
		assert_int_equal(
			check.controls[i].outcome, CKPT_CONTROL_DIFFERENT);
	assert_true(ckpt_self_check_passed(&check));
	ckpt_self_check_release(&check);
	ckpt_step_release(&step);
}

/* A control that comes out the same fails the check: here the step claims the
 * result that twice the rate leads to. */
static void
test_self_check_fails_where_nothing_differs(void **state)
{
	struct ckpt_step step;
	struct ckpt_self_check check;

	(void)state;
	run_step(&step, 7, 0.9, 0.006);
	step.branch[0].parameters = slip(&step, 2).parameters;
	assert_int_equal(ckpt_self_check_run(&check, &step), CKPT_OK);
	assert_int_equal(check.controls[1].outcome, CKPT_CONTROL_SAME);
	assert_false(ckpt_self_check_passed(&check));
	ckpt_self_check_release(&check);
	ckpt_step_release(&step);
}

static void
test_self_check_says_what_does_not_apply(void **state)
{
	struct ckpt_step step;
	struct ckpt_self_check check;

	(void)state;
	/* No moments yet. */
	run_step(&step, 0, 0.9, 0.006);
	assert_int_equal(ckpt_self_check_run(&check, &step), CKPT_OK);
	assert_int_equal(check.n, 3 + 11);
	assert_int_equal(
		check.controls[2].outcome, CKPT_CONTROL_NOT_APPLICABLE);
	assert_true(check.controls[2].why.n > 0);
	assert_true(ckpt_self_check_passed(&check));
	ckpt_self_check_release(&check);
	ckpt_step_release(&step);
	/* Betas of zero: moments are absorbed. Twice a rate that decays all
	 * of a parameter is refused. */
	run_step(&step, 7, 0.0, 6.0);
	assert_int_equal(ckpt_self_check_run(&check, &step), CKPT_OK);
	assert_int_equal(
		check.controls[1].outcome, CKPT_CONTROL_NOT_APPLICABLE);
	assert_int_equal(
		check.controls[2].outcome, CKPT_CONTROL_NOT_APPLICABLE);
	assert_int_equal(check.controls[3 + 11].outcome, CKPT_CONTROL_ABSORBED);
	assert_true(ckpt_self_check_passed(&check));
	ckpt_self_check_release(&check);
	ckpt_step_release(&step);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes_name_the_slip_that_was_made),
		cmocka_unit_test(test_causes_do_not_guess),
		cmocka_unit_test(test_self_check_sees_every_change),
		cmocka_unit_test(test_self_check_fails_where_nothing_differs),
		cmocka_unit_test(test_self_check_says_what_does_not_apply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
