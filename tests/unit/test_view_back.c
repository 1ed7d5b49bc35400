/* SPDX-License-Identifier: MIT */
/*
 * The way back from panes and pages, and what the viewer answers to keys that
 * do nothing, or nothing that is seen: no key is silent, and none ends the
 * program but the one that is pressed at the beginning of the way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/fixture.h"
#include "support/viewing.h"
#include "view/compare.h"

static struct ckpt_buf fixture;
static char second[] = "/tmp/viewing-second.XXXXXX";

static int
make_files(void **state)
{
	struct ckpt_value label;
	int fd = mkstemp(second);

	(void)state;
	if (fd < 0 || ckpt_fixture_selected_step8(&ckpt_format_llmcp35, NULL,
			      &fixture, &label) != CKPT_OK)
		return -1;
	fixture.p[2900] ^= 1;
	if (write(fd, fixture.p, fixture.n) != (ssize_t)fixture.n)
		return -1;
	fixture.p[2900] ^= 1;
	return close(fd);
}

static int
free_files(void **state)
{
	(void)state;
	ckpt_buf_release(&fixture);
	return unlink(second);
}

static void
open_fixture(struct viewing *v, int rows, int cols)
{
	viewing_bytes(v, fixture.p, fixture.n, rows, cols);
	strcpy(v->doc.path, "step8.ckpt");
}

/* Presses keys one by one; each leads to the pane that stands beside it, 'Q'
 * to the end. */
struct step {
	const char *keys;
	int pane;
};

enum { END = VIEW_PANES };

static void
walk(const struct step *steps, size_t n, int rows, int cols)
{
	struct viewing v;

	open_fixture(&v, rows, cols);
	assert_int_equal(view_compare_open(&v.view, second), 0);
	view_settle(&v.view);
	for (size_t i = 0; i < n; i++) {
		viewing_keys(&v, steps[i].keys);
		if (v.view.quit != (steps[i].pane == END))
			fail_msg("quit after step %zu, %s", i, steps[i].keys);
		if (!v.view.quit && (int)v.view.focus != steps[i].pane)
			fail_msg("pane %d after step %zu, %s", v.view.focus, i,
				steps[i].keys);
		viewing_screen(&v);
	}
	viewing_close(&v);
}

#define WALK(rows, cols, ...)                                                  \
	do {                                                                   \
		const struct step steps[] = { __VA_ARGS__ };                   \
		walk(steps, sizeof steps / sizeof steps[0], rows, cols);       \
	} while (0)

static void
test_pages_are_gone_back_to(void **state)
{
	(void)state;
	/* What a page was opened from comes back, page or not. */
	WALK(24, 80, { "c", VIEW_COMPARE }, { "?", VIEW_HELP },
		{ "q", VIEW_COMPARE }, { "S", VIEW_SUMMARY },
		{ "?", VIEW_HELP }, { "<Esc>", VIEW_SUMMARY },
		{ "q", VIEW_COMPARE }, { "q", VIEW_TREE }, { "q", END });
	WALK(24, 80, { "r<Esc>", VIEW_REPLAY }, { "?", VIEW_HELP },
		{ "q", VIEW_REPLAY }, { "q", VIEW_TREE }, { "q", END });
	/* So does a page from which Enter led to the bytes. */
	WALK(24, 80, { "r0,1<Enter>1,2<Enter>0.006<Enter>", VIEW_REPLAY },
		{ "G<Enter>", VIEW_HEX }, { "q", VIEW_REPLAY },
		{ "<Enter>", VIEW_HEX }, { "i", VIEW_INSPECTOR },
		{ "q", VIEW_REPLAY }, { "q", VIEW_TREE }, { "q", END });
	WALK(40, 120, { "x", VIEW_HEX }, { "c", VIEW_COMPARE },
		{ "<Enter>", VIEW_HEX }, { "r<Esc>", VIEW_REPLAY },
		{ "q", VIEW_HEX }, { "q", VIEW_COMPARE }, { "q", VIEW_HEX },
		{ "q", END });
	/* A page is there once, however often it is opened. */
	WALK(24, 80, { "c", VIEW_COMPARE }, { "S", VIEW_SUMMARY },
		{ "c", VIEW_COMPARE }, { "S", VIEW_SUMMARY },
		{ "c", VIEW_COMPARE }, { "q", VIEW_SUMMARY },
		{ "q", VIEW_TREE }, { "q", END });
	/* Help is left by the key of another pane. */
	WALK(24, 80, { "?", VIEW_HELP }, { "x", VIEW_HEX }, { "q", END });
	WALK(24, 80, { "c", VIEW_COMPARE }, { "?", VIEW_HELP },
		{ "x", VIEW_HEX }, { "q", VIEW_COMPARE }, { "q", VIEW_TREE },
		{ "q", END });
}

