/* SPDX-License-Identifier: MIT */
/*
 * Training sessions: the published job gives its published table and bits,
 * update by update; continued from any boundary it gives the same; what is
 * refused is refused before anything is mutable, and a session in the middle
 * of an update cannot be captured and keeps every bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "model/identity.h"
#include "replay/envelope.h"
#include "replay/session.h"

static const struct ckpt_envelope here = {
	.executable = "0000000000000000000000000000000000000000000000000000"
		      "000000000000",
	.arithmetic = { (const uint8_t *)"test", 4 },
};

/* A checkpoint of a captured state, without a file between: it borrows from
 * the state, so the session that was captured has to stay as it is. */
static struct ckpt_checkpoint *
checkpoint_of(const struct ckpt_state *state)
{
	struct ckpt_checkpoint *c = ckpt_checkpoint_new(NULL);

	assert_non_null(c);
	c->state = *state;
	c->loaded = true;
	return c;
}

struct golden {
	uint64_t rate, loss;
	uint32_t token;
	uint64_t targets, cursor, traversals, counter;
	double scale;
	uint64_t progress, rng, parameters;
};

static const struct golden published[] = {
	{ 0x3f50624dd2f1a9fc, 0x4016733fdb81cd16, 170, 5, 2, 0, 120, 8, 1,
		11400714819323198481u, 0x19edceca98936abc },
	{ 0x3f49652bd3c36114, 0x40164ef688f8f350, 186, 7, 1, 1, 288, 8, 2,
		4354685564936845350u, 0x96cb922036c5974b },
	{ 0x3f354c985f06f696, 0x401691a313f23380, 64, 6, 0, 2, 432, 16, 0,
		15755400384260043835u, 0x372cef10bf0db13b },
	{ 0x3f1a36e2eb1c432d, 0x40168eda63d57286, 23, 5, 2, 2, 552, 16, 1,
		8709371129873690704u, 0x975112740e3cefdf },
};

static void
assert_update(struct ckpt_session *s, const struct golden *g)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session_record r;

	assert_int_equal(ckpt_session_update(s, &r, &refusal), CKPT_OK);
	assert_false(r.attempt.skipped);
	assert_true(ckpt_f64_bits(r.attempt.rate) == g->rate);
	assert_true(ckpt_f64_bits(r.attempt.mean_loss) == g->loss);
	assert_int_equal(r.attempt.monitored, g->token);
	assert_int_equal(r.attempt.targets, g->targets);
	assert_int_equal(r.cursor, g->cursor);
	assert_int_equal(r.traversals, g->traversals);
	assert_int_equal(r.counter, g->counter);
	assert_true(r.attempt.next_scale == g->scale);
	assert_int_equal(s->learner.training.scaler.progress, g->progress);
	assert_true(r.rng == g->rng);
	assert_true(ckpt_trainer_parameters_fingerprint(s->learner.trainer) ==
		    g->parameters);
}

static void
assert_digests(
	const struct ckpt_session *s, const char *model, const char *optimizer)
{
	struct ckpt_refusal refusal = { 0 };
	char text[CKPT_SHA256_TEXT];
	struct ckpt_state state, other;

	assert_int_equal(ckpt_session_capture(s, &state, &refusal), CKPT_OK);
	assert_true(ckpt_model_identity(&state, text));
	assert_string_equal(text, model);
	assert_true(ckpt_optimizer_digest(&state, text));
	assert_string_equal(text, optimizer);
	other = ckpt_state_model(&state);
	assert_true(ckpt_model_identity(&other, text));
	assert_string_equal(text, model);
}

static const char model2[] = "f99f6971f35a8c60902153b4d7253a18"
			     "1bdae1b1416b268f368803cf424499ea",
		  model4[] = "c1c13b8b5d63aa1ce8853ca5dda987de"
			     "4f3f21684c045866a64840ab06d2f5e2",
		  optimizer2[] = "423fab7889ff6a208afea53b4ebae381"
				 "35844d4ec31523e12e06e50b333c61e9",
		  optimizer4[] = "b0c94b5587a5bf177488764cc90989a4"
				 "c2fb826bf75cac3b3057cd1f16f2b4fd";

