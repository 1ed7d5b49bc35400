/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_BAR_H
#define CKPT_VIEW_BAR_H

/* The first line of the screen. */

#include "view/view.h"

/* Draws it: what file this is, and what is known of it. */
void view_bar_draw(struct view *view);

/* A path, escaped, in some columns; its end says more than its start. */
void view_path_write(struct ckpt_buf *buf, const struct view_grid *grid,
	const char *path, int cols);

#endif
