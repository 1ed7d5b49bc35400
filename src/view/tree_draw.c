/* SPDX-License-Identifier: MIT */
/*
 * Rows of the tree as text. The columns of records are as wide as any record
 * needs, so that they stay when rows come and go; where there is no room for
 * all, those that matter less are left out, and names are cut last. Nothing
 * but the rows on the screen is looked at.
 */
#include "view/tree_draw.h"

#include <inttypes.h>
#include <string.h>

enum { LEFT = 2, GAP = 2, NAME_LEAST = 12, NARROW = 60 };

struct drawing {
	const struct view_area *area;
	const struct view_tree *tree;
	const struct view_doc *doc;
	struct ckpt_buf text;
	int name, widths[VIEW_COLUMNS]; /* 0: left out */
	int gap;                        /* between columns */
};

static const struct view_tree_node *
node_of(const struct drawing *d, uint32_t row)
{
	return &d->tree->nodes[d->tree->rows[row]];
}

static const struct ckpt_span *
span_of(const struct drawing *d, const struct view_tree_node *node)
{
	return &d->doc->spans->tensors[node->item];
}

/* Where the text of a row begins: behind its indentation and its sign. */
static int
indentation(const struct drawing *d, int depth)
{
	int most = d->area->cols / 3;

	if (d->tree->filter)
		return LEFT + 3;
	return LEFT + (depth * 2 < most ? depth * 2 : most) + 2;
}

static void
write_name(struct drawing *d, const struct view_tree_node *node)
{
	ckpt_buf_clear(&d->text);
	view_tree_name_write(&d->text, d->tree, d->doc->spans, node,
		(size_t)d->area->cols + 1);
}

static void
write_cell(struct drawing *d, const struct view_tree_node *node,
	enum view_tree_column column)
{
	ckpt_buf_clear(&d->text);
	view_tree_cell_write(&d->text, d->tree, d->doc, node, column);
}

static enum view_style
rule_style(const struct drawing *d, const struct view_tree_node *node)
{
	const struct ckpt_diag *diag =
		node->findings && node->finding < d->doc->nfindings
			? &d->doc->findings[node->finding]
			: NULL;

	return diag && diag->rule->severity == CKPT_ERROR ? VIEW_ERROR
							  : VIEW_WARNING;
}

static int
text_width(const struct drawing *d)
{
	return d->text.n ? view_width(d->text.p, d->text.n) : 0;
}

/* ---- How wide ----------------------------------------------------------- */

/* The columns that names get in any case: where it is narrow nearly all that
 * they need, because in a list of records they are what tells them apart. */
static int
least_name(const struct drawing *d)
{
	int cols = d->area->cols;
	int tenths = cols < NARROW ? 9 : d->tree->filter ? 8 : 6;
	int least = cols * tenths / 10;

	if (least < NAME_LEAST)
		least = NAME_LEAST;
	return least < d->name ? least : d->name;
}

/* The rule of a finding gets room first, but no column where it is narrow; then
 * the others in their order. Bytes without a dtype and a shape before them
 * would be a riddle. */
static void
plan(struct drawing *d)
{
	static const enum view_tree_column order[VIEW_COLUMNS] = {
		VIEW_COLUMN_RULE, VIEW_COLUMN_ROLE, VIEW_COLUMN_DTYPE,
		VIEW_COLUMN_SHAPE, VIEW_COLUMN_RANGE, VIEW_COLUMN_BYTES
	};
	int cols = d->area->cols, used = 0, least;

	for (int depth = 0; depth < VIEW_TREE_DEPTHS; depth++) {
		int width = d->tree->names[depth];

		if (width > 0 && indentation(d, depth) + width > d->name)
			d->name = indentation(d, depth) + width;
	}
	d->gap = cols < NARROW ? 1 : GAP;
	least = least_name(d);
	for (size_t i = 0; i < VIEW_COLUMNS; i++) {
		int width = d->tree->columns[order[i]];

		if (width == 0 ||
			(order[i] == VIEW_COLUMN_RULE && cols < NARROW))
			continue;
		if (least + used + d->gap + width > cols &&
			(order[i] == VIEW_COLUMN_DTYPE ||
				order[i] == VIEW_COLUMN_SHAPE))
			break;
		if (least + used + d->gap + width > cols)
			continue;
		d->widths[order[i]] = width;
		used += d->gap + width;
	}
	if (d->name > cols - used)
		d->name = cols - used;
}

