/* SPDX-License-Identifier: MIT */
/*
 * Walking a folder. Symbolic links to folders are not followed, so there are
 * no loops; links to regular files are files. A name with a suffix of a known
 * format makes a file a member even if its contents do not, because a file
 * that claims to be a checkpoint has to be one; so does a file that cannot be
 * opened, because it may be one.
 */
#include "cli/verify_walk.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/temporary_name.h"
#include "sets/folder.h"

static bool
is_member(const FTSENT *entry)
{
	bool named = ckpt_entry_claims(entry->fts_name), opened;
	struct stat st;

	if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE) {
		if (stat(entry->fts_path, &st) != 0)
			return named;
		if (!S_ISREG(st.st_mode))
			return false;
	}
	return named || ckpt_entry_peek(entry->fts_path, &opened) || !opened;
}

/* What an entry is, if it is anything; true if so. */
static bool
find(const FTSENT *entry, struct ckpt_found *found)
{
	struct ckpt_temporary_name temporary;

	found->error = entry->fts_errno;
	switch (entry->fts_info) {
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS: found->kind = CKPT_FOUND_TROUBLE; return true;
	case FTS_F:
	case FTS_SL:
	case FTS_SLNONE: break;
	default: return false; /* folders, devices, pipes, sockets */
	}
	found->kind = CKPT_FOUND_TEMPORARY;
	if (entry->fts_info == FTS_F &&
		ckpt_temporary_name_parse(entry->fts_name, &temporary))
		return true;
	found->kind = CKPT_FOUND_MEMBER;
	return is_member(entry);
}

static int
by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

enum ckpt_status
ckpt_verify_walk(const char *folder, bool recursive,
	bool (*visit)(void *ctx, const struct ckpt_found *found), void *ctx)
{
	char *paths[] = { strdup(folder), NULL };
	FTS *fts = paths[0]
			   ? fts_open(paths,
				     FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
				     by_name)
			   : NULL;
	enum ckpt_status status = CKPT_EIO;
	FTSENT *entry;
	int error;

	while (fts && (errno = 0, entry = fts_read(fts))) {
		struct ckpt_found found = { .path = entry->fts_path,
			.name = entry->fts_path + strlen(folder) };

		found.name += strspn(found.name, "/");
		if (entry->fts_info == FTS_D && entry->fts_level > 0 &&
			!recursive)
			fts_set(fts, entry, FTS_SKIP);
		if (find(entry, &found) && !visit(ctx, &found)) {
			errno = 0;
			break;
		}
	}
	error = errno;
	if (fts) {
		fts_close(fts);
		status = error ? CKPT_EIO : CKPT_OK;
	}
	free(paths[0]);
	errno = error;
	return status;
}
