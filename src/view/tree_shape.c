/* SPDX-License-Identifier: MIT */
/*
 * What is done to a tree once all its nodes are there: sums go up, a group
 * with one child is joined with it, so that rows say "blocks.0.attention", and
 * some groups are opened. Parents stand before their children in the array.
 */
#include "view/tree_build.h"

#include "base/checked.h"

enum {
	/* A tree of so few rows is open; else a group of the first level is if
	 * it has so few. */
	ROWS_FEW = 200,
	CHILDREN_FEW = 50,
};

/* Sums go up, children first. */
static void
sum(struct view_tree *tree)
{
	for (uint32_t i = tree->n; --i > 0;) {
		const struct view_tree_node *node = &tree->nodes[i];
		struct view_tree_node *up = &tree->nodes[node->up];

		up->leaves += node->leaves;
		if (!ckpt_add_u64(up->bytes, node->bytes, &up->bytes))
			up->bytes = UINT64_MAX;
	}
}

static void
join(struct view_tree *tree)
{
	for (uint32_t i = 1; i < tree->n; i++) {
		struct view_tree_node *node = &tree->nodes[i];
		struct view_tree_node *up = &tree->nodes[node->up];

		if (up->kind == VIEW_TREE_NAME && up->child == up->last) {
			up->joined = true;
			node->from = up->from;
			node->up = up->up;
			up = &tree->nodes[node->up];
		}
		node->depth = (uint8_t)(node->up ? up->depth + 1 : 0);
	}
}

static void
open_some(struct view_tree *tree)
{
	bool few = tree->n - 1 - VIEW_TOPS <= ROWS_FEW;

	for (uint32_t i = 1; i < tree->n; i++)
		tree->nodes[i].open =
			few && view_tree_is_group(&tree->nodes[i]);
	for (uint32_t i = 1; !few && i <= VIEW_TOPS; i++) {
		uint32_t n = 0;

		for (uint32_t k = tree->nodes[i].child;
			k != VIEW_TREE_NONE && n <= CHILDREN_FEW;
			k = tree->nodes[k].next)
			n++;
		tree->nodes[i].open = n <= CHILDREN_FEW;
	}
	/* The families are to be seen at once, and the header is long. */
	if (tree->nrecords > 0)
		tree->nodes[1 + VIEW_TOP_HEADER].open = false;
}

void
view_tree_shape(struct view_tree *tree)
{
	sum(tree);
	join(tree);
	open_some(tree);
}
