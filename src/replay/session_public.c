/* SPDX-License-Identifier: MIT */
/*
 * The public face of jobs and sessions (ckpt_job.h): objects on the heap,
 * faults without memory of their own. A captured checkpoint is written to
 * memory and read again, so it has been verified and borrows from nobody.
 */
#include <ckpt_job.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "model/identity.h"
#include "replay/envelope.h"
#include "replay/session.h"
#include "sink/save.h"

/* Hands a refusal over and releases it. */
static enum ckpt_status
say(enum ckpt_status status, struct ckpt_refusal *refusal,
	struct ckpt_train_fault *fault)
{
	if (fault) {
		bool said = status != CKPT_OK && refusal->text.p;

		fault->kind = said ? refusal->kind : NULL;
		snprintf(fault->text, sizeof fault->text, "%s",
			said ? refusal->text.p : "");
	}
	ckpt_buf_release(&refusal->text);
	return status;
}

/* ---- jobs --------------------------------------------------------------- */

enum ckpt_status
ckpt_train_job(const void *text, size_t n, struct ckpt_job **job,
	struct ckpt_train_fault *fault)
{
	struct ckpt_refusal refusal = { .kind = "InvalidJob" };
	enum ckpt_status status = CKPT_ENOMEM;

	*job = calloc(1, sizeof **job);
	if (*job)
		status = text ? ckpt_job_read(*job, text, n, &refusal.text)
			      : ckpt_job_published(*job);
	if (status != CKPT_OK) {
		ckpt_train_job_free(*job);
		*job = NULL;
	}
	return say(status, &refusal, fault);
}

void
ckpt_train_job_free(struct ckpt_job *job)
{
	if (job)
		ckpt_job_release(job);
	free(job);
}

/* ---- sessions ----------------------------------------------------------- */

/* Where the program runs; lives as long as the job. */
static enum ckpt_status
find_here(struct ckpt_job *job, struct ckpt_envelope *here,
	struct ckpt_refusal *refusal)
{
	enum ckpt_status status = ckpt_envelope_here(&job->arena, NULL, here);

	if (status == CKPT_EIO)
		ckpt_buf_printf(&refusal->text, "the program's own file: %s",
			strerror(errno));
	return status;
}

/* Both ways to begin. Owns from. */
static enum ckpt_status
begin(struct ckpt_job *job, struct ckpt_checkpoint *from, bool restore,
	bool allow_other, struct ckpt_session **session,
	struct ckpt_train_fault *fault)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_envelope here;
	enum ckpt_status status = CKPT_ENOMEM;

	*session = calloc(1, sizeof **session);
	if (*session)
		status = find_here(job, &here, &refusal);
	if (status != CKPT_OK)
		ckpt_checkpoint_free(from);
	else if (restore)
		status = ckpt_session_restore(
			*session, job, from, &here, allow_other, &refusal);
	else
		status = ckpt_session_start(
			*session, job, from, &here, &refusal);
	if (status != CKPT_OK) {
		ckpt_train_free(*session);
		*session = NULL;
	}
	return say(status, &refusal, fault);
}

enum ckpt_status
ckpt_train_start(struct ckpt_job *job, struct ckpt_checkpoint *model,
	struct ckpt_session **session, struct ckpt_train_fault *fault)
{
	return begin(job, model, false, false, session, fault);
}

enum ckpt_status
ckpt_train_restore(struct ckpt_job *job, struct ckpt_checkpoint *checkpoint,
	bool allow_other_executable, struct ckpt_session **session,
	struct ckpt_train_fault *fault)
{
	return begin(
		job, checkpoint, true, allow_other_executable, session, fault);
}

void
ckpt_train_free(struct ckpt_session *session)
{
	if (session)
		ckpt_session_release(session);
	free(session);
}

uint64_t
ckpt_train_step(const struct ckpt_session *session)
{
	return ckpt_session_step(session);
}

uint64_t
ckpt_train_planned(const struct ckpt_session *session)
{
	return ckpt_session_planned(session);
}

enum ckpt_status
ckpt_train_update(struct ckpt_session *session,
	struct ckpt_train_update *update, struct ckpt_train_fault *fault)
{
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_session_record record;
	const struct ckpt_attempt *a = &record.attempt;
	enum ckpt_status status =
		ckpt_session_update(session, &record, &refusal);

	if (update && status == CKPT_OK) {
		*update = (struct ckpt_train_update){ .step = a->step,
			.skipped = a->skipped,
			.loss_scale = a->scale,
			.next_loss_scale = a->next_scale };
		if (!a->skipped) {
			update->learning_rate = a->rate;
			update->mean_loss = a->mean_loss;
			update->targets = a->targets;
			update->monitored = a->monitored;
		}
	}
	return say(status, &refusal, fault);
}

enum ckpt_status
ckpt_train_accumulate(
	struct ckpt_session *session, struct ckpt_train_fault *fault)
{
	struct ckpt_refusal refusal = { 0 };

	return say(ckpt_session_accumulate(session, &refusal), &refusal, fault);
}

/* ---- what it has come to ------------------------------------------------ */

static enum ckpt_status
read_back(const struct ckpt_buf *bytes, struct ckpt_checkpoint **checkpoint)
{
	struct ckpt_options options = { .max_memory = UINT64_MAX };
	struct ckpt_source *source = ckpt_source_memory(bytes->p, bytes->n);
	enum ckpt_status status = CKPT_ENOMEM;

	if (source)
		status = ckpt_checkpoint_read(source, &options, checkpoint);
	ckpt_source_close(source);
	if (status != CKPT_OK) {
		ckpt_checkpoint_free(*checkpoint);
		*checkpoint = NULL;
	}
	return status;
}

static enum ckpt_status
capture(const struct ckpt_session *session, bool model,
	struct ckpt_checkpoint **checkpoint, struct ckpt_train_fault *fault)
{
	const struct ckpt_format *format = ckpt_format_find("safetensors");
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_state state, portable;
	struct ckpt_buf bytes = { 0 };
	enum ckpt_status status =
		ckpt_session_capture(session, &state, &refusal);

	*checkpoint = NULL;
	if (status == CKPT_OK && !format)
		status = CKPT_EUNSUPPORTED;
	if (status == CKPT_OK) {
		portable = ckpt_state_model(&state);
		status = ckpt_encode(
			&bytes, format, model ? &portable : &state, NULL);
	}
	if (status == CKPT_OK)
		status = read_back(&bytes, checkpoint);
	ckpt_buf_release(&bytes);
	return say(status, &refusal, fault);
}

enum ckpt_status
ckpt_train_capture(const struct ckpt_session *session,
	struct ckpt_checkpoint **checkpoint, struct ckpt_train_fault *fault)
{
	return capture(session, false, checkpoint, fault);
}

enum ckpt_status
ckpt_train_model(const struct ckpt_session *session,
	struct ckpt_checkpoint **model, struct ckpt_train_fault *fault)
{
	return capture(session, true, model, fault);
}

enum ckpt_status
ckpt_train_identity(
	const struct ckpt_checkpoint *archive, char identity[CKPT_SHA256_TEXT])
{
	identity[0] = '\0';
	if (!archive->loaded || archive->state.archive == CKPT_ARCHIVE_NONE)
		return CKPT_REJECTED;
	return ckpt_model_identity(&archive->state, identity) ? CKPT_OK
							      : CKPT_ENOMEM;
}