static void
test_session_published_table(void **state)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session_record record;
	struct ckpt_session s;
	struct ckpt_job job;
	double rate;

	(void)state;
	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_int_equal(
		ckpt_session_start(&s, &job, NULL, &here, &refusal), CKPT_OK);
	assert_true(ckpt_trainer_parameters_fingerprint(s.learner.trainer) ==
		    0x39ce25a055a6f7f4);
	for (size_t i = 0; i < 4; i++) {
		assert_update(&s, &published[i]);
		if (i == 1) {
			assert_digests(&s, model2, optimizer2);
			assert_true(ckpt_learner_next_rate(&s.learner, &rate));
			assert_true(ckpt_f64_bits(rate) == 0x3f354c985f06f696);
		}
	}
	assert_digests(&s, model4, optimizer4);
	assert_false(ckpt_learner_next_rate(&s.learner, &rate));
	/* A fifth update is refused and changes nothing. */
	assert_int_equal(
		ckpt_session_update(&s, &record, &refusal), CKPT_REJECTED);
	assert_digests(&s, model4, optimizer4);
	ckpt_buf_release(&refusal.text);
	ckpt_session_release(&s);
	ckpt_job_release(&job);
}

/* Continued after any number of updates, also none. */
static void
test_session_continuation(void **state)
{
	(void)state;
	for (size_t cut = 0; cut <= 4; cut++) {
		struct ckpt_refusal refusal = { 0 };
		struct ckpt_session a, b;
		struct ckpt_state at;
		struct ckpt_job job;

		assert_int_equal(ckpt_job_published(&job), CKPT_OK);
		assert_int_equal(
			ckpt_session_start(&a, &job, NULL, &here, &refusal),
			CKPT_OK);
		for (size_t i = 0; i < cut; i++)
			assert_update(&a, &published[i]);
		assert_int_equal(
			ckpt_session_capture(&a, &at, &refusal), CKPT_OK);
		assert_int_equal(
			ckpt_session_restore(&b, &job, checkpoint_of(&at),
				&here, false, &refusal),
			CKPT_OK);
		for (size_t i = cut; i < 4; i++)
			assert_update(&b, &published[i]);
		assert_digests(&b, model4, optimizer4);
		ckpt_session_release(&b);
		ckpt_session_release(&a);
		ckpt_job_release(&job);
	}
}

static void
test_session_warm_start(void **state)
{
	static const struct golden warm[] = {
		{ 0x3f50624dd2f1a9fc, 0x401660cbf4f014fc, 170, 5, 2, 0, 120, 8,
			1, 11400714819323198481u, 0x2791a71da16881cd },
		{ 0x3f49652bd3c36114, 0x401642f30844486a, 246, 7, 1, 1, 288, 8,
			2, 4354685564936845350u, 0xebe684977a790d5d },
	};
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session a, b;
	struct ckpt_state at;
	struct ckpt_job job;

	(void)state;
	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_int_equal(
		ckpt_session_start(&a, &job, NULL, &here, &refusal), CKPT_OK);
	assert_update(&a, &published[0]);
	assert_update(&a, &published[1]);
	assert_int_equal(ckpt_session_capture(&a, &at, &refusal), CKPT_OK);
	/* Of a training checkpoint there is no warm start. */
	assert_int_equal(ckpt_session_start(
				 &b, &job, checkpoint_of(&at), &here, &refusal),
		CKPT_REJECTED);
	assert_string_equal(refusal.kind, "NotAModel");
	ckpt_session_release(&b);
	at = ckpt_state_model(&at);
	assert_int_equal(ckpt_session_start(
				 &b, &job, checkpoint_of(&at), &here, &refusal),
		CKPT_OK);
	assert_update(&b, &warm[0]);
	assert_update(&b, &warm[1]);
	assert_digests(&b,
		"c4589e5bcff41a53704679608ee7c09905dbadbe3d1a67994703e10782736"
		"ccb",
		"cbcf928e262ae23188b95e896dfd08833a74aa77a49b5830d5e914aad813c"
		"194");
	ckpt_session_release(&b);
	/* Other settings are another model. */
	at.config.rope_base = 10001.0;
	assert_int_equal(ckpt_session_start(
				 &b, &job, checkpoint_of(&at), &here, &refusal),
		CKPT_REJECTED);
	assert_string_equal(refusal.kind, "OtherModel");
	assert_non_null(strstr(refusal.text.p, "model.rope_base"));
	ckpt_session_release(&b);
	ckpt_buf_release(&refusal.text);
	ckpt_session_release(&a);
	ckpt_job_release(&job);
}

