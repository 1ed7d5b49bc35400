/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out while text headers and archives are read, or while a
 * file is edited: each allocation fails once. A file is then not verified, or
 * gets the verdict that it gets anyway, and what is found of it is found anyway;
 * an edit says that memory ran out, or
 * has done what it does anyway. (Of LLMCP35: test_run_limits.c.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "format/draft.h"

/* A chunk of an arena, what the reader takes, and as much as small files use.
 * */
enum { MOST = 4096, CHUNK = 64 * 1024, READER = 256 * 1024, LEFT = 9000 };

static uint8_t bytes[MOST];
static size_t size;

static void
load(const char *path)
{
	FILE *f = fopen(path, "rb");

	assert_non_null(f);
	size = fread(bytes, 1, sizeof bytes, f);
	assert_true(size < sizeof bytes);
	assert_int_equal(fclose(f), 0);
}

/* ---- memory that is used up --------------------------------------------- */

/* Takes units of eight bytes of what an arena has, and lets it have no more;
 * returns how many there were. */
static size_t
use_up(struct ckpt_arena *arena, size_t units)
{
	size_t n = 0;

	assert_non_null(ckpt_arena_alloc(arena, 8));
	arena->budget = arena->used;
	while (n < units && ckpt_arena_alloc(arena, 8))
		n++;
	arena->failure = 0;
	return n;
}

/* ---- reading ------------------------------------------------------------ */

/* A listener, so that there is something to tell. */
static enum ckpt_status
hear(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	(void)sink;
	assert_true(event->kind <= CKPT_EV_END);
	return CKPT_OK;
}

enum memory { DECODED, WORDS, TEXTS, MEMORIES };

static struct ckpt_arena *
arena_of(struct ckpt_run *run, enum memory memory)
{
	return memory == DECODED ? &run->arena
	       : memory == WORDS ? &run->words
				 : &run->texts;
}

/* What is found of a file when there is enough memory. */
static struct {
	const struct ckpt_rule *rule;
	uint64_t off;
} known[64];
static size_t nknown;

static void
remember(const struct ckpt_run *run)
{
	nknown = ckpt_run_finding_count(run);
	assert_true(nknown <= sizeof known / sizeof known[0]);
	for (size_t i = 0; i < nknown; i++) {
		known[i].rule = ckpt_run_finding(run, i)->rule;
		known[i].off = ckpt_run_finding(run, i)->off;
	}
}

/* Memory that runs out is said; of the file nothing is said but what is so. */
static void
expect_no_more(const char *path, const struct ckpt_run *run)
{
	for (size_t i = 0; i < ckpt_run_finding_count(run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(run, i);
		size_t k = 0;

		while (k < nknown &&
			(d->rule != known[k].rule || d->off != known[k].off))
			k++;
		if (k == nknown && strncmp(d->rule->id, "CK90", 4) != 0)
			fail_msg("%s: %s at %llu", path, d->rule->id,
				(unsigned long long)d->off);
	}
}

/* The verdict when the n-th block cannot be had, unless n is 0, or when only
 * left bytes are there besides the reader's, unless that is SIZE_MAX;
 * *reached: something failed. */
static enum ckpt_verdict
judge(const char *path, enum memory memory, uint64_t n, size_t left,
	bool *reached)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_source *source = ckpt_source_memory(bytes, size);
	struct ckpt_sink sink = { .event = hear, .wants_fields = true };
	enum ckpt_verdict verdict;

	assert_non_null(run);
	assert_non_null(source);
	source->name = path;
	ckpt_run_listen(run, &sink);
	if (left != SIZE_MAX) {
		use_up(arena_of(run, memory), (CHUNK - left) / 8);
		if (memory == DECODED)
			run->arena.budget += READER;
	}
	arena_of(run, memory)->fail_at = n;
	verdict = ckpt_verify(run, source);
	*reached = arena_of(run, memory)->failure != 0;
	if (n == 0 && left == SIZE_MAX)
		remember(run);
	else
		expect_no_more(path, run);
	ckpt_source_close(source);
	ckpt_run_free(run);
	return verdict;
}

static void
check(const char *path, enum ckpt_verdict got, enum ckpt_verdict usual)
{
	if (got != usual && got != CKPT_NOT_VERIFIED)
		fail_msg("%s: %d instead of %d", path, (int)got, (int)usual);
}

static size_t
fail_each(const char *path)
{
	bool reached;
	enum ckpt_verdict got,
		usual = judge(path, DECODED, 0, SIZE_MAX, &reached);
	size_t failed = 0;

	assert_false(reached);
	for (int m = DECODED; m < MEMORIES; m++) {
		uint64_t n = 1;

		do {
			got = judge(
				path, (enum memory)m, n++, SIZE_MAX, &reached);
			check(path, got, usual);
			failed += got == CKPT_NOT_VERIFIED;
		} while (reached);
		for (size_t left = 0; left < LEFT; left += left / 4 + 8) {
			got = judge(path, (enum memory)m, 0, left, &reached);
			check(path, got, usual);
			failed += got == CKPT_NOT_VERIFIED;
		}
	}
	return failed;
}

static void
test_reading_survives_each_failing_allocation(void **state)
{
	char *roots[] = { (char *)(uintptr_t) "corpus/safetensors",
		(char *)(uintptr_t) "corpus/archive", NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	size_t files = 0, failed = 0;

	(void)state;
	assert_non_null(fts);
	for (FTSENT *e; (e = fts_read(fts));) {
		if (e->fts_info != FTS_F || e->fts_statp->st_size >= MOST)
			continue;
		load(e->fts_path);
		failed += fail_each(e->fts_path);
		files++;
	}
	fts_close(fts);
	assert_true(files > 150);
	assert_true(failed > files);
}

/* Texts with escapes take memory where others take none. */
static void
test_reading_survives_without_room_for_escapes(void **state)
{
	static const char header[] =
		"{\"__metadata__\":{\"\\u0061\":\"\\u0062\"},\"\\u0077\":"
		"{\"\\u0064type\":\"\\u0055\\u0038\",\"shape\":[1],"
		"\"data_offsets\":[0,1],\"\\u0078\":1}}";
	const char *path = "x.safetensors";
	enum ckpt_verdict got, usual;
	size_t failed = 0;
	bool reached;

	(void)state;
	memset(bytes, 0, 8);
	bytes[0] = sizeof header - 1;
	memcpy(bytes + 8, header, sizeof header); /* a byte of data, too */
	size = 8 + sizeof header;
	usual = judge(path, DECODED, 0, SIZE_MAX, &reached);
	assert_int_equal(usual, CKPT_VALID);
	/* Each place where memory can end. */
	for (size_t left = 0; left < LEFT; left += 8) {
		got = judge(path, DECODED, 0, left, &reached);
		check(path, got, usual);
		failed += got == CKPT_NOT_VERIFIED;
	}
	assert_true(failed > 50);
}

/* ---- editing ------------------------------------------------------------ */

static const struct {
	const char *file;
	enum ckpt_draft_edit edit;
	const char *words;
} edits[] = {
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SET, "records[1].name=other" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SET,
		"records[3].data[0,1]=0.5" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SET, "records[3].data=hex:00" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SET, "header.decoder.layers=2" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_DELETE, "records[1]" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_DUPLICATE, "records[1]" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SWAP, "records[1],records[2]" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_INSERT,
		"header.groups.decay[0]=more" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_RELAYOUT, NULL },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_BYTES, "3=0102" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_APPEND, "0102" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_APPEND_TEXT, "text" },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_SET,
		"tensors[0].dtype=F16" },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_SET,
		"tensors[0].data=hex:00000000" },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_DUPLICATE,
		"tensors[0]" },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_DELETE, "tensors[0]" },
};

