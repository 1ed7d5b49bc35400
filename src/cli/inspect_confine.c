/* SPDX-License-Identifier: MIT */
/*
 * What ckinspect gives up. To print, it opens the file and then nothing more,
 * but a page to be saved. The viewer opens its files again when they have
 * changed, keeps bookmarks, and writes a copy of bytes wherever it is asked
 * to, so it keeps the right to make files everywhere, and to read few.
 */
#include "cli/inspect.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/sandbox.h"

void
inspect_confine(const struct ckpt_args *args, const char *page)
{
	struct ckpt_sandbox box;

	ckpt_sandbox_begin(
		&box, args, page && strcmp(page, "-") ? CKPT_SANDBOX_SAVE : 0);
	ckpt_sandbox_grant_folder_of(&box, page, CKPT_SANDBOX_PUBLISH);
	ckpt_sandbox_enter(&box);
}

/* The file, and where another one may take its name; a link leads to a file
 * in another folder, perhaps. */
static void
grant_file(struct ckpt_sandbox *box, const char *path)
{
	char *real = path ? realpath(path, NULL) : NULL;

	ckpt_sandbox_grant(box, path, CKPT_SANDBOX_READ);
	ckpt_sandbox_grant_folder_of(box, path, CKPT_SANDBOX_READ);
	ckpt_sandbox_grant_folder_of(box, real, CKPT_SANDBOX_READ);
	free(real);
}

/* The folder of bookmarks, or the nearest one above it that is there already:
 * bookmarks are read before they are saved again. */
static void
grant_bookmarks(struct ckpt_sandbox *box)
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	bool own = state && state[0] == '/';
	char path[PATH_MAX];
	char *slash;

	if (!own && (!home || home[0] != '/'))
		return;
	if (snprintf(path, sizeof path, "%s%s/ckpt/bookmarks",
		    own ? state : home,
		    own ? "" : "/.local/state") >= (int)sizeof path)
		return;
	while (access(path, F_OK) != 0 && (slash = strrchr(path, '/')) &&
		slash > path)
		*slash = '\0';
	ckpt_sandbox_grant(box, path, CKPT_SANDBOX_READ);
}

void
inspect_confine_viewer(
	const struct ckpt_args *args, const char *path, const char *other)
{
	struct ckpt_sandbox box;

	/* Some character sets are code that is loaded when first used. */
	(void)btowc('x');
	ckpt_sandbox_begin(&box, args,
		CKPT_SANDBOX_OPEN | CKPT_SANDBOX_SAVE | CKPT_SANDBOX_TERMINAL);
	grant_file(&box, path);
	grant_file(&box, other);
	grant_bookmarks(&box);
	ckpt_sandbox_grant_terminal(&box);
	ckpt_sandbox_grant_temporary(&box);
	ckpt_sandbox_grant(
		&box, "/", CKPT_SANDBOX_PUBLISH | CKPT_SANDBOX_FOLDERS);
	ckpt_sandbox_enter(&box);
}
