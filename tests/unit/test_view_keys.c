/* SPDX-License-Identifier: MIT */
/*
 * Keys: every binding of the table reaches its action and no other, keys are
 * written as people read them, and help and the manual page have every row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/viewing.h"

static void
test_bindings(void **state)
{
	static const struct {
		uint32_t key;
		enum view_action action;
	} rows[] = {
		{ 'k', VIEW_DO_UP },
		{ VIEW_KEY_UP, VIEW_DO_UP },
		{ ' ', VIEW_DO_PAGE_DOWN },
		{ VIEW_CTRL('F'), VIEW_DO_PAGE_DOWN },
		{ VIEW_CTRL('f'), VIEW_DO_PAGE_DOWN },
		{ '\n', VIEW_DO_OPEN },
		{ '\r', VIEW_DO_OPEN },
		{ '+', VIEW_DO_UNFOLD },
		{ '=', VIEW_DO_UNFOLD },
		{ 0x1b, VIEW_DO_CANCEL },
		{ '?', VIEW_DO_HELP },
		{ '\'', VIEW_DO_JUMP },
		{ '<', VIEW_DO_NOTHING },
		{ '>', VIEW_DO_NOTHING },
		{ 'C', VIEW_DO_NOTHING },
		{ 0, VIEW_DO_NOTHING },
		{ 0xe9, VIEW_DO_NOTHING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(view_key_action(rows[i].key), rows[i].action);
}

static void
test_every_row(void **state)
{
	const struct view_key_row *row;

	(void)state;
	for (size_t i = 0; (row = view_key_row(i)) != NULL; i++) {
		const char *s = row->keys;
		uint32_t key;

		assert_true(row->help[0]);
		if (!row->id)
			continue;
		assert_true(row->keys[0]);
		while ((key = view_key_next(&s)) != 0)
			if (key != ' ' || s[-1] == '>')
				assert_int_equal(
					view_key_action(key), row->action);
		assert_string_equal(s, "");
	}
}

static void
test_script(void **state)
{
	const char *s = "a<Enter><C-x><Lt>é<Nothing>b";
	static const uint32_t want[] = { 'a', '\r', 24, '<', 0xe9, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
		assert_int_equal(view_key_next(&s), want[i]);
	assert_string_equal(s, "b");
}

static void
test_written(void **state)
{
	static const struct {
		enum view_action action;
		const char *text;
	} rows[] = {
		{ VIEW_DO_UP, "Up k" },
		{ VIEW_DO_PAGE_DOWN, "PgDn Ctrl-F Space" },
		{ VIEW_DO_UNFOLD, "+ =" },
		{ VIEW_DO_PREVIOUS_PANE, "Shift-Tab" },
		{ VIEW_DO_CANCEL, "Esc Ctrl-G" },
	};
	const struct view_key_row *row;

	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
		for (size_t i = 0; (row = view_key_row(i)) != NULL; i++) {
			struct ckpt_buf buf = { 0 };

			if (!row->id || row->action != rows[k].action)
				continue;
			view_keys_write(&buf, row);
			assert_string_equal(buf.p, rows[k].text);
			ckpt_buf_release(&buf);
		}
}

/* Everything that the page of help draws, scrolled through, without breaks
 * of lines. */
static void
read_help(struct viewing *v, struct ckpt_buf *all)
{
	viewing_keys(v, "g");
	for (int i = 0; i < 200; i++) {
		ckpt_buf_puts(all, viewing_screen(v));
		viewing_keys(v, "j");
	}
}

static void
test_help(void **state)
{
	static const int sizes[][2] = { { 24, 80 }, { 10, 40 }, { 40, 130 },
		{ 200, 300 }, { 60, 120 } };
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/good/tiny.ckpt", 24, 80);
	viewing_keys(&v, "?");
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct ckpt_buf all = { 0 };
		const struct view_key_row *row;

		view_resize(&v.view, sizes[i][0], sizes[i][1]);
		read_help(&v, &all);
		for (size_t k = 0; (row = view_key_row(k)) != NULL; k++) {
			struct ckpt_buf keys = { 0 };
			char word[12];

			/* The first word or two of its help, and its keys. */
			snprintf(word, sizeof word, "%s", row->help);
			assert_non_null(strstr(all.p, word));
			view_keys_write(&keys, row);
			if (row->id)
				assert_non_null(strstr(all.p, keys.p));
			ckpt_buf_release(&keys);
		}
		assert_non_null(strstr(all.p, "nan any NaN"));
		assert_non_null(strstr(all.p, "Ctrl-A Ctrl-E"));
		ckpt_buf_release(&all);
	}
	for (int rows = 1; rows < 14; rows++)
		for (int cols = 1; cols < 60; cols += 7) {
			view_resize(&v.view, rows, cols);
			viewing_keys(&v, "Gjg<PgDn><PgUp><C-d><C-u>");
			viewing_screen(&v);
		}
	view_resize(&v.view, 24, 80);
	viewing_keys(&v, "G");
	viewing_shows(&v, "Mouse");
	viewing_keys(&v, "q");
	viewing_lacks(&v, "keys and signs:");
	viewing_close(&v);
}

