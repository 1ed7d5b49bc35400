/* SPDX-License-Identifier: MIT */
/*
 * Rows of the comparison, and the block below them. A is the first file, which
 * the other panes show too, B is the second.
 */
#include "view/compare_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "forensics/compare.h"
#include "sink/number.h"
#include "sink/words.h"
#include "view/bar.h"

enum { OUTCOME = 2, COUNT = 16, NAME = 30, BYTES_MOST = 32 };

void
view_compare_spans(const struct view *view, const struct view_compare_entry *e,
	const struct ckpt_span **first, const struct ckpt_span **second)
{
	const struct view_compare *c = view->compare;
	const struct ckpt_spans *a = view->doc->spans, *b = c->other.spans;
	uint32_t k = e->at;

	*first = *second = NULL;
	if (c->plain)
		return;
	if (e->kind == VIEW_COMPARE_RECORD && e->at < c->npairs) {
		if (a && e->at < a->ntensors)
			*first = &a->tensors[e->at];
		k = c->pairs[e->at].other;
	} else if (e->kind != VIEW_COMPARE_ONLY) {
		return;
	}
	if (b && k < b->ntensors)
		*second = &b->tensors[k];
}

void
view_compare_fields(const struct view *view, const struct view_compare_entry *e,
	const struct ckpt_span_field **first,
	const struct ckpt_span_field **second)
{
	const struct view_compare *c = view->compare;
	const struct ckpt_spans *a = view->doc->spans, *b = c->other.spans;
	struct view_field_pair pair;

	*first = *second = NULL;
	if (e->kind != VIEW_COMPARE_FIELD || e->at >= c->nunlike)
		return;
	pair = c->unlike[e->at];
	if (a && pair.first < a->nfields)
		*first = &a->fields[pair.first];
	if (b && pair.second < b->nfields)
		*second = &b->fields[pair.second];
}

static enum view_style
style_of(enum view_sameness s)
{
	switch (s) {
	case VIEW_SAME: return VIEW_GOOD;
	case VIEW_NOT_COMPARED: return VIEW_DIM;
	case VIEW_UNREADABLE: return VIEW_WARNING;
	case VIEW_DIFFERENT:
	case VIEW_SHAPE:
	case VIEW_ABSENT: break;
	}
	return VIEW_ERROR;
}

void
view_compare_draw_head(
	struct view *view, const struct view_area *area, bool focused)
{
	struct ckpt_buf title = { 0 };
	int room = (area->cols - 24) / 2;

	room = room < 6 ? 6 : room;
	ckpt_buf_puts(&title, "compare");
	if (view->compare) {
		ckpt_buf_puts(&title, " A ");
		view_path_write(&title, &view->grid, view->doc->path, room);
		ckpt_buf_puts(&title, " with B ");
		view_path_write(
			&title, &view->grid, view->compare->other.path, room);
	}
	view_title(area, focused, title.failed ? "compare" : title.p);
	ckpt_buf_release(&title);
}

/* ---- Rows --------------------------------------------------------------- */

static void
draw_name(const struct view_area *area, int at, int col, const char *text,
	size_t n)
{
	if (view_put(area, at, col, VIEW_PLAIN, text, n) > area->cols)
		view_puts(area, at, area->cols - 1, VIEW_DIM,
			view_sign(area->grid, VIEW_SIGN_ELLIPSIS));
}

static void
draw_record(struct view *view, const struct view_compare_entry *e,
	const struct view_area *area, int at)
{
	struct view_difference d = { .sameness = VIEW_NOT_COMPARED };
	const struct ckpt_span *a, *b, *span;
	struct ckpt_buf name = { 0 };
	int col = NAME;

	view_compare_spans(view, e, &a, &b);
	span = a ? a : b;
	if (e->kind == VIEW_COMPARE_ONLY) {
		view_puts(area, at, OUTCOME, VIEW_ERROR, "only in B");
	} else {
		view_compare_record(view, e->at, &d);
		view_puts(area, at, OUTCOME, style_of(d.sameness),
			view_sameness_name(d.sameness));
	}
	if (d.sameness == VIEW_DIFFERENT)
		col = view_printf(area, at, COUNT, VIEW_PLAIN,
			      "%" PRIu64 " of %" PRIu64 "%s", d.differing, d.n,
			      span && span->width != d.width ? " bytes" : "") +
		      1;
	if (span) {
		ckpt_span_name_write(&name, span);
		ckpt_buf_puts(&name, "  ");
		ckpt_buf_puts(&name, span->role);
	} else {
		ckpt_buf_puts(&name, "all bytes, at equal offsets");
	}
	draw_name(area, at, col < NAME ? NAME : col, name.p ? name.p : "",
		name.n);
	ckpt_buf_release(&name);
}

