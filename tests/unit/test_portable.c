/* SPDX-License-Identifier: MIT */
/*
 * Archives as what a process leaves behind: written to memory, read again and
 * gone on from. Continuation and refusals, the restored tie, corruption,
 * groups before the first update, and pending gradients.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/format.h"
#include "model/identity.h"
#include "num/adamw.h"
#include "num/loss.h"
#include "num/mat.h"
#include "replay/session.h"
#include "sink/save.h"

static const struct ckpt_envelope here = {
	.executable = "0000000000000000000000000000000000000000000000000000"
		      "000000000000",
	.arithmetic = { (const uint8_t *)"test", 4 },
};

/* ---- files in memory ---------------------------------------------------- */

static void
write_state(struct ckpt_buf *bytes, const struct ckpt_state *state)
{
	const struct ckpt_format *format = ckpt_format_find("safetensors");

	assert_non_null(format);
	ckpt_buf_clear(bytes);
	assert_int_equal(ckpt_encode(bytes, format, state, NULL), CKPT_OK);
}

static enum ckpt_status
read_bytes(const void *bytes, size_t n, struct ckpt_checkpoint **c)
{
	struct ckpt_source *source = ckpt_source_memory(bytes, n);
	enum ckpt_status status;

	assert_non_null(source);
	status = ckpt_checkpoint_read(source, NULL, c);
	ckpt_source_close(source);
	assert_non_null(*c);
	return status;
}

static struct ckpt_checkpoint *
read_whole(const struct ckpt_buf *bytes)
{
	struct ckpt_checkpoint *c;

	assert_int_equal(read_bytes(bytes->p, bytes->n, &c), CKPT_OK);
	return c;
}

/* ---- sessions ----------------------------------------------------------- */

static struct ckpt_job job;
static struct ckpt_refusal refusal;

static int
setup(void **state)
{
	(void)state;
	return ckpt_job_published(&job) != CKPT_OK;
}

static int
teardown(void **state)
{
	(void)state;
	ckpt_job_release(&job);
	ckpt_buf_release(&refusal.text);
	return 0;
}

static void
start(struct ckpt_session *s, size_t updates)
{
	struct ckpt_session_record record;

	assert_int_equal(
		ckpt_session_start(s, &job, NULL, &here, &refusal), CKPT_OK);
	for (size_t i = 0; i < updates; i++)
		assert_int_equal(
			ckpt_session_update(s, &record, &refusal), CKPT_OK);
}

/* The file of what a session has come to; of its model alone if wanted. */
static void
save(struct ckpt_session *s, bool model, struct ckpt_buf *bytes)
{
	struct ckpt_state state, portable;

	assert_int_equal(ckpt_session_capture(s, &state, &refusal), CKPT_OK);
	portable = ckpt_state_model(&state);
	write_state(bytes, model ? &portable : &state);
}

static void
assert_same_bytes(const struct ckpt_buf *a, const struct ckpt_buf *b)
{
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->p, b->p, a->n);
}

/* ---- continuation and refusals ------------------------------------------ */

static void
test_portable_continuation_and_refusals(void **state)
{
	struct ckpt_buf whole = { 0 }, cut = { 0 }, resumed = { 0 };
	struct ckpt_session_record record;
	struct ckpt_envelope other = here;
	struct ckpt_session s;

	(void)state;
	start(&s, 4);
	save(&s, false, &whole);
	ckpt_session_release(&s);
	for (size_t updates = 0; updates <= 4; updates++) {
		start(&s, updates);
		save(&s, false, &cut);
		ckpt_session_release(&s);
		assert_int_equal(
			ckpt_session_restore(&s, &job, read_whole(&cut), &here,
				false, &refusal),
			CKPT_OK);
		/* What is not gone on from is saved as it was. */
		save(&s, false, &resumed);
		assert_same_bytes(&cut, &resumed);
		for (size_t i = updates; i < 4; i++)
			assert_int_equal(
				ckpt_session_update(&s, &record, &refusal),
				CKPT_OK);
		save(&s, false, &resumed);
		assert_same_bytes(&whole, &resumed);
		ckpt_session_release(&s);
	}
	other.executable[0] = '1';
	assert_int_equal(ckpt_session_restore(&s, &job, read_whole(&cut),
				 &other, false, &refusal),
		CKPT_REJECTED);
	assert_string_equal(refusal.kind, "OtherExecutable");
	ckpt_session_release(&s);
	job.training.data_sha256[0] ^= 1;
	assert_int_equal(ckpt_session_restore(&s, &job, read_whole(&cut), &here,
				 false, &refusal),
		CKPT_REJECTED);
	assert_string_equal(refusal.kind, "OtherData");
	ckpt_session_release(&s);
	job.training.data_sha256[0] ^= 1;
	ckpt_buf_release(&whole);
	ckpt_buf_release(&cut);
	ckpt_buf_release(&resumed);
}

