/* SPDX-License-Identifier: MIT */
/*
 * The columns of records: what stands in them, and how wide that is over all
 * records. The widths are counted, not written, because there may be very many
 * records; they say the same as what is written.
 */
#include "view/tree_build.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "view/grid.h"

/* Names are not measured further. */
enum { NAME_MOST = 1000, DIMS_COUNTED = 8 };

/* ---- Text --------------------------------------------------------------- */

void
view_tree_name_write(struct ckpt_buf *buf, const struct view_tree *tree,
	const struct ckpt_spans *spans, const struct view_tree_node *node,
	size_t most)
{
	const struct ckpt_span *span;
	size_t n, before = buf->n;
	const char *label = view_tree_label(spans, node, &n);

	if (node->kind == VIEW_TREE_RECORD) {
		span = &spans->tensors[node->item];
		ckpt_buf_puts(buf, span->label);
		if (tree->filter) {
			label = (const char *)span->name;
			n = span->name_len;
			/* Its end will be shown. */
			label += n > most ? n - most : 0;
			n = n > most ? most : n;
		}
	}
	if (n == 0 && buf->n == before)
		ckpt_buf_puts(buf, "\"\"");
	ckpt_buf_escape(buf, label, n, most);
}

/* "! CK3004 (+2)"; of a group the number alone. */
static void
write_rule(struct ckpt_buf *buf, const struct view_doc *doc,
	const struct view_tree_node *node)
{
	if (node->findings == 0 || node->finding >= doc->nfindings)
		return;
	if (view_tree_is_group(node)) {
		ckpt_buf_printf(buf, "!%" PRIu32, node->findings);
		return;
	}
	ckpt_buf_printf(buf, "! %s", doc->findings[node->finding].rule->id);
	if (node->findings > 1)
		ckpt_buf_printf(buf, " (+%" PRIu32 ")", node->findings - 1);
}

void
view_tree_cell_write(struct ckpt_buf *buf, const struct view_tree *tree,
	const struct view_doc *doc, const struct view_tree_node *node,
	enum view_tree_column column)
{
	const struct ckpt_span *span =
		node->kind == VIEW_TREE_RECORD
			? &doc->spans->tensors[node->item]
			: NULL;

	if (column == VIEW_COLUMN_RULE)
		write_rule(buf, doc, node);
	if (!span)
		return;
	switch (column) {
	case VIEW_COLUMN_ROLE:
		if (tree->filter)
			ckpt_buf_puts(buf, span->role);
		break;
	case VIEW_COLUMN_DTYPE: ckpt_buf_puts(buf, span->dtype); break;
	case VIEW_COLUMN_SHAPE: ckpt_span_shape_write(buf, span); break;
	case VIEW_COLUMN_RANGE:
		ckpt_range_write(buf, span->off, span->len);
		break;
	case VIEW_COLUMN_BYTES:
		ckpt_buf_printf(buf, "%" PRIu64, span->len);
		break;
	case VIEW_COLUMN_RULE:
	case VIEW_COLUMNS: break;
	}
}

/* ---- Widths ------------------------------------------------------------- */

static void
widen(int *width, int by)
{
	if (*width < by)
		*width = by;
}

static int
digits(uint64_t n)
{
	int k = 1;

	for (; n >= 10; n /= 10)
		k++;
	return k;
}

static int
written(const struct ckpt_buf *buf)
{
	return buf->n ? view_width(buf->p, buf->n) : 0;
}

/* Whether the bytes are shown as they are. */
static bool
plain(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '\\')
			return false;
	return true;
}

static int
name_width(const struct view_tree *tree, const struct ckpt_spans *spans,
	const struct view_tree_node *node, struct ckpt_buf *text)
{
	const struct ckpt_span *span = &spans->tensors[node->item];
	const char *label = (const char *)span->name;
	size_t n = span->name_len;

	if (!tree->filter)
		label = view_tree_label(spans, node, &n);
	if (n > 0 && n < NAME_MOST && plain(label, n))
		return (int)(strlen(span->label) + n);
	ckpt_buf_clear(text);
	view_tree_name_write(text, tree, spans, node, NAME_MOST);
	return written(text);
}

static int
shape_width(const struct ckpt_span *span, struct ckpt_buf *text)
{
	int width = 2 + (span->rank > 1 ? (int)span->rank - 1 : 0);

	if (span->rank > DIMS_COUNTED) {
		ckpt_buf_clear(text);
		ckpt_span_shape_write(text, span);
		return written(text);
	}
	for (uint32_t i = 0; i < span->rank; i++)
		width += digits(span->dims[i]);
	return width;
}

static int
range_width(const struct ckpt_span *span, struct ckpt_buf *text)
{
	uint64_t end;

	if (ckpt_add_u64(span->off, span->len, &end))
		return 3 + digits(span->off) + digits(end);
	ckpt_buf_clear(text);
	ckpt_range_write(text, span->off, span->len);
	return written(text);
}

void
view_tree_measure(struct view_tree *tree, const struct ckpt_spans *spans)
{
	int *columns = tree->columns, rules = columns[VIEW_COLUMN_RULE];
	struct ckpt_buf text = { 0 };

	memset(tree->names, 0, sizeof tree->names);
	memset(tree->columns, 0, sizeof tree->columns);
	columns[VIEW_COLUMN_RULE] = rules;
	for (uint64_t i = 0; i < tree->nrecords; i++) {
		const struct view_tree_node *node =
			&tree->nodes[tree->of_record[i]];
		const struct ckpt_span *span = &spans->tensors[i];
		int depth = tree->filter ? 0 : node->depth;

		if (tree->filter &&
			tree->row_of[tree->of_record[i]] == VIEW_TREE_NONE)
			continue;
		if (depth >= VIEW_TREE_DEPTHS)
			depth = VIEW_TREE_DEPTHS - 1;
		widen(&tree->names[depth],
			name_width(tree, spans, node, &text));
		if (tree->filter)
			widen(&columns[VIEW_COLUMN_ROLE],
				(int)strlen(span->role));
		widen(&columns[VIEW_COLUMN_DTYPE], (int)strlen(span->dtype));
		widen(&columns[VIEW_COLUMN_SHAPE], shape_width(span, &text));
		widen(&columns[VIEW_COLUMN_RANGE], range_width(span, &text));
		widen(&columns[VIEW_COLUMN_BYTES], digits(span->len));
	}
	ckpt_buf_release(&text);
}

void
view_tree_measure_rules(struct view_tree *tree, const struct view_doc *doc)
{
	struct ckpt_buf text = { 0 };

	tree->columns[VIEW_COLUMN_RULE] = 0;
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct view_tree_node *node = &tree->nodes[i];

		if (node->kind != VIEW_TREE_RECORD || node->findings == 0)
			continue;
		ckpt_buf_clear(&text);
		write_rule(&text, doc, node);
		widen(&tree->columns[VIEW_COLUMN_RULE], written(&text));
	}
	ckpt_buf_release(&text);
}
