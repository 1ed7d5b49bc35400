/* SPDX-License-Identifier: MIT */
/*
 * The page with every key, made from the rows of keys.def, what may be typed
 * where a line is asked for, and what signs mean. On a wide screen it has two
 * columns, as a newspaper has: scrolling moves the text through both. What is
 * searched here is this text, row by row; the row that was found is marked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

enum { KEY_COLS = 22, TWO_COLUMNS = 120, LINES_MOST = 1024, ROWS_MOST = 256 };

#define NONE SIZE_MAX

struct help {
	size_t top;
	size_t lines, shown; /* when it was drawn */
	int cols;            /* of a column then */
	char *words;         /* that were searched for; owned */
	size_t found;        /* row that has them, or NONE */
};

/* Where the lines of the page go as they are made. */
struct page {
	const struct view_area *area;
	size_t top;    /* lines before the first that is drawn */
	size_t line;   /* the next to be made */
	int rows;      /* of a column */
	int cols, gap; /* of a column, to the next */
	size_t row;    /* of the tables, the next to be made */
	size_t found;  /* the one that is marked */
	size_t line_of_found;
};

static void *
make(struct view *view)
{
	struct help *h = calloc(1, sizeof *h);

	(void)view;
	if (h)
		h->found = NONE;
	return h;
}

static void
release(void *state)
{
	struct help *h = state;

	free(h->words);
	free(h);
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
	if (page->row == page->found)
		view_mark(&cell, 0, 0, -1, VIEW_REVERSE);
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

/* A row of the tables: what it is about, nothing of a heading, and its help.
 * False behind the last. */
static bool
read_row(size_t i, struct ckpt_buf *what, const char **help)
{
	const struct view_key_row *key = view_key_row(i);
	const struct view_note_row *note;
	size_t keys = 0;

	ckpt_buf_clear(what);
	if (key) {
		if (key->id)
			view_keys_write(what, key);
		*help = key->help;
		return true;
	}
	while (view_key_row(keys))
		keys++;
	note = view_note_row(i - keys);
	if (!note)
		return false;
	if (note->what)
		ckpt_buf_puts(what, note->what);
	*help = note->help;
	return true;
}

static void
put_page(struct page *page)
{
	struct ckpt_buf what = { 0 };
	const char *help;

	for (page->row = 0; read_row(page->row, &what, &help); page->row++) {
		if (page->row == page->found)
			page->line_of_found = page->line;
		if (what.n > 0)
			put_item(page, what.p, help);
		else
			put_heading(page, help);
	}
	ckpt_buf_release(&what);
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct help *h = state;
	bool two = area->cols >= TWO_COLUMNS;
	struct page page = { .area = area,
		.rows = area->rows - 1,
		.cols = two ? area->cols / 2 - 1 : area->cols,
		.gap = two ? 2 : 0,
		.found = h->found };
	/* Made once to be counted. */
	struct page count = { .area = area, .cols = page.cols, .found = NONE };
	char title[80];

	(void)view;
	put_page(&count);
	h->lines = count.line;
	h->cols = page.cols;
	h->shown = page.rows > 0 ? (size_t)page.rows * (two ? 2 : 1) : 0;
	if (h->top + h->shown > h->lines)
		h->top = h->shown < h->lines ? h->lines - h->shown : 0;
	page.top = h->top;
	put_page(&page);
	if (h->shown >= h->lines)
		snprintf(title, sizeof title, "keys and signs (q: back)");
	else
		snprintf(title, sizeof title,
			"keys and signs: lines %zu to %zu of %zu (q: back)",
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

/* ---- Searching ---------------------------------------------------------- */

/* Scrolls so that the row that was found is in sight. */
static void
show_found(struct help *h, const struct view_area *area)
{
	struct page page = { .area = area, .cols = h->cols, .found = h->found };
	size_t line;

	put_page(&page);
	line = page.line_of_found;
	if (line < h->top || line - h->top + 2 > h->shown)
		h->top = line > 0 ? line - 1 : 0;
	scroll(h, true, 0);
}

/* The rows that have the words; their number. */
static size_t
find_rows(const char *words, size_t rows[ROWS_MOST])
{
	struct ckpt_buf what = { 0 };
	const char *help;
	size_t n = 0;

	for (size_t i = 0; n < ROWS_MOST && read_row(i, &what, &help); i++)
		if (strcasestr(help, words) ||
			(what.n > 0 && strcasestr(what.p, words)))
			rows[n++] = i;
	ckpt_buf_release(&what);
	return n;
}

/* To the next row that has the words, or the one before, and round the
 * end. */
static void
search(struct view *view, struct help *h, bool back)
{
	size_t rows[ROWS_MOST], n = find_rows(h->words, rows), k = 0;
	struct ckpt_buf words = { 0 };

	ckpt_buf_escape(&words, h->words, strlen(h->words), 40);
	if (n == 0) {
		h->found = NONE;
		view_say(view, VIEW_WARNING, "not in this help: %s",
			words.p ? words.p : "");
		ckpt_buf_release(&words);
		return;
	}
	while (h->found != NONE && k < n &&
		(back ? rows[k] < h->found : rows[k] <= h->found))
		k++;
	if (back)
		k += n - 1;
	h->found = rows[k % n];
	view_say(view, VIEW_BAR, "%s: %zu of %zu in this help",
		words.p ? words.p : "", k % n + 1, n);
	ckpt_buf_release(&words);
	show_found(h, &view->areas[VIEW_HELP]);
}

static void
accept(struct view *view, const char *text)
{
	struct help *h = view->panes[VIEW_HELP];
	char *words;

	if (text[0]) {
		words = strdup(text);
		if (!words) {
			view_say(view, VIEW_ERROR, "out of memory");
			return;
		}
		free(h->words);
		h->words = words;
		h->found = NONE;
	}
	if (h->words)
		search(view, h, false);
}

static bool
search_action(struct view *view, struct help *h, enum view_action action)
{
	switch ((int)action) {
	case VIEW_DO_SEARCH:
		view_ask(view, "in this help: ", "", accept);
		return true;
	case VIEW_DO_AGAIN:
	case VIEW_DO_BACK_AGAIN:
		if (h->words)
			search(view, h, action == VIEW_DO_BACK_AGAIN);
		else
			view_say(view, VIEW_WARNING,
				"nothing was searched for in this help (/)");
		return true;
	}
	return false;
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct help *h = state;
	size_t page = h->shown > 2 ? h->shown - 2 : 1;

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
	return search_action(view, h, action);
}

const struct view_pane_ops view_help_pane = {
	.title = "help",
	.make = make,
	.free = release,
	.draw = draw,
	.act = act,
};
