/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_INSPECTOR_H
#define CKPT_VIEW_INSPECTOR_H

/* What the inspector says of a byte (inspector_say.c), apart from how that is
 * laid out and scrolled (inspector.c). */

#include "view/view.h"

enum { VIEW_SAYINGS = 64 };

/* One thing that is said: a label and words, to be wrapped. */
struct view_saying {
	const char *label; /* static */
	size_t at, n;      /* in text */
	unsigned style;
};

struct view_sayings {
	struct ckpt_buf text;
	size_t from; /* where the words that are being written begin */
	struct view_saying list[VIEW_SAYINGS];
	size_t n;
};

/* Forgets what was said, and says everything about the byte under the cursor.
 * apart: no two tensors claim the same byte, so nobody has to be looked for. */
void view_inspect(struct view_sayings *say, struct view *view, bool apart);

/* Whether all tensors lie behind the header and one behind the other. Looks
 * at every one of them. */
bool view_tensors_apart(const struct view_doc *doc);

#endif
