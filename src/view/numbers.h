/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_NUMBERS_H
#define CKPT_VIEW_NUMBERS_H

/* The same bytes as numbers of every type, and doubles taken apart. */

#include "base/buf.h"

/* Pairs of types of the same width, narrow ones first: "u8 i8", "u16 i16",
 * "f16 bf16", ... NULL behind the last. */
const char *view_number_pair(size_t i);
/* Both numbers of pair i, "205  -51"; bytes are little-endian. Nothing if n
 * bytes are too few. */
void view_number_pair_write(
	struct ckpt_buf *buf, size_t i, const uint8_t *bytes, size_t n);

/* A double as it is typed to search for it: the shortest text that reads back
 * to it, or "NaN". */
void view_f64_write(struct ckpt_buf *buf, double x);

/* "sign +, exponent -4, mantissa 0x999999999999a, normal". The exponent is
 * that of two; that of a subnormal is that of the smallest normal. */
void view_f64_parts_write(struct ckpt_buf *buf, uint64_t bits);

/* The next double below or above; false for NaN and behind infinity. */
bool view_f64_below(uint64_t bits, uint64_t *below);
bool view_f64_above(uint64_t bits, uint64_t *above);

#endif
