/* SPDX-License-Identifier: MIT */
/*
 * What the rows alone tell: widths, member access, sizes on the wire.
 */
#include "wire/schema.h"

#include <string.h>

static const struct {
	const char *name;
	unsigned width;
	size_t size;
} types[] = {
	[CKPT_U8] = { "u8", 1, 1 },
	[CKPT_U16] = { "u16", 2, 2 },
	[CKPT_U32] = { "u32", 4, 4 },
	[CKPT_U64] = { "u64", 8, 8 },
	[CKPT_F64] = { "f64", 8, 8 },
	[CKPT_MAGIC] = { "bytes", 8, sizeof(struct ckpt_magic) },
	[CKPT_STR] = { "string", 0, sizeof(struct ckpt_str) },
	[CKPT_REC] = { "record", 0, 0 },
};

unsigned
ckpt_type_width(enum ckpt_type type)
{
	return types[type].width;
}

const char *
ckpt_type_name(enum ckpt_type type)
{
	return types[type].name;
}

const struct ckpt_field *
ckpt_record_field(const struct ckpt_record *rec, const char *name)
{
	for (size_t i = 0; i < rec->nfields; i++)
		if (strcmp(rec->fields[i].name, name) == 0)
			return &rec->fields[i];
	return NULL;
}

bool
ckpt_field_present(const struct ckpt_field *field, const void *base)
{
	const struct ckpt_condition *when = &field->when;

	return !when->set ||
	       ckpt_slot_load(base, when->slot, when->type) == when->value;
}

uint64_t
ckpt_slot_load(const void *base, size_t slot, enum ckpt_type type)
{
	const uint8_t *p = (const uint8_t *)base + slot;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (type) {
	case CKPT_U8: return *p;
	case CKPT_U16: memcpy(&v16, p, sizeof v16); return v16;
	case CKPT_U32: memcpy(&v32, p, sizeof v32); return v32;
	case CKPT_U64:
	case CKPT_F64:
	case CKPT_MAGIC: memcpy(&v64, p, sizeof v64); return v64;
	case CKPT_STR:
	case CKPT_REC: break;
	}
	return 0;
}

void
ckpt_slot_store(void *base, size_t slot, enum ckpt_type type, uint64_t value)
{
	uint8_t *p = (uint8_t *)base + slot;
	uint16_t v16 = (uint16_t)value;
	uint32_t v32 = (uint32_t)value;

	switch (type) {
	case CKPT_U8: *p = (uint8_t)value; break;
	case CKPT_U16: memcpy(p, &v16, sizeof v16); break;
	case CKPT_U32: memcpy(p, &v32, sizeof v32); break;
	case CKPT_U64:
	case CKPT_F64:
	case CKPT_MAGIC: memcpy(p, &value, sizeof value); break;
	case CKPT_STR:
	case CKPT_REC: break;
	}
}

size_t
ckpt_field_size(const struct ckpt_field *field)
{
	return field->type == CKPT_REC ? field->rec->size
				       : types[field->type].size;
}

void *
ckpt_array_at(const struct ckpt_field *field, const void *base, uint64_t i)
{
	struct ckpt_array array;

	memcpy(&array, (const uint8_t *)base + field->slot, sizeof array);
	return (uint8_t *)array.p + i * ckpt_field_size(field);
}

void
ckpt_twins_bind(const struct ckpt_record *rec, const void *base, void *state)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *f = &rec->fields[i];

		if (f->type == CKPT_REC && !f->is_array)
			ckpt_twins_bind(
				f->rec, (const uint8_t *)base + f->slot, state);
		else if (f->twin.set)
			ckpt_slot_store(state, f->twin.slot, f->type,
				ckpt_slot_load(base, f->slot, f->type));
	}
}

void
ckpt_twins_fill(const struct ckpt_record *rec, void *base, const void *state)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *f = &rec->fields[i];

		if (f->type == CKPT_REC && !f->is_array)
			ckpt_twins_fill(
				f->rec, (uint8_t *)base + f->slot, state);
		else if (f->twin.set)
			ckpt_slot_store(base, f->slot, f->type,
				ckpt_slot_load(state, f->twin.slot, f->type));
	}
}

uint64_t
ckpt_value_wire(const struct ckpt_field *field, const void *value)
{
	struct ckpt_str str;

	if (field->type == CKPT_REC)
		return ckpt_record_wire(field->rec, value);
	if (field->type != CKPT_STR)
		return types[field->type].width;
	memcpy(&str, value, sizeof str);
	return 4 + (uint64_t)str.n;
}

uint64_t
ckpt_field_wire(const struct ckpt_field *field, const void *base)
{
	const uint8_t *slot = (const uint8_t *)base + field->slot;
	struct ckpt_array array;
	uint64_t n;

	if (!ckpt_field_present(field, base))
		return 0;
	if (!field->is_array)
		return ckpt_value_wire(field, slot);
	memcpy(&array, slot, sizeof array);
	n = field->prefixed ? 4 : 0;
	if (ckpt_type_width(field->type))
		return n + (uint64_t)array.n * ckpt_type_width(field->type);
	for (uint32_t i = 0; i < array.n; i++)
		n += ckpt_value_wire(field, ckpt_array_at(field, base, i));
	return n;
}

uint64_t
ckpt_record_wire(const struct ckpt_record *rec, const void *base)
{
	uint64_t n = 0;

	for (size_t i = 0; i < rec->nfields; i++)
		n += ckpt_field_wire(&rec->fields[i], base);
	return n;
}
