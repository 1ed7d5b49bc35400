/* SPDX-License-Identifier: MIT */
/*
 * Who owns what (ckpt_train.h): restoring copies, taking moves, captures stay
 * usable, and powers are restored and never computed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ckpt_train.h>

#include "base/bytes.h"
#include "format/format.h"
#include "model/synth.h"
#include "sink/save.h"
#include "sink/state.h"

/* A small checkpoint at a step; its powers can be set to anything legal. */
static struct ckpt_checkpoint *
sample(uint64_t step, double power)
{
	const struct ckpt_synth synth = {
		.config = { 5, 4, 2, 4, 1, 3, 10000.0, 1e-6, 0, 0 },
		.adamw = { 0.01, 0.9, 0.999, 1e-8, 0.01 },
		.step = step,
		.gain_groups = true,
		.seed = 7,
		.sampling_rng_state = 99,
	};
	struct ckpt_arena arena;
	struct ckpt_state state;
	struct ckpt_buf bytes = { 0 };
	struct ckpt_checkpoint *c;

	ckpt_arena_init(&arena, UINT64_MAX);
	assert_int_equal(ckpt_synth_state(&arena, &synth, &state), CKPT_OK);
	if (power > 0.0)
		state.beta1_power = power;
	assert_int_equal(
		ckpt_encode(&bytes, ckpt_format_at(0), &state, NULL), CKPT_OK);
	assert_int_equal(ckpt_checkpoint_from_bytes(bytes.p, bytes.n, NULL, &c),
		CKPT_OK);
	/* The checkpoint owns what it holds. */
	memset(bytes.p, 0, bytes.n);
	ckpt_buf_release(&bytes);
	ckpt_arena_release(&arena);
	return c;
}

static const uint32_t ids[] = { 0, 1, 2 }, targets[] = { 1, 2, 3 };
static const struct ckpt_tokens tokens = { 1, 3, ids, targets };

static void
encoded(const struct ckpt_checkpoint *c, uint8_t **bytes, size_t *n)
{
	assert_int_equal(ckpt_checkpoint_encode(c, bytes, n), CKPT_OK);
}

static void
assert_same(const struct ckpt_checkpoint *a, const struct ckpt_checkpoint *b,
	bool same)
{
	uint8_t *p, *q;
	size_t n, m;

	encoded(a, &p, &n);
	encoded(b, &q, &m);
	assert_int_equal(n == m && memcmp(p, q, n) == 0, same);
	free(p);
	free(q);
}

static void
test_ownership_restores_share_no_memory(void **unused)
{
	struct ckpt_checkpoint *c = sample(3, 0);
	struct ckpt_model *a, *b;
	const double *x, *y;
	size_t n, m;

	(void)unused;
	assert_int_equal(ckpt_checkpoint_restore_model(c, &a), CKPT_OK);
	assert_int_equal(ckpt_checkpoint_restore_model(c, &b), CKPT_OK);
	x = ckpt_model_parameters(a, &n);
	y = ckpt_model_parameters(b, &m);
	assert_int_equal(n, m);
	assert_true(x + n <= y || y + m <= x);
	assert_memory_equal(x, y, n * sizeof *x);
	/* The first can go, and so can the checkpoint. */
	ckpt_model_free(a);
	ckpt_checkpoint_free(c);
	assert_int_equal(ckpt_model_config(b)->vocabulary, 5);
	assert_true(y[0] == y[0]);
	ckpt_model_free(b);
}

static void
test_ownership_take_consumes(void **unused)
{
	struct ckpt_checkpoint *c = sample(3, 0);
	struct ckpt_model *model, *again;
	struct ckpt_optimizer *optimizer;
	struct ckpt_trainer *trainer;
	struct ckpt_view view;
	double logits[15];
	uint8_t *bytes;
	size_t n;

	(void)unused;
	assert_int_equal(ckpt_checkpoint_take_model(c, &model), CKPT_OK);
	assert_int_equal(ckpt_checkpoint_take_model(c, &again), CKPT_REJECTED);
	assert_null(again);
	assert_int_equal(
		ckpt_checkpoint_restore_model(c, &again), CKPT_REJECTED);
	assert_int_equal(ckpt_checkpoint_restore_optimizer(c, &optimizer),
		CKPT_REJECTED);
	assert_int_equal(ckpt_trainer_resume(c, &trainer), CKPT_REJECTED);
	assert_int_equal(ckpt_checkpoint_encode(c, &bytes, &n), CKPT_REJECTED);
	assert_false(ckpt_checkpoint_tensor(c, 0, &view));
	assert_null(ckpt_checkpoint_config(c));
	ckpt_checkpoint_free(c);
	assert_int_equal(ckpt_model_logits(model, &tokens, logits), CKPT_OK);
	ckpt_model_free(model);
}

