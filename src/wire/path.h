/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WIRE_PATH_H
#define CKPT_WIRE_PATH_H

/*
 * Field paths: "records[12].dims[1]". Written while walking, and found again
 * in a decoded structure, where a path gives the member and its bytes in the
 * file; so a rule names a path and nothing else.
 */

#include "base/buf.h"
#include "wire/schema.h"

/* The walker's own stack of where it is. */
struct ckpt_path {
	const struct ckpt_path *up;
	const char *name; /* NULL at the root */
	bool indexed;
	uint64_t index;
};

void ckpt_path_write(const struct ckpt_path *path, struct ckpt_buf *buf);

enum ckpt_place_part {
	CKPT_PLACE_VALUE,
	CKPT_PLACE_COUNT,  /* the count in front of an array */
	CKPT_PLACE_LENGTH, /* the length in front of a string */
	CKPT_PLACE_BYTES,  /* a string without its length */
};

/* Where a path leads. */
struct ckpt_place {
	const struct ckpt_field *field;
	enum ckpt_place_part part;
	bool whole_array;  /* the path named an array without index */
	void *base;        /* struct that holds the member */
	void *value;       /* the member or element */
	uint64_t index;    /* of the element */
	uint64_t off, len; /* bytes in the file */
};

/* Follows path from a record decoded at base, whose first wire byte is at
 * file offset at. False when the path does not exist there. */
CKPT_MUST_USE bool ckpt_path_find(const struct ckpt_record *rec, void *base,
	uint64_t at, const char *path, struct ckpt_place *place);

#endif
