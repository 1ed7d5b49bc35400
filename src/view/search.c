/* SPDX-License-Identifier: MIT */
/*
 * Searching. Names are compared at once; bytes and values are read in the
 * background. What was found is said with its place and, where that is known,
 * which match of how many it is; what was typed in a way that means something
 * else than it seems to is said too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sink/number.h"
#include "view/numbers.h"
#include "view/place.h"
#include "view/search_match.h"
#include "view/search_scan.h"

enum { PLACE_LEAST = 20 };

struct view_search {
	struct view_scan scan; /* with the pattern */
	char *text;            /* owned; NULL: nothing was searched for */
	unsigned percent;      /* that was said */
};

/* ---- Bytes and values --------------------------------------------------- */

static void
start_scan(struct view *view, struct view_search *s)
{
	s->percent = 0;
	switch (view_scan_start(&s->scan, view->doc, view->cursor)) {
	case VIEW_SCAN_RUNS: break;
	case VIEW_SCAN_NO_FLOATS:
		view_say(view, VIEW_WARNING, "there are no tensors of floats");
		break;
	case VIEW_SCAN_NO_MEMORY:
		view_say(view, VIEW_ERROR, "out of memory");
		break;
	}
}

/* The element of floats at a place as a number; false if there is none. */
static bool
write_element(struct ckpt_buf *buf, struct view *view, uint64_t off)
{
	uint8_t wide[8] = { 0 };
	struct view_owner owner;
	unsigned width;

	if (!view_doc_owner(view->doc, off, &owner) || !owner.span ||
		ckpt_number_of(owner.span) != CKPT_NUMBER_FLOAT)
		return false;
	width = owner.span->width;
	if (view_doc_read(view->doc, off, wide, width) != width)
		return false;
	view_f64_write(buf, ckpt_number_value(owner.span, ckpt_load_u64(wide)));
	return true;
}

/* The place in the room that is left in the last line. */
static void
write_place(struct ckpt_buf *buf, struct view *view, uint64_t off)
{
	int room = view->grid.cols - (int)buf->n;

	view_place_write(
		buf, view, off, room > PLACE_LEAST ? room : PLACE_LEAST);
}

/* "from the start again: " */
static void
write_wrapped(struct ckpt_buf *buf, bool wrapped, bool back)
{
	if (wrapped)
		ckpt_buf_printf(
			buf, "from the %s again: ", back ? "end" : "start");
}

static void
say_found(struct view *view, const struct view_search *s)
{
	const struct view_scan *scan = &s->scan;
	struct ckpt_buf text = { 0 };

	view_jump(view, scan->hit);
	write_wrapped(&text, scan->wrapped, scan->back);
	if (scan->pattern.kind != VIEW_SEARCH_VALUE ||
		!write_element(&text, view, scan->hit))
		ckpt_buf_escape(&text, s->text, strlen(s->text), 40);
	if (scan->n > 0)
		ckpt_buf_printf(&text, " (%" PRIu64 " of %" PRIu64 ")",
			scan->number, scan->n);
	ckpt_buf_puts(&text, " at ");
	ckpt_offset_write(&text, scan->hit);
	if (view->doc->spans) {
		ckpt_buf_puts(&text, ", ");
		write_place(&text, view, scan->hit);
	}
	view_say(view, VIEW_BAR, "%s", text.p ? text.p : "found");
	ckpt_buf_release(&text);
}

/* "not found: f 0.3; nearest 0.30000000000000004 at norm.gain[3]" */
static void
say_nearest(struct view *view, const struct view_search *s)
{
	struct ckpt_buf text = { 0 };

	ckpt_buf_puts(&text, "not found: ");
	ckpt_buf_escape(&text, s->text, strlen(s->text), 40);
	ckpt_buf_puts(&text, "; nearest ");
	write_element(&text, view, s->scan.nearest);
	ckpt_buf_puts(&text, " at ");
	write_place(&text, view, s->scan.nearest);
	view_say(view, VIEW_WARNING, "%s", text.p ? text.p : "not found");
	ckpt_buf_release(&text);
}

static void
say_missing(struct view *view, const struct view_search *s, const char *more)
{
	struct ckpt_buf text = { 0 };

	ckpt_buf_escape(&text, s->text, strlen(s->text), 80);
	view_say(view, VIEW_WARNING, "not found: %s%s", text.p ? text.p : "",
		more);
	ckpt_buf_release(&text);
}

/* ---- Names -------------------------------------------------------------- */

