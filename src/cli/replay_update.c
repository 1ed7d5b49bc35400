/* SPDX-License-Identifier: MIT */
/*
 * The update on the command line of ckreplay: inputs, targets, rate. Whether
 * a file can carry it out is for the trainer to say.
 */
#include "cli/replay_update.h"

#include <stdlib.h>

static bool
complete(struct ckpt_args *args, const char *inputs, const char *targets,
	const char *rate)
{
	if (inputs && targets && rate)
		return true;
	return ckpt_args_fail(args, "an update needs ",
		!inputs    ? "--inputs"
		: !targets ? "--targets"
			   : "--lr",
		"");
}

bool
replay_update_parse(struct ckpt_args *args, const char *inputs,
	const char *targets, const char *rate, struct replay_update *update)
{
	struct ckpt_batch *batch = &update->batch;
	size_t b, t;

	*update = (struct replay_update){ 0 };
	if (!complete(args, inputs, targets, rate) ||
		!replay_parse_ids(args, "--inputs", inputs, &update->inputs,
			&batch->batch, &batch->tokens) ||
		!replay_parse_ids(
			args, "--targets", targets, &update->targets, &b, &t) ||
		!replay_parse_real(
			args, "not a learning rate: ", rate, &update->rate))
		return false;
	batch->ids = update->inputs;
	batch->targets = update->targets;
	if (b == batch->batch && t == batch->tokens)
		return true;
	return ckpt_args_fail(
		args, "inputs and targets of different shape: ", targets, "");
}

void
replay_update_release(struct replay_update *update)
{
	free(update->inputs);
	free(update->targets);
}
