/* SPDX-License-Identifier: MIT */
/*
 * All that is found in the files of the corpus and in those of tests/pairs.tsv
 * with one fault, not only the primary finding: every finding with its place,
 * count, cause and words, as a golden file. What a rule says of a file that
 * another rule has refused already is seen nowhere else. UPDATE_GOLDEN=1
 * writes the file anew, to be read before it is committed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/forge_edit.h"
#include "cli/recipes.h"
#include "support/judged.h"

enum { PARTS = 6 };

static const char golden[] = "tests/golden/corpus_findings.txt";

static void
read_recipes(struct forge_recipes *recipes, const char *path)
{
	struct ckpt_buf why = { 0 };

	if (forge_recipes_read(recipes, path, &why) != 0)
		fail_msg("%s", why.p ? why.p : path);
	ckpt_buf_release(&why);
}

/* The checks that were not made, by reason. */
static void
add_unjudged(struct ckpt_buf *all, const struct ckpt_diags *diags)
{
	const char *check = "", *reason = "";

	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const char *this = ckpt_rule_at(i)->check;

		if (diags->ran[i] != CKPT_NOT_RUN || !diags->reason[i])
			continue;
		if (strcmp(reason, diags->reason[i]) != 0) {
			reason = diags->reason[i];
			ckpt_buf_printf(all,
				"%s  not judged, %s:", *check ? "\n" : "",
				reason);
			check = "";
		}
		if (strcmp(check, this) != 0)
			ckpt_buf_printf(all, " %s", this);
		check = this;
	}
	if (*check)
		ckpt_buf_puts(all, "\n");
}

/* What is found under a profile, or nothing if that is what was found. */
static void
add_log(struct ckpt_buf *all, const char *name, const struct ckpt_buf *bytes,
	enum ckpt_profile profile, char **log)
{
	struct ckpt_options options = { .profile = profile };
	struct judged j = { .run = ckpt_run_new(&options) };
	struct ckpt_source *source =
		ckpt_source_memory(bytes->p ? bytes->p : "", bytes->n);
	struct ckpt_buf text = { 0 };
	char *found;

	assert_true(j.run && source);
	source->name = name;
	j.verdict = ckpt_verify(j.run, source);
	ckpt_source_close(source);
	found = judged_log(&j);
	ckpt_buf_puts(&text, found);
	add_unjudged(&text, &j.run->diags);
	free(found);
	found = text.p;
	if (!*log || strcmp(*log, found) != 0)
		ckpt_buf_printf(all, "%s %s\n%s",
			profile == CKPT_PROFILE_STRICT ? "==" : "-- reference:",
			name, found);
	free(*log);
	*log = found;
	judged_free(&j);
}

static void
add_corpus(struct ckpt_buf *all)
{
	struct forge_recipes recipes;

	read_recipes(&recipes, "corpus/recipes.tsv");
	for (size_t i = 0; i < recipes.n; i++) {
		const char *name = recipes.list[i].path;
		struct ckpt_buf bytes = { 0 };
		char path[256], *log = NULL;
		struct stat st;

		snprintf(path, sizeof path, "corpus/%s", name);
		if (forge_read(path, &bytes, &st) != 0)
			fail_msg("%s cannot be read: make corpus", path);
		add_log(all, name, &bytes, CKPT_PROFILE_STRICT, &log);
		add_log(all, name, &bytes, CKPT_PROFILE_REFERENCE, &log);
		free(log);
		ckpt_buf_release(&bytes);
	}
	forge_recipes_release(&recipes);
}

/* Edits of a row as recipes, each made of the one before it and ending where
 * something is fixed: what stands behind is done to what was fixed. */
struct chain {
	struct forge_recipe links[PARTS];
	struct ckpt_buf edits[PARTS];
	size_t n;
};

static void
add_word(struct chain *c, const char *word)
{
	bool fixed = c->edits[c->n].p && strstr(c->edits[c->n].p, "--fix-");

	if (fixed && strncmp(word, "--fix-", 6) != 0)
		c->n++;
	assert_true(c->n < PARTS);
	ckpt_buf_printf(&c->edits[c->n], " %s", word);
}