static void
test_small_screens_have_a_way_back(void **state)
{
	(void)state;
	WALK(10, 40, { "s", VIEW_STATS }, { "q", VIEW_TREE }, { "q", END });
	WALK(10, 40, { "i", VIEW_INSPECTOR }, { "x", VIEW_HEX },
		{ "q", VIEW_INSPECTOR }, { "q", VIEW_TREE }, { "q", END });
	/* To a pane that is below already: back to it. */
	WALK(10, 40, { "x", VIEW_HEX }, { "i", VIEW_INSPECTOR },
		{ "T", VIEW_TREE }, { "q", END });
	WALK(10, 40, { "<Tab><Tab><Tab>", VIEW_STATS },
		{ "<Tab><Tab>", VIEW_TREE }, { "q", END });
	WALK(10, 40, { "c", VIEW_COMPARE }, { "<Enter>", VIEW_HEX },
		{ "s", VIEW_STATS }, { "q", VIEW_HEX }, { "q", VIEW_COMPARE },
		{ "q", VIEW_TREE }, { "q", END });
	/* Side by side they cover nothing. */
	WALK(24, 80, { "x", VIEW_HEX }, { "i", VIEW_INSPECTOR }, { "q", END });
}

static void
test_zoom_and_the_way_back(void **state)
{
	struct viewing v;

	(void)state;
	open_fixture(&v, 24, 80);
	viewing_keys(&v, "z");
	viewing_lacks(&v, "inspector");
	viewing_keys(&v, "?q");
	viewing_lacks(&v, "inspector");
	viewing_keys(&v, "iq");
	assert_int_equal(v.view.focus, VIEW_TREE);
	viewing_lacks(&v, "inspector");
	viewing_keys(&v, "q");
	assert_false(v.view.quit);
	viewing_shows(&v, "inspector");
	viewing_keys(&v, "q");
	assert_true(v.view.quit);
	viewing_close(&v);
	/* Zoomed above a page: first the zoom, then the page. */
	open_fixture(&v, 24, 80);
	viewing_keys(&v, "Sxzq");
	assert_false(v.view.zoomed);
	assert_int_equal(v.view.focus, VIEW_HEX);
	viewing_keys(&v, "q");
	assert_int_equal(v.view.focus, VIEW_SUMMARY);
	/* Where there is no room for more, zooming would not be seen. */
	view_resize(&v.view, 10, 40);
	viewing_keys(&v, "qz");
	assert_false(v.view.zoomed);
	viewing_shows(&v, "one pane at a time");
	viewing_close(&v);
}

/* Any keys at changing sizes: it always ends, in as many steps as there can
 * be panes below. */
static void
test_the_way_back_ends(void **state)
{
	static const char keys[] = "TxiseScr?z<Lt>\t";
	uint64_t seed = 5;
	struct viewing v;

	(void)state;
	open_fixture(&v, 24, 80);
	for (int round = 0; round < 60; round++) {
		int steps = 0;

		for (int i = 0; i < 100; i++) {
			unsigned k;

			seed = seed * 6364136223846793005u +
			       1442695040888963407u;
			k = (unsigned)(seed >> 33);
			view_key(&v.view, (uint8_t)keys[k % strlen(keys)]);
			view_key(&v.view, VIEW_KEY_ESCAPE);
			if (k % 7 == 0)
				view_resize(&v.view, 10 + (int)(k / 7 % 40),
					40 + (int)(k / 301 % 100));
			assert_true(v.view.nbelow <= VIEW_BELOW);
		}
		while (!v.view.quit) {
			viewing_keys(&v, "q");
			assert_true(++steps <= VIEW_BELOW + 2);
		}
		v.view.quit = false;
	}
	viewing_close(&v);
}

