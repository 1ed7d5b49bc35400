/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETS_FOLDER_H
#define CKPT_SETS_FOLDER_H

/* The entries of one folder, in bytewise order of their names. */

#include <ckpt.h>

#include "base/arena.h"
#include "format/format.h"
#include "sets/names.h"

enum ckpt_entry_kind {
	CKPT_ENTRY_FILE,   /* a regular file, or a link to one */
	CKPT_ENTRY_FOLDER, /* the same of folders */
	CKPT_ENTRY_LOST,   /* it cannot be looked at; as links to nothing */
	CKPT_ENTRY_ODD,    /* devices, pipes, sockets */
};

struct ckpt_folder_entry {
	const char *name;
	uint64_t size; /* of a file */
	enum ckpt_entry_kind kind;
	enum ckpt_role role; /* NONE also for what is not complete */
	bool link;           /* a symbolic one */
};

struct ckpt_folder {
	struct ckpt_folder_entry *entries; /* n, from the arena */
	uint64_t n;
};

/* What is there; false with errno if the folder cannot be read or if memory
 * ran out, which the arena knows. "." and ".." are left out. */
CKPT_MUST_USE bool ckpt_folder_read(
	struct ckpt_folder *folder, struct ckpt_arena *arena, const char *path);

/* NULL if there is none of that name. */
const struct ckpt_folder_entry *ckpt_folder_find(
	const struct ckpt_folder *folder, const char *name);

/* The kind of what is at a path; size and link may be NULL. */
enum ckpt_entry_kind ckpt_entry_look(
	const char *path, uint64_t *size, bool *link);

/* Whether a name has a suffix of a known format. */
bool ckpt_entry_claims(const char *name);

/* The first bytes of a file; false if they cannot be read. */
CKPT_MUST_USE bool ckpt_entry_head(
	const char *path, uint8_t head[CKPT_SNIFF], size_t *n);

/* The format that claims the first bytes of a file, or NULL. *opened tells
 * whether they could be read. */
const struct ckpt_format *ckpt_entry_peek(const char *path, bool *opened);

/* Whether a text stands in a file, in constant memory; false also if it cannot
 * be read. */
bool ckpt_entry_mentions(const char *path, const char *text);

/* Reads a whole file into the arena. CKPT_EIO with errno (EBUSY if it changed
 * meanwhile), or the arena's status. */
CKPT_MUST_USE enum ckpt_status ckpt_entry_read(struct ckpt_arena *arena,
	const char *path, const uint8_t **text, size_t *n);

#endif
