/* SPDX-License-Identifier: MIT */
/*
 * The bytes: offset, hexadecimal, characters. Rows begin at multiples of
 * their length, so that a byte keeps its column wherever one scrolls. What a
 * row needs is read when it is drawn; nothing is kept but where the first row
 * begins, and the cursor is always in view.
 */
#include "view/hex.h"

#include <stdlib.h>

#include "view/spot.h"

enum {
	GROUP = 8,        /* bytes between wider gaps, where there is room */
	DIGITS_LEAST = 8, /* of an offset, where there is room */
};

/* ---- Geometry ----------------------------------------------------------- */

static int
digits_of(uint64_t number, unsigned base)
{
	int n = 1;

	while (number >= base) {
		number /= base;
		n++;
	}
	return n;
}

/* Columns of the largest offset, a "+" included. */
static int
offset_columns(const struct view *view)
{
	uint64_t last = view->doc->size ? view->doc->size - 1 : 0;

	if (view->base == VIEW_HEXADECIMAL)
		return digits_of(last, 16);
	return digits_of(last, 10) + (view->base == VIEW_RELATIVE);
}

/* Sign, offset, blank, three columns a byte, characters. */
static int
columns(int digits, int bytes)
{
	return 1 + digits + 1 + 3 * bytes + bytes;
}

struct view_hex_layout
view_hex_lay_out(const struct view *view, const struct view_area *area)
{
	int least = offset_columns(view), spare;
	struct view_hex_layout g = { .bytes = VIEW_HEX_BYTES,
		.rows = area->rows - 1 };

	g.digits = least < DIGITS_LEAST ? DIGITS_LEAST : least;
	while (g.bytes > GROUP && columns(g.digits, g.bytes) > area->cols)
		g.bytes /= 2;
	if (columns(g.digits, g.bytes) > area->cols)
		g.digits = least;
	spare = area->cols - columns(g.digits, g.bytes);
	g.prefix = view->base == VIEW_HEXADECIMAL && spare >= 2;
	if (spare >= 2) {
		/* Kept free in other bases, so that bytes do not move. */
		g.digits += 2;
		spare -= 2;
	}
	g.hex = 1 + g.digits + 1;
	g.text = g.hex + 3 * g.bytes;
	if (spare >= 1) {
		g.text++;
		spare--;
	}
	g.grouped = spare >= g.bytes / GROUP - 1 && g.bytes > GROUP;
	if (g.grouped)
		g.text += g.bytes / GROUP - 1;
	if (g.rows < 0)
		g.rows = 0;
	if (g.rows > VIEW_HEX_ROWS)
		g.rows = VIEW_HEX_ROWS;
	return g;
}

static struct view_hex_layout
current(const struct view *view)
{
	return view_hex_lay_out(view, &view->areas[VIEW_HEX]);
}

int
view_hex_column(const struct view_hex_layout *g, int i)
{
	return g->hex + 3 * i + (g->grouped ? i / GROUP : 0);
}

/* ---- Scrolling ---------------------------------------------------------- */

static uint64_t
last_row(const struct view *view, const struct view_hex_layout *g)
{
	return view->doc->size ? (view->doc->size - 1) / (uint64_t)g->bytes : 0;
}

/* The first row when the last one is at the bottom. */
static uint64_t
last_top(const struct view *view, const struct view_hex_layout *g)
{
	uint64_t last = last_row(view, g), rows = (uint64_t)g->rows;

	return last + 1 > rows ? last + 1 - rows : 0;
}

/* Brings the cursor into view: by a row if it left by a row, else so that it
 * stands in the upper third. */
void
view_hex_follow(
	struct view *view, struct view_hex *h, const struct view_hex_layout *g)
{
	uint64_t bytes = (uint64_t)g->bytes, rows = (uint64_t)g->rows;
	uint64_t row = view->cursor / bytes, top = h->top / bytes;
	uint64_t third = row > rows / 3 ? row - rows / 3 : 0;
	uint64_t most = last_top(view, g);

