/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_LAYOUT_H
#define CKPT_VIEW_LAYOUT_H

/* Where the panes stand on the screen. */

#include "view/view.h"

enum { VIEW_LEAST_ROWS = 10, VIEW_LEAST_COLS = 40 };

/* Sets the areas of all panes from the grid's size and the focus. */
void view_layout(struct view *view);

/* Whether the screen has room for one pane only; and whether one has it for
 * itself, because of that, or zoomed, or as a page. */
bool view_narrow(const struct view *view);
bool view_alone(const struct view *view);

/* Whether a notice replaces the panes. */
bool view_too_small(const struct view *view);

#endif
