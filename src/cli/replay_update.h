/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_REPLAY_UPDATE_H
#define CKPT_CLI_REPLAY_UPDATE_H

#include "cli/replay.h"
#include "replay/request.h"

/* From the words of --inputs, --targets and --lr, NULL where one was not
 * given. False is a usage error that has been said to args. Release it with
 * ckpt_supplied_release() in any case. */
bool replay_update_parse(struct ckpt_args *args, const char *inputs,
	const char *targets, const char *rate, struct ckpt_supplied *update);

#endif
