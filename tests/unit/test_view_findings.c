/* SPDX-License-Identifier: MIT */
/*
 * The pane of findings: the words for each, which one is selected, where
 * Enter leads; and what it says while there are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "support/viewing.h"

#define BAD "corpus/llmcp35/bad/"

static void
test_words(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	viewing_keys(&v, "ez");
	viewing_shows(&v, "[findings: 4 errors]");
	viewing_shows(&v, "\n> error CK4001 0x2c4 parameter-not-finite, "
			  "primary, records[3].data[0,0]\n");
	viewing_shows(&v, "\n  error CK5204 0x1af bad-parameter-name, "
			  "records[4].name\n");
	viewing_shows(&v, "a model parameter is not a finite number");
	viewing_shows(&v, "expected a finite number, found NaN");
	viewing_shows(&v, "\n  each of them: /f nan, then n\n");
	viewing_shows(&v, "likely cause: ");
	viewing_keys(&v, "o");
	viewing_shows(&v, "\n> error CK4001 708 parameter-not-finite, ");
	viewing_keys(&v, "jo");
	viewing_shows(&v, "\n> error CK5204");
	viewing_shows(&v, "found \"Final_norm.gain\"");
	viewing_lacks(&v, "/f nan");
	viewing_keys(&v, "jjjjjj");
	viewing_shows(&v, "\n> error CK5503");
	viewing_keys(&v, "g");
	viewing_shows(&v, "\n> error CK4001");
	viewing_keys(&v, "G<C-u><PgUp><PgDn>");
	viewing_shows(&v, "\n> error CK5503");
	viewing_close(&v);
}

/* A row that is cut says so, and still says where. */
static void
test_cut_row(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	viewing_keys(&v, "e");
	viewing_shows(&v, "> error CK4001 0x2c4 parameter-not-fin~\n");
	viewing_shows(&v, "  error CK5204 0x1af bad-parameter-nam~\n");
	viewing_close(&v);
}

/* Counts by severity, each in its number. */
static void
test_counts(void **state)
{
	struct viewing v;
	struct ckpt_diag *d;
	struct ckpt_rule warning, note;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	d = (struct ckpt_diag *)(uintptr_t)v.doc.findings;
	warning = *d[0].rule;
	warning.severity = CKPT_WARNING;
	note = *d[1].rule;
	note.severity = CKPT_NOTE;
	d[1].rule = d[2].rule = &warning;
	d[3].rule = &note;
	viewing_keys(&v, "ez");
	viewing_shows(&v, "[findings: 1 error, 2 warnings, 1 note]");
	viewing_close(&v);
}

static void
test_next_command(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "flipped-bit-payload.ckpt", 24, 80);
	viewing_keys(&v, "ez");
	viewing_shows(&v, "expected fnv1a64:");
	viewing_shows(&v, "next: search for a single damaged byte: `ckverify "
			  "--locate\n");
	viewing_shows(&v, "  flipped-bit-payload.ckpt`");
	viewing_close(&v);
}

static void
test_enter(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	viewing_keys(&v, "e<Enter>");
	assert_int_equal(v.view.cursor, 0x2c4);
	assert_int_equal(v.view.focus, VIEW_HEX);
	assert_int_equal(v.view.before, 0);
	viewing_keys(&v, "ej<Enter>");
	assert_int_equal(v.view.cursor, 0x1af);
	assert_int_equal(v.view.before, 0x2c4);
	/* Two rows down is of the same place. */
	viewing_keys(&v, "ej<Enter>");
	assert_int_equal(v.view.cursor, 0x1af);
	viewing_keys(&v, "ez");
	viewing_shows(&v, "\n> error CK5312");
	/* Clicks: the second of two opens. */
	view_click(&v.view, 3, 5, false);
	viewing_shows(&v, "\n> error CK4001");
	view_click(&v.view, 3, 5, true);
	assert_int_equal(v.view.cursor, 0x2c4);
	assert_int_equal(v.view.focus, VIEW_HEX);
	viewing_close(&v);
}

static void
test_cursor_selects(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	viewing_keys(&v, "ez");
	view_go(&v.view, 0x1af);
	viewing_shows(&v, "\n> error CK5204");
	view_go(&v.view, 0x2c4 + 7); /* its last byte */
	viewing_shows(&v, "\n> error CK4001");
	view_go(&v.view, 0x2c4 + 8); /* behind it: stays */
	viewing_shows(&v, "\n> error CK4001");
	view_go(&v.view, 0xfd);
	viewing_shows(&v, "\n> error CK5503");
	viewing_close(&v);
}

