/* SPDX-License-Identifier: MIT */
/*
 * The page of the comparison: what both files are, then the table with what
 * differs first, then the bytes around the cursor, which follows the row that
 * is selected. The table is made anew while records become known; the row that
 * is selected stays so.
 */
#include "view/compare_page.h"

#include <stdlib.h>

enum { ROOM_FOR_BLOCK = 14, COLS = 80 }; /* of the page: rows, columns */

static void *
make(struct view *view)
{
	struct view_compare_page *p = calloc(1, sizeof *p);

	if (p)
		p->view = view;
	return p;
}

static void
release(void *state)
{
	struct view_compare_page *p = state;

	ckpt_buf_release(&p->lines.text);
	free(p->entries);
	free(p->rows);
	free(p);
}

/* ---- Scrolling ---------------------------------------------------------- */

static size_t
count(const struct view_compare_page *p)
{
	return p->lines.n + p->n;
}

static void
scroll(struct view_compare_page *p)
{
	size_t n = count(p), height = p->height > 0 ? (size_t)p->height : 1;

	if (p->selected >= n)
		p->selected = n > 0 ? n - 1 : 0;
	if (p->top > p->selected)
		p->top = p->selected;
	if (p->selected - p->top >= height)
		p->top = p->selected - height + 1;
	if (p->top + height > n)
		p->top = n > height ? n - height : 0;
}

/* Another width may have other lines; the same row stays selected. */
static void
refresh(struct view *view, struct view_compare_page *p, int cols)
{
	size_t before = p->lines.n;

	view_compare_say(view, p, cols);
	if (p->selected >= before && before > 0)
		p->selected += p->lines.n - before;
	scroll(p);
}

/* ---- Drawing ------------------------------------------------------------ */

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct view_compare_page *p = state;
	bool block = view->compare && area->rows >= ROOM_FOR_BLOCK;
	struct view_area below;

	view_compare_draw_head(view, area, focused);
	p->height = area->rows - 1 - (block ? VIEW_COMPARE_BLOCK : 0);
	refresh(view, p, area->cols);
	for (int at = 1; at <= p->height; at++) {
		size_t i = p->top + (size_t)at - 1;

		if (i >= count(p))
			break;
		if (i < p->lines.n)
			view_lines_draw(&p->lines, i, area, at);
		else
			view_compare_draw_entry(
				view, &p->entries[i - p->lines.n], area, at);
		if (i != p->selected)
			continue;
		view_puts(area, at, 0, VIEW_BOLD, ">");
		if (focused)
			view_mark(area, at, 0, -1, VIEW_REVERSE);
	}
	if (!block)
		return;
	below = view_area_part(area, area->rows - VIEW_COMPARE_BLOCK, 0,
		VIEW_COMPARE_BLOCK, area->cols);
	view_compare_draw_block(view, view_compare_selected(p), &below);
}

/* ---- Acting ------------------------------------------------------------- */

/* Where in the first file the selected row is. */
static bool
place_of(struct view *view, const struct view_compare_page *p, uint64_t *off)
{
	const struct view_compare_entry *e = view_compare_selected(p);
	const struct ckpt_span_field *a, *b;
	struct view_difference d;

	if (!e)
		return false;
	if (e->kind == VIEW_COMPARE_RECORD) {
		view_compare_record(view, e->at, &d);
		*off = d.off[0];
		return true;
	}
	view_compare_fields(view, e, &a, &b);
	if (a)
		*off = a->off;
	return a != NULL;
}

/* Takes the cursor to the selected row. */
static void
go_along(struct view *view, struct view_compare_page *p)
{
	uint64_t off;

	if (!place_of(view, p, &off))
		return;
	/* Before, so that the cursor does not select. */
	p->cursor = off;
	view_go(view, off);
	p->cursor = view->cursor;
}

static void
select_entry(struct view *view, struct view_compare_page *p, size_t entry)
{
	refresh(view, p, p->lines.cols ? p->lines.cols : COLS);
	p->selected = p->lines.n + entry;
	p->placed = true;
	scroll(p);
}

/* The row of what the cursor is in, if it is in the table. */
static void
moved(struct view *view, void *state)
{
	struct view_compare_page *p = state;
	size_t entry;

	if (view->cursor == p->cursor || !p->placed)
		return;
	p->cursor = view->cursor;
	if (view_compare_find(p, view, view->cursor, &entry))
		select_entry(view, p, entry);
}

/* The page is there to show what differs: it begins with the row of the
 * cursor if that differs, else with the first one that does. */
static void
begin(struct view *view, struct view_compare_page *p)
{
	uint64_t was = view->cursor;
	size_t entry;
	bool here;

	if (p->placed || p->differing == 0 || view->focus != VIEW_COMPARE)
		return;
	p->cursor = was;
	here = view_compare_find(p, view, was, &entry) && entry <= p->differing;
	select_entry(view, p, here ? entry : 1);
	/* What stands above the table is to be seen too, if there is room. */
	p->top = 0;
	if (here)
		return;
	go_along(view, p);
	if (view->cursor != was)
		view->before = was;
}

