/* SPDX-License-Identifier: MIT */
/*
 * The job of a search: the file block by block, in the direction of the
 * search, so that the nearest place is found first. After that the matches of
 * the whole file are counted, if that does not take long.
 */
#include "view/search_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "sink/number.h"

enum {
	BLOCK = 1 << 20,
	COUNTED = 64 << 20, /* bytes in which matches are counted */
};

/* Says how far it is; false if it is to end. */
static bool
go_on(struct view_scan *s, uint64_t n)
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
read_block(struct view_scan *s, uint64_t off, uint64_t end)
{
	size_t want = (size_t)(end - off);
	size_t got = view_doc_read(s->doc, off, s->block, want);

	if (got < want)
		s->cut = true;
	return got;
}

/* Reads [low, high) and what a pattern that begins there needs of the bytes
 * behind it. */
static size_t
read_bytes(struct view_scan *s, uint64_t low, uint64_t high)
{
	uint64_t over = s->pattern.n - 1;

	return read_block(
		s, low, over < s->size - high ? high + over : s->size);
}

/* Bytes that stand at a place in [low, high). */
static bool
scan_bytes(struct view_scan *s, uint64_t low, uint64_t high)
{
	size_t at, got = read_bytes(s, low, high);

	if (!view_pattern_find(&s->pattern, s->block, got, (size_t)(high - low),
		    s->back, &at))
		return false;
	s->hit = low + at;
	return true;
}

static void
count_bytes(struct view_scan *s, uint64_t low, uint64_t high)
{
	size_t got = read_bytes(s, low, high), from = 0, at;
	size_t starts = (size_t)(high - low);

	while (from < starts && from < got &&
		view_pattern_find(&s->pattern, s->block + from, got - from,
			starts - from, false, &at)) {
		s->n++;
		if (low + from + at <= s->hit)
			s->number++;
		from += at + 1;
	}
}

/* ---- Values ------------------------------------------------------------- */

/* Elements of a piece that begin in [low, high). */
struct elements {
	const struct safetensors_dtype *dtype;
	uint64_t first;
	size_t n; /* that were read */
	unsigned width;
};

static struct elements
read_elements(struct view_scan *s, const struct view_piece *piece, uint64_t low,
	uint64_t high)
{
	struct elements e = { .dtype = ckpt_number_dtype(&piece->span),
		.width = piece->span.width };
	uint64_t stop = high < piece->end ? high : piece->end, rest, n;

	e.first = low > piece->off ? low : piece->off;
	rest = (e.first - piece->base) % e.width;
	if (rest > 0 && !ckpt_add_u64(e.first, e.width - rest, &e.first))
		return e;
	if (piece->limit - piece->base < e.width ||
		stop > piece->limit - e.width + 1)
		stop = piece->limit < e.width ? 0 : piece->limit - e.width + 1;
	if (e.first >= stop)
		return e;
	n = (stop - e.first - 1) / e.width + 1;
	e.n = read_block(s, e.first, e.first + n * e.width) / e.width;
	return e;
}

static double
value_of(const struct view_scan *s, const struct elements *e, size_t i)
{
	uint8_t wide[8] = { 0 };

	memcpy(wide, s->block + i * e->width, e->width);
	return safetensors_dtype_value(e->dtype, ckpt_load_u64(wide));
}

static bool
scan_piece(struct view_scan *s, const struct view_piece *piece, uint64_t low,
	uint64_t high)
{
	struct elements e = read_elements(s, piece, low, high);

	for (size_t i = 0; i < e.n; i++) {
		size_t k = s->back ? e.n - 1 - i : i;
		double value = value_of(s, &e, k), distance;

		if (view_pattern_equals(&s->pattern, value)) {
			s->hit = e.first + k * e.width;
			return true;
		}
		/* Not of what is not finite. */
		distance = fabs(value - s->pattern.value);
		if (isfinite(distance) &&
			(!s->near || distance < s->distance)) {
			s->near = true;
			s->distance = distance;
			s->nearest = e.first + k * e.width;
		}
	}
	return false;
}

/* The pieces [*from, *end) with bytes in [low, high). */
static void
find_pieces(const struct view_scan *s, uint64_t low, uint64_t high,
	size_t *from, size_t *end)
{
	size_t to = s->npieces;

	/* The first piece that ends behind low. */
	for (*from = 0; *from < to;) {
		size_t mid = *from + (to - *from) / 2;

		if (s->pieces[mid].end <= low)
			*from = mid + 1;
		else
			to = mid;
	}
	for (*end = *from; *end < s->npieces && s->pieces[*end].off < high;)
		(*end)++;
}