	if (rows == 0)
		return;
	if (row < top)
		top = row + 1 == top ? row : third;
	else if (row - top >= rows)
		top = row - top == rows ? top + 1 : third;
	h->top = (top < most ? top : most) * bytes;
}

static void
moved(struct view *view, void *state)
{
	struct view_hex_layout g = current(view);

	view_hex_follow(view, state, &g);
}

/* A row by rows further, or back; not before the first nor behind last. */
static uint64_t
row_by(uint64_t row, uint64_t by, bool down, uint64_t last)
{
	if (!down)
		return row > by ? row - by : 0;
	return row < last && by < last - row ? row + by : last;
}

/* Scrolls by rows, and the cursor with them; it keeps its column. */
static void
page(struct view *view, struct view_hex *h, const struct view_hex_layout *g,
	int rows, bool down)
{
	uint64_t bytes = (uint64_t)g->bytes, by = rows < 1 ? 1 : (uint64_t)rows;
	uint64_t row = view->cursor / bytes, column = view->cursor % bytes;

	h->top = row_by(h->top / bytes, by, down, last_top(view, g)) * bytes;
	row = row_by(row, by, down, last_row(view, g));
	view_go(view, row * bytes + column);
}

/* A step of by bytes; a step down from above a short last row ends on it. */
static void
step(struct view *view, const struct view_hex_layout *g, uint64_t by, bool back)
{
	uint64_t left = view->doc->size - view->cursor;

	if (view->doc->size == 0)
		return;
	if (back) {
		if (view->cursor >= by)
			view_go(view, view->cursor - by);
	} else if (left > by) {
		view_go(view, view->cursor + by);
	} else if (view->cursor / (uint64_t)g->bytes < last_row(view, g)) {
		view_go(view, view->doc->size - 1);
	}
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct view_hex_layout g = current(view);
	uint64_t row = (uint64_t)g.bytes;

	switch ((int)action) {
	case VIEW_DO_UP: step(view, &g, row, true); return true;
	case VIEW_DO_DOWN: step(view, &g, row, false); return true;
	case VIEW_DO_LEFT: step(view, &g, 1, true); return true;
	case VIEW_DO_RIGHT: step(view, &g, 1, false); return true;
	case VIEW_DO_PAGE_UP: page(view, state, &g, g.rows, false); return true;
	case VIEW_DO_PAGE_DOWN:
		page(view, state, &g, g.rows, true);
		return true;
	case VIEW_DO_HALF_UP:
		page(view, state, &g, g.rows / 2, false);
		return true;
	case VIEW_DO_HALF_DOWN:
		page(view, state, &g, g.rows / 2, true);
		return true;
	case VIEW_DO_FIRST: view_jump(view, 0); return true;
	case VIEW_DO_LAST: view_jump(view, view->doc->size); return true;
	case VIEW_DO_OPEN: view_spot_open(view); return true;
	}
	return false;
}

/* The byte of the row that a column belongs to. */
static int
byte_at(const struct view_hex_layout *g, int col)
{
	if (col >= g->text)
		return col - g->text < g->bytes ? col - g->text : g->bytes - 1;
	for (int i = g->bytes - 1; i > 0; i--)
		if (col >= view_hex_column(g, i))
			return i;
	return 0;
}

static void
click(struct view *view, void *state, int row, int col, bool twice)
{
	struct view_hex *h = state;
	struct view_hex_layout g = current(view);
	uint64_t off;

	if (row < 1 || row > g.rows)
		return;
	off = h->top + (uint64_t)(row - 1) * (uint64_t)g.bytes +
	      (uint64_t)byte_at(&g, col);
	view_go(view, off);
	if (twice)
		view_spot_open(view);
}

static void *
make(struct view *view)
{
	(void)view;
	return calloc(1, sizeof(struct view_hex));
}

const struct view_pane_ops view_hex_pane = {
	.title = "bytes",
	.make = make,
	.free = free,
	.draw = view_hex_draw,
	.act = act,
	.click = click,
	.moved = moved,
};
