/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_STATS_WORK_H
#define CKPT_VIEW_STATS_WORK_H

/*
 * The statistics of one tensor, read in the background in two passes: the
 * numbers, then how the finite elements spread between the least and the
 * greatest. Nothing of it points into the index.
 */

#include "sink/stats.h"
#include "view/doc.h"

/* A block is a multiple of all widths, also of four F6 in three bytes. */
enum { VIEW_BINS = 64, VIEW_BLOCK = 24 * 8192 };

/* The bytes of a tensor, and what they are read as. */
struct view_extent {
	uint64_t off, len;
	const char *dtype; /* static */
	unsigned width;
};

struct view_stats {
	struct view_extent extent;
	struct ckpt_stats stats;
	uint64_t bins[VIEW_BINS];
	bool cut; /* the file ends before the tensor does */
};

struct view_stats_work {
	struct view_job job; /* first */
	const struct view_doc *doc;
	struct view_stats result; /* extent is set before it starts */
	bool whole;               /* was not cancelled */
	uint8_t block[VIEW_BLOCK];
};

/* Whether a tensor has numbers to be read. */
bool view_stats_can(const struct ckpt_span *span);

/* The element that one of its numbers, by their order, belongs to. */
uint64_t view_stats_element(const struct ckpt_span *span, uint64_t number);

void view_stats_start(struct view_stats_work *work, const struct view_doc *doc,
	const struct ckpt_span *span);

struct view_extent view_extent_of(const struct ckpt_span *span);
bool view_extent_equal(
	const struct view_extent *a, const struct view_extent *b);

#endif
