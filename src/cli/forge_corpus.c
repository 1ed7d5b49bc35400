/* SPDX-License-Identifier: MIT */
/*
 * ckforge corpus: makes every file of recipes.tsv, and the README.md that
 * describes them. Files that are already right are left alone, so that a run
 * without changes changes nothing.
 */
#include "cli/recipes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt.h"

#include "cli/forge_edit.h"

static const char *const use[] = { "FOLDER", NULL };

static const char *const about[] = {
	"makes every file that FOLDER/recipes.tsv describes, and "
	"FOLDER/README.md. The file says how its lines are written.",
	NULL,
};

const struct ckpt_command forge_corpus_command = {
	.name = "corpus",
	.title = "make every file of a corpus from its recipes",
	.use = use,
	.about = about,
	.operand = "FOLDER",
	.least = 1,
	.most = 1,
};

static const char intro[] =
	"# Corpus\n"
	"\n"
	"Small checkpoints and things that are none. All of them are forged: "
	"none has a\n"
	"training lineage but selected-step8, which is trained anew each "
	"time.\n"
	"`make corpus` makes them and this list from\n"
	"[recipes.tsv](recipes.tsv), which says how each is made; edit that "
	"file, not these.\n"
	"The tests compare every file with its recipe, and every verdict with "
	"the one\n"
	"that stands there.\n";

static bool
folder_of(const char *path, char *out, size_t n)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (len >= n)
		return false;
	memcpy(out, path, len);
	out[len] = '\0';
	return true;
}

/* Every folder above the file at path. */
static bool
make_folders(const char *path)
{
	char copy[4096];

	for (const char *at = strchr(path + 1, '/'); at;
		at = strchr(at + 1, '/')) {
		size_t n = (size_t)(at - path);

		if (n >= sizeof copy)
			return false;
		memcpy(copy, path, n);
		copy[n] = '\0';
		if (mkdir(copy, 0777) != 0 && errno != EEXIST)
			return false;
	}
	return true;
}

/* Writes what is not there yet; *written counts. */
static int
place(const char *path, const struct ckpt_buf *bytes, size_t *written,
	struct ckpt_buf *why)
{
	struct ckpt_buf old = { 0 };
	struct stat st;
	bool same = forge_read(path, &old, &st) == CKPT_EXIT_OK &&
		    old.n == bytes->n &&
		    (old.n == 0 || memcmp(old.p, bytes->p, old.n) == 0);

	ckpt_buf_release(&old);
	if (same)
		return CKPT_EXIT_OK;
	if (!make_folders(path)) {
		ckpt_buf_escape(why, path, strlen(path), 0);
		ckpt_buf_printf(why, ": %s", strerror(errno));
		return CKPT_EXIT_TROUBLE;
	}
	++*written;
	return forge_write(path, bytes, why);
}

static int
make(const char *folder, const struct forge_recipes *recipes, size_t i,
	size_t *written, struct ckpt_buf *why)
{
	const struct forge_recipe *r = &recipes->list[i];
	struct ckpt_buf bytes = { 0 }, path = { 0 };
	int status;

	ckpt_buf_printf(&path, "%s/%s", folder, r->path);
	status = forge_recipe_make(recipes, r, &bytes, why);
	if (status == CKPT_EXIT_OK)
		status = path.failed ? CKPT_EXIT_TROUBLE
				     : place(path.p, &bytes, written, why);
	ckpt_buf_release(&bytes);
	ckpt_buf_release(&path);
	return status;
}

/* One sentence a file, under its folder. */
static int
describe(const char *folder, const struct forge_recipes *recipes,
	size_t *written, struct ckpt_buf *why)
{
	struct ckpt_buf text = { 0 }, path = { 0 };
	char last[256] = "", here[256];
	int status = CKPT_EXIT_TROUBLE;

	ckpt_buf_puts(&text, intro);
	for (size_t i = 0; i < recipes->n; i++) {
		const struct forge_recipe *r = &recipes->list[i];

		if (folder_of(r->path, here, sizeof here) &&
			(i == 0 || strcmp(here, last) != 0)) {
			ckpt_buf_printf(&text, "\n## %s\n\n", here);
			memcpy(last, here, sizeof last);
		}
		ckpt_buf_printf(&text, "- `%s`: %s (%s)\n",
			r->path + strlen(here) + (*here ? 1 : 0), r->text,
			r->expect);
	}
	ckpt_buf_printf(&path, "%s/README.md", folder);
	if (!text.failed && !path.failed)
		status = place(path.p, &text, written, why);
	ckpt_buf_release(&text);
	ckpt_buf_release(&path);
	return status;
}

int
forge_corpus(struct ckpt_args *args, const void *options)
{
	const char *folder = args->operands[0], *failed = NULL;
	struct forge_recipes recipes;
	struct ckpt_buf path = { 0 }, why = { 0 };
	size_t written = 0;
	int status;

	(void)options;
	ckpt_buf_printf(&path, "%s/recipes.tsv", folder);
	status = forge_recipes_read(&recipes, path.p ? path.p : "", &why);
	for (size_t i = 0; i < recipes.n && status == CKPT_EXIT_OK; i++) {
		if (forge_interrupted())
			status = CKPT_EXIT_INTERRUPTED;
		else
			status = make(folder, &recipes, i, &written, &why);
		failed = recipes.list[i].path;
	}
	if (status == CKPT_EXIT_OK) {
		failed = NULL;
		status = describe(folder, &recipes, &written, &why);
	}
	if (status == CKPT_EXIT_OK)
		printf("forged: no training lineage\n%zu files, %zu written\n",
			recipes.n, written);
	else
		fprintf(stderr, "ckforge: %s%s%s\n", failed ? failed : "",
			failed ? ": " : "", why.p ? why.p : strerror(errno));
	forge_recipes_release(&recipes);
	ckpt_buf_release(&path);
	ckpt_buf_release(&why);
	return status;
}