/* What the words of a name could also have meant: "" if nothing else. */
static const char *
name_hint(const char *name, bool found)
{
	struct view_pattern value;
	struct ckpt_buf text = { 0 }, why = { 0 };
	bool number;

	if (strcmp(name, "x") == 0)
		return "; bytes: /x 0a ff";
	if (strcmp(name, "t") == 0)
		return "; a text: /t words";
	if (strcmp(name, "f") == 0)
		return "; a value: /f 0.5";
	ckpt_buf_printf(&text, "f %s", name);
	number = !found && text.p && view_pattern_parse(&value, text.p, &why);
	ckpt_buf_release(&text);
	ckpt_buf_release(&why);
	return number ? "; as a value: /f and the number" : "";
}

static void
search_names(struct view *view, const struct view_search *s)
{
	const struct ckpt_spans *spans = view->doc->spans;
	const char *name = s->scan.pattern.name;
	struct view_match m = { .name = name, .back = s->scan.back };
	struct ckpt_buf text = { 0 };

	if (!view_match_name(&m, view->doc, view->cursor)) {
		say_missing(view, s,
			!spans ? "; the header is not read yet"
			: spans->fields_cut
				? "; of the fields only the first were searched"
				: name_hint(name, false));
		return;
	}
	write_wrapped(&text, m.wrapped, m.back);
	if (m.span) {
		ckpt_span_name_write(&text, m.span);
		ckpt_buf_printf(&text, ", %s", m.span->role);
	} else {
		ckpt_buf_puts(&text, m.field->path);
	}
	view_say(view, VIEW_BAR, "%s (%zu of %zu)%s", text.p ? text.p : "",
		m.number, m.n, name_hint(name, true));
	ckpt_buf_release(&text);
	view_jump(view, m.at);
}

/* ---- For the viewer ----------------------------------------------------- */

static void
start(struct view *view, bool back)
{
	struct view_search *s = view->search;

	/* The job reads the direction. */
	view_job_stop(&s->scan.job);
	s->scan.back = back;
	if (view->doc->size == 0)
		view_say(view, VIEW_WARNING, "the file is empty");
	else if (s->scan.pattern.kind == VIEW_SEARCH_NAME)
		search_names(view, s);
	else
		start_scan(view, s);
}

static void
accept(struct view *view, const char *text)
{
	struct view_search *s = view->search;
	struct ckpt_buf why = { 0 };
	char *copy;

	if (text[0] == '\0') {
		view_search_again(view, false);
		return;
	}
	if (!s)
		s = view->search = calloc(1, sizeof *s);
	copy = s ? strdup(text) : NULL;
	if (!copy) {
		view_say(view, VIEW_ERROR, "out of memory");
		return;
	}
	view_job_stop(&s->scan.job);
	free(s->text);
	s->text = copy;
	if (view_pattern_parse(&s->scan.pattern, copy, &why)) {
		start(view, false);
	} else {
		view_say(view, VIEW_ERROR, "%s", why.p ? why.p : "");
		free(s->text);
		s->text = NULL;
	}
	ckpt_buf_release(&why);
}

void
view_search_ask(struct view *view)
{
	view_ask(view, "/", "", accept);
}

void
view_search_again(struct view *view, bool back)
{
	if (view->search && view->search->text)
		start(view, back);
	else
		view_say(view, VIEW_WARNING,
			"nothing was searched for yet: / searches");
}

bool
view_search_poll(struct view *view)
{
	struct view_search *s = view->search;
	struct view_job *job = s ? &s->scan.job : NULL;
	uint64_t done, total;
	unsigned percent;

	if (!s || !view_job_running(job))
		return false;
	if (view_job_take(job)) {
		if (s->scan.found)
			say_found(view, s);
		else if (view_job_cancelled(job))
			view_say(view, VIEW_WARNING, "search cancelled");
		else if (s->scan.near && !s->scan.cut)
			say_nearest(view, s);
		else
			say_missing(view, s,
				s->scan.cut
					? "; the file could not be read to its "
					  "end"
					: "");
		return true;
	}
	done = atomic_load(&job->done);
	total = atomic_load(&job->total);
	percent = total ? (unsigned)(100.0 * (double)done / (double)total) : 0;
	if (percent == s->percent && view->message.n > 0)
		return false;
	s->percent = percent;
	view_say(view, VIEW_BAR, "searching %u%%, Esc cancels", percent);
	return true;
}

bool
view_search_busy(const struct view *view)
{
	return view->search && view_job_running(&view->search->scan.job);
}

void
view_search_cancel(struct view *view)
{
	if (view_search_busy(view))
		atomic_store(&view->search->scan.job.cancel, true);
}

void
view_search_free(struct view_search *search)
{
	if (!search)
		return;
	view_scan_release(&search->scan);
	free(search->text);
	free(search);
}
