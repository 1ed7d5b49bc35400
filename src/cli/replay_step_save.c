/* SPDX-License-Identifier: MIT */
/*
 * The updated checkpoint of ckreplay step: it replaces no input, whether it
 * can be saved is found out before the update, and it is saved whole.
 */
#include "cli/replay_step.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/destination.h"
#include "io/publish.h"

bool
replay_step_apart(struct ckpt_args *args, const char *output, const char *input)
{
	struct stat st;

	return !output || !input ||
	       (strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &st)
					: stat(input, &st)) != 0 ||
	       ckpt_destination_is_apart(
		       &ckpt_file_ops_posix, output, st.st_dev, st.st_ino) ||
	       ckpt_args_fail(
		       args, "the output would replace an input: ", output, "");
}

static int
complain(const struct ckpt_args *args, const struct ckpt_publish_fault *fault)
{
	fprintf(stderr, "%s: cannot write the updated checkpoint: %s: %s\n",
		args->command->name, fault->action,
		fault->reason ? fault->reason : strerror(fault->error));
	return CKPT_EXIT_TROUBLE;
}

int
replay_step_rehearse(struct ckpt_args *args, const char *path)
{
	struct ckpt_publish pub;

	if (ckpt_publish_rehearse(&pub, &ckpt_file_ops_posix, path) == CKPT_OK)
		return CKPT_EXIT_OK;
	return complain(args, &pub.fault);
}

int
replay_step_save(
	struct ckpt_args *args, const char *path, const struct ckpt_step *s)
{
	struct ckpt_publish pub;
	uint8_t piece[65536];
	enum ckpt_status status =
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, path);

	for (uint64_t off = 0; off < s->updated.n && status == CKPT_OK;) {
		size_t n = s->updated.n - off < sizeof piece
				   ? (size_t)(s->updated.n - off)
				   : sizeof piece;

		status = ckpt_spool_read(&s->updated, off, piece, n);
		if (status == CKPT_OK)
			status = ckpt_publish_write(&pub, piece, n);
		off += n;
	}
	if (status == CKPT_OK)
		status = ckpt_publish_commit(&pub);
	else
		ckpt_publish_abort(&pub);
	if (status == CKPT_OK)
		return CKPT_EXIT_OK;
	return complain(args, &pub.fault);
}
