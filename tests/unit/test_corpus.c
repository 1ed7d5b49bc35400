/* SPDX-License-Identifier: MIT */
/*
 * The corpus: every file is what its recipe makes, gives the verdict that
 * stands there, and together they produce every rule. What no file can
 * produce, because it is about reading and not about bytes, is produced here
 * by what goes wrong while reading; sets of files have golden transcripts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/forge_edit.h"
#include "cli/recipes.h"
#include "io/source_slow.h"
#include "support/judged.h"
#include "support/roundtrip.h"

enum {
	MOST_BYTES = 32 * 1024,
	MOST_IN_ALL = 1536 * 1024,
	HOSTILE_BYTES = 300,
	OWN_FILES = 3, /* of the corpus, that no recipe makes */
};

static struct forge_recipes recipes;

static int
read_recipes(void **state)
{
	struct ckpt_buf why = { 0 };
	int status = forge_recipes_read(&recipes, "corpus/recipes.tsv", &why);

	(void)state;
	if (status != 0)
		fprintf(stderr, "%s\n", why.p ? why.p : "?");
	ckpt_buf_release(&why);
	return status;
}

static int
release_recipes(void **state)
{
	(void)state;
	forge_recipes_release(&recipes);
	return 0;
}

static void
corpus_file(const struct forge_recipe *recipe, struct ckpt_buf *bytes)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof path, "corpus/%s", recipe->path);
	if (forge_read(path, bytes, &st) != 0)
		fail_msg("%s cannot be read: make corpus", path);
}

/* ---- files and recipes -------------------------------------------------- */

static void
test_corpus_is_what_its_recipes_make(void **state)
{
	(void)state;
	assert_true(recipes.n > 150);
	for (size_t i = 0; i < recipes.n; i++) {
		const struct forge_recipe *r = &recipes.list[i];
		struct ckpt_buf made = { 0 }, there = { 0 }, why = { 0 };

		if (forge_recipe_make(&recipes, r, &made, &why) != 0)
			fail_msg("%s: %s", r->path, why.p ? why.p : "?");
		corpus_file(r, &there);
		if (made.n != there.n ||
			(made.n && memcmp(made.p, there.p, made.n) != 0))
			fail_msg("%s is not what its recipe makes", r->path);
		ckpt_buf_release(&made);
		ckpt_buf_release(&there);
		ckpt_buf_release(&why);
	}
}

static size_t
count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char path[1024];
		struct stat st;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		assert_int_equal(stat(path, &st), 0);
		n += S_ISDIR(st.st_mode) ? count_files(path) : 1;
	}
	closedir(dir);
	return n;
}

/* Every rule that a driver judges must be in the list of checks of a format,
 * or reports would pass over it in silence. */
static void
test_corpus_every_check_is_of_a_format(void **state)
{
	(void)state;
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const struct ckpt_rule *rule = ckpt_rule_at(i);
		const struct ckpt_format *format;
		bool found = strcmp(rule->check, "io") == 0 ||
			     strcmp(rule->check, "set") == 0 ||
			     strcmp(rule->check, "pair") == 0;

		for (size_t f = 0; (format = ckpt_format_at(f)); f++)
			for (size_t k = 0; format->checks[k]; k++)
				found |= strcmp(format->checks[k],
						 rule->check) == 0;
		if (!found)
			fail_msg("%s: no format has the check %s", rule->id,
				rule->check);
	}
}

/* The recipes themselves, what they say in sentences, and the published job. */
static void
test_corpus_holds_nothing_else(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < recipes.n; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
				recipes.list[i].path, recipes.list[k].path);
	n = count_files("corpus") - OWN_FILES;
	assert_int_equal(n, recipes.n);
}

static void
test_corpus_is_small(void **state)
{
	size_t all = 0;

	(void)state;
	for (size_t i = 0; i < recipes.n; i++) {
		struct ckpt_buf bytes = { 0 };

		corpus_file(&recipes.list[i], &bytes);
		assert_in_range(bytes.n, 0, MOST_BYTES);
		if (strstr(recipes.list[i].edits, "4294967295 --truncate"))
			assert_in_range(bytes.n, 38, HOSTILE_BYTES);
		all += bytes.n;
		ckpt_buf_release(&bytes);
	}
	assert_in_range(all, 1, MOST_IN_ALL);
}

/* ---- verdicts ----------------------------------------------------------- */

