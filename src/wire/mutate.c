/* SPDX-License-Identifier: MIT */
/*
 * The mutator: what `ckforge mutate` and the recipes of the corpus do to the
 * fields of a file. It looks only at rows, so it can reach every field that a
 * format has and knows none of them. Arrays are copied when they change; the
 * old ones stay in the arena.
 */
#include "wire/mutate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/literal.h"

/* ---- what all edits need ----------------------------------------------- */

static enum ckpt_edit_status
bad(struct ckpt_mutation *m, const char *why)
{
	m->why = why;
	return CKPT_EDIT_BAD;
}

static char *
path_copy(struct ckpt_mutation *m, const char *words, size_t n)
{
	m->path = words;
	m->path_len = n;
	return ckpt_arena_strndup(m->arena, words, n);
}

static struct ckpt_value
shown(const struct ckpt_field *field, const void *value)
{
	struct ckpt_str str;

	switch (field->type) {
	case CKPT_U8:
	case CKPT_U16:
	case CKPT_U32:
	case CKPT_U64: return ckpt_v_u64(ckpt_slot_load(value, 0, field->type));
	case CKPT_F64: return ckpt_v_f64(ckpt_slot_load(value, 0, field->type));
	case CKPT_MAGIC: return ckpt_v_bytes(value, 8);
	case CKPT_STR: memcpy(&str, value, sizeof str); break;
	case CKPT_REC: return ckpt_v_text(field->rec->name);
	}
	return ckpt_v_bytes(str.p, str.n);
}

/* A copy of a value that is about to be overwritten in place. */
static struct ckpt_value
kept(struct ckpt_mutation *m, const struct ckpt_field *field, const void *value)
{
	struct ckpt_value v = shown(field, value);

	if (v.kind == CKPT_V_BYTES)
		v.p = ckpt_arena_strndup(m->arena, v.p ? v.p : "", v.n);
	return v.kind == CKPT_V_BYTES && !v.p ? ckpt_v_none() : v;
}

/* Text into a member or element. */
static enum ckpt_edit_status
store(struct ckpt_mutation *m, const struct ckpt_field *field, void *value,
	const char *text)
{
	struct ckpt_str bytes;
	uint64_t bits;

	if (field->type == CKPT_REC)
		return bad(m, "a record has no value of its own");
	if (field->type != CKPT_STR && field->type != CKPT_MAGIC) {
		if (!ckpt_number_read(field->type, field->want, text, &bits))
			return bad(m, field->type == CKPT_F64
					      ? "not a floating-point number"
					      : "not a number that fits");
		ckpt_slot_store(value, 0, field->type, bits);
		return CKPT_EDIT_OK;
	}
	if (!ckpt_bytes_read(m->arena, text, &bytes))
		return bad(m, "neither hex: and pairs of digits nor text with "
			      "\\xHH");
	if (!bytes.p)
		return CKPT_EDIT_NO_MEMORY;
	if (field->type == CKPT_STR) {
		memcpy(value, &bytes, sizeof bytes);
		return CKPT_EDIT_OK;
	}
	if (bytes.n != sizeof(struct ckpt_magic))
		return bad(m, "the field has eight bytes");
	memcpy(value, bytes.p, sizeof(struct ckpt_magic));
	return CKPT_EDIT_OK;
}

/* ---- set ---------------------------------------------------------------- */

/* The number in front of an array or a string: both keep it last. */
static enum ckpt_edit_status
set_declared(struct ckpt_mutation *m, size_t slot, const char *text)
{
	uint64_t bits;
	uint32_t old, new;

	memcpy(&old, (const uint8_t *)m->at.value + slot, sizeof old);
	if (!ckpt_number_read(CKPT_U32, NULL, text, &bits))
		return bad(m, "not a number that fits");
	new = (uint32_t)bits;
	memcpy((uint8_t *)m->at.value + slot, &new, sizeof new);
	m->before = ckpt_v_u64(old);
	m->after = ckpt_v_u64(new);
	return CKPT_EDIT_OK;
}

static enum ckpt_edit_status
set_value(struct ckpt_mutation *m, const char *text)
{
	const struct ckpt_field *field = m->at.field;
	enum ckpt_edit_status status;
	struct ckpt_str old = { 0 }, new;

	if (m->at.whole_array)
		return bad(m, "an array has no value of its own; name an "
			      "element or .count");
	if (field->type == CKPT_STR)
		memcpy(&old, m->at.value, sizeof old);
	m->before = kept(m, field, m->at.value);
	status = store(m, field, m->at.value, text);
	if (status != CKPT_EDIT_OK)
		return status;
	m->after = kept(m, field, m->at.value);
	if (m->at.part == CKPT_PLACE_BYTES) {
		memcpy(&new, m->at.value, sizeof new);
		new.declared = old.declared;
		memcpy(m->at.value, &new, sizeof new);
	}
	return CKPT_EDIT_OK;
}

