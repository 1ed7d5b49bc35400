/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_GRID_H
#define CKPT_VIEW_GRID_H

/*
 * What is drawn on: a grid of character cells, and rectangles of it. Panes
 * know nothing else, so a screen can be had as text without a terminal.
 *
 * Text that is drawn is UTF-8 and has passed ckpt_buf_escape() if it came
 * from a file. Whatever would move a cursor is drawn as '?' all the same.
 */

#include <wchar.h>

#include "base/buf.h"

/* What a cell means; view/term.c says how that looks. Meaning is never in the
 * colour alone. */
enum view_style {
	VIEW_PLAIN,
	VIEW_BOLD,
	VIEW_DIM,
	VIEW_TITLE,   /* of a pane */
	VIEW_FOCUSED, /* title of the pane that has the keys */
	VIEW_BAR,     /* first and last line of the screen */
	VIEW_HEADER,  /* owners of bytes */
	VIEW_TOKENIZER,
	VIEW_PARAMETER,
	VIEW_MOMENT,
	VIEW_OTHER,
	VIEW_LOST, /* bytes of nobody */
	VIEW_ERROR,
	VIEW_WARNING,
	VIEW_GOOD,
	VIEW_STYLES
};

enum view_mark {
	VIEW_REVERSE = 1, /* cursor, selected row */
	VIEW_UNDERLINE = 2,
};

enum { VIEW_CELL = 15 };

struct view_cell {
	char text[VIEW_CELL + 1]; /* a character and what combines with it;
				   * "" in the right half of a wide one */
	uint8_t style;            /* enum view_style */
	uint8_t marks;            /* of enum view_mark */
};

struct view_grid {
	int rows, cols;
	struct view_cell *cells; /* row-major; owned */
	bool utf8;               /* else lines and blocks are ASCII */
};

/* A rectangle of a grid; coordinates are relative to it and what lies outside
 * is not drawn. */
struct view_area {
	struct view_grid *grid;
	int row, col, rows, cols;
};

/* Blank, of at least 1 x 1. False if out of memory: it keeps its size. */
bool view_grid_resize(struct view_grid *grid, int rows, int cols);
void view_grid_clear(struct view_grid *grid);
void view_grid_release(struct view_grid *grid);

struct view_area view_grid_area(struct view_grid *grid);
/* A part of an area, clipped to it. */
struct view_area view_area_part(
	const struct view_area *area, int row, int col, int rows, int cols);

/* Draws n bytes of text from col on, in style with marks; returns the column
 * behind it, which may lie outside. */
int view_put(const struct view_area *area, int row, int col, unsigned style,
	const char *text, size_t n);
int view_puts(const struct view_area *area, int row, int col, unsigned style,
	const char *text);
int view_printf(const struct view_area *area, int row, int col, unsigned style,
	const char *format, ...) __attribute__((format(printf, 5, 6)));
/* style | VIEW_MARKS(marks) for the functions above. */
#define VIEW_MARKS(marks) ((unsigned)(marks) << 8)

/* Adds marks to the cells [col, end) of a row; end -1: to its end. */
void view_mark(const struct view_area *area, int row, int col, int end,
	unsigned marks);

/* A title line of a pane: rule, words, rule. */
void view_title(const struct view_area *area, bool focused, const char *text);

/* The columns that n bytes of text take. */
int view_width(const char *text, size_t n);
/* The bytes of text that fit into cols columns. */
size_t view_fit(const char *text, size_t n, int cols);
/* The place in text from which on it fits into cols columns. */
size_t view_fit_end(const char *text, size_t n, int cols);

/* The characters of a cell, at most most of them, and a 0 behind them; with
 * utf8 false '?' for what is not ASCII. How many there are: 0 in the right
 * half of a wide one. */
size_t view_cell_wide(
	const struct view_cell *cell, bool utf8, wchar_t *to, size_t most);

/* The grid as text: lines without trailing blanks. */
void view_grid_write(const struct view_grid *grid, struct ckpt_buf *buf);

/* Signs with an ASCII fallback. */
enum view_sign {
	VIEW_SIGN_RULE,    /* - */
	VIEW_SIGN_BAR,     /* | */
	VIEW_SIGN_FOLDED,  /* + */
	VIEW_SIGN_OPEN,    /* - */
	VIEW_SIGN_ELLIPSIS /* ... */
};
const char *view_sign(const struct view_grid *grid, enum view_sign sign);
/* A block of height eighths / 8, 0 to 8. */
const char *view_block(const struct view_grid *grid, unsigned eighths);

#endif
