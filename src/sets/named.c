/* SPDX-License-Identifier: MIT */
/*
 * The shards that an index names, and whether they are there. Names are claims
 * of a file: one that leads out of the folder is reported and never opened, not
 * even looked at.
 */
#include "sets/set_parts.h"

#include <string.h>

#include "base/sort.h"

static int
by_shard(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_doc_value *const *list = ctx;

	return ckpt_bytes_compare(
		list[a]->p, (size_t)list[a]->n, list[b]->p, (size_t)list[b]->n);
}

/* Absolute, as any system means it, or up and out of the folder. */
static bool
leads_out(const char *p, uint64_t n)
{
	uint64_t part = 0;

	if (n > 0 && (p[0] == '/' || p[0] == '\\'))
		return true;
	if (n > 2 && (p[0] | 0x20) >= 'a' && (p[0] | 0x20) <= 'z' &&
		p[1] == ':' && (p[2] == '/' || p[2] == '\\'))
		return true;
	for (uint64_t i = 0; i <= n; i++) {
		if (i < n && p[i] != '/' && p[i] != '\\')
			continue;
		if (i - part == 2 && p[part] == '.' && p[part + 1] == '.')
			return true;
		part = i + 1;
	}
	return false;
}

/* Without "." parts and doubled slashes, so that one file has one name. */
static const char *
plain_name(struct ckpt_set *set, const char *p, size_t n)
{
	char *name = ckpt_arena_bytes(&set->arena, n + 1);
	size_t used = 0;

	for (size_t i = 0; name && i < n;) {
		size_t k = 0;

		while (i + k < n && p[i + k] != '/')
			k++;
		if (k > 1 || (k == 1 && p[i] != '.')) {
			if (used)
				name[used++] = '/';
			memcpy(name + used, p + i, k);
			used += k;
		}
		i += k + 1;
	}
	if (name)
		name[used] = '\0';
	return name;
}

/* What there is under the name of a shard. */
static enum ckpt_status
look(struct ckpt_set *set, struct ckpt_named *named)
{
	const char *path = ckpt_set_path(set, named->name);
	size_t n = strlen(named->name);
	struct ckpt_folder_entry e = { .name = named->name };

	if (!path)
		return ckpt_arena_status(&set->arena);
	named->state = CKPT_NAMED_MISSING;
	/* A NUL inside, or nothing at all, is no name of a file. */
	if (n == 0 || memchr(named->given, '\0', (size_t)named->given_n)) {
		named->instead = "no name of a file";
		return CKPT_OK;
	}
	e.name = strrchr(named->name, '/') ? strrchr(named->name, '/') + 1
					   : named->name;
	e.role = ckpt_role_of(e.name, strlen(e.name));
	e.kind = ckpt_entry_look(path, &e.size, &e.link);
	switch (e.kind) {
	case CKPT_ENTRY_LOST:
		named->instead = e.link ? "a symbolic link to nothing" : NULL;
		return CKPT_OK;
	case CKPT_ENTRY_FOLDER: named->instead = "a folder"; return CKPT_OK;
	case CKPT_ENTRY_ODD: named->instead = "no regular file"; return CKPT_OK;
	case CKPT_ENTRY_FILE: break;
	}
	named->state = CKPT_NAMED_OPAQUE;
	if (ckpt_set_verifies(set, &e, path)) {
		named->state = CKPT_NAMED_SHARD;
		named->shard = ckpt_set_add_shard(set, named->name, e.role);
		return named->shard ? CKPT_OK : ckpt_arena_status(&set->arena);
	}
	/* The side files of a whole folder are looked at once, elsewhere. */
	if (!set->whole || strchr(named->name, '/') ||
		(e.role != CKPT_ROLE_OTHER && !ckpt_role_resumes(e.role)))
		ckpt_set_look_opaque(set, named->name, e.size);
	return CKPT_OK;
}

