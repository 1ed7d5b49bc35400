/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_TREE_BUILD_H
#define CKPT_VIEW_TREE_BUILD_H

/*
 * The records of a file, its header fields and what nobody owns as a tree,
 * and the rows of it that are not folded away. Nodes hold numbers only; the
 * index that they are numbers of is given to every function, and is the one
 * that the tree was built of (view_tree_fits()).
 */

#include "view/doc.h"

#define VIEW_TREE_NONE UINT32_MAX

enum view_tree_kind {
	/* Groups. */
	VIEW_TREE_TOP,  /* item: enum view_tree_top */
	VIEW_TREE_PART, /* of the header; label in the path of field item */
	VIEW_TREE_ROLE, /* the role of record item */
	VIEW_TREE_NAME, /* label in the name of record item */
	/* Leaves. */
	VIEW_TREE_FIELD,
	VIEW_TREE_RECORD,
	VIEW_TREE_OWNER, /* bytes of nobody */
};

enum view_tree_top {
	VIEW_TOP_HEADER,
	VIEW_TOP_TOKENIZER,
	VIEW_TOP_PARAMETERS,
	VIEW_TOP_MOMENTS,
	VIEW_TOP_OTHER,
	VIEW_TOP_NOBODY,
	VIEW_TOPS
};

/* Of a record beside its name, in the order in which they stand. */
enum view_tree_column {
	VIEW_COLUMN_ROLE,
	VIEW_COLUMN_DTYPE,
	VIEW_COLUMN_SHAPE,
	VIEW_COLUMN_RANGE,
	VIEW_COLUMN_BYTES,
	VIEW_COLUMN_RULE,
	VIEW_COLUMNS
};

enum { VIEW_TREE_DEPTHS = 32 };

enum view_tree_order { VIEW_BY_FILE, VIEW_BY_NAME, VIEW_BY_SIZE, VIEW_ORDERS };

struct view_tree_node {
	uint32_t up, child, last, next;
	uint32_t item;      /* number of a record, field or owner */
	uint32_t from, end; /* label within its name or path */
	uint32_t leaves;    /* in it */
	uint32_t finding;   /* the first of findings, in it too */
	uint32_t findings;
	uint64_t bytes;
	uint8_t kind, top, depth;
	bool open;
	bool hashed; /* of the builder */
	bool joined; /* with its only child, which bears both labels */
};

/* Node 0 is the root, which is no row. */
struct view_tree {
	struct view_tree_node *nodes; /* owned, as all below */
	uint32_t n, room;
	uint32_t *of_record, *of_field; /* their nodes, or NONE */
	uint64_t nrecords, nfields, nowners;
	uint32_t first_owner, end_owner; /* nodes of bytes of nobody */
	uint64_t secret, digest;         /* of what it was built of */
	enum view_tree_order order;
	uint32_t *rows, *row_of; /* nodes that are shown; rows of nodes */
	uint32_t nrows;
	char *filter; /* words in small letters, or NULL */
	/* What the names at each depth and the columns of all records need,
	 * or of those that pass the filter; in a filtered list the depth is
	 * 0. */
	int names[VIEW_TREE_DEPTHS], columns[VIEW_COLUMNS];
};

/* False if out of memory: the tree is empty then. */
bool view_tree_build(struct view_tree *tree, const struct ckpt_spans *spans);
void view_tree_release(struct view_tree *tree);

/* Whether the index says the same as the one that it was built of. */
bool view_tree_fits(
	const struct view_tree *tree, const struct ckpt_spans *spans);

/* For the functions above: sums, joins and opens the nodes; a digest of what nodes are made from, each
 * piece at its place; and whether a path leads into a record that there is,
 * "records[3].name", n being the length of "records". What was read of a
 * record that was cut stays a field. */
void view_tree_shape(struct view_tree *tree);
uint64_t view_tree_digest(uint64_t secret, const struct ckpt_spans *spans);
bool view_tree_of_record(
	const struct ckpt_spans *spans, const char *path, size_t n);

static inline bool
view_tree_is_group(const struct view_tree_node *node)
{
	return node->kind < VIEW_TREE_FIELD;
}

/* The text of a node before it is escaped, of n bytes; borrowed. */
const char *view_tree_label(const struct ckpt_spans *spans,
	const struct view_tree_node *node, size_t *n);

/* ---- Rows (tree_rows.c). False if out of memory: they stay as they were. - */

bool view_tree_sort(struct view_tree *tree, const struct ckpt_spans *spans,
	enum view_tree_order order);
/* Only records whose names and roles have all words in them; NULL or none: all. */
bool view_tree_filter(struct view_tree *tree, const struct ckpt_spans *spans,
	const char *words);
/* After open was changed of nodes. */
bool view_tree_flatten(struct view_tree *tree, const struct ckpt_spans *spans);

/* ---- Columns (tree_columns.c). -- */

/* The text of a cell, and of a name (at most that many bytes of it are of the
 * file). */
void view_tree_cell_write(struct ckpt_buf *buf, const struct view_tree *tree,
	const struct view_doc *doc, const struct view_tree_node *node,
	enum view_tree_column column);
void view_tree_name_write(struct ckpt_buf *buf, const struct view_tree *tree,
	const struct ckpt_spans *spans, const struct view_tree_node *node,
	size_t most);
/* How wide they are, once for all rows, so that columns stay where they are
 * when rows come and go. Of rules by view_tree_mark(). */
void view_tree_measure(struct view_tree *tree, const struct ckpt_spans *spans);
void view_tree_measure_rules(
	struct view_tree *tree, const struct view_doc *doc);

/* ---- Bytes (tree_place.c). -- */

/* Which findings are on which node. */
void view_tree_mark(struct view_tree *tree, const struct view_doc *doc);

/* The node that owns a byte, or NONE; and of a node, its row or that of the
 * group in which it is folded, or NONE. */
uint32_t view_tree_at(
	const struct view_tree *tree, struct view_doc *doc, uint64_t off);
uint32_t view_tree_row(const struct view_tree *tree, uint32_t node);
/* Whether the byte is one of a leaf's, of a record one of its payload. */
bool view_tree_has(const struct view_tree *tree, struct view_doc *doc,
	uint32_t node, uint64_t off);

/* The first byte of a node: of its payload, or of what it has instead. */
uint64_t view_tree_first_byte(const struct view_tree *tree,
	const struct ckpt_spans *spans, uint32_t node);

#endif
