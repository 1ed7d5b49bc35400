/* SPDX-License-Identifier: MIT */
/*
 * Exports: which bytes are offered and written, that nothing is written over,
 * and that what was not completed is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/viewing.h"

#define GOOD "corpus/llmcp35/good/selected-step8.ckpt"

static char folder[64];

static int
make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/export-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

static const char *
in_folder(const char *name)
{
	static char path[200];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void
type(struct viewing *v, const char *text)
{
	viewing_keys(v, "<C-u>");
	for (; *text; text++)
		view_key(&v->view, (uint8_t)*text);
}

static size_t
slurp(const char *path, void *bytes, size_t most)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, most, f);
	fclose(f);
	return n;
}

static void
test_offers(void **state)
{
	static const struct {
		const char *where, *shown;
	} rows[] = {
		{ "2880", "\nwrite 160 bytes of token_embedding.weight to: "
			  "token_embedding.weight.bin" },
		{ "6175", "\nwrite 160 bytes of token_embedding.weight "
			  "(OptimizerSecondMoment) to: token_embedding.weight."
			  "OptimizerSecondMoment.bin" },
		{ "2869", "\nwrite 1 byte of literal-token-0 to: "
			  "literal-token-0.bin" },
		{ "31", "\nwrite 8 bytes of fixed_header.checksum to: "
			"fixed_header.checksum.bin" },
		{ "records[5].offset",
			"\nwrite 8 bytes of records[5].offset to: "
			"records_5_.offset.bin" },
	};
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 200);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		viewing_keys(&v, ":");
		type(&v, rows[i].where);
		viewing_keys(&v, "<Enter>w");
		viewing_shows(&v, rows[i].shown);
		viewing_keys(&v, "<Esc>");
	}
	viewing_keys(&v, "w<C-u><Enter>");
	viewing_shows(&v, "nothing was written");
	viewing_close(&v);
	viewing_bytes(&v, "", 0, 24, 80);
	viewing_keys(&v, "w");
	viewing_shows(&v, "the file is empty");
	viewing_close(&v);
	viewing_bytes(&v, "hello", 5, 24, 120);
	viewing_keys(&v, "w");
	viewing_shows(&v, "write 5 bytes of ");
	viewing_close(&v);
}

static void
test_writes(void **state)
{
	struct viewing v;
	uint8_t file[6330], got[7000];

	(void)state;
	assert_int_equal(slurp(GOOD, file, sizeof file), 6330);
	viewing_open(&v, GOOD, 24, 120);
	viewing_keys(&v, ":2880<Enter>w");
	type(&v, in_folder("out.bin"));
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "160 bytes written to /tmp/export-");
	assert_int_equal(slurp(in_folder("out.bin"), got, sizeof got), 160);
	assert_memory_equal(got, file + 2874, 160);
	/* Never over anything. */
	viewing_keys(&v, ":31<Enter>w");
	type(&v, in_folder("out.bin"));
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "is there already, and is not written over");
	assert_int_equal(slurp(in_folder("out.bin"), got, sizeof got), 160);
	/* Also not through a link that leads nowhere. */
	assert_int_equal(symlink("nowhere", in_folder("link")), 0);
	viewing_keys(&v, "w");
	type(&v, in_folder("link"));
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "is there already");
	assert_int_equal(access(in_folder("nowhere"), F_OK), -1);
	viewing_keys(&v, "w");
	type(&v, in_folder("no/such/folder"));
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "nothing was written: /tmp/export-");
	viewing_shows(&v, ": No such file or directory");
	/* ~/ is HOME. */
	setenv("HOME", folder, 1);
	viewing_keys(&v, "w");
	type(&v, "~/home.bin");
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "8 bytes written to ");
	assert_int_equal(slurp(in_folder("home.bin"), got, sizeof got), 8);
	assert_memory_equal(got, file + 30, 8);
	/* What was typed last comes back. */
	viewing_keys(&v, "w<Up>");
	viewing_shows(&v, "to: ~/home.bin");
	viewing_close(&v);
}

/* More than a block, through the background. */
static void
test_large(void **state)
{
	size_t n = (3 << 20) + 77;
	uint8_t *bytes = malloc(n), *got = malloc(n + 1);
	struct viewing v;

	(void)state;
	assert_non_null(bytes);
	assert_non_null(got);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 13);
	viewing_bytes(&v, bytes, n, 24, 120);
	viewing_keys(&v, "w");
	type(&v, in_folder("large"));
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "3145805 bytes written to ");
	assert_int_equal(slurp(in_folder("large"), got, n + 1), n);
	assert_memory_equal(got, bytes, n);
	viewing_close(&v);
	free(bytes);
	free(got);
}