/* ---- One row ------------------------------------------------------------ */

/* Draws the text in [col, end), cut with a sign; the column behind it. */
static int
put(struct drawing *d, int row, int col, int end, unsigned style)
{
	const char *more = view_sign(d->area->grid, VIEW_SIGN_ELLIPSIS);
	size_t n;

	if (d->text.n == 0 || col >= end)
		return col;
	n = view_fit(d->text.p, d->text.n, end - col);
	if (n == d->text.n)
		return view_put(d->area, row, col, style, d->text.p, n);
	n = view_fit(d->text.p, d->text.n, end - col - 1);
	col = view_put(d->area, row, col, style, d->text.p, n);
	return view_puts(d->area, row, col, style, more);
}

/* The same, but what is cut is the beginning. */
static int
put_end(struct drawing *d, int row, int col, int end, unsigned style)
{
	const char *more = view_sign(d->area->grid, VIEW_SIGN_ELLIPSIS);
	const char *p = d->text.p;
	size_t n = d->text.n, from;

	if (n == 0 || col >= end || view_width(p, n) <= end - col)
		return put(d, row, col, end, style);
	from = view_fit_end(p, n, end - col - 1);
	col = view_puts(d->area, row, col, style, more);
	return view_put(d->area, row, col, style, p + from, n - from);
}

static enum view_style
style_of(const struct view_tree_node *node)
{
	static const enum view_style styles[VIEW_TOPS] = { VIEW_HEADER,
		VIEW_TOKENIZER, VIEW_PARAMETER, VIEW_MOMENT, VIEW_OTHER,
		VIEW_LOST };

	return styles[node->top];
}

/* Folded or not; of a leaf a letter, in a list of records the two kinds of
 * moments apart. */
static void
draw_sign(struct drawing *d, int row, const struct view_tree_node *node)
{
	static const char *const signs[VIEW_TOPS] = { "h", "t", "p", "m", "o",
		"." };
	unsigned style = style_of(node);
	int col = indentation(d, node->depth) - 2;
	const char *sign = signs[node->top], *role;

	if (view_tree_is_group(node))
		sign = view_sign(d->area->grid,
			node->open ? VIEW_SIGN_OPEN : VIEW_SIGN_FOLDED);
	if (!d->tree->filter) {
		view_puts(d->area, row, col, style, sign);
		return;
	}
	view_puts(d->area, row, col - 1, style, sign);
	role = span_of(d, node)->role;
	if (node->top == VIEW_TOP_MOMENTS)
		view_puts(d->area, row, col, style,
			strcasestr(role, "first")    ? "1"
			: strcasestr(role, "second") ? "2"
						     : "");
}

static void
draw_cells(struct drawing *d, int row, const struct view_tree_node *node)
{
	int col = d->name;

	for (enum view_tree_column i = 0; i < VIEW_COLUMNS; i++) {
		int width = d->widths[i], indent = 0;

		if (width == 0)
			continue;
		write_cell(d, node, i);
		if (i == VIEW_COLUMN_BYTES)
			indent = width - text_width(d);
		put(d, row, col + d->gap + indent, col + d->gap + width,
			i == VIEW_COLUMN_RULE ? rule_style(d, node)
					      : VIEW_PLAIN);
		col += d->gap + width;
	}
}

