/* SPDX-License-Identifier: MIT */
/*
 * Bookmarks: set, gone to, kept from one viewer to the next in a file below a
 * temporary state folder; what becomes of a file that is damaged, another's,
 * or in a place that cannot be written to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "support/viewing.h"

#define GOOD "corpus/llmcp35/good/selected-step8.ckpt"

static char folder[64];

static int
make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/marks-XXXXXX");
	assert_non_null(mkdtemp(folder));
	return setenv("XDG_STATE_HOME", folder, 1);
}

static int
remove_folder(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

/* The one file of bookmarks; "" if there is none. */
static const char *
sidecar(void)
{
	static char path[512];
	char inner[100];
	DIR *dir;

	snprintf(inner, sizeof inner, "%s/ckpt/bookmarks", folder);
	dir = opendir(inner);
	path[0] = '\0';
	for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
		if (e->d_name[0] != '.') {
			assert_string_equal(path, "");
			snprintf(path, sizeof path, "%s/%s", inner, e->d_name);
		}
	if (dir)
		closedir(dir);
	return path;
}

static void
put(const char *text)
{
	FILE *f = fopen(sidecar(), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static char *
contents(void)
{
	static char text[4096];
	FILE *f = fopen(sidecar(), "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static void
test_set_and_go(void **state)
{
	struct viewing v;
	struct stat st;
	json_t *object;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "'a");
	viewing_shows(&v, "there is no bookmark a");
	assert_string_equal(sidecar(), "");
	viewing_keys(&v, ":2874<Enter>ma");
	viewing_shows(&v, "bookmark a at 2874");
	viewing_keys(&v, ":100<Enter>mZ:0<Enter>'a");
	assert_int_equal(v.view.cursor, 2874);
	viewing_keys(&v, "'Z");
	assert_int_equal(v.view.cursor, 100);
	viewing_keys(&v, "m1");
	viewing_shows(&v, "bookmarks are letters");
	viewing_keys(&v, "m<Esc>'<Esc>");
	assert_int_equal(v.view.cursor, 100);
	viewing_close(&v);

	object = json_load_file(sidecar(), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(object);
	assert_string_equal(
		json_string_value(json_object_get(object, "size")), "6330");
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(object, "marks"), "a")),
		"2874");
	assert_int_equal(json_object_size(json_object_get(object, "marks")), 2);
	json_decref(object);
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);

	/* Another viewer has them; both add to them. */
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "'a");
	assert_int_equal(v.view.cursor, 2874);
	viewing_keys(&v, "mb");
	viewing_close(&v);
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "'Z'b");
	assert_int_equal(v.view.cursor, 2874);
	assert_int_equal(v.view.before, 100);
	viewing_close(&v);
}

static void
test_two_viewers(void **state)
{
	struct viewing v, w;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_open(&w, GOOD, 24, 80);
	viewing_keys(&v, ":10<Enter>ma");
	viewing_keys(&w, ":20<Enter>mb");
	viewing_keys(&v, "'b");
	assert_int_equal(v.view.cursor, 20);
	viewing_keys(&w, "'a");
	assert_int_equal(w.view.cursor, 10);
	viewing_close(&v);
	viewing_close(&w);
}

static void
test_back(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, ":100<Enter>:200<Enter>''");
	assert_int_equal(v.view.cursor, 100);
	viewing_keys(&v, "''");
	assert_int_equal(v.view.cursor, 200);
	viewing_keys(&v, "''");
	assert_int_equal(v.view.cursor, 100);
	viewing_close(&v);
}

/* A file with another content for each row; a mark is not found in it, and it
 * is as it was until one is set. */
