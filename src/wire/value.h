/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WIRE_VALUE_H
#define CKPT_WIRE_VALUE_H

/* Values and legal values as text: the one way to show them. */

#include "base/buf.h"
#include "wire/schema.h"

/* A value of a finding or an event; bytes escaped and bounded. */
void ckpt_value_write(struct ckpt_buf *buf, const struct ckpt_value *value);

/* A decoded field: tag names beside numbers, hexadecimal where the row says
 * so. */
void ckpt_field_value_write(struct ckpt_buf *buf,
	const struct ckpt_field *field, const struct ckpt_value *value);

/* What a field may hold: "1 literal, 2 byte-bpe"; nothing for any value. */
void ckpt_want_write(struct ckpt_buf *buf, const struct ckpt_want *want);

/* The name of a tag, or NULL. */
const char *ckpt_tag_name(const struct ckpt_want *want, uint64_t value);

/* A double so that it reads back to the same bits, and its bits. */
void ckpt_f64_write(struct ckpt_buf *buf, uint64_t bits);
/* The same of a value that a file has as another type, of width bits: the bits
 * are those of the file, not those of the double that the value is. */
void ckpt_float_write(
	struct ckpt_buf *buf, double value, uint64_t bits, unsigned width);

/* Whether a value is legal. */
bool ckpt_want_holds(
	const struct ckpt_want *want, const struct ckpt_value *value);

#endif
