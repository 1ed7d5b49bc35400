/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_CLICKS_H
#define CKPT_VIEW_CLICKS_H

/* Which clicks belong together. */

#include <stdbool.h>
#include <time.h>

struct view_clicks {
	bool waiting; /* for the second click, on this cell */
	int row, col;
	struct timespec at;
};

/* Whether a click at that time, of CLOCK_MONOTONIC, is the second one of two
 * on the same cell. Begins with zeros. */
bool view_clicks_twice(struct view_clicks *clicks, int row, int col,
	const struct timespec *now);

#endif
