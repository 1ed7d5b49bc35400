/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_SEARCH_SCAN_H
#define CKPT_VIEW_SEARCH_SCAN_H

/*
 * Looking for bytes or values in the background, from a place on and round
 * the end of the file. What it needs of the index is copied, because the
 * index may be replaced meanwhile.
 */

#include "view/doc.h"
#include "view/search_pattern.h"

/* Bytes [off, end) of a tensor of floats, which begins at base; its elements
 * end at limit. */
struct view_piece {
	uint64_t off, end, base, limit;
	struct ckpt_span span; /* dtype and width alone */
};

struct view_scan {
	struct view_job job; /* first */
	struct view_pattern pattern;
	bool back;
	/* What the job reads. */
	const struct view_doc *doc;
	uint64_t from, size;
	struct view_piece *pieces; /* owned; ascending and apart */
	size_t npieces;
	/* What it makes. */
	uint8_t *block; /* owned */
	bool found, wrapped, cut;
	uint64_t hit;
	/* Which match it is and of how many, in the order of the file; n is 0
	 * if there was too much to look at. */
	uint64_t number, n;
	/* Of values: the nearest one, if none is the one. */
	bool near;
	double distance;
	uint64_t nearest;
};

enum view_scanning {
	VIEW_SCAN_RUNS,
	VIEW_SCAN_NO_FLOATS, /* there are none to look at */
	VIEW_SCAN_NO_MEMORY,
};

/* Begins, in the direction that is set, for the pattern that is set. */
enum view_scanning view_scan_start(
	struct view_scan *scan, const struct view_doc *doc, uint64_t from);
void view_scan_release(struct view_scan *scan);

#endif
