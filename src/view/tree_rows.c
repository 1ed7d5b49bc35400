/* SPDX-License-Identifier: MIT */
/*
 * The rows of a tree: those of its nodes that are not folded away, in the
 * order that was chosen, or, when there is a filter, the records that pass
 * it. They are one array, made anew when any of that changes and at no other
 * time, so that drawing looks only at what is on the screen.
 */
#include "view/tree_build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* ---- Order -------------------------------------------------------------- */

struct sorting {
	const struct view_tree *tree;
	const struct ckpt_spans *spans;
	enum view_tree_order order;
};

static bool
sortable(const struct view_tree_node *node)
{
	return node->kind == VIEW_TREE_NAME || node->kind == VIEW_TREE_RECORD;
}

/* Bytes in their order, but numbers by their value: "h.9" before "h.10". */
static int
natural_compare(const char *a, size_t na, const char *b, size_t nb)
{
	size_t i = 0, k = 0;

	while (i < na && k < nb) {
		size_t digits = 0, others = 0;
		int c;

		if (!isdigit((unsigned char)a[i]) ||
			!isdigit((unsigned char)b[k])) {
			if (a[i] != b[k])
				return (unsigned char)a[i] < (unsigned char)b[k]
					       ? -1
					       : 1;
			i++;
			k++;
			continue;
		}
		while (i + 1 < na && a[i] == '0' &&
			isdigit((unsigned char)a[i + 1]))
			i++;
		while (k + 1 < nb && b[k] == '0' &&
			isdigit((unsigned char)b[k + 1]))
			k++;
		while (i + digits < na && isdigit((unsigned char)a[i + digits]))
			digits++;
		while (k + others < nb && isdigit((unsigned char)b[k + others]))
			others++;
		if (digits != others)
			return digits < others ? -1 : 1;
		c = memcmp(a + i, b + k, digits);
		if (c)
			return c;
		i += digits;
		k += digits;
	}
	return (na - i > nb - k) - (na - i < nb - k);
}

static int
compare(const struct sorting *s, uint32_t a, uint32_t b)
{
	const struct view_tree_node *x = &s->tree->nodes[a];
	const struct view_tree_node *y = &s->tree->nodes[b];
	const char *p, *q;
	size_t n, k;

	if (!sortable(x) || !sortable(y))
		return sortable(x) - sortable(y);
	switch (s->order) {
	case VIEW_BY_FILE:
	case VIEW_ORDERS: return 0;
	case VIEW_BY_SIZE: return (x->bytes < y->bytes) - (x->bytes > y->bytes);
	case VIEW_BY_NAME: break;
	}
	p = view_tree_label(s->spans, x, &n);
	q = view_tree_label(s->spans, y, &k);
	return natural_compare(p, n, q, k);
}

/* Equal ones stay in file order. */
static int
nodes_compare(const void *pa, const void *pb, void *ctx)
{
	uint32_t a, b;
	int c;

	memcpy(&a, pa, sizeof a);
	memcpy(&b, pb, sizeof b);
	c = compare(ctx, a, b);
	return c ? c : (a > b) - (a < b);
}

/* Children follow each other as their numbers stand in order; a group that is
 * joined with its child is left out. */
static void
relink(struct view_tree *tree, const uint32_t *order)
{
	for (uint32_t i = 0; i < tree->n; i++)
		if (!tree->nodes[i].joined)
			tree->nodes[i].child = tree->nodes[i].last =
				VIEW_TREE_NONE;
	for (uint32_t k = 0; k < tree->n; k++) {
		uint32_t i = order[k]; /* 0: none */
		struct view_tree_node *node = &tree->nodes[i];
		struct view_tree_node *up = &tree->nodes[node->up];

		if (i == 0 || node->joined)
			continue;
		node->next = VIEW_TREE_NONE;
		if (up->child == VIEW_TREE_NONE)
			up->child = i;
		else
			tree->nodes[up->last].next = i;
		up->last = i;
	}
}

/* The children of every node, sorted among themselves. */
static void
sort_children(struct sorting *s, uint32_t *order)
{
	const struct view_tree *tree = s->tree;
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t first = n;

		if (tree->nodes[i].joined)
			continue;
		for (uint32_t k = tree->nodes[i].child; k != VIEW_TREE_NONE;
			k = tree->nodes[k].next)
			order[n++] = k;
		if (n - first > 1)
			qsort_r(order + first, n - first, sizeof *order,
				nodes_compare, s);
	}
}

bool
view_tree_sort(struct view_tree *tree, const struct ckpt_spans *spans,
	enum view_tree_order by)
{
	struct sorting s = { tree, spans, by };
	uint32_t *order = calloc(tree->n + (size_t)1, sizeof *order);

