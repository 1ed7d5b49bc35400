/* SPDX-License-Identifier: MIT */
/*
 * Whether a tree is of an index. A file that is read again gives another
 * index that mostly says the same, and then the tree is kept with all that is
 * folded in it. That is told by a digest with the tree's secret, so no file
 * can be made that is mistaken for the one before.
 */
#include "view/tree_build.h"

#include <stdlib.h>
#include <string.h>

#include "view/names.h"

bool
view_tree_of_record(const struct ckpt_spans *spans, const char *path, size_t n)
{
	return strncmp(path, spans->records, n) == 0 && path[n] == '[' &&
	       strtoull(path + n + 1, NULL, 10) < spans->ntensors;
}

uint64_t
view_tree_digest(uint64_t secret, const struct ckpt_spans *spans)
{
	struct view_names names = { .secret = secret };
	size_t records = strlen(spans->records);
	uint64_t h = 0;

	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *s = &spans->tensors[i];
		/* Roles are static text. */
		const uint64_t facts[] = { s->class_, (uintptr_t)s->role,
			s->off, s->len };

		h ^= view_names_hash(&names, 4 * i + 0, s->name, s->name_len);
		h ^= view_names_hash(&names, 4 * i + 1, facts, sizeof facts);
	}
	for (uint64_t i = 0; i < spans->nfields; i++) {
		const char *path = spans->fields[i].path;

		if (!view_tree_of_record(spans, path, records))
			h ^= view_names_hash(
				&names, 4 * i + 2, path, strlen(path));
	}
	for (uint64_t i = 0; i < spans->nowners; i++) {
		const struct ckpt_owner *o = &spans->owners[i];
		const uint64_t facts[] = { o->kind, o->off, o->end };

		if (o->kind != CKPT_OWNER_FIELD && o->kind != CKPT_OWNER_TENSOR)
			h ^= view_names_hash(
				&names, 4 * i + 3, facts, sizeof facts);
	}
	return h;
}

bool
view_tree_fits(const struct view_tree *tree, const struct ckpt_spans *spans)
{
	return tree->n > 0 && tree->nrecords == spans->ntensors &&
	       tree->nfields == spans->nfields &&
	       tree->nowners == spans->nowners &&
	       tree->digest == view_tree_digest(tree->secret, spans);
}
