/* SPDX-License-Identifier: MIT */
/*
 * The whole file in one line. A cell stands for its share of the bytes and
 * says whose most of them are, by letter and by colour; '!' where a finding
 * begins, '0' where everything that was looked at is zero. Owners are added
 * up once for a width and an index; zero bytes are looked for in the
 * background, in a few pages of a large cell only, so that this says "looks
 * empty" and no more.
 */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum {
	CELLS_MOST = 4000,
	WHOLE = 64 * 1024, /* cells up to this are read whole */
	PAGE = 4096,
	PAGES = 8, /* of larger ones */
};

/* What a byte's owner is drawn as. */
enum kind { NOBODY, HEADER, TOKENIZER, PARAMETER, MOMENT, OTHER, KINDS };

struct strip {
	struct view_job job; /* looks for zeros; first */
	/* For the job, which alone writes zero. */
	const struct view_doc *doc;
	uint64_t size;
	int cells;
	bool zero[CELLS_MOST];
	/* For the thread that draws. */
	bool zero_known;
	bool stale;                     /* there is another index */
	const struct ckpt_spans *spans; /* only compared */
	uint8_t kinds[CELLS_MOST];
};

/* Where cell i of n begins; n is the end of the file. */
static uint64_t
cell_start(uint64_t size, int n, int i)
{
	uint64_t cells = (uint64_t)n, k = (uint64_t)i;

	return size / cells * k + size % cells * k / cells;
}

/* Its end; a cell has a byte even if there are more cells than bytes. */
static uint64_t
cell_end(uint64_t size, int n, int i)
{
	uint64_t start = cell_start(size, n, i), end;

	end = cell_start(size, n, i + 1);
	return end > start ? end : start + 1;
}

/* ---- Zeros -------------------------------------------------------------- */

static bool
all_zero(const struct view_doc *doc, uint64_t off, uint64_t n, uint8_t *bytes)
{
	size_t want = n < WHOLE ? (size_t)n : WHOLE;
	size_t got = view_doc_read(doc, off, bytes, want);

	return got == want && bytes[0] == 0 &&
	       memcmp(bytes, bytes + 1, got - 1) == 0;
}

static bool
cell_zero(const struct strip *s, int i, uint8_t *bytes)
{
	uint64_t start = cell_start(s->size, s->cells, i);
	uint64_t len = cell_end(s->size, s->cells, i) - start;

	if (len <= WHOLE)
		return all_zero(s->doc, start, len, bytes);
	for (unsigned k = 0; k < PAGES; k++)
		if (!all_zero(s->doc, start + (len - PAGE) / (PAGES - 1) * k,
			    PAGE, bytes))
			return false;
	return true;
}

static void
look_for_zeros(struct view_job *job)
{
	struct strip *s = (struct strip *)job;
	uint8_t *bytes = malloc(WHOLE);

	for (int i = 0; i < s->cells && !view_job_cancelled(job); i++)
		s->zero[i] = bytes && cell_zero(s, i, bytes);
	free(bytes);
}

/* ---- Owners ------------------------------------------------------------- */

static enum kind
kind_of(const struct ckpt_spans *spans, const struct ckpt_owner *o)
{
	static const enum kind kinds[] = {
		[CKPT_TENSOR_TOKENIZER] = TOKENIZER,
		[CKPT_TENSOR_PARAMETER] = PARAMETER,
		[CKPT_TENSOR_MOMENT] = MOMENT,
		[CKPT_TENSOR_OTHER] = OTHER,
	};

	switch (o->kind) {
	case CKPT_OWNER_FIELD:
	case CKPT_OWNER_HEADER: return HEADER;
	case CKPT_OWNER_GAP:
	case CKPT_OWNER_NONE: return NOBODY;
	case CKPT_OWNER_TENSOR: break;
	}
	return kinds[spans->tensors[o->index].class_];
}