static void
draw_field(struct view *view, const struct view_compare_entry *e,
	const struct view_area *area, int at)
{
	const struct ckpt_span_field *a, *b;
	struct ckpt_buf text = { 0 };

	view_compare_fields(view, e, &a, &b);
	if (!a && !b)
		return;
	view_puts(area, at, OUTCOME, VIEW_ERROR,
		a && b ? "different"
		: a    ? "only in A"
		       : "only in B");
	view_puts(area, at, COUNT, VIEW_PLAIN, "header field");
	ckpt_buf_puts(&text, a ? a->path : b->path);
	ckpt_buf_puts(&text, ": ");
	if (a)
		ckpt_span_field_write(&text, a);
	if (a && b)
		ckpt_buf_puts(&text, " and ");
	if (b)
		ckpt_span_field_write(&text, b);
	draw_name(area, at, NAME, text.p ? text.p : "", text.n);
	ckpt_buf_release(&text);
}

void
view_compare_draw_entry(struct view *view, const struct view_compare_entry *e,
	const struct view_area *area, int at)
{
	switch (e->kind) {
	case VIEW_COMPARE_HEAD:
		view_puts(area, at, OUTCOME, VIEW_DIM, "outcome");
		view_puts(area, at, COUNT, VIEW_DIM, "elements");
		view_puts(area, at, NAME, VIEW_DIM, "record or field");
		break;
	case VIEW_COMPARE_RECORD:
	case VIEW_COMPARE_ONLY: draw_record(view, e, area, at); break;
	case VIEW_COMPARE_FIELD: draw_field(view, e, area, at); break;
	}
}

/* ---- The block: what differs first -------------------------------------- */

/* "3ff0000000000000 1" */
static void
element_write(struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t bits,
	unsigned width)
{
	size_t from;
	char *end;

	ckpt_buf_printf(buf, "%0*" PRIx64 " ", (int)(2 * width), bits);
	if (!span || span->width != width)
		return;
	from = buf->n;
	ckpt_number_write(buf, span, bits);
	/* The bits stand in front already. */
	end = buf->p && !buf->failed ? strstr(buf->p + from, " (bits") : NULL;
	if (end)
		buf->n = (size_t)(end - buf->p);
}

static void
ulps_write(struct ckpt_buf *buf, const struct ckpt_span *span,
	const struct view_difference *d)
{
	uint64_t ulps;

	if (!span || span->width != 8 ||
		ckpt_number_of(span) != CKPT_NUMBER_FLOAT)
		return;
	ulps = ckpt_ulps(d->bits[0], d->bits[1]);
	if (ulps == UINT64_MAX)
		ckpt_buf_puts(buf, ", one is not a number");
	else
		ckpt_buf_printf(buf, ", %" PRIu64 " %s apart", ulps,
			ulps == 1 ? "ULP" : "ULPs");
}

static void
shape_write(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	if (!span) {
		ckpt_buf_puts(buf, "does not have it");
		return;
	}
	ckpt_buf_printf(buf, "%s ", span->dtype);
	ckpt_span_shape_write(buf, span);
	ckpt_buf_printf(buf, ", %" PRIu64 " %s at ", span->len,
		span->len == 1 ? "byte" : "bytes");
	ckpt_offset_write(buf, span->off);
}

/* Title, and a line for each file. */
struct words {
	struct ckpt_buf title, line[2];
};

static void
say_record(
	struct words *w, struct view *view, const struct view_compare_entry *e)
{
	struct view_difference d = { .sameness = VIEW_ABSENT };
	const struct ckpt_span *span[2];
	bool whole;

	view_compare_spans(view, e, &span[0], &span[1]);
	if (e->kind == VIEW_COMPARE_RECORD)
		view_compare_record(view, e->at, &d);
	if (span[0] || span[1])
		ckpt_span_name_write(&w->title, span[0] ? span[0] : span[1]);
	else
		ckpt_buf_puts(&w->title, "all bytes");
	if (d.sameness != VIEW_DIFFERENT) {
		for (int i = 0; i < 2; i++)
			if (span[0] || span[1])
				shape_write(&w->line[i], span[i]);
		return;
	}
	ckpt_buf_puts(&w->title, ": first differs in ");
	whole = span[0] && span[0]->width == d.width;
	ckpt_buf_puts(&w->title, whole ? "element " : "byte ");
	if (whole)
		ckpt_span_index_write(&w->title, span[0], d.first);
	else
		ckpt_buf_printf(&w->title, "%" PRIu64, d.first);
	for (int i = 0; i < 2; i++)
		element_write(&w->line[i], span[i], d.bits[i], d.width);
	ulps_write(&w->line[1], span[0], &d);
}

