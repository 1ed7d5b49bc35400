/* SPDX-License-Identifier: MIT */
/*
 * The page with every key, made from the rows of keys.def, and what may be
 * typed where a line is asked for. On a wide screen it has two columns, as a
 * newspaper has: scrolling moves the text through both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

enum { KEY_COLS = 22, TWO_COLUMNS = 120, LINES_MOST = 1024 };

struct help {
	size_t top;
	size_t lines, shown; /* when it was drawn */
};

/* Where the lines of the page go as they are made. */
struct page {
	const struct view_area *area;
	size_t top;    /* lines before the first that is drawn */
	size_t line;   /* the next to be made */
	int rows;      /* of a column */
	int cols, gap; /* of a column, to the next */
};

static void *
make(struct view *view)
{
	(void)view;
	return calloc(1, sizeof(struct help));
}

/* One line of the page: what in the left of the column, text right of it. */
static void
put_line(struct page *page, const char *what, unsigned style, const char *text,
	size_t n)
{
	size_t i = page->line++;
	int row, column, indent;
	struct view_area cell;

	if (i < page->top || page->rows <= 0)
		return;
	i -= page->top;
	column = (int)(i / (size_t)page->rows);
	row = (int)(i % (size_t)page->rows);
	if (column > 1 || (column == 1 && page->gap == 0))
		return;
	cell = view_area_part(page->area, 1 + row,
		column * (page->cols + page->gap), 1, page->cols);
	indent = page->cols > 2 * KEY_COLS ? KEY_COLS : KEY_COLS / 2;
	view_puts(&cell, 0, 0, VIEW_BOLD, what);
	view_put(&cell, 0, style == VIEW_TITLE ? 0 : indent, style, text, n);
}

/* An item: as many lines as its help needs, or one more if what is typed is
 * too long to stand beside it. */
static void
put_item(struct page *page, const char *what, const char *help)
{
	int indent = page->cols > 2 * KEY_COLS ? KEY_COLS : KEY_COLS / 2;
	int room = page->cols > indent ? page->cols - indent : 1;

	if (view_width(what, strlen(what)) >= indent) {
		put_line(page, what, VIEW_PLAIN, "", 0);
		what = "";
	}
	while (*help && page->line < LINES_MOST) {
		size_t n = strlen(help), fit = view_fit(help, n, room);
		size_t blank = fit;

		while (fit < n && blank > 0 && help[blank] != ' ')
			blank--;
		if (blank > 0)
			fit = blank;
		if (fit == 0)
			fit = 1;
		put_line(page, what, VIEW_PLAIN, help, fit);
		what = "";
		help += fit;
		help += strspn(help, " ");
	}
}

static void
put_heading(struct page *page, const char *title)
{
	if (page->line > 0)
		put_line(page, "", VIEW_PLAIN, "", 0);
	put_line(page, "", VIEW_TITLE, title, strlen(title));
}

static void
put_page(struct page *page)
{
	const struct view_key_row *key;
	const struct view_typed_row *typed;

	for (size_t i = 0; (key = view_key_row(i)) != NULL; i++) {
		struct ckpt_buf keys = { 0 };

		if (!key->id) {
			put_heading(page, key->help);
			continue;
		}
		view_keys_write(&keys, key);
		put_item(page, keys.p ? keys.p : "", key->help);
		ckpt_buf_release(&keys);
	}
	for (size_t i = 0; (typed = view_typed_row(i)) != NULL; i++) {
		if (typed->what)
			put_item(page, typed->what, typed->help);
		else
			put_heading(page, typed->help);
	}
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct help *h = state;
	bool two = area->cols >= TWO_COLUMNS;
	struct page page = { .area = area,
		.rows = area->rows - 1,
		.cols = two ? area->cols / 2 - 1 : area->cols,
		.gap = two ? 2 : 0 };
	/* Made once to be counted. */
	struct page count = { .area = area, .cols = page.cols };
	char title[80];

	(void)view;
	put_page(&count);
	h->lines = count.line;
	h->shown = page.rows > 0 ? (size_t)page.rows * (two ? 2 : 1) : 0;
	if (h->top + h->shown > h->lines)
		h->top = h->shown < h->lines ? h->lines - h->shown : 0;
	page.top = h->top;
	put_page(&page);
	if (h->shown >= h->lines)
		snprintf(title, sizeof title, "every key (q: back)");
	else
		snprintf(title, sizeof title,
			"every key: lines %zu to %zu of %zu (q: back)",
			h->top + 1, h->top + h->shown, h->lines);
	view_title(area, focused, title);
}

static void
scroll(struct help *h, bool down, size_t by)
{
	size_t last = h->shown < h->lines ? h->lines - h->shown : 0;

	if (h->top > last)
		h->top = last;
	if (down)
		h->top = by > last - h->top ? last : h->top + by;
	else
		h->top = by > h->top ? 0 : h->top - by;
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct help *h = state;
	size_t page = h->shown > 2 ? h->shown - 2 : 1;

	(void)view;
	switch ((int)action) {
	case VIEW_DO_UP: scroll(h, false, 1); return true;
	case VIEW_DO_DOWN: scroll(h, true, 1); return true;
	case VIEW_DO_PAGE_UP: scroll(h, false, page); return true;
	case VIEW_DO_PAGE_DOWN: scroll(h, true, page); return true;
	case VIEW_DO_HALF_UP: scroll(h, false, page / 2 + 1); return true;
	case VIEW_DO_HALF_DOWN: scroll(h, true, page / 2 + 1); return true;
	case VIEW_DO_FIRST: h->top = 0; return true;
	case VIEW_DO_LAST: scroll(h, true, h->lines); return true;
	}
	return false;
}

const struct view_pane_ops view_help_pane = {
	.title = "help",
	.make = make,
	.free = free,
	.draw = draw,
	.act = act,
};
