/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_CAUSES_H
#define CKPT_REPLAY_CAUSES_H

/*
 * Why another program's update came out otherwise: each hypothesis is carried
 * out on a fresh load of the state before the update, and its result is held
 * against theirs.
 */

#include "replay/step.h"

/* What came out there: fingerprints, so that their checkpoint need not stay in
 * memory. A cause that is named was reached by 64 bits of hash, which finds
 * accidents and stops nobody who wants to deceive. */
struct ckpt_outcome {
	uint64_t parameters, state;
};

enum ckpt_cause_outcome {
	CKPT_CAUSE_NO,         /* other bits */
	CKPT_CAUSE_PARAMETERS, /* their parameters, but not their moments or
				* powers */
	CKPT_CAUSE_EQUAL,      /* their parameters, moments and powers */
	CKPT_CAUSE_NOT_APPLICABLE,
};

struct ckpt_cause {
	const char *name; /* static */
	double rate;      /* with which it was tried */
	enum ckpt_cause_outcome outcome;
};

enum { CKPT_CAUSES = 9 };

/* "no", "parameters", "equal", "not-applicable". */
const char *ckpt_cause_outcome_name(enum ckpt_cause_outcome outcome);

/* Tries all of them. */
CKPT_MUST_USE enum ckpt_status ckpt_causes_try(const struct ckpt_step *step,
	const struct ckpt_outcome *theirs,
	struct ckpt_cause causes[CKPT_CAUSES]);

#endif
