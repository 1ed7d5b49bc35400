/* SPDX-License-Identifier: MIT */
/*
 * Two clicks on a cell are one if the second comes soon. Curses could tell as
 * well, but only by holding back the first one until it knows.
 */
#include "view/clicks.h"

enum { DOUBLE_CLICK = 400 /* ms */ };

static bool
is_soon(const struct timespec *now, const struct timespec *before)
{
	/* More seconds than these may not fit in milliseconds. */
	if (now->tv_sec - before->tv_sec > 1)
		return false;
	return (now->tv_sec - before->tv_sec) * 1000 +
		       (now->tv_nsec - before->tv_nsec) / 1000000 <
	       DOUBLE_CLICK;
}

bool
view_clicks_twice(struct view_clicks *clicks, int row, int col,
	const struct timespec *now)
{
	bool twice = clicks->waiting && row == clicks->row &&
		     col == clicks->col && is_soon(now, &clicks->at);

	/* The third click begins anew. */
	*clicks = (struct view_clicks){ !twice, row, col, *now };
	return twice;
}
