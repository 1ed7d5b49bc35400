/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_PROMPT_HISTORY_H
#define CKPT_VIEW_PROMPT_HISTORY_H

#include "view/view.h"

/* Keeps a line that was entered; the same line before is forgotten. */
void view_history_add(struct view *view, const char *label, const char *text);

/* The line that was entered back lines ago, 1 being the last; NULL if there
 * is none. Borrowed until the next is added. */
const char *view_history_line(
	const struct view_history *history, const char *label, size_t back);

#endif
