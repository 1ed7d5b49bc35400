/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_SEARCH_MATCH_H
#define CKPT_VIEW_SEARCH_MATCH_H

/* Records and fields with some words in their names, roles or paths. */

#include "view/doc.h"

struct view_match {
	const char *name; /* what is looked for, in capitals or not */
	bool back;
	/* Of the nearest match from the cursor, round the end if need be. */
	uint64_t at;
	bool wrapped;
	const struct ckpt_span *span;        /* either this */
	const struct ckpt_span_field *field; /* or this */
	size_t number, n; /* which of how many, in the order of the file */
};

/* Looks at all names. Name and back are set before. False if there is none. */
bool view_match_name(
	struct view_match *match, const struct view_doc *doc, uint64_t cursor);

#endif
