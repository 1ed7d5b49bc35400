/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_LAYOUT_H
#define CKPT_VIEW_LAYOUT_H

/* Where the panes stand on the screen. */

#include "view/view.h"

enum { VIEW_LEAST_ROWS = 10, VIEW_LEAST_COLS = 40 };

/* Sets the areas of all panes from the grid's size and the focus. */
void view_layout(struct view *view);

/* Whether a notice replaces the panes. */
bool view_too_small(const struct view *view);

#endif
