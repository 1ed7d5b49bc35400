/* SPDX-License-Identifier: MIT */
/*
 * Targets: replay/job*, replay/session*.
 *
 * Reads the bytes as a job. What is refused is refused with a reason. What is
 * taken has an order that is a permutation, documents that fit the model, and
 * the same identity when it is read again; a small one can be begun, and what
 * is captured goes on to the same bits as what was not.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/target.h"
#include "replay/session.h"

enum { SMALL = 20000, FEW = 64 };

static void
check_job(const struct ckpt_job *job)
{
	const struct ckpt_training *t = &job->training;
	bool *seen = calloc((size_t)t->documents, sizeof *seen);

	assert(seen);
	for (uint64_t i = 0; i < t->documents; i++) {
		const struct ckpt_document *d = &job->documents[i];

		assert(t->order[i] < t->documents && !seen[t->order[i]]);
		seen[t->order[i]] = true;
		assert(d->n >= 2 && d->n - 1 <= job->config.positions);
		assert(d->id.n > 0);
		for (size_t k = 0; k < d->n; k++)
			assert(d->ids[k] < job->config.vocabulary);
	}
	free(seen);
}

/* Whether a model is small enough to be trained here. */
static bool
is_small(const struct ckpt_job *job)
{
	const struct ckpt_config *c = &job->config;

	return c->width <= FEW && c->layers <= 4 &&
	       c->feed_forward_width <= FEW && c->positions <= FEW &&
	       c->vocabulary * c->width <= SMALL &&
	       job->training.microbatches <= 4;
}

static struct ckpt_checkpoint *
checkpoint_of(const struct ckpt_state *state)
{
	struct ckpt_checkpoint *c = ckpt_checkpoint_new(NULL);

	assert(c);
	c->state = *state;
	c->loaded = true;
	return c;
}

/* One attempt from what was captured, and one from where it was. */
static void
try_session(struct ckpt_job *job)
{
	const struct ckpt_envelope here = { .executable = "x",
		.arithmetic = { (const uint8_t *)"a", 1 } };
	struct ckpt_session_record x, y;
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session a, b;
	struct ckpt_state state, other;
	struct ckpt_buf what = { 0 };
	enum ckpt_status s, t;

	s = ckpt_session_start(&a, job, NULL, &here, &refusal);
	assert(s == CKPT_OK);
	s = ckpt_session_capture(&a, &state, &refusal);
	assert(s == CKPT_OK);
	s = ckpt_session_restore(
		&b, job, checkpoint_of(&state), &here, false, &refusal);
	assert(s == CKPT_OK);
	s = ckpt_session_update(&a, &x, &refusal);
	t = ckpt_session_update(&b, &y, &refusal);
	assert(s == t && (s == CKPT_OK || s == CKPT_REJECTED));
	if (s == CKPT_OK) {
		s = ckpt_session_capture(&a, &state, &refusal);
		t = ckpt_session_capture(&b, &other, &refusal);
		assert(s == CKPT_OK && t == CKPT_OK);
		assert(ckpt_state_continues(&state, &other, &what));
	}
	ckpt_session_release(&b);
	ckpt_session_release(&a);
	ckpt_buf_release(&refusal.text);
	ckpt_buf_release(&what);
}

void
ckpt_fuzz_job(const uint8_t *data, size_t size)
{
	struct ckpt_buf why = { 0 };
	struct ckpt_job job, again;
	enum ckpt_status status = ckpt_job_read(&job, data, size, &why);

	assert((status == CKPT_REJECTED) == (why.n > 0));
	if (status == CKPT_OK) {
		check_job(&job);
		status = ckpt_job_read(&again, data, size, &why);
		assert(status == CKPT_OK);
		assert(strcmp(job.training.data_sha256,
			       again.training.data_sha256) == 0);
		ckpt_job_release(&again);
		if (is_small(&job))
			try_session(&job);
	}
	ckpt_job_release(&job);
	ckpt_buf_release(&why);
}
