/* SPDX-License-Identifier: MIT */
/*
 * The pane of the statistics: of the tensor under the cursor and, if that is
 * a moment, of the parameter that it belongs to. They are read in the
 * background while the pane is on the screen; when the cursor goes to another
 * tensor the reading is cancelled, and what was read to its end is kept for
 * the last few tensors. Nothing here waits for a disk.
 */
#include "view/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "sink/number.h"
#include "view/names.h"
#include "view/numbers.h"
#include "view/stats_draw.h"

enum { KEPT = 64 };

struct stats_pane {
	struct view_stats_work work;
	bool drop;     /* what the work makes is of the index before */
	uint64_t seen; /* its progress, as it was drawn */
	struct view_stats kept[KEPT];
	size_t nkept, oldest;
	const struct ckpt_spans *spans; /* only compared */
	struct view_names parameters;   /* by name */
	bool named;                     /* they were gathered */
	int scroll, height, lines;
	/* Where the cursor goes once the tensor has been read. */
	enum { STAY, TO_LEAST, TO_GREATEST } going;
	struct view_extent goal;
};

static void *
make(struct view *view)
{
	(void)view;
	return calloc(1, sizeof(struct stats_pane));
}

static void
release(void *state)
{
	struct stats_pane *s = state;

	view_job_stop(&s->work.job);
	view_names_release(&s->parameters);
	free(s);
}

/* ---- Which tensors ------------------------------------------------------ */

static void
gather_parameters(struct stats_pane *s, const struct ckpt_spans *spans)
{
	view_names_release(&s->parameters);
	view_names_init(&s->parameters);
	s->named = true;
	for (uint64_t i = 0; i < spans->ntensors && i < UINT32_MAX; i++) {
		const struct ckpt_span *t = &spans->tensors[i];

		if (t->class_ == CKPT_TENSOR_PARAMETER &&
			!view_names_add(&s->parameters,
				view_names_hash(&s->parameters, 0, t->name,
					t->name_len),
				(uint32_t)i))
			return;
	}
}

static const struct ckpt_span *
parameter_of(struct stats_pane *s, const struct ckpt_spans *spans,
	const struct ckpt_span *moment)
{
	uint64_t hash;
	size_t at = 0;
	uint32_t i;

	if (!s->named)
		gather_parameters(s, spans);
	hash = view_names_hash(
		&s->parameters, 0, moment->name, moment->name_len);
	while (view_names_next(&s->parameters, hash, &at, &i)) {
		const struct ckpt_span *t = &spans->tensors[i];

		if (t->name_len == moment->name_len &&
			memcmp(t->name, moment->name, t->name_len) == 0)
			return t;
	}
	return NULL;
}

/* A new index: what was read is of the one before. */
static void
refresh(struct view *view, struct stats_pane *s)
{
	if (s->spans == view->doc->spans)
		return;
	s->spans = view->doc->spans;
	s->nkept = s->oldest = 0;
	s->named = false;
	s->drop = view_job_running(&s->work.job);
	atomic_store(&s->work.job.cancel, true);
}

static const struct view_stats *
find(const struct stats_pane *s, const struct ckpt_span *span)
{
	struct view_extent extent = view_extent_of(span);

	for (size_t i = 0; i < s->nkept; i++)
		if (view_extent_equal(&s->kept[i].extent, &extent))
			return &s->kept[i];
	return NULL;
}

/* Up to two tensors to be shown; their number. */
static size_t
wanted(struct view *view, struct stats_pane *s, struct view_stats_part parts[2])
{
	const struct ckpt_span *span = view_doc_tensor(view->doc, view->cursor);
	size_t n = 0;

	if (!span)
		return 0;
	parts[n++] = (struct view_stats_part){ .span = span };
	if (span->class_ == CKPT_TENSOR_MOMENT) {
		span = parameter_of(s, view->doc->spans, span);
		if (span)
			parts[n++] = (struct view_stats_part){ .span = span };
	}
	for (size_t i = 0; i < n; i++)
		parts[i].stats = find(s, parts[i].span);
	return n;
}