static void
test_unknown_keys_are_said(void **state)
{
	static const struct {
		uint32_t key;
		const char *said;
	} rows[] = {
		{ 'a', "no such key: a (? lists the keys)" },
		{ '<', "no such key: < (" },
		{ '\\', "no such key: \\ (" },
		{ VIEW_CTRL('x'), "no such key: Ctrl-X (" },
		{ VIEW_CTRL('c'), "no such key: Ctrl-C (" },
		{ VIEW_KEY_DELETE, "no such key: Del (" },
		{ VIEW_KEY_BACKSPACE, "no such key: Backspace (" },
		{ 0xe9, "no such key: \xc3\xa9 (" },
		{ 0x6f22, "no such key: \xe6\xbc\xa2 (" },
		{ 0x1f600, "no such key: \xf0\x9f\x98\x80 (" },
		/* Nothing that would turn the line round, and no halves. */
		{ 0x202e, "no such key: \\u{202e} (" },
		{ 0xd800, "no such key: \\xed\\xa0\\x80 (" },
	};
	struct viewing v;

	(void)state;
	open_fixture(&v, 24, 80);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		view_key(&v.view, rows[i].key);
		viewing_shows(&v, rows[i].said);
		viewing_keys(&v, "<C-l>");
		viewing_lacks(&v, "no such key");
	}
	view_key(&v.view, 0);
	viewing_lacks(&v, "no such key");
	/* A key that there is, but not for this pane. */
	viewing_keys(&v, "xt");
	viewing_shows(&v, "this key does nothing here (? lists all)");
	assert_false(v.view.quit);
	viewing_close(&v);
}

static void
test_verifying_says_what_came_of_it(void **state)
{
	struct viewing v;

	(void)state;
	open_fixture(&v, 24, 80);
	viewing_lacks(&v, "verified: ");
	viewing_keys(&v, "v");
	viewing_shows(&v, "verified: valid, no findings");
	viewing_keys(&v, "j");
	viewing_lacks(&v, "verified: ");
	viewing_close(&v);
	viewing_bytes(&v, fixture.p, fixture.n - 1, 24, 80);
	viewing_keys(&v, "v");
	viewing_shows(&v, "verified: invalid, ");
	viewing_shows(&v, "finding");
	viewing_close(&v);
}

static void
test_the_second_file_is_on_the_first_line(void **state)
{
	struct viewing v;
	char *screen;

	(void)state;
	open_fixture(&v, 24, 80);
	viewing_lacks(&v, " | B ");
	assert_int_equal(view_compare_open(&v.view, second), 0);
	strcpy(v.view.compare->other.path, "nan.ckpt");
	view_settle(&v.view);
	viewing_shows(&v, "step8.ckpt | B nan.ckpt (c compares)  llmcp35  "
			  "6330 bytes  valid\n");
	/* Names and the verdict stay. */
	view_resize(&v.view, 10, 40);
	viewing_shows(&v, "step8.ckpt | B nan.ckpt  valid\n");
	strcpy(v.view.compare->other.path, "\x1b[2J\n/long/folder/b.ckpt");
	viewing_shows(&v, "step8.ckpt | B ~er/b.ckpt  valid\n");
	view_resize(&v.view, 24, 120);
	viewing_shows(&v, " | B \\x1b[2J\\n/long/folder/b.ckpt (c compares)");
	screen = strstr(viewing_screen(&v), "\x1b");
	assert_null(screen);
	viewing_close(&v);
}

/* Enter on a tensor goes to its payload, but not away from a place in it. */
static void
test_enter_keeps_the_place(void **state)
{
	struct viewing v;

	(void)state;
	open_fixture(&v, 24, 80);
	viewing_keys(&v, ":2900<Enter>T<Enter>");
	assert_int_equal(v.view.focus, VIEW_HEX);
	assert_int_equal(v.view.cursor, 2900);
	/* From its record in the header, and from another one. */
	viewing_keys(&v, "Tuu");
	assert_true(v.view.cursor < v.doc.header_end);
	viewing_keys(&v, "T<Enter>");
	assert_int_equal(v.view.cursor, 2874);
	viewing_keys(&v, ":2900<Enter>Tjk<Enter>");
	assert_int_equal(v.view.cursor, 2874);
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages_are_gone_back_to),
		cmocka_unit_test(test_small_screens_have_a_way_back),
		cmocka_unit_test(test_zoom_and_the_way_back),
		cmocka_unit_test(test_the_way_back_ends),
		cmocka_unit_test(test_unknown_keys_are_said),
		cmocka_unit_test(test_verifying_says_what_came_of_it),
		cmocka_unit_test(test_the_second_file_is_on_the_first_line),
		cmocka_unit_test(test_enter_keeps_the_place),
	};

	return cmocka_run_group_tests(tests, make_files, free_files);
}
