/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_SPANS_H
#define CKPT_SINK_SPANS_H

/*
 * Who owns which bytes. A listener that keeps the header fields and tensors
 * of a run; closed, it divides the file into owners that lie side by side
 * without gap or overlap: every byte has exactly one. Its memory grows with
 * the fields and records of the file, never with their elements.
 */

#include "base/buf.h"
#include "diag/run.h"
#include "wire/schema.h"

enum ckpt_owner_kind {
	CKPT_OWNER_FIELD,  /* index into fields */
	CKPT_OWNER_TENSOR, /* index into tensors */
	CKPT_OWNER_HEADER, /* of the header, but of no field */
	CKPT_OWNER_GAP,    /* behind the header, before the end of a tensor */
	CKPT_OWNER_NONE,   /* behind the last tensor, or nothing is known */
};

struct ckpt_owner {
	enum ckpt_owner_kind kind;
	uint64_t off, end;
	uint64_t index;
};

/* A header field: what its row says, and what it holds. */
struct ckpt_span_field {
	const char *path;
	uint64_t off, len;
	struct ckpt_value value; /* bytes are copies */
	const char *name, *title, *doc;
	const struct ckpt_want *want;
	enum ckpt_type type;
	unsigned flags;
};

enum { CKPT_SPAN_ROLES = 16 };

struct ckpt_spans {
	struct ckpt_sink sink;
	struct ckpt_arena arena;
	struct ckpt_span_field *fields; /* as they were told */
	uint64_t nfields;
	struct ckpt_span *tensors; /* in the order of the records */
	uint64_t ntensors;
	struct ckpt_owner *owners; /* tile [0, size) once closed */
	uint64_t nowners;
	uint64_t size;
	/* Records seen of each role, whose names are static. */
	struct {
		const char *role;
		uint64_t n;
	} roles[CKPT_SPAN_ROLES];
	/* Fields that are kept at most, the first ones (0: all); whether
	 * there were more. Set it before the run. */
	uint64_t fields_most;
	bool fields_cut;
	/* For paths and aliases; set by whoever ran it. */
	const struct ckpt_format *format;
	const char *records; /* name of the array of records */
};

/* budget bounds the memory of the index. Without fields (with_fields false)
 * header bytes have no owner but the header. */
void ckpt_spans_init(
	struct ckpt_spans *spans, uint64_t budget, bool with_fields);
/* Only fields with bytes in [from, end); before the run. */
void ckpt_spans_window(struct ckpt_spans *spans, uint64_t from, uint64_t end);
/* What its sink does with an event, for listeners in front of it. */
CKPT_MUST_USE enum ckpt_status ckpt_spans_keep(
	struct ckpt_spans *spans, const struct ckpt_event *event);
void ckpt_spans_release(struct ckpt_spans *spans);

/* Once the run is over: divides [0, size). Bytes before header_end that no
 * field owns belong to the header. Where tensors overlap, the one that begins
 * first owns the bytes, of two such the one with the lower record; a field
 * keeps its bytes against any tensor. */
CKPT_MUST_USE enum ckpt_status ckpt_spans_close(
	struct ckpt_spans *spans, uint64_t header_end, uint64_t size);

/* The owner of the byte at off, in O(log n); NULL behind the end. */
const struct ckpt_owner *ckpt_spans_at(
	const struct ckpt_spans *spans, uint64_t off);

/* A field's value, with tag names. */
void ckpt_span_field_write(
	struct ckpt_buf *buf, const struct ckpt_span_field *field);

/* Its number among its elements of the byte at off, and the first byte of
 * that element. False if the dtype has no width that is known. */
bool ckpt_span_element(const struct ckpt_span *span, uint64_t off,
	uint64_t *element, uint64_t *start);

/* "[4,1]" in a matrix, "[9]" otherwise. */
void ckpt_span_index_write(
	struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t element);

/* The declared end; false if it does not fit 64 bits. */
bool ckpt_span_end(const struct ckpt_span *span, uint64_t *end);

/* Elements that the shape implies; false if they do not fit 64 bits. */
bool ckpt_span_elements(const struct ckpt_span *span, uint64_t *elements);

#endif
