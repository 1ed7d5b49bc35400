/* SPDX-License-Identifier: MIT */
/*
 * Searching. Names are compared at once; bytes and values are read in the
 * background, block by block, from the cursor on and round the end of the
 * file, so that the nearest place is found first in either direction. The job
 * works on a copy of what it needs of the index, which may be replaced
 * meanwhile.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "sink/number.h"
#include "view/search_match.h"
#include "view/search_pattern.h"
#include "view/view.h"

enum { BLOCK = 1 << 20 };

/* Bytes [off, end) of a tensor of floats, which begins at base; its elements
 * end at limit. */
struct piece {
	uint64_t off, end, base, limit;
	struct ckpt_span span; /* dtype and width alone */
};

struct view_search {
	struct view_job job; /* first */
	struct view_pattern pattern;
	char *text; /* owned; NULL: nothing was searched for */
	bool back;
	unsigned percent; /* that was said */
	/* What the job reads. */
	const struct view_doc *doc;
	uint64_t from, size;
	struct piece *pieces; /* owned; ascending and apart */
	size_t npieces;
	/* What it makes. */
	uint8_t *block; /* owned */
	bool found, wrapped, cut;
	uint64_t hit;
};

/* ---- The job ------------------------------------------------------------ */

/* Says how far it is; false if it is to end. */
static bool
go_on(struct view_search *s, uint64_t n)
{
	uint64_t done = atomic_load(&s->job.done), next;
	double all = (double)s->size / 100;

	if (!ckpt_add_u64(done, n, &next))
		next = s->size;
	atomic_store(&s->job.done, next);
	if ((unsigned)((double)done / all) != (unsigned)((double)next / all))
		view_job_wake(&s->job);
	return !view_job_cancelled(&s->job);
}

/* Reads what is there now of [off, end), at most a block and a pattern. */
static size_t
read_block(struct view_search *s, uint64_t off, uint64_t end)
{
	size_t want = (size_t)(end - off);
	size_t got = view_doc_read(s->doc, off, s->block, want);

	if (got < want)
		s->cut = true;
	return got;
}

/* Bytes that stand at a place in [low, high). */
static bool
scan_bytes(struct view_search *s, uint64_t low, uint64_t high)
{
	uint64_t over = s->pattern.n - 1;
	uint64_t end = over < s->size - high ? high + over : s->size;
	size_t at, got = read_block(s, low, end);

	if (!view_pattern_find(&s->pattern, s->block, got, (size_t)(high - low),
		    s->back, &at))
		return false;
	s->hit = low + at;
	return true;
}

/* Elements of a piece that begin in [low, high). */
static bool
scan_piece(struct view_search *s, const struct piece *piece, uint64_t low,
	uint64_t high)
{
	unsigned width = piece->span.width;
	uint64_t first = low > piece->off ? low : piece->off;
	uint64_t stop = high < piece->end ? high : piece->end;
	uint64_t rest = (first - piece->base) % width, n;
	size_t got;

	if (rest > 0 && !ckpt_add_u64(first, width - rest, &first))
		return false;
	if (piece->limit - piece->base < width ||
		stop > piece->limit - width + 1)
		stop = piece->limit < width ? 0 : piece->limit - width + 1;
	if (first >= stop)
		return false;
	n = (stop - first - 1) / width + 1;
	got = read_block(s, first, first + n * width) / width;
	for (size_t i = 0; i < got; i++) {
		size_t k = s->back ? got - 1 - i : i;

		if (!view_pattern_equals(
			    &s->pattern, &piece->span, s->block + k * width))
			continue;
		s->hit = first + k * width;
		return true;
	}
	return false;
}

static bool
scan_values(struct view_search *s, uint64_t low, uint64_t high)
{
	size_t from = 0, to = s->npieces, end;

	/* The first piece that ends behind low. */
	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (s->pieces[mid].end <= low)
			from = mid + 1;
		else
			to = mid;
	}
	for (end = from; end < s->npieces && s->pieces[end].off < high;)
		end++;
	for (size_t i = from; i < end; i++)
		if (scan_piece(s,
			    &s->pieces[s->back ? end - 1 - (i - from) : i], low,
			    high))
			return true;
	return false;
}

/* Places in [low, high), block by block in the direction of the search. */
static bool
scan(struct view_search *s, uint64_t low, uint64_t high)
{
	while (low < high) {
		uint64_t n = high - low < BLOCK ? high - low : BLOCK;
		uint64_t off = s->back ? high - n : low;
		bool found = s->pattern.kind == VIEW_SEARCH_VALUE
				     ? scan_values(s, off, off + n)
				     : scan_bytes(s, off, off + n);

		if (found || !go_on(s, n))
			return found;
		if (s->back)
			high = off;
		else
			low = off + n;
	}
	return false;
}

static void
work(struct view_job *job)
{
	struct view_search *s = (struct view_search *)job;
	uint64_t here = s->from;

	atomic_store(&job->total, s->size);
	s->found = s->back ? scan(s, 0, here) : scan(s, here + 1, s->size);
	if (s->found || view_job_cancelled(job))
		return;
	s->found = s->back ? scan(s, here, s->size) : scan(s, 0, here + 1);
	s->wrapped = s->found;
}

/* ---- Bytes and values --------------------------------------------------- */

