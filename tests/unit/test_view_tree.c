/* SPDX-License-Identifier: MIT */
/*
 * The pane of the records: what its rows say, how it folds, sorts and
 * filters, how it and the cursor follow each other; and the tree below it on
 * names that a file may well have but nobody would choose.
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
#include "view/names.h"
#include "view/tree_build.h"

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

/* ---- The tree alone ----------------------------------------------------- */

static void
spans_of(struct ckpt_spans *spans, struct ckpt_span *tensors, uint64_t n)
{
	memset(spans, 0, sizeof *spans);
	spans->tensors = tensors;
	spans->ntensors = n;
	spans->records = "records";
}

static struct ckpt_span
span_named(const void *name, size_t n)
{
	return (struct ckpt_span){ .class_ = CKPT_TENSOR_PARAMETER,
		.role = "ModelParameter",
		.name = name,
		.name_len = n,
		.label = "",
		.dtype = "f64",
		.width = 8,
		.len = 8 };
}

/* What must hold of any tree. */
static void
check_tree(struct view_tree *tree, const struct ckpt_spans *spans)
{
	uint32_t leaves = 0;

	for (uint32_t i = 0; i < tree->n; i++)
		tree->nodes[i].open = true;
	assert_true(view_tree_flatten(tree, spans));
	for (uint32_t i = 0; i < tree->nrows; i++) {
		const struct view_tree_node *node = &tree->nodes[tree->rows[i]];

		assert_int_equal(tree->row_of[tree->rows[i]], i);
		assert_false(node->joined);
		leaves += !view_tree_is_group(node);
		if (node->up)
			assert_true(tree->row_of[node->up] < i);
		assert_int_equal(node->depth,
			node->up ? tree->nodes[node->up].depth + 1 : 0);
		assert_true(node->depth <= 18);
	}
	assert_int_equal(leaves, tree->nodes[0].leaves);
	for (uint64_t i = 0; i < tree->nrecords; i++) {
		uint32_t node = tree->of_record[i];

		assert_int_equal(tree->nodes[node].item, i);
		assert_int_equal(tree->nodes[node].kind, VIEW_TREE_RECORD);
		assert_true(tree->row_of[node] < tree->nrows);
	}
}

/* The labels from the top down are the name again. */
static void
check_names(const struct view_tree *tree, const struct ckpt_spans *spans)
{
	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];
		size_t end = span->name_len, n;
		bool leaf = true;

		for (uint32_t k = tree->of_record[i];
			tree->nodes[k].kind == VIEW_TREE_NAME || leaf;
			k = tree->nodes[k].up) {
			const char *label =
				view_tree_label(spans, &tree->nodes[k], &n);

			if (!leaf)
				assert_int_equal(span->name[--end], '.');
			leaf = false;
			assert_true(n <= end);
			end -= n;
			if (n)
				assert_memory_equal(label, span->name + end, n);
		}
		assert_int_equal(end, 0);
	}
}

/* What is counted is what is written. */
static void
test_widths(void **state)
{
	static const char *const names[] = { "", "w", "a\x1b",
		"\xc3\xa9\xc3\xa9", "back\\slash", "long.name.of.many.parts",
		"\xff\xfe" };
	static const uint64_t numbers[] = { 0, 9, 10, 99, 100, UINT64_MAX,
		UINT64_MAX - 1, 12345678901 };
	uint64_t dims[12];
	struct ckpt_span span;
	struct ckpt_spans spans;
	struct ckpt_buf text = { 0 };
	struct view_doc doc = { .spans = &spans };
	struct view_tree tree;

	(void)state;
	srand(2);
	for (int round = 0; round < 2000; round++) {
		const char *name = names[rand() % 7];
		bool filtered = rand() % 2;

		span = span_named(name, strlen(name));
		span.label = rand() % 2 ? "" : "literal-token-";
		span.off = numbers[rand() % 8];
		span.len = numbers[rand() % 8];
		span.rank = (uint32_t)(rand() % 12);
		span.dims = dims;
		for (size_t i = 0; i < 12; i++)
			dims[i] = numbers[rand() % 8];
		spans_of(&spans, &span, 1);
		assert_true(view_tree_build(&tree, &spans));
		if (filtered)
			assert_true(view_tree_filter(
				&tree, &spans, "modelparameter"));
		for (int i = 0; i <= VIEW_COLUMN_RULE; i++) {
			ckpt_buf_clear(&text);
			view_tree_cell_write(&text, &tree, &doc,
				&tree.nodes[tree.of_record[0]],
				(enum view_tree_column)i);
			assert_int_equal(tree.columns[i],
				text.n ? view_width(text.p, text.n) : 0);
		}
		ckpt_buf_clear(&text);
		view_tree_name_write(&text, &tree, &spans,
			&tree.nodes[tree.of_record[0]], 100);
		assert_int_equal(
			tree.names[filtered ? 0
					    : tree.nodes[tree.of_record[0]]
						      .depth],
			view_width(text.p, text.n));
		view_tree_release(&tree);
	}
	ckpt_buf_release(&text);
}