static bool
scan_values(struct view_scan *s, uint64_t low, uint64_t high)
{
	size_t from, end;

	find_pieces(s, low, high, &from, &end);
	for (size_t i = from; i < end; i++)
		if (scan_piece(s,
			    &s->pieces[s->back ? end - 1 - (i - from) : i], low,
			    high))
			return true;
	return false;
}

static void
count_piece(struct view_scan *s, const struct view_piece *piece, uint64_t low,
	uint64_t high)
{
	struct elements e = read_elements(s, piece, low, high);

	for (size_t i = 0; i < e.n; i++) {
		if (!view_pattern_equals(&s->pattern, value_of(s, &e, i)))
			continue;
		s->n++;
		if (e.first + i * e.width <= s->hit)
			s->number++;
	}
}

/* ---- The job ------------------------------------------------------------ */

/* Places in [low, high), block by block in the direction of the search. */
static bool
scan(struct view_scan *s, uint64_t low, uint64_t high)
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

/* Counts in [low, high), of a piece or, if that is NULL, of all bytes. False
 * if it is to end. */
static bool
count_range(struct view_scan *s, const struct view_piece *piece, uint64_t low,
	uint64_t high)
{
	while (low < high) {
		uint64_t n = high - low < BLOCK ? high - low : BLOCK;

		if (view_job_cancelled(&s->job))
			return false;
		if (piece)
			count_piece(s, piece, low, low + n);
		else
			count_bytes(s, low, low + n);
		low += n;
	}
	return true;
}

/* All matches, unless there is much to look at or it is cancelled. */
static void
count(struct view_scan *s)
{
	bool values = s->pattern.kind == VIEW_SEARCH_VALUE, whole = true;
	uint64_t all = values ? 0 : s->size;

	for (size_t i = 0; values && i < s->npieces && all <= COUNTED; i++)
		all += s->pieces[i].end - s->pieces[i].off;
	if (all > COUNTED)
		return;
	if (!values)
		whole = count_range(s, NULL, 0, s->size);
	for (size_t i = 0; values && whole && i < s->npieces; i++)
		whole = count_range(
			s, &s->pieces[i], s->pieces[i].off, s->pieces[i].end);
	if (!whole)
		s->n = 0;
}

static void
work(struct view_job *job)
{
	struct view_scan *s = (struct view_scan *)job;
	uint64_t here = s->from;

	atomic_store(&job->total, s->size);
	s->found = s->back ? scan(s, 0, here) : scan(s, here + 1, s->size);
	if (!s->found && !view_job_cancelled(job)) {
		s->found =
			s->back ? scan(s, here, s->size) : scan(s, 0, here + 1);
		s->wrapped = s->found;
	}
	if (s->found)
		count(s);
}

/* The floats of the file, by owner, so that each place has one meaning. */
static bool
copy_pieces(struct view_scan *s, const struct ckpt_spans *spans)
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
		s->pieces[s->npieces++] = (struct view_piece){ .off = o->off,
			.end = o->end,
			.base = span->off,
			.limit = end,
			.span = {
				.dtype = span->dtype, .width = span->width } };
	}
	return true;
}

enum view_scanning
view_scan_start(
	struct view_scan *scan, const struct view_doc *doc, uint64_t from)
{
	bool values = scan->pattern.kind == VIEW_SEARCH_VALUE;

	view_job_stop(&scan->job);
	scan->doc = doc;
	scan->size = doc->size;
	scan->from = from;
	scan->found = scan->wrapped = scan->cut = scan->near = false;
	scan->number = scan->n = 0;
	if (!scan->block)
		scan->block = malloc((size_t)BLOCK + VIEW_PATTERN_MOST);
	if (!scan->block || (values && !copy_pieces(scan, doc->spans)))
		return VIEW_SCAN_NO_MEMORY;
	if (values && scan->npieces == 0)
		return VIEW_SCAN_NO_FLOATS;
	view_job_start(&scan->job, doc->bell, work);
	return VIEW_SCAN_RUNS;
}

void
view_scan_release(struct view_scan *scan)
{
	view_job_stop(&scan->job);
	free(scan->pieces);
	free(scan->block);
}