enum ckpt_edit_status
ckpt_mutate_set(struct ckpt_mutation *m, const char *words)
{
	const char *equals = strchr(words, '=');
	char *path;

	if (!equals)
		return bad(m, "PATH=VALUE was expected");
	path = path_copy(m, words, (size_t)(equals - words));
	if (!path)
		return CKPT_EDIT_NO_MEMORY;
	if (!ckpt_path_find(m->rec, m->base, 0, path, &m->at))
		return CKPT_EDIT_NO_PATH;
	m->off = m->at.off;
	switch (m->at.part) {
	case CKPT_PLACE_COUNT:
		return set_declared(
			m, offsetof(struct ckpt_array, declared), equals + 1);
	case CKPT_PLACE_LENGTH:
		return set_declared(
			m, offsetof(struct ckpt_str, declared), equals + 1);
	case CKPT_PLACE_VALUE:
	case CKPT_PLACE_BYTES: break;
	}
	return set_value(m, equals + 1);
}

/* ---- arrays ------------------------------------------------------------- */

/* "PATH[i]", n bytes of it: m->at is the array then; i may be its count. */
static enum ckpt_edit_status
find_array(struct ckpt_mutation *m, const char *words, size_t n,
	struct ckpt_array *array, uint64_t *index)
{
	char *path = path_copy(m, words, n), *open, *end;

	if (!path)
		return CKPT_EDIT_NO_MEMORY;
	open = strrchr(path, '[');
	if (!open || n < 3 || path[n - 1] != ']' || open[1] < '0' ||
		open[1] > '9')
		return bad(m, "an element of an array was expected: PATH[i]");
	errno = 0;
	*index = strtoull(open + 1, &end, 10);
	*open = '\0';
	if (errno != 0 || end != path + n - 1 ||
		!ckpt_path_find(m->rec, m->base, 0, path, &m->at))
		return CKPT_EDIT_NO_PATH;
	if (!m->at.whole_array || m->at.part != CKPT_PLACE_VALUE)
		return bad(m, "this is no array");
	memcpy(array, m->at.value, sizeof *array);
	return *index > array->n ? CKPT_EDIT_NO_PATH : CKPT_EDIT_OK;
}

/* The same for an element that must be there; finds its offset. */
static enum ckpt_edit_status
find_element(struct ckpt_mutation *m, const char *words, size_t n,
	struct ckpt_array *array, uint64_t *index)
{
	enum ckpt_edit_status status = find_array(m, words, n, array, index);
	struct ckpt_place element;
	char *path;

	if (status != CKPT_EDIT_OK)
		return status;
	path = path_copy(m, words, n);
	if (!path)
		return CKPT_EDIT_NO_MEMORY;
	if (!ckpt_path_find(m->rec, m->base, 0, path, &element))
		return CKPT_EDIT_NO_PATH;
	m->off = element.off;
	m->before = kept(m, element.field, element.value);
	m->after = ckpt_v_none();
	return CKPT_EDIT_OK;
}

/* A copy of the array with room for one more element behind index, and
 * without the one at index if drop. */
static enum ckpt_edit_status
reshape(struct ckpt_mutation *m, struct ckpt_array *array, uint64_t index,
	uint32_t drop, uint32_t room)
{
	size_t size = ckpt_field_size(m->at.field);
	uint64_t rest = array->n - index - drop;
	uint8_t *old = array->p, *p;

	if (array->n == UINT32_MAX)
		return bad(m, "the array is full");
	p = ckpt_arena_zalloc(m->arena, ((size_t)array->n + 1) * size);
	if (!p)
		return CKPT_EDIT_NO_MEMORY;
	if (index > 0)
		memcpy(p, old, index * size);
	if (rest > 0)
		memcpy(p + (index + room) * size, old + (index + drop) * size,
			rest * size);
	array->p = p;
	array->n += room - drop;
	memcpy(m->at.value, array, sizeof *array);
	return CKPT_EDIT_OK;
}

enum ckpt_edit_status
ckpt_mutate_delete(struct ckpt_mutation *m, const char *words)
{
	struct ckpt_array array;
	enum ckpt_edit_status status =
		find_element(m, words, strlen(words), &array, &m->index);

	return status != CKPT_EDIT_OK ? status
				      : reshape(m, &array, m->index, 1, 0);
}

