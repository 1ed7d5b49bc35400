/* SPDX-License-Identifier: MIT */
/*
 * The grid. Widths of characters are those of the C library for the locale
 * that the program set; in the C locale, where it knows none, a character
 * beyond ASCII is one column wide, so that tests do not depend on locales.
 */
#include "view/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"

static const struct view_cell blank = { .text = " " };

bool
view_grid_resize(struct view_grid *grid, int rows, int cols)
{
	struct view_cell *cells;

	rows = rows < 1 ? 1 : rows > 1000 ? 1000 : rows;
	cols = cols < 1 ? 1 : cols > 4000 ? 4000 : cols;
	cells = calloc((size_t)rows * (size_t)cols, sizeof *cells);
	if (!cells)
		return false;
	free(grid->cells);
	grid->cells = cells;
	grid->rows = rows;
	grid->cols = cols;
	view_grid_clear(grid);
	return true;
}

void
view_grid_clear(struct view_grid *grid)
{
	size_t n = (size_t)grid->rows * (size_t)grid->cols;

	for (size_t i = 0; i < n; i++)
		grid->cells[i] = blank;
}

void
view_grid_release(struct view_grid *grid)
{
	free(grid->cells);
	memset(grid, 0, sizeof *grid);
}

struct view_area
view_grid_area(struct view_grid *grid)
{
	return (struct view_area){ grid, 0, 0, grid->rows, grid->cols };
}

struct view_area
view_area_part(
	const struct view_area *area, int row, int col, int rows, int cols)
{
	if (row > area->rows)
		row = area->rows;
	if (col > area->cols)
		col = area->cols;
	if (rows > area->rows - row)
		rows = area->rows - row;
	if (cols > area->cols - col)
		cols = area->cols - col;
	return (struct view_area){ area->grid, area->row + row, area->col + col,
		rows < 0 ? 0 : rows, cols < 0 ? 0 : cols };
}

/* Columns of a character: 0 to 2, or -1 if it must not reach a terminal. */
static int
point_width(uint32_t point)
{
	int width;

	if (point < ' ' || (point >= 0x7f && point < 0xa0))
		return -1;
	if (point < 0x7f)
		return 1;
	width = wcwidth((wchar_t)point);
	if (width >= 0)
		return width;
	/* Not printable, or a locale that knows nothing beyond ASCII. */
	return wcwidth(L'\u00e9') < 0 ? 1 : -1;
}

/* The next character of text: its bytes, columns and text to draw. */
static size_t
next_character(const char *text, size_t n, int *width)
{
	uint32_t point;
	size_t k = ckpt_utf8_decode((const uint8_t *)text, n, &point);

	*width = k ? point_width(point) : -1;
	return k ? k : 1;
}

static struct view_cell *
cell_at(const struct view_area *area, int row, int col)
{
	if (row < 0 || col < 0 || row >= area->rows || col >= area->cols)
		return NULL;
	return &area->grid->cells[(area->row + row) * area->grid->cols +
				  area->col + col];
}

/* Adds a character without columns to the cell before. */
static void
combine(struct view_cell *cell, const char *text, size_t n)
{
	size_t have = cell ? strlen(cell->text) : 0;

	if (!cell || have == 0 || have + n > VIEW_CELL)
		return;
	memcpy(cell->text + have, text, n);
	cell->text[have + n] = '\0';
}

static void
set(const struct view_area *area, int row, int col, unsigned style,
	const char *text, size_t n)
{
	struct view_cell *cell = cell_at(area, row, col);

	if (!cell || n > VIEW_CELL)
		return;
	memcpy(cell->text, text, n);
	cell->text[n] = '\0';
	cell->style = (uint8_t)(style & 0xff);
	cell->marks = (uint8_t)(style >> 8);
}

int
view_put(const struct view_area *area, int row, int col, unsigned style,
	const char *text, size_t n)
{
	while (n > 0) {
		int width;
		size_t k = next_character(text, n, &width);

		if (width == 0) {
			combine(cell_at(area, row, col - 1), text, k);
		} else if (width < 0) {
			set(area, row, col++, style, "?", 1);
		} else if (width == 2 && col + 1 == area->cols) {
			/* Half of it would lie outside. */
			set(area, row, col, style, "?", 1);
			col += 2;
		} else {
			set(area, row, col, style, text, k);
			if (width == 2)
				set(area, row, col + 1, style, "", 0);
			col += width;
		}
		text += k;
		n -= k;
	}
	return col;
}

