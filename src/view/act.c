/* SPDX-License-Identifier: MIT */
/*
 * What actions do wherever the focus is. Moving by bytes and rows belongs to
 * the panes; a pane that does not know such an action leaves it alone.
 */
#include "view/act.h"

#include "view/compare.h"
#include "view/layout.h"

static void
next_pane(struct view *view, int by)
{
	int n = VIEW_PAGES, at = (int)view->focus;

	if (view->focus >= VIEW_PAGES)
		return;
	view_focus(view, (enum view_pane_id)((at + by + n) % n));
}

static void
leave(struct view *view)
{
	if (!view_back(view) && view_export_may_leave(view))
		view->quit = true;
}

static void
next_finding(struct view *view, bool back)
{
	const struct ckpt_diag *d =
		back ? view_doc_finding_before(view->doc, view->cursor)
		     : view_doc_finding_after(view->doc, view->cursor);

	if (d)
		view_jump(view, d->off);
	else
		view_say(view, VIEW_WARNING, "no finding %s here",
			back ? "before" : "after");
}

/* Tensors lie in the order of the owners, each perhaps in several pieces. */
static void
next_tensor(struct view *view, bool back)
{
	const struct ckpt_spans *spans = view->doc->spans;
	const struct ckpt_owner *at, *o;
	const struct ckpt_span *here = view_doc_tensor(view->doc, view->cursor);

	at = spans ? ckpt_spans_at(spans, view->cursor) : NULL;
	if (!at)
		return;
	for (o = back ? at - 1 : at + 1;
		o >= spans->owners && o < spans->owners + spans->nowners;
		o += back ? -1 : 1) {
		const struct ckpt_span *s;

		if (o->kind != CKPT_OWNER_TENSOR)
			continue;
		s = &spans->tensors[o->index];
		if (s == here && o->off != s->off)
			continue;
		view_jump(view, o->off);
		return;
	}
	view_say(view, VIEW_WARNING, "no tensor %s here",
		back ? "before" : "after");
}

/* From an element to its tensor, from there to the record in the header. */
static void
parent(struct view *view)
{
	struct view_owner owner;
	uint64_t off = view->cursor;

	if (!view_doc_owner(view->doc, off, &owner))
		return;
	if (owner.span && off != owner.span->off)
		off = owner.span->off;
	else if (owner.span)
		off = owner.span->record_at;
	else if (off != owner.off)
		off = owner.off;
	else
		off = 0;
	view_jump(view, off);
}

static void
verify(struct view *view)
{
	view->verify_asked = true;
	if (view->doc->stage == VIEW_VERIFYING)
		view_doc_pause(view->doc);
	else
		view_doc_verify(view->doc);
}

bool
view_verify_poll(struct view *view)
{
	const struct view_doc *doc = view->doc;

	if (!view->verify_asked || view_doc_busy(doc) ||
		(doc->stage != VIEW_PAUSED && doc->stage != VIEW_VERIFIED))
		return false;
	view->verify_asked = false;
	if (doc->stage == VIEW_PAUSED)
		view_say(view, VIEW_WARNING,
			"stopped before the end: not verified");
	else if (doc->nfindings == 0)
		view_say(view, VIEW_BAR, "verified: %s, no findings",
			ckpt_verdict_name(doc->verdict));
	else
		view_say(view, VIEW_BAR, "verified: %s, %zu %s (e)",
			ckpt_verdict_name(doc->verdict), doc->nfindings,
			doc->nfindings == 1 ? "finding" : "findings");
	return true;
}

/* What is at work would be lost with the file that is open. */
static void
reload(struct view *view)
{
	if (view_replay_pane.busy(view->panes[VIEW_REPLAY]))
		view_say(view, VIEW_WARNING,
			"a replay is running; Esc stops it");
	else if (view_export_busy(view))
		view_say(view, VIEW_WARNING,
			"bytes are being written: Esc cancels that");
	else
		view->reload = true;
}

static void
zoom(struct view *view)
{
	if (view_narrow(view)) {
		view_say(
			view, VIEW_BAR, "this screen shows one pane at a time");
		return;
	}
	view->zoomed = !view->zoomed;
	view_layout(view);
}

static void
cancel(struct view *view)
{
	if (view_search_busy(view))
		view_search_cancel(view);
	else if (view_export_busy(view))
		view_export_cancel(view);
	else if (view->focus >= VIEW_PAGES)
		leave(view);
	else
		view_filter_clear(view);
}

/* Actions that give the focus to a pane. */
static bool
act_pane(struct view *view, enum view_action action)
{
	static const struct {
		enum view_action action;
		enum view_pane_id pane;
	} rows[] = {
		{ VIEW_DO_TREE, VIEW_TREE },
		{ VIEW_DO_HEX, VIEW_HEX },
		{ VIEW_DO_INSPECTOR, VIEW_INSPECTOR },
		{ VIEW_DO_STATS, VIEW_STATS },
		{ VIEW_DO_FINDINGS, VIEW_FINDINGS },
		{ VIEW_DO_SUMMARY, VIEW_SUMMARY },
		{ VIEW_DO_HELP, VIEW_HELP },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].action == action) {
			view_focus(view, rows[i].pane);
			return true;
		}
	return false;
}

/* Actions that move the cursor. */
static bool
act_move(struct view *view, enum view_action action)
{
	switch ((int)action) {
	case VIEW_DO_PREVIOUS_TENSOR: next_tensor(view, true); return true;
	case VIEW_DO_NEXT_TENSOR: next_tensor(view, false); return true;
	case VIEW_DO_PREVIOUS_FINDING: next_finding(view, true); return true;
	case VIEW_DO_NEXT_FINDING: next_finding(view, false); return true;
	case VIEW_DO_PARENT: parent(view); return true;
	case VIEW_DO_GO: view_go_ask(view); return true;
	case VIEW_DO_SEARCH: view_search_ask(view); return true;
	case VIEW_DO_AGAIN: view_search_again(view, false); return true;
	case VIEW_DO_BACK_AGAIN: view_search_again(view, true); return true;
	case VIEW_DO_MARK:
	case VIEW_DO_JUMP:
		view->awaited = action;
		view_say(view, VIEW_BAR,
			action == VIEW_DO_MARK
				? "bookmark: which letter?"
				: "go to bookmark: which letter? ' goes back");
		return true;
	}
	return false;
}

void
view_act(struct view *view, enum view_action action)
{
	if (act_pane(view, action) || act_move(view, action))
		return;
	switch ((int)action) {
	case VIEW_DO_NEXT_PANE: next_pane(view, 1); break;
	case VIEW_DO_PREVIOUS_PANE: next_pane(view, -1); break;
	case VIEW_DO_ZOOM: zoom(view); break;
	case VIEW_DO_BASE: view->base = (view->base + 1) % 3; break;
	case VIEW_DO_FILTER: view_filter_ask(view); break;
	case VIEW_DO_VERIFY: verify(view); break;
	case VIEW_DO_REPLAY: view_replay_ask(view); break;
	case VIEW_DO_COMPARE: view_compare_show(view); break;
	case VIEW_DO_EXPORT: view_export_ask(view); break;
	case VIEW_DO_RELOAD: reload(view); break;
	case VIEW_DO_REDRAW: view->redraw = true; break;
	case VIEW_DO_QUIT: leave(view); break;
	case VIEW_DO_CANCEL: cancel(view); break;
	case VIEW_DO_OPEN:
	case VIEW_DO_FOLD:
	case VIEW_DO_UNFOLD:
	case VIEW_DO_SORT:
		view_say(view, VIEW_WARNING,
			"this key does nothing here (? lists all)");
		break;
	}
}