static void
test_odd_names(void **state)
{
	static const char *const names[] = { "", ".", "..", "a", "a.", ".a",
		"a.b", "a.b.c", "a.b.d", "a..b", "a.b", "a.b.", "\xff.\x01",
		"z.y.x.w.v.u.t.s.r.q.p.o.n.m.l.k.j.i.h.g.f" };
	struct ckpt_span tensors[sizeof names / sizeof names[0]];
	size_t n = sizeof names / sizeof names[0];
	struct ckpt_spans spans;
	struct view_tree tree;

	(void)state;
	for (size_t i = 0; i < n; i++)
		tensors[i] = span_named(names[i], strlen(names[i]));
	spans_of(&spans, tensors, n);
	assert_true(view_tree_build(&tree, &spans));
	check_tree(&tree, &spans);
	check_names(&tree, &spans);
	assert_true(view_tree_fits(&tree, &spans));
	for (enum view_tree_order i = 0; i < VIEW_ORDERS; i++) {
		assert_true(view_tree_sort(&tree, &spans, i));
		check_tree(&tree, &spans);
		check_names(&tree, &spans);
	}
	tensors[3].name = (const uint8_t *)"b";
	assert_false(view_tree_fits(&tree, &spans));
	view_tree_release(&tree);
}

static void
test_random_names(void **state)
{
	struct ckpt_span tensors[200];
	char text[200][24];
	struct ckpt_spans spans;
	struct view_tree tree;

	(void)state;
	srand(1);
	for (int round = 0; round < 100; round++) {
		for (size_t i = 0; i < 200; i++) {
			size_t n = (size_t)rand() % sizeof text[i];

			for (size_t k = 0; k < n; k++)
				text[i][k] = "ab..9\xc3\x00\x1b"[rand() % 8];
			tensors[i] = span_named(text[i], n);
			tensors[i].class_ =
				(enum ckpt_tensor_class)(rand() % 4);
			tensors[i].role = rand() % 2 ? "x" : "y";
		}
		spans_of(&spans, tensors, 200);
		assert_true(view_tree_build(&tree, &spans));
		check_tree(&tree, &spans);
		assert_true(view_tree_sort(
			&tree, &spans, (enum view_tree_order)(round % 3)));
		check_tree(&tree, &spans);
		assert_true(view_tree_filter(&tree, &spans, "A 9"));
		for (uint32_t i = 0; i < tree.nrows; i++) {
			const struct ckpt_span *s =
				&tensors[tree.nodes[tree.rows[i]].item];

			assert_non_null(memchr(s->name, 'a', s->name_len));
			assert_non_null(memchr(s->name, '9', s->name_len));
		}
		view_tree_release(&tree);
	}
}

/* A million dots, a name of a mebibyte, and names that share nothing: the
 * work and the groups stay in bounds. */
static void
test_monstrous_names(void **state)
{
	enum { LONG = 1 << 20, MANY = 100000 };
	char *dots = malloc(LONG), *text = malloc(MANY * 40);
	struct ckpt_span *tensors = calloc(MANY, sizeof *tensors);
	struct ckpt_spans spans;
	struct view_tree tree;

	(void)state;
	assert_true(dots && text && tensors);
	memset(dots, '.', LONG);
	tensors[0] = span_named(dots, LONG);
	tensors[1] = span_named(dots, LONG - 1);
	spans_of(&spans, tensors, 2);
	assert_true(view_tree_build(&tree, &spans));
	check_tree(&tree, &spans);
	check_names(&tree, &spans);
	assert_true(view_tree_sort(&tree, &spans, VIEW_BY_NAME));
	view_tree_release(&tree);
	for (int i = 0; i < MANY; i++) {
		char *p = text + i * 40;
		int n = snprintf(p, 40, "%d.%d.%d.%d.%d.%d.w", i, i, i, i, i,
			i * 7 % 10);

		tensors[i] = span_named(p, (size_t)n);
	}
	spans_of(&spans, tensors, MANY);
	assert_true(view_tree_build(&tree, &spans));
	assert_true(tree.n < 6 * MANY + 5000);
	check_tree(&tree, &spans);
	check_names(&tree, &spans);
	view_tree_release(&tree);
	free(tensors);
	free(text);
	free(dots);
}

