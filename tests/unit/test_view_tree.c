/* SPDX-License-Identifier: MIT */
/*
 * The pane of the records: what its rows say, how it folds, sorts and
 * filters, and how it and the cursor follow each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/build35.h"
#include "support/viewing.h"

#define GOOD "corpus/llmcp35/good/"
#define BAD  "corpus/llmcp35/bad/"

static void
test_rows(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 100, 110);
	viewing_keys(&v, "Tz+jj");
	viewing_shows(&v, "[records: 38, in file order]");
	viewing_shows(&v, "\n  - header  45 fields, 540 bytes\n"
			  "    - fixed_header  6 fields, 38 bytes\n"
			  ">     h magic  \"LLMCP35\\x00\"\n"
			  "      h version  1\n");
	viewing_shows(&v, "\n      h decoder.width  4\n");
	viewing_shows(&v, "\n  - tokenizer  5 records, 5 bytes\n"
			  "    t literal-token-0           u8   [1]    "
			  "[2869,2870)    1\n");
	viewing_shows(&v,
		"\n  - parameters  11 records, 1152 bytes\n"
		"    p token_embedding.weight    f64  [5,4]  [2874,3034)  160\n"
		"    - blocks.0  9 records, 960 bytes\n"
		"      p attention_norm.gain     f64  [4]    [3034,3066)   32\n"
		"      - attention  4 records, 512 bytes\n"
		"        p query.weight          f64  [4,4]  [3066,3194)  "
		"128\n");
	viewing_shows(
		&v, "\n    - OptimizerSecondMoment  11 records, 1152 bytes\n");
	viewing_lacks(&v, "bytes of nobody");
	viewing_close(&v);
}

/* The same as viewing_shows(), but what stands right of the tree is left out
 * of its lines. */
static void
viewing_tree_shows(struct viewing *v, const char *words)
{
	const struct view_area *area = &v->view.areas[VIEW_TREE];
	struct view_grid part = { .rows = area->rows, .cols = area->cols };
	struct ckpt_buf text = { 0 };

	viewing_screen(v);
	part.cells = calloc(
		(size_t)area->rows * (size_t)area->cols, sizeof *part.cells);
	assert_non_null(part.cells);
	for (int row = 0; row < area->rows; row++)
		memcpy(part.cells + row * area->cols,
			v->view.grid.cells +
				(area->row + row) * v->view.grid.cols +
				area->col,
			(size_t)area->cols * sizeof *part.cells);
	view_grid_write(&part, &text);
	if (!strstr(text.p, words))
		fail_msg("\"%s\" is not in\n%s", words, text.p);
	ckpt_buf_release(&text);
	free(part.cells);
}

/* Columns go one by one as the pane gets narrow, the name never. */
static void
test_narrow(void **state)
{
	static const struct {
		int cols;
		const char *line;
	} rows[] = {
		{ 60, "p token_embedding.weight    f64  [5,4]  [2874,3034)  "
		      "160\n" },
		{ 50, "p token_embedding.weight   f64 [5,4] 160\n" },
		{ 40, "p token_embedding.weight   f64 [5,4]\n" },
		{ 34, "p token_embedding.weight   f64\n" },
		{ 30, "p token_embedding.weight\n" },
	};
	struct viewing v;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		viewing_open(&v, GOOD "selected-step8.ckpt", 100, 80);
		viewing_keys(&v, "Tz");
		if (rows[i].cols > 40) {
			view_resize(&v.view, 100, rows[i].cols);
		} else {
			/* Beside the bytes it is narrower than a screen is. */
			view_resize(&v.view, 24, rows[i].cols + 46);
			viewing_keys(&v, "z");
		}
		view_go(&v.view, 2874);
		viewing_tree_shows(&v, rows[i].line);
		viewing_close(&v);
	}
}