/* The executables that were set aside come back from the file, in order. */
static void
test_portable_overrides_are_stored(void **state)
{
	struct ckpt_envelope other = here;
	struct ckpt_buf bytes = { 0 };
	struct ckpt_session s;

	(void)state;
	start(&s, 1);
	save(&s, false, &bytes);
	ckpt_session_release(&s);
	for (int turn = 1; turn <= 2; turn++) {
		const struct ckpt_envelope *e;

		other.executable[0] = (char)('0' + turn);
		assert_int_equal(
			ckpt_session_restore(&s, &job, read_whole(&bytes),
				&other, true, &refusal),
			CKPT_OK);
		save(&s, false, &bytes);
		e = &s.learner.training.envelope;
		assert_int_equal(e->noverrides, turn);
		assert_int_equal(e->overrides[turn - 1].p[0], '0' + turn - 1);
		ckpt_session_release(&s);
	}
	ckpt_buf_release(&bytes);
}

/* ---- the tie ------------------------------------------------------------ */

enum { V = 266, D = 4, T = 3 };

/* One update's worth of everything, for a trainer of the published model. */
struct pass {
	double logits[T * V];
	double *gradients; /* of all parameters, the embedding first */
};

static const uint32_t inputs[T] = { 0, 99, 100 };
static const uint32_t targets[T] = { 99, 100, 1 };

static void
run_pass(struct ckpt_trainer *t, struct pass *p)
{
	struct ckpt_batch batch = { 1, T, inputs, targets };
	struct ckpt_not_finite fault;
	double *space, *scratch = malloc(sizeof p->logits), loss;
	size_t n;

	assert_true(ckpt_decoder_space(&t->dims, 1, T, CKPT_PASS_BACKWARD, &n));
	space = calloc(n, sizeof *space);
	p->gradients = calloc(t->scalars, sizeof *p->gradients);
	assert_true(space && scratch && p->gradients);
	assert_true(ckpt_decoder_forward(
		&t->dims, t->parameters, &batch, space, p->logits, &fault));
	assert_true(ckpt_decoder_gradients(&t->dims, t->parameters, &batch,
		space, scratch, p->gradients, &loss, &fault));
	free(space);
	free(scratch);
}

/* Features after the final norm, from a table that is looked up. */
static void
features(struct ckpt_trainer *t, const double *table, double *hidden)
{
	struct ckpt_batch batch = { 1, T, NULL, NULL };
	struct ckpt_not_finite fault;
	double *space;
	size_t n;

	for (size_t i = 0; i < T; i++)
		memcpy(hidden + i * D, table + inputs[i] * D,
			D * sizeof *hidden);
	assert_true(ckpt_decoder_space(&t->dims, 1, T, CKPT_PASS_FORWARD, &n));
	space = calloc(n, sizeof *space);
	assert_non_null(space);
	assert_true(ckpt_decoder_hidden(&t->dims, t->parameters, &batch, hidden,
		space, hidden, &fault));
	free(space);
}

/* The head's part of the table's gradient. */
static void
head_gradient(struct ckpt_trainer *t, const struct pass *p, double *g)
{
	double hidden[T * D], dz[T * V];

	features(t, t->parameters, hidden);
	ckpt_loss_forward(dz, p->logits, targets, T, V);
	ckpt_loss_backward(dz, dz, targets, T, V, 1.0 / (double)T);
	/* dE[v][j]: tokens are summed over, vocabulary is the row. */
	ckpt_mat_outer(NULL, g, dz, hidden, 1, T, V, D);
}

