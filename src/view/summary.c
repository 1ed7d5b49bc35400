/* SPDX-License-Identifier: MIT */
/*
 * The page that says what the file holds. Its words are made anew when the
 * index, the findings or the stage of the verification are others, and are
 * wrapped to the page at every drawing.
 */
#include "view/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/summary_text.h"
#include "view/wrap.h"

struct summary {
	struct ckpt_buf text;
	/* What it was made of; only compared. */
	const struct ckpt_spans *spans;
	const struct ckpt_diag *findings;
	const struct ckpt_run *run;
	enum view_stage stage;
	bool made;
	int top, height, lines;
};

static void *
make(struct view *view)
{
	(void)view;
	return calloc(1, sizeof(struct summary));
}

static void
release(void *state)
{
	struct summary *s = state;

	ckpt_buf_release(&s->text);
	free(s);
}

static void
refresh(struct summary *s, const struct view_doc *doc)
{
	if (s->made && s->spans == doc->spans && s->findings == doc->findings &&
		s->run == doc->run && s->stage == doc->stage)
		return;
	s->spans = doc->spans;
	s->findings = doc->findings;
	s->run = doc->run;
	s->stage = doc->stage;
	s->made = true;
	ckpt_buf_clear(&s->text);
	view_summary_write(&s->text, doc);
}

static void
moved(struct view *view, void *state)
{
	struct summary *s = state;

	/* A later index may come to lie where this one was. */
	if (s->spans != view->doc->spans || s->findings != view->doc->findings)
		s->made = false;
}

/* ---- Drawing ------------------------------------------------------------ */

/* Where the next row goes; area NULL: rows are only counted. */
struct page {
	const struct view_area *area;
	int row, cols;
	int column; /* behind the labels of this block */
};

static void
put(struct page *page, int col, unsigned style, const char *text, size_t n)
{
	if (page->area && page->row >= 0 && page->row < page->area->rows)
		view_put(page->area, page->row, col, style, text, n);
}

/* A label, and words in a column behind it, or behind a longer label. */
static void
wrap(struct page *page, const char *text, size_t n, size_t label)
{
	int col = page->column;

	if ((int)label >= col)
		col = (int)label + 1;
	put(page, 0, VIEW_DIM, text, label);
	text += label + 1;
	n -= label + 1;
	if (page->cols - col < page->cols / 3) {
		page->row++;
		col = page->column;
	}
	while (n > 0) {
		size_t k = view_row_bytes(text, n, page->cols - col);

		put(page, col, VIEW_PLAIN, text, k);
		page->row++;
		while (k < n && text[k] == ' ')
			k++;
		text += k;
		n -= k;
		col = page->column;
	}
}

/* The column behind the labels of a block of lines, up to half a page. */
static int
column_of(const char *text, const char *end, int cols)
{
	int column = 0;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		const char *tab = memchr(text, '\t', n);

		if (!tab)
			break;
		if (tab - text + 2 > column)
			column = (int)(tab - text) + 2;
		text += n + (stop ? 1 : 0);
	}
	return column < cols / 2 ? column : cols / 2;
}

/* All rows, without the first ones; their number. */
static int
put_all(const struct summary *s, const struct view_area *area, int cols,
	int without)
{
	struct page page = { .area = area, .row = -without, .cols = cols };
	const char *text = s->text.p, *end = text + s->text.n;
	bool block = false;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		const char *tab = memchr(text, '\t', n);

		if (tab && !block)
			page.column = column_of(text, end, cols);
		block = tab != NULL;
		if (tab) {
			wrap(&page, text, n, (size_t)(tab - text));
		} else {
			put(&page, 0, VIEW_PLAIN, text, n);
			page.row++;
		}
		text += n + (stop ? 1 : 0);
	}
	return page.row + without;
}

static void
clamp(struct summary *s)
{
	if (s->top > s->lines - s->height)
		s->top = s->lines - s->height;
	if (s->top < 0)
		s->top = 0;
}

/* Rows and height for a page of this size; the top stays within them. */
static void
measure(struct summary *s, const struct view_doc *doc, int rows, int cols)
{
	refresh(s, doc);
	s->height = rows - 1;
	s->lines = s->text.failed ? 0 : put_all(s, NULL, cols - 2, 0);
	clamp(s);
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct summary *s = state;
	struct view_area body =
		view_area_part(area, 1, 1, area->rows - 1, area->cols - 2);
	char title[80] = "summary";

	measure(s, view->doc, area->rows, area->cols);
	if (s->text.failed) {
		view_title(area, focused, title);
		view_puts(&body, 0, 0, VIEW_ERROR, "not enough memory");
		return;
	}
	if (s->lines > s->height && s->height > 0)
		snprintf(title, sizeof title, "summary, lines %d-%d of %d",
			s->top + 1, s->top + s->height, s->lines);
	view_title(area, focused, title);
	put_all(s, &body, body.cols, s->top);
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct summary *s = state;
	const struct view_area *area = &view->areas[VIEW_SUMMARY];
	int page;

	measure(s, view->doc, area->rows, area->cols);
	page = s->height > 1 ? s->height - 1 : 1;
	switch ((int)action) {
	case VIEW_DO_UP: s->top--; break;
	case VIEW_DO_DOWN: s->top++; break;
	case VIEW_DO_PAGE_UP: s->top -= page; break;
	case VIEW_DO_PAGE_DOWN: s->top += page; break;
	case VIEW_DO_HALF_UP: s->top -= (page + 1) / 2; break;
	case VIEW_DO_HALF_DOWN: s->top += (page + 1) / 2; break;
	case VIEW_DO_FIRST: s->top = 0; break;
	case VIEW_DO_LAST: s->top = s->lines; break;
	default: return false;
	}
	clamp(s);
	return true;
}

const struct view_pane_ops view_summary_pane = {
	.title = "summary",
	.make = make,
	.free = release,
	.draw = draw,
	.act = act,
	.moved = moved,
};