/* Reads the first of the parts that is still unknown. */
static void
read_next(struct view *view, struct stats_pane *s,
	struct view_stats_part *parts, size_t n)
{
	struct view_extent extent;
	struct view_job *job = &s->work.job;

	while (n > 0 && (parts->stats || !view_stats_can(parts->span))) {
		parts++;
		n--;
	}
	if (!view_job_running(job)) {
		if (n > 0)
			view_stats_start(&s->work, view->doc, parts->span);
	} else {
		extent = n > 0 ? view_extent_of(parts->span)
			       : (struct view_extent){ .dtype = "" };
		if (s->drop ||
			!view_extent_equal(&extent, &s->work.result.extent))
			atomic_store(&job->cancel, true);
	}
	if (n > 0 && !s->drop && view_job_running(job)) {
		parts->done = atomic_load(&job->done);
		parts->total = atomic_load(&job->total);
	}
}

/* ---- The pane ----------------------------------------------------------- */

/* Lines and height in this area; the scroll stays within them. */
static void
measure(struct stats_pane *s, const struct view_area *area,
	const struct view_stats_part *parts, size_t n)
{
	struct view_area body =
		view_area_part(area, 1, 0, area->rows - 1, area->cols);

	s->height = body.rows;
	s->lines = view_stats_draw(&body, parts, n, 0, false);
	if (s->scroll > s->lines - s->height)
		s->scroll = s->lines - s->height;
	if (s->scroll < 0)
		s->scroll = 0;
}

static void
draw_title(const struct view *view, const struct stats_pane *s,
	const struct view_area *area, bool focused)
{
	/* Bytes are read anew for each frame, statistics are not. */
	const char *old = view->doc->changed ? ", old (F5)" : "";
	char text[80];

	if (s->lines > s->height && s->height > 0)
		snprintf(text, sizeof text, "statistics%s, lines %d-%d of %d",
			old, s->scroll + 1, s->scroll + s->height, s->lines);
	else
		snprintf(text, sizeof text, "statistics%s", old);
	view_title(area, focused, text);
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct stats_pane *s = state;
	struct view_area body =
		view_area_part(area, 1, 0, area->rows - 1, area->cols);
	struct view_stats_part parts[2];
	size_t n;

	refresh(view, s);
	n = wanted(view, s, parts);
	read_next(view, s, parts, n);
	measure(s, area, parts, n);
	draw_title(view, s, area, focused);
	view_stats_draw(&body, parts, n, s->scroll, true);
	if (n == 0)
		view_puts(&body, 0, 1, VIEW_PLAIN,
			view->doc->stage == VIEW_READING && !view->doc->spans
				? "reading the header ..."
				: "no tensor here");
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct stats_pane *s = state;
	struct view_stats_part parts[2];
	size_t n = wanted(view, s, parts);
	int page;

	measure(s, &view->areas[VIEW_STATS], parts, n);
	page = s->height > 1 ? s->height - 1 : 1;
	switch ((int)action) {
	case VIEW_DO_UP: s->scroll--; break;
	case VIEW_DO_DOWN: s->scroll++; break;
	case VIEW_DO_PAGE_UP: s->scroll -= page; break;
	case VIEW_DO_PAGE_DOWN: s->scroll += page; break;
	case VIEW_DO_HALF_UP: s->scroll -= (page + 1) / 2; break;
	case VIEW_DO_HALF_DOWN: s->scroll += (page + 1) / 2; break;
	case VIEW_DO_FIRST: s->scroll = 0; break;
	case VIEW_DO_LAST: s->scroll = s->lines; break;
	default: return false;
	}
	measure(s, &view->areas[VIEW_STATS], parts, n);
	return true;
}

static void
moved(struct view *view, void *state)
{
	refresh(view, state);
}

static void
keep(struct stats_pane *s)
{
	size_t i = s->nkept < KEPT ? s->nkept++ : s->oldest++ % KEPT;

	s->kept[i] = s->work.result;
}

/* ---- Going to an element ------------------------------------------------ */

