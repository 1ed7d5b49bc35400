/* SPDX-License-Identifier: MIT */
/*
 * Building the tree. Names are cut at '.' into at most DEPTH segments, the
 * last of which keeps the rest; where a group has many others in it, they are
 * found by parent and segment in a hash table, so that the work grows with the
 * bytes of the names and with nothing else. Parents stand before their children in the
 * array, which makes every walk over the tree a loop.
 */
#include "view/tree_build.h"

#include <stdlib.h>
#include <string.h>

#include "view/names.h"

enum {
	DEPTH = 16,
	/* Names that part at every segment make no more groups than this for
	 * each record. */
	GROUPS_PER_RECORD = 4,
	GROUPS_SPARE = 4096,
	SIBLINGS_FEW = 8, /* are looked at one by one */
};

struct builder {
	struct view_tree *tree;
	const struct ckpt_spans *spans;
	struct view_names groups;
	uint64_t groups_left;
	bool failed;
};

void
view_tree_release(struct view_tree *tree)
{
	free(tree->nodes);
	free(tree->of_record);
	free(tree->of_field);
	free(tree->rows);
	free(tree->row_of);
	free(tree->filter);
	memset(tree, 0, sizeof *tree);
}

static const char *
cut(const void *p, size_t have, const struct view_tree_node *node, size_t *n)
{
	const char *text = p;
	/* guards: an index that is not the one the tree was built of. */
	size_t end = node->end < have ? node->end : have;
	size_t from = node->from < end ? node->from : end;

	*n = end - from;
	return text + from;
}

const char *
view_tree_label(const struct ckpt_spans *spans,
	const struct view_tree_node *node, size_t *n)
{
	static const char *const tops[VIEW_TOPS] = { "header", "tokenizer",
		"parameters", "moments", "other records", "bytes of nobody" };
	const char *text = "";

	switch ((enum view_tree_kind)node->kind) {
	case VIEW_TREE_TOP:
		text = tops[node->item];
		/* Where records have no roles they are no others. */
		if (node->item == VIEW_TOP_OTHER &&
			strcmp(spans->records, "records") != 0)
			text = spans->records;
		break;
	case VIEW_TREE_ROLE: text = spans->tensors[node->item].role; break;
	case VIEW_TREE_PART:
	case VIEW_TREE_FIELD:
		text = spans->fields[node->item].path;
		return cut(text, strlen(text), node, n);
	case VIEW_TREE_NAME:
	case VIEW_TREE_RECORD:
		return cut(spans->tensors[node->item].name,
			spans->tensors[node->item].name_len, node, n);
	case VIEW_TREE_OWNER:
		text = ckpt_owner_kind_name(spans->owners[node->item].kind);
		break;
	}
	*n = strlen(text);
	return text;
}

/* ---- Nodes -------------------------------------------------------------- */

static void
link_node(struct view_tree *tree, uint32_t i)
{
	struct view_tree_node *up = &tree->nodes[tree->nodes[i].up];

	tree->nodes[i].next = VIEW_TREE_NONE;
	if (up->child == VIEW_TREE_NONE)
		up->child = i;
	else
		tree->nodes[up->last].next = i;
	up->last = i;
}

/* The number of a new node; 0 if there is no room for it. */
static uint32_t
add(struct builder *b, const struct view_tree_node *node)
{
	struct view_tree *tree = b->tree;
	uint32_t i = tree->n;

	if (i == tree->room) {
		uint32_t room = i ? i + i / 2 : 256;
		struct view_tree_node *grown;

		grown = i < UINT32_MAX / 2
				? realloc(tree->nodes, room * sizeof *grown)
				: NULL;
		if (!grown) {
			b->failed = true;
			return 0;
		}
		tree->nodes = grown;
		tree->room = room;
	}
	tree->n++;
	tree->nodes[i] = *node;
	tree->nodes[i].child = tree->nodes[i].last = VIEW_TREE_NONE;
	tree->nodes[i].top = node->kind == VIEW_TREE_TOP
				     ? (uint8_t)node->item
				     : tree->nodes[node->up].top;
	if (i > 0)
		link_node(tree, i);
	return i;
}

static bool
same_group(const struct builder *b, uint32_t i,
	const struct view_tree_node *want, const char *label, size_t n)
{
	const struct view_tree_node *node = &b->tree->nodes[i];
	const char *other;
	size_t k;

	if (node->up != want->up || node->kind != want->kind)
		return false;
	other = view_tree_label(b->spans, node, &k);
	return k == n && memcmp(other, label, n) == 0;
}

