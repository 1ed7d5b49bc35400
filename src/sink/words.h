/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_WORDS_H
#define CKPT_SINK_WORDS_H

/*
 * Spans, owners and elements in words. Whatever came from the file is escaped
 * and bounded; what is written can be printed as it is.
 */

#include "base/buf.h"
#include "sink/spans.h"

struct ckpt_alias; /* format/format.h */

/* The name of the root's array of records, for paths: "records". */
const char *ckpt_records_name(const struct ckpt_format *format);

/* "2870 (0xb36)" */
void ckpt_offset_write(struct ckpt_buf *buf, uint64_t off);
/* "[0,38)"; "[8,...)" if the end does not fit 64 bits. */
void ckpt_range_write(struct ckpt_buf *buf, uint64_t off, uint64_t len);
/* "literal-token-0" */
void ckpt_span_name_write(struct ckpt_buf *buf, const struct ckpt_span *span);
/* "[8,20]" */
void ckpt_span_shape_write(struct ckpt_buf *buf, const struct ckpt_span *span);
/* "ok", "gap 3", "overlap 2", "unknown". */
void ckpt_span_status_write(struct ckpt_buf *buf, const struct ckpt_span *span);
/* "records[3].data[1,2]" of the element that owns the byte; without an index
 * if it has none. */
void ckpt_span_path_write(struct ckpt_buf *buf, const struct ckpt_spans *spans,
	const struct ckpt_span *span, uint64_t off);
/* By what a tensor is called instead, "param:"; NULL if the format has no
 * such name for it. */
const struct ckpt_alias *ckpt_span_alias(
	const struct ckpt_spans *spans, const struct ckpt_span *span);
/* The same by role and name, "param:NAME.data[1,2]"; nothing if the format
 * has no such name for it. */
void ckpt_span_alias_write(struct ckpt_buf *buf, const struct ckpt_spans *spans,
	const struct ckpt_span *span, uint64_t off);
/* The path of the byte at off, whoever owns it. */
void ckpt_owner_write(struct ckpt_buf *buf, const struct ckpt_spans *spans,
	const struct ckpt_owner *owner, uint64_t off);
/* ".length" or ".bytes" of a string; "" for other fields. */
const char *ckpt_field_part(const struct ckpt_span_field *field, uint64_t off);
const char *ckpt_owner_kind_name(enum ckpt_owner_kind kind);

#endif
