/* SPDX-License-Identifier: MIT */
/*
 * The focus, and the way back. A page covers everything, and a pane that has
 * the screen for itself covers the one before it; panes that stand side by
 * side are one screen and cover nothing. What is covered is kept in order,
 * each page once, and so the way back is short wherever one has been.
 */
#include <string.h>

#include "view/layout.h"
#include "view/view.h"

static bool
is_page(enum view_pane_id pane)
{
	return pane >= VIEW_PAGES;
}

/* The place of a pane in the way back, not before from; nbelow if it has
 * none. */
static size_t
find(const struct view *view, enum view_pane_id pane, size_t from)
{
	while (from < view->nbelow && view->below[from].pane != pane)
		from++;
	return from;
}

static void
drop(struct view *view, size_t i)
{
	view->nbelow--;
	memmove(&view->below[i], &view->below[i + 1],
		(view->nbelow - i) * sizeof view->below[0]);
}

/* The pane with the focus is about to be covered. Help is not gone back to:
 * who reads there of a key and presses it is done with it. */
static void
cover(struct view *view)
{
	size_t top = view->nbelow;

	if (view->focus == VIEW_HELP ||
		(top > 0 && view->below[top - 1].pane == view->focus))
		return;
	if (top == VIEW_BELOW)
		drop(view, 0);
	view->below[view->nbelow++] =
		(struct view_below){ view->focus, view->zoomed };
}

/* Where the panes that lie on each other begin, above the last page. */
static size_t
first_pane(const struct view *view)
{
	size_t i = view->nbelow;

	while (i > 0 && !is_page(view->below[i - 1].pane))
		i--;
	return i;
}

void
view_focus(struct view *view, enum view_pane_id pane)
{
	size_t there;

	if (pane == view->focus) {
		view_layout(view);
		return;
	}
	if (is_page(pane)) {
		there = find(view, pane, 0);
		if (there < view->nbelow)
			drop(view, there);
		cover(view);
	} else if (is_page(view->focus)) {
		cover(view);
	} else if (view_alone(view)) {
		there = find(view, pane, first_pane(view));
		if (there < view->nbelow)
			view->nbelow = there;
		else
			cover(view);
	}
	view->focus = pane;
	view_layout(view);
}

/* What the screen shows already is not gone back to. */
static void
skip_shown(struct view *view)
{
	bool alone = view_alone(view);

	while (view->nbelow > 0 && !is_page(view->focus)) {
		enum view_pane_id top = view->below[view->nbelow - 1].pane;

		if (is_page(top) || (alone && top != view->focus))
			return;
		view->nbelow--;
	}
}

bool
view_back(struct view *view)
{
	bool below_zoomed;

	skip_shown(view);
	below_zoomed = view->nbelow > 0 && view->below[view->nbelow - 1].zoomed;
	if (view->zoomed && !below_zoomed && !is_page(view->focus) &&
		!view_narrow(view)) {
		view->zoomed = false;
	} else if (view->nbelow > 0) {
		view->nbelow--;
		view->focus = view->below[view->nbelow].pane;
		view->zoomed = below_zoomed;
	} else if (is_page(view->focus)) {
		view->focus = VIEW_TREE;
	} else {
		return false;
	}
	view_layout(view);
	return true;
}
