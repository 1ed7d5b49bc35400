/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_PUBLISH_H
#define CKPT_IO_PUBLISH_H

/*
 * Saves a file so that its name always leads to the complete old content or
 * the complete new content, whatever fails and whenever the power goes.
 *
 *	begin, write and patch as often as needed, commit
 *
 * The bytes go to .NAME.tmp-PID-SERIAL in the folder of the destination and
 * are synced; then the temporary file is renamed over the destination and the
 * folder is synced. After every failure but CKPT_ENOTSYNCED the destination is
 * what it was and the temporary file is gone (fault.leftover says if even its
 * removal failed); the object is released and repeats its status. Only a kill
 * leaves a temporary file behind: temporary_name.h knows those.
 *
 * The permission bits, the group and if possible the owner of the replaced
 * file are kept; access lists, other attributes and hard links are not.
 * destination.h says what is replaced at all.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "ckpt.h"
#include "io/destination.h"
#include "io/fileops.h"

/* The facts behind a status that is not CKPT_OK. */
struct ckpt_publish_fault {
	const char *action;    /* "write the temporary file"; static */
	const char *reason;    /* our words where no call failed, or NULL */
	const char *path;      /* the destination as the caller gave it */
	const char *temporary; /* its name in the folder, or NULL if none was
				* made; lives in the struct ckpt_publish */
	int error;             /* errno, or 0 where reason says it */
	int leftover;          /* errno of the removal of the temporary file
				* if it is still there, else 0 */
};

/* Do not copy or move one that has begun. All zero is one that has not. */
struct ckpt_publish {
	const struct ckpt_file_ops *ops; /* borrowed */
	const char *name;                /* last part of fault.path */
	enum ckpt_status status;         /* of the last call; failures stay */
	struct ckpt_publish_fault fault;
	uint64_t size; /* bytes written so far */
	struct ckpt_destination destination;

	bool open; /* the rest is for publish.c only */
	bool has_temporary;
	int folder;
	int fd;
	struct stat own; /* the temporary file as it was made */
	char temporary[NAME_MAX + 1];
};

/* Makes the temporary file. path is borrowed until commit or abort, and for
 * as long as the fault is looked at; an empty parent is the current folder.
 * CKPT_EDESTINATION if path can never be a saved file; CKPT_EIO with errno
 * for everything else (EEXIST: all serials that were tried are taken). */
CKPT_MUST_USE enum ckpt_status ckpt_publish_begin(struct ckpt_publish *pub,
	const struct ckpt_file_ops *ops, const char *path);

/* Finds out before a long work whether a file could be saved: begins and gives
 * up. Fails as ckpt_publish_begin(), and with CKPT_EIO if the temporary file
 * cannot be removed; pub is as after an abort otherwise. What only the rename
 * meets, such as a mount point, or a full disk, it cannot find. */
CKPT_MUST_USE enum ckpt_status ckpt_publish_rehearse(struct ckpt_publish *pub,
	const struct ckpt_file_ops *ops, const char *path);

/* Appends all n bytes. CKPT_EIO with errno. */
CKPT_MUST_USE enum ckpt_status ckpt_publish_write(
	struct ckpt_publish *pub, const void *bytes, size_t n);

/* Overwrites n bytes at off, all of which have been written before. CKPT_EIO
 * with errno. */
CKPT_MUST_USE enum ckpt_status ckpt_publish_patch(
	struct ckpt_publish *pub, uint64_t off, const void *bytes, size_t n);

/* Puts the file in place. CKPT_ENOATOMIC if the place offers no atomic rename;
 * CKPT_EDESTINATION if the destination has become something else meanwhile;
 * CKPT_ENOTSYNCED as ckpt.h says; CKPT_EIO with errno. */
CKPT_MUST_USE enum ckpt_status ckpt_publish_commit(struct ckpt_publish *pub);

/* Gives up and removes the temporary file; status is CKPT_STOP then. Does
 * nothing after a commit, a failure, another abort, or without a begin. True
 * if no temporary file is left (else see fault.leftover). */
bool ckpt_publish_abort(struct ckpt_publish *pub);

#endif
