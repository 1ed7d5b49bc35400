/* SPDX-License-Identifier: MIT */
/*
 * Reading and carrying out recipes. Nothing here knows what a file holds:
 * the base comes from `synth`, `fixture`, a text or another recipe, the edits
 * are those of `mutate`, and all are read by the rows of these subcommands.
 */
#include "cli/recipes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt.h"

#include "cli/forge_edit.h"

enum { COLUMNS = 6, WORDS = 256, DEPTH = 16 };

/* ---- reading ------------------------------------------------------------ */

/* Cuts a line at its tabs. */
static bool
cut(char *line, const char *columns[COLUMNS])
{
	for (int i = 0; i < COLUMNS; i++) {
		size_t n = strcspn(line, "\t");

		columns[i] = line;
		if (n == 0 || (line[n] == '\t') != (i < COLUMNS - 1))
			return false;
		line[n] = '\0';
		line += n + 1;
	}
	return true;
}

static int
add(struct forge_recipes *recipes, char *line)
{
	const char *c[COLUMNS];
	struct forge_recipe *list;

	if (*line == '\0' || *line == '#')
		return CKPT_EXIT_OK;
	if (!cut(line, c))
		return CKPT_EXIT_NEGATIVE;
	list = reallocarray(recipes->list, recipes->n + 1, sizeof *list);
	if (!list)
		return CKPT_EXIT_TROUBLE;
	recipes->list = list;
	list[recipes->n++] =
		(struct forge_recipe){ c[0], c[1], c[2], c[3], c[4], c[5] };
	return CKPT_EXIT_OK;
}

int
forge_recipes_read(
	struct forge_recipes *recipes, const char *path, struct ckpt_buf *why)
{
	struct ckpt_buf file = { 0 };
	struct stat st;
	int status = forge_read(path, &file, &st);
	unsigned number = 0;

	memset(recipes, 0, sizeof *recipes);
	if (status != CKPT_EXIT_OK) {
		ckpt_buf_escape(why, path, strlen(path), 0);
		ckpt_buf_printf(why, ": %s", strerror(errno));
	}
	recipes->words = file.p;
	for (char *line = file.p; status == CKPT_EXIT_OK && line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end++ = '\0';
		number++;
		status = add(recipes, line);
		line = end;
		if (status == CKPT_EXIT_OK)
			continue;
		ckpt_buf_escape(why, path, strlen(path), 0);
		ckpt_buf_printf(why, ":%u: %s", number,
			status == CKPT_EXIT_TROUBLE
				? strerror(ENOMEM)
				: "a line has six columns, none of them empty");
	}
	return status;
}

void
forge_recipes_release(struct forge_recipes *recipes)
{
	free(recipes->words);
	free(recipes->list);
}

/* ---- words -------------------------------------------------------------- */

/* A command line of a subcommand, parsed. */
struct line {
	struct ckpt_command subs[2];
	struct ckpt_command tool;
	struct ckpt_args args;
	union forge_options options;
	char *copy;
	char *argv[WORDS];
};

/* argv: "ckforge", the subcommand, words, and "-" where they lack the operand
 * that it needs. */
static bool
parse(struct line *line, const struct ckpt_command *sub, const char *words,
	bool lacks_operand, struct ckpt_buf *why)
{
	static char tool[] = "ckforge", operand[] = "-";
	char name[32], *save = NULL;
	int argc = 0;

	memset(line, 0, sizeof *line);
	line->subs[0] = *sub;
	line->tool = (struct ckpt_command){
		.name = tool, .title = tool, .subs = line->subs
	};
	line->copy = strdup(words);
	if (!line->copy)
		return false;
	strncpy(name, sub->name, sizeof name - 1);
	name[sizeof name - 1] = '\0';
	line->argv[argc++] = tool;
	line->argv[argc++] = name;
	for (char *w = strtok_r(line->copy, " ", &save); w && argc < WORDS - 2;
		w = strtok_r(NULL, " ", &save))
		line->argv[argc++] = w;
	if (lacks_operand)
		line->argv[argc++] = operand;
	if (ckpt_args_parse(
		    &line->args, &line->tool, &line->options, argc, line->argv))
		return true;
	if (line->args.err.p)
		ckpt_buf_puts(why, line->args.err.p);
	return false;
}

static void
release(struct line *line)
{
	ckpt_args_release(&line->args);
	free(line->copy);
}

static int
synth(const char *words, struct ckpt_buf *bytes, struct ckpt_buf *why)
{
	struct line line;
	int status = CKPT_EXIT_NEGATIVE;

	if (parse(&line, &forge_synth_command, words, false, why))
		status = forge_synth_bytes(&line.options.synth, bytes, why);
	release(&line);
	return status;
}

static int
fixture(const char *words, struct ckpt_buf *bytes, struct ckpt_buf *why)
{
	struct ckpt_value label;
	struct line line;
	int status = CKPT_EXIT_NEGATIVE;

	if (parse(&line, &forge_fixture_command, words, false, why))
		status = forge_fixture_bytes(
			line.args.operands[0], bytes, &label, why);
	release(&line);
	return status;
}

static int
edit(const char *words, struct ckpt_buf *bytes, struct ckpt_buf *why)
{
	struct ckpt_draft draft = { 0 };
	struct ckpt_buf report = { 0 };
	struct line line;
	int status = CKPT_EXIT_NEGATIVE;

	if (!parse(&line, &forge_mutate_command, words, true, why)) {
		release(&line);
		return status;
	}
	status = CKPT_EXIT_TROUBLE;
	if (ckpt_draft_open(&draft, bytes->p ? bytes->p : "", bytes->n) ==
		CKPT_EDIT_OK)
		status = forge_edit(&line.args, &draft, &report, why);
	ckpt_buf_clear(bytes);
	ckpt_buf_add(bytes, draft.bytes.p, draft.bytes.n);
	ckpt_draft_release(&draft);
	ckpt_buf_release(&report);
	release(&line);
	return bytes->failed ? CKPT_EXIT_TROUBLE : status;
}

/* ---- making ------------------------------------------------------------- */

static const struct forge_recipe *
find(const struct forge_recipes *recipes, const char *path)
{
	for (size_t i = 0; i < recipes->n; i++)
		if (strcmp(recipes->list[i].path, path) == 0)
			return &recipes->list[i];
	return NULL;
}

int
forge_recipe_make(const struct forge_recipes *recipes,
	const struct forge_recipe *recipe, struct ckpt_buf *bytes,
	struct ckpt_buf *why)
{
	const struct forge_recipe *chain[DEPTH];
	int depth = 0, status = CKPT_EXIT_OK;
	const char *base;

	for (; recipe && depth < DEPTH; depth++) {
		chain[depth] = recipe;
		recipe = find(recipes, recipe->base);
	}
	base = chain[depth - 1]->base;
	if (strcmp(base, "synth") == 0 || strncmp(base, "synth ", 6) == 0) {
		status = synth(base + 5, bytes, why);
	} else if (strncmp(base, "fixture ", 8) == 0) {
		status = fixture(base + 7, bytes, why);
	} else if (strncmp(base, "safetensors ", 12) == 0) {
		status = forge_recipe_safetensors(base + 12, bytes, why);
	} else if (strcmp(base, "-") != 0) {
		ckpt_buf_printf(why, "no base '%s'", base);
		status = CKPT_EXIT_NEGATIVE;
	}
	while (status == CKPT_EXIT_OK && depth-- > 0)
		if (strcmp(chain[depth]->edits, "-") != 0)
			status = edit(chain[depth]->edits, bytes, why);
	return status;
}
