/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_DRAFT_H
#define CKPT_FORMAT_DRAFT_H

/*
 * A file taken apart so that it can be made wrong on purpose: its header as a
 * decoded structure, its payload as one piece a record. Fields are edited
 * first, and emitted by the rows that decoded them; from the first edit of
 * bytes on the draft is a row of bytes and its fields cannot be edited any
 * more. Nothing is corrected unless asked for: counts, lengths, offsets,
 * extents and checksum stay as they stand.
 */

#include "format/format.h"
#include "wire/mutate.h"

enum ckpt_draft_edit {
	/* Fields; words as in wire/mutate.h, and PATH.data, PATH.data[j],
	 * PATH.data[a,b] for the payload of a record. */
	CKPT_DRAFT_SET,
	CKPT_DRAFT_DELETE,
	CKPT_DRAFT_DUPLICATE,
	CKPT_DRAFT_INSERT,
	CKPT_DRAFT_SWAP,
	/* The payload becomes that of the records as they stand now, without
	 * gaps; record count, byte lengths, offsets and extents follow, and
	 * the first dimension of records whose payload was replaced. */
	CKPT_DRAFT_RELAYOUT,
	/* Bytes. */
	CKPT_DRAFT_BYTES,       /* "OFF=HEX" */
	CKPT_DRAFT_FLIP,        /* "OFF.BIT" */
	CKPT_DRAFT_TRUNCATE,    /* "N" */
	CKPT_DRAFT_APPEND,      /* "HEX" */
	CKPT_DRAFT_APPEND_TEXT, /* "TEXT" */
	CKPT_DRAFT_MANGLE,      /* "crlf" or "utf8" */
	/* Both of fields and of bytes; no words. */
	CKPT_DRAFT_FIX_EXTENTS,
	CKPT_DRAFT_FIX_CHECKSUM,
};

/* What an edit did. */
struct ckpt_change {
	const struct ckpt_field *field; /* NULL: of no field */
	uint64_t off;
	struct ckpt_value before, after;
};

struct ckpt_draft_piece {
	const uint8_t *p;
	uint64_t n;
	bool fresh;
};

struct ckpt_draft {
	struct ckpt_run *run;             /* owned; its arena holds all edits */
	const struct ckpt_format *format; /* NULL: nobody knows the file */
	void *root;
	bool editable; /* its fields, so far */
	bool opaque;   /* they never were: the header cannot be parsed */
	bool textual;  /* the header is text: fields are bytes, too */
	const struct ckpt_field *records; /* that own payload, or NULL */
	struct ckpt_draft_piece **own;    /* of each record, or NULL */
	uint32_t nown;
	struct ckpt_draft_piece **pieces; /* of the payload, in file order */
	uint32_t npieces;
	uint64_t header_bytes;     /* as emitted, once bytes */
	struct ckpt_buf bytes;     /* of the file, unless editable */
	const char *why;           /* static; with CKPT_EDIT_BAD */
	const char *path;          /* expanded; with CKPT_EDIT_NO_PATH */
	struct ckpt_change change; /* of the last edit */
};

/* Takes a copy of n bytes apart. A header that cannot be parsed leaves only
 * the edits of bytes. Release it in any case. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_draft_open(
	struct ckpt_draft *draft, const void *bytes, size_t n);
void ckpt_draft_release(struct ckpt_draft *draft);

CKPT_MUST_USE enum ckpt_edit_status ckpt_draft_apply(
	struct ckpt_draft *draft, enum ckpt_draft_edit edit, const char *words);

/* The file as it is now; draft->bytes holds it and no field can be edited any
 * more. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_draft_finish(struct ckpt_draft *draft);

#endif