/* The floats of the file, by owner, so that each place has one meaning. */
static bool
copy_pieces(struct view_search *s, const struct ckpt_spans *spans)
{
	free(s->pieces);
	s->npieces = 0;
	s->pieces = calloc(
		spans ? (size_t)spans->nowners + 1 : 1, sizeof *s->pieces);
	if (!s->pieces)
		return false;
	for (uint64_t i = 0; spans && i < spans->nowners; i++) {
		const struct ckpt_owner *o = &spans->owners[i];
		const struct ckpt_span *span;
		uint64_t end;

		if (o->kind != CKPT_OWNER_TENSOR)
			continue;
		span = &spans->tensors[o->index];
		if (ckpt_number_of(span) != CKPT_NUMBER_FLOAT)
			continue;
		if (!ckpt_span_end(span, &end) || end > s->size)
			end = s->size;
		s->pieces[s->npieces++] = (struct piece){ .off = o->off,
			.end = o->end,
			.base = span->off,
			.limit = end,
			.span = {
				.dtype = span->dtype, .width = span->width } };
	}
	return true;
}

static void
start_job(struct view *view, struct view_search *s)
{
	view_job_stop(&s->job);
	s->doc = view->doc;
	s->size = view->doc->size;
	s->from = view->cursor;
	s->found = s->wrapped = s->cut = false;
	s->percent = 0;
	if (!s->block)
		s->block = malloc((size_t)BLOCK + VIEW_PATTERN_MOST);
	if (!s->block || (s->pattern.kind == VIEW_SEARCH_VALUE &&
				 !copy_pieces(s, view->doc->spans))) {
		view_say(view, VIEW_ERROR, "out of memory");
		return;
	}
	if (s->pattern.kind == VIEW_SEARCH_VALUE && s->npieces == 0) {
		view_say(view, VIEW_WARNING, "there are no tensors of floats");
		return;
	}
	view_job_start(&s->job, view->bell, work);
}

/* "0.5 (bits ...)", or the words that were searched for. */
static void
write_what(struct ckpt_buf *buf, const struct view *view,
	const struct view_search *s, const struct ckpt_span *span)
{
	uint8_t wide[8] = { 0 };

	if (s->pattern.kind == VIEW_SEARCH_VALUE && span &&
		span->width <= sizeof wide &&
		view_doc_read(view->doc, s->hit, wide, span->width) ==
			span->width)
		ckpt_number_write(buf, span, ckpt_load_u64(wide));
	else
		ckpt_buf_escape(buf, s->text, strlen(s->text), 40);
}

static void
say_found(struct view *view, const struct view_search *s)
{
	struct ckpt_buf text = { 0 };
	struct view_owner owner;

	view_jump(view, s->hit);
	if (s->wrapped)
		ckpt_buf_printf(&text,
			"from the %s again: ", s->back ? "end" : "start");
	if (view_doc_owner(view->doc, s->hit, &owner))
		write_what(&text, view, s, owner.span);
	ckpt_buf_puts(&text, " at ");
	ckpt_offset_write(&text, s->hit);
	if (owner.spans) {
		ckpt_buf_puts(&text, ", ");
		ckpt_owner_write(&text, owner.spans, &owner.owner, s->hit);
	}
	view_say(view, VIEW_BAR, "%s", text.p ? text.p : "found");
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

static void
search_names(struct view *view, const struct view_search *s)
{
	const struct ckpt_spans *spans = view->doc->spans;
	struct view_match m = { .name = s->pattern.name, .back = s->back };
	struct ckpt_buf text = { 0 };

	if (!view_match_name(&m, view->doc, view->cursor)) {
		say_missing(view, s,
			!spans ? "; the header is not read yet"
			: spans->fields_cut
				? "; of the fields only the first were searched"
				: "");
		return;
	}
	if (m.wrapped)
		ckpt_buf_printf(&text,
			"from the %s again: ", s->back ? "end" : "start");
	if (m.span) {
		ckpt_span_name_write(&text, m.span);
		ckpt_buf_printf(&text, ", %s", m.span->role);
	} else {
		ckpt_buf_puts(&text, m.field->path);
	}
	view_say(view, VIEW_BAR, "%s (%zu of %zu)", text.p ? text.p : "",
		m.number, m.n);
	ckpt_buf_release(&text);
	view_jump(view, m.at);
}

/* ---- For the viewer ----------------------------------------------------- */

static void
start(struct view *view, bool back)
{
	struct view_search *s = view->search;

	s->back = back;
	if (view->doc->size == 0)
		view_say(view, VIEW_WARNING, "the file is empty");
	else if (s->pattern.kind == VIEW_SEARCH_NAME)
		search_names(view, s);
	else
		start_job(view, s);
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
	view_job_stop(&s->job);
	free(s->text);
	s->text = copy;
	if (view_pattern_parse(&s->pattern, copy, &why)) {
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
	uint64_t done, total;
	unsigned percent;

	if (!s || !view_job_running(&s->job))
		return false;
	if (view_job_take(&s->job)) {
		if (s->found)
			say_found(view, s);
		else if (view_job_cancelled(&s->job))
			view_say(view, VIEW_WARNING, "search cancelled");
		else
			say_missing(view, s,
				s->cut ? "; the file could not be read to its "
					 "end"
				       : "");
		return true;
	}
	done = atomic_load(&s->job.done);
	total = atomic_load(&s->job.total);
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
	return view->search && view_job_running(&view->search->job);
}

void
view_search_cancel(struct view *view)
{
	if (view_search_busy(view))
		atomic_store(&view->search->job.cancel, true);
}

void
view_search_free(struct view_search *search)
{
	if (!search)
		return;
	view_job_stop(&search->job);
	free(search->text);
	free(search->pieces);
	free(search->block);
	free(search);
}
