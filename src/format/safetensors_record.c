/* SPDX-License-Identifier: MIT */
/*
 * One entry of the header: dtype, shape and data_offsets, in any order, each
 * once. In the reference profile an entry may also be the array of the three,
 * and a dtype the object {"F32":null}, because the format's own loader takes
 * them. An entry with a fault is reported and not kept.
 */
#include "format/safetensors.h"

#include <string.h>

#include "base/checked.h"
#include "format/safetensors_dtype.h"

enum { DTYPE, SHAPE, OFFSETS, FIELDS };

static const char *const names[FIELDS] = { "dtype", "shape", "data_offsets" };

/* The entry that is being read. */
struct entry {
	struct safetensors_judge *j;
	struct ckpt_scan *scan;
	struct ckpt_token token;
	struct safetensors_tensor tensor;
	uint32_t object; /* its number, once it has an unknown field */
	uint32_t key_at[FIELDS];
	uint32_t at[FIELDS], end[FIELDS]; /* of the values */
	bool seen[FIELDS];
	bool sound;
	uint64_t unknown; /* fields */
};

static void
report(struct entry *e, enum ckpt_code code, const char *rest,
	const char *expected, struct ckpt_value found)
{
	const struct ckpt_token *at = &e->token;

	e->sound = false;
	SAFETENSORS_REPORT(e->j, .code = code, .unit = safetensors_at(at->at),
		.path = safetensors_path(e->j, e->tensor.number, rest),
		.off = safetensors_at(at->at), .len = at->end - at->at,
		.expected = ckpt_v_text(expected), .found = found,
		.note = ckpt_walk_text(&e->j->walk, "tensor %s",
			safetensors_quote(e->j, &e->tensor.name)));
}

/* The value just begun is not what it should be; passes over it. */
static bool
wrong_type(struct entry *e, enum ckpt_code code, const char *rest,
	const char *expected)
{
	if (e->token.kind == CKPT_SCAN_FAULT)
		return false;
	report(e, code, rest, expected,
		ckpt_v_text(safetensors_kind_text(e->token.kind)));
	return safetensors_pass_unknown(e->j, e->scan, &e->token);
}

/* A dimension or an offset. */
static bool
take_size(struct entry *e, const char *rest, uint64_t *size)
{
	const struct ckpt_token *token = &e->token;
	size_t n = token->end - token->at;

	*size = token->u64;
	if (token->kind != CKPT_SCAN_NUMBER)
		return wrong_type(e, CKPT_D_ST_FIELD_TYPE, rest, "a number");
	if (!token->fits)
		report(e, CKPT_D_ST_FIELD_NUMBER, rest,
			"an integer from 0 to 18446744073709551615",
			ckpt_v_bytes(e->scan->p + token->at, n));
	return true;
}

/* ---- dtype -------------------------------------------------------------- */

static bool
take_dtype_name(struct entry *e)
{
	struct ckpt_str name;

	if (!ckpt_scan_text(e->scan, &e->token, &e->j->run->arena, &name))
		return false;
	if (name.n == 0)
		report(e, CKPT_D_ST_DTYPE_EMPTY, ".dtype", "a dtype",
			ckpt_v_text("\"\""));
	e->tensor.dtype = safetensors_dtype_find(name.p, name.n);
	return true;
}

/* {"F32":null} */
static bool
take_dtype_object(struct entry *e)
{
	struct ckpt_token *token = &e->token;
	struct ckpt_token object = *token, key;
	unsigned inside = e->scan->depth;

	if (ckpt_scan_next(e->scan, token) == CKPT_SCAN_KEY) {
		key = *token;
		if (ckpt_scan_next(e->scan, token) == CKPT_SCAN_NULL &&
			ckpt_scan_next(e->scan, token) ==
				CKPT_SCAN_OBJECT_END) {
			*token = key;
			return take_dtype_name(e);
		}
	}
	while (token->kind != CKPT_SCAN_FAULT && e->scan->depth >= inside)
		ckpt_scan_next(e->scan, token);
	if (token->kind == CKPT_SCAN_FAULT)
		return false;
	object.end = token->end;
	*token = object;
	report(e, CKPT_D_ST_FIELD_TYPE, ".dtype", "a string",
		ckpt_v_text("an object"));
	return true;
}

static bool
take_dtype(struct entry *e)
{
	if (e->token.kind == CKPT_SCAN_STRING)
		return take_dtype_name(e);
	if (e->token.kind == CKPT_SCAN_OBJECT && e->j->reference)
		return take_dtype_object(e);
	return wrong_type(e, CKPT_D_ST_FIELD_TYPE, ".dtype", "a string");
}