/* One edit, with units of memory taken before it; how many there were. */
static size_t
edit_with(size_t i, size_t units, enum ckpt_edit_status *status)
{
	struct ckpt_draft d;
	size_t n;

	assert_int_equal(ckpt_draft_open(&d, bytes, size), CKPT_EDIT_OK);
	n = use_up(&d.run->arena, units);
	*status = ckpt_draft_apply(&d, edits[i].edit, edits[i].words);
	ckpt_draft_release(&d);
	return n;
}

static void
test_editing_survives_each_failing_allocation(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
		enum ckpt_edit_status status;
		size_t all, failed = 0, done = 0;
		char path[128];

		snprintf(path, sizeof path, "corpus/%s", edits[i].file);
		load(path);
		all = edit_with(i, SIZE_MAX, &status);
		for (size_t left = 0; left < 700 && left < all; left++) {
			edit_with(i, all - left, &status);
			if (status != CKPT_EDIT_OK &&
				status != CKPT_EDIT_NO_MEMORY)
				fail_msg("%s: %d", edits[i].words, (int)status);
			failed += status == CKPT_EDIT_NO_MEMORY;
			done += status == CKPT_EDIT_OK;
		}
		if (done == 0)
			fail_msg("%s never succeeds", edits[i].words);
		/* Not all of the others need memory of the draft. */
		if (failed == 0 && edits[i].edit == CKPT_DRAFT_SET)
			fail_msg("%s never fails",
				edits[i].words ? edits[i].words : "relayout");
	}
}

