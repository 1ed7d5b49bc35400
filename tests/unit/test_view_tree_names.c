/* SPDX-License-Identifier: MIT */
/*
 * The tree below the pane of the records, on names that a file may well have
 * but nobody would choose: its shape, its columns, that every byte has a
 * node, and that no name harms the screen.
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
#include "view/tree_build.h"

#define GOOD "corpus/llmcp35/good/"
#define BAD  "corpus/llmcp35/bad/"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_random_names),
		cmocka_unit_test(test_monstrous_names),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_hostile_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