/* ---- refusals ----------------------------------------------------------- */

static void
other_data(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)s;
	t->data_sha256[0] ^= 1;
}

static void
other_width(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)t;
	s->config.feed_forward_width++;
}

static void
other_clip(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)s;
	t->clip = 2.0;
}

static void
other_beta(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)t;
	s->adamw.beta2 = 0.5;
}

static void
other_groups(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)t;
	s->groups = false;
}

static void
other_dropout(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)s;
	t->dropout_seed--;
}

static void
other_interval(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)s;
	t->scaler.interval++;
}

static void
other_arithmetic(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)s;
	t->envelope.arithmetic.n--;
}

static void
other_executable(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)s;
	t->envelope.executable[9] = 'f';
}

static void
not_training(struct ckpt_state *s, struct ckpt_training *t)
{
	(void)t;
	*s = ckpt_state_model(s);
}

static void
test_session_refuses(void **state)
{
	static const struct {
		void (*edit)(struct ckpt_state *, struct ckpt_training *);
		const char *kind, *says;
	} edits[] = {
		{ other_data, "OtherData", "documents" },
		{ other_width, "OtherJob", "model.feed_forward_width" },
		{ other_clip, "OtherJob", "plan.clip" },
		{ other_beta, "OtherJob", "optimizer.beta2" },
		{ other_groups, "OtherJob", "optimizer.groups" },
		{ other_dropout, "OtherJob", "dropout.seed" },
		{ other_interval, "OtherJob", "scaler.interval" },
		{ other_arithmetic, "OtherArithmetic", "test" },
		{ other_executable, "OtherExecutable", "000000000f" },
		{ not_training, "NotATrainingCheckpoint", "" },
	};
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session a, b;
	struct ckpt_state at;
	struct ckpt_job job;

	(void)state;
	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_int_equal(
		ckpt_session_start(&a, &job, NULL, &here, &refusal), CKPT_OK);
	assert_update(&a, &published[0]);
	assert_int_equal(ckpt_session_capture(&a, &at, &refusal), CKPT_OK);
	for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
		struct ckpt_training training = *at.training;
		struct ckpt_state other = at;

		other.training = &training;
		edits[i].edit(&other, &training);
		assert_int_equal(
			ckpt_session_restore(&b, &job, checkpoint_of(&other),
				&here, false, &refusal),
			CKPT_REJECTED);
		assert_false(b.learning);
		assert_string_equal(refusal.kind, edits[i].kind);
		assert_non_null(strstr(refusal.text.p, edits[i].says));
		ckpt_session_release(&b);
	}
	ckpt_buf_release(&refusal.text);
	ckpt_session_release(&a);
	ckpt_job_release(&job);
}

/* Another executable can be set aside, which is remembered; another
 * arithmetic cannot. */
static void
test_session_override_is_remembered(void **state)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_training training;
	struct ckpt_session a, b;
	struct ckpt_state at;
	struct ckpt_job job;

	(void)state;
	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_int_equal(
		ckpt_session_start(&a, &job, NULL, &here, &refusal), CKPT_OK);
	assert_int_equal(ckpt_session_capture(&a, &at, &refusal), CKPT_OK);
	training = *at.training;
	at.training = &training;
	other_executable(&at, &training);
	assert_int_equal(ckpt_session_restore(&b, &job, checkpoint_of(&at),
				 &here, true, &refusal),
		CKPT_OK);
	assert_int_equal(b.learner.training.envelope.noverrides, 1);
	assert_memory_equal(b.learner.training.envelope.overrides[0].p,
		training.envelope.executable, 64);
	assert_string_equal(
		b.learner.training.envelope.executable, here.executable);
	ckpt_session_release(&b);
	/* The same again is no reason to set anything aside. */
	strcpy(training.envelope.executable, here.executable);
	assert_int_equal(ckpt_session_restore(&b, &job, checkpoint_of(&at),
				 &here, true, &refusal),
		CKPT_OK);
	assert_int_equal(b.learner.training.envelope.noverrides, 0);
	ckpt_session_release(&b);
	other_arithmetic(&at, &training);
	assert_int_equal(ckpt_session_restore(&b, &job, checkpoint_of(&at),
				 &here, true, &refusal),
		CKPT_REJECTED);
	ckpt_session_release(&b);
	ckpt_buf_release(&refusal.text);
	ckpt_session_release(&a);
	ckpt_job_release(&job);
}

