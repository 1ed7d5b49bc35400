/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_SESSION_H
#define CKPT_REPLAY_SESSION_H

/*
 * A training job under way: the documents of a job, and the learner that they
 * are fed to. It begins from nothing, from a model, or from a training
 * checkpoint, and what it has come to can be captured between two updates.
 */

#include "replay/job.h"
#include "replay/learner.h"

struct ckpt_session {
	struct ckpt_job *job;         /* borrowed */
	struct ckpt_checkpoint *from; /* owned, until its values are copied */
	struct ckpt_arena arena;
	struct ckpt_learner learner;
	bool learning; /* learner is to be released */
};

/* One attempt at an update. */
struct ckpt_session_record {
	struct ckpt_attempt attempt;
	uint64_t first; /* place in the order of its first document */
	/* Afterwards. */
	uint64_t cursor, traversals, counter, rng;
};

/* Begins a job. With a model (owned from here on, whatever the outcome) its
 * weights are taken, and everything else is fresh; it has to be the job's in
 * settings, constants and merges. Release the session in any case.
 * CKPT_REJECTED with a refusal ("OtherModel", "NotAModel"). */
CKPT_MUST_USE enum ckpt_status ckpt_session_start(struct ckpt_session *session,
	struct ckpt_job *job, struct ckpt_checkpoint *model,
	const struct ckpt_envelope *here, struct ckpt_refusal *refusal);

/* Goes on from a training checkpoint that was loaded; owned from here on,
 * whatever the outcome. CKPT_REJECTED with a refusal, before there is anything
 * that could change: "NotATrainingCheckpoint"; "OtherData", "OtherJob" (the
 * text begins with the field); "OtherArithmetic"; "OtherExecutable", unless
 * allow_other, which the envelope of what is captured later remembers. */
CKPT_MUST_USE enum ckpt_status ckpt_session_restore(
	struct ckpt_session *session, struct ckpt_job *job,
	struct ckpt_checkpoint *checkpoint, const struct ckpt_envelope *here,
	bool allow_other, struct ckpt_refusal *refusal);

/* Threads to compute with; borrowed, NULL is none but the caller. */
void ckpt_session_team(struct ckpt_session *session, struct ckpt_team *team);

/* Updates that were made, of those that the plan has. */
uint64_t ckpt_session_step(const struct ckpt_session *session);
uint64_t ckpt_session_planned(const struct ckpt_session *session);

/* Adds one more microbatch of the next update. As ckpt_learner_add(), and
 * CKPT_REJECTED ("Pending") when all of them are there. */
CKPT_MUST_USE enum ckpt_status ckpt_session_accumulate(
	struct ckpt_session *session, struct ckpt_refusal *refusal);

/* One attempt at the next update, from where it was left. As
 * ckpt_learner_update(). */
CKPT_MUST_USE enum ckpt_status ckpt_session_update(struct ckpt_session *session,
	struct ckpt_session_record *record, struct ckpt_refusal *refusal);

/* What it has come to: the state of a training checkpoint, which borrows from
 * the session until its next update. CKPT_REJECTED with a refusal ("Pending",
 * "Uncleared") when it is in the middle of an update; nothing is changed
 * then. */
CKPT_MUST_USE enum ckpt_status ckpt_session_capture(
	const struct ckpt_session *session, struct ckpt_state *state,
	struct ckpt_refusal *refusal);

/* The portable model of a captured or loaded state, and the backbone of a
 * portable model. They borrow what the state does. */
struct ckpt_state ckpt_state_model(const struct ckpt_state *state);
struct ckpt_state ckpt_state_backbone(const struct ckpt_state *state);

void ckpt_session_release(struct ckpt_session *session);

/* Whether two states of the same job are the same to the bit in all that
 * decides what comes next: model, moments, powers, step, place in the data,
 * counters, scaler, streams. If not, what says which is the first that is
 * not, with both values. Envelopes are not compared. */
bool ckpt_state_continues(const struct ckpt_state *a,
	const struct ckpt_state *b, struct ckpt_buf *what);

#endif