/* "CK1006+CK2007": the primary finding and one more. */
static void
split(const struct forge_recipe *r, char primary[16], char more[16])
{
	memset(primary, 0, 16);
	memset(more, 0, 16);
	if (sscanf(r->expect, "%15[^+]+%15s", primary, more) < 1)
		fail_msg("%s: what is expected?", r->path);
}

static void
expect_finding(
	const struct judged *j, const struct forge_recipe *r, const char *id)
{
	for (size_t i = 0; i < ckpt_run_finding_count(j->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(j->run, i);

		const char *path = d->path[0] ? d->path : "-";

		if (strcmp(d->rule->id, id) == 0 && strcmp(path, r->at) == 0)
			return;
	}
	fail_msg("%s: no %s at %s", r->path, id, r->at);
}

static void
test_corpus_gives_the_verdicts_of_its_recipes(void **state)
{
	(void)state;
	for (size_t i = 0; i < recipes.n; i++) {
		const struct forge_recipe *r = &recipes.list[i];
		struct ckpt_buf bytes = { 0 };
		char primary[16], more[16];
		struct judged j;
		bool valid;

		split(r, primary, more);
		valid = strcmp(primary, "valid") == 0;
		corpus_file(r, &bytes);
		judged_named(&j, r->path, bytes.p ? bytes.p : "", bytes.n);
		if (strcmp(judged_primary(&j), valid ? "" : primary) != 0)
			fail_msg("%s: %s instead of %s", r->path,
				judged_primary(&j), primary);
		if (more[0])
			expect_finding(&j, r, more);
		else if (valid && ckpt_run_finding_count(j.run) > 0)
			fail_msg("%s: no finding expected, got %s at %s",
				r->path, ckpt_run_finding(j.run, 0)->rule->id,
				ckpt_run_finding(j.run, 0)->path);
		else if (!valid)
			assert_string_equal(
				ckpt_run_primary(j.run)->path, r->at);
		if (strstr(r->path, "/unsupported/"))
			assert_int_equal(j.verdict, CKPT_UNSUPPORTED);
		else
			assert_int_equal(
				j.verdict, valid ? CKPT_VALID : CKPT_INVALID);
		judged_free(&j);
		ckpt_buf_release(&bytes);
	}
}

static void
test_corpus_good_files_encode_to_themselves(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < recipes.n; i++) {
		struct ckpt_buf bytes = { 0 };

		if (strncmp(recipes.list[i].expect, "valid", 5) != 0)
			continue;
		corpus_file(&recipes.list[i], &bytes);
		assert_true(roundtrip_judge(
			recipes.list[i].path, bytes.p, bytes.n));
		ckpt_buf_release(&bytes);
		n++;
	}
	assert_true(n > 20);
}

/* ---- what goes wrong while reading -------------------------------------- */

static const struct forge_recipe *
some_recipe(void)
{
	return &recipes.list[0];
}

/* Verifies the first file of the corpus with a run and a source that were
 * tampered with. */
static void
expect_primary(struct ckpt_run *run, struct ckpt_source *source, const char *id)
{
	assert_non_null(run);
	assert_non_null(source);
	assert_int_equal(ckpt_verify(run, source), CKPT_NOT_VERIFIED);
	assert_string_equal(ckpt_run_primary(run)->rule->id, id);
	ckpt_source_close(source);
	ckpt_run_free(run);
}

static struct ckpt_source *
some_source(struct ckpt_buf *bytes)
{
	corpus_file(some_recipe(), bytes);
	return ckpt_source_memory(bytes->p, bytes->n);
}

static void
fault_io(const char *id)
{
	struct ckpt_buf bytes = { 0 };

	expect_primary(ckpt_run_new(NULL),
		ckpt_source_slow(some_source(&bytes), 7, false, 100), id);
	ckpt_buf_release(&bytes);
}

static enum ckpt_status
has_changed(struct ckpt_source *source, const char **what)
{
	(void)source;
	*what = "it is another file now";
	return CKPT_EIO;
}

static void
fault_changed(const char *id)
{
	struct ckpt_buf bytes = { 0 };
	struct ckpt_source *source = some_source(&bytes);

	source->unchanged = has_changed;
	expect_primary(ckpt_run_new(NULL), source, id);
	ckpt_buf_release(&bytes);
}

static void
fault_limit(const char *id)
{
	struct ckpt_options options = { .max_memory = 1024 };
	struct ckpt_buf bytes = { 0 };

	expect_primary(ckpt_run_new(&options), some_source(&bytes), id);
	ckpt_buf_release(&bytes);
}

