/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_REPLAY_DEMO_H
#define CKPT_CLI_REPLAY_DEMO_H

/* What the files of ckreplay demo share; for nobody else. */

#include "cli/replay_job.h"

struct replay_demo {
	struct ckpt_job job;
	uint64_t cut, planned;
	uint64_t jobs;
	int format;
	/* The run that never stops; gone on from the boundary; begun again
	 * from weights. */
	struct replay_course whole, resumed, restarted;
	struct ckpt_buf model, checkpoint; /* at the boundary, as files */
	json_t *result;
	bool good; /* all that has to be equal is, all that has to be refused
		    * is */
	struct ckpt_refusal refusal;
};

/* A checkpoint from the first n of bytes. */
CKPT_MUST_USE enum ckpt_status replay_demo_load(
	const struct ckpt_buf *bytes, size_t n, struct ckpt_checkpoint **c);

/* One member of the result; takes the value. */
void replay_demo_put(struct replay_demo *demo, const char *key, json_t *value);

CKPT_MUST_USE enum ckpt_status replay_demo_refusals(struct replay_demo *demo);

#endif
