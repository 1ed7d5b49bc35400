/* SPDX-License-Identifier: MIT */
/*
 * safetensors for the editor of files: where the bytes of a path are. The
 * entries know where their values begin; the rest is read from the text, which
 * was proven to be JSON when it was decoded.
 */
#include "format/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "format/safetensors_dtype.h"

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

/* The rest of the path is exactly this word. */
static bool
is(const char *path, const char *word)
{
	return strcmp(path, word) == 0;
}

static bool
begins(const char *path, const char *word)
{
	return strncmp(path, word, strlen(word)) == 0;
}

static void
put(struct ckpt_text_place *place, size_t at, size_t end)
{
	place->off = safetensors_at(at);
	place->len = end - at;
}

/* The string whose quote is at at. */
static bool
find_string(const struct safetensors_file *file, uint32_t at,
	struct ckpt_text_place *place)
{
	struct ckpt_scan scan;
	struct ckpt_token token;

	ckpt_scan_init(&scan, file->json, (size_t)file->header_bytes, 1);
	scan.at = at;
	place->kind = CKPT_TEXT_STRING;
	if (ckpt_scan_next(&scan, &token) != CKPT_SCAN_STRING)
		return false;
	put(place, token.at, token.end);
	return true;
}

/* Number i of the array at at. */
static bool
find_number(const struct safetensors_file *file, uint32_t at, uint64_t i,
	struct ckpt_text_place *place)
{
	struct ckpt_scan scan;
	struct ckpt_token token;

	ckpt_scan_init(&scan, file->json, (size_t)file->header_bytes, 1);
	scan.at = at;
	ckpt_scan_next(&scan, &token);
	place->kind = CKPT_TEXT_NUMBER;
	for (uint64_t k = 0; ckpt_scan_next(&scan, &token) == CKPT_SCAN_NUMBER;
		k++) {
		if (k < i)
			continue;
		put(place, token.at, token.end);
		return true;
	}
	return false;
}

/* ".data", ".data[j]", ".data[a,b]" */
static bool
find_data(const struct safetensors_file *file,
	const struct safetensors_tensor *t, const char *path,
	struct ckpt_text_place *place)
{
	uint64_t flat, row, at, width = 0;
	char *end;

	place->kind = CKPT_TEXT_PAYLOAD;
	if (t->begin > t->end ||
		!ckpt_add_u64(file->data_at, t->begin, &place->off))
		return false;
	place->len = safetensors_len(t);
	if (*path == '\0')
		return true;
	if (t->dtype)
		width = safetensors_dtype_width(t->dtype);
	if (*path != '[' || width == 0)
		return false;
	flat = strtoull(path + 1, &end, 10);
	if (*end == ',') {
		row = flat;
		flat = strtoull(end + 1, &end, 10);
		if (t->shape.n != 2 || flat >= SAFETENSORS_SHAPE(t)[1] ||
			!ckpt_mul_u64(row, SAFETENSORS_SHAPE(t)[1], &row) ||
			!ckpt_add_u64(row, flat, &flat))
			return false;
	}
	place->kind = CKPT_TEXT_ELEMENT;
	place->real = t->dtype->kind == SAFETENSORS_FLOAT;
	if (!is(end, "]") || !ckpt_mul_u64(flat, width, &at) ||
		!ckpt_within(at, width, place->len) ||
		!ckpt_add_u64(place->off, at, &place->off))
		return false;
	place->len = width;
	return true;
}

static bool
find_in_tensor(const struct safetensors_file *file,
	const struct safetensors_tensor *t, const char *path,
	struct ckpt_text_place *place)
{
	uint64_t i;

	if (begins(path, ".data") && strchr("[", path[5]))
		return find_data(file, t, path + 5, place);
	if (*path == '\0') {
		place->kind = CKPT_TEXT_ENTRY;
		put(place, t->at, t->after);
		return true;
	}
	if (is(path, ".name")) {
		place->field = &safetensors_tensor_fields[SAFETENSORS_NAME];
		return find_string(file, t->at, place);
	}
	if (is(path, ".dtype")) {
		place->field = &safetensors_tensor_fields[SAFETENSORS_DTYPE];
		return find_string(file, t->dtype_at, place);
	}
	if (begins(path, ".shape")) {
		path += strlen(".shape");
		place->field =
			&safetensors_tensor_fields[SAFETENSORS_DIMENSION];
		return take_index(&path, &i) && *path == '\0' &&
		       find_number(file, t->shape_at, i, place);
	}
	if (!begins(path, ".data_offsets"))
		return false;
	path += strlen(".data_offsets");
	place->field = &safetensors_tensor_fields[SAFETENSORS_RANGE];
	return take_index(&path, &i) && *path == '\0' &&
	       find_number(file, t->offsets_at, i, place);
}

static bool
find_in_entry(const struct safetensors_file *file,
	const struct safetensors_entry *e, const char *path,
	struct ckpt_text_place *place)
{
	if (*path == '\0') {
		place->kind = CKPT_TEXT_ENTRY;
		put(place, e->at, e->after);
		return true;
	}
	if (is(path, ".key")) {
		place->field = &safetensors_entry_fields[SAFETENSORS_KEY];
		return find_string(file, e->at, place);
	}
	place->field = &safetensors_entry_fields[SAFETENSORS_VALUE];
	return is(path, ".value") && find_string(file, e->value_at, place);
}

static bool
locate(const void *root, const char *path, struct ckpt_text_place *place)
{
	const struct safetensors_file *file = root;
	uint64_t i;

	memset(place, 0, sizeof *place);
	if (is(path, "header_bytes")) {
		place->kind = CKPT_TEXT_BINARY;
		place->field = &safetensors_file_rec.fields[0];
		place->len = SAFETENSORS_LENGTH_BYTES;
		return true;
	}
	if (begins(path, "metadata[")) {
		path += strlen("metadata");
		return take_index(&path, &i) && i < file->metadata.n &&
		       find_in_entry(file, &SAFETENSORS_ENTRIES(file)[i], path,
			       place);
	}
	if (!begins(path, "tensors["))
		return false;
	path += strlen("tensors");
	if (!take_index(&path, &i))
		return false;
	for (uint32_t k = 0; k < file->tensors.n; k++)
		if (SAFETENSORS_TENSORS(file)[k].number == i)
			return find_in_tensor(file,
				&SAFETENSORS_TENSORS(file)[k], path, place);
	return false;
}

const struct ckpt_text_rules safetensors_text_rules = {
	.length_off = 0,
	.locate = locate,
};