static void
fault_memory(const char *id)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_buf bytes = { 0 };

	run->arena.fail_at = 2;
	expect_primary(run, some_source(&bytes), id);
	ckpt_buf_release(&bytes);
}

static void
fault_empty_pipe(const char *id)
{
	expect_primary(ckpt_run_new(NULL),
		ckpt_source_slow(
			ckpt_source_memory("", 0), 1, true, UINT64_MAX),
		id);
}

static bool
no_more(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	(void)done;
	(void)total;
	return false;
}

static void
fault_cancelled(const char *id)
{
	struct ckpt_options options = { .progress = no_more };
	struct ckpt_buf bytes = { 0 };

	expect_primary(ckpt_run_new(&options), some_source(&bytes), id);
	ckpt_buf_release(&bytes);
}

static void
fault_option(const char *id)
{
	struct ckpt_options options = { .values = CKPT_VALUES_OFF };
	struct ckpt_buf bytes = { 0 };

	expect_primary(ckpt_run_new(&options), some_source(&bytes), id);
	ckpt_buf_release(&bytes);
}

/* A file of any size that begins with eight bytes and goes on with blanks. */
struct endless {
	struct ckpt_source source;
	const char *head;
	uint64_t at;
};

static ptrdiff_t
endless_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct endless *e = (struct endless *)source;

	for (size_t i = 0; i < n; i++, e->at++)
		((char *)bytes)[i] = e->at < 8 ? e->head[e->at] : ' ';
	return (ptrdiff_t)n;
}

static void
endless_close(struct ckpt_source *source)
{
	(void)source;
}

/* Headers that are within the file, and beyond the bound. */
static void
fault_header(const char *id, const char *head, enum ckpt_profile profile,
	enum ckpt_verdict verdict)
{
	struct ckpt_options options = { .profile = profile };
	struct ckpt_run *run = ckpt_run_new(&options);
	struct endless e = { .source = { .read = endless_read,
				     .close = endless_close,
				     .has_size = true,
				     .size = UINT64_MAX,
				     .name = "model.safetensors" },
		.head = head };

	assert_non_null(run);
	assert_int_equal(ckpt_verify(run, &e.source), verdict);
	assert_string_equal(ckpt_run_primary(run)->rule->id, id);
	ckpt_run_free(run);
}

static void
fault_header_limit(const char *id)
{
	fault_header(id, "\x01\xe1\xf5\x05\0\0\0\0", CKPT_PROFILE_STRICT,
		CKPT_NOT_VERIFIED);
}

static void
fault_header_cap(const char *id)
{
	fault_header(id, "\x01\xe1\xf5\x05\0\0\0\0", CKPT_PROFILE_REFERENCE,
		CKPT_INVALID);
}

/* A zip archive so large that its magic is a length that fits. */
static void
fault_huge_zip(const char *id)
{
	fault_header(
		id, "PK\x03\x04\x14\0\0\0", CKPT_PROFILE_STRICT, CKPT_INVALID);
}

static void
fault_alignment(const char *id)
{
	const struct forge_recipe r = {
		.path = "safetensors/good/unaligned.safetensors"
	};
	struct ckpt_options options = { .align = 8 };
	struct ckpt_run *run = ckpt_run_new(&options);
	struct ckpt_buf bytes = { 0 };
	struct ckpt_source *source;

	assert_non_null(run);
	corpus_file(&r, &bytes);
	source = ckpt_source_memory(bytes.p, bytes.n);
	assert_non_null(source);
	assert_int_equal(ckpt_verify(run, source), CKPT_VALID);
	assert_int_equal(ckpt_run_finding_count(run), 1);
	assert_string_equal(ckpt_run_finding(run, 0)->rule->id, id);
	ckpt_source_close(source);
	ckpt_run_free(run);
	ckpt_buf_release(&bytes);
}

/* The rules that no file produces: by a fault, or in a transcript of sets. */
static const struct {
	const char *id;
	void (*fault)(const char *id);
} faults[] = {
	{ "CK1104", fault_huge_zip },
	{ "CK1105", fault_header_cap },
	{ "CK3156", fault_alignment },
	{ "CK9001", fault_io },
	{ "CK9002", fault_changed },
	{ "CK9003", fault_limit },
	{ "CK9004", fault_memory },
	{ "CK9005", fault_empty_pipe },
	{ "CK9006", fault_cancelled },
	{ "CK9007", fault_option },
	{ "CK9008", fault_header_limit },
};