/* To the next row that differs, or the one before, and round the end. */
static void
next_difference(struct view *view, struct view_compare_page *p, bool back)
{
	size_t n = p->differing, now = 0, to;
	bool wrapped;

	if (n == 0) {
		view_say(view, VIEW_WARNING, "%s",
			view->compare ? "no difference was found"
				      : "there is no second file");
		return;
	}
	if (p->selected >= p->lines.n)
		now = p->selected - p->lines.n;
	if (back)
		to = now > n + 1 ? n : now > 1 ? now - 1 : n;
	else
		to = now < n ? now + 1 : 1;
	wrapped = back ? to >= now : to <= now;
	select_entry(view, p, to);
	go_along(view, p);
	if (n == 1 && now == 1) {
		view_say(view, VIEW_BAR, "this is the only difference");
		return;
	}
	view_say(view, VIEW_BAR, "%sdifference %zu of %zu",
		!wrapped ? ""
		: back   ? "from the last again: "
			 : "from the first again: ",
		to, n);
}

static void
select_line(struct view *view, struct view_compare_page *p, int64_t by)
{
	size_t n = count(p), far = (size_t)(by < 0 ? -by : by);

	if (by < 0)
		p->selected -= far < p->selected ? far : p->selected;
	else if (n > 0)
		p->selected +=
			far < n - 1 - p->selected ? far : n - 1 - p->selected;
	p->placed = true;
	scroll(p);
	go_along(view, p);
}

static void
open_row(struct view *view, const struct view_compare_page *p)
{
	const struct view_compare_entry *e = view_compare_selected(p);
	uint64_t off;

	if (place_of(view, p, &off)) {
		view_jump(view, off);
		view_focus(view, VIEW_HEX);
	} else if (e && e->kind != VIEW_COMPARE_HEAD) {
		view_say(view, VIEW_WARNING, "the first file does not have it");
	} else {
		view_say(view, VIEW_BAR,
			"Enter goes to a record or field of the table");
	}
}

/* Stops the job, or begins and goes on with it. */
static void
toggle(struct view *view, const struct view_compare_page *p)
{
	struct view_compare *c = view->compare;

	if (c && view_job_running(&c->job))
		atomic_store(&c->job.cancel, true);
	else if (p->counts[VIEW_NOT_COMPARED] > 0)
		view_compare_start(view);
	else if (c && p->differing > 0)
		view_say(view, VIEW_BAR,
			"all is compared; ] goes to the next difference");
	else if (c)
		view_say(view, VIEW_BAR, "all is compared; nothing differs");
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct view_compare_page *p = state;
	int page = p->height > 1 ? p->height - 1 : 1;
	bool at_work = view->compare && view_job_running(&view->compare->job);

	refresh(view, p, p->lines.cols);
	switch ((int)action) {
	case VIEW_DO_UP: select_line(view, p, -1); return true;
	case VIEW_DO_DOWN: select_line(view, p, 1); return true;
	case VIEW_DO_PAGE_UP: select_line(view, p, -page); return true;
	case VIEW_DO_PAGE_DOWN: select_line(view, p, page); return true;
	case VIEW_DO_HALF_UP:
		select_line(view, p, -(page + 1) / 2);
		return true;
	case VIEW_DO_HALF_DOWN:
		select_line(view, p, (page + 1) / 2);
		return true;
	case VIEW_DO_FIRST: select_line(view, p, INT64_MIN / 2); return true;
	case VIEW_DO_LAST: select_line(view, p, INT64_MAX / 2); return true;
	case VIEW_DO_OPEN: open_row(view, p); return true;
	case VIEW_DO_COMPARE: toggle(view, p); return true;
	case VIEW_DO_AGAIN:
	case VIEW_DO_NEXT_FINDING: next_difference(view, p, false); return true;
	case VIEW_DO_BACK_AGAIN:
	case VIEW_DO_PREVIOUS_FINDING:
		next_difference(view, p, true);
		return true;
	case VIEW_DO_CANCEL:
		if (at_work)
			atomic_store(&view->compare->job.cancel, true);
		return at_work;
	}
	return false;
}

static void
click(struct view *view, void *state, int row, int col, bool twice)
{
	struct view_compare_page *p = state;

	(void)col;
	refresh(view, p, p->lines.cols);
	if (row < 1 || row > p->height || p->top + (size_t)row - 1 >= count(p))
		return;
	p->selected = p->top + (size_t)row - 1;
	select_line(view, p, 0);
	if (twice)
		open_row(view, p);
}

/* The table is not made anew for a single record: there may be many. */
static bool
poll_compare(struct view *view, void *state)
{
	struct view_compare_page *p = state;
	struct view_compare *c = view->compare;
	bool fresh, ended;
	unsigned now;

	if (!c)
		return false;
	fresh = view_doc_poll(&c->other);
	fresh = view_compare_match(view) || fresh;
	ended = view_job_take(&c->job);
	now = view_compare_percent(c);
	if (ended || now != p->shown || p->matchings != c->matchings) {
		p->shown = now;
		p->matchings = c->matchings;
		view_compare_list(p, c);
		fresh = true;
	}
	begin(view, p);
	return fresh;
}

static bool
busy(const void *state)
{
	const struct view_compare_page *p = state;
	const struct view_compare *c = p->view->compare;

	return c && (view_doc_busy(&c->other) || view_job_running(&c->job));
}

const struct view_pane_ops view_compare_pane = {
	.title = "compare",
	.make = make,
	.free = release,
	.draw = draw,
	.act = act,
	.click = click,
	.moved = moved,
	.poll = poll_compare,
	.busy = busy,
};

void
view_compare_show(struct view *view)
{
	struct view_compare *c = view->compare;

	view_focus(view, VIEW_COMPARE);
	if (!c)
		return;
	/* The index may still be to come. */
	c->wanted = true;
	if (!c->begun)
		view_compare_start(view);
	begin(view, view->panes[VIEW_COMPARE]);
}
