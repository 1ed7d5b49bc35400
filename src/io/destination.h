/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_DESTINATION_H
#define CKPT_IO_DESTINATION_H

/*
 * What a file is going to be saved over, and whether it may be.
 *
 * A symbolic link is itself replaced, also one that leads nowhere, as mv and
 * install do: saving to latest -> step-1000 must not destroy step-1000. One
 * that leads to a folder, device, FIFO or socket is refused as these are, and
 * so is every name in /dev itself (think of /dev/stdout). A read-only file is
 * replaced as any other, as rename(2) does.
 */

#include <stdbool.h>

#include "ckpt.h"
#include "io/fileops.h"

struct ckpt_destination {
	bool over_link;     /* a symbolic link is in the way */
	bool has_old;       /* a regular file is, or the link leads to one */
	struct stat old;    /* that file, if has_old */
	const char *reason; /* with CKPT_EDESTINATION: "it is a folder" */
};

/* The last part of path, or NULL if that cannot name a file: "", "a/", ".",
 * "a/..". */
CKPT_MUST_USE const char *ckpt_destination_name(const char *path);

/* Looks at name in the folder. Where nothing is, has_old and old stay as they
 * were. CKPT_EDESTINATION with a reason; CKPT_EIO with errno. */
CKPT_MUST_USE enum ckpt_status ckpt_destination_inspect(
	struct ckpt_destination *destination, const struct ckpt_file_ops *ops,
	int folder, const char *name);

/* True if saving to path leaves the file (dev, ino) alone: path is free, or
 * can lead to no file (then saving says why), or neither it nor what it leads
 * to is that file. False as well if that cannot be found out. For tools that
 * must never write over an input. */
CKPT_MUST_USE bool ckpt_destination_is_apart(const struct ckpt_file_ops *ops,
	const char *path, dev_t dev, ino_t ino);

#endif
