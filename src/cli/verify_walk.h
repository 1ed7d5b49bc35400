/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_VERIFY_WALK_H
#define CKPT_CLI_VERIFY_WALK_H

/* What of a folder is to be verified, in bytewise order of the names. */

#include <stdbool.h>

#include <ckpt.h>

enum ckpt_found_kind {
	CKPT_FOUND_MEMBER,    /* a checkpoint, or what might be one */
	CKPT_FOUND_TEMPORARY, /* left behind by a save that was killed */
	CKPT_FOUND_TROUBLE,   /* a folder that cannot be read: error */
};

/* Borrowed for the call. */
struct ckpt_found {
	enum ckpt_found_kind kind;
	const char *path;
	const char *name; /* path below the folder, "" for itself */
	int error;
};

/* Calls visit for each find until it returns false. CKPT_EIO with errno when
 * the walk itself fails; CKPT_OK otherwise. */
CKPT_MUST_USE enum ckpt_status ckpt_verify_walk(const char *folder,
	bool recursive,
	bool (*visit)(void *ctx, const struct ckpt_found *found), void *ctx);

#endif