/* The input was cut since it was opened: no partial file stays. */
static void
test_cut(void **state)
{
	size_t n = 3 << 20;
	uint8_t *bytes = calloc(1, n);
	struct viewing v;

	(void)state;
	assert_non_null(bytes);
	viewing_bytes(&v, bytes, n, 24, 120);
	viewing_keys(&v, "w");
	type(&v, in_folder("cut"));
	assert_int_equal(truncate(v.path, 2000000), 0);
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "nothing was written: the file ends now after "
			  "2000000 of 3145728 bytes");
	assert_int_equal(access(in_folder("cut"), F_OK), -1);
	viewing_close(&v);
	free(bytes);
}

/* Whenever it is stopped, the new file is whole or not there. */
static void
test_stopped(void **state)
{
	size_t n = 8 << 20;
	uint8_t *bytes = calloc(1, n);
	struct viewing v;
	struct stat st;

	(void)state;
	assert_non_null(bytes);
	for (int round = 0; round < 8; round++) {
		viewing_bytes(&v, bytes, n, 24, 120);
		viewing_keys(&v, "w");
		type(&v, in_folder("stopped"));
		view_key(&v.view, VIEW_KEY_ENTER);
		if (round % 2 == 0) {
			view_key(&v.view, VIEW_KEY_ESCAPE);
			view_settle(&v.view);
			assert_false(view_export_busy(&v.view));
		}
		viewing_close(&v);
		if (stat(in_folder("stopped"), &st) == 0) {
			assert_int_equal(st.st_size, n);
			assert_int_equal(unlink(in_folder("stopped")), 0);
		}
	}
	free(bytes);
}

/* The file gives no bytes while it is held. */
static struct {
	atomic_bool on;
	ptrdiff_t (*read_at)(
		struct ckpt_source *source, void *p, size_t n, uint64_t off);
} held;

static ptrdiff_t
read_held(struct ckpt_source *source, void *p, size_t n, uint64_t off)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };

	while (atomic_load(&held.on))
		nanosleep(&pause, NULL);
	return held.read_at(source, p, n, off);
}

static void
says(const struct viewing *v, const char *words)
{
	assert_non_null(v->view.message.p);
	assert_string_equal(v->view.message.p, words);
}

/* A key that would lose it asks first, once an export. */
static void
test_kept(void **state)
{
	static const char asks[] =
		"bytes are being written: q again cancels that and leaves";
	struct viewing v;

	(void)state;
	viewing_bytes(&v, "hello", 5, 24, 120);
	held.read_at = v.doc.source->read_at;
	v.doc.source->read_at = read_held;
	for (int round = 0; round < 2; round++) {
		viewing_keys(&v, "w");
		type(&v, in_folder(round == 0 ? "first" : "second"));
		atomic_store(&held.on, true);
		view_key(&v.view, VIEW_KEY_ENTER);
		view_key(&v.view, VIEW_KEY_F5);
		assert_false(v.view.reload);
		says(&v, "bytes are being written: Esc cancels that");
		view_key(&v.view, 'q');
		assert_false(v.view.quit);
		says(&v, asks);
		/* How far it is does not take that away. */
		view_poll(&v.view);
		says(&v, asks);
		if (round == 0) {
			atomic_store(&held.on, false);
			view_settle(&v.view);
			viewing_shows(&v, "5 bytes written to ");
			assert_true(view_export_stop(v.view.exporting));
		}
	}
	view_key(&v.view, 'q');
	assert_true(v.view.quit);
	atomic_store(&held.on, false);
	viewing_close(&v);
}

/* Told whether anything is left of it. */
static void
test_lost(void **state)
{
	size_t n = 8 << 20;
	uint8_t *bytes = calloc(1, n);
	struct viewing v;
	bool whole;

	(void)state;
	assert_non_null(bytes);
	viewing_bytes(&v, bytes, n, 24, 120);
	assert_true(view_export_stop(v.view.exporting));
	viewing_keys(&v, "w");
	type(&v, in_folder("lost"));
	view_key(&v.view, VIEW_KEY_ENTER);
	view_export_cancel(&v.view);
	whole = view_export_stop(v.view.exporting);
	assert_int_equal(access(in_folder("lost"), F_OK), whole ? 0 : -1);
	assert_true(view_export_stop(v.view.exporting));
	viewing_close(&v);
	free(bytes);
}

/* A tensor that the file has only a part of. */
static void
test_truncated_tensor(void **state)
{
	uint8_t file[6330], got[200];
	struct viewing v;

	(void)state;
	assert_int_equal(slurp(GOOD, file, sizeof file), 6330);
	viewing_bytes(&v, file, 2900, 24, 120);
	viewing_keys(&v, ":2874<Enter>w");
	viewing_shows(&v, "\nwrite 26 of 160 bytes of token_embedding.weight "
			  "to: ");
	type(&v, in_folder("part"));
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "26 bytes written to ");
	assert_int_equal(slurp(in_folder("part"), got, sizeof got), 26);
	assert_memory_equal(got, file + 2874, 26);
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
		TEST(test_offers),
		TEST(test_writes),
		TEST(test_large),
		TEST(test_cut),
		TEST(test_stopped),
		TEST(test_kept),
		TEST(test_lost),
		TEST(test_truncated_tensor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
