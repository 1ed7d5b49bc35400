/* SPDX-License-Identifier: MIT */
/*
 * A step that says "equal" must be able to say "mismatch". What the second
 * branch is loaded from is spoiled here in every way that still loads, and in
 * one that does not; what the step then names is held against two updates of
 * our own, compared element by element. Also what is refused before anything
 * is done, and that threads change no bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "format/format.h"
#include "model/synth.h"
#include "replay/step.h"
#include "sink/save.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { VOCAB = 5, TOKENS = 3, LOGITS = VOCAB * TOKENS };

static const uint32_t ids[] = { 0, 3, 1 }, targets[] = { 3, 1, 4 };
static const struct ckpt_batch batch = { 1, TOKENS, ids, targets };
static const double rate = 0.006;

/* Some of its records are longer than what is compared in one piece. */
static const struct ckpt_synth small = {
	.config = { VOCAB, 8, 2, 80, 1, 4, 500.0, 1e-5, 0, 0 },
	.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
	.step = 7,
	.gain_groups = true,
	.seed = 11,
	.sampling_rng_state = 1,
};

/* ---- making ------------------------------------------------------------- */

static struct ckpt_checkpoint *
decoded(const struct ckpt_buf *bytes)
{
	struct ckpt_source *source = ckpt_source_memory(bytes->p, bytes->n);
	struct ckpt_checkpoint *c;

	assert_non_null(source);
	assert_int_equal(ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
	ckpt_source_close(source);
	return c;
}

/* A checkpoint of these settings, after what edit does to the state. */
static void
make(struct ckpt_buf *bytes, const struct ckpt_synth *synth,
	void (*edit)(struct ckpt_state *state))
{
	struct ckpt_arena arena;
	struct ckpt_state state;

	ckpt_arena_init(&arena, UINT64_MAX);
	ckpt_buf_init(bytes);
	assert_int_equal(ckpt_synth_state(&arena, synth, &state), CKPT_OK);
	if (edit)
		edit(&state);
	assert_int_equal(
		ckpt_encode(bytes, ckpt_format_at(0), &state, NULL), CKPT_OK);
	ckpt_arena_release(&arena);
}

static struct ckpt_checkpoint *
load(const struct ckpt_synth *synth, void (*edit)(struct ckpt_state *state))
{
	struct ckpt_checkpoint *c;
	struct ckpt_buf bytes;

	make(&bytes, synth, edit);
	c = decoded(&bytes);
	ckpt_buf_release(&bytes);
	return c;
}

static struct ckpt_step step_of(enum ckpt_status (*meddle)(struct ckpt_spool *))
{
	return (struct ckpt_step){ .batch = &batch,
		.rate = rate,
		.max_memory = UINT64_MAX,
		.meddle = meddle };
}

/* ---- spoiling ----------------------------------------------------------- */

/* What an encoder with a fault does to the state that it was given. */
static void (*fault)(struct ckpt_state *state);

static void
flip(const struct ckpt_tensor *tensor, size_t element, uint64_t mask)
{
	uint8_t *p = (uint8_t *)(uintptr_t)tensor->data + 8 * element;

	ckpt_store_u64(p, ckpt_load_u64(p) ^ mask);
}

static void
in_no_way(struct ckpt_state *state)
{
	(void)state;
}

static void
in_the_first_parameter(struct ckpt_state *s)
{
	flip(&s->parameters[0], 0, 1);
}

static void
in_a_weight(struct ckpt_state *s)
{
	flip(&s->parameters[4], 17, (uint64_t)1 << 51);
}

static void
in_a_first_moment(struct ckpt_state *s)
{
	flip(&s->first[s->nmoments - 1], 3, (uint64_t)1 << 50);
}

static void
in_a_second_moment(struct ckpt_state *s)
{
	flip(&s->second[2], 5, (uint64_t)1 << 50);
}

static void
in_the_random_state(struct ckpt_state *s)
{
	s->sampling_rng_state ^= 1;
}

static void
in_a_setting(struct ckpt_state *s)
{
	s->adamw.learning_rate = nextafter(s->adamw.learning_rate, 1.0);
}

/* Encodes again, checksum and all, with the fault. */
static enum ckpt_status
encode_with_fault(struct ckpt_spool *spool)
{
	struct ckpt_source *source = ckpt_spool_source(spool);
	struct ckpt_checkpoint *c;
	struct ckpt_buf bytes = { 0 };

	assert_non_null(source);
	assert_int_equal(ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
	ckpt_source_close(source);
	fault(&c->state);
	assert_int_equal(
		ckpt_encode(&bytes, c->run->format, &c->state, NULL), CKPT_OK);
	assert_int_equal(bytes.n, spool->n);
	assert_int_equal(ckpt_spool_patch(spool, 0, bytes.p, bytes.n), CKPT_OK);
	ckpt_buf_release(&bytes);
	ckpt_checkpoint_free(c);
	return CKPT_OK;
}

/* One bit of a value, and the checksum left as it was. */
static enum ckpt_status
flip_a_bit_on_disk(struct ckpt_spool *spool)
{
	uint8_t byte;

	assert_int_equal(
		ckpt_spool_read(spool, spool->n - 8, &byte, 1), CKPT_OK);
	byte ^= 1;
	return ckpt_spool_patch(spool, spool->n - 8, &byte, 1);
}

/* Another checkpoint altogether. */
static enum ckpt_status
put(struct ckpt_spool *spool, uint64_t vocabulary, uint64_t layers)
{
	struct ckpt_synth other = small;
	struct ckpt_buf bytes;

	other.config.vocabulary = vocabulary;
	other.config.layers = layers;
	make(&bytes, &other, NULL);
	spool->n = bytes.n;
	assert_int_equal(ckpt_spool_patch(spool, 0, bytes.p, bytes.n), CKPT_OK);
	ckpt_buf_release(&bytes);
	return CKPT_OK;
}

static enum ckpt_status
put_more_layers(struct ckpt_spool *spool)
{
	return put(spool, VOCAB, 2);
}

/* It lacks the last token of the batch. */
static enum ckpt_status
put_fewer_tokens(struct ckpt_spool *spool)
{
	return put(spool, VOCAB - 1, 1);
}

static enum ckpt_status
break_down(struct ckpt_spool *spool)
{
	(void)spool;
	return CKPT_EIO;
}

/* ---- what the rows must say --------------------------------------------- */

/* A trainer after the update. */
static struct ckpt_trainer *
updated(void (*edit)(struct ckpt_state *state))
{
	struct ckpt_checkpoint *c = load(&small, NULL);
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_update update = { 0 };
	struct ckpt_trainer *t;
	double logits[LOGITS];

	edit(&c->state);
	t = ckpt_trainer_take(c);
	assert_non_null(t);
	assert_int_equal(
		ckpt_trainer_update(t, &batch, rate, logits, &update, &refusal),
		CKPT_OK);
	ckpt_buf_release(&refusal.text);
	return t;
}

/* One record against the same tensor of both trainers. */
static bool
check_row(const struct ckpt_step_row *row, const char *role,
	const struct ckpt_tensor *a, const struct ckpt_tensor *b)
{
	size_t n = strlen(role);
	uint64_t i = 0;

	assert_memory_equal(row->name, role, n);
	assert_int_equal(strlen(row->name), n + a->name.n);
	assert_memory_equal(row->name + n, a->name.p, a->name.n);
	assert_true(row->is_f64);
	assert_int_equal(row->len, a->len);
	while (i < a->len && a->data[i] == b->data[i])
		i++;
	assert_int_equal(row->equal, i == a->len);
	if (row->equal)
		return true;
	assert_int_equal(row->first, i);
	assert_int_equal(row->bits[0], ckpt_load_u64(a->data + i / 8 * 8));
	assert_int_equal(row->bits[1], ckpt_load_u64(b->data + i / 8 * 8));
	return false;
}

/* Runs a step whose encoder has a fault, and checks every record. The number
 * of those that differ. */
static size_t
differences(struct ckpt_step *step, void (*edit)(struct ckpt_state *state))
{
	struct ckpt_trainer *a = updated(in_no_way), *b = updated(edit);
	size_t n = 0, at;

	fault = edit;
	*step = step_of(encode_with_fault);
	assert_int_equal(ckpt_step_run(step, load(&small, NULL)), CKPT_OK);
	assert_true(step->loads_again);
	at = (size_t)a->state.tokenizer.npieces;
	assert_int_equal(step->nrows,
		at + a->state.nparameters + 2 * (size_t)a->state.nmoments);
	for (size_t i = 0; i < at; i++)
		assert_true(step->rows[i].equal && !step->rows[i].is_f64);
	for (uint32_t k = 0; k < a->state.nparameters; k++)
		n += !check_row(&step->rows[at++], "parameter ",
			&a->state.parameters[k], &b->state.parameters[k]);
	for (uint32_t k = 0; k < a->state.nmoments; k++) {
		n += !check_row(&step->rows[at++], "first moment ",
			&a->state.first[k], &b->state.first[k]);
		n += !check_row(&step->rows[at++], "second moment ",
			&a->state.second[k], &b->state.second[k]);
	}
	assert_int_equal(step->branch[0].state, ckpt_trainer_fingerprint(a));
	assert_int_equal(step->branch[1].state, ckpt_trainer_fingerprint(b));
	ckpt_trainer_free(a);
	ckpt_trainer_free(b);
	return n;
}

static const struct ckpt_step_row *
first_difference(const struct ckpt_step *step)
{
	size_t i = 0;

	while (i < step->nrows && step->rows[i].equal)
		i++;
	assert_true(i < step->nrows);
	return &step->rows[i];
}

/* ---- mismatches --------------------------------------------------------- */

static void
test_step_is_equal_when_nothing_was_spoiled(void **state)
{
	struct ckpt_step step;

	(void)state;
	assert_int_equal(differences(&step, in_no_way), 0);
	assert_true(step.header_equal);
	assert_true(ckpt_step_equal(&step));
	ckpt_step_release(&step);
}

/* The last bit of one weight: the difference is there, in the first record,
 * at its first element. */
static void
test_step_sees_the_last_bit_of_a_parameter(void **state)
{
	const struct ckpt_step_row *row;
	struct ckpt_step step;

	(void)state;
	assert_true(differences(&step, in_the_first_parameter) > 0);
	assert_false(ckpt_step_equal(&step));
	row = first_difference(&step);
	assert_string_equal(row->name, "parameter token_embedding.weight");
	assert_int_equal(row->first / 8, 0);
	assert_true(row->bits[0] != row->bits[1]);
	ckpt_step_release(&step);
}

static void
test_step_sees_another_weight(void **state)
{
	struct ckpt_step step;

	(void)state;
	assert_true(differences(&step, in_a_weight) > 0);
	assert_false(ckpt_step_equal(&step));
	assert_true(step.branch[0].before != step.branch[1].before);
	assert_true(step.branch[0].gradients != step.branch[1].gradients);
	ckpt_step_release(&step);
}

/* A moment reaches the moment after it and one element of its parameter, and
 * nothing else; logits before the update and gradients cannot see it. */
static void
test_step_sees_moments(void **state)
{
	static void (*const edits[])(struct ckpt_state *) = { in_a_first_moment,
		in_a_second_moment };
	static const uint64_t elements[] = { 3, 5 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ckpt_step step;

		assert_int_equal(differences(&step, edits[i]), 2);
		assert_false(ckpt_step_equal(&step));
		assert_int_equal(
			first_difference(&step)->first / 8, elements[i]);
		assert_int_equal(step.branch[0].before, step.branch[1].before);
		assert_int_equal(
			step.branch[0].gradients, step.branch[1].gradients);
		assert_true(step.branch[0].after != step.branch[1].after);
		ckpt_step_release(&step);
	}
}

/* These stand in the header, and no tensor knows of them. */
static void
test_step_sees_the_random_state_and_settings(void **state)
{
	struct ckpt_step step;

	(void)state;
	assert_int_equal(differences(&step, in_the_random_state), 0);
	assert_false(step.header_equal);
	assert_true(step.branch[0].rng_next != step.branch[1].rng_next);
	assert_int_equal(step.branch[0].state, step.branch[1].state);
	assert_false(ckpt_step_equal(&step));
	ckpt_step_release(&step);
	assert_int_equal(differences(&step, in_a_setting), 0);
	assert_false(step.header_equal);
	assert_int_equal(step.branch[0].rng_next, step.branch[1].rng_next);
	assert_false(ckpt_step_equal(&step));
	ckpt_step_release(&step);
}

static void
test_step_sees_bytes_that_do_not_load(void **state)
{
	struct ckpt_step step = step_of(flip_a_bit_on_disk);

	(void)state;
	assert_int_equal(ckpt_step_run(&step, load(&small, NULL)), CKPT_OK);
	assert_false(step.loads_again);
	assert_false(ckpt_step_equal(&step));
	ckpt_step_release(&step);
}

/* Valid, but with other records, or with too few tokens for the batch. */
static void
test_step_sees_another_checkpoint(void **state)
{
	static enum ckpt_status (*const meddle[])(
		struct ckpt_spool *) = { put_more_layers, put_fewer_tokens };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ckpt_step step = step_of(meddle[i]);

		assert_int_equal(
			ckpt_step_run(&step, load(&small, NULL)), CKPT_OK);
		assert_true(step.loads_again);
		assert_false(ckpt_step_equal(&step));
		/* With fewer tokens nothing could be compared. */
		for (size_t r = 0; i == 1 && r < step.nrows; r++)
			assert_false(step.rows[r].equal);
		ckpt_step_release(&step);
	}
}

static void
test_step_passes_trouble_on(void **state)
{
	struct ckpt_step step = step_of(break_down);

	(void)state;
	assert_int_equal(ckpt_step_run(&step, load(&small, NULL)), CKPT_EIO);
	ckpt_step_release(&step);
}

/* ---- refusals ----------------------------------------------------------- */

static void
at_the_last_step(struct ckpt_state *s)
{
	s->optimizer_step = s->selected_step = UINT64_MAX;
}

/* At step 0 a loader accepts groups of other names. */
static void
with_groups_of_others(struct ckpt_state *s)
{
	static const struct ckpt_name other = { (const uint8_t *)"other", 5 };

	s->groups = true;
	s->decay = &other;
	s->ndecay = 1;
	s->nno_decay = 0;
}

static enum ckpt_status
never(struct ckpt_spool *spool)
{
	(void)spool;
	fail_msg("a refused step must not encode anything");
	return CKPT_OK;
}

/* Refused before anything was encoded. */
static void
refused(const char *kind, const struct ckpt_batch *b, double lr,
	void (*edit)(struct ckpt_state *state), uint64_t at)
{
	struct ckpt_synth synth = small;
	struct ckpt_step step = step_of(never);

	synth.step = at;
	synth.gain_groups = at > 0;
	step.batch = b;
	step.rate = lr;
	assert_int_equal(
		ckpt_step_run(&step, load(&synth, edit)), CKPT_REJECTED);
	assert_string_equal(step.refusal.kind, kind);
	assert_true(step.refusal.text.n > 0);
	assert_int_equal(step.nrows, 0);
	assert_int_equal(step.reencoded.fd, -1);
	assert_int_equal(step.updated.fd, -1);
	ckpt_step_release(&step);
}

static void
test_step_refuses_tokens(void **state)
{
	static const uint32_t beyond[] = { 0, VOCAB, 1 };
	static const uint32_t row[] = { 0, 1, 2, 3, 4 };
	const struct ckpt_batch inputs = { 1, TOKENS, beyond, targets };
	const struct ckpt_batch wanted = { 1, TOKENS, ids, beyond };
	const struct ckpt_batch long_row = { 1, 5, row, row };
	const struct ckpt_batch no_row = { 0, TOKENS, ids, targets };
	const struct ckpt_batch no_token = { 1, 0, ids, targets };

	(void)state;
	refused("TokenOutOfRange", &inputs, rate, NULL, 7);
	refused("TokenOutOfRange", &wanted, rate, NULL, 7);
	refused("TooManyPositions", &long_row, rate, NULL, 7);
	refused("Shape", &no_row, rate, NULL, 7);
	refused("Shape", &no_token, rate, NULL, 7);
}

static void
test_step_refuses_rates(void **state)
{
	static const double bad[] = { 0.0, -0.0, -1.0, (double)INFINITY,
		-(double)INFINITY, (double)NAN };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		refused("InvalidLearningRate", &batch, bad[i], NULL, 7);
	/* Times 0.1: one exactly, more, infinite, and zero. */
	refused("InvalidDecayProduct", &batch, 10.0, NULL, 7);
	refused("InvalidDecayProduct", &batch, DBL_MAX, NULL, 7);
	refused("InvalidDecayProduct", &batch, 0x1p-1074, NULL, 7);
}

static void
test_step_refuses_states_that_cannot_go_on(void **state)
{
	(void)state;
	refused("StepOverflow", &batch, rate, at_the_last_step, 7);
	refused("ParameterGroupsMismatch", &batch, rate, with_groups_of_others,
		0);
}

/* ---- threads ------------------------------------------------------------ */

/* Products of 2 x 8 tokens and every width of this model are large enough to
 * be shared out, and no width divides evenly among three. */
static void
test_step_is_the_same_with_any_team(void **state)
{
	enum { ROW = 8, WORDS = 2 * ROW };
	static const struct ckpt_synth large = {
		.config = { 300, 128, 4, 260, 1, ROW, 500.0, 1e-5, 0, 0 },
		.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
		.step = 2,
		.gain_groups = true,
		.seed = 5,
		.sampling_rng_state = 1,
	};
	uint32_t in[WORDS], out[WORDS];
	const struct ckpt_batch words = { 2, ROW, in, out };
	struct ckpt_step one = step_of(NULL);

	(void)state;
	for (uint32_t i = 0; i < WORDS; i++) {
		in[i] = (i * 97 + 5) % 300;
		out[i] = (i * 31 + 299) % 300;
	}
	one.batch = &words;
	assert_int_equal(ckpt_step_run(&one, load(&large, NULL)), CKPT_OK);
	assert_true(ckpt_step_equal(&one));
	for (unsigned jobs = 1; jobs <= 3; jobs++) {
		struct ckpt_step step = step_of(NULL);

		step.batch = &words;
		step.team = ckpt_team_new(jobs);
		assert_int_equal(step.team != NULL, jobs > 1);
		assert_int_equal(
			ckpt_step_run(&step, load(&large, NULL)), CKPT_OK);
		assert_true(ckpt_step_equal(&step));
		assert_int_equal(step.label, one.label);
		assert_memory_equal(
			step.branch, one.branch, sizeof step.branch);
		ckpt_step_release(&step);
		ckpt_team_free(step.team);
	}
	ckpt_step_release(&one);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_step_is_equal_when_nothing_was_spoiled),
		cmocka_unit_test(test_step_sees_the_last_bit_of_a_parameter),
		cmocka_unit_test(test_step_sees_another_weight),
		cmocka_unit_test(test_step_sees_moments),
		cmocka_unit_test(test_step_sees_the_random_state_and_settings),
		cmocka_unit_test(test_step_sees_bytes_that_do_not_load),
		cmocka_unit_test(test_step_sees_another_checkpoint),
		cmocka_unit_test(test_step_passes_trouble_on),
		cmocka_unit_test(test_step_refuses_tokens),
		cmocka_unit_test(test_step_refuses_rates),
		cmocka_unit_test(test_step_refuses_states_that_cannot_go_on),
		cmocka_unit_test(test_step_is_the_same_with_any_team),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
