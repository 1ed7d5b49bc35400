/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_ALIAS_H
#define CKPT_FORMAT_ALIAS_H

/*
 * Records by role and name: "param:final_norm.gain.offset" is the path
 * "records[7].offset" of some file. Which aliases there are is said by the
 * rows of a format; they lead to records that own payload.
 */

#include "format/format.h"

/* The array of records that own payload, an array member of the root record
 * whose rows have an offset and a length; NULL if the format has none. */
const struct ckpt_field *ckpt_payload_records(const struct ckpt_format *format);

/* path with a leading alias replaced, in memory of the arena; path itself
 * when it begins with none, or with one that leads nowhere in this file. NULL
 * when memory is used up. A name may hold dots: the longest name that a
 * record has is taken. */
const char *ckpt_alias_expand(const struct ckpt_format *format,
	const void *root, struct ckpt_arena *arena, const char *path);

#endif
