/* SPDX-License-Identifier: MIT */
/*
 * The newest checkpoint of a folder, by the number in its name: where the
 * padding of numbers changed, the order of text is another one. Folders that
 * hold nothing of a checkpoint are passed over, and so are those of a save
 * that is not done. A folder without such folders may be a checkpoint itself,
 * whose files are not to be taken for several.
 */
#include "sets/set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Whether a folder has anything that a set is judged by. */
static bool
is_checkpoint(const char *path)
{
	struct ckpt_folder folder;
	struct ckpt_arena arena;
	bool is = false;

	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	if (!ckpt_folder_read(&folder, &arena, path))
		folder.n = 0;
	for (uint64_t i = 0; i < folder.n; i++) {
		const struct ckpt_folder_entry *e = &folder.entries[i];

		if (e->kind == CKPT_ENTRY_FOLDER)
			is |= ckpt_name_distributed(e->name);
		else
			is |= e->role != CKPT_ROLE_NONE ||
			      ckpt_name_unfinished(e->name) > 0 ||
			      ckpt_entry_claims(e->name);
	}
	ckpt_arena_release(&arena);
	return is;
}

static bool
being_written(const char *name)
{
	static const char *const tails[] = { ".tmp", ".part", ".partial",
		".incomplete" };

	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
		if (ckpt_name_ends(name, strlen(name), tails[i]))
			return true;
	return strncmp(name, "tmp-", 4) == 0 || name[0] == '.';
}

static bool
qualifies(struct ckpt_arena *arena, const char *path,
	const struct ckpt_folder_entry *e, enum ckpt_entry_kind kind)
{
	const char *whole;

	if (e->kind != kind || !ckpt_name_numbered(e->name) ||
		being_written(e->name))
		return false;
	/* Shards of one checkpoint have numbers that mean something else. */
	if (kind == CKPT_ENTRY_FILE)
		return !strstr(e->name, "-of-") && ckpt_entry_claims(e->name);
	whole = ckpt_arena_printf(arena, "%s/%s", path, e->name);
	return whole && is_checkpoint(whole);
}

static const char *
newest(struct ckpt_arena *arena, const struct ckpt_folder *folder,
	const char *path, enum ckpt_entry_kind kind)
{
	const char *best = NULL;

	for (uint64_t i = 0; i < folder->n; i++) {
		const struct ckpt_folder_entry *e = &folder->entries[i];

		if ((!best || ckpt_name_by_number(best, e->name) < 0) &&
			qualifies(arena, path, e, kind))
			best = e->name;
	}
	return best;
}

/* Whether files of the folder belong to each other. */
static bool
is_one(const struct ckpt_folder *folder)
{
	for (uint64_t i = 0; i < folder->n; i++)
		if (folder->entries[i].kind == CKPT_ENTRY_FILE &&
			(folder->entries[i].role == CKPT_ROLE_INDEX ||
				folder->entries[i].role == CKPT_ROLE_SIDE ||
				ckpt_role_resumes(folder->entries[i].role)))
			return true;
	return false;
}

static const char *
find(struct ckpt_arena *arena, const struct ckpt_folder *folder,
	const char *path)
{
	const char *name = newest(arena, folder, path, CKPT_ENTRY_FOLDER);

	if (name)
		return name;
	return is_one(folder) ? ""
			      : newest(arena, folder, path, CKPT_ENTRY_FILE);
}

char *
ckpt_set_latest(const char *path)
{
	struct ckpt_arena arena;
	struct ckpt_folder folder;
	const char *name = NULL;
	char *whole = NULL;
	int error = 0;

	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	if (ckpt_folder_read(&folder, &arena, path))
		name = find(&arena, &folder, path);
	else
		error = errno;
	if (name) {
		size_t n = strlen(path);
		const char *slash =
			!*name || (n > 0 && path[n - 1] == '/') ? "" : "/";

		error = asprintf(&whole, "%s%s%s", path, slash, name) < 0
				? ENOMEM
				: 0;
	}
	ckpt_arena_release(&arena);
	errno = error;
	return error ? NULL : whole;
}
