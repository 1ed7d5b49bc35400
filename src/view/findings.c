/* SPDX-License-Identifier: MIT */
/*
 * The findings, a row each, by rank: the first error is the primary one. Below
 * the list stands what there is to say of the selected finding, in the words
 * of ckverify. What is selected is remembered by its rule and place, because
 * the list is another one after each poll.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/findings_text.h"
#include "view/wrap.h"

struct findings {
	size_t selected, top;
	const struct ckpt_rule *rule; /* of the selected one; static */
	uint64_t off;
	bool picked; /* by a key or a click; else a new list starts over */
	const struct ckpt_diag *list; /* last seen, to be compared only */
	size_t n;
	size_t rows; /* of the list, when it was drawn */
};

static void *
make(struct view *view)
{
	(void)view;
	return calloc(1, sizeof(struct findings));
}

/* ---- What is selected --------------------------------------------------- */

static void
choose(struct findings *f, const struct view_doc *doc, size_t i)
{
	f->selected = i;
	f->rule = i < doc->nfindings ? doc->findings[i].rule : NULL;
	f->off = i < doc->nfindings ? doc->findings[i].off : 0;
}

/* After the list has changed: to the same finding if one was picked, else to
 * the first, because ranks are known only in the end. */
static void
settle(struct findings *f, const struct view_doc *doc)
{
	size_t i = f->picked ? 0 : doc->nfindings;

	if (f->list == doc->findings && f->n == doc->nfindings)
		return;
	f->list = doc->findings;
	f->n = doc->nfindings;
	for (; i < doc->nfindings; i++)
		if (doc->findings[i].rule == f->rule &&
			doc->findings[i].off == f->off)
			break;
	f->picked = i < doc->nfindings;
	choose(f, doc, f->picked ? i : 0);
}

/* Whether the cursor stands on the bytes of a finding; one behind the end is
 * on the last byte. */
static bool
covers(const struct view *view, const struct ckpt_diag *d)
{
	uint64_t size = view->doc->size, off = d->off;

	if (!view_finding_placed(d))
		return false;
	if (off >= size)
		off = size > 0 ? size - 1 : 0;
	return view->cursor >= off &&
	       view->cursor - off < (d->len ? d->len : 1);
}

/* The finding with the fewest bytes says most about the one at the cursor. */
static void
moved(struct view *view, void *state)
{
	struct findings *f = state;
	const struct view_doc *doc = view->doc;
	size_t best = doc->nfindings;

	settle(f, doc);
	if (f->selected < doc->nfindings &&
		covers(view, &doc->findings[f->selected]))
		return;
	for (size_t i = 0; i < doc->nfindings; i++) {
		const struct ckpt_diag *d = &doc->findings[i];

		if (covers(view, d) &&
			(best == doc->nfindings ||
				d->len < doc->findings[best].len))
			best = i;
	}
	if (best < doc->nfindings)
		choose(f, doc, best);
}

/* ---- Drawing ------------------------------------------------------------ */

static enum view_style
style_of(const struct ckpt_diag *d)
{
	switch (d->rule->severity) {
	case CKPT_NOTE: break;
	case CKPT_WARNING: return VIEW_WARNING;
	case CKPT_ERROR: return VIEW_ERROR;
	}
	return VIEW_PLAIN;
}

/* Text in a row of its own, cut with a sign. */
static void
put_cut(const struct view_area *area, int row, unsigned style,
	const struct ckpt_buf *text)
{
	size_t n = text->n;
	int col;

	if (n == 0)
		return;
	if (view_width(text->p, n) > area->cols)
		n = view_fit(text->p, n, area->cols - 1);
	col = view_put(area, row, 0, style, text->p, n);
	if (n < text->n)
		view_puts(area, row, col, style,
			view_sign(area->grid, VIEW_SIGN_ELLIPSIS));
}

static void
draw_row(struct view *view, const struct view_area *area, int row,
	const struct ckpt_diag *d, bool selected, bool focused)
{
	struct ckpt_buf text = { 0 };
	unsigned style = style_of(d);

	if (selected && focused)
		style |= VIEW_MARKS(VIEW_REVERSE);
	ckpt_buf_puts(&text, selected ? "> " : "  ");
	view_findings_row_write(&text, view, d);
	put_cut(area, row, style, &text);
	if (selected && focused)
		view_mark(area, row, 0, -1, VIEW_REVERSE);
	ckpt_buf_release(&text);
}

/* Wraps text from a row on; without area only counts. Returns the rows. */
static int
wrap(const struct view_area *area, int row, int cols, const char *text)
{
	int rows = 0;

	while (*text) {
		size_t line = strcspn(text, "\n"), n;

		n = view_row_bytes(text, line, cols);
		if (area)
			view_put(area, row + rows, 2, VIEW_PLAIN, text, n);
		rows++;
		text += n;
		text += n == line ? *text == '\n' : strspn(text, " ");
	}
	return rows;
}

