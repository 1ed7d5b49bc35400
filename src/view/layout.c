/* SPDX-License-Identifier: MIT */
/*
 * Three layouts. A large screen shows all panes:
 *
 *     tree      | bytes
 *     ----------+----------------------
 *     inspector | statistics | findings
 *
 * A middling one shows the tree and the bytes, and below them the inspector
 * and one of the other two. A small one, and a pane that is zoomed, has the
 * screen for itself, as a page has on any.
 */
#include "view/layout.h"

enum { LARGE_ROWS = 30, LARGE_COLS = 110, MIDDLE_ROWS = 18, MIDDLE_COLS = 72 };

bool
view_too_small(const struct view *view)
{
	return view->grid.rows < VIEW_LEAST_ROWS ||
	       view->grid.cols < VIEW_LEAST_COLS;
}

bool
view_narrow(const struct view *view)
{
	return view->grid.rows < MIDDLE_ROWS || view->grid.cols < MIDDLE_COLS;
}

bool
view_alone(const struct view *view)
{
	return view->zoomed || view->focus >= VIEW_PAGES || view_narrow(view);
}

static void
place(struct view *view, enum view_pane_id pane, int row, int col, int rows,
	int cols)
{
	struct view_area screen = view_grid_area(&view->grid);

	view->areas[pane] = view_area_part(&screen, row, col, rows, cols);
}

/* The columns of the hex pane that show a whole number of rows best. */
static int
hex_columns(int room)
{
	/* Offset, two blanks, three for a byte, a blank, the characters. */
	int wide = 10 + 2 + 3 * 32 + 1 + 32;
	int usual = 10 + 2 + 3 * 16 + 1 + 16;
	int narrow = 10 + 2 + 3 * 8 + 1 + 8;

	if (room >= wide + 50)
		return wide;
	return room >= usual + 28 ? usual : narrow;
}

/* The panes below the tree and the bytes. */
static void
place_lower(struct view *view, int row, int rows, bool large)
{
	int cols = view->grid.cols, third = cols / 3;

	if (large) {
		place(view, VIEW_INSPECTOR, row, 0, rows, third);
		place(view, VIEW_STATS, row, third + 1, rows, third - 1);
		place(view, VIEW_FINDINGS, row, 2 * third + 1, rows,
			cols - 2 * third - 1);
		return;
	}
	place(view, VIEW_INSPECTOR, row, 0, rows, cols / 2);
	place(view, view->focus == VIEW_STATS ? VIEW_STATS : VIEW_FINDINGS, row,
		cols / 2 + 1, rows, cols - cols / 2 - 1);
}

void
view_layout(struct view *view)
{
	int rows = view->grid.rows, cols = view->grid.cols;
	int body = rows - 3, lower, hex;
	bool large = rows >= LARGE_ROWS && cols >= LARGE_COLS;

	for (enum view_pane_id i = 0; i < VIEW_PANES; i++)
		view->areas[i] = (struct view_area){ .grid = &view->grid };
	if (view_too_small(view))
		return;
	place(view, VIEW_STRIP, 1, 0, 1, cols);
	if (view_alone(view)) {
		place(view, view->focus, 2, 0, body, cols);
		return;
	}
	lower = body * 2 / 5;
	hex = hex_columns(cols);
	place(view, VIEW_TREE, 2, 0, body - lower, cols - hex - 1);
	place(view, VIEW_HEX, 2, cols - hex, body - lower, hex);
	place_lower(view, rows - 1 - lower, lower, large);
}
