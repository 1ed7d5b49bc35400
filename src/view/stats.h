/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_STATS_H
#define CKPT_VIEW_STATS_H

#include "view/goto.h"

/* Takes the cursor to the greatest or the least element of the tensor under
 * it: at once if the tensor was read, else when it has been, unless a key is
 * pressed before. */
enum view_went view_stats_go(struct view *view, bool greatest);

#endif
