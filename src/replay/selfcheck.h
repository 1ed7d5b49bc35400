/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_SELFCHECK_H
#define CKPT_REPLAY_SELFCHECK_H

/*
 * Negative controls: a replay that says "equal" is worth something only if it
 * says "different" where something is. Each control is a real update of a
 * fresh load of the re-encoded state, with one thing changed.
 */

#include "replay/step.h"

enum ckpt_control_outcome {
	CKPT_CONTROL_DIFFERENT, /* as it has to be */
	CKPT_CONTROL_ABSORBED,  /* a flipped bit that rounding swallowed */
	CKPT_CONTROL_SAME,      /* the control failed */
	CKPT_CONTROL_NOT_APPLICABLE,
};

struct ckpt_control {
	struct ckpt_buf name; /* of files only what was escaped */
	enum ckpt_control_outcome outcome;
	struct ckpt_buf why; /* a clause, or empty */
};

struct ckpt_self_check {
	struct ckpt_control *controls; /* owned */
	size_t n, room;
};

/* "different", "absorbed", "same", "not-applicable". */
const char *ckpt_control_outcome_name(enum ckpt_control_outcome outcome);

/* Runs all controls on a step that has been run and whose branches were
 * equal. CKPT_OK whatever their outcome. */
CKPT_MUST_USE enum ckpt_status ckpt_self_check_run(
	struct ckpt_self_check *check, const struct ckpt_step *step);

/* Whether no control failed. */
bool ckpt_self_check_passed(const struct ckpt_self_check *check);

void ckpt_self_check_release(struct ckpt_self_check *check);

#endif
