/* SPDX-License-Identifier: MIT */
/*
 * The first line: the file, the second one if there is one, format, size, and
 * how far the verification is. What there is no room for is left out; names
 * and the verdict stay.
 */
#include "view/bar.h"

#include <inttypes.h>
#include <string.h>

#include "view/compare.h"

enum {
	CHANGED = VIEW_ERROR | VIEW_MARKS(VIEW_REVERSE),
	/* Of a character with what is drawn over it. */
	BYTES_MOST = 16,
};

void
view_path_write(struct ckpt_buf *buf, const struct view_grid *grid,
	const char *path, int cols)
{
	struct ckpt_buf all = { 0 };
	size_t n = strlen(path), room = cols > 0 ? (size_t)cols : 0, from = 0;
	bool cut = n / BYTES_MOST > room;

	/* What is far from the end is not drawn anyway. */
	if (cut)
		path += n - room * BYTES_MOST;
	/* Not from within a character. */
	for (int i = 0; cut && i < 3 && (*path & 0xc0) == 0x80; i++)
		path++;
	ckpt_buf_escape(&all, path, strlen(path), 0);
	if (!all.p)
		return;
	cut = cut || view_width(all.p, all.n) > cols;
	if (cut) {
		from = view_fit_end(all.p, all.n, cols - 1);
		ckpt_buf_puts(buf, view_sign(grid, VIEW_SIGN_ELLIPSIS));
	}
	ckpt_buf_add(buf, all.p + from, all.n - from);
	ckpt_buf_release(&all);
}

/* How far the verification is; the style of these words. */
static unsigned
write_state(struct ckpt_buf *buf, const struct view_doc *doc)
{
	uint64_t done = 0, total = 0;

	if (doc->now)
		view_doc_progress(doc, &done, &total);
	switch (doc->stage) {
	case VIEW_READING: ckpt_buf_puts(buf, "reading the header ..."); break;
	case VIEW_VERIFYING:
		ckpt_buf_printf(buf, "verifying %u%%",
			total ? (unsigned)(100.0 * (double)done / (double)total)
			      : 0);
		break;
	case VIEW_PAUSED:
		ckpt_buf_puts(buf, doc->primary
					   ? "faults found; not verified (v)"
					   : "not verified (v)");
		break;
	case VIEW_VERIFIED:
		ckpt_buf_puts(buf, ckpt_verdict_name(doc->verdict));
		return doc->verdict == CKPT_VALID ? VIEW_BAR : VIEW_ERROR;
	}
	return VIEW_BAR;
}

static void
write_facts(struct ckpt_buf *buf, const struct view_doc *doc)
{
	ckpt_buf_printf(buf, "  %s  %" PRIu64 " bytes",
		doc->format                 ? doc->format->name
		: doc->stage > VIEW_READING ? "no known format"
					    : "",
		doc->size);
}

static int
width(const struct ckpt_buf *buf)
{
	return buf->p ? view_width(buf->p, buf->n) : 0;
}

/* Of two files the names, and what they are there for; what is known of the
 * first one where there is room. */
static void
add_second(struct view *view, struct ckpt_buf *text,
	const struct ckpt_buf *facts, int room)
{
	static const char hint[] = " (c compares)";

	ckpt_buf_puts(text, " | B ");
	view_path_write(text, &view->grid, view->compare->other.path,
		view->grid.cols / 4);
	if (width(text) + (int)strlen(hint) <= room)
		ckpt_buf_puts(text, hint);
	if (facts->p && width(text) + width(facts) <= room)
		ckpt_buf_add(text, facts->p, facts->n);
}

static void
draw_changed(const struct view_area *bar, const char *changed)
{
	int col = view_puts(bar, 0, 0, CHANGED, " CHANGED: ");

	col = view_puts(bar, 0, col, CHANGED, changed);
	view_puts(bar, 0, col, CHANGED,
		"; what is shown may be old; F5 opens it again ");
}

void
view_bar_draw(struct view *view)
{
	struct view_area screen = view_grid_area(&view->grid);
	struct view_area bar = view_area_part(&screen, 0, 0, 1, screen.cols);
	const struct view_doc *doc = view->doc;
	struct ckpt_buf text = { 0 }, facts = { 0 }, state = { 0 };
	unsigned style = write_state(&state, doc);
	int col;

	for (col = 0; col < bar.cols;)
		col = view_puts(&bar, 0, col, VIEW_BAR, " ");
	write_facts(&facts, doc);
	view_path_write(&text, &view->grid, doc->path,
		view->compare ? bar.cols / 4 : bar.cols / 2);
	if (view->compare)
		add_second(view, &text, &facts, bar.cols - width(&state) - 2);
	else if (facts.p)
		ckpt_buf_add(&text, facts.p, facts.n);
	col = view_put(&bar, 0, 0, VIEW_BAR, text.p ? text.p : "", text.n);
	view_put(&bar, 0, col + 2, style, state.p ? state.p : "", state.n);
	if (doc->changed)
		draw_changed(&bar, doc->changed);
	ckpt_buf_release(&text);
	ckpt_buf_release(&facts);
	ckpt_buf_release(&state);
}
