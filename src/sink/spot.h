/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_SPOT_H
#define CKPT_SINK_SPOT_H

/*
 * One byte of a file and the value that it is part of. Everything is borrowed
 * from the span index.
 */

#include <jansson.h>

#include "sink/words.h"

struct ckpt_spot {
	const struct ckpt_owner *owner;      /* NULL: behind the end */
	const struct ckpt_span_field *field; /* of a header, or NULL */
	const struct ckpt_span *span;        /* of the payload, or NULL */
	uint64_t off, len;                   /* the value; the byte alone if
					      * it is part of none */
	uint64_t element;                    /* its number in the tensor */
	bool has_element;
};

/* False behind the end of the file. */
bool ckpt_spot_at(
	struct ckpt_spot *spot, const struct ckpt_spans *spans, uint64_t off);

/* The value if the first n of its len bytes were these; nothing if it is no
 * value, or not one that so few bytes tell. */
void ckpt_spot_write(struct ckpt_buf *buf, const struct ckpt_spot *spot,
	const uint8_t *bytes, size_t n);
/* The same as JSON, null where there is nothing. */
json_t *ckpt_spot_json(
	const struct ckpt_spot *spot, const uint8_t *bytes, size_t n);

/* One element of a tensor as JSON; bits is the element's bytes as a
 * little-endian number. */
json_t *ckpt_number_json(const struct ckpt_span *span, uint64_t bits);

#endif
