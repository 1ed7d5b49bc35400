/* SPDX-License-Identifier: MIT */
/*
 * The table of a replay: a row for each record of the updated checkpoint.
 * Records of the tokenizer are one row together while all of them are equal; a
 * record that differs has lines more, with its first element that does, in
 * both branches.
 */
#include "view/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wire/value.h"

static bool
tokens_are_equal(const struct ckpt_step *s, size_t *n)
{
	*n = 0;
	while (*n < s->nrows && !s->rows[*n].is_f64 && s->rows[*n].equal)
		++*n;
	return *n > 0 && (*n == s->nrows || s->rows[*n].is_f64);
}

void
view_replay_list(struct view_replay *p)
{
	const struct ckpt_step *s = &p->run->step;
	size_t tokens, i = 0;

	free(p->entries);
	p->nentries = 0;
	p->entries = calloc(3 * s->nrows + 2, sizeof *p->entries);
	if (!p->entries || p->run->verdict)
		return;
	p->entries[p->nentries++] =
		(struct view_replay_entry){ 0, VIEW_REPLAY_HEAD };
	if (tokens_are_equal(s, &tokens)) {
		p->entries[p->nentries++] =
			(struct view_replay_entry){ 0, VIEW_REPLAY_TOKENS };
		i = tokens;
	}
	for (; i < s->nrows; i++) {
		const struct ckpt_step_row *row = &s->rows[i];

		p->entries[p->nentries++] =
			(struct view_replay_entry){ (uint32_t)i,
				VIEW_REPLAY_RECORD };
		if (row->equal || !row->compared)
			continue;
		p->entries[p->nentries++] =
			(struct view_replay_entry){ (uint32_t)i,
				VIEW_REPLAY_FIRST_BRANCH };
		if (row->is_f64)
			p->entries[p->nentries++] =
				(struct view_replay_entry){ (uint32_t)i,
					VIEW_REPLAY_SECOND_BRANCH };
	}
}

/* An offset in the updated file; there is no tensor to be relative to. */
static void
offset_write(struct ckpt_buf *buf, const struct view *view, uint64_t off)
{
	ckpt_buf_printf(buf,
		view->base == VIEW_HEXADECIMAL ? "0x%08" PRIx64 : "%" PRIu64,
		off);
}

enum {
	OUTCOME = 2,
	OFFSET = 16,
	BYTES = 28,
	NAME = 41,
	WIDE = 70,
	MIDDLE = 56
};

/* Where names stand; columns that are right of that are left out. */
static int
name_column(const struct view_area *area)
{
	return area->cols >= WIDE     ? NAME
	       : area->cols >= MIDDLE ? BYTES
				      : OFFSET;
}

static void
draw_columns(struct view *view, const struct view_area *area, int at,
	uint64_t off, uint64_t bytes, const char *name)
{
	struct ckpt_buf text = { 0 };
	int col = name_column(area);

	offset_write(&text, view, off);
	if (col > OFFSET)
		view_puts(area, at, OFFSET, VIEW_PLAIN, text.p ? text.p : "");
	ckpt_buf_release(&text);
	if (col > BYTES)
		view_printf(area, at, BYTES, VIEW_PLAIN, "%" PRIu64, bytes);
	if (view_puts(area, at, col, VIEW_PLAIN, name) > area->cols)
		view_puts(area, at, area->cols - 1, VIEW_DIM,
			view_sign(&view->grid, VIEW_SIGN_ELLIPSIS));
}

static void
draw_columns_head(const struct view_area *area, int at)
{
	int col = name_column(area);

	view_puts(area, at, OUTCOME, VIEW_DIM, "outcome");
	if (col > OFFSET)
		view_puts(area, at, OFFSET, VIEW_DIM, "offset");
	if (col > BYTES)
		view_puts(area, at, BYTES, VIEW_DIM, "bytes");
	view_puts(area, at, col, VIEW_DIM, "record of the updated file");
}

static void
draw_record(struct view *view, const struct view_area *area, int at,
	const struct ckpt_step_row *row)
{
	view_puts(area, at, OUTCOME,
		row->equal      ? VIEW_GOOD
		: row->compared ? VIEW_ERROR
				: VIEW_WARNING,
		row->equal      ? "equal"
		: row->compared ? "different"
				: "not compared");
	draw_columns(view, area, at, row->off, row->len, row->name);
}

static void
draw_tokens(struct view *view, const struct view_area *area, int at,
	const struct ckpt_step *s)
{
	uint64_t bytes = 0;
	size_t n;
	struct ckpt_buf name = { 0 };

	tokens_are_equal(s, &n);
	for (size_t i = 0; i < n; i++)
		bytes += s->rows[i].len;
	if (n == 1)
		ckpt_buf_puts(&name, s->rows[0].name);
	else
		ckpt_buf_printf(&name, "all %zu tokens", n);
	view_puts(area, at, OUTCOME, VIEW_GOOD, "equal");
	draw_columns(
		view, area, at, s->rows[0].off, bytes, name.p ? name.p : "");
	ckpt_buf_release(&name);
}

static void
bits_write(struct ckpt_buf *buf, const struct ckpt_step_row *row, bool second)
{
	const char *end;

	if (row->bits[0] == row->bits[1]) {
		ckpt_buf_puts(buf, "bits were not kept");
		return;
	}
	ckpt_buf_printf(buf, "%016" PRIx64 " ", row->bits[second]);
	ckpt_f64_write(buf, row->bits[second]);
	/* They stand in front already. */
	end = buf->p ? strstr(buf->p, " (bits") : NULL;
	if (end)
		buf->n = (size_t)(end - buf->p);
}

/* The first element that differs, in one of the branches. */
static void
draw_branch(const struct view_area *area, int at,
	const struct ckpt_step_row *row, bool second)
{
	struct ckpt_buf text = { 0 };
	int col = 4;

	if (!second)
		col = view_printf(area, at, col, VIEW_PLAIN, "%s %" PRIu64,
			row->is_f64 ? "element" : "byte",
			row->is_f64 ? row->first / 8 : row->first);
	col = col < OFFSET ? OFFSET : col + 1;
	if (!row->is_f64)
		return;
	bits_write(&text, row, second);
	col = view_puts(
		area, at, col, VIEW_DIM, second ? "second " : "first  ");
	view_put(area, at, col, VIEW_PLAIN, text.p ? text.p : "", text.n);
	ckpt_buf_release(&text);
}

void
view_replay_draw(struct view *view, const struct view_replay *p,
	const struct view_area *area, int at, size_t i)
{
	const struct view_replay_entry *e = &p->entries[i];
	const struct ckpt_step *s = &p->run->step;

	switch (e->kind) {
	case VIEW_REPLAY_HEAD: draw_columns_head(area, at); break;
	case VIEW_REPLAY_TOKENS: draw_tokens(view, area, at, s); break;
	case VIEW_REPLAY_RECORD:
		draw_record(view, area, at, &s->rows[e->row]);
		break;
	case VIEW_REPLAY_FIRST_BRANCH:
		draw_branch(area, at, &s->rows[e->row], false);
		break;
	case VIEW_REPLAY_SECOND_BRANCH:
		draw_branch(area, at, &s->rows[e->row], true);
		break;
	}
}
