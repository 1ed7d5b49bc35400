/* SPDX-License-Identifier: MIT */
/*
 * Paths forwards and backwards. Finding a path adds up the wire sizes of the
 * fields before it; records that keep their own offset are jumped to.
 */
#include "wire/path.h"

#include <stdlib.h>
#include <string.h>

void
ckpt_path_write(const struct ckpt_path *path, struct ckpt_buf *buf)
{
	if (path->up) {
		ckpt_path_write(path->up, buf);
		if (path->name && path->up->name)
			ckpt_buf_puts(buf, ".");
	}
	if (path->name)
		ckpt_buf_puts(buf, path->name);
	if (path->indexed)
		ckpt_buf_printf(buf, "[%llu]", (unsigned long long)path->index);
}

static const struct ckpt_field *
find_field(const struct ckpt_record *rec, const char *name, size_t n)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const char *is = rec->fields[i].name;

		if (strncmp(is, name, n) == 0 && is[n] == '\0')
			return &rec->fields[i];
	}
	return NULL;
}

/* "[12]" at *path; true moves *path behind it. */
static bool
take_index(const char **path, uint64_t *index)
{
	char *end;

	if (**path != '[' || (*path)[1] < '0' || (*path)[1] > '9')
		return false;
	*index = strtoull(*path + 1, &end, 10);
	if (*end != ']')
		return false;
	*path = end + 1;
	return true;
}

static uint64_t
offset_in(const struct ckpt_record *rec, const void *base, uint64_t at,
	const struct ckpt_field *stop)
{
	for (const struct ckpt_field *f = rec->fields; f < stop; f++)
		at += ckpt_field_wire(f, base);
	return at;
}

static uint64_t
element_offset(const struct ckpt_field *field, const void *base, uint64_t at,
	uint64_t index)
{
	unsigned width = ckpt_type_width(field->type);

	if (width)
		return at + index * width;
	for (uint64_t i = 0; i < index; i++)
		at += ckpt_value_wire(field, ckpt_array_at(field, base, i));
	return at;
}

/* ".count", ".length", ".bytes" behind a value that is no record. */
static bool
take_part(const char *path, struct ckpt_place *place)
{
	bool text = place->field->type == CKPT_STR && !place->whole_array;

	if (strcmp(path, ".count") == 0 && place->whole_array &&
		place->field->prefixed) {
		place->part = CKPT_PLACE_COUNT;
		place->len = 4;
		return true;
	}
	if (strcmp(path, ".length") == 0 && text) {
		place->part = CKPT_PLACE_LENGTH;
		place->len = 4;
		return true;
	}
	if (strcmp(path, ".bytes") == 0 && text) {
		place->part = CKPT_PLACE_BYTES;
		place->off += 4;
		place->len -= 4;
		return true;
	}
	return *path == '\0';
}

/* Into element index of the array at place; false if it is not there. */
static bool
enter_element(struct ckpt_place *place, uint64_t index)
{
	const struct ckpt_field *field = place->field;
	struct ckpt_array array;
	uint64_t own;

	memcpy(&array, place->value, sizeof array);
	if (index >= array.n)
		return false;
	place->whole_array = false;
	place->index = index;
	place->value = ckpt_array_at(field, place->base, index);
	if (field->type == CKPT_REC && field->rec->at_slot) {
		memcpy(&own, (uint8_t *)place->value + field->rec->at_slot,
			sizeof own);
		place->off = own;
		return true;
	}
	place->off = element_offset(field, place->base,
		place->off + (field->prefixed ? 4 : 0), index);
	return true;
}

bool
ckpt_path_find(const struct ckpt_record *rec, void *base, uint64_t at,
	const char *path, struct ckpt_place *place)
{
	for (;;) {
		size_t n = strcspn(path, ".[");
		const struct ckpt_field *field = find_field(rec, path, n);
		uint64_t index;

		if (!field || !ckpt_field_present(field, base))
			return false;
		memset(place, 0, sizeof *place);
		place->field = field;
		place->base = base;
		place->value = (uint8_t *)base + field->slot;
		place->whole_array = field->is_array;
		/* Summing up to an array of records with offsets of their own
		 * would visit all that comes before for nothing. */
		place->off = path[n] == '[' && field->rec && field->rec->at_slot
				     ? at
				     : offset_in(rec, base, at, field);
		path += n;
		if (field->is_array && take_index(&path, &index) &&
			!enter_element(place, index))
			return false;
		if (field->type != CKPT_REC || place->whole_array ||
			*path != '.') {
			place->len =
				place->whole_array
					? ckpt_field_wire(field, base)
					: ckpt_value_wire(field, place->value);
			return take_part(path, place);
		}
		path++;
		rec = field->rec;
		base = place->value;
		at = place->off;
	}
}