/* Every byte has a node, and the first byte of a leaf leads back to it. */
static void
check_places(const char *path)
{
	struct viewing v;
	struct view_tree tree;

	viewing_open(&v, path, 24, 80);
	assert_true(view_tree_build(&tree, v.doc.spans));
	check_tree(&tree, v.doc.spans);
	for (uint64_t off = 0; off < v.doc.size; off++) {
		uint32_t node = view_tree_at(&tree, &v.doc, off);
		uint32_t row = view_tree_row(&tree, node);

		if (row >= tree.nrows)
			fail_msg("%s: byte %llu has no row", path,
				(unsigned long long)off);
		assert_true(row < tree.nrows);
		assert_int_equal(tree.rows[row], node);
		assert_false(view_tree_is_group(&tree.nodes[node]));
		off = view_tree_first_byte(&tree, v.doc.spans, node) < off
			      ? off
			      : view_tree_first_byte(&tree, v.doc.spans, node);
		assert_int_equal(view_tree_at(&tree, &v.doc, off), node);
	}
	for (uint32_t i = 1; i < tree.n; i++)
		tree.nodes[i].open = false;
	assert_true(view_tree_flatten(&tree, v.doc.spans));
	for (uint64_t off = 0; off < v.doc.size; off += 7)
		assert_true(view_tree_row(&tree, view_tree_at(&tree, &v.doc,
							 off)) < tree.nrows);
	view_tree_release(&tree);
	viewing_close(&v);
}

static void
test_places(void **state)
{
	(void)state;
	check_places(GOOD "tiny.ckpt");
	check_places(GOOD "bpe.ckpt");
	check_places(GOOD "groups.ckpt");
	check_places(BAD "offset-gap.ckpt");
	check_places(BAD "hostile-name.ckpt");
}

/* Bytes of a name never reach the screen as they are. */
static void
test_hostile_screen(void **state)
{
	static const char name[] = "a\x1b[31m.\xe2\x80\xae.\x07\x9b.w\\";
	struct b35 b;
	struct viewing v;

	(void)state;
	b35_init(&b);
	b35_small(&b);
	b35_rename(&b.records[3], name, sizeof name - 1);
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 60, 100);
	viewing_keys(&v, "Tz");
	viewing_shows(&v, "a\\x1b[31m.\\u{202e}.\\x07\\x9b.w\\\\");
	for (const char *p = viewing_screen(&v); *p; p++)
		assert_true(*p == '\n' || (unsigned char)*p >= ' ');
	viewing_keys(&v, "fA\\<Enter>");
	viewing_close(&v);
	b35_free(&b);
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

static void
test_names(void **state)
{
	struct view_names names, others;
	size_t at = 0;
	uint32_t value;
	char text[16];

	(void)state;
	view_names_init(&names);
	view_names_init(&others);
	assert_false(view_names_next(&names, 1, &at, &value));
	assert_int_not_equal(view_names_hash(&names, 0, "blocks", 6),
		view_names_hash(&others, 0, "blocks", 6));
	for (uint32_t i = 0; i < 10000; i++) {
		int n = snprintf(text, sizeof text, "name %u", i);

		assert_true(view_names_add(&names,
			view_names_hash(&names, i % 2, text, (size_t)n), i));
	}
	for (uint32_t i = 0; i < 10000; i++) {
		int n = snprintf(text, sizeof text, "name %u", i);

		at = 0;
		assert_true(view_names_next(&names,
			view_names_hash(&names, i % 2, text, (size_t)n), &at,
			&value));
		assert_int_equal(value, i);
		at = 0;
		assert_false(view_names_next(&names,
			view_names_hash(&names, 2, text, (size_t)n), &at,
			&value));
	}
	/* Lengths count, also of zero bytes. */
	assert_int_not_equal(view_names_hash(&names, 0, "\0\0\0\0\0\0\0\0", 7),
		view_names_hash(&names, 0, "\0\0\0\0\0\0\0\0", 8));
	view_names_release(&names);
	view_names_release(&others);
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
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_fold_and_open),
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_no_records),
		cmocka_unit_test(test_before_the_index),
		cmocka_unit_test(test_many_records),
		cmocka_unit_test(test_click),
		cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_random_names),
		cmocka_unit_test(test_monstrous_names),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_hostile_screen),
		cmocka_unit_test(test_folds_stay),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