/* What stands behind the name of anything but a record. */
static void
write_rest(struct drawing *d, const struct view_tree_node *node)
{
	const struct ckpt_spans *spans = d->doc->spans;
	const char *what = node->top == VIEW_TOP_HEADER   ? "field"
			   : node->top == VIEW_TOP_NOBODY ? "range"
							  : "record";
	const struct ckpt_owner *o;

	ckpt_buf_clear(&d->text);
	if (view_tree_is_group(node)) {
		ckpt_buf_printf(&d->text, "%" PRIu32 " %s%s, ", node->leaves,
			what, node->leaves == 1 ? "" : "s");
		if (node->bytes == UINT64_MAX)
			ckpt_buf_puts(&d->text, "more bytes than 64 bits hold");
		else
			ckpt_buf_printf(&d->text, "%" PRIu64 " byte%s",
				node->bytes, node->bytes == 1 ? "" : "s");
	} else if (node->kind == VIEW_TREE_FIELD) {
		ckpt_span_field_write(&d->text, &spans->fields[node->item]);
	} else {
		o = &spans->owners[node->item];
		ckpt_range_write(&d->text, o->off, o->end - o->off);
		ckpt_buf_printf(&d->text, "  %" PRIu64 " byte%s", node->bytes,
			node->bytes == 1 ? "" : "s");
	}
}

/* A rule for which there is no column takes the place of the others in its
 * row. */
static void
draw_record(struct drawing *d, int row, const struct view_tree_node *node)
{
	unsigned style = style_of(node);
	int col = indentation(d, node->depth), end = d->name, rule;

	write_cell(d, node, VIEW_COLUMN_RULE);
	rule = d->widths[VIEW_COLUMN_RULE] ? 0 : text_width(d);
	if (rule > 0 && d->area->cols >= NAME_LEAST + d->gap + rule) {
		end = d->area->cols - rule;
		put(d, row, end, d->area->cols, rule_style(d, node));
		end -= d->gap;
	} else {
		draw_cells(d, row, node);
	}
	write_name(d, node);
	if (d->tree->filter)
		put_end(d, row, col, end, style);
	else
		put(d, row, col, end, style);
}

static void
draw_row(struct drawing *d, int row, const struct view_tree_node *node)
{
	unsigned style = style_of(node);
	int cols = d->area->cols, col = indentation(d, node->depth);

	if (node->findings)
		view_puts(d->area, row, 1, rule_style(d, node), "!");
	draw_sign(d, row, node);
	if (node->kind == VIEW_TREE_RECORD) {
		draw_record(d, row, node);
		return;
	}
	write_name(d, node);
	col = put(d, row, col, cols, style);
	write_cell(d, node, VIEW_COLUMN_RULE);
	if (d->text.n)
		col = put(d, row, col + 1, cols, rule_style(d, node));
	write_rest(d, node);
	put(d, row, col + GAP, cols,
		view_tree_is_group(node) ? VIEW_DIM : VIEW_PLAIN);
}

void
view_tree_draw(const struct view_area *area, const struct view_tree *tree,
	const struct view_doc *doc, uint32_t top, uint32_t selected)
{
	struct drawing d = { .area = area, .tree = tree, .doc = doc };
	uint32_t end = tree->nrows;

	if (end > top && end - top > (uint32_t)area->rows)
		end = top + (uint32_t)area->rows;
	plan(&d);
	for (uint32_t i = top; i < end; i++) {
		int row = (int)(i - top);

		draw_row(&d, row, node_of(&d, i));
		if (i != selected)
			continue;
		view_puts(area, row, 0, VIEW_BOLD, ">");
		view_mark(area, row, 0, -1, VIEW_REVERSE);
	}
	ckpt_buf_release(&d.text);
}

const char *
view_tree_order_name(enum view_tree_order order)
{
	static const char *const words[VIEW_ORDERS] = { "in file order",
		"by name", "by size" };

	return words[order];
}

void
view_tree_title_write(struct ckpt_buf *buf, const struct view_tree *tree,
	const struct ckpt_buf *words)
{
	ckpt_buf_puts(buf, "records");
	if (tree->n == 0)
		return;
	ckpt_buf_puts(buf, ": ");
	if (tree->filter)
		ckpt_buf_printf(buf, "%" PRIu32 " of ", tree->nrows);
	ckpt_buf_printf(buf, "%" PRIu64, tree->nrecords);
	if (tree->filter) {
		ckpt_buf_puts(buf, " with \"");
		ckpt_buf_escape(buf, words->p, words->n, 40);
		ckpt_buf_puts(buf, "\"");
	}
	ckpt_buf_printf(buf, ", %s", view_tree_order_name(tree->order));
}
