/* SPDX-License-Identifier: MIT */
#ifndef CKPT_WIRE_WALK_H
#define CKPT_WIRE_WALK_H

/*
 * The walker decodes a record by its rows, field by field, from a reader. It
 * stores what it reads, checks what the rows say, tells the listeners, and
 * calls the format's rules whenever a record is complete. A declared count
 * makes it allocate nothing: arrays grow as their elements arrive.
 */

#include "io/reader.h"
#include "wire/path.h"
#include "wire/schema.h"

/* A rule over more than one field: runs when a record of a kind is complete.
 * checks are the names, as in the findings table and in the specification,
 * that have been made once it has run; those that a row's legal values make
 * on the way to this record belong to it as well. */
struct ckpt_check {
	const char *checks;
	const struct ckpt_record *after;
	enum ckpt_status (*run)(void *ctx, const void *rec, uint64_t index);
};

struct ckpt_walk {
	struct ckpt_run *run;
	struct ckpt_reader *reader;
	uint64_t end;             /* nothing may be read from here on */
	enum ckpt_code truncated; /* what a read past end is */
	const struct ckpt_check *checks;
	size_t nchecks;  /* at most 64 */
	uint64_t marked; /* checks that are known to have run, a bit each */
	void *ctx;       /* of the checks */
	/* The whole decoded structure, for paths of findings. */
	const struct ckpt_record *root;
	void *root_base;
	struct ckpt_buf scratch;
};

/* Decodes rec into base. CKPT_REJECTED: a finding says why the rest cannot be
 * understood. What was decoded before stays. */
CKPT_MUST_USE enum ckpt_status ckpt_walk_record(struct ckpt_walk *walk,
	const struct ckpt_record *rec, void *base,
	const struct ckpt_path *path);

/* The same from field number from on, for a format that has to look at the
 * first fields before it knows how the others can be read. */
CKPT_MUST_USE enum ckpt_status ckpt_walk_fields(struct ckpt_walk *walk,
	const struct ckpt_record *rec, void *base, const struct ckpt_path *path,
	size_t from);

/* One finding. The bytes at fault follow from path, unless off and len are
 * given (payload). */
struct ckpt_report {
	enum ckpt_code code;
	uint64_t unit, sub; /* rank */
	const char *path;   /* never NULL */
	struct ckpt_value expected, found;
	const char *note;
	uint64_t count; /* 0 counts as 1 */
	bool placed;
	uint64_t off, len;
	enum ckpt_code cause; /* only if caused */
	bool caused;
	bool ranked; /* step overrides the row's */
	uint64_t step;
};

void ckpt_walk_report(struct ckpt_walk *walk, const struct ckpt_report *report);

/* printf for paths and notes; lives until the next report, which copies. */
const char *ckpt_walk_text(struct ckpt_walk *walk, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Judges the legal values of all fields whose rows name phase at; rank unit
 * for them is unit. */
void ckpt_walk_wants(struct ckpt_walk *walk, int at, uint64_t unit);

#endif
