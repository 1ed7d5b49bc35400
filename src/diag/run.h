/* SPDX-License-Identifier: MIT */
#ifndef CKPT_DIAG_RUN_H
#define CKPT_DIAG_RUN_H

/*
 * One run over one file: it owns options, memory and findings, knows its
 * listeners, and is passed first everywhere. The events of a run tell the
 * listeners what the file holds, in file order; everything is provisional
 * until the END event.
 */

#include <ckpt.h>

#include "base/arena.h"
#include "diag/diag.h"

struct ckpt_field;  /* wire/schema.h */
struct ckpt_format; /* format/format.h */
struct ckpt_scope;
struct ckpt_sha256;   /* base/sha256.h */
struct ckpt_training; /* model/training.h */

/* What a tensor is for, in words that hold for every format. */
enum ckpt_tensor_class {
	CKPT_TENSOR_TOKENIZER,
	CKPT_TENSOR_PARAMETER,
	CKPT_TENSOR_MOMENT,
	CKPT_TENSOR_OTHER,
};

/* Where a tensor has to begin when what came before it does not say. */
#define CKPT_ANYWHERE UINT64_MAX

/* A named payload range. Borrowed for the event; listeners copy. */
struct ckpt_span {
	uint64_t index; /* of the record */
	enum ckpt_tensor_class class_;
	const char *role; /* static display name, "unknown" if so */
	const uint8_t *name;
	size_t name_len;
	const char *label; /* static prefix that makes a bare name readable
			    * ("literal-token-"), or "" */
	const char *dtype; /* static display name, "unknown" if so */
	unsigned width;    /* bytes of an element, 0 if unknown */
	const uint64_t *dims;
	uint32_t rank;
	uint64_t off, len;  /* as declared */
	uint64_t expected;  /* where it has to begin, or CKPT_ANYWHERE */
	uint64_t record_at; /* the record's own bytes */
	uint64_t record_len;
	uint64_t nth; /* among those of its role; counted by the span index */
};

enum ckpt_event_kind {
	CKPT_EV_BEGIN, /* a format claimed the file */
	CKPT_EV_FIELD, /* one header field: field, path, off, len, value */
	CKPT_EV_SPAN,  /* one tensor, before any DATA */
	CKPT_EV_DATA,  /* payload bytes at off: data, len, of span index */
	CKPT_EV_END,   /* judged to the end; findings are complete */
};

struct ckpt_event {
	enum ckpt_event_kind kind;
	const struct ckpt_field *field;
	const char *path;
	uint64_t off, len;
	struct ckpt_value value;
	const struct ckpt_span *span;
	uint64_t index; /* DATA: of the span */
	const uint8_t *data;
};

struct ckpt_sink {
	/* CKPT_OK to go on; anything else ends the run with that status. */
	enum ckpt_status (*event)(
		struct ckpt_sink *sink, const struct ckpt_event *event);
	bool wants_fields; /* FIELD events cost a path each */
	/* Fields wanted: those with bytes in [fields_from, fields_end); all
	 * if the end is 0. More may be told. */
	uint64_t fields_from, fields_end;
	struct ckpt_sink *next;
};

/* A named fact of the file for summaries, in the order to be shown. */
struct ckpt_fact {
	const char *name; /* static */
	struct ckpt_value value;
};

enum { CKPT_FACTS = 40 };

struct ckpt_run {
	struct ckpt_options options;
	struct ckpt_arena arena; /* everything decoded; the budget */
	struct ckpt_arena words; /* findings; survives the budget */
	struct ckpt_arena texts; /* of the finding that is being made */
	struct ckpt_diags diags;
	struct ckpt_sink *sinks; /* not owned */
	bool wants_fields;
	uint64_t fields_from, fields_end; /* of all listeners together */
	const struct ckpt_format *format; /* NULL: nobody claimed it */
	unsigned format_version;
	void *decoded;       /* the format's root record, once there is one */
	uint64_t header_end; /* where the payload begins, once known */
	uint64_t size;       /* bytes seen, or the file's size */
	bool size_known;
	const char *foreign; /* what the file seems to be instead */
	/* Who wants every byte of the file, in order, also those behind its
	 * end that no format looks at; or NULL. Borrowed; set it before the
	 * run. Afterwards, why these were not all, or NULL. */
	struct ckpt_sha256 *whole;
	const char *not_whole;
	/* Of this kind of file, where a format has several; or NULL. */
	const struct ckpt_scope *scope;
	/* Of a valid file that says how its training goes on after so many
	 * steps; or NULL. */
	const struct ckpt_training *training;
	uint64_t step;
	struct ckpt_fact facts[CKPT_FACTS];
	size_t nfacts;
};

void ckpt_run_listen(struct ckpt_run *run, struct ckpt_sink *sink);
/* Whether a field of these bytes is worth an event. */
bool ckpt_run_wants_field(
	const struct ckpt_run *run, uint64_t off, uint64_t len);
CKPT_MUST_USE enum ckpt_status ckpt_run_event(
	struct ckpt_run *run, const struct ckpt_event *event);
void ckpt_run_fact(
	struct ckpt_run *run, const char *name, struct ckpt_value value);

/* A finding about the file as a whole, from outside of the drivers: diag has
 * where, values and note; a path of NULL is the whole file. */
void ckpt_run_add(struct ckpt_run *run, enum ckpt_code code, uint64_t unit,
	const struct ckpt_diag *diag);

/* Ends a run whose file could not even be opened; error is the errno. */
enum ckpt_verdict ckpt_run_trouble(struct ckpt_run *run, int error);

/* The status of a failed allocation in the run's arena. */
enum ckpt_status ckpt_run_memory(const struct ckpt_run *run);

#endif
