/* SPDX-License-Identifier: MIT */
/*
 * Bytes and nodes: which node owns a byte, where a node begins, and which
 * findings are on it and on the groups that it is in.
 */
#include "view/tree_build.h"

#include <stdlib.h>
#include <string.h>

static uint32_t
node_of_owner(const struct view_tree *tree, uint32_t owner)
{
	uint32_t low = tree->first_owner, high = tree->end_owner;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (tree->nodes[mid].item < owner)
			low = mid + 1;
		else
			high = mid;
	}
	return low < tree->end_owner && tree->nodes[low].item == owner
		       ? low
		       : VIEW_TREE_NONE;
}

uint32_t
view_tree_at(const struct view_tree *tree, struct view_doc *doc, uint64_t off)
{
	const struct ckpt_spans *spans = doc->spans;
	const struct ckpt_owner *o = spans ? ckpt_spans_at(spans, off) : NULL;
	const struct ckpt_span *span = view_doc_tensor(doc, off);
	uint64_t i;

	if (!o || tree->n == 0)
		return VIEW_TREE_NONE;
	i = span ? (uint64_t)(span - spans->tensors) : UINT64_MAX;
	if (i < tree->nrecords)
		return tree->of_record[i];
	i = (uint64_t)(o - spans->owners);
	if (o->kind == CKPT_OWNER_FIELD && o->index < tree->nfields)
		return tree->of_field[o->index] != VIEW_TREE_NONE
			       ? tree->of_field[o->index]
			       : 1 + VIEW_TOP_HEADER;
	/* The header is node 1; fields that the index left out are in it. */
	if (o->kind == CKPT_OWNER_HEADER && spans->fields_cut)
		return 1 + VIEW_TOP_HEADER;
	return node_of_owner(tree, (uint32_t)i);
}

bool
view_tree_has(const struct view_tree *tree, struct view_doc *doc, uint32_t node,
	uint64_t off)
{
	struct view_owner owner;

	return view_tree_at(tree, doc, off) == node &&
	       view_doc_owner(doc, off, &owner) &&
	       (owner.span || tree->nodes[node].kind != VIEW_TREE_RECORD);
}

uint32_t
view_tree_row(const struct view_tree *tree, uint32_t node)
{
	if (node == VIEW_TREE_NONE || tree->n == 0)
		return VIEW_TREE_NONE;
	if (tree->filter)
		return tree->row_of[node];
	for (uint32_t i = tree->nodes[node].up; i; i = tree->nodes[i].up)
		if (!tree->nodes[i].open)
			node = i;
	return tree->row_of[node];
}

uint64_t
view_tree_first_byte(const struct view_tree *tree,
	const struct ckpt_spans *spans, uint32_t i)
{
	const struct view_tree_node *node = &tree->nodes[i];
	const struct ckpt_span *span;

	while (view_tree_is_group(node) && node->child != VIEW_TREE_NONE)
		node = &tree->nodes[node->child];
	switch ((enum view_tree_kind)node->kind) {
	case VIEW_TREE_FIELD: return spans->fields[node->item].off;
	case VIEW_TREE_OWNER: return spans->owners[node->item].off;
	case VIEW_TREE_RECORD:
		span = &spans->tensors[node->item];
		return span->len > 0 && span->off < spans->size
			       ? span->off
			       : span->record_at;
	case VIEW_TREE_TOP:
	case VIEW_TREE_PART:
	case VIEW_TREE_ROLE:
	case VIEW_TREE_NAME: break;
	}
	return 0;
}

/* ---- Findings ----------------------------------------------------------- */

/* By its path if it is about a record, else by the byte where it is. */
static uint32_t
node_of_finding(const struct view_tree *tree, const struct view_doc *doc,
	const struct ckpt_diag *d)
{
	const struct ckpt_spans *spans = doc->spans;
	size_t n = strlen(spans->records);
	const struct ckpt_owner *o;
	char *end;

	if (strncmp(d->path, spans->records, n) == 0 && d->path[n] == '[') {
		uint64_t record = strtoull(d->path + n + 1, &end, 10);

		if (*end == ']' && record < tree->nrecords)
			return tree->of_record[record];
	}
	o = view_finding_placed(d) ? ckpt_spans_at(spans, d->off) : NULL;
	if (!o)
		return VIEW_TREE_NONE;
	if (o->kind == CKPT_OWNER_FIELD && o->index < tree->nfields)
		return tree->of_field[o->index] != VIEW_TREE_NONE
			       ? tree->of_field[o->index]
			       : 1 + VIEW_TOP_HEADER;
	if (o->kind == CKPT_OWNER_TENSOR && o->index < tree->nrecords)
		return tree->of_record[o->index];
	return node_of_owner(tree, (uint32_t)(o - spans->owners));
}

void
view_tree_mark(struct view_tree *tree, const struct view_doc *doc)
{
	for (uint32_t i = 0; i < tree->n; i++)
		tree->nodes[i].findings = 0;
	for (size_t i = 0; doc->spans && tree->n && i < doc->nfindings; i++) {
		uint32_t k = node_of_finding(tree, doc, &doc->findings[i]);

		while (k != VIEW_TREE_NONE && k != 0) {
			struct view_tree_node *node = &tree->nodes[k];

			if (node->findings++ == 0)
				node->finding = (uint32_t)i;
			k = node->up;
		}
	}
	view_tree_measure_rules(tree, doc);
}
