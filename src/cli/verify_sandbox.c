/* SPDX-License-Identifier: MIT */
/*
 * What ckverify may still open. One file, or a pipe, is opened first, and then
 * nothing can be opened any more. Several files and sets are opened one after
 * the other, so their folders stay readable and nothing else does: of a set
 * also what symbolic links in it lead to, as caches of models are made of such
 * links.
 *
 * Called on the only thread, before the first operand is parsed.
 */
#include "cli/verify.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sets/folder.h"
#include "sets/names.h"

static int
in_any_order(const FTSENT **a, const FTSENT **b)
{
	(void)a;
	(void)b;
	return 0;
}

/* Links below the folder, at any depth: an index may name sub/a, which is one.
 * A folder that a link leads to is given, but not searched for more links: it
 * may be the whole disk. */
static void
grant_links(struct ckpt_sandbox *box, const char *folder)
{
	char *paths[] = { strdup(folder), NULL };
	FTS *fts = paths[0]
			   ? fts_open(paths,
				     FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR,
				     in_any_order)
			   : NULL;
	FTSENT *entry;

	while (fts && (entry = fts_read(fts))) {
		struct stat st;

		if (entry->fts_info == FTS_SL &&
			stat(entry->fts_accpath, &st) == 0 &&
			(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
			ckpt_sandbox_grant(
				box, entry->fts_path, CKPT_SANDBOX_READ);
	}
	if (fts)
		fts_close(fts);
	free(paths[0]);
}

static void
grant_folder(struct ckpt_sandbox *box, const char *folder)
{
	ckpt_sandbox_grant(box, folder, CKPT_SANDBOX_READ);
	if (box->places >= 0)
		grant_links(box, folder);
}

/* The folder that a file is in, with what its links lead to. */
static void
grant_set_of(struct ckpt_sandbox *box, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");

	if (folder)
		grant_folder(box, folder);
	free(folder);
}

/* Whether a regular file may be an index, by its name or its first byte that
 * is no blank. */
static bool
may_be_index(const char *path)
{
	uint8_t head[CKPT_SNIFF];
	size_t n, at = 0;

	if (ckpt_role_of(path, strlen(path)) == CKPT_ROLE_INDEX)
		return true;
	if (!ckpt_entry_head(path, head, &n))
		return false;
	while (at < n && memchr(" \t\r\n", head[at], 4))
		at++;
	/* Blanks alone say nothing yet. */
	return at < n ? head[at] == '{' : n == sizeof head;
}

enum scope { THE_FILE, ITS_FOLDER, THE_FOLDER };

static enum scope
scope_of(const char *operand)
{
	struct stat st;

	if (strcmp(operand, "-") == 0 || stat(operand, &st) != 0)
		return THE_FILE;
	if (S_ISDIR(st.st_mode))
		return THE_FOLDER;
	return S_ISREG(st.st_mode) && may_be_index(operand) ? ITS_FOLDER
							    : THE_FILE;
}

/* A file may be replaced, as trainers do, before its turn comes: the new one
 * is in the same folder. */
static void
grant_operand(struct ckpt_verify_session *s, const char *operand)
{
	struct ckpt_sandbox *box = &s->sandbox;
	char *real;

	switch (scope_of(operand)) {
	case THE_FILE:
		ckpt_sandbox_grant(box, operand, CKPT_SANDBOX_READ);
		ckpt_sandbox_grant_folder_of(box, operand, CKPT_SANDBOX_READ);
		break;
	case THE_FOLDER: grant_folder(box, operand); break;
	case ITS_FOLDER:
		ckpt_sandbox_grant(box, operand, CKPT_SANDBOX_READ);
		grant_set_of(box, operand);
		real = realpath(operand, NULL);
		if (real)
			grant_set_of(box, real);
		free(real);
		break;
	}
}

/* Leaves errno alone, as an open that failed is explained only afterwards. */
static void
enter(struct ckpt_verify_session *s)
{
	int error = errno;

	ckpt_sandbox_enter(&s->sandbox);
	if (s->options->verbose)
		ckpt_sandbox_say(&s->sandbox);
	errno = error;
}

void
ckpt_verify_confine(struct ckpt_verify_session *s, const struct ckpt_args *args,
	const char *const *operands, size_t n)
{
	static const char *const outputs[] = { "propose-repair", NULL };
	unsigned needs =
		ckpt_args_find(args, outputs[0]) ? CKPT_SANDBOX_SAVE : 0;

	s->confine_when_open = n == 1 && scope_of(operands[0]) == THE_FILE;
	if (!s->confine_when_open)
		needs |= CKPT_SANDBOX_OPEN;
	ckpt_sandbox_begin(&s->sandbox, args, needs);
	ckpt_sandbox_grant_options(&s->sandbox, args, outputs, true);
	if (s->confine_when_open || s->sandbox.off)
		return;
	for (size_t i = 0; i < n; i++)
		grant_operand(s, operands[i]);
	enter(s);
}

void
ckpt_verify_opened(struct ckpt_verify_session *s)
{
	/* Of several files each worker comes here: it may only look. */
	if (!s->confine_when_open)
		return;
	enter(s);
	s->confine_when_open = false;
}
