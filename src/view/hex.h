/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_HEX_H
#define CKPT_VIEW_HEX_H

/* The pane of bytes: what moving (hex.c) and drawing (hex_draw.c) share. */

#include "view/view.h"

enum {
	VIEW_HEX_ROWS = 1024, /* more than a grid has */
	VIEW_HEX_BYTES = 32,  /* of a row, at most */
};

struct view_hex {
	uint64_t top; /* offset of the first row */
	/* Bytes on the screen that findings are about: how many begin less
	 * how many end there; and, once summed up, how many there are. */
	int errors[VIEW_HEX_ROWS * VIEW_HEX_BYTES + 1];
	int warnings[VIEW_HEX_ROWS * VIEW_HEX_BYTES + 1];
	bool beyond; /* something is wrong behind the end */
};

/* Where things stand in the area. */
struct view_hex_layout {
	int bytes, rows;
	int digits; /* columns of an offset */
	bool prefix, grouped;
	int hex, text; /* columns where they begin */
};

struct view_hex_layout view_hex_lay_out(
	const struct view *view, const struct view_area *area);
/* The column of byte i of a row. */
int view_hex_column(const struct view_hex_layout *layout, int i);
/* Brings the cursor into view. */
void view_hex_follow(struct view *view, struct view_hex *hex,
	const struct view_hex_layout *layout);

void view_hex_draw(struct view *view, void *state, const struct view_area *area,
	bool focused);

#endif
