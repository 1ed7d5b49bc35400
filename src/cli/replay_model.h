/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_REPLAY_MODEL_H
#define CKPT_CLI_REPLAY_MODEL_H

#include "cli/replay_job.h"

/* What a model is asked. */
struct replay_inference {
	const struct ckpt_state *state; /* of a text model, or with one */
	const char *prompt;
	uint64_t tokens; /* 1 to positions - 1 */
};

/* Answers with the object of archives section 7. CKPT_REJECTED: refusal says
 * why not. */
CKPT_MUST_USE enum ckpt_status replay_inference_run(
	const struct replay_inference *inference, json_t **result,
	struct ckpt_refusal *refusal);

/* The subcommand, when --model is given. */
int replay_infer_model(
	struct ckpt_args *args, const struct replay_infer_options *options);

#endif
