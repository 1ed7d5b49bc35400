/* SPDX-License-Identifier: MIT */
/*
 * What the demonstration tries and what has to be refused: other documents,
 * another job, another place to run, a cut file, an update beyond the plan, a
 * capture in the middle of an update.
 */
#include "cli/replay_demo.h"

#include <stddef.h>

#include "base/try.h"

/* Notes what came of something that has to be refused. */
static void
note(struct replay_demo *d, json_t *list, const char *key, enum ckpt_status s,
	const struct ckpt_refusal *r)
{
	d->good = d->good && s == CKPT_REJECTED;
	json_object_set_new(list, key,
		s != CKPT_REJECTED ? json_null()
		: r && r->text.p   ? json_sprintf("%s: %s", r->kind, r->text.p)
				   : json_string("the file is invalid"));
}

/* Tries to go on from the checkpoint with one thing changed. */
static enum ckpt_status
try_restore(struct replay_demo *d, json_t *list, const char *key,
	struct ckpt_job *job, const struct ckpt_envelope *here)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session session;
	struct ckpt_checkpoint *c;
	enum ckpt_status s;

	CKPT_TRY(replay_demo_load(&d->checkpoint, d->checkpoint.n, &c));
	s = ckpt_session_restore(&session, job, c, here, false, &refusal);
	note(d, list, key, s, &refusal);
	ckpt_session_release(&session);
	ckpt_buf_release(&refusal.text);
	return s == CKPT_REJECTED || s == CKPT_OK ? CKPT_OK : s;
}

/* A microbatch of an update that is not finished. */
static enum ckpt_status
try_pending(struct replay_demo *d, json_t *list)
{
	struct ckpt_session *s = &d->restarted.session;
	const struct ckpt_document *document = &d->job.documents[0];
	struct ckpt_batch row = { 1, document->n - 1, document->ids,
		document->ids + 1 };
	struct ckpt_state state;
	struct ckpt_refusal refusal = { 0 };
	enum ckpt_status status =
		ckpt_learner_begin(&s->learner, row.tokens, &refusal);

	/* When the plan is at its end there is none that could be. */
	if (status == CKPT_OK)
		status = ckpt_learner_add(&s->learner, &row, &refusal);
	if (status == CKPT_OK) {
		status = ckpt_session_capture(s, &state, &refusal);
		note(d, list, "pending_microbatches", status, &refusal);
	}
	ckpt_buf_release(&refusal.text);
	return CKPT_OK;
}

enum ckpt_status
replay_demo_refusals(struct replay_demo *d)
{
	json_t *list = json_object();
	struct ckpt_envelope here = d->whole.here;
	struct ckpt_job job = d->job;
	struct ckpt_session_record record;
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_checkpoint *c = NULL;

	replay_demo_put(d, "refusals", list);
	job.training.data_sha256[0] =
		job.training.data_sha256[0] == '0' ? '1' : '0';
	CKPT_TRY(try_restore(d, list, "other_documents", &job, &here));
	job = d->job;
	job.training.clip *= 2;
	CKPT_TRY(try_restore(d, list, "other_job", &job, &here));
	here.executable[0] = here.executable[0] == '0' ? '1' : '0';
	CKPT_TRY(try_restore(d, list, "other_executable", &d->job, &here));
	here = d->whole.here;
	here.arithmetic.n--;
	CKPT_TRY(try_restore(d, list, "other_arithmetic", &d->job, &here));
	note(d, list, "cut_checkpoint",
		replay_demo_load(&d->checkpoint, d->checkpoint.n - 1, &c),
		NULL);
	ckpt_checkpoint_free(c);
	note(d, list, "update_beyond_plan",
		ckpt_session_update(&d->whole.session, &record, &refusal),
		&refusal);
	ckpt_buf_release(&refusal.text);
	return try_pending(d, list);
}