static void
test_ownership_taken_model_equals_restored(void **unused)
{
	struct ckpt_checkpoint *c = sample(3, 0);
	struct ckpt_model *restored, *taken;
	double a[15], b[15];

	(void)unused;
	assert_int_equal(ckpt_checkpoint_restore_model(c, &restored), CKPT_OK);
	assert_int_equal(ckpt_checkpoint_take_model(c, &taken), CKPT_OK);
	assert_int_equal(ckpt_model_logits(restored, &tokens, a), CKPT_OK);
	assert_int_equal(ckpt_model_logits(taken, &tokens, b), CKPT_OK);
	assert_memory_equal(a, b, sizeof a);
	ckpt_model_free(restored);
	ckpt_model_free(taken);
	ckpt_checkpoint_free(c);
}

static void
test_ownership_powers_are_restored_not_computed(void **unused)
{
	/* 0.9 multiplied three times is not 0.5. */
	struct ckpt_checkpoint *c = sample(3, 0.5);
	struct ckpt_optimizer *optimizer;
	struct ckpt_trainer *trainer;
	struct ckpt_capture *capture;
	struct ckpt_checkpoint *after;
	double p1, p2;

	(void)unused;
	assert_int_equal(
		ckpt_checkpoint_restore_optimizer(c, &optimizer), CKPT_OK);
	ckpt_optimizer_powers(optimizer, &p1, &p2);
	assert_true(p1 == 0.5);
	assert_int_equal(ckpt_optimizer_step(optimizer), 3);
	ckpt_optimizer_free(optimizer);
	assert_int_equal(ckpt_trainer_resume(c, &trainer), CKPT_OK);
	assert_int_equal(
		ckpt_trainer_step(trainer, &tokens, 0.01, NULL), CKPT_OK);
	assert_int_equal(ckpt_trainer_capture(trainer, &capture), CKPT_OK);
	assert_int_equal(
		ckpt_checkpoint_from_capture(capture, 1, &after), CKPT_OK);
	assert_int_equal(
		ckpt_checkpoint_restore_optimizer(after, &optimizer), CKPT_OK);
	ckpt_optimizer_powers(optimizer, &p1, &p2);
	assert_true(p1 == 0.5 * 0.9);
	ckpt_optimizer_free(optimizer);
	ckpt_checkpoint_free(after);
	ckpt_capture_free(capture);
	ckpt_trainer_free(trainer);
	ckpt_checkpoint_free(c);
}

static void
test_ownership_capture_is_a_copy_and_stays_usable(void **unused)
{
	struct ckpt_checkpoint *c = sample(3, 0), *a, *b, *d;
	struct ckpt_trainer *trainer;
	struct ckpt_capture *capture;
	double loss;

	(void)unused;
	assert_int_equal(ckpt_trainer_resume(c, &trainer), CKPT_OK);
	assert_int_equal(ckpt_trainer_capture(trainer, &capture), CKPT_OK);
	assert_int_equal(
		ckpt_checkpoint_from_capture(capture, 99, &a), CKPT_OK);
	/* Nothing was done in between: the very file that it came from. */
	assert_same(a, c, true);
	assert_int_equal(
		ckpt_trainer_step(trainer, &tokens, 0.01, &loss), CKPT_OK);
	assert_int_equal(ckpt_trainer_updates(trainer), 4);
	assert_int_equal(
		ckpt_checkpoint_from_capture(capture, 99, &b), CKPT_OK);
	assert_same(a, b, true);
	assert_int_equal(
		ckpt_checkpoint_from_capture(capture, 100, &d), CKPT_OK);
	assert_same(a, d, false);
	ckpt_capture_free(capture);
	ckpt_trainer_free(trainer);
	ckpt_checkpoint_free(a);
	ckpt_checkpoint_free(b);
	ckpt_checkpoint_free(d);
	ckpt_checkpoint_free(c);
}