static enum ckpt_status
name_shards(struct ckpt_set *set, struct ckpt_index *index)
{
	struct ckpt_arena *arena = &set->arena;
	uint32_t *order =
		ckpt_sorted(arena, index->n, by_shard, index->entries);

	index->places = ckpt_arena_alloc(
		arena, (size_t)index->n * sizeof index->places[0]);
	if (!order || !index->places)
		return ckpt_arena_status(arena);
	for (uint64_t i = 0; i < index->n; i++) {
		const struct ckpt_doc_value *v = index->entries[order[i]];
		struct ckpt_named *named;

		if (i > 0 &&
			by_shard(index->entries, order[i - 1], order[i]) == 0) {
			index->places[order[i]] = (uint32_t)index->nnamed - 1;
			continue;
		}
		named = ckpt_arena_push(
			arena, index->named, index->nnamed, sizeof *named);
		if (!named)
			return ckpt_arena_status(arena);
		index->named = named;
		index->places[order[i]] = (uint32_t)index->nnamed;
		named += index->nnamed++;
		*named = (struct ckpt_named){ .given = v->p,
			.given_n = v->n,
			.entry = v,
			.state = CKPT_NAMED_OUTSIDE };
		named->name = plain_name(set, v->p, (size_t)v->n);
		if (!named->name)
			return ckpt_arena_status(arena);
	}
	return CKPT_OK;
}

/* What leads out of the folder comes last, and is never found. */
static int
by_file(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_named *named = ctx;
	bool oa = named[a].state == CKPT_NAMED_OUTSIDE;
	bool ob = named[b].state == CKPT_NAMED_OUTSIDE;

	return oa != ob ? oa - ob : strcmp(named[a].name, named[b].name);
}

bool
ckpt_index_has(const struct ckpt_index *index, const char *name)
{
	uint64_t from = 0, to = index->nnamed;

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;
		const struct ckpt_named *named =
			&index->named[index->files[middle]];
		int c = named->state == CKPT_NAMED_OUTSIDE
				? -1
				: strcmp(name, named->name);

		if (c == 0)
			return true;
		if (c < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return false;
}

/* Weights of the folder that this index does not name. */
static const char *
other_weights(const struct ckpt_set *set, const struct ckpt_index *index)
{
	for (uint64_t i = 0; i < set->folder.n; i++) {
		const struct ckpt_folder_entry *e = &set->folder.entries[i];

		if (e->role != CKPT_ROLE_WEIGHTS || e->kind != CKPT_ENTRY_FILE)
			continue;
		if (!ckpt_index_has(index, e->name))
			return e->name;
	}
	return NULL;
}

static void
report_missing(struct ckpt_set *set, const struct ckpt_index *index)
{
	const struct ckpt_rule *cause = NULL;
	const char *other;
	uint64_t present = 0;

	for (uint64_t i = 0; i < index->nnamed; i++)
		present += index->named[i].state == CKPT_NAMED_SHARD ||
			   index->named[i].state == CKPT_NAMED_OPAQUE;
	other = present == 0 ? other_weights(set, index) : NULL;
	if (other) {
		ckpt_set_report(set, CKPT_D_STALE_INDEX, index->name,
			&(struct ckpt_diag){ .found = ckpt_set_text(set, "%s",
						     ckpt_set_quoted(set, other,
							     strlen(other))) });
		cause = ckpt_rule_row(CKPT_D_STALE_INDEX);
	}
	for (uint64_t i = 0; i < index->nnamed; i++) {
		const struct ckpt_named *named = &index->named[i];

		if (named->state != CKPT_NAMED_MISSING)
			continue;
		ckpt_set_report(set, CKPT_D_SHARD_MISSING, index->name,
			&(struct ckpt_diag){
				.off = named->entry->key_at,
				.expected = ckpt_set_text(set, "the file %s",
					ckpt_set_quoted(set, named->given,
						(size_t)named->given_n)),
				.found = named->instead
						 ? ckpt_v_text(named->instead)
						 : ckpt_v_none(),
				.caused_by = cause,
			});
	}
}

enum ckpt_status
ckpt_named_open(struct ckpt_set *set, struct ckpt_index *index)
{
	enum ckpt_status status = name_shards(set, index);

	for (uint64_t i = 0; status == CKPT_OK && i < index->nnamed; i++) {
		struct ckpt_named *named = &index->named[i];

		if (leads_out(named->given, named->given_n))
			ckpt_set_report(set, CKPT_D_SHARD_PATH, index->name,
				&(struct ckpt_diag){
					.off = named->entry->key_at,
					.found = ckpt_set_text(set, "%s",
						ckpt_set_quoted(set,
							named->given,
							(size_t)named
								->given_n)) });
		else
			status = look(set, named);
	}
	if (status != CKPT_OK)
		return status;
	index->files =
		ckpt_sorted(&set->arena, index->nnamed, by_file, index->named);
	if (!index->files)
		return ckpt_arena_status(&set->arena);
	report_missing(set, index);
	return CKPT_OK;
}
