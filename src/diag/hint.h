/* SPDX-License-Identifier: MIT */
#ifndef CKPT_DIAG_HINT_H
#define CKPT_DIAG_HINT_H

/*
 * What may have happened to a file: hints with their evidence, never part of
 * a verdict. Made by forensics/classify.h, shown by the sinks.
 */

#include <ckpt.h>

#include "base/arena.h"

/* How far the evidence carries; each cause says why. Declared from good to
 * bad evidence. */
enum ckpt_likelihood {
	CKPT_STRONG,   /* chance or an innocent file would hardly look so */
	CKPT_LIKELY,   /* it fits, and so might something else */
	CKPT_POSSIBLE, /* nothing speaks against it */
};

struct ckpt_hint {
	const char *slug;  /* "torn-pages"; static */
	const char *title; /* a clause; static */
	enum ckpt_likelihood likelihood;
	const char *reason; /* for the likelihood; static */
	/* Where; len 0: the file as a whole. */
	uint64_t off, len;
	const char *path; /* of what owns the byte at off, or "" */
	const char **evidence;
	uint64_t nevidence;
};

struct ckpt_hints {
	struct ckpt_arena arena; /* of all that follows */
	struct ckpt_hint *list;  /* best first */
	uint64_t n;
	uint64_t examined; /* bytes of the file that were looked at */
	/* Why nothing was looked for, or why not all; NULL: all was. */
	const char *limit;
};

/* "strong", "likely", "possible". */
const char *ckpt_likelihood_name(enum ckpt_likelihood likelihood);

#endif