static void
say_field(
	struct words *w, struct view *view, const struct view_compare_entry *e)
{
	const struct ckpt_span_field *field[2];

	view_compare_fields(view, e, &field[0], &field[1]);
	if (field[0] || field[1])
		ckpt_buf_puts(
			&w->title, field[0] ? field[0]->path : field[1]->path);
	for (int i = 0; i < 2; i++) {
		if (field[i])
			ckpt_span_field_write(&w->line[i], field[i]);
		else
			ckpt_buf_puts(&w->line[i], "does not have it");
	}
}

/* ---- The block: bytes --------------------------------------------------- */

static int
bytes_in_row(const struct view_area *area, int before)
{
	int n = BYTES_MOST;

	while (n > 1 && before + 3 * n > area->cols)
		n /= 2;
	return n;
}

static void
draw_bytes(const struct view_area *area, int at, int col, const char *file,
	const char *offset, const uint8_t *bytes, int n, int known)
{
	view_puts(area, at, 2, VIEW_BOLD, file);
	view_puts(area, at, 4, VIEW_DIM, offset);
	for (int i = 0; i < n; i++) {
		if (i < known)
			view_printf(area, at, col + 3 * i, VIEW_PLAIN, "%02x",
				bytes[i]);
		else
			view_puts(area, at, col + 3 * i, VIEW_DIM, "--");
	}
}

/* The row of bytes that the cursor is in; rows begin where the owner does, so
 * that elements keep their columns. */
static void
draw_around(struct view *view, const struct view_area *area, int at)
{
	uint8_t a[BYTES_MOST], b[BYTES_MOST];
	uint64_t other = 0, end, off = view->cursor, left;
	struct view_owner owner;
	char offset[2][24] = { "", "-" };
	int col, n, x, y = 0;

	if (!view_doc_owner(view->doc, off, &owner))
		return;
	snprintf(offset[0], sizeof offset[0], "0x%08" PRIx64, off);
	col = 4 + (int)strlen(offset[0]) + 2;
	n = bytes_in_row(area, col);
	off -= (off - owner.off) % (uint64_t)n;
	left = owner.end - off;
	n = left < (uint64_t)n ? (int)left : n;
	x = (int)view_doc_read(view->doc, off, a, (size_t)n);
	snprintf(offset[0], sizeof offset[0], "0x%08" PRIx64, off);
	if (view_compare_place(view, off, &other, &end)) {
		y = end - off < (uint64_t)n ? (int)(end - off) : n;
		y = (int)view_doc_read(
			&view->compare->other, other, b, (size_t)y);
		snprintf(offset[1], sizeof offset[1], "0x%08" PRIx64, other);
	}
	draw_bytes(area, at, col, "A", offset[0], a, n, x);
	draw_bytes(area, at + 1, col, "B", offset[1], b, n, y);
	for (int i = 0; i < n && i < x; i++)
		if (i >= y || a[i] != b[i])
			view_puts(area, at + 2, col + 3 * i, VIEW_ERROR,
				i < y ? "^^" : "..");
	for (int i = 0; i < 2; i++) {
		int c = col + 3 * (int)(view->cursor - off);

		view_mark(area, at + i, c, c + 2, VIEW_REVERSE);
	}
}

void
view_compare_draw_block(struct view *view, const struct view_compare_entry *e,
	const struct view_area *area)
{
	struct words w = { 0 };

	if (e && (e->kind == VIEW_COMPARE_RECORD ||
			 e->kind == VIEW_COMPARE_ONLY))
		say_record(&w, view, e);
	else if (e && e->kind == VIEW_COMPARE_FIELD)
		say_field(&w, view, e);
	view_title(area, false, w.title.p ? w.title.p : "bytes at the cursor");
	for (int i = 0; i < 2; i++) {
		view_puts(area, 1 + i, 2, VIEW_BOLD, i == 0 ? "A" : "B");
		view_put(area, 1 + i, 4, VIEW_PLAIN,
			w.line[i].p ? w.line[i].p : "", w.line[i].n);
		ckpt_buf_release(&w.line[i]);
	}
	ckpt_buf_release(&w.title);
	draw_around(view, area, 3);
}
