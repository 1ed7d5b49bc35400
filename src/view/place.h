/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_PLACE_H
#define CKPT_VIEW_PLACE_H

/* Where a byte is, in words that fit a line. */

#include "view/view.h"

/* In at most cols columns: the element by the name of its tensor, which ':'
 * understands too, "second:norm.gain[3]", and then its path if there is room
 * for it; of what is no element the path. What is too long is cut in the
 * middle. Nothing while the index is not there. */
void view_place_write(
	struct ckpt_buf *buf, struct view *view, uint64_t off, int cols);

#endif