static const struct {
	const char *path, *ids;
} transcripts[] = {
	{ "tests/golden/ckverify_folder.txt", "CK6001" },
	{ "tests/golden/ckverify_pair.txt", "CK6041" },
	{ "tests/golden/ckverify_sets.txt", "CK6002" },
	{ "tests/golden/ckverify_index_bad.txt",
		"CK6003 CK6004 CK6005 CK6006 CK6007" },
	{ "tests/golden/ckverify_index_shards.txt",
		"CK6008 CK6009 CK6010 CK6011 CK6012 CK6021 CK6022 CK6023" },
	{ "tests/golden/ckverify_index_folder.txt",
		"CK6013 CK6014 CK6024 CK6025 CK6026 CK6040" },
	{ "tests/golden/ckverify_index_settings.txt",
		"CK6027 CK6028 CK6029 CK6030 CK6031 CK6032 CK6033" },
};

enum {
	FAULTS = sizeof faults / sizeof faults[0],
	TRANSCRIPTS = sizeof transcripts / sizeof transcripts[0]
};

static void
test_corpus_faults_give_their_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < FAULTS; i++)
		faults[i].fault(faults[i].id);
	for (size_t i = 0; i < TRANSCRIPTS; i++) {
		const char *ids = transcripts[i].ids;
		struct ckpt_buf text = { 0 };
		struct stat st;
		char id[8];

		assert_int_equal(
			forge_read(transcripts[i].path, &text, &st), 0);
		for (; sscanf(ids, "%7s", id) == 1; ids += strcspn(ids, " ")) {
			ids += strspn(ids, " ");
			assert_non_null(strstr(text.p, id));
		}
		ckpt_buf_release(&text);
	}
}

static bool
produced(const char *id)
{
	for (size_t i = 0; i < FAULTS; i++)
		if (strcmp(faults[i].id, id) == 0)
			return true;
	for (size_t i = 0; i < TRANSCRIPTS; i++)
		if (strstr(transcripts[i].ids, id))
			return true;
	for (size_t i = 0; i < recipes.n; i++)
		if (strstr(recipes.list[i].expect, id))
			return true;
	return false;
}

static void
test_corpus_produces_every_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < ckpt_rule_count(); i++)
		if (!produced(ckpt_rule_at(i)->id))
			fail_msg("nothing produces %s", ckpt_rule_at(i)->id);
}

/* ---- wrong files -------------------------------------------------------- */

static void
test_corpus_wrong_files_are_named(void **state)
{
	static const struct {
		const char *path, *words;
	} named[] = {
		{ "foreign/git-lfs-pointer", "6330 bytes" },
		{ "foreign/error-page.html", "HTML" },
		{ "foreign/error.json", "JSON" },
		{ "foreign/archive.zip", "zip" },
		{ "foreign/data.gz", "gzip" },
		{ "foreign/data.pkl", "pickle" },
		{ "foreign/model.gguf", "GGUF" },
		{ "foreign/link", "symbolic link" },
		{ "foreign/zeros", "zero" },
		{ "foreign/crlf", "CR LF" },
		{ "foreign/utf8", "U+FFFD" },
		{ "foreign/empty", "empty" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
		const struct forge_recipe r = { .path = named[i].path };
		struct ckpt_buf bytes = { 0 };
		const struct ckpt_diag *d;
		struct judged j;

		corpus_file(&r, &bytes);
		judged_bytes(&j, bytes.p ? bytes.p : "", bytes.n);
		d = ckpt_run_primary(j.run);
		assert_non_null(d);
		if (!d->note || !strstr(d->note, named[i].words))
			fail_msg("%s is called %s", r.path,
				d->note ? d->note : "nothing");
		judged_free(&j);
		ckpt_buf_release(&bytes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus_is_what_its_recipes_make),
		cmocka_unit_test(test_corpus_holds_nothing_else),
		cmocka_unit_test(test_corpus_every_check_is_of_a_format),
		cmocka_unit_test(test_corpus_is_small),
		cmocka_unit_test(test_corpus_gives_the_verdicts_of_its_recipes),
		cmocka_unit_test(test_corpus_good_files_encode_to_themselves),
		cmocka_unit_test(test_corpus_faults_give_their_rules),
		cmocka_unit_test(test_corpus_produces_every_rule),
		cmocka_unit_test(test_corpus_wrong_files_are_named),
	};

	return cmocka_run_group_tests(tests, read_recipes, release_recipes);
}