/* Every sign that a screen shows is explained, in both places. */
static void
test_signs(void **state)
{
	static const char *const signs[] = { "h t p m o .", "0", "!", "~", "--",
		">" };
	struct ckpt_buf man = { 0 };
	size_t from = 0, found = 0;
	const struct view_note_row *note;

	(void)state;
	view_keys_man(&man);
	assert_false(man.failed);
	assert_non_null(strstr(man.p, ".Ss Signs\n"));
	assert_non_null(strstr(man.p, ".Ss Mouse\n"));
	while ((note = view_note_row(from)) != NULL &&
		(note->what || strcmp(note->help, "Signs") != 0))
		from++;
	assert_non_null(note);
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		for (size_t k = from; (note = view_note_row(k)) != NULL; k++)
			found +=
				note->what && strcmp(note->what, signs[i]) == 0;
	assert_int_equal(found, sizeof signs / sizeof signs[0]);
	ckpt_buf_release(&man);
}

/* In the help it is the help that is searched, and the cursor stays. */
static void
test_help_is_searched(void **state)
{
	static const int sizes[][2] = { { 24, 80 }, { 10, 40 }, { 40, 130 } };
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/good/tiny.ckpt", 24, 80);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		view_resize(&v.view, sizes[i][0], sizes[i][1]);
		viewing_keys(&v, "?/");
		viewing_shows(&v, "in this help:");
		viewing_keys(&v, "BOOKMARK<Enter>");
		assert_null(v.view.prompt);
		viewing_shows(&v, "BOOKMARK: 1 of 2 in this help");
		viewing_shows(&v, "set a bookmark");
		viewing_keys(&v, "n");
		viewing_shows(&v, "BOOKMARK: 2 of 2 in this help");
		viewing_shows(&v, "go to a bookmark");
		viewing_keys(&v, "n");
		viewing_shows(&v, "1 of 2 in this help");
		viewing_keys(&v, "N");
		viewing_shows(&v, "2 of 2 in this help");
		/* The very last row. */
		viewing_keys(&v, "/wheel<Enter>");
		viewing_shows(&v, "scrolls the pane");
		/* What was found is marked, and only that. */
		viewing_keys(&v, "/no such words<Enter>");
		viewing_shows(&v, "not in this help: no such words");
		viewing_keys(&v, "N");
		viewing_shows(&v, "not in this help: no such words");
		assert_int_equal(v.view.cursor, 0);
		assert_null(v.view.search);
		viewing_keys(&v, "q");
	}
	viewing_close(&v);
}

/* The manual: one item a row, its lists closed, and nothing that a formatter
 * would take for a request. */
static void
test_manual(void **state)
{
	struct ckpt_buf man = { 0 };
	size_t items = 0, lists = 0, rows = 0;
	const struct view_key_row *row;

	(void)state;
	view_keys_man(&man);
	assert_false(man.failed);
	for (const char *line = man.p; line && *line;
		line = strchr(line, '\n') + 1) {
		items += strncmp(line, ".It Cm ", 7) == 0;
		lists += strncmp(line, ".Bl ", 4) == 0;
		lists -= strncmp(line, ".El", 3) == 0;
		assert_true(lists <= 1);
		assert_int_not_equal(line[0], '\'');
		if (line[0] == '.')
			assert_non_null(strstr(".It.Bl.El.Ss",
				((char[4]){ line[0], line[1], line[2], 0 })));
	}
	assert_int_equal(lists, 0);
	for (size_t i = 0; (row = view_key_row(i)) != NULL; i++)
		rows += row->id != NULL;
	for (size_t i = 0; view_note_row(i); i++)
		rows += view_note_row(i)->what != NULL;
	assert_int_equal(items, rows);
	ckpt_buf_release(&man);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bindings),
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_script),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_signs),
		cmocka_unit_test(test_help_is_searched),
		cmocka_unit_test(test_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
