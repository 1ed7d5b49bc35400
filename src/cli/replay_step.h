/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_REPLAY_STEP_H
#define CKPT_CLI_REPLAY_STEP_H

/* Where ckreplay step saves the updated checkpoint; for nobody else. */

#include "cli/replay.h"

/* Whether writing to output leaves an input alone; if not, a usage error.
 * True if either is NULL. */
bool replay_step_apart(
	struct ckpt_args *args, const char *output, const char *input);

/* Whether it could be saved, and saving it. The exit status, and what failed
 * was said on standard error. */
int replay_step_rehearse(struct ckpt_args *args, const char *path);
int replay_step_save(
	struct ckpt_args *args, const char *path, const struct ckpt_step *step);

#endif
