/* SPDX-License-Identifier: MIT */
/*
 * The update on the command line of ckreplay: inputs, targets, rate. Whether
 * a file can carry it out is for the trainer to say.
 */
#include "cli/replay_update.h"

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
	const char *targets, const char *rate, struct ckpt_supplied *update)
{
	const char *why, *text;

	*update = (struct ckpt_supplied){ 0 };
	if (!complete(args, inputs, targets, rate))
		return false;
	return ckpt_supplied_parse(
		       inputs, targets, rate, update, &why, &text) ||
	       ckpt_args_fail(args, why, text, "");
}