/* Columns do not depend on which rows are on the screen. */
static void
test_columns_stay(void **state)
{
	struct viewing v;
	int dtype = -1, shape = -1;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 12, 80);
	viewing_keys(&v, "Tz");
	for (int row = 0; row < 60; row++) {
		viewing_keys(&v, "j");
		for (const char *line = viewing_screen(&v); *line;) {
			size_t n = strcspn(line, "\n");
			const char *at = strstr(line, " f64 ");

			at = at ? at : strstr(line, " u8 ");
			if (at && at < line + n) {
				dtype = dtype < 0 ? (int)(at - line) : dtype;
				assert_int_equal(at - line, dtype);
				at = memchr(at, '[', (size_t)(line + n - at));
				assert_non_null(at);
				shape = shape < 0 ? (int)(at - line) : shape;
				assert_int_equal(at - line, shape);
			}
			line += n + (line[n] == '\n');
		}
	}
	assert_true(dtype > 0);
	viewing_close(&v);
}

/* Where there is no room for a column of rules, a rule takes that of its row
 * and of no other. */
static void
test_rule_without_column(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "two-nan-and-name.ckpt", 24, 80);
	view_go(&v.view, 708);
	viewing_shows(&v, ">!  p token_embedding.we~ ! CK4001");
	viewing_shows(&v, "      m token_embedding.weight f64 ");
	view_resize(&v.view, 40, 120);
	viewing_shows(&v, ">!  p token_embedding.weight      ! CK4001 ");
	viewing_shows(&v, "      m token_embedding.weight f64 [3,2]");
	viewing_close(&v);
}

/* Enter on a row keeps the place within its bytes, but leaves the header. */
static void
test_open_keeps_place(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 24, 80);
	view_go(&v.view, 2874 + 8 * 7);
	viewing_keys(&v, "T<Enter>");
	assert_int_equal(v.view.focus, VIEW_HEX);
	assert_int_equal(v.view.cursor, 2874 + 8 * 7);
	view_go(&v.view, v.doc.spans->tensors[5].record_at + 3);
	viewing_keys(&v, "T<Enter>");
	assert_int_equal(v.view.cursor, 2874);
	viewing_close(&v);
}

static void
test_fold_and_open(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 100, 110);
	viewing_keys(&v, "Tz+jj-");
	/* The group of the field that was selected. */
	viewing_shows(&v, "\n>   + fixed_header  6 fields, 38 bytes\n"
			  "    - header  39");
	viewing_lacks(&v, "h magic");
	viewing_keys(&v, "hh");
	viewing_shows(&v, "\n> + header  45 fields, 540 bytes\n"
			  "  - tokenizer");
	viewing_keys(&v, "j<Enter>");
	viewing_shows(&v, "\n> + tokenizer  5 records, 5 bytes\n"
			  "  - parameters");
	assert_int_equal(v.view.cursor, 2869);
	viewing_keys(&v, "<Enter>llj");
	viewing_shows(&v, "\n>   t literal-token-1 ");
	assert_int_equal(v.view.cursor, 2870);
	viewing_keys(&v, "h");
	viewing_shows(&v, "\n> - tokenizer  5 records");
	viewing_keys(&v, "-+jjjjjjj");
	viewing_shows(&v, "\n>   p token_embedding.weight ");
	assert_int_equal(v.view.focus, VIEW_TREE);
	viewing_keys(&v, "gG<Enter>");
	assert_int_equal(v.view.focus, VIEW_HEX);
	assert_int_equal(v.view.cursor, 6170);
	viewing_close(&v);
}

/* The folds survive another reading of the same file. */
static void
test_folds_stay(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 100, 110);
	viewing_keys(&v, "Tz+jj-v");
	assert_int_equal(v.doc.stage, VIEW_VERIFIED);
	viewing_shows(&v, "\n>   + fixed_header  6 fields, 38 bytes\n");
	viewing_close(&v);
}

