/* SPDX-License-Identifier: MIT */
/*
 * Judges what a long work will read and save before it begins: a run of hours
 * must not end at a folder that is not there.
 */
#include "cli/replay_job.h"

#include <stdio.h>
#include <string.h>

#include "io/publish.h"

bool
replay_inputs_apart(struct ckpt_args *args, const char *const *inputs, size_t n)
{
	size_t readers = 0;

	for (size_t i = 0; i < n; i++)
		readers += inputs[i] && strcmp(inputs[i], "-") == 0;
	return readers < 2 ||
	       ckpt_args_fail(args, "two inputs cannot both be standard input",
		       NULL, "");
}

bool
replay_outputs_rehearse(struct ckpt_args *args, int format,
	const char *const *outputs, size_t n, int *status)
{
	struct ckpt_publish pub;
	enum ckpt_status s = CKPT_OK;
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_buf shown = { 0 };
	size_t i;

	for (i = 0; i < n && s == CKPT_OK; i++)
		s = ckpt_publish_rehearse(
			&pub, &ckpt_file_ops_posix, outputs[i]);
	if (s == CKPT_OK)
		return true;
	ckpt_buf_printf(&refusal.text, "%s: %s", pub.fault.action,
		pub.fault.reason ? pub.fault.reason
				 : strerror(pub.fault.error));
	ckpt_buf_escape(&shown, outputs[i - 1], strlen(outputs[i - 1]), 0);
	fprintf(stderr, "%s: %s: %s\n", args->command->name,
		shown.p ? shown.p : "", refusal.text.p ? refusal.text.p : "");
	*status = replay_refused(args, outputs[i - 1], format, s, &refusal);
	ckpt_buf_release(&refusal.text);
	ckpt_buf_release(&shown);
	return false;
}
