/* SPDX-License-Identifier: MIT */
/*
 * The line that is asked for: what each key does to it, against a second,
 * simple editor under random keys; history; what it shows and where the caret
 * is at any width.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "support/viewing.h"

#define GOOD "corpus/llmcp35/good/tiny.ckpt"

static char got[5000];
static int calls;

static void
take(struct view *view, const char *text)
{
	(void)view;
	calls++;
	snprintf(got, sizeof got, "%s", text);
}

static void
take_two(struct view *view, const char *text)
{
	take(view, text);
	view_ask(view, "second: ", text, take);
}

/* What comes of a script that begins with text and ends with Enter. */
static const char *
typed(struct viewing *v, const char *text, const char *script)
{
	got[0] = '\0';
	view_ask(&v->view, "word: ", text, take);
	viewing_keys(v, script);
	viewing_keys(v, "<Enter>");
	assert_null(v->view.prompt);
	return got;
}

static void
test_editing(void **state)
{
	static const struct {
		const char *text, *script, *want;
	} rows[] = {
		{ "", "abc", "abc" },
		{ "ab", "c", "c" },
		{ "ab", "<End>c", "abc" },
		{ "abc", "<Left><Left>x", "axbc" },
		{ "abc", "<Home>x", "xabc" },
		{ "abc", "<C-a><Right>x<C-e>y", "axbcy" },
		{ "abc", "<Left><BS>", "ac" },
		{ "abc", "<Home><Del>", "bc" },
		{ "abc", "<End><Del>", "abc" },
		{ "abc", "<Home><BS>", "abc" },
		{ "abc", "<Left><C-u>", "c" },
		{ "abc", "<Left><C-k>", "ab" },
		{ "one two  ", "<C-w>", "one " },
		{ "one two", "<Home><Right><C-w>", "ne two" },
		{ "a b", "<C-l><Tab><F5><PgUp><C-b>", "a b" },
		{ "q:?/", "<End>jk", "q:?/jk" },
		{ "", "a\\b", "a\\b" },
		{ "é漢", "<Left><BS>x", "x漢" },
		{ "\xc3\x28", "", "(" },
		{ "a\x1b[31m\n\x7f\xc2\x9b"
		  "b\xe2\x80\xae"
		  "c",
			"", "a[31mbc" },
	};
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(
			typed(&v, rows[i].text, rows[i].script), rows[i].want);
	viewing_close(&v);
}

static void
test_leaving(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	calls = 0;
	view_ask(&v.view, "word: ", "x", take);
	viewing_keys(&v, "abc<Esc>");
	assert_null(v.view.prompt);
	view_ask(&v.view, "word: ", "x", take);
	viewing_keys(&v, "abc<C-g>");
	assert_null(v.view.prompt);
	/* Ctrl-C, and Backspace where there is nothing to take back. */
	view_ask(&v.view, "word: ", "x", take);
	viewing_keys(&v, "abc<C-c>");
	assert_null(v.view.prompt);
	view_ask(&v.view, "word: ", "", take);
	viewing_keys(&v, "ab<BS><BS>");
	assert_non_null(v.view.prompt);
	viewing_keys(&v, "<Del>");
	assert_non_null(v.view.prompt);
	viewing_keys(&v, "<BS>");
	assert_null(v.view.prompt);
	view_ask(&v.view, "word: ", "x", take);
	viewing_keys(&v, "<BS>");
	assert_non_null(v.view.prompt);
	viewing_keys(&v, "<C-h>");
	assert_null(v.view.prompt);
	assert_int_equal(calls, 0);
	assert_false(v.view.quit);
	/* The signal of Ctrl-C is for what is asked, and only that. */
	assert_false(view_interrupt(&v.view));
	view_ask(&v.view, "word: ", "x", take);
	assert_true(view_interrupt(&v.view));
	assert_null(v.view.prompt);
	viewing_keys(&v, "m");
	assert_true(view_interrupt(&v.view));
	assert_int_equal(v.view.awaited, VIEW_DO_NOTHING);
	assert_false(view_interrupt(&v.view));
	assert_int_equal(calls, 0);
	/* Keys are nobody else's meanwhile. */
	view_ask(&v.view, "word: ", "", take);
	viewing_keys(&v, "qqq?G");
	assert_false(v.view.quit);
	assert_int_equal(v.view.cursor, 0);
	viewing_shows(&v, "word: qqq?G");
	/* One question after the other. */
	view_ask(&v.view, "first: ", "", take_two);
	viewing_keys(&v, "one<Enter>");
	viewing_shows(&v, "second: one");
	viewing_keys(&v, "<End> two<Enter>");
	assert_string_equal(got, "one two");
	assert_int_equal(calls, 2);
	viewing_close(&v);
}

static void
test_history(void **state)
{
	struct viewing v;
	char text[40];

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	assert_string_equal(typed(&v, "", "<Up><Down>"), "");
	typed(&v, "", "one");
	typed(&v, "", "two");
	typed(&v, "", "one");
	assert_string_equal(typed(&v, "x", "<Up>"), "one");
	assert_string_equal(typed(&v, "x", "<Up><Up>"), "two");
	assert_string_equal(typed(&v, "x", "<Up><Up><Up><Up>"), "one");
	assert_string_equal(typed(&v, "draft", "<Up><Down>"), "draft");
	assert_string_equal(typed(&v, "", "<Up>!"), "draft!");
	/* Another label has another list. */
	view_ask(&v.view, "other: ", "", take);
	viewing_keys(&v, "<Up>own<Enter>");
	assert_string_equal(got, "own");
	/* The last fifty, of the last lists. */
	for (int i = 0; i < 60; i++) {
		snprintf(text, sizeof text, "%d", i);
		typed(&v, text, "");
	}
	view_ask(&v.view, "word: ", "", take);
	for (int i = 0; i < 70; i++)
		viewing_keys(&v, "<Up>");
	viewing_keys(&v, "<Enter>");
	assert_string_equal(got, "10");
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof text, "label%d ", i);
		view_ask(&v.view, text, "x", take);
		viewing_keys(&v, "<Enter>");
	}
	assert_string_equal(typed(&v, "", "<Up>"), "");
	viewing_close(&v);
}