/* ---- in the middle ------------------------------------------------------ */

static void
test_session_pending_is_refused_without_clearing(void **state)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session s;
	struct ckpt_learner *l = &s.learner;
	struct ckpt_batch row = { 1, 3, NULL, NULL };
	struct ckpt_state at;
	struct ckpt_job job;
	double *before;
	size_t bytes;

	(void)state;
	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_int_equal(
		ckpt_session_start(&s, &job, NULL, &here, &refusal), CKPT_OK);
	row.ids = job.documents[2].ids;
	row.targets = row.ids + 1;
	assert_int_equal(ckpt_learner_begin(l, 5, &refusal), CKPT_OK);
	assert_int_equal(ckpt_learner_add(l, &row, &refusal), CKPT_OK);
	bytes = l->trainer->scalars * sizeof *before;
	before = malloc(bytes);
	assert_non_null(before);
	memcpy(before, l->trainer->gradients, bytes);
	assert_int_equal(
		ckpt_session_capture(&s, &at, &refusal), CKPT_REJECTED);
	assert_string_equal(refusal.kind, "Pending");
	assert_int_equal(l->pending, 1);
	assert_memory_equal(before, l->trainer->gradients, bytes);
	free(before);
	ckpt_buf_release(&refusal.text);
	ckpt_session_release(&s);
	ckpt_job_release(&job);
}

static void
test_session_differences_are_named(void **state)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_buf what = { 0 };
	struct ckpt_training training;
	struct ckpt_session s;
	struct ckpt_state a, b;
	struct ckpt_tensor *tensors;
	struct ckpt_job job;
	uint8_t *values;

	(void)state;
	assert_int_equal(ckpt_job_published(&job), CKPT_OK);
	assert_int_equal(
		ckpt_session_start(&s, &job, NULL, &here, &refusal), CKPT_OK);
	assert_update(&s, &published[0]);
	assert_int_equal(ckpt_session_capture(&s, &a, &refusal), CKPT_OK);
	assert_true(ckpt_state_continues(&a, &a, &what));
	assert_int_equal(what.n, 0);
	b = a;
	training = *a.training;
	b.training = &training;
	training.dropout_counter++;
	assert_false(ckpt_state_continues(&a, &b, &what));
	assert_string_equal(
		what.p, "dropout counter: 120 replayed, 121 stored");
	ckpt_buf_clear(&what);
	/* The model comes before it. */
	tensors = malloc(a.nparameters * sizeof *tensors);
	values = malloc((size_t)a.parameters[3].len);
	assert_true(tensors && values);
	memcpy(tensors, a.parameters, a.nparameters * sizeof *tensors);
	memcpy(values, a.parameters[3].data, (size_t)a.parameters[3].len);
	values[8] ^= 1;
	tensors[3].data = values;
	b.parameters = tensors;
	assert_false(ckpt_state_continues(&a, &b, &what));
	assert_non_null(strstr(
		what.p, "model blocks.0.attention.key.weight element 1: "));
	free(tensors);
	free(values);
	ckpt_buf_release(&what);
	ckpt_session_release(&s);
	ckpt_job_release(&job);
}

/* The digest of a program's file, and a program that is not there. */
static void
test_session_envelope_is_of_a_file(void **state)
{
	struct ckpt_envelope e;
	struct ckpt_arena arena;

	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	assert_int_equal(ckpt_envelope_here(&arena, NULL, &e), CKPT_OK);
	assert_true(ckpt_sha256_is_text(e.executable, strlen(e.executable)));
	assert_true(e.arithmetic.n > 0);
	assert_int_equal(ckpt_envelope_here(&arena, "/dev/null", &e), CKPT_OK);
	assert_string_equal(e.executable,
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b"
		"855");
	assert_int_equal(ckpt_envelope_here(&arena, "/nowhere", &e), CKPT_EIO);
	ckpt_arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session_published_table),
		cmocka_unit_test(test_session_continuation),
		cmocka_unit_test(test_session_warm_start),
		cmocka_unit_test(test_session_refuses),
		cmocka_unit_test(test_session_override_is_remembered),
		cmocka_unit_test(
			test_session_pending_is_refused_without_clearing),
		cmocka_unit_test(test_session_differences_are_named),
		cmocka_unit_test(test_session_envelope_is_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
