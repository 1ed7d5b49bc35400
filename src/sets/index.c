/* SPDX-License-Identifier: MIT */
/*
 * An index by itself: what it is written in, and that it maps tensors to
 * shards.
 */
#include "sets/set_parts.h"

#include <string.h>

#include "base/sort.h"

/* ---- Reading ------------------------------------------------------------ */

static enum ckpt_status
read_text(
	struct ckpt_set *set, const char *name, const uint8_t **text, size_t *n)
{
	const char *path = ckpt_set_path(set, name);

	if (!path)
		return ckpt_arena_status(&set->arena);
	return ckpt_entry_read(&set->arena, path, text, n);
}

/* Whether a file begins as a JSON object does, and as no known format. */
static bool
begins_as_object(const char *path)
{
	uint8_t head[CKPT_SNIFF];
	size_t n, at = 0;

	if (!ckpt_entry_head(path, head, &n) || ckpt_format_sniff(head, n))
		return false;
	while (at < n && memchr(" \t\r\n", head[at], 4))
		at++;
	return at < n && head[at] == '{';
}

bool
ckpt_set_is_index(const char *path, uint64_t max_memory)
{
	struct ckpt_arena arena;
	struct ckpt_doc doc = { 0 };
	const uint8_t *text;
	enum ckpt_status status;
	size_t n;
	bool is;

	if (ckpt_role_of(path, strlen(path)) == CKPT_ROLE_INDEX)
		return true;
	if (!begins_as_object(path) ||
		!ckpt_entry_mentions(path, "\"weight_map\""))
		return false;
	ckpt_arena_init(&arena, max_memory ? max_memory : CKPT_MAX_MEMORY);
	status = ckpt_entry_read(&arena, path, &text, &n);
	if (status == CKPT_OK)
		status = ckpt_doc_read(&doc, &arena, text, n, false);
	/* What is too large to be told may be one, and is not to be lost. */
	is = status == CKPT_OK ? ckpt_doc_member(doc.root, "weight_map") != NULL
			       : status != CKPT_EIO;
	ckpt_arena_release(&arena);
	return is;
}

static void
report_map(struct ckpt_set *set, const struct ckpt_index *index, uint64_t at,
	const char *found)
{
	ckpt_set_report(set, CKPT_D_INDEX_MAP, index->name,
		&(struct ckpt_diag){
			.off = at,
			.expected = ckpt_v_text("an object of strings, not "
						"empty, under \"weight_map\""),
			.found = ckpt_v_text(found),
		});
}

static int
by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_doc_value *const *list = ctx;

	return ckpt_bytes_compare(
		list[a]->key, list[a]->key_n, list[b]->key, list[b]->key_n);
}

/* The strings of the map by key; of a key that stands twice the last one, as
 * readers take it. */
static enum ckpt_status
sort_map(struct ckpt_set *set, struct ckpt_index *index,
	const struct ckpt_doc_value *map)
{
	struct ckpt_arena *arena = &set->arena;
	const struct ckpt_doc_value **list =
		ckpt_arena_alloc(arena, (size_t)map->n * sizeof *list);
	const struct ckpt_doc_value **entries =
		ckpt_arena_alloc(arena, (size_t)map->n * sizeof *list);
	uint64_t n = 0;
	uint32_t *order;

	if (!list || !entries)
		return ckpt_arena_status(arena);
	for (const struct ckpt_doc_value *v = map->first; v; v = v->next) {
		if (v->kind == CKPT_DOC_STRING)
			list[n++] = v;
		else if (index->n++ == 0)
			report_map(set, index, v->key_at,
				ckpt_set_text(set, "%s is no string",
					ckpt_set_quoted(set, v->key, v->key_n))
					.p);
	}
	index->n = 0;
	index->entries = entries;
	order = ckpt_sorted(arena, n, by_key, list);
	if (!order)
		return ckpt_arena_status(arena);
	for (uint64_t i = 0; i < n; i++)
		if (i + 1 == n || by_key(list, order[i], order[i + 1]) != 0)
			entries[index->n++] = list[order[i]];
	return CKPT_OK;
}

/* ---- The whole ---------------------------------------------------------- */

static void
report_json(struct ckpt_set *set, const struct ckpt_index *index)
{
	ckpt_set_report(set, CKPT_D_INDEX_JSON, index->name,
		&(struct ckpt_diag){ .off = index->doc.fault_at,
			.found = ckpt_set_text(set, "%s, at byte %llu",
				index->doc.fault,
				(unsigned long long)index->doc.fault_at) });
}

static enum ckpt_status
judge_map(struct ckpt_set *set, struct ckpt_index *index)
{
	const struct ckpt_doc_value *root = index->doc.root, *map;
	enum ckpt_status status;

	if (index->doc.twice)
		ckpt_set_report(set, CKPT_D_INDEX_REPEAT, index->name,
			&(struct ckpt_diag){ .off = index->doc.twice->key_at,
				.found = ckpt_set_text(set,
					"%s at byte %llu and at byte %llu",
					ckpt_set_quoted(set,
						index->doc.twice->key,
						index->doc.twice->key_n),
					(unsigned long long)
						index->doc.once->key_at,
					(unsigned long long)
						index->doc.twice->key_at) });
	map = ckpt_doc_member(root, "weight_map");
	if (!map || map->kind != CKPT_DOC_OBJECT || map->n == 0) {
		report_map(set, index, map ? map->key_at : 0,
			root->kind != CKPT_DOC_OBJECT  ? "no object"
			: !map                         ? "no \"weight_map\""
			: map->kind == CKPT_DOC_OBJECT ? "an empty object"
						       : "no object");
		return CKPT_OK;
	}
	if (map->n > UINT32_MAX)
		return CKPT_ELIMIT;
	status = sort_map(set, index, map);
	if (status == CKPT_OK)
		status = ckpt_named_open(set, index);
	/* guards: what memory ended in is not judged in part */
	if (status != CKPT_OK)
		index->n = index->nnamed = 0;
	return status;
}

enum ckpt_status
ckpt_index_open(struct ckpt_set *set, const char *name)
{
	struct ckpt_index *index = ckpt_arena_push(
		&set->arena, set->indexes, set->nindexes, sizeof *index);
	const uint8_t *text;
	const char *pointer;
	size_t n;
	enum ckpt_status status;

	if (!index)
		return ckpt_arena_status(&set->arena);
	set->indexes = index;
	index += set->nindexes++;
	*index = (struct ckpt_index){ .name = name };
	status = read_text(set, name, &text, &n);
	if (status == CKPT_EIO) {
		ckpt_set_trouble(set, status, name);
		return CKPT_OK;
	}
	if (status == CKPT_OK)
		status = ckpt_doc_read(&index->doc, &set->arena, text, n, true);
	if (status != CKPT_OK)
		return status;
	if (index->doc.root)
		return judge_map(set, index);
	pointer = ckpt_set_pointer(set, text, n);
	if (pointer)
		ckpt_set_add(set, CKPT_D_LFS_POINTER, name, pointer);
	else
		report_json(set, index);
	return CKPT_OK;
}
