/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WIRE_EMIT_H
#define CKPT_WIRE_EMIT_H

/*
 * The emitter encodes a record by the rows that decode it. It writes what is
 * in the structure, lies included: counts and lengths that are fields of
 * their own are written as they stand, elements as many as there are.
 */

#include "base/buf.h"
#include "wire/schema.h"

void ckpt_emit_record(
	struct ckpt_buf *buf, const struct ckpt_record *rec, const void *base);

#endif