static void
test_limit(void **state)
{
	struct viewing v;
	char *text = malloc(10001);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', 10000);
	text[10000] = '\0';
	viewing_open(&v, GOOD, 24, 80);
	assert_int_equal(strlen(typed(&v, text, "<End>bcd")), 4096);
	text[4095] = '\0';
	/* Two bytes do not fit, one does. */
	assert_int_equal(strlen(typed(&v, text, "<End>éx")), 4096);
	assert_int_equal(got[4095], 'x');
	viewing_close(&v);
	free(text);
}

/* ---- Against another editor --------------------------------------------- */

static uint64_t seed = 7;

static unsigned
pick(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* Characters as numbers of this table; the caret is between them. */
static const char *const alphabet[] = { "a", " ", "é", "漢", "😀", "e\xcc\x81" };

struct line {
	unsigned chars[200];
	size_t n, caret;
};

static void
cut(struct line *l, size_t from, size_t to)
{
	memmove(l->chars + from, l->chars + to,
		(l->n - to) * sizeof l->chars[0]);
	l->n -= to - from;
	l->caret = from;
}

static const char *
press(struct line *l)
{
	switch (pick(12)) {
	case 0: l->caret -= l->caret > 0; return "<Left>";
	case 1: l->caret += l->caret < l->n; return "<Right>";
	case 2: l->caret = 0; return "<Home>";
	case 3: l->caret = l->n; return "<End>";
	case 4:
		/* That would be the end of the question. */
		if (l->n == 0)
			return "";
		if (l->caret > 0)
			cut(l, l->caret - 1, l->caret);
		return "<BS>";
	case 5:
		if (l->caret < l->n)
			cut(l, l->caret, l->caret + 1);
		return "<Del>";
	case 6:
		if (pick(8))
			return "";
		cut(l, 0, l->caret);
		return "<C-u>";
	}
	if (l->n == 200)
		return "";
	memmove(l->chars + l->caret + 1, l->chars + l->caret,
		(l->n - l->caret) * sizeof l->chars[0]);
	l->chars[l->caret] = pick(6);
	l->n++;
	return alphabet[l->chars[l->caret++]];
}

/* The caret is on the screen, and the text before it is left of it. */
static void
check_screen(struct viewing *v, const struct line *l)
{
	struct ckpt_buf before = { 0 };
	int row, col, width;

	for (size_t i = 0; i < l->caret; i++)
		ckpt_buf_puts(&before, alphabet[l->chars[i]]);
	width = before.p ? view_width(before.p, before.n) : 0;
	assert_true(view_caret(&v->view, &row, &col));
	assert_int_equal(row, v->view.grid.rows - 1);
	assert_in_range(col, 6, v->view.grid.cols - 1);
	if (width < v->view.grid.cols - 6)
		assert_int_equal(col, 6 + width);
	assert_true(ckpt_utf8_valid(
		viewing_screen(v), strlen(viewing_screen(v)), NULL));
	ckpt_buf_release(&before);
}

static void
test_random_keys(void **state)
{
	static const int cols[] = { 40, 41, 80, 200 };
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	for (int round = 0; round < 20; round++) {
		struct line l = { .n = 0 };
		struct ckpt_buf want = { 0 };

		view_ask(&v.view, "word: ", "", take);
		for (int i = 0; i < 300; i++) {
			viewing_keys(&v, press(&l));
			if (pick(10) == 0)
				view_resize(&v.view, 10 + (int)pick(30),
					cols[pick(4)]);
			check_screen(&v, &l);
		}
		viewing_keys(&v, "<Enter>");
		ckpt_buf_puts(&want, "");
		for (size_t i = 0; i < l.n; i++)
			ckpt_buf_puts(&want, alphabet[l.chars[i]]);
		assert_string_equal(got, want.p ? want.p : "");
		ckpt_buf_release(&want);
	}
	viewing_close(&v);
}

static void
test_scrolling(void **state)
{
	struct viewing v;
	int row, col;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	view_resize(&v.view, 12, 40);
	view_ask(&v.view, "a label that is much longer than half a line is: ",
		"0123456789abcdefghijklmnopqrstuvwxyz", take);
	viewing_shows(&v, "a label that is muc~");
	viewing_shows(&v, "wxyz");
	viewing_keys(&v, "<Home>");
	viewing_shows(&v, "a label that is muc~0123456789abcdefghij");
	assert_true(view_caret(&v.view, &row, &col));
	assert_int_equal(col, 20);
	view_resize(&v.view, 5, 20);
	viewing_keys(&v, "!");
	view_resize(&v.view, 24, 120);
	viewing_shows(&v, "longer than half a line is: !0123456789");
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_editing),
		cmocka_unit_test(test_leaving),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_random_keys),
		cmocka_unit_test(test_scrolling),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