static enum view_went
arrive(struct view *view, const struct ckpt_span *span,
	const struct view_stats *read, bool greatest)
{
	const struct ckpt_stats *stats = &read->stats;
	struct ckpt_number_group group = ckpt_number_group_of(span);
	uint64_t number = greatest ? stats->max_at : stats->min_at, off;
	struct ckpt_buf text = { 0 };

	if (stats->finite == 0)
		return view_went_nowhere(
			view, "no element is finite of ", span->role);
	if (!ckpt_mul_u64(number / group.count, group.bytes, &off) ||
		!ckpt_add_u64(span->off, off, &off))
		off = UINT64_MAX;
	view_jump(view, off);
	ckpt_buf_puts(&text, greatest ? "max " : "min ");
	view_f64_write(&text, greatest ? stats->max : stats->min);
	ckpt_buf_puts(&text, " at ");
	ckpt_span_index_write(&text, span, view_stats_element(span, number));
	ckpt_buf_puts(&text, " of ");
	ckpt_span_name_write(&text, span);
	ckpt_buf_printf(&text, ", %s", span->role);
	view_say(view, VIEW_BAR, "%s", text.p ? text.p : "");
	ckpt_buf_release(&text);
	return VIEW_WENT;
}

enum view_went
view_stats_go(struct view *view, bool greatest)
{
	struct stats_pane *s = view->panes[VIEW_STATS];
	const char *what = greatest ? "max" : "min";
	struct view_stats_part parts[2];
	size_t n;

	refresh(view, s);
	n = wanted(view, s, parts);
	if (n == 0)
		return view_went_nowhere(
			view, "there is no tensor here, so no ", what);
	if (!view_stats_can(parts->span))
		return view_went_nowhere(
			view, "the tensor has no numbers, so no ", what);
	if (parts->stats)
		return arrive(view, parts->span, parts->stats, greatest);
	s->going = greatest ? TO_GREATEST : TO_LEAST;
	s->goal = view_extent_of(parts->span);
	read_next(view, s, parts, n);
	view_say(view, VIEW_BAR, "reading the tensor; any key stops that");
	return VIEW_WENT;
}

/* A key clears what was said, and whoever presses one does not want to be
 * taken elsewhere afterwards. */
static void
go_on(struct view *view, struct stats_pane *s)
{
	const struct ckpt_span *span = view_doc_tensor(view->doc, view->cursor);
	struct view_extent here;
	const struct view_stats *stats;
	bool greatest = s->going == TO_GREATEST;

	if (s->going == STAY)
		return;
	here = span ? view_extent_of(span)
		    : (struct view_extent){ .dtype = "" };
	if (view->message.n == 0 || !view_extent_equal(&here, &s->goal)) {
		s->going = STAY;
		return;
	}
	stats = find(s, span);
	if (!stats)
		return;
	s->going = STAY;
	arrive(view, span, stats, greatest);
}

static bool
poll(struct view *view, void *state)
{
	struct stats_pane *s = state;
	struct view_stats_part parts[2];
	uint64_t done;

	if (view_job_take(&s->work.job)) {
		if (s->work.whole && !s->drop)
			keep(s);
		s->drop = false;
		refresh(view, s);
		go_on(view, s);
		if (view->areas[VIEW_STATS].rows > 0 || s->going != STAY)
			read_next(view, s, parts, wanted(view, s, parts));
		return true;
	}
	go_on(view, s);
	/* Nobody waits for what is not on the screen. */
	if (view->areas[VIEW_STATS].rows == 0 && s->going == STAY)
		atomic_store(&s->work.job.cancel, true);
	done = atomic_load(&s->work.job.done);
	if (!view_job_running(&s->work.job) || done == s->seen)
		return false;
	s->seen = done;
	return true;
}

static bool
busy(const void *state)
{
	const struct stats_pane *s = state;

	return view_job_running(&s->work.job);
}

const struct view_pane_ops view_stats_pane = {
	.title = "statistics",
	.make = make,
	.free = release,
	.draw = draw,
	.act = act,
	.moved = moved,
	.poll = poll,
	.busy = busy,
};
