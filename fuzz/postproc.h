/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FUZZ_POSTPROC_H
#define CKPT_FUZZ_POSTPROC_H

/*
 * The parts of the mutator: finding out where the fields of a file are,
 * repairing what would stop it at the door, and edits by field. Formats are
 * known by their rows and by the events of a parse, never by name.
 */

#include "format/format.h"
#include "model/rng.h"

enum { FUZZ_FIELDS = 8192, FUZZ_TENSORS = 1024, FUZZ_LARGEST = 1 << 20 };

/* A field that a parse told of. */
struct fuzz_place {
	enum ckpt_type type;
	unsigned flags;
	const struct ckpt_want *want;
	uint64_t off, len;
};

/* A record, and the bytes that it needs. */
struct fuzz_tensor {
	uint64_t required; /* bytes that shape and type need */
	unsigned width;
	uint64_t off, record_at, record_len;
};

struct fuzz_scan {
	struct ckpt_sink sink;
	struct fuzz_place fields[FUZZ_FIELDS];
	size_t nfields;
	struct fuzz_tensor tensors[FUZZ_TENSORS];
	size_t ntensors;
	const struct ckpt_text_rules *text; /* of a header that is text */
	uint64_t end;                       /* of the header */
	bool complete; /* the whole header was understood */
};

struct fuzz_mutator {
	struct fuzz_scan scan;
	struct ckpt_rng rng;
	/* FUZZ_LARGEST bytes each. Two, because afl-fuzz gives what it got
	 * back to be repaired again. */
	uint8_t *fixed, *other, *edited;
};

/* Parses, and keeps what was told. */
void fuzz_scan(struct fuzz_scan *scan, const uint8_t *bytes, size_t size);

/* Of the format whose header these bytes would be, if that is text. */
const struct ckpt_text_rules *fuzz_text_rules(
	const uint8_t *bytes, size_t size);

/* How much is repaired: decided by what no repair changes. */
enum fuzz_level {
	FUZZ_NOTHING,
	FUZZ_CHECKSUM,   /* of text: the header's length */
	FUZZ_EXTENTS,    /* also how long header and payload are */
	FUZZ_EVERYTHING, /* also offsets and lengths, and a payload that fits */
};
enum fuzz_level fuzz_level(
	const struct fuzz_scan *scan, const uint8_t *bytes, size_t size);

/* The repaired file is put in fixed, which has FUZZ_LARGEST bytes; its size,
 * or 0: left alone. The second is for headers that are text. */
size_t fuzz_repair(struct fuzz_scan *scan, const uint8_t *bytes, size_t size,
	uint8_t *fixed);
size_t fuzz_repair_text(struct fuzz_scan *scan, const uint8_t *bytes,
	size_t size, uint8_t *fixed);

/* Puts n bytes in place of old ones at off; false: no room. */
bool fuzz_replace(uint8_t *bytes, size_t *size, size_t most, uint64_t off,
	uint64_t old, const void *with, size_t n);

/* One edit of a field, a record, or an element of what was just scanned. */
void fuzz_edit(
	struct fuzz_mutator *m, uint8_t *bytes, size_t *size, size_t most);

uint64_t fuzz_below(struct fuzz_mutator *m, uint64_t n);

/* A number that has broken programs before. */
uint64_t fuzz_number(struct fuzz_mutator *m, uint64_t old);

/* The same, of a header that is text: a field, and a whole record. */
void fuzz_edit_text(struct fuzz_mutator *m, uint8_t *bytes, size_t *size,
	size_t most, const struct fuzz_place *field);
void fuzz_edit_entry(
	struct fuzz_mutator *m, uint8_t *bytes, size_t *size, size_t most);

#endif
