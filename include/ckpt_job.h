/* SPDX-License-Identifier: MIT */
#ifndef CKPT_JOB_H
#define CKPT_JOB_H

/*
 * libckpt, third chapter: training jobs. From a job to updates, from updates
 * to checkpoints, and on from a checkpoint, in the same process or another, to
 * the same bits.
 *
 * The conventions are those of ckpt.h. A job outlives its sessions, and is
 * used by one at a time. Whatever is refused is refused before there is
 * anything that could change.
 */

#include <ckpt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ckpt_job;     /* settings and documents */
struct ckpt_session; /* a job under way */

/* Why something was refused (CKPT_REJECTED), or what was in the way. */
struct ckpt_train_fault {
	const char *kind; /* static: "OtherData", "Pending"; NULL if there is
			   * only a status */
	char text[512];   /* one sentence, printable; "" if there is none */
};

/* ---- Jobs --------------------------------------------------------------- */

/* Reads n bytes of a job file; text NULL is the published job. CKPT_REJECTED
 * ("InvalidJob": the text begins with the field), CKPT_ENOMEM; *job is NULL
 * then. fault may be NULL, here and below. */
CKPT_MUST_USE enum ckpt_status ckpt_train_job(const void *text, size_t n,
	struct ckpt_job **job, struct ckpt_train_fault *fault);

/* NULL is allowed. */
void ckpt_train_job_free(struct ckpt_job *job);

/* ---- Sessions ----------------------------------------------------------- */

/* Begins a job before its first update. A model that is not NULL is one that
 * was read with CKPT_OK; its weights are taken, all else is fresh, and it
 * belongs to the session from here on, whatever the outcome. CKPT_REJECTED
 * ("NotAModel"; "OtherModel": not with the job's settings), CKPT_EIO if the
 * program's own file cannot be read, CKPT_ENOMEM. */
CKPT_MUST_USE enum ckpt_status ckpt_train_start(struct ckpt_job *job,
	struct ckpt_checkpoint *model, struct ckpt_session **session,
	struct ckpt_train_fault *fault);

/* Goes on from a training checkpoint that was read with CKPT_OK; it belongs to
 * the session from here on, whatever the outcome. CKPT_REJECTED, and *session
 * is NULL: "NotATrainingCheckpoint"; "OtherData", other documents; "OtherJob",
 * the text begins with the field; "OtherArithmetic"; "OtherExecutable", unless
 * that is allowed: then what is captured later remembers it. */
CKPT_MUST_USE enum ckpt_status ckpt_train_restore(struct ckpt_job *job,
	struct ckpt_checkpoint *checkpoint, bool allow_other_executable,
	struct ckpt_session **session, struct ckpt_train_fault *fault);

/* NULL is allowed. */
void ckpt_train_free(struct ckpt_session *session);

/* Updates that were made, and those that the plan has. */
uint64_t ckpt_train_step(const struct ckpt_session *session);
uint64_t ckpt_train_planned(const struct ckpt_session *session);

/* One attempt at an update. */
struct ckpt_train_update {
	uint64_t step; /* its number, from 1 on */
	bool skipped;  /* a gradient overflowed: only the loss scale changed,
			* and the rest here is 0 */
	double loss_scale, next_loss_scale;
	double learning_rate, mean_loss;
	uint64_t targets;
	uint32_t monitored; /* the token sampled from the new weights */
};

/* Tries the next update, from where it was left by ckpt_train_accumulate().
 * CKPT_REJECTED: "NoUpdatesLeft" changes nothing; after anything else
 * ("NonFinite", "NonFiniteUpdate", "LossScale", "CounterOverflow") the session
 * is only to be freed. update may be NULL. */
CKPT_MUST_USE enum ckpt_status ckpt_train_update(struct ckpt_session *session,
	struct ckpt_train_update *update, struct ckpt_train_fault *fault);

/* Adds the gradients of one more microbatch of the next update, and no more.
 * CKPT_REJECTED: as above, and "Pending" when all of them are there, which
 * changes nothing. */
CKPT_MUST_USE enum ckpt_status ckpt_train_accumulate(
	struct ckpt_session *session, struct ckpt_train_fault *fault);

/* ---- What it has come to ------------------------------------------------ */

/* A training checkpoint of the session as it is between two updates, and the
 * portable model alone. They are yours, and stand on their own: save them with
 * ckpt_checkpoint_save(). CKPT_REJECTED: "Pending" microbatches, "Uncleared"
 * gradients, which stay bit for bit what they are; CKPT_ENOMEM. */
CKPT_MUST_USE enum ckpt_status ckpt_train_capture(
	const struct ckpt_session *session, struct ckpt_checkpoint **checkpoint,
	struct ckpt_train_fault *fault);
CKPT_MUST_USE enum ckpt_status ckpt_train_model(
	const struct ckpt_session *session, struct ckpt_checkpoint **model,
	struct ckpt_train_fault *fault);

/* The identity of a model, of a training checkpoint the one of its model: 64
 * hexadecimal digits and a NUL. CKPT_REJECTED if it was not read with CKPT_OK
 * or is no archive. */
CKPT_MUST_USE enum ckpt_status ckpt_train_identity(
	const struct ckpt_checkpoint *archive, char identity[65]);

#ifdef __cplusplus
}
#endif

#endif
