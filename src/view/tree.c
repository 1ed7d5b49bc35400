/* SPDX-License-Identifier: MIT */
/*
 * The pane of the records. Its selected row and the cursor follow each other:
 * a row that is selected here takes the cursor to its first byte, and a
 * cursor that is moved elsewhere selects the row that owns it, or the group
 * in which that row is folded. The tree is built when there is a new index
 * that says something else than the one before.
 */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

#include "view/tree_build.h"
#include "view/tree_draw.h"

struct tree_pane {
	struct view_tree tree;
	/* What it was last made of; only compared, never followed. */
	const struct ckpt_spans *spans;
	const struct ckpt_diag *findings;
	bool no_memory;
	bool ours;       /* the cursor is being moved from here */
	uint64_t cursor; /* for which a row was selected */
	uint32_t selected, top;
	struct ckpt_buf words; /* of the filter, as they were typed */
};

static void *
make(struct view *view)
{
	(void)view;
	return calloc(1, sizeof(struct tree_pane));
}

static void
release(void *state)
{
	struct tree_pane *s = state;

	view_tree_release(&s->tree);
	ckpt_buf_release(&s->words);
	free(s);
}

/* ---- Following ---------------------------------------------------------- */

static void
rebuild(struct tree_pane *s, const struct ckpt_spans *spans)
{
	enum view_tree_order order = s->tree.order;
	bool ok;

	view_tree_release(&s->tree);
	s->selected = s->top = 0;
	s->no_memory = false;
	if (!spans)
		return;
	ok = view_tree_build(&s->tree, spans) &&
	     (order == VIEW_BY_FILE ||
		     view_tree_sort(&s->tree, spans, order)) &&
	     (s->words.n == 0 || view_tree_filter(&s->tree, spans, s->words.p));
	if (ok)
		return;
	view_tree_release(&s->tree);
	s->no_memory = true;
}

static void
follow(struct view *view, struct tree_pane *s)
{
	uint32_t node = view_tree_at(&s->tree, view->doc, view->cursor);
	uint32_t row = view_tree_row(&s->tree, node);

	s->cursor = view->cursor;
	if (row != VIEW_TREE_NONE)
		s->selected = row;
}

/* Takes over a new index and new findings. */
static void
refresh(struct view *view, struct tree_pane *s)
{
	const struct view_doc *doc = view->doc;
	bool fresh = s->spans != doc->spans;

	if (!fresh && s->findings == doc->findings)
		return;
	s->spans = doc->spans;
	s->findings = doc->findings;
	fresh = fresh && !(doc->spans && view_tree_fits(&s->tree, doc->spans));
	if (fresh)
		rebuild(s, doc->spans);
	view_tree_mark(&s->tree, doc);
	if (fresh)
		follow(view, s);
}

static void
moved(struct view *view, void *state)
{
	struct tree_pane *s = state;

	refresh(view, s);
	if (!s->ours && view->cursor != s->cursor)
		follow(view, s);
}

/* ---- Drawing ------------------------------------------------------------ */

static void
draw_title(
	const struct tree_pane *s, const struct view_area *area, bool focused)
{
	struct ckpt_buf text = { 0 };

	view_tree_title_write(&text, &s->tree, &s->words);
	view_title(area, focused, text.failed ? "records" : text.p);
	ckpt_buf_release(&text);
}

/* What is said where there are no rows. */
static const char *
empty_words(const struct view *view, const struct tree_pane *s)
{
	if (view->doc->stage == VIEW_READING)
		return "reading the header ...";
	if (s->no_memory || !view->doc->spans)
		return "not enough memory for the records";
	if (s->tree.filter)
		return "no record has these words (Esc shows all)";
	return "the file is empty";
}

