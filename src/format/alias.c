/* SPDX-License-Identifier: MIT */
/*
 * Aliases of records. By convention of the rows a record that owns payload
 * has a field "name", and "role" if there are several; an alias names a value
 * of the role and either the name or the place among the records of that
 * role.
 */
#include "format/alias.h"

#include <stdlib.h>
#include <string.h>

const struct ckpt_field *
ckpt_payload_records(const struct ckpt_format *format)
{
	for (size_t i = 0; i < format->root->nfields; i++) {
		const struct ckpt_field *field = &format->root->fields[i];
		unsigned flags = 0;

		if (!field->is_array || field->type != CKPT_REC)
			continue;
		for (size_t k = 0; k < field->rec->nfields; k++)
			flags |= field->rec->fields[k].flags;
		if (flags & CKPT_IS_OFFSET && flags & CKPT_IS_LENGTH)
			return field;
	}
	return NULL;
}

/* What stands behind the alias: an index, a name, nothing. */
struct key {
	uint64_t index;
	const char *name; /* NUL-terminated, and the path goes on in it */
	const char *rest; /* behind the alias */
};

/* What may follow a record in a path, or in the words of an edit. */
static bool
ends(char c)
{
	return strchr(".[=,", c) != NULL; /* and the end itself */
}

static bool
read_key(const struct ckpt_alias *alias, const char *path, struct key *key)
{
	size_t n = strlen(alias->prefix);
	char *end;

	if (strncmp(path, alias->prefix, n) != 0)
		return false;
	key->name = key->rest = path + n;
	if (alias->by == CKPT_ALIAS_BY_INDEX) {
		if (path[n] != '[' || path[n + 1] < '0' || path[n + 1] > '9')
			return false;
		key->index = strtoull(path + n + 1, &end, 10);
		key->rest = end + 1;
		return *end == ']';
	}
	return alias->by == CKPT_ALIAS_BY_NAME || ends(path[n]);
}

/* The record that is meant, or UINT64_MAX. */
static uint64_t
find(const struct ckpt_field *records, const void *root,
	const struct ckpt_alias *alias, struct key *key)
{
	const struct ckpt_field *role = ckpt_record_field(records->rec, "role");
	const struct ckpt_field *name = ckpt_record_field(records->rec, "name");
	uint64_t found = UINT64_MAX, seen = 0;
	uint32_t longest = 0;
	struct ckpt_array array;

	memcpy(&array, (const uint8_t *)root + records->slot, sizeof array);
	for (uint32_t i = 0; name && i < array.n; i++) {
		const uint8_t *rec = ckpt_array_at(records, root, i);
		struct ckpt_str str;

		if (role && ckpt_slot_load(rec, role->slot, role->type) !=
				    alias->role)
			continue;
		if (alias->by != CKPT_ALIAS_BY_NAME) {
			if (alias->by == CKPT_ALIAS_ONLY ||
				seen++ == key->index)
				return i;
			continue;
		}
		memcpy(&str, rec + name->slot, sizeof str);
		if (str.n <= longest || strlen(key->name) < str.n ||
			memcmp(key->name, str.p, str.n) != 0 ||
			!ends(key->name[str.n]))
			continue;
		longest = str.n;
		key->rest = key->name + str.n;
		found = i;
	}
	return found;
}

const char *
ckpt_alias_expand(const struct ckpt_format *format, const void *root,
	struct ckpt_arena *arena, const char *path)
{
	const struct ckpt_field *records = ckpt_payload_records(format);

	for (size_t i = 0; records && i < format->naliases; i++) {
		const struct ckpt_alias *alias = &format->aliases[i];
		struct key key = { 0 };
		uint64_t index;

		if (!read_key(alias, path, &key))
			continue;
		index = find(records, root, alias, &key);
		if (index != UINT64_MAX)
			return ckpt_arena_printf(arena, "%s[%llu]%s",
				records->name, (unsigned long long)index,
				key.rest);
	}
	return path;
}