static bool
is_input(uint32_t id)
{
	for (size_t i = 0; i < T; i++)
		if (inputs[i] == id)
			return true;
	return false;
}

/* One update of values from a gradient, without moments before it. */
static void
step(double *x, const double *g, size_t n)
{
	const struct ckpt_adamw_update u = { 0.001, 0.9, 0.999, 1e-8, 1.0 - 0.9,
		1.0 - 0.999 };
	double *m = calloc(n, sizeof *m), *s = calloc(n, sizeof *s);

	assert_true(m && s);
	ckpt_adamw(x, m, s, g, n, 0.0, &u);
	free(m);
	free(s);
}

static void
test_portable_restored_tied_alias(void **state)
{
	struct pass before, after, moved;
	struct ckpt_buf bytes = { 0 };
	double *head = calloc(V * D, sizeof *head);
	double untied[T * V], hidden[T * D], tied[V * D], alone[V * D];
	struct ckpt_trainer *t;
	struct ckpt_checkpoint *c;
	struct ckpt_session s;

	(void)state;
	assert_non_null(head);
	start(&s, 2);
	run_pass(s.learner.trainer, &before);
	save(&s, true, &bytes);
	ckpt_session_release(&s);
	c = read_whole(&bytes);
	t = ckpt_trainer_start(&c->state);
	assert_non_null(t);
	run_pass(t, &after);
	/* Bit for bit what it was before it was saved. */
	assert_memory_equal(before.logits, after.logits, sizeof after.logits);
	assert_memory_equal(before.gradients, after.gradients,
		t->scalars * sizeof *after.gradients);
	/* The gradient of the table is the head's, and for the tokens that
	 * were looked up there is something added. */
	head_gradient(t, &after, head);
	for (uint32_t id = 0; id < V; id++)
		assert_int_equal(memcmp(head + id * D, after.gradients + id * D,
					 D * sizeof *head) == 0,
			!is_input(id));
	/* Control: an equal copy as the head gives the same first logits, and
	 * after an update with its own part of the gradient is another. */
	memcpy(alone, t->parameters, sizeof alone);
	memcpy(tied, t->parameters, sizeof tied);
	features(t, tied, hidden);
	ckpt_mat_mul_transposed(NULL, untied, hidden, alone, T, D, V);
	assert_memory_equal(untied, after.logits, sizeof untied);
	step(alone, head, V * D);
	step(tied, after.gradients, V * D);
	assert_memory_not_equal(alone, tied, sizeof tied);
	/* Writing the table where it is looked up changes the head: the column
	 * of a token that is no input. */
	t->parameters[200 * D] += 1.0;
	run_pass(t, &moved);
	for (size_t i = 0; i < T; i++)
		for (uint32_t id = 0; id < V; id++)
			assert_int_equal(moved.logits[i * V + id] ==
						 after.logits[i * V + id],
				id != 200);
	free(before.gradients);
	free(after.gradients);
	free(moved.gradients);
	free(head);
	ckpt_trainer_free(t);
	ckpt_checkpoint_free(c);
	ckpt_buf_release(&bytes);
}

/* ---- corruption --------------------------------------------------------- */

/* Every bit means something: one that is turned makes the file invalid or the
 * model another. */