static void
chain_of(struct chain *c, const struct forge_recipe *row, const char *base)
{
	static const char *const names[] = { "1", "2", "3", "4", "5", "6" };
	char *words = strdup(row->edits), *save = NULL;
	bool extents = strstr(words, "--fix-extents") != NULL;
	bool sum = strstr(words, "--fix-checksum") != NULL;

	for (char *w = strtok_r(words, " ", &save); w;
		w = strtok_r(NULL, " ", &save)) {
		if (strcmp(w, "--fix-checksum") == 0 && !extents)
			add_word(c, "--fix-extents");
		add_word(c, w);
	}
	if (!extents && !sum)
		add_word(c, "--fix-extents");
	if (!sum)
		add_word(c, "--fix-checksum");
	c->n++;
	for (size_t i = 0; i < c->n; i++)
		c->links[i] = (struct forge_recipe){
			.path = names[i],
			.base = i ? names[i - 1] : base,
			.edits = c->edits[i].p,
		};
	free(words);
}

/* Each fault on the first of its bases: L has layers, moments and groups. */
static void
add_faults(struct ckpt_buf *all)
{
	struct forge_recipes rows;

	read_recipes(&rows, "tests/pairs.tsv");
	for (size_t i = 0; i < rows.n; i++) {
		const struct forge_recipe *row = &rows.list[i];
		struct ckpt_buf bytes = { 0 }, why = { 0 };
		char base[] = "base:L", *log = NULL;
		struct forge_recipes made = { 0 };
		struct chain c = { 0 };

		if (strncmp(row->path, "base:", 5) == 0 ||
			strcmp(row->path, "except") == 0)
			continue;
		base[5] = row->base[0];
		chain_of(&c, row, base);
		made.list = calloc(c.n + rows.n, sizeof *made.list);
		assert_non_null(made.list);
		memcpy(made.list, c.links, c.n * sizeof *made.list);
		memcpy(made.list + c.n, rows.list, rows.n * sizeof *made.list);
		made.n = c.n + rows.n;
		if (forge_recipe_make(
			    &made, &made.list[c.n - 1], &bytes, &why) != 0)
			fail_msg("%s: %s", row->path, why.p ? why.p : "?");
		add_log(all, row->path, &bytes, CKPT_PROFILE_STRICT, &log);
		free(log);
		free(made.list);
		for (size_t k = 0; k < PARTS; k++)
			ckpt_buf_release(&c.edits[k]);
		ckpt_buf_release(&bytes);
		ckpt_buf_release(&why);
	}
	forge_recipes_release(&rows);
}

/* The first line in which they differ, and the file that it is about. */
static void
fail_at_difference(const char *is, const char *was)
{
	const char *file = is;
	size_t line = 0, i = 0;

	for (; is[i] == was[i]; i++) {
		if (is[i] != '\n')
			continue;
		line = i + 1;
		if (strncmp(is + line, "== ", 3) == 0)
			file = is + line + 3;
	}
	fail_msg("%.*s\n  is  %.*s\n  was %.*s", (int)strcspn(file, "\n"), file,
		(int)strcspn(is + line, "\n"), is + line,
		(int)strcspn(was + line, "\n"), was + line);
}

static void
test_corpus_findings_are_all_as_they_were(void **state)
{
	struct ckpt_buf all = { 0 }, was = { 0 };
	struct stat st;

	(void)state;
	add_corpus(&all);
	add_faults(&all);
	assert_false(all.failed);
	if (getenv("UPDATE_GOLDEN")) {
		FILE *f = fopen(golden, "w");

		assert_non_null(f);
		assert_int_equal(fwrite(all.p, 1, all.n, f), all.n);
		assert_int_equal(fclose(f), 0);
	}
	assert_int_equal(forge_read(golden, &was, &st), 0);
	ckpt_buf_puts(&was, ""); /* ends in a NUL */
	if (strcmp(all.p, was.p) != 0)
		fail_at_difference(all.p, was.p);
	ckpt_buf_release(&all);
	ckpt_buf_release(&was);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus_findings_are_all_as_they_were),
	};

	return cmocka_run_group_tests_name(
		"corpus findings", tests, NULL, NULL);
}
