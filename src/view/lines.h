/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_LINES_H
#define CKPT_VIEW_LINES_H

/* Facts in lines, for the pages: "label  text", the text wrapped. */

#include "view/grid.h"

enum { VIEW_LINES = 96, VIEW_LABEL = 15 };

struct view_line {
	const char *label; /* static, or "" */
	size_t off, n;     /* of the text */
	unsigned style;
};

/* All zero is a good start. Release text. */
struct view_lines {
	struct ckpt_buf text;
	struct view_line line[VIEW_LINES];
	size_t n; /* lines; more than VIEW_LINES are left out */
	int cols; /* for which it was wrapped, two for a sign included */
};

/* Begins anew, for a width. */
void view_lines_begin(struct view_lines *lines, int cols);
/* A fact; its text is broken at blanks, or anywhere in a long word. */
void view_lines_add(struct view_lines *lines, unsigned style, const char *label,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same for what was added to lines->text behind off. */
void view_lines_wrap(struct view_lines *lines, unsigned style,
	const char *label, size_t off);

/* Draws line i; columns 0 and 1 are left alone. */
void view_lines_draw(const struct view_lines *lines, size_t i,
	const struct view_area *area, int at);

#endif