/* A cursor that is moved elsewhere selects its row, or what hides it. */
static void
test_follows(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 100, 110);
	viewing_keys(&v, "Tz");
	view_go(&v.view, 3033);
	viewing_shows(&v, "\n>   p token_embedding.weight ");
	view_go(&v.view, 3034 + 32 + 5);
	viewing_shows(&v, "\n>       p query.weight ");
	/* A record in the header stands for its tensor. */
	view_go(&v.view, 2868);
	viewing_shows(&v, "\n>     m token_embedding.weight  f64  [5,4]  "
			  "[6170,6330)");
	view_go(&v.view, 3034 + 32);
	viewing_keys(&v, "hhh");
	viewing_shows(&v, "\n>   - blocks.0 ");
	viewing_keys(&v, "h");
	viewing_shows(&v, "\n>   + blocks.0 ");
	view_go(&v.view, 3034 + 32 + 6);
	viewing_shows(&v, "\n>   + blocks.0 ");
	viewing_close(&v);
}

static void
test_sort(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "eleven-layers.ckpt", 40, 110);
	viewing_keys(&v, "Tzt");
	viewing_shows(&v, ", by name]");
	viewing_keys(&v, "fblocks ffn_norm.gain<Enter>");
	/* Numbers by their value. */
	viewing_shows(&v, "p  blocks.9.ffn_norm.gain");
	assert_true(strstr(viewing_screen(&v), "blocks.9.ffn_norm.gain") <
		    strstr(viewing_screen(&v), "blocks.10.ffn_norm.gain"));
	viewing_keys(&v, "<Esc>t");
	viewing_shows(&v, ", by size]");
	viewing_keys(&v, "fblocks.3.<Enter>");
	assert_true(strstr(viewing_screen(&v), "blocks.3.attention.key") <
		    strstr(viewing_screen(&v), "blocks.3.attention_norm"));
	viewing_keys(&v, "t");
	viewing_shows(&v, ", in file order]");
	assert_true(strstr(viewing_screen(&v), "blocks.3.attention.key") >
		    strstr(viewing_screen(&v), "blocks.3.attention_norm"));
	viewing_close(&v);
}

static void
test_filter(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 100, 110);
	viewing_keys(&v, "Tzf KEY  block <Enter>");
	viewing_shows(&v, "[records: 3 of 38 with \" KEY  block \", in file "
			  "order]");
	viewing_shows(&v, "\n> p  blocks.0.attention.key.weight  "
			  "ModelParameter ");
	viewing_shows(&v, "\n  m1 blocks.0.attention.key.weight  "
			  "OptimizerFirstMoment ");
	viewing_shows(&v, "\n  m2 blocks.0.attention.key.weight  "
			  "OptimizerSecondMoment ");
	viewing_lacks(&v, "query");
	/* The cursor is on what is selected; clearing keeps that in sight. */
	viewing_keys(&v, "jj<Esc>");
	viewing_shows(&v, "\n>         m key.weight ");
	viewing_shows(&v, "query");
	viewing_keys(&v, "ftoken-4<Enter>");
	viewing_shows(&v, "1 of 38");
	viewing_shows(&v, "t  literal-token-4 ");
	assert_int_equal(v.view.cursor, 2873);
	/* Words of the role and of the name. */
	viewing_keys(&v, "<Esc>fOptimizerSecond ffn");
	viewing_shows(&v, "\nfilter: OptimizerSecond ffn\n");
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "4 of 38");
	viewing_shows(&v, "\n  m2 blocks.0.ffn.up.weight ");
	viewing_lacks(&v, "m1");
	viewing_keys(&v, "<Esc>fnowhere<Enter>");
	viewing_shows(&v, "0 of 38");
	viewing_shows(&v, "no record has these words");
	viewing_keys(&v, "jkG<Enter><Esc>");
	viewing_shows(&v, "[records: 38, ");
	viewing_close(&v);
}

static void
test_findings(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "offset-gap.ckpt", 100, 110);
	viewing_keys(&v, "Tz");
	viewing_shows(&v, "\n !- parameters !1  2 records");
	viewing_shows(&v, "\n    p token_embedding.weight    f64  [3,2]  "
			  "[708,756)  48\n");
	viewing_shows(&v, "\n !  p final_norm.gain           f64  [2]    "
			  "[764,780)  16  ! CK3004\n");
	viewing_shows(&v, "\n  - bytes of nobody  1 range, 8 bytes\n"
			  "    . gap  [756,764)  8 bytes\n");
	viewing_close(&v);
	viewing_open(&v, BAD "checksum-zero.ckpt", 100, 110);
	viewing_keys(&v, "Tz+");
	viewing_shows(&v, "!    h checksum ! CK1006  fnv1a64:0");
	viewing_close(&v);
}