static void
test_none(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/good/tiny.ckpt", 24, 80);
	viewing_keys(&v, "ez");
	viewing_shows(&v, "[findings]");
	viewing_shows(&v, "\n  none\n");
	viewing_keys(&v, "jkG<Enter>");
	viewing_shows(&v, "there is no finding");
	v.doc.stage = VIEW_READING;
	viewing_shows(&v, "none so far: the header is being read");
	v.doc.stage = VIEW_VERIFYING;
	viewing_shows(&v, "none so far: the payload is being read");
	v.doc.stage = VIEW_PAUSED;
	viewing_shows(&v, "none so far: the payload was not verified (v)");
	viewing_close(&v);
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	viewing_keys(&v, "ez");
	v.doc.stage = VIEW_PAUSED;
	viewing_shows(&v, "findings: 4 errors; payload not verified (v)");
	viewing_close(&v);
}

/* A finding about the file as a whole, and one behind its end. */
static void
test_no_place(void **state)
{
	struct viewing v;
	struct ckpt_diag *d;
	struct ckpt_rule rule;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	d = (struct ckpt_diag *)(uintptr_t)v.doc.findings;
	rule = *d->rule;
	rule.severity = CKPT_WARNING;
	d->rule = &rule;
	d->path = "";
	d->off = d->len = 0;
	v.doc.primary = NULL;
	viewing_keys(&v, "eg<Enter>");
	viewing_shows(&v, "CK4001 is about the file as a whole: it has no "
			  "place");
	assert_int_equal(v.view.focus, VIEW_FINDINGS);
	viewing_keys(&v, "z");
	viewing_shows(&v, "\n> warning CK4001 parameter-not-finite\n");
	d->off = UINT64_MAX;
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "behind the end; this is the last byte");
	assert_int_equal(v.view.cursor, v.doc.size - 1);
	viewing_close(&v);
}

/* Any size, with many findings, the selected row is in sight. */
static void
test_sizes(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	viewing_keys(&v, "ez");
	for (int rows = 1; rows < 30; rows++)
		for (int cols = 1; cols < 90; cols += cols < 8 ? 1 : 9) {
			view_resize(&v.view, rows, cols);
			viewing_keys(&v, rows % 2 ? "j" : "k");
			viewing_screen(&v);
			if (rows >= 10 && cols >= 40)
				viewing_shows(&v, "\n> ");
		}
	viewing_close(&v);
}

/* An index or a list that is shorter than before. */
static void
test_shrinks(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 12, 80);
	viewing_keys(&v, "ezG");
	viewing_shows(&v, "\n> error CK5503");
	v.doc.nfindings = 2;
	viewing_shows(&v, "\n> error CK4001");
	v.doc.nfindings = 0;
	viewing_screen(&v);
	viewing_keys(&v, "jkGg<Enter><PgDn>");
	viewing_close(&v);
}

/* Ranks are known only in the end: what comes first may be another one then,
 * but what was picked stays. */
static void
test_new_list(void **state)
{
	struct viewing v;
	const struct ckpt_diag *list;
	struct ckpt_diag early[4];

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	list = v.doc.findings;
	memcpy(early, list, sizeof early);
	early[0] = list[1];
	early[1] = list[0];
	for (int picked = 0; picked < 2; picked++) {
		v.doc.findings = early;
		viewing_keys(&v, "ez");
		viewing_shows(&v, "\n> error CK5204");
		if (picked)
			viewing_keys(&v, "jk");
		v.doc.findings = list;
		view_go(&v.view, 1);
		viewing_shows(
			&v, picked ? "\n> error CK5204" : "\n> error CK4001");
		viewing_keys(&v, "z");
	}
	viewing_close(&v);
}

static void
test_hostile(void **state)
{
	struct viewing v;
	const char *screen;

	(void)state;
	viewing_open(&v, BAD "hostile-group-name.ckpt", 24, 80);
	viewing_keys(&v, "ez");
	for (int i = 0; i < 10; i++) {
		viewing_keys(&v, "j");
		screen = viewing_screen(&v);
		for (const char *p = screen; *p; p++)
			assert_true((uint8_t)*p >= ' ' || *p == '\n');
	}
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_cut_row),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_next_command),
		cmocka_unit_test(test_enter),
		cmocka_unit_test(test_cursor_selects),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_no_place),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_new_list),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
