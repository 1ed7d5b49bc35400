/* SPDX-License-Identifier: MIT */
/*
 * The viewer without a terminal: where panes stand, who gets a key, what the
 * first and the last line say. Which action is whose: the prompt comes first,
 * then the pane that has the focus, then the actions of the viewer itself
 * (view/act.c).
 */
#include "view/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view/act.h"
#include "view/bar.h"
#include "view/compare.h"
#include "view/layout.h"
#include "view/place.h"

static const struct view_pane_ops *const ops[VIEW_PANES] = {
	[VIEW_TREE] = &view_tree_pane,
	[VIEW_HEX] = &view_hex_pane,
	[VIEW_INSPECTOR] = &view_inspector_pane,
	[VIEW_STATS] = &view_stats_pane,
	[VIEW_FINDINGS] = &view_findings_pane,
	[VIEW_SUMMARY] = &view_summary_pane,
	[VIEW_REPLAY] = &view_replay_pane,
	[VIEW_COMPARE] = &view_compare_pane,
	[VIEW_HELP] = &view_help_pane,
	[VIEW_STRIP] = &view_strip_pane,
};

bool
view_init(struct view *view, struct view_doc *doc, int bell)
{
	memset(view, 0, sizeof *view);
	view->doc = doc;
	view->bell = bell;
	view->focus = VIEW_TREE;
	for (size_t i = 0; i < VIEW_PANES; i++) {
		if (!ops[i]->make)
			continue;
		view->panes[i] = ops[i]->make(view);
		if (!view->panes[i])
			return false;
	}
	view_resize(view, 24, 80);
	return view->grid.cells != NULL;
}

void
view_release(struct view *view)
{
	for (size_t i = 0; i < VIEW_PANES; i++)
		if (ops[i]->free && view->panes[i])
			ops[i]->free(view->panes[i]);
	view_compare_free(view->compare);
	view_prompt_free(view->prompt);
	view_history_free(view->history);
	view_export_free(view->exporting);
	view_search_free(view->search);
	view_bookmark_free(view->marks);
	ckpt_buf_release(&view->message);
	view_grid_release(&view->grid);
}

/* ---- The cursor --------------------------------------------------------- */

static void
tell_moved(struct view *view)
{
	for (size_t i = 0; i < VIEW_PANES; i++)
		if (ops[i]->moved)
			ops[i]->moved(view, view->panes[i]);
}

void
view_go(struct view *view, uint64_t off)
{
	uint64_t size = view->doc->size;

	view->cursor = off < size ? off : size > 0 ? size - 1 : 0;
	tell_moved(view);
}

void
view_jump(struct view *view, uint64_t off)
{
	if (off != view->cursor)
		view->before = view->cursor;
	view_go(view, off);
}

void
view_say(struct view *view, unsigned style, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	ckpt_buf_clear(&view->message);
	ckpt_buf_puts(&view->message, text);
	view->message_style = style;
}

/* ---- Events ------------------------------------------------------------- */

void
view_resize(struct view *view, int rows, int cols)
{
	if (view_grid_resize(&view->grid, rows, cols))
		view_layout(view);
}

void
view_do(struct view *view, enum view_action action)
{
	const struct view_pane_ops *pane = ops[view->focus];

	if (action == VIEW_DO_NOTHING)
		return;
	if (pane->act && pane->act(view, view->panes[view->focus], action))
		return;
	view_act(view, action);
}

static void
say_unknown(struct view *view, uint32_t key)
{
	struct ckpt_buf name = { 0 };

	view_key_write(&name, key);
	if (name.n > 0 && !name.failed)
		view_say(view, VIEW_WARNING,
			"no such key: %s (? lists the keys)", name.p);
	ckpt_buf_release(&name);
}

void
view_key(struct view *view, uint32_t key)
{
	enum view_action awaited = view->awaited;
	enum view_action action = view_key_action(key);

	ckpt_buf_clear(&view->message);
	view->awaited = VIEW_DO_NOTHING;
	if (view->prompt) {
		view_prompt_key(view, key);
	} else if (awaited && key == VIEW_CTRL('c')) {
		return;
	} else if (awaited == VIEW_DO_MARK) {
		view_bookmark_set(view, key);
	} else if (awaited == VIEW_DO_JUMP) {
		view_bookmark_go(view, key);
	} else if (action == VIEW_DO_NOTHING) {
		say_unknown(view, key);
	} else {
		view_do(view, action);
	}
}

bool
view_interrupt(struct view *view)
{
	if (!view->prompt && view->awaited == VIEW_DO_NOTHING)
		return false;
	view_key(view, VIEW_CTRL('c'));
	return true;
}

/* The pane whose area has the cell. */
static enum view_pane_id
pane_at(const struct view *view, int row, int col)
{
	for (enum view_pane_id i = 0; i < VIEW_PANES; i++) {
		const struct view_area *a = &view->areas[i];

		if (row >= a->row && row - a->row < a->rows && col >= a->col &&
			col - a->col < a->cols)
			return i;
	}
	return VIEW_PANES;
}

void
view_click(struct view *view, int row, int col, bool twice)
{
	enum view_pane_id i = pane_at(view, row, col);

	if (view->prompt || i == VIEW_PANES)
		return;
	ckpt_buf_clear(&view->message);
	if (i != VIEW_STRIP && i != view->focus)
		view_focus(view, i);
	if (ops[i]->click)
		ops[i]->click(view, view->panes[i], row - view->areas[i].row,
			col - view->areas[i].col, twice);
}