static void
draw(struct view *view, void *state, const struct view_area *area, bool focused)
{
	struct tree_pane *s = state;
	struct view_area body =
		view_area_part(area, 1, 0, area->rows - 1, area->cols);
	uint32_t rows = (uint32_t)body.rows;

	refresh(view, s);
	draw_title(s, area, focused);
	if (s->tree.nrows == 0) {
		view_puts(&body, 0, 1, VIEW_PLAIN, empty_words(view, s));
		return;
	}
	if (rows == 0)
		return;
	if (s->selected >= s->tree.nrows)
		s->selected = s->tree.nrows - 1;
	if (s->top > s->selected)
		s->top = s->selected;
	if (s->selected - s->top >= rows)
		s->top = s->selected - rows + 1;
	if (s->tree.nrows - s->top < rows)
		s->top = s->tree.nrows > rows ? s->tree.nrows - rows : 0;
	view_tree_draw(&body, &s->tree, view->doc, s->top, s->selected);
}

/* ---- Acting ------------------------------------------------------------- */

static struct view_tree_node *
selected_node(struct tree_pane *s)
{
	return &s->tree.nodes[s->tree.rows[s->selected]];
}

/* Selects a row and takes the cursor there; far: as a jump. */
static void
select_row(struct view *view, struct tree_pane *s, uint32_t row, bool far)
{
	uint64_t off;

	if (s->tree.nrows == 0)
		return;
	s->selected = row < s->tree.nrows ? row : s->tree.nrows - 1;
	off = view_tree_first_byte(
		&s->tree, view->doc->spans, s->tree.rows[s->selected]);
	s->ours = true;
	if (far)
		view_jump(view, off);
	else
		view_go(view, off);
	s->ours = false;
	s->cursor = view->cursor;
}

static void
select_by(struct view *view, struct tree_pane *s, int64_t by)
{
	int64_t row = (int64_t)s->selected + by;

	select_row(view, s, row < 0 ? 0 : (uint32_t)row, false);
}

/* Opens or closes a group; it is the one that is selected then. */
static void
set_open(struct view *view, struct tree_pane *s, uint32_t node, bool open)
{
	s->tree.nodes[node].open = open;
	if (!view_tree_flatten(&s->tree, view->doc->spans))
		return;
	select_row(view, s, view_tree_row(&s->tree, node), false);
}

static void
to_parent(struct view *view, struct tree_pane *s, bool fold)
{
	uint32_t up = selected_node(s)->up;

	if (s->tree.filter || up == 0)
		return;
	if (fold)
		set_open(view, s, up, false);
	else
		select_row(view, s, view_tree_row(&s->tree, up), false);
}

static void
open_selected(struct view *view, struct tree_pane *s)
{
	const struct view_tree_node *node = selected_node(s);

	if (view_tree_is_group(node)) {
		set_open(view, s, s->tree.rows[s->selected], !node->open);
		return;
	}
	/* Whoever is on an element already keeps it. */
	if (!view_tree_has(&s->tree, view->doc, s->tree.rows[s->selected],
		    view->cursor))
		select_row(view, s, s->selected, true);
	view_focus(view, VIEW_HEX);
}

static void
sort(struct view *view, struct tree_pane *s)
{
	enum view_tree_order order = (s->tree.order + 1) % VIEW_ORDERS;
	uint32_t node = s->tree.rows[s->selected];

	if (!view_tree_sort(&s->tree, view->doc->spans, order)) {
		view_say(view, VIEW_ERROR, "not enough memory to sort");
		return;
	}
	s->selected = view_tree_row(&s->tree, node);
	view_say(view, VIEW_BAR, "records %s",
		view_tree_order_name(s->tree.order));
}

/* Actions on the row that is selected. */
static bool
act_on_row(struct view *view, struct tree_pane *s, enum view_action action)
{
	const struct view_tree_node *node = selected_node(s);
	uint32_t i = s->tree.rows[s->selected];
	bool group = view_tree_is_group(node);

	switch ((int)action) {
	case VIEW_DO_OPEN: open_selected(view, s); return true;
	case VIEW_DO_SORT: sort(view, s); return true;
	case VIEW_DO_UNFOLD:
		if (group && !node->open)
			set_open(view, s, i, true);
		return true;
	case VIEW_DO_RIGHT:
		if (group && node->open)
			select_by(view, s, 1);
		else if (group)
			set_open(view, s, i, true);
		return true;
	case VIEW_DO_FOLD:
	case VIEW_DO_LEFT:
		if (group && node->open)
			set_open(view, s, i, false);
		else
			to_parent(view, s, action == VIEW_DO_FOLD);
		return true;
	}
	return false;
}

