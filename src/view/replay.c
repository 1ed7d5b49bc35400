/* SPDX-License-Identifier: MIT */
/*
 * The page of replays: one list of lines, first what is known of the run, then
 * the table of records. One of them is selected, and Enter goes to its record
 * in the open file.
 */
#include "view/replay.h"

#include <stdlib.h>
#include <string.h>

static void *
make(struct view *view)
{
	(void)view;
	return calloc(1, sizeof(struct view_replay));
}

static void
release(void *state)
{
	struct view_replay *p = state;

	view_replay_run_free(p->run);
	for (size_t i = 0; i < 3; i++)
		ckpt_buf_release(&p->answers[i]);
	ckpt_buf_release(&p->trouble);
	ckpt_buf_release(&p->lines.text);
	free(p->entries);
	free(p);
}

/* ---- Lines -------------------------------------------------------------- */

/* What stands above the table. */
static void
list_lines(struct view_replay *p, int cols)
{
	struct view_lines *l = &p->lines;
	uint64_t done, total;

	view_lines_begin(l, cols);
	if (p->trouble.n > 0) {
		view_lines_add(l, VIEW_ERROR, "not run", "%s", p->trouble.p);
		view_lines_add(l, VIEW_PLAIN, "", "r asks again");
	} else if (!p->run) {
		view_lines_add(l, VIEW_PLAIN, "",
			"no update was run yet; r asks for inputs, targets "
			"and a learning rate");
	} else if (p->at_work) {
		done = atomic_load(&p->run->job.done);
		total = atomic_load(&p->run->job.total);
		if (total > 0)
			view_lines_add(l, VIEW_BOLD, "at work", "%s, %u%%",
				atomic_load(&p->run->part),
				(unsigned)(100.0 * (double)done /
					   (double)total));
		else
			view_lines_add(l, VIEW_BOLD, "at work", "%s ...",
				atomic_load(&p->run->part));
		view_lines_add(l, VIEW_PLAIN, "",
			view_job_cancelled(&p->run->job)
				? "stops as soon as this part is done"
				: "Esc stops it, behind the part that it is "
				  "at");
	} else {
		view_replay_say(l, p->run);
	}
}

static size_t
count(const struct view_replay *p)
{
	bool table = p->nentries > 0 && !p->at_work && p->trouble.n == 0;

	return p->lines.n + (table ? p->nentries : 0);
}

/* ---- Drawing ------------------------------------------------------------ */

static void
draw_head(
	const struct view_replay *p, const struct view_area *area, bool focused)
{
	struct ckpt_buf title = { 0 };
	const struct view_replay_run *run = p->run;

	ckpt_buf_puts(&title, "replay of one update");
	if (p->trouble.n > 0)
		ckpt_buf_puts(&title, ": not run");
	else if (p->at_work)
		ckpt_buf_puts(&title, ": at work");
	else if (run)
		ckpt_buf_printf(&title, ": %s",
			run->verdict                  ? run->verdict
			: ckpt_step_equal(&run->step) ? "bit-equal"
						      : "mismatch");
	view_title(area, focused, title.p ? title.p : "replay");
	ckpt_buf_release(&title);
}

/* Keeps the selected line on the page. */
static void
scroll(struct view_replay *p)
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

/* Makes the lines anew; another width and another state of the run may have
 * more of them or fewer, but the same row of the table stays selected. */
static void
refresh(struct view_replay *p, int cols)
{
	size_t before = p->lines.n;

	list_lines(p, cols);
	if (p->selected >= before && before > 0)
		p->selected += p->lines.n - before;
	scroll(p);
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct view_replay *p = state;

	draw_head(p, area, focused);
	p->height = area->rows - 1;
	refresh(p, area->cols);
	for (int at = 1; at < area->rows; at++) {
		size_t i = p->top + (size_t)at - 1;

		if (i >= count(p))
			break;
		if (i < p->lines.n)
			view_lines_draw(&p->lines, i, area, at);
		else
			view_replay_draw(view, p, area, at, i - p->lines.n);
		if (i != p->selected)
			continue;
		view_puts(area, at, 0, VIEW_BOLD, ">");
		if (focused)
			view_mark(area, at, 0, -1, VIEW_REVERSE);
	}
}