void
view_wheel(struct view *view, int row, int col, int lines)
{
	enum view_pane_id i = pane_at(view, row, col);
	enum view_action action = lines < 0 ? VIEW_DO_UP : VIEW_DO_DOWN;

	if (view->prompt || i == VIEW_PANES || !ops[i]->act)
		return;
	for (int n = abs(lines); n > 0; n--)
		ops[i]->act(view, view->panes[i], action);
}

bool
view_poll(struct view *view)
{
	bool fresh = view_doc_poll(view->doc);

	if (fresh)
		tell_moved(view);
	for (size_t i = 0; i < VIEW_PANES; i++)
		if (ops[i]->poll && ops[i]->poll(view, view->panes[i]))
			fresh = true;
	if (view_export_poll(view) || view_verify_poll(view))
		fresh = true;
	return view_search_poll(view) || fresh;
}

bool
view_busy(const struct view *view)
{
	if (view_doc_busy(view->doc))
		return true;
	for (size_t i = 0; i < VIEW_PANES; i++)
		if (ops[i]->busy && ops[i]->busy(view->panes[i]))
			return true;
	return view_search_busy(view) || view_export_busy(view);
}

void
view_settle(struct view *view)
{
	const struct timespec pause = { .tv_nsec = 500 * 1000 };

	while (view_busy(view)) {
		view_poll(view);
		nanosleep(&pause, NULL);
	}
	view_poll(view);
}

/* ---- Drawing ------------------------------------------------------------ */

/* The last line: a prompt, a message, or where the cursor is. */
static void
draw_status(struct view *view)
{
	struct view_area screen = view_grid_area(&view->grid);
	struct view_area bar =
		view_area_part(&screen, screen.rows - 1, 0, 1, screen.cols);
	struct ckpt_buf text = { 0 };
	int col, room;

	for (col = 0; col < bar.cols;)
		col = view_puts(&bar, 0, col, VIEW_BAR, " ");
	if (view->prompt) {
		view_prompt_draw(view, &bar);
		return;
	}
	if (view->message.n > 0) {
		view_put(&bar, 0, 0, view->message_style, view->message.p,
			view->message.n);
		return;
	}
	view_offset_write(&text, view, view->cursor);
	ckpt_buf_printf(&text, "  %u%%  ",
		view->doc->size > 1 ? (unsigned)(100.0 * (double)view->cursor /
						 (double)(view->doc->size - 1))
				    : 0);
	room = bar.cols - (int)text.n;
	/* Where there is much room some of it is for the hint. */
	view_place_write(
		&text, view, view->cursor, room > 40 ? room - 11 : room);
	col = view_put(&bar, 0, 0, VIEW_BAR, text.p ? text.p : "", text.n);
	ckpt_buf_release(&text);
	if (col + 10 < bar.cols)
		view_puts(&bar, 0, bar.cols - 7, VIEW_BAR, "? help");
}

static void
draw_notice(struct view *view)
{
	struct view_area screen = view_grid_area(&view->grid);

	view_printf(&screen, 0, 0, VIEW_BOLD, "%dx%d: too small", screen.cols,
		screen.rows);
	view_puts(&screen, 1, 0, VIEW_PLAIN, "40x10 is needed");
}

void
view_draw(struct view *view)
{
	view_grid_clear(&view->grid);
	if (view_too_small(view)) {
		draw_notice(view);
		return;
	}
	view_bar_draw(view);
	for (enum view_pane_id i = 0; i < VIEW_PANES; i++)
		if (view->areas[i].rows > 0)
			ops[i]->draw(view, view->panes[i], &view->areas[i],
				view->focus == i);
	draw_status(view);
}

bool
view_caret(const struct view *view, int *row, int *col)
{
	*row = view->grid.rows - 1;
	return !view_too_small(view) && view->prompt &&
	       view_prompt_caret(view, col);
}

void
view_offset_write(struct ckpt_buf *buf, struct view *view, uint64_t off)
{
	struct view_owner owner;
	uint64_t start = 0;

	switch (view->base) {
	case VIEW_HEXADECIMAL:
		ckpt_buf_printf(buf, "0x%08llx", (unsigned long long)off);
		return;
	case VIEW_DECIMAL:
		ckpt_buf_printf(buf, "%llu", (unsigned long long)off);
		return;
	case VIEW_RELATIVE:
		if (view_doc_owner(view->doc, off, &owner))
			start = owner.span ? owner.span->off : owner.off;
		ckpt_buf_printf(
			buf, "+%llu", (unsigned long long)(off - start));
		return;
	}
}

enum view_style
view_owner_style(const struct view_owner *owner)
{
	switch (owner->kind) {
	case CKPT_OWNER_FIELD:
	case CKPT_OWNER_HEADER: return VIEW_HEADER;
	case CKPT_OWNER_GAP:
	case CKPT_OWNER_NONE: return owner->spans ? VIEW_LOST : VIEW_PLAIN;
	case CKPT_OWNER_TENSOR: break;
	}
	switch (owner->span->class_) {
	case CKPT_TENSOR_TOKENIZER: return VIEW_TOKENIZER;
	case CKPT_TENSOR_PARAMETER: return VIEW_PARAMETER;
	case CKPT_TENSOR_MOMENT: return VIEW_MOMENT;
	case CKPT_TENSOR_OTHER: break;
	}
	return VIEW_OTHER;
}