/* ---- shape and data_offsets --------------------------------------------- */

/* One more dimension; the product is taken from left to right. */
static bool
keep_dimension(struct entry *e, uint64_t size)
{
	struct safetensors_tensor *t = &e->tensor;
	uint64_t *grown;

	if (!ckpt_mul_u64(t->elements, size, &t->elements)) {
		t->overflow = true;
		t->elements = 0; /* and stays so */
	}
	if (t->shape.declared++ >= SAFETENSORS_RANK_KEPT)
		return true;
	grown = ckpt_arena_push(
		&e->j->run->arena, t->shape.p, t->shape.n, sizeof *grown);
	if (!grown)
		return false;
	t->shape.p = grown;
	grown[t->shape.n++] = size;
	return true;
}

static bool
take_shape(struct entry *e)
{
	uint64_t size;

	if (e->token.kind != CKPT_SCAN_ARRAY)
		return wrong_type(
			e, CKPT_D_ST_FIELD_TYPE, ".shape", "an array");
	while (ckpt_scan_next(e->scan, &e->token) != CKPT_SCAN_ARRAY_END)
		if (!take_size(e, ".shape", &size) || !keep_dimension(e, size))
			return false;
	return true;
}

static bool
take_offsets(struct entry *e)
{
	struct ckpt_token array = e->token;
	uint64_t n = 0, pair[2] = { 0 }, size;

	if (e->token.kind != CKPT_SCAN_ARRAY)
		return wrong_type(
			e, CKPT_D_ST_FIELD_TYPE, ".data_offsets", "an array");
	for (; ckpt_scan_next(e->scan, &e->token) != CKPT_SCAN_ARRAY_END; n++) {
		if (!take_size(e, ".data_offsets", &size))
			return false;
		if (n < 2)
			pair[n] = size;
	}
	e->tensor.begin = pair[0];
	e->tensor.end = pair[1];
	if (n == 2)
		return true;
	array.end = e->token.end;
	e->token = array;
	report(e, CKPT_D_ST_OFFSETS_COUNT, ".data_offsets", "two numbers",
		ckpt_v_u64(n));
	return true;
}

static bool
take_field(struct entry *e, unsigned field)
{
	e->at[field] = (uint32_t)e->token.at;
	switch (field) {
	case DTYPE: return take_dtype(e);
	case SHAPE: return take_shape(e);
	}
	return take_offsets(e);
}

/* ---- The entry as a whole ----------------------------------------------- */

static unsigned
field_of(const struct ckpt_str *key)
{
	for (unsigned i = 0; i < FIELDS; i++)
		if (strlen(names[i]) == key->n &&
			memcmp(names[i], key->p, key->n) == 0)
			return i;
	return FIELDS;
}

static void
report_unknown(struct entry *e, const struct ckpt_str *key)
{
	if (e->j->reference || e->unknown++ > 0)
		return;
	SAFETENSORS_REPORT(e->j, .code = CKPT_D_ST_FIELD_UNKNOWN,
		.unit = e->tensor.number,
		.path = safetensors_path(e->j, e->tensor.number, ""),
		.off = safetensors_at(e->token.at),
		.len = e->token.end - e->token.at,
		.expected = ckpt_v_text("dtype, shape, data_offsets"),
		.found = ckpt_v_bytes(key->p, key->n),
		.note = ckpt_walk_text(&e->j->walk, "tensor %s",
			safetensors_quote(e->j, &e->tensor.name)));
}

static bool
take_unknown(struct entry *e, const struct ckpt_str *key)
{
	report_unknown(e, key);
	if (e->unknown <= 1)
		e->object = e->j->objects++;
	safetensors_keep_key(e->j, e->scan, &e->token, e->object, true);
	ckpt_scan_next(e->scan, &e->token);
	return safetensors_pass_unknown(e->j, e->scan, &e->token);
}

/* first is what the entry was before the field came again. */
static void
report_repeated(struct entry *e, unsigned field, const struct entry *first)
{
	struct safetensors_judge *j = e->j;
	uint64_t off = safetensors_at(e->key_at[field]);

	e->sound = false;
	SAFETENSORS_REPORT(j, .code = CKPT_D_ST_FIELD_REPEATED, .unit = off,
		.path = safetensors_path(j, e->tensor.number,
			ckpt_walk_text(&j->walk, ".%s", names[field])),
		.off = off, .len = e->end[field] - e->key_at[field],
		.expected = ckpt_v_text(
			ckpt_walk_text(&j->walk, "%s once", names[field])),
		.found = ckpt_v_text(ckpt_walk_text(&j->walk,
			"%s at offset %llu, too", names[field],
			(unsigned long long)safetensors_at(
				first->key_at[field]))),
		.note = ckpt_walk_text(&j->walk, "tensor %s: %s",
			safetensors_quote(j, &e->tensor.name),
			safetensors_readers(j,
				safetensors_raw(
					j, first->at[field], first->end[field]),
				safetensors_raw(
					j, e->at[field], e->end[field]))));
}