/* Owners and cells both lie side by side, so both are passed once. */
static void
add_up(struct strip *s, const struct ckpt_spans *spans)
{
	uint64_t owner = 0;

	for (int i = 0; i < s->cells; i++) {
		uint64_t at = cell_start(s->size, s->cells, i);
		uint64_t end = cell_end(s->size, s->cells, i);
		uint64_t bytes[KINDS] = { 0 };
		enum kind most = NOBODY;

		/* Cells that share a byte begin with the same owner. */
		while (owner > 0 && spans->owners[owner - 1].end > at)
			owner--;
		for (; owner < spans->nowners; owner++) {
			const struct ckpt_owner *o = &spans->owners[owner];
			uint64_t stop = o->end < end ? o->end : end;

			if (stop > at) {
				bytes[kind_of(spans, o)] += stop - at;
				at = stop;
			}
			if (o->end >= end)
				break;
		}
		for (enum kind k = 0; k < KINDS; k++)
			if (bytes[k] > bytes[most])
				most = k;
		s->kinds[i] = (uint8_t)most;
	}
}

/* ---- The pane ----------------------------------------------------------- */

static void *
make(struct view *view)
{
	struct strip *s = calloc(1, sizeof *s);

	if (s)
		s->doc = view->doc;
	return s;
}

static void
release(void *state)
{
	struct strip *s = state;

	view_job_stop(&s->job);
	free(s);
}

/* Makes the cells those of this width and of the index that is there. */
static void
refresh(struct view *view, struct strip *s, int cols)
{
	const struct ckpt_spans *spans = view->doc->spans;
	bool resized;

	if (cols > CELLS_MOST)
		cols = CELLS_MOST;
	resized = cols != s->cells || s->size != view->doc->size;
	if (!resized && !s->stale && spans == s->spans)
		return;
	view_job_stop(&s->job);
	s->cells = cols;
	s->size = view->doc->size;
	s->spans = spans;
	s->zero_known = s->stale = false;
	memset(s->kinds, NOBODY, sizeof s->kinds);
	if (spans && s->size > 0)
		add_up(s, spans);
	if (s->size > 0)
		view_job_start(&s->job, view->bell, look_for_zeros);
}

static void
draw_cell(struct view *view, const struct strip *s,
	const struct view_area *area, int i)
{
	static const char *const signs[KINDS] = { ".", "h", "t", "p", "m",
		"o" };
	static const enum view_style styles[KINDS] = { VIEW_LOST, VIEW_HEADER,
		VIEW_TOKENIZER, VIEW_PARAMETER, VIEW_MOMENT, VIEW_OTHER };
	uint64_t start = cell_start(s->size, s->cells, i);
	uint64_t end = cell_end(s->size, s->cells, i);
	unsigned style = s->spans ? styles[s->kinds[i]] : VIEW_PLAIN;
	const char *sign = signs[s->kinds[i]];
	const struct ckpt_diag *d =
		view_doc_finding_in(view->doc, start, end - start);

	if (s->zero_known && s->zero[i])
		sign = "0";
	if (d) {
		sign = "!";
		style = d->rule->severity == CKPT_ERROR ? VIEW_ERROR
							: VIEW_WARNING;
	}
	if (view->cursor >= start && view->cursor < end)
		style |= VIEW_MARKS(VIEW_REVERSE);
	view_puts(area, 0, i, style, sign);
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct strip *s = state;

	(void)focused;
	if (area->cols < 1)
		return;
	refresh(view, s, area->cols);
	for (int i = 0; i < s->cells && s->size > 0; i++)
		draw_cell(view, s, area, i);
}

static void
click(struct view *view, void *state, int row, int col, bool twice)
{
	struct strip *s = state;

	(void)row;
	(void)twice;
	if (s->size > 0 && col >= 0 && col < s->cells)
		view_jump(view, cell_start(s->size, s->cells, col));
}

static void
moved(struct view *view, void *state)
{
	struct strip *s = state;

	/* A later index may come to lie where this one was. */
	if (s->spans != view->doc->spans)
		s->stale = true;
}

static bool
poll(struct view *view, void *state)
{
	struct strip *s = state;

	(void)view;
	if (!view_job_take(&s->job))
		return false;
	s->zero_known = true;
	return true;
}

static bool
busy(const void *state)
{
	const struct strip *s = state;

	return view_job_running(&s->job);
}

const struct view_pane_ops view_strip_pane = {
	.title = "",
	.make = make,
	.free = release,
	.draw = draw,
	.click = click,
	.moved = moved,
	.poll = poll,
	.busy = busy,
};
