/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_DOC_H
#define CKPT_VIEW_DOC_H

/*
 * A file that is being looked at. Its header is read in the background, then
 * its whole contents are verified there; the panes see what is known so far.
 * Bytes are read from the file whenever they are needed, never mapped and
 * never kept, so any size will do, and a file that is cut while it is open
 * gives fewer bytes.
 *
 * Only the thread that draws calls these functions. What the background finds
 * appears when view_doc_poll() takes it over, and stays until the next poll.
 */

#include "format/format.h"
#include "sink/spans.h"
#include "sink/stats.h"
#include "sink/words.h"
#include "view/job.h"
#include "view/window.h"

/* How far the verification is. */
enum view_stage {
	VIEW_READING,   /* the header */
	VIEW_VERIFYING, /* the index is there, the payload is being read */
	VIEW_PAUSED,    /* the payload was not read to its end */
	VIEW_VERIFIED,
};

/* Files up to this size are verified without being asked. */
#define VIEW_AUTOMATIC ((uint64_t)256 << 20)

struct view_verification; /* view/verification.h */

struct view_doc {
	char *path;                 /* owned */
	struct ckpt_source *source; /* owned; can go back */
	uint64_t size;              /* when it was opened */
	uint64_t max_memory;
	int bell; /* see struct view_job */
	enum view_stage stage;
	const char *changed; /* what happened to the file since, or NULL */

	/* The index: NULL until the header was read. */
	const struct ckpt_spans *spans;
	uint64_t header_end;
	const struct ckpt_format *format;

	/* Findings known so far, ranked; by_offset are numbers of them. */
	const struct ckpt_diag *findings;
	uint32_t *by_offset;
	size_t nfindings;
	const struct ckpt_diag *primary; /* NULL: none */
	enum ckpt_verdict verdict;       /* once VERIFIED */
	const struct ckpt_run *run; /* once VERIFIED or PAUSED, for facts */

	/* Header fields near the last one that was asked for, when the index
	 * could not keep all; and those that are being read. */
	struct view_window *window, *coming;

	struct view_verification *now, *before;
};

/* The owner of a byte. */
struct view_owner {
	enum ckpt_owner_kind kind;
	uint64_t off, end;
	const struct ckpt_span *span;        /* of TENSOR */
	const struct ckpt_span_field *field; /* of FIELD */
	struct ckpt_owner owner;             /* for ckpt_owner_write() */
	const struct ckpt_spans *spans;      /* to which owner belongs */
};

/* Opens it and begins to read. bell may be -1. 0, or -1 with errno set; a
 * pipe is ESPIPE. Release in any case. */
int view_doc_open(
	struct view_doc *doc, const char *path, uint64_t max_memory, int bell);
void view_doc_release(struct view_doc *doc);

/* Takes over what the background has found, and looks whether the file has
 * changed. True if there is something new to be drawn. */
bool view_doc_poll(struct view_doc *doc);

/* Reads the payload to its end, from the start; or stops that. */
void view_doc_verify(struct view_doc *doc);
void view_doc_pause(struct view_doc *doc);

/* Progress of the reading in bytes; total is 0 if it is not known. */
void view_doc_progress(
	const struct view_doc *doc, uint64_t *done, uint64_t *total);

/* Whether it is being read in the background. */
bool view_doc_busy(const struct view_doc *doc);

/* Waits until nothing goes on in the background. */
void view_doc_settle(struct view_doc *doc);

/* Up to n bytes at off; fewer where the file ends now or cannot be read. */
size_t view_doc_read(
	const struct view_doc *doc, uint64_t off, void *bytes, size_t n);

/* The owner of the byte at off. False behind the end. While the index is not
 * there all bytes are of nobody. */
bool view_doc_owner(
	struct view_doc *doc, uint64_t off, struct view_owner *owner);

/* Waits until the fields around a byte of the header are there. Otherwise
 * view_doc_owner() begins to read them, and until then says HEADER. */
void view_doc_fields(struct view_doc *doc, uint64_t off);

/* The tensor whose payload or whose record in the header owns the byte, or
 * NULL. */
const struct ckpt_span *view_doc_tensor(struct view_doc *doc, uint64_t off);

/* The first finding, by offset, that begins in [off, off + len), or NULL; and
 * the next that begins behind off, or the last before it. Findings about the
 * file as a whole are nowhere. */
const struct ckpt_diag *view_doc_finding_in(
	const struct view_doc *doc, uint64_t off, uint64_t len);
const struct ckpt_diag *view_doc_finding_after(
	const struct view_doc *doc, uint64_t off);
const struct ckpt_diag *view_doc_finding_before(
	const struct view_doc *doc, uint64_t off);

/* Whether a finding is about bytes of the file. */
bool view_finding_placed(const struct ckpt_diag *diag);

#endif