static void
test_no_records(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "empty.ckpt", 24, 80);
	viewing_keys(&v, "Tzjkt<Enter>-+G");
	viewing_shows(&v, "the file is empty");
	viewing_close(&v);
	viewing_bytes(&v, "plain words", 11, 24, 80);
	viewing_keys(&v, "Tz");
	viewing_shows(&v, "- bytes of nobody !1  1 range, 11 bytes\n"
			  ">!  . unowned ! CK1001  [0,11)  11 bytes\n");
	viewing_close(&v);
}

/* Nothing is known until the background is asked. */
static void
test_before_the_index(void **state)
{
	static const char *const panes[] = { "T", "s", "S" };
	struct view_doc doc;
	struct view view;
	struct ckpt_buf text = { 0 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(
			view_doc_open(&doc, GOOD "selected-step8.ckpt", 0, -1),
			0);
		assert_true(view_init(&view, &doc, -1));
		view_key(&view, (uint32_t)panes[i][0]);
		view_key(&view, 'z');
		for (const char *k = "jkG-+tg"; *k; k++)
			view_key(&view, (uint32_t)*k);
		view_click(&view, 1, 7, true);
		view_click(&view, 5, 7, true);
		view_draw(&view);
		ckpt_buf_clear(&text);
		view_grid_write(&view.grid, &text);
		assert_non_null(strstr(text.p + 200, "reading the header ..."));
		view_settle(&view);
		view_release(&view);
		view_doc_release(&doc);
	}
	ckpt_buf_release(&text);
}

/* Of a file with more header fields than are kept, records are all there and
 * every byte of the header has a row. */
static void
test_many_records(void **state)
{
	enum { MANY = 30000 };
	struct b35 b;
	struct viewing v;
	char name[48];

	(void)state;
	b35_init(&b);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "blocks.%d.w.%d", i / 3, i % 3);
		b35_add(&b, 3, name, 3, 1, 1, 0, 8);
	}
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 40, 100);
	viewing_keys(&v, "Tz");
	assert_true(v.doc.spans->fields_cut);
	viewing_shows(&v, "[records: 30000, in file order]");
	viewing_shows(&v, "- parameters ");
	viewing_shows(&v, "+ blocks  30000 records, 240000 bytes\n");
	viewing_lacks(&v, "unparsed");
	view_go(&v.view, b.records[MANY - 1].at + 4);
	viewing_shows(&v, ">   + blocks ");
	viewing_keys(&v, "++G");
	viewing_shows(&v, "\n>     + 9999.w  3 records, 24 bytes\n");
	viewing_keys(&v, "ll");
	viewing_shows(&v, "\n>       p 0  f64  [1] ");
	assert_int_equal(v.view.cursor, b.records[MANY - 3].data_at);
	viewing_close(&v);
	b35_free(&b);
}

static void
test_click(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 100, 110);
	viewing_keys(&v, "Tz+");
	/* Line 2 is the title, line 3 the header group. */
	view_click(&v.view, 6, 4, false);
	viewing_shows(&v, "\n>     h version  1\n");
	assert_int_equal(v.view.cursor, 8);
	view_click(&v.view, 3, 4, true);
	viewing_shows(&v, "\n> + header  45 fields");
	view_click(&v.view, 98, 4, true);
	view_click(&v.view, 2, 4, true);
	viewing_shows(&v, "\n> + header  45 fields");
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_columns_stay),
		cmocka_unit_test(test_rule_without_column),
		cmocka_unit_test(test_open_keeps_place),
		cmocka_unit_test(test_fold_and_open),
		cmocka_unit_test(test_folds_stay),
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_no_records),
		cmocka_unit_test(test_before_the_index),
		cmocka_unit_test(test_many_records),
		cmocka_unit_test(test_click),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
