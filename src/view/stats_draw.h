/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_STATS_DRAW_H
#define CKPT_VIEW_STATS_DRAW_H

/* Statistics as text. */

#include "view/grid.h"
#include "view/stats_work.h"

/* A tensor and what is known of it. */
struct view_stats_part {
	const struct ckpt_span *span;
	const struct view_stats *stats; /* NULL: not yet */
	uint64_t done, total;           /* of the reading; total 0: waits */
};

/* Draws n parts, side by side where there is room, without the first lines;
 * the number of lines in all. show false: only counts them. */
int view_stats_draw(const struct view_area *area,
	const struct view_stats_part *parts, size_t n, int without, bool show);

#endif