/* Keeps the selected one of n in sight; rows of them are shown. */
static void
scroll(struct findings *f, size_t rows, size_t n)
{
	if (f->top > n - rows)
		f->top = n - rows;
	if (f->selected < f->top)
		f->top = f->selected;
	else if (rows > 0 && f->selected - f->top >= rows)
		f->top = f->selected - rows + 1;
	f->rows = rows;
}

static void
draw_list(struct view *view, struct findings *f, const struct view_area *area,
	bool focused)
{
	const struct view_doc *doc = view->doc;
	struct ckpt_buf text = { 0 };
	int body = area->rows - 1, wanted, rows, least;

	view_findings_details_write(&text, view, &doc->findings[f->selected]);
	wanted = text.p ? wrap(NULL, 0, area->cols - 2, text.p) + 1 : 0;
	/* Of the list a third, but three rows if there are so many. */
	least = body / 3 > 3 ? body / 3 : 3;
	rows = body - wanted > least ? body - wanted : least;
	if ((size_t)rows > doc->nfindings)
		rows = (int)doc->nfindings;
	if (rows > body)
		rows = body > 0 ? body : 0;
	scroll(f, (size_t)rows, doc->nfindings);
	for (int i = 0; i < rows; i++)
		draw_row(view, area, i + 1, &doc->findings[f->top + (size_t)i],
			f->top + (size_t)i == f->selected, focused);
	if (text.p && body > rows) {
		struct view_area rest = view_area_part(
			area, rows + 1, 0, body - rows, area->cols);

		wrap(&rest, rest.rows >= wanted, area->cols - 2, text.p);
	}
	ckpt_buf_release(&text);
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct findings *f = state;
	struct ckpt_buf title = { 0 };

	view_findings_title_write(&title, view->doc);
	view_title(area, focused, title.p ? title.p : "findings");
	ckpt_buf_release(&title);
	settle(f, view->doc);
	f->rows = 0;
	if (view->doc->nfindings > 0)
		draw_list(view, f, area, focused);
	else
		wrap(area, 1, area->cols - 2, view_findings_none(view->doc));
}

/* ---- Acting ------------------------------------------------------------- */

static void
open_finding(struct view *view, const struct findings *f)
{
	const struct ckpt_diag *d;

	if (f->selected >= view->doc->nfindings) {
		view_say(view, VIEW_WARNING, "there is no finding");
		return;
	}
	d = &view->doc->findings[f->selected];
	if (!view_finding_placed(d)) {
		view_say(view, VIEW_WARNING,
			"%s is about the file as a whole: it has no place",
			d->rule->id);
		return;
	}
	if (d->off >= view->doc->size)
		view_say(view, VIEW_WARNING,
			"%s is at %" PRIu64
			", behind the end; this is the last byte",
			d->rule->id, d->off);
	view_jump(view, d->off);
	view_focus(view, VIEW_HEX);
}

static void
step(struct findings *f, const struct view_doc *doc, bool down, size_t by)
{
	size_t i = f->selected, last = doc->nfindings - 1;

	if (down)
		i = by > last - i ? last : i + by;
	else
		i = by > i ? 0 : i - by;
	f->picked = true;
	choose(f, doc, i);
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct findings *f = state;
	size_t page = f->rows > 1 ? f->rows - 1 : 1;
	size_t half = f->rows > 1 ? f->rows / 2 : 1;

	settle(f, view->doc);
	if (action == VIEW_DO_OPEN) {
		open_finding(view, f);
		return true;
	}
	if (view->doc->nfindings == 0)
		return false;
	switch ((int)action) {
	case VIEW_DO_UP: step(f, view->doc, false, 1); return true;
	case VIEW_DO_DOWN: step(f, view->doc, true, 1); return true;
	case VIEW_DO_PAGE_UP: step(f, view->doc, false, page); return true;
	case VIEW_DO_PAGE_DOWN: step(f, view->doc, true, page); return true;
	case VIEW_DO_HALF_UP: step(f, view->doc, false, half); return true;
	case VIEW_DO_HALF_DOWN: step(f, view->doc, true, half); return true;
	case VIEW_DO_FIRST: step(f, view->doc, false, f->n); return true;
	case VIEW_DO_LAST: step(f, view->doc, true, f->n); return true;
	}
	return false;
}

static void
click(struct view *view, void *state, int row, int col, bool twice)
{
	struct findings *f = state;
	size_t i;

	(void)col;
	settle(f, view->doc);
	if (row < 1 || (size_t)row > f->rows)
		return;
	i = f->top + (size_t)row - 1;
	if (i >= view->doc->nfindings)
		return;
	f->picked = true;
	choose(f, view->doc, i);
	if (twice)
		open_finding(view, f);
}

const struct view_pane_ops view_findings_pane = {
	.title = "findings",
	.make = make,
	.free = free,
	.draw = draw,
	.act = act,
	.click = click,
	.moved = moved,
};
