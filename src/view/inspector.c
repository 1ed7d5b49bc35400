/* SPDX-License-Identifier: MIT */
/*
 * The inspector: what the byte under the cursor means. What there is to say
 * is put into words once a move; every frame wraps those words into a column
 * behind their labels and shows the rows from where it is scrolled to.
 */
#include "view/inspector.h"

#include <stdio.h>
#include <stdlib.h>

#include "view/spot.h"
#include "view/wrap.h"

enum { LABELS = 9 }; /* columns, a blank included */

struct inspector {
	struct view_sayings say;
	bool fresh;      /* say is of the cursor and the index that are */
	uint64_t cursor; /* of which it is */
	/* Whether tensors of this index lie apart, once that is known. */
	const struct ckpt_spans *spans;
	bool known, apart;
	size_t top;         /* first row shown */
	size_t rows, shown; /* when it was drawn */
};

/* Where a frame is; without an area rows are only counted. */
struct page {
	const struct view_area *area;
	size_t top, row;
	int labels, cols;
};

static void
put_row(struct page *page, const char *label, unsigned style, const char *text,
	size_t n)
{
	size_t row = page->row++;
	struct view_area labels;

	if (!page->area || row < page->top ||
		row - page->top >= (size_t)(page->area->rows - 1))
		return;
	row = row - page->top + 1;
	labels = view_area_part(
		page->area, 0, 0, page->area->rows, page->labels - 1);
	view_puts(&labels, (int)row, 0, VIEW_DIM, label);
	view_put(page->area, (int)row, page->labels, style, text, n);
}

static void
put_saying(struct page *page, const struct view_sayings *say,
	const struct view_saying *s)
{
	const char *text = say->text.p + s->at, *label = s->label;
	size_t n = s->n, k;

	while (n > 0) {
		k = view_row_bytes(text, n, page->cols);
		put_row(page, label, s->style, text, k);
		label = "";
		text += k;
		n -= k;
		while (n > 0 && *text == ' ') {
			text++;
			n--;
		}
	}
}

/* All rows, from top on into area, which may be NULL; their number. */
static size_t
put_all(const struct view_sayings *say, const struct view_area *area, int cols,
	size_t top)
{
	struct page page = { .area = area, .top = top };

	/* Narrow panes give the words at least two thirds. */
	page.labels = cols / 3 < LABELS ? cols / 3 : LABELS;
	page.labels = page.labels < 1 ? 1 : page.labels;
	page.cols = cols - page.labels;
	for (size_t i = 0; i < say->n; i++)
		put_saying(&page, say, &say->list[i]);
	return page.row;
}

static void
say_again(struct inspector *in, struct view *view)
{
	if (in->fresh)
		return;
	if (!in->known)
		in->apart = view_tensors_apart(view->doc);
	in->known = true;
	view_inspect(&in->say, view, in->apart);
	in->fresh = true;
}

static void
draw_title(
	const struct inspector *in, const struct view_area *area, bool focused)
{
	char title[80];

	if (in->rows <= in->shown || in->shown == 0)
		snprintf(title, sizeof title, "inspector");
	else
		snprintf(title, sizeof title, "inspector, lines %zu-%zu of %zu",
			in->top + 1, in->top + in->shown, in->rows);
	view_title(area, focused, title);
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct inspector *in = state;
	size_t most;

	say_again(in, view);
	in->shown = area->rows > 1 ? (size_t)(area->rows - 1) : 0;
	in->rows = put_all(&in->say, NULL, area->cols, 0);
	most = in->rows > in->shown ? in->rows - in->shown : 0;
	if (in->top > most)
		in->top = most;
	draw_title(in, area, focused);
	put_all(&in->say, area, area->cols, in->top);
}

static void
scroll(struct inspector *in, size_t by, bool down)
{
	size_t most = in->rows > in->shown ? in->rows - in->shown : 0;

	if (!down)
		in->top = in->top > by ? in->top - by : 0;
	else
		in->top = most > in->top && by < most - in->top ? in->top + by
								: most;
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct inspector *in = state;
	size_t page = in->shown > 1 ? in->shown - 1 : 1;

	switch ((int)action) {
	case VIEW_DO_UP: scroll(in, 1, false); return true;
	case VIEW_DO_DOWN: scroll(in, 1, true); return true;
	case VIEW_DO_PAGE_UP: scroll(in, page, false); return true;
	case VIEW_DO_PAGE_DOWN: scroll(in, page, true); return true;
	case VIEW_DO_HALF_UP: scroll(in, page / 2 + 1, false); return true;
	case VIEW_DO_HALF_DOWN: scroll(in, page / 2 + 1, true); return true;
	case VIEW_DO_FIRST: scroll(in, in->rows, false); return true;
	case VIEW_DO_LAST: scroll(in, in->rows, true); return true;
	case VIEW_DO_LEFT:
		if (view->cursor > 0)
			view_go(view, view->cursor - 1);
		return true;
	case VIEW_DO_RIGHT: view_go(view, view->cursor + 1); return true;
	case VIEW_DO_OPEN: view_spot_open(view); return true;
	}
	return false;
}

static void
moved(struct view *view, void *state)
{
	struct inspector *in = state;

	in->fresh = false;
	/* An index and the one before it are never at the same address. */
	if (in->spans != view->doc->spans)
		in->known = false;
	in->spans = view->doc->spans;
	if (in->cursor != view->cursor)
		in->top = 0;
	in->cursor = view->cursor;
}

static void *
make(struct view *view)
{
	(void)view;
	return calloc(1, sizeof(struct inspector));
}

static void
release(void *state)
{
	struct inspector *in = state;

	ckpt_buf_release(&in->say.text);
	free(in);
}

const struct view_pane_ops view_inspector_pane = {
	.title = "inspector",
	.make = make,
	.free = release,
	.draw = draw,
	.act = act,
	.moved = moved,
};