static void
test_portable_corruption(void **state)
{
	char identity[CKPT_SHA256_TEXT], other[CKPT_SHA256_TEXT];
	struct ckpt_buf bytes = { 0 };
	struct ckpt_checkpoint *c;
	struct ckpt_session s;

	(void)state;
	start(&s, 2);
	save(&s, true, &bytes);
	ckpt_session_release(&s);
	c = read_whole(&bytes);
	assert_true(ckpt_model_identity(&c->state, identity));
	ckpt_checkpoint_free(c);
	for (size_t bit = 0; bit < 8 * bytes.n; bit += 41) {
		bytes.p[bit / 8] ^= (char)(1 << bit % 8);
		if (read_bytes(bytes.p, bytes.n, &c) == CKPT_OK) {
			assert_true(ckpt_model_identity(&c->state, other));
			assert_string_not_equal(identity, other);
		}
		ckpt_checkpoint_free(c);
		bytes.p[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t n = 0; n < bytes.n; n += n < 32 ? 1 : 97) {
		assert_int_not_equal(read_bytes(bytes.p, n, &c), CKPT_OK);
		ckpt_checkpoint_free(c);
	}
	ckpt_buf_release(&bytes);
}

/* ---- before the first update -------------------------------------------- */

static void
test_portable_grouped_optimizer_before_the_first_update(void **state)
{
	struct ckpt_buf bytes = { 0 };
	struct ckpt_session s;
	struct ckpt_state at;

	(void)state;
	start(&s, 0);
	save(&s, false, &bytes);
	ckpt_session_release(&s);
	assert_int_equal(ckpt_session_restore(&s, &job, read_whole(&bytes),
				 &here, false, &refusal),
		CKPT_OK);
	assert_int_equal(ckpt_session_capture(&s, &at, &refusal), CKPT_OK);
	assert_true(at.groups);
	assert_int_equal(at.nno_decay, 7);
	assert_int_equal(at.ndecay, 22);
	assert_int_equal(at.nmoments, 0);
	assert_int_equal(at.optimizer_step, 0);
	ckpt_session_release(&s);
	ckpt_buf_release(&bytes);
}

/* ---- in the middle ------------------------------------------------------ */

static void
test_portable_pending_gradients_refused_without_clearing(void **state)
{
	const struct ckpt_document *d = &job.documents[1];
	struct ckpt_batch row = { 1, d->n - 1, d->ids, d->ids + 1 };
	struct ckpt_session_record record;
	struct ckpt_buf cut = { 0 }, whole = { 0 };
	struct ckpt_session s;
	struct ckpt_learner *l = &s.learner;
	struct ckpt_state at;
	double *kept;
	size_t n;

	(void)state;
	start(&s, 2);
	save(&s, false, &cut);
	assert_int_equal(ckpt_session_update(&s, &record, &refusal), CKPT_OK);
	save(&s, false, &whole);
	ckpt_session_release(&s);
	assert_int_equal(ckpt_session_restore(&s, &job, read_whole(&cut), &here,
				 false, &refusal),
		CKPT_OK);
	/* Update 3 is short, long: 2 and 4 targets. */
	row.tokens = job.documents[0].n - 1;
	row.ids = job.documents[0].ids;
	row.targets = row.ids + 1;
	assert_int_equal(ckpt_learner_begin(l, 6, &refusal), CKPT_OK);
	assert_int_equal(ckpt_learner_add(l, &row, &refusal), CKPT_OK);
	n = l->trainer->scalars * sizeof *kept;
	kept = malloc(n);
	assert_non_null(kept);
	memcpy(kept, l->trainer->gradients, n);
	assert_int_equal(
		ckpt_session_capture(&s, &at, &refusal), CKPT_REJECTED);
	assert_string_equal(refusal.kind, "Pending");
	assert_memory_equal(kept, l->trainer->gradients, n);
	free(kept);
	/* The update that was under way can be finished as if nothing had been
	 * asked. */
	row = (struct ckpt_batch){ 1, d->n - 1, d->ids, d->ids + 1 };
	assert_int_equal(ckpt_learner_add(l, &row, &refusal), CKPT_OK);
	assert_int_equal(
		ckpt_learner_finish(l, &record.attempt, &refusal), CKPT_OK);
	save(&s, false, &cut);
	assert_same_bytes(&whole, &cut);
	/* Gradients that are not cleared, and no microbatch pending. */
	l->trainer->gradients[7] = 1.0;
	l->cleared = false;
	assert_int_equal(
		ckpt_session_capture(&s, &at, &refusal), CKPT_REJECTED);
	assert_string_equal(refusal.kind, "Uncleared");
	assert_true(l->trainer->gradients[7] == 1.0);
	ckpt_session_release(&s);
	ckpt_buf_release(&cut);
	ckpt_buf_release(&whole);
}

#define SESSION_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SESSION_TEST(test_portable_continuation_and_refusals),
		SESSION_TEST(test_portable_overrides_are_stored),
		SESSION_TEST(test_portable_restored_tied_alias),
		SESSION_TEST(test_portable_corruption),
		SESSION_TEST(
			test_portable_grouped_optimizer_before_the_first_update),
		SESSION_TEST(
			test_portable_pending_gradients_refused_without_clearing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
