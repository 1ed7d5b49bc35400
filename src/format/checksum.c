/* SPDX-License-Identifier: MIT */
/*
 * Where the checksum of a file is. Rows flagged CKPT_HASH_AS_ZERO say so; a
 * checksum that a tool can find in a file whose header means nothing stands in
 * front of every field of varying size, so a structure of zeros leads to it.
 */
#include <stdlib.h>

#include "format/format.h"

static const struct ckpt_field *
flagged(const struct ckpt_record *rec, const void *base, unsigned flag,
	uint64_t *off)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *field = &rec->fields[i], *inner;
		const uint8_t *slot = (const uint8_t *)base + field->slot;
		uint64_t at = *off;

		if (field->flags & flag)
			return field;
		if (field->type == CKPT_REC && !field->is_array) {
			inner = flagged(field->rec, slot, flag, &at);
			if (inner) {
				*off = at;
				return inner;
			}
		}
		*off += ckpt_field_wire(field, base);
	}
	return NULL;
}

const struct ckpt_field *
ckpt_format_flagged(const struct ckpt_format *format, const void *root,
	unsigned flag, uint64_t *off)
{
	*off = 0;
	return flagged(format->root, root, flag, off);
}

bool
ckpt_format_checksum(const struct ckpt_format *format, uint64_t *off)
{
	const struct ckpt_field *field = NULL;
	void *zeros;

	/* Rows of text do not say where fields are. */
	if (!format->draft || !format->root)
		return false;
	zeros = calloc(1, format->root->size);
	if (zeros)
		field = ckpt_format_flagged(
			format, zeros, CKPT_HASH_AS_ZERO, off);
	free(zeros);
	return field && ckpt_type_width(field->type) == 8;
}