/* ---- what cannot be done ------------------------------------------------ */

static const struct {
	const char *file;
	enum ckpt_draft_edit edit;
	const char *words;
	enum ckpt_edit_status status;
	const char *why; /* NULL: the path leads nowhere */
} refused[] = {
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_TRUNCATE, "all", CKPT_EDIT_BAD,
		"a number of bytes was expected" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_TRUNCATE, "99999", CKPT_EDIT_BAD,
		"the file is shorter than that" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_APPEND_TEXT, "\\q",
		CKPT_EDIT_BAD, "an escape is \\xHH or \\\\" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SET, "records[3].data=\\q",
		CKPT_EDIT_BAD,
		"neither hex: and pairs of digits nor text with \\xHH" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SET,
		"records[1].name.length=none", CKPT_EDIT_BAD,
		"not a number that fits" },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SET, "records[99].data=hex:00",
		CKPT_EDIT_NO_PATH, NULL },
	{ "llmcp35/good/tiny.ckpt", CKPT_DRAFT_SET, "records[3].data[9999]=1",
		CKPT_EDIT_NO_PATH, NULL },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_RELAYOUT, NULL,
		CKPT_EDIT_BAD,
		"ranges of a header that is text are set by hand" },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_SWAP,
		"tensors[0],tensors[0]", CKPT_EDIT_BAD,
		"not for a header that is text: set, delete and duplicate "
		"are" },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_DELETE, "tensors[7]",
		CKPT_EDIT_NO_PATH, NULL },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_DELETE,
		"tensors[0].dtype", CKPT_EDIT_BAD, "no element of an array" },
	{ "safetensors/good/one.safetensors", CKPT_DRAFT_SET,
		"tensors[0].data[0]=one", CKPT_EDIT_BAD,
		"not a number that fits; 0x and the bits do for every "
		"dtype" },
	{ "foreign/zeros", CKPT_DRAFT_FIX_EXTENTS, NULL, CKPT_EDIT_BAD, "" },
	{ "foreign/zeros", CKPT_DRAFT_FIX_CHECKSUM, NULL, CKPT_EDIT_BAD, "" },
};

static void
test_edits_that_cannot_be_made_say_why(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		struct ckpt_draft d;
		enum ckpt_edit_status status;
		char path[128];

		snprintf(path, sizeof path, "corpus/%s", refused[i].file);
		load(path);
		assert_int_equal(
			ckpt_draft_open(&d, bytes, size), CKPT_EDIT_OK);
		status =
			ckpt_draft_apply(&d, refused[i].edit, refused[i].words);
		if (status != refused[i].status)
			fail_msg("%s: %d", refused[i].words, (int)status);
		if (status == CKPT_EDIT_BAD && refused[i].why[0])
			assert_string_equal(d.why, refused[i].why);
		/* Nothing has changed. */
		assert_int_equal(ckpt_draft_finish(&d), CKPT_EDIT_OK);
		assert_int_equal(d.bytes.n, size);
		assert_memory_equal(d.bytes.p, bytes, size);
		ckpt_draft_release(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reading_survives_each_failing_allocation),
		cmocka_unit_test(
			test_reading_survives_without_room_for_escapes),
		cmocka_unit_test(test_editing_survives_each_failing_allocation),
		cmocka_unit_test(test_edits_that_cannot_be_made_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
