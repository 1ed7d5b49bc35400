/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WIRE_LITERAL_H
#define CKPT_WIRE_LITERAL_H

/* Values written by people, for fields of the rows. */

#include "base/arena.h"
#include "wire/schema.h"

/* A number: decimal or 0x; tag names if want has some; for doubles decimal,
 * hexadecimal floats, nan, inf, and bits:HEX16. False if it is none or does
 * not fit the type. */
CKPT_MUST_USE bool ckpt_number_read(enum ckpt_type type,
	const struct ckpt_want *want, const char *text, uint64_t *bits);

/* Bytes: "hex:00ff", or text in which \xHH and \\ are known. p is NULL if
 * memory is used up. */
CKPT_MUST_USE bool ckpt_bytes_read(
	struct ckpt_arena *arena, const char *text, struct ckpt_str *bytes);

#endif
