/* SPDX-License-Identifier: MIT */
/*
 * Facts in lines: a label, and words that are broken to the width there is.
 */
#include "view/lines.h"

#include <stdarg.h>
#include <stdio.h>

void
view_lines_begin(struct view_lines *lines, int cols)
{
	ckpt_buf_clear(&lines->text);
	lines->n = 0;
	lines->cols = cols;
}

/* The bytes of s that go on one line of room columns; *next is where the next
 * one begins. */
static size_t
break_line(const char *s, size_t n, int room, size_t *next)
{
	size_t k = view_fit(s, n, room), blank = k;

	if (k == n) {
		*next = n;
		return n;
	}
	while (blank > 0 && s[blank] != ' ')
		blank--;
	if (blank > 0) {
		*next = blank + 1;
		return blank;
	}
	/* A character that is wider than the room is there all the same. */
	*next = k > 0 ? k : n;
	return *next;
}

void
view_lines_wrap(
	struct view_lines *lines, unsigned style, const char *label, size_t off)
{
	int room = lines->cols - VIEW_LABEL - 2;

	if (room < 1)
		room = 1;
	while (lines->n < VIEW_LINES) {
		size_t n = lines->text.n - off, next,
		       k = break_line(lines->text.p + off, n, room, &next);

		lines->line[lines->n++] = (struct view_line){
			.label = label, .off = off, .n = k, .style = style
		};
		label = "";
		off += next;
		if (next == n)
			return;
	}
}

void
view_lines_add(struct view_lines *lines, unsigned style, const char *label,
	const char *format, ...)
{
	size_t off = lines->text.n;
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	ckpt_buf_puts(&lines->text, text);
	if (!lines->text.failed && lines->text.p)
		view_lines_wrap(lines, style, label, off);
}

void
view_lines_draw(const struct view_lines *lines, size_t i,
	const struct view_area *area, int at)
{
	const struct view_line *line = &lines->line[i];

	view_puts(area, at, 2, VIEW_DIM, line->label);
	view_put(area, at, 2 + VIEW_LABEL, line->style,
		lines->text.p + line->off, line->n);
}