static void
test_ownership_refused_update_changes_nothing(void **unused)
{
	static const uint32_t beyond[] = { 0, 1, 5 };
	const struct ckpt_tokens bad = { 1, 3, beyond, targets };
	const struct ckpt_tokens long_row = { 1, 4, ids, targets };
	struct ckpt_checkpoint *c = sample(3, 0), *after;
	struct ckpt_trainer *trainer;
	struct ckpt_capture *capture;

	(void)unused;
	assert_int_equal(ckpt_trainer_resume(c, &trainer), CKPT_OK);
	assert_int_equal(
		ckpt_trainer_step(trainer, &bad, 0.01, NULL), CKPT_REJECTED);
	assert_int_equal(ckpt_trainer_step(trainer, &long_row, 0.01, NULL),
		CKPT_REJECTED);
	assert_int_equal(
		ckpt_trainer_step(trainer, &tokens, 0.0, NULL), CKPT_REJECTED);
	assert_int_equal(ckpt_trainer_step(trainer, &tokens, 1000.0, NULL),
		CKPT_REJECTED);
	assert_int_equal(ckpt_trainer_capture(trainer, &capture), CKPT_OK);
	assert_int_equal(
		ckpt_checkpoint_from_capture(capture, 99, &after), CKPT_OK);
	assert_same(after, c, true);
	ckpt_checkpoint_free(after);
	ckpt_capture_free(capture);
	ckpt_trainer_free(trainer);
	ckpt_checkpoint_free(c);
}

/* A moment so large that its update is not finite, in the last parameter: the
 * ones before it must not have moved. */
static void
test_ownership_update_is_all_or_nothing(void **unused)
{
	struct ckpt_checkpoint *c = sample(3, 0), *after;
	struct ckpt_state *s = &c->state;
	struct ckpt_trainer *trainer;
	struct ckpt_capture *capture;
	uint8_t huge[8];

	(void)unused;
	ckpt_store_u64(huge, 0x7fefffffffffffffu);
	memcpy((uint8_t *)(uintptr_t)s->first[s->nmoments - 1].data, huge, 8);
	assert_int_equal(ckpt_trainer_resume(c, &trainer), CKPT_OK);
	assert_int_equal(
		ckpt_trainer_step(trainer, &tokens, 0.01, NULL), CKPT_REJECTED);
	assert_int_equal(ckpt_trainer_capture(trainer, &capture), CKPT_OK);
	assert_int_equal(
		ckpt_checkpoint_from_capture(capture, 99, &after), CKPT_OK);
	assert_same(after, c, true);
	ckpt_checkpoint_free(after);
	ckpt_capture_free(capture);
	ckpt_trainer_free(trainer);
	ckpt_checkpoint_free(c);
}

/* An embedding so large that its mean square overflows: without a look at the
 * sum the norm would come out as zero and the logits as finite numbers. */
static void
test_ownership_logits_refuse_a_norm_that_overflows(void **unused)
{
	struct ckpt_checkpoint *c = sample(3, 0);
	struct ckpt_model *model;
	double logits[15];
	uint8_t large[8];

	(void)unused;
	ckpt_store_u64(large, ckpt_f64_bits(1e200));
	memcpy((uint8_t *)(uintptr_t)c->state.parameters[0].data, large, 8);
	assert_int_equal(ckpt_checkpoint_restore_model(c, &model), CKPT_OK);
	assert_int_equal(
		ckpt_model_logits(model, &tokens, logits), CKPT_REJECTED);
	ckpt_model_free(model);
	ckpt_checkpoint_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ownership_restores_share_no_memory),
		cmocka_unit_test(test_ownership_take_consumes),
		cmocka_unit_test(test_ownership_taken_model_equals_restored),
		cmocka_unit_test(
			test_ownership_powers_are_restored_not_computed),
		cmocka_unit_test(
			test_ownership_capture_is_a_copy_and_stays_usable),
		cmocka_unit_test(test_ownership_refused_update_changes_nothing),
		cmocka_unit_test(test_ownership_update_is_all_or_nothing),
		cmocka_unit_test(
			test_ownership_logits_refuse_a_norm_that_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