static void
test_damaged(void **state)
{
	static const char *const texts[] = { "", "{", "[]", "null",
		"{\"path\":1}",
		"{\"path\":\"selected-step8.ckpt\",\"size\":\"6330\"}",
		"{\"path\":\"selected-step8.ckpt\",\"size\":6330,\"marks\":{}}",
		"{\"path\":\"another.ckpt\",\"size\":\"6330\","
		"\"marks\":{\"a\":\"1\"}}",
		"{\"path\":\"selected-step8.ckpt\",\"size\":\"6330\","
		"\"marks\":{\"a\":\"-1\"}}",
		"{\"path\":\"selected-step8.ckpt\",\"size\":\"6330\","
		"\"marks\":{\"a\":\"99999999999999999999\"}}",
		"{\"path\":\"selected-step8.ckpt\",\"size\":\"6330\","
		"\"marks\":{\"ab\":\"1\"}}",
		"{\"path\":\"selected-step8.ckpt\",\"size\":\"6330\","
		"\"marks\":{\"a\":\"1\",\"a\":\"2\"}}" };
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "ma");
	viewing_close(&v);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		put(texts[i]);
		viewing_open(&v, GOOD, 24, 80);
		viewing_keys(&v, ":7<Enter>'a");
		assert_int_equal(v.view.cursor, 7);
		viewing_shows(&v, "there is no bookmark a; the saved bookmarks "
				  "are damaged and were ignored");
		assert_string_equal(contents(), texts[i]);
		viewing_keys(&v, "mb");
		viewing_shows(&v, "bookmark b at 7; the saved bookmarks are "
				  "damaged and were ignored, now replaced");
		viewing_keys(&v, ":0<Enter>'b");
		assert_int_equal(v.view.cursor, 7);
		assert_int_equal(v.view.message.n, 0);
		viewing_close(&v);
	}
}

static void
test_another_size(void **state)
{
	static const char text[] =
		"{\"path\":\"selected-step8.ckpt\",\"size\":\"9000\","
		"\"marks\":{\"a\":\"8000\",\"b\":\"50\"}}";
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "ma");
	put(text);
	viewing_close(&v);
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "'a");
	viewing_shows(&v, "there is no bookmark a; the saved bookmarks are of "
			  "a file of another size");
	viewing_keys(&v, "'b");
	assert_int_equal(v.view.cursor, 50);
	viewing_shows(&v, "bookmark b; the saved bookmarks are of a file of "
			  "another size");
	viewing_close(&v);
}

/* Neither a FIFO nor a large file is read. */
static void
test_odd_sidecars(void **state)
{
	struct viewing v;
	char path[512];

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "ma");
	viewing_close(&v);
	strcpy(path, sidecar());
	assert_int_equal(truncate(path, 1 << 20), 0);
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "'a");
	viewing_shows(&v, "damaged");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	viewing_keys(&v, "'a");
	viewing_shows(&v, "damaged");
	viewing_keys(&v, "ma");
	viewing_shows(&v, "bookmark a, until the viewer ends: it cannot be "
			  "saved: ");
	viewing_keys(&v, ":9<Enter>'a");
	assert_int_equal(v.view.cursor, 0);
	viewing_close(&v);
}

/* No folder for state, and none that can be made. */
static void
test_no_home(void **state)
{
	static const char *const bad[] = { NULL, "", "relative" };
	char *home = strdup(getenv("HOME") ? getenv("HOME") : "/");
	char path[100];
	struct viewing v;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		unsetenv("HOME");
		unsetenv("XDG_STATE_HOME");
		if (bad[i]) {
			setenv("HOME", bad[i], 1);
			setenv("XDG_STATE_HOME", bad[i], 1);
		}
		viewing_open(&v, GOOD, 24, 80);
		viewing_keys(&v, ":5<Enter>ma");
		viewing_shows(&v, "bookmark a, until the viewer ends: there is "
				  "no HOME to keep it in");
		viewing_keys(&v, ":9<Enter>'a");
		assert_int_equal(v.view.cursor, 5);
		viewing_close(&v);
	}
	snprintf(path, sizeof path, "%s/file", folder);
	assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	setenv("XDG_STATE_HOME", path, 1);
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "ma");
	viewing_shows(&v, "it cannot be saved: Not a directory");
	viewing_close(&v);
	/* Without the first, the second is used. */
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", folder, 1);
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "ma");
	viewing_close(&v);
	snprintf(path, sizeof path, "%s/.local/state/ckpt/bookmarks", folder);
	assert_int_equal(access(path, F_OK), 0);
	setenv("HOME", home, 1);
	free(home);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
		TEST(test_set_and_go),
		TEST(test_two_viewers),
		TEST(test_back),
		TEST(test_damaged),
		TEST(test_another_size),
		TEST(test_odd_sidecars),
		TEST(test_no_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