/* ---- Acting ------------------------------------------------------------- */

/* Goes to what the selected row is about. */
static void
open_row(struct view *view, const struct view_replay *p)
{
	const struct ckpt_step *s = &p->run->step;
	const struct ckpt_span *span;
	const struct view_replay_entry *e;
	uint64_t at = 0;

	if (p->selected < p->lines.n || p->selected >= count(p) ||
		p->entries[p->selected - p->lines.n].kind == VIEW_REPLAY_HEAD) {
		view_say(view, VIEW_BAR, "Enter goes to a record of the table");
		return;
	}
	e = &p->entries[p->selected - p->lines.n];
	span = view_replay_record(view->doc->spans, s, e->row);
	if (!span) {
		view_say(
			view, VIEW_WARNING, "the open file has no such record");
		return;
	}
	if (s->rows[e->row].compared && !s->rows[e->row].equal)
		at = s->rows[e->row].is_f64 ? s->rows[e->row].first / 8 * 8
					    : s->rows[e->row].first;
	/* Fits: its length is that of the row. */
	view_jump(view, span->off + at);
	view_focus(view, VIEW_HEX);
}

static void
select_line(struct view_replay *p, int64_t by)
{
	size_t n = count(p), far = (size_t)(by < 0 ? -by : by);

	if (by < 0)
		p->selected -= far < p->selected ? far : p->selected;
	else if (n > 0)
		p->selected +=
			far < n - 1 - p->selected ? far : n - 1 - p->selected;
	scroll(p);
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct view_replay *p = state;
	int page = p->height > 1 ? p->height - 1 : 1;

	refresh(p, p->lines.cols);
	switch ((int)action) {
	case VIEW_DO_UP: select_line(p, -1); return true;
	case VIEW_DO_DOWN: select_line(p, 1); return true;
	case VIEW_DO_PAGE_UP: select_line(p, -page); return true;
	case VIEW_DO_PAGE_DOWN: select_line(p, page); return true;
	case VIEW_DO_HALF_UP: select_line(p, -(page + 1) / 2); return true;
	case VIEW_DO_HALF_DOWN: select_line(p, (page + 1) / 2); return true;
	case VIEW_DO_FIRST: select_line(p, INT64_MIN / 2); return true;
	case VIEW_DO_LAST: select_line(p, INT64_MAX / 2); return true;
	case VIEW_DO_OPEN:
		if (p->run)
			open_row(view, p);
		return true;
	case VIEW_DO_CANCEL:
		if (p->at_work)
			atomic_store(&p->run->job.cancel, true);
		return p->at_work;
	}
	return false;
}

static void
click(struct view *view, void *state, int row, int col, bool twice)
{
	struct view_replay *p = state;

	(void)col;
	refresh(p, p->lines.cols);
	if (row < 1 || p->top + (size_t)row - 1 >= count(p))
		return;
	p->selected = p->top + (size_t)row - 1;
	if (twice && p->run)
		open_row(view, p);
}

static bool
busy(const void *state)
{
	return ((const struct view_replay *)state)->at_work;
}

/* Whether a number that is drawn has become another one. */
static bool
progressed(struct view_replay *p)
{
	uint64_t total = atomic_load(&p->run->job.total);
	uint64_t now =
		total ? atomic_load(&p->run->job.done) / (total / 100 + 1) : 0;
	const char *part = atomic_load(&p->run->part);
	bool fresh = now != p->shown || part != p->part;

	p->shown = now;
	p->part = part;
	return fresh;
}

static bool
poll_run(struct view *view, void *state)
{
	struct view_replay *p = state;

	if (!p->at_work)
		return false;
	if (!view_job_take(&p->run->job))
		return progressed(p);
	p->at_work = false;
	view_replay_list(p);
	p->selected = p->top = 0;
	if (view->focus != VIEW_REPLAY)
		view_say(view, VIEW_BAR, "the replay is done");
	return true;
}

const struct view_pane_ops view_replay_pane = {
	.title = "replay",
	.make = make,
	.free = release,
	.draw = draw,
	.act = act,
	.click = click,
	.poll = poll_run,
	.busy = busy,
};
