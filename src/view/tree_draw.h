/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_TREE_DRAW_H
#define CKPT_VIEW_TREE_DRAW_H

/* Rows of a tree in columns. */

#include "view/grid.h"
#include "view/tree_build.h"

/* Draws the rows from top on, as many as the area has; selected is a row. */
void view_tree_draw(const struct view_area *area, const struct view_tree *tree,
	const struct view_doc *doc, uint32_t top, uint32_t selected);

/* "records: 3 of 38 with "norm", by name"; words are those of its filter, as
 * they were typed. */
void view_tree_title_write(struct ckpt_buf *buf, const struct view_tree *tree,
	const struct ckpt_buf *words);
const char *view_tree_order_name(enum view_tree_order order);

#endif