/* A structure that owns arrays must not share them with its copy. */
static bool
copy_arrays(struct ckpt_mutation *m, const struct ckpt_record *rec, void *base)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *field = &rec->fields[i];
		uint8_t *slot = (uint8_t *)base + field->slot;
		struct ckpt_array array;
		void *p;

		if (!field->is_array) {
			if (field->type == CKPT_REC &&
				!copy_arrays(m, field->rec, slot))
				return false;
			continue;
		}
		memcpy(&array, slot, sizeof array);
		p = ckpt_arena_alloc(
			m->arena, array.n * ckpt_field_size(field));
		if (!p)
			return false;
		if (array.n)
			memcpy(p, array.p, array.n * ckpt_field_size(field));
		array.p = p;
		memcpy(slot, &array, sizeof array);
	}
	return true;
}

enum ckpt_edit_status
ckpt_mutate_duplicate(struct ckpt_mutation *m, const char *words)
{
	struct ckpt_array array;
	enum ckpt_edit_status status =
		find_element(m, words, strlen(words), &array, &m->index);
	size_t size;
	uint8_t *copy;

	if (status != CKPT_EDIT_OK)
		return status;
	status = reshape(m, &array, m->index + 1, 0, 1);
	if (status != CKPT_EDIT_OK)
		return status;
	size = ckpt_field_size(m->at.field);
	copy = (uint8_t *)array.p + (m->index + 1) * size;
	memcpy(copy, copy - size, size);
	m->after = m->before;
	m->before = ckpt_v_none();
	if (m->at.field->type == CKPT_REC &&
		!copy_arrays(m, m->at.field->rec, copy))
		return CKPT_EDIT_NO_MEMORY;
	return CKPT_EDIT_OK;
}

enum ckpt_edit_status
ckpt_mutate_insert(struct ckpt_mutation *m, const char *words)
{
	const char *equals = strchr(words, '=');
	_Alignas(16) uint8_t value[64];
	struct ckpt_array array;
	enum ckpt_edit_status status;
	size_t size;

	if (!equals)
		return bad(m, "PATH[i]=VALUE was expected");
	status = find_array(
		m, words, (size_t)(equals - words), &array, &m->index);
	if (status != CKPT_EDIT_OK)
		return status;
	if (m->at.field->type == CKPT_REC)
		return bad(m, "a record cannot be written down: duplicate one "
			      "and set its fields");
	size = ckpt_field_size(m->at.field);
	status = store(m, m->at.field, value, equals + 1);
	if (status == CKPT_EDIT_OK)
		status = reshape(m, &array, m->index, 0, 1);
	if (status != CKPT_EDIT_OK)
		return status;
	memcpy((uint8_t *)array.p + m->index * size, value, size);
	m->off = m->at.off;
	m->before = ckpt_v_none();
	m->after = kept(m, m->at.field, value);
	return CKPT_EDIT_OK;
}

enum ckpt_edit_status
ckpt_mutate_swap(struct ckpt_mutation *m, const char *words)
{
	const char *comma = strchr(words, ',');
	struct ckpt_array array, second;
	enum ckpt_edit_status status;
	uint8_t *a, *b, *spare;
	void *value;
	size_t size;

	if (!comma)
		return bad(m, "PATH[i],PATH[j] was expected");
	status = find_element(
		m, comma + 1, strlen(comma + 1), &second, &m->other);
	value = m->at.value;
	if (status == CKPT_EDIT_OK)
		status = find_element(
			m, words, (size_t)(comma - words), &array, &m->index);
	if (status != CKPT_EDIT_OK)
		return status;
	if (m->at.value != value)
		return bad(m, "the two are not of one array");
	size = ckpt_field_size(m->at.field);
	a = (uint8_t *)array.p + m->index * size;
	b = (uint8_t *)array.p + m->other * size;
	spare = ckpt_arena_alloc(m->arena, size);
	if (!spare)
		return CKPT_EDIT_NO_MEMORY;
	m->after = kept(m, m->at.field, b);
	memcpy(spare, a, size);
	memmove(a, b, size);
	memcpy(b, spare, size);
	return CKPT_EDIT_OK;
}

/* ---- offsets ------------------------------------------------------------ */

void
ckpt_mutate_settle(const struct ckpt_record *rec, void *base, uint64_t at)
{
	if (rec->at_slot)
		ckpt_slot_store(base, rec->at_slot, CKPT_U64, at);
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *field = &rec->fields[i];
		uint8_t *slot = (uint8_t *)base + field->slot;
		uint64_t inner = at;
		struct ckpt_array array;

		if (!ckpt_field_present(field, base))
			continue;
		at += ckpt_field_wire(field, base);
		if (field->type != CKPT_REC)
			continue;
		if (!field->is_array) {
			ckpt_mutate_settle(field->rec, slot, inner);
			continue;
		}
		memcpy(&array, slot, sizeof array);
		inner += field->prefixed ? 4 : 0;
		for (uint32_t k = 0; k < array.n; k++) {
			void *element = ckpt_array_at(field, base, k);

			ckpt_mutate_settle(field->rec, element, inner);
			inner += ckpt_record_wire(field->rec, element);
		}
	}
}
