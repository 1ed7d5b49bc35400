/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_REPLAY_UPDATE_H
#define CKPT_CLI_REPLAY_UPDATE_H

#include "cli/replay.h"

/* The one update that the caller supplies. */
struct replay_update {
	struct ckpt_batch batch;
	double rate;
	uint32_t *inputs, *targets; /* owned; the batch points into them */
};

/* From the words of --inputs, --targets and --lr, NULL where one was not
 * given. False is a usage error that has been said to args. Release it in any
 * case. */
bool replay_update_parse(struct ckpt_args *args, const char *inputs,
	const char *targets, const char *rate, struct replay_update *update);
void replay_update_release(struct replay_update *update);

#endif
