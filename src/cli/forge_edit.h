/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_FORGE_EDIT_H
#define CKPT_CLI_FORGE_EDIT_H

/*
 * The edits of `ckforge mutate`, as given on its command line or in a recipe
 * of the corpus: both are read by the same rows.
 */

#include <sys/stat.h>

#include "cli/forge.h"
#include "format/draft.h"

/* Applies what args hold, in their order; extents and then the checksum are
 * fixed last, wherever that was asked for. Each edit gives a line of report.
 * Returns an exit status: 0 and the file in draft->bytes, or another and what
 * is wrong in why. */
int forge_edit(const struct ckpt_args *args, struct ckpt_draft *draft,
	struct ckpt_buf *report, struct ckpt_buf *why);

/* A whole file, "-" for standard input; its place on disk if it has one. An
 * exit status; errno says why it is not 0. */
int forge_read(const char *path, struct ckpt_buf *bytes, struct stat *st);

/* Puts bytes in place atomically; an exit status, with a message in why. */
int forge_write(
	const char *path, const struct ckpt_buf *bytes, struct ckpt_buf *why);

#endif