	if (!order)
		return false;
	/* Nodes were made in file order; what is 0 behind them is the root. */
	for (uint32_t i = 0; i < tree->n; i++)
		order[i] = by == VIEW_BY_FILE ? i : 0;
	if (by != VIEW_BY_FILE)
		sort_children(&s, order);
	relink(tree, order);
	tree->order = by;
	free(order);
	return view_tree_flatten(tree, spans);
}

/* ---- Rows --------------------------------------------------------------- */

static bool
rows_room(struct view_tree *tree)
{
	if (!tree->rows)
		tree->rows = calloc(tree->n, sizeof *tree->rows);
	if (!tree->row_of)
		tree->row_of = calloc(tree->n, sizeof *tree->row_of);
	return tree->rows && tree->row_of;
}

static void
push(struct view_tree *tree, uint32_t node)
{
	tree->row_of[node] = tree->nrows;
	tree->rows[tree->nrows++] = node;
}

/* The node behind i and everything in it. */
static uint32_t
behind(const struct view_tree *tree, uint32_t i)
{
	while (i && tree->nodes[i].next == VIEW_TREE_NONE)
		i = tree->nodes[i].up;
	return i ? tree->nodes[i].next : VIEW_TREE_NONE;
}

static void
unfolded_rows(struct view_tree *tree)
{
	uint32_t i = tree->nodes[0].child;

	while (i != VIEW_TREE_NONE) {
		const struct view_tree_node *node = &tree->nodes[i];

		if (node->kind != VIEW_TREE_TOP || node->leaves > 0)
			push(tree, i);
		i = node->open && node->child != VIEW_TREE_NONE
			    ? node->child
			    : behind(tree, i);
	}
}

/* The name as it is shown and the role, in small letters; words do not hold
 * what stands between them. */
static void
fold_name(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	ckpt_buf_clear(buf);
	ckpt_buf_puts(buf, span->label);
	ckpt_buf_add(buf, span->name, span->name_len);
	ckpt_buf_printf(buf, "\n%s", span->role);
	for (size_t i = 0; i < buf->n; i++)
		buf->p[i] = (char)tolower((unsigned char)buf->p[i]);
}

static bool
has_words(const struct ckpt_buf *name, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		if (n > 0 && !memmem(name->p, name->n, words, n))
			return false;
		words += n + strspn(words + n, " ");
	}
	return true;
}

static int
rows_compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct sorting *s = ctx;
	const struct ckpt_span *x, *y;

	if (s->order == VIEW_BY_SIZE)
		return compare(s, s->tree->rows[a], s->tree->rows[b]);
	x = &s->spans->tensors[s->tree->nodes[s->tree->rows[a]].item];
	y = &s->spans->tensors[s->tree->nodes[s->tree->rows[b]].item];
	return natural_compare((const char *)x->name, x->name_len,
		(const char *)y->name, y->name_len);
}

static bool
sort_rows(struct view_tree *tree, const struct ckpt_spans *spans)
{
	struct sorting s = { tree, spans, tree->order };
	struct ckpt_arena arena;
	uint32_t *order;
	bool ok;

	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	order = ckpt_sorted(&arena, tree->nrows, rows_compare, &s);
	ok = order != NULL;
	for (uint32_t i = 0; ok && i < tree->nrows; i++)
		order[i] = tree->rows[order[i]];
	for (uint32_t i = 0; ok && i < tree->nrows; i++) {
		tree->rows[i] = order[i];
		tree->row_of[order[i]] = i;
	}
	ckpt_arena_release(&arena);
	return ok;
}

static bool
filtered_rows(struct view_tree *tree, const struct ckpt_spans *spans)
{
	struct ckpt_buf name = { 0 };

	for (uint64_t i = 0; i < tree->nrecords && !name.failed; i++) {
		fold_name(&name, &spans->tensors[i]);
		if (has_words(&name, tree->filter))
			push(tree, tree->of_record[i]);
	}
	if (name.failed)
		tree->nrows = 0;
	ckpt_buf_release(&name);
	return !name.failed &&
	       (tree->order == VIEW_BY_FILE || sort_rows(tree, spans));
}

bool
view_tree_flatten(struct view_tree *tree, const struct ckpt_spans *spans)
{
	if (tree->n == 0 || !rows_room(tree))
		return false;
	tree->nrows = 0;
	memset(tree->row_of, 0xff, tree->n * sizeof *tree->row_of);
	if (tree->filter)
		return filtered_rows(tree, spans);
	unfolded_rows(tree);
	return true;
}

bool
view_tree_filter(struct view_tree *tree, const struct ckpt_spans *spans,
	const char *words)
{
	char *copy = NULL;

	if (words && words[strspn(words, " ")]) {
		copy = strdup(words);
		if (!copy)
			return false;
		for (char *p = copy; *p; p++)
			*p = (char)tolower((unsigned char)*p);
	}
	free(tree->filter);
	tree->filter = copy;
	if (tree->n == 0)
		return true;
	if (!view_tree_flatten(tree, spans))
		return false;
	view_tree_measure(tree, spans);
	return true;
}