static uint64_t
hash_of(const struct builder *b, const struct view_tree_node *node)
{
	size_t n;
	const char *label = view_tree_label(b->spans, node, &n);

	return view_names_hash(
		&b->groups, (uint64_t)node->up << 3 | node->kind, label, n);
}

/* Puts the groups below a node into the table, once they are many. */
static void
hash_children(struct builder *b, uint32_t up)
{
	const struct view_tree_node *nodes = b->tree->nodes;

	b->tree->nodes[up].hashed = true;
	for (uint32_t i = nodes[up].child; i != VIEW_TREE_NONE;
		i = nodes[i].next)
		if (view_tree_is_group(&nodes[i]) &&
			!view_names_add(&b->groups, hash_of(b, &nodes[i]), i))
			b->failed = true;
}

/* The group of this label below its parent, or NONE. Mostly it is the one
 * that was made there last, or one of a few. */
static uint32_t
find_group(struct builder *b, const struct view_tree_node *want)
{
	const struct view_tree_node *up = &b->tree->nodes[want->up];
	size_t n, at = 0;
	const char *label = view_tree_label(b->spans, want, &n);
	uint32_t i = up->child, steps = 0;

	if (i == VIEW_TREE_NONE || same_group(b, up->last, want, label, n))
		return up->last;
	for (; i != VIEW_TREE_NONE && steps < SIBLINGS_FEW; steps++) {
		if (same_group(b, i, want, label, n))
			return i;
		i = b->tree->nodes[i].next;
	}
	if (i == VIEW_TREE_NONE)
		return i;
	if (!up->hashed)
		hash_children(b, want->up);
	while (view_names_next(&b->groups, hash_of(b, want), &at, &i))
		if (same_group(b, i, want, label, n))
			return i;
	return VIEW_TREE_NONE;
}

/* The same, made if there is none; the parent itself when there are too many
 * groups. */
static uint32_t
group(struct builder *b, const struct view_tree_node *want)
{
	uint32_t i = find_group(b, want);

	if (i != VIEW_TREE_NONE)
		return i;
	if (b->groups_left == 0)
		return want->up;
	b->groups_left--;
	i = add(b, want);
	if (!b->failed && b->tree->nodes[want->up].hashed &&
		!view_names_add(&b->groups, hash_of(b, want), i))
		b->failed = true;
	return i;
}

/* ---- What the tree is of ------------------------------------------------ */

static void
add_fields(struct builder *b, uint32_t top)
{
	const struct ckpt_spans *spans = b->spans;
	size_t records = strlen(spans->records);

	for (uint64_t i = 0; i < spans->nfields && !b->failed; i++) {
		const struct ckpt_span_field *f = &spans->fields[i];
		struct view_tree_node node = {
			.up = top, .item = (uint32_t)i, .kind = VIEW_TREE_PART
		};
		size_t n, part;

		if (f->flags & CKPT_IS_SYNTAX ||
			view_tree_of_record(spans, f->path, records))
			continue;
		n = strlen(f->path);
		part = strcspn(f->path, ".");
		if (n > UINT32_MAX)
			continue;
		node.end = (uint32_t)part;
		if (part < n) {
			node.up = group(b, &node);
			node.from = (uint32_t)part + 1;
		}
		node.kind = VIEW_TREE_FIELD;
		node.end = (uint32_t)n;
		node.leaves = 1;
		node.bytes = f->len;
		b->tree->of_field[i] = add(b, &node);
	}
}

/* Moments stand apart by their roles, of which there are few. */
static uint32_t
role_group(struct builder *b, uint32_t up, uint32_t record)
{
	struct view_tree_node node = {
		.up = up, .item = record, .kind = VIEW_TREE_ROLE
	};

	return group(b, &node);
}