int
view_puts(const struct view_area *area, int row, int col, unsigned style,
	const char *text)
{
	return view_put(area, row, col, style, text, strlen(text));
}

int
view_printf(const struct view_area *area, int row, int col, unsigned style,
	const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0)
		return col;
	return view_put(area, row, col, style, text, strlen(text));
}

void
view_mark(
	const struct view_area *area, int row, int col, int end, unsigned marks)
{
	if (end < 0 || end > area->cols)
		end = area->cols;
	for (; col < end; col++) {
		struct view_cell *cell = cell_at(area, row, col);

		if (cell)
			cell->marks |= (uint8_t)marks;
	}
}

void
view_title(const struct view_area *area, bool focused, const char *text)
{
	unsigned style = focused ? VIEW_FOCUSED : VIEW_TITLE;
	const char *rule = view_sign(area->grid, VIEW_SIGN_RULE);
	int col = 0;

	while (col < area->cols)
		col = view_puts(area, 0, col, style, rule);
	col = view_puts(area, 0, 1, style, focused ? "[" : " ");
	col = view_puts(area, 0, col, style, text);
	view_puts(area, 0, col, style, focused ? "]" : " ");
}

int
view_width(const char *text, size_t n)
{
	int col = 0;

	while (n > 0) {
		int width;
		size_t k = next_character(text, n, &width);

		col += width < 0 ? 1 : width;
		text += k;
		n -= k;
	}
	return col;
}

size_t
view_fit(const char *text, size_t n, int cols)
{
	size_t at = 0;
	int col = 0;

	while (at < n) {
		int width;
		size_t k = next_character(text + at, n - at, &width);

		col += width < 0 ? 1 : width;
		if (col > cols)
			break;
		at += k;
	}
	return at;
}

/* One pass, however long the text: whoever draws it does so often. */
size_t
view_fit_end(const char *text, size_t n, int cols)
{
	int left = view_width(text, n), width;
	size_t at = 0, k;

	while (at < n && left > cols) {
		k = next_character(text + at, n - at, &width);
		left -= width < 0 ? 1 : width;
		at += k;
	}
	/* What is drawn over a character goes with it. */
	while (at > 0 && at < n) {
		k = next_character(text + at, n - at, &width);
		if (width != 0)
			break;
		at += k;
	}
	return at;
}

size_t
view_cell_wide(
	const struct view_cell *cell, bool utf8, wchar_t *to, size_t most)
{
	const char *text = cell->text;
	size_t n = 0, left = strlen(text);

	while (left > 0 && n < most) {
		uint32_t point;
		size_t k =
			ckpt_utf8_decode((const uint8_t *)text, left, &point);

		if (k == 0 || (k > 1 && !utf8)) {
			to[0] = L'?';
			n = 1;
			break;
		}
		to[n++] = (wchar_t)point;
		text += k;
		left -= k;
	}
	to[n] = L'\0';
	return n;
}

void
view_grid_write(const struct view_grid *grid, struct ckpt_buf *buf)
{
	for (int row = 0; row < grid->rows; row++) {
		const struct view_cell *cells = &grid->cells[row * grid->cols];
		int end = grid->cols;

		while (end > 0 && strcmp(cells[end - 1].text, " ") == 0)
			end--;
		for (int col = 0; col < end; col++)
			ckpt_buf_puts(buf, cells[col].text);
		ckpt_buf_puts(buf, "\n");
	}
}

const char *
view_sign(const struct view_grid *grid, enum view_sign sign)
{
	static const char *const signs[][2] = {
		[VIEW_SIGN_RULE] = { "-", "─" },
		[VIEW_SIGN_BAR] = { "|", "│" },
		[VIEW_SIGN_FOLDED] = { "+", "▸" },
		[VIEW_SIGN_OPEN] = { "-", "▾" },
		[VIEW_SIGN_ELLIPSIS] = { "~", "…" },
	};

	return signs[sign][grid->utf8];
}

const char *
view_block(const struct view_grid *grid, unsigned eighths)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆",
		"▇", "█" };
	static const char *const plain[] = { " ", ".", ".", ":", ":", "+", "+",
		"#", "#" };

	if (eighths > 8)
		eighths = 8;
	return grid->utf8 ? blocks[eighths] : plain[eighths];
}