static bool
act(struct view *view, void *state, enum view_action action)
{
	struct tree_pane *s = state;
	int page = view->areas[VIEW_TREE].rows - 2;

	page = page > 1 ? page : 1;
	refresh(view, s);
	if (s->tree.nrows == 0)
		return false;
	if (s->selected >= s->tree.nrows)
		s->selected = s->tree.nrows - 1;
	switch ((int)action) {
	case VIEW_DO_UP: select_by(view, s, -1); return true;
	case VIEW_DO_DOWN: select_by(view, s, 1); return true;
	case VIEW_DO_PAGE_UP: select_by(view, s, -page); return true;
	case VIEW_DO_PAGE_DOWN: select_by(view, s, page); return true;
	case VIEW_DO_HALF_UP: select_by(view, s, -(page + 1) / 2); return true;
	case VIEW_DO_HALF_DOWN: select_by(view, s, (page + 1) / 2); return true;
	case VIEW_DO_FIRST: select_row(view, s, 0, true); return true;
	case VIEW_DO_LAST: select_row(view, s, UINT32_MAX, true); return true;
	}
	return act_on_row(view, s, action);
}

static void
click(struct view *view, void *state, int row, int col, bool twice)
{
	struct tree_pane *s = state;

	(void)col;
	refresh(view, s);
	if (row < 1 || (uint32_t)row - 1 >= s->tree.nrows - s->top ||
		s->top >= s->tree.nrows)
		return;
	select_row(view, s, s->top + (uint32_t)row - 1, false);
	if (twice)
		open_selected(view, s);
}

const struct view_pane_ops view_tree_pane = {
	.title = "records",
	.make = make,
	.free = release,
	.draw = draw,
	.act = act,
	.click = click,
	.moved = moved,
};

/* ---- The filter --------------------------------------------------------- */

static void
accept(struct view *view, const char *text)
{
	struct tree_pane *s = view->panes[VIEW_TREE];

	if (text[strspn(text, " ")] == '\0') {
		view_filter_clear(view);
		return;
	}
	refresh(view, s);
	ckpt_buf_clear(&s->words);
	ckpt_buf_puts(&s->words, text);
	if (s->words.failed ||
		!view_tree_filter(&s->tree, view->doc->spans, text)) {
		view_say(view, VIEW_ERROR, "not enough memory to filter");
		return;
	}
	s->selected = s->top = 0;
	follow(view, s);
	select_row(view, s, s->selected, true);
	view_focus(view, VIEW_TREE);
}

void
view_filter_ask(struct view *view)
{
	struct tree_pane *s = view->panes[VIEW_TREE];

	view_ask(view, "filter: ", s->words.n ? s->words.p : "", accept);
}

/* The record that was found stays in sight. */
void
view_filter_clear(struct view *view)
{
	struct tree_pane *s = view->panes[VIEW_TREE];
	struct view_tree *tree = &s->tree;
	uint32_t node = VIEW_TREE_NONE;

	if (s->words.n == 0)
		return;
	ckpt_buf_clear(&s->words);
	refresh(view, s);
	if (s->selected < tree->nrows)
		node = tree->rows[s->selected];
	for (uint32_t i = node == VIEW_TREE_NONE ? 0 : tree->nodes[node].up; i;
		i = tree->nodes[i].up)
		tree->nodes[i].open = true;
	if (!view_tree_filter(tree, view->doc->spans, NULL))
		view_say(view, VIEW_ERROR, "not enough memory to show all");
	s->selected = s->top = 0;
	if (node != VIEW_TREE_NONE)
		s->selected = view_tree_row(tree, node);
	else
		follow(view, s);
}
