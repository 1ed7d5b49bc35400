/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORENSICS_LOCATE_H
#define CKPT_FORENSICS_LOCATE_H

/*
 * Where a file was damaged, with everything that people want to know of it:
 * whose bytes they are, what they were worth, and whether the file is valid
 * once they are put right. ckpt_locate() of the public header is this without
 * the words.
 */

#include "sink/spot.h"

/* Why there are no explanations, or what they are worth. */
enum ckpt_locate_outcome {
	CKPT_LOCATE_HOLDS,     /* the checksum does: nothing is damaged */
	CKPT_LOCATE_FOUND,     /* exactly one explanation */
	CKPT_LOCATE_AMBIGUOUS, /* several */
	CKPT_LOCATE_NOTHING,   /* searched, and none */
	CKPT_LOCATE_IMPOSSIBLE /* not searched: status says why */
};

enum { CKPT_LOCATE_VALUE = 32 };

/* A value that damage touches. Its first bytes as they are and as they were. */
struct ckpt_locate_place {
	struct ckpt_spot spot;
	uint64_t off; /* of the first damaged byte in it */
	uint8_t found[CKPT_LOCATE_VALUE], original[CKPT_LOCATE_VALUE];
	size_t n;
};

/* One explanation, checked. */
struct ckpt_locate_case {
	struct ckpt_damage damage;
	struct ckpt_spans spans; /* of the file with the original bytes */
	/* The second if a burst reaches into another value. */
	struct ckpt_locate_place places[2];
	size_t nplaces;
	/* What is wrong even then: the primary finding, or NULL, and how many
	 * more errors there are. */
	const struct ckpt_rule *primary;
	uint64_t more;
};

struct ckpt_located {
	enum ckpt_locate_outcome outcome;
	enum ckpt_status status;          /* of the search */
	int error;                        /* errno of CKPT_EIO */
	const struct ckpt_format *format; /* as which the file was searched */
	struct ckpt_location location;
	struct ckpt_locate_case cases[CKPT_DAMAGES]; /* location.n of them */
	/* By its own extents the file has other than length bytes: then no
	 * search tells where bytes are missing or came in. */
	bool resized;
	uint64_t length, declared;
};

struct ckpt_locate_task {
	struct ckpt_source *source;
	/* Of the verification of each explanation; may be NULL. */
	const struct ckpt_options *options;
	/* The verification of the file as it is, or NULL: then the format is
	 * guessed from its first bytes. */
	const struct ckpt_run *run;
};

/* Searches, and verifies each explanation. Whatever fails is an outcome;
 * release it in any case. */
void ckpt_located_init(
	struct ckpt_located *located, const struct ckpt_locate_task *task);
void ckpt_located_release(struct ckpt_located *located);

/* What was found, for people: lines that are indented. path is the file as it
 * was named, for the next step; NULL: none is named. */
void ckpt_located_write(struct ckpt_buf *buf,
	const struct ckpt_located *located, const char *path);
/* The same as an object; NULL if out of memory. */
json_t *ckpt_located_json(const struct ckpt_located *located);

/* Why there is no proposal that can be trusted to make the file valid, in
 * words; NULL if there is exactly one. */
const char *ckpt_located_doubt(const struct ckpt_located *located);

#endif