static void
add_record(struct builder *b, const uint32_t tops[VIEW_TOPS], uint32_t i)
{
	static const enum view_tree_top top_of[] = {
		[CKPT_TENSOR_TOKENIZER] = VIEW_TOP_TOKENIZER,
		[CKPT_TENSOR_PARAMETER] = VIEW_TOP_PARAMETERS,
		[CKPT_TENSOR_MOMENT] = VIEW_TOP_MOMENTS,
		[CKPT_TENSOR_OTHER] = VIEW_TOP_OTHER,
	};
	const struct ckpt_span *span = &b->spans->tensors[i];
	const char *name = (const char *)span->name;
	size_t n = span->name_len < UINT32_MAX ? span->name_len : UINT32_MAX;
	size_t from = 0;
	struct view_tree_node node = { .up = tops[top_of[span->class_]],
		.item = i };
	int depth = span->class_ == CKPT_TENSOR_TOKENIZER ? DEPTH : 1;

	if (span->class_ == CKPT_TENSOR_MOMENT)
		node.up = role_group(b, node.up, i);
	for (; depth < DEPTH && !b->failed; depth++) {
		const char *dot =
			n > from ? memchr(name + from, '.', n - from) : NULL;
		uint32_t up = node.up;

		if (!dot)
			break;
		node.kind = VIEW_TREE_NAME;
		node.from = (uint32_t)from;
		node.end = (uint32_t)(dot - name);
		node.up = group(b, &node);
		if (node.up == up)
			break;
		from = (size_t)(dot - name) + 1;
	}
	node.kind = VIEW_TREE_RECORD;
	node.from = (uint32_t)from;
	node.end = (uint32_t)n;
	node.leaves = 1;
	node.bytes = span->len;
	b->tree->of_record[i] = add(b, &node);
}

/* Header bytes of no field are somebody's when fields were left out. */
static void
add_owners(struct builder *b, uint32_t top)
{
	const struct ckpt_spans *spans = b->spans;

	b->tree->first_owner = b->tree->n;
	for (uint64_t i = 0; i < spans->nowners && !b->failed; i++) {
		const struct ckpt_owner *o = &spans->owners[i];
		struct view_tree_node node = { .up = top,
			.item = (uint32_t)i,
			.kind = VIEW_TREE_OWNER,
			.leaves = 1,
			.bytes = o->end - o->off };

		if (o->kind == CKPT_OWNER_GAP || o->kind == CKPT_OWNER_NONE ||
			(o->kind == CKPT_OWNER_HEADER && !spans->fields_cut))
			add(b, &node);
	}
	b->tree->end_owner = b->tree->n;
}

/* ---- All of it ---------------------------------------------------------- */

static bool
make_room(struct view_tree *tree, const struct ckpt_spans *spans)
{
	tree->nrecords = spans->ntensors;
	tree->nfields = spans->nfields;
	tree->nowners = spans->nowners;
	if (spans->ntensors > UINT32_MAX / 16 ||
		spans->nfields > UINT32_MAX / 16 ||
		spans->nowners > UINT32_MAX / 16)
		return false;
	tree->of_record =
		calloc((size_t)spans->ntensors + 1, sizeof *tree->of_record);
	tree->of_field =
		calloc((size_t)spans->nfields + 1, sizeof *tree->of_field);
	if (!tree->of_record || !tree->of_field)
		return false;
	memset(tree->of_field, 0xff,
		(size_t)spans->nfields * sizeof *tree->of_field);
	return true;
}

bool
view_tree_build(struct view_tree *tree, const struct ckpt_spans *spans)
{
	struct builder b = { .tree = tree,
		.spans = spans,
		.groups_left =
			spans->ntensors * GROUPS_PER_RECORD + GROUPS_SPARE };
	uint32_t tops[VIEW_TOPS];

	memset(tree, 0, sizeof *tree);
	view_names_init(&b.groups);
	b.failed = !make_room(tree, spans);
	if (!b.failed)
		add(&b, &(struct view_tree_node){ .kind = VIEW_TREE_TOP });
	for (uint32_t i = 0; i < VIEW_TOPS && !b.failed; i++)
		tops[i] = add(&b, &(struct view_tree_node){
					  .kind = VIEW_TREE_TOP, .item = i });
	if (!b.failed)
		add_fields(&b, tops[VIEW_TOP_HEADER]);
	for (uint32_t i = 0; i < spans->ntensors && !b.failed; i++)
		add_record(&b, tops, i);
	if (!b.failed)
		add_owners(&b, tops[VIEW_TOP_NOBODY]);
	if (!b.failed) {
		tree->secret = b.groups.secret;
		tree->digest = view_tree_digest(tree->secret, spans);
		view_tree_shape(tree);
		b.failed = !view_tree_sort(tree, spans, VIEW_BY_FILE);
		view_tree_measure(tree, spans);
	}
	view_names_release(&b.groups);
	if (b.failed)
		view_tree_release(tree);
	return !b.failed;
}
