/* SPDX-License-Identifier: MIT */
/*
 * Where the page goes: standard output, or a file that has either its old
 * content or the whole page, and is never the file that is shown.
 */
#include "cli/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool
inspect_html_apart(struct ckpt_args *args, const char *input, const char *path)
{
	struct stat st;
	int got;

	if (strcmp(path, "-") == 0)
		return true;
	got = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &st)
				      : stat(input, &st);
	/* An input that is not there is said when it is opened. */
	if (got != 0 || ckpt_destination_is_apart(&ckpt_file_ops_posix, path,
				st.st_dev, st.st_ino))
		return true;
	return ckpt_args_fail(
		args, "the page would replace the file it shows: ", path, "");
}

static int
complain(const char *action, const char *reason)
{
	fprintf(stderr, "ckinspect: cannot write the page: %s: %s\n", action,
		reason);
	return CKPT_EXIT_TROUBLE;
}

static int
save(struct inspect *in, const char *path)
{
	struct ckpt_publish pub = { 0 };
	enum ckpt_status status =
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, path);
	bool made = true;

	in->saving = &pub;
	if (status == CKPT_OK)
		made = inspect_html(in);
	in->saving = NULL;
	if (!made) {
		ckpt_publish_abort(&pub);
		return complain("make it", "not enough memory");
	}
	if (status == CKPT_OK)
		status = ckpt_publish_commit(&pub);
	if (status == CKPT_OK)
		return CKPT_EXIT_OK;
	return complain(pub.fault.action, pub.fault.reason
						  ? pub.fault.reason
						  : strerror(pub.fault.error));
}

int
inspect_html_save(struct inspect *in, const char *path)
{
	if (strcmp(path, "-") != 0)
		return save(in, path);
	if (!inspect_html(in))
		return complain("make it", "not enough memory");
	return in->write_failed ? complain("write", "standard output failed")
				: CKPT_EXIT_OK;
}