/* A field that the format knows, behind its key. */
static bool
take_known(struct entry *e, unsigned field)
{
	const struct entry first = *e;

	e->key_at[field] = (uint32_t)e->token.at;
	ckpt_scan_next(e->scan, &e->token);
	if (!take_field(e, field))
		return false;
	e->end[field] = (uint32_t)e->scan->at;
	if (e->seen[field])
		report_repeated(e, field, &first);
	e->seen[field] = true;
	return true;
}

static bool
take_object(struct entry *e)
{
	struct ckpt_token *token = &e->token;
	struct ckpt_token object = *token;

	while (ckpt_scan_next(e->scan, token) == CKPT_SCAN_KEY) {
		struct ckpt_str key;
		unsigned field;

		if (!ckpt_scan_text(e->scan, token, &e->j->run->arena, &key))
			return false;
		field = field_of(&key);
		if (field == FIELDS) {
			if (!take_unknown(e, &key))
				return false;
			continue;
		}
		if (!take_known(e, field))
			return false;
	}
	if (token->kind != CKPT_SCAN_OBJECT_END)
		return false;
	object.end = token->end;
	for (unsigned i = 0; i < FIELDS; i++) {
		if (e->seen[i])
			continue;
		*token = object;
		report(e, CKPT_D_ST_FIELD_MISSING, "", names[i],
			ckpt_v_text("nothing"));
	}
	token->end = object.end;
	return true;
}

/* ["F32",[1],[0,4]] */
static bool
take_array(struct entry *e)
{
	struct ckpt_token *token = &e->token;
	struct ckpt_token array = *token;
	unsigned n = 0;

	for (; ckpt_scan_next(e->scan, token) != CKPT_SCAN_ARRAY_END; n++)
		if (n < FIELDS ? !take_field(e, n)
			       : !ckpt_scan_pass(e->scan, token))
			return false;
	array.end = token->end;
	*token = array;
	if (n != FIELDS)
		report(e, CKPT_D_ST_RECORD_TYPE, "", "three elements",
			ckpt_v_u64(n));
	return true;
}

static bool
keep(struct entry *e)
{
	struct ckpt_array *list = &e->j->file->tensors;
	struct safetensors_tensor *grown, *t = &e->tensor;

	t->dtype_at = e->at[DTYPE];
	t->shape_at = e->at[SHAPE];
	t->offsets_at = e->at[OFFSETS];
	t->after = (uint32_t)e->token.end;
	grown = ckpt_arena_push(
		&e->j->run->arena, list->p, list->n, sizeof *grown);
	if (!grown)
		return false;
	list->p = grown;
	grown[list->n++] = *t;
	list->declared = list->n;
	return true;
}

/* Of an entry with a fault, where its name is. */
static bool
keep_faulty(struct entry *e)
{
	struct safetensors_judge *j = e->j;
	struct safetensors_faulty *grown = ckpt_arena_push(
		&j->run->arena, j->faulty, j->nfaulty, sizeof *grown);

	if (!grown)
		return false;
	j->faulty = grown;
	grown[j->nfaulty++] = (struct safetensors_faulty){ e->tensor.at,
		(uint32_t)e->tensor.number };
	return true;
}

bool
safetensors_parse_record(struct safetensors_judge *j, struct ckpt_scan *scan,
	const struct ckpt_token *key, const struct ckpt_str *name)
{
	struct entry e = { .j = j, .scan = scan, .sound = true };
	bool on;

	e.tensor.name = *name;
	e.tensor.at = (uint32_t)key->at;
	e.tensor.number = j->entries;
	e.tensor.elements = 1;
	e.tensor.hash = ckpt_scan_hash(scan->p, scan->n, key->at);
	ckpt_scan_next(scan, &e.token);
	if (e.token.kind == CKPT_SCAN_OBJECT)
		on = take_object(&e);
	else if (e.token.kind == CKPT_SCAN_ARRAY && j->reference)
		on = take_array(&e);
	else
		on = wrong_type(&e, CKPT_D_ST_RECORD_TYPE, "", "an object");
	if (on)
		on = e.sound ? keep(&e) : keep_faulty(&e);
	j->entries++;
	return on;
}
