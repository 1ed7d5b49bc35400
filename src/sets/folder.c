/* SPDX-License-Identifier: MIT */
/*
 * Looking at folders and files without judging them. Only regular files are
 * ever opened: a pipe would block and a device may do anything.
 */
#include "sets/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"

enum ckpt_entry_kind
ckpt_entry_look(const char *path, uint64_t *size, bool *link)
{
	struct stat st;

	if (size)
		*size = 0;
	if (link)
		*link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
	if (stat(path, &st) != 0)
		return CKPT_ENTRY_LOST;
	if (S_ISDIR(st.st_mode))
		return CKPT_ENTRY_FOLDER;
	if (!S_ISREG(st.st_mode))
		return CKPT_ENTRY_ODD;
	if (size)
		*size = (uint64_t)st.st_size;
	return CKPT_ENTRY_FILE;
}

static bool
add_entry(struct ckpt_folder *folder, struct ckpt_arena *arena,
	const char *path, const char *name)
{
	struct ckpt_folder_entry *e =
		ckpt_arena_push(arena, folder->entries, folder->n, sizeof *e);
	const char *whole = ckpt_arena_printf(arena, "%s/%s", path, name);

	if (!e || !whole)
		return false;
	folder->entries = e;
	e += folder->n++;
	*e = (struct ckpt_folder_entry){ .name = whole + strlen(path) + 1 };
	e->kind = ckpt_entry_look(whole, &e->size, &e->link);
	e->role = ckpt_role_of(name, strlen(name));
	return true;
}

static int
by_name(const void *va, const void *vb)
{
	const struct ckpt_folder_entry *a = va, *b = vb;

	return strcmp(a->name, b->name);
}

bool
ckpt_folder_read(
	struct ckpt_folder *folder, struct ckpt_arena *arena, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	int error = 0;

	memset(folder, 0, sizeof *folder);
	if (!dir)
		return false;
	while (!error && (errno = 0, d = readdir(dir))) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (!add_entry(folder, arena, path, d->d_name))
			error = ENOMEM;
	}
	if (!error)
		error = errno;
	closedir(dir);
	if (folder->n > 1)
		qsort(folder->entries, (size_t)folder->n,
			sizeof folder->entries[0], by_name);
	errno = error;
	return error == 0;
}

const struct ckpt_folder_entry *
ckpt_folder_find(const struct ckpt_folder *folder, const char *name)
{
	const struct ckpt_folder_entry key = { .name = name };

	return folder->n == 0 ? NULL
			      : bsearch(&key, folder->entries,
					(size_t)folder->n, sizeof key, by_name);
}

bool
ckpt_entry_claims(const char *name)
{
	size_t n = strlen(name);
	const struct ckpt_format *format;

	for (size_t i = 0; (format = ckpt_format_at(i)); i++) {
		const char *const *suffix = format->suffixes;

		for (; suffix && *suffix; suffix++)
			if (ckpt_name_ends(name, n, *suffix))
				return true;
	}
	return false;
}

/* Up to n bytes; fewer at the end. -1 with errno on failure. */
static ptrdiff_t
read_some(struct ckpt_source *source, uint8_t *bytes, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ptrdiff_t got = source->read(source, bytes + done, n - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ptrdiff_t)done;
}

bool
ckpt_entry_head(const char *path, uint8_t head[CKPT_SNIFF], size_t *n)
{
	struct ckpt_source *source = ckpt_source_open(path);
	ptrdiff_t got;

	if (!source)
		return false;
	got = read_some(source, head, CKPT_SNIFF);
	ckpt_source_close(source);
	*n = got < 0 ? 0 : (size_t)got;
	return got >= 0;
}

const struct ckpt_format *
ckpt_entry_peek(const char *path, bool *opened)
{
	uint8_t head[CKPT_SNIFF];
	size_t n;

	*opened = ckpt_entry_head(path, head, &n);
	return *opened ? ckpt_format_sniff(head, n) : NULL;
}

bool
ckpt_entry_mentions(const char *path, const char *text)
{
	enum { KEPT = 64 }; /* at least as long as any text */
	struct ckpt_source *source = ckpt_source_open(path);
	uint8_t bytes[KEPT + 16 * 1024];
	size_t kept = 0, n = strlen(text);
	bool found = false;
	ptrdiff_t got = 1;

	while (source && got > 0 && !found) {
		got = read_some(source, bytes + kept, sizeof bytes - KEPT);
		if (got > 0) {
			size_t all = kept + (size_t)got;

			found = memmem(bytes, all, text, n) != NULL;
			kept = all < KEPT ? all : KEPT;
			memmove(bytes, bytes + all - kept, kept);
		}
	}
	ckpt_source_close(source);
	return found;
}

static enum ckpt_status
read_source(struct ckpt_arena *arena, struct ckpt_source *source,
	const uint8_t **text, size_t *n)
{
	const char *what;
	uint8_t *bytes;
	ptrdiff_t got;

	*text = NULL;
	if (!ckpt_to_size(source->size, n) || *n > PTRDIFF_MAX)
		return CKPT_ELIMIT;
	bytes = ckpt_arena_bytes(arena, *n);
	if (!bytes)
		return ckpt_arena_status(arena);
	got = read_some(source, bytes, *n);
	if (got < 0)
		return CKPT_EIO;
	*text = bytes;
	if (source->unchanged(source, &what) == CKPT_OK && (size_t)got == *n)
		return CKPT_OK;
	errno = EBUSY;
	return CKPT_EIO;
}

enum ckpt_status
ckpt_entry_read(struct ckpt_arena *arena, const char *path,
	const uint8_t **text, size_t *n)
{
	struct ckpt_source *source;
	enum ckpt_status status;
	int error;

	switch (ckpt_entry_look(path, NULL, NULL)) {
	case CKPT_ENTRY_FILE: break;
	case CKPT_ENTRY_FOLDER: errno = EISDIR; return CKPT_EIO;
	case CKPT_ENTRY_ODD: errno = EINVAL; return CKPT_EIO;
	case CKPT_ENTRY_LOST: return CKPT_EIO;
	}
	source = ckpt_source_open(path);
	if (!source)
		return CKPT_EIO;
	errno = EINVAL;
	status = source->has_size ? read_source(arena, source, text, n)
				  : CKPT_EIO;
	error = errno;
	ckpt_source_close(source);
	errno = error;
	return status;
}
