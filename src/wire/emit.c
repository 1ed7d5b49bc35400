/* SPDX-License-Identifier: MIT */
/*
 * Encoding by rows: the mirror of walk.c.
 */
#include "wire/emit.h"

#include <string.h>

#include "base/bytes.h"

static void
emit_value(
	struct ckpt_buf *buf, const struct ckpt_field *field, const void *value)
{
	uint8_t b[8];
	struct ckpt_str str;

	if (field->type == CKPT_REC) {
		ckpt_emit_record(buf, field->rec, value);
		return;
	}
	if (field->type == CKPT_STR) {
		memcpy(&str, value, sizeof str);
		ckpt_store_u32(b, str.declared);
		ckpt_buf_add(buf, b, 4);
		ckpt_buf_add(buf, str.p, str.n);
		return;
	}
	if (field->type == CKPT_MAGIC)
		memcpy(b, value, sizeof b);
	else
		ckpt_store_u64(b, ckpt_slot_load(value, 0, field->type));
	ckpt_buf_add(buf, b, ckpt_type_width(field->type));
}

static void
emit_array(
	struct ckpt_buf *buf, const struct ckpt_field *field, const void *base)
{
	struct ckpt_array array;
	uint8_t b[4];

	memcpy(&array, (const uint8_t *)base + field->slot, sizeof array);
	if (field->prefixed) {
		ckpt_store_u32(b, array.declared);
		ckpt_buf_add(buf, b, sizeof b);
	}
	for (uint32_t i = 0; i < array.n; i++)
		emit_value(buf, field, ckpt_array_at(field, base, i));
}

void
ckpt_emit_record(
	struct ckpt_buf *buf, const struct ckpt_record *rec, const void *base)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *field = &rec->fields[i];

		if (!ckpt_field_present(field, base))
			continue;
		if (field->is_array)
			emit_array(buf, field, base);
		else
			emit_value(buf, field,
				(const uint8_t *)base + field->slot);
	}
}
