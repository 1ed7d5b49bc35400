/* SPDX-License-Identifier: MIT */
/*
 * Runs of zeros: pages that were never written, a tail that was allocated in
 * advance, zeros appended. Zeros are also what fresh moments, unused rows and
 * masks hold; those begin and end where tensors and rows do, so what counts
 * is a run that begins and ends where pages do and tensors do not.
 */
#include "forensics/classify_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"

enum { RANGES = 4 };

/* What a run may be, the best first. */
enum trace {
	TRACE_PAGES, /* whole pages */
	TRACE_PAGES_MAYBE,
	TRACE_SECTORS, /* whole blocks of 512 */
	TRACE_ROWS,    /* whole pages that are whole rows as well */
	TRACE_RANGE,   /* neither, in the middle of values */
	TRACE_NONE,
};

struct found {
	enum trace trace;
	uint64_t off, end; /* the whole blocks of it */
};

/* The blocks of unit that fill a run but for a few bytes at its edges. */
static bool
fills(const struct zero_run *run, uint64_t unit, struct found *found)
{
	uint64_t off, end = run->end - run->end % unit;

	if (!ckpt_align_u64(run->off, unit, &off) || off >= end ||
		off - run->off > CLASSIFY_SLACK ||
		run->end - end > CLASSIFY_SLACK)
		return false;
	found->off = off;
	found->end = end;
	return true;
}

/* Whether the tensor has other runs that are no blocks: zeros are at home in
 * it. */
static bool
is_native(const struct classify *c, const struct ckpt_span *t)
{
	uint64_t end;

	if (c->zeros.lost > 0 || !t || !ckpt_span_end(t, &end))
		return true;
	for (uint64_t i = 0; i < c->zeros.n; i++) {
		const struct zero_run *r = &c->zeros.runs[i];
		struct found unused;

		if (r->end > t->off && r->off < end && r->end != c->size &&
			!r->cut && !fills(r, 512, &unused))
			return true;
	}
	return false;
}

/* A run in the middle of the file. */
static struct found
look_at(const struct classify *c, const struct zero_run *run)
{
	struct found f = { TRACE_NONE, run->off, run->end };
	uint64_t unit = fills(run, 4096, &f) ? 4096 : 512;
	bool block = unit == 4096 || fills(run, 512, &f);
	const struct ckpt_span *t = ckpt_classify_tensor(c, f.off);
	enum classify_edge a, b;

	if (run->cut || run->end - run->off < 512)
		return f;
	if (f.off < c->data || (f.off == 0 && f.end > 0)) {
		/* Headers have no zeros by the block. */
		f.trace = block ? TRACE_PAGES : TRACE_NONE;
		return f;
	}
	if (c->data == 0) {
		f.trace = unit == 4096 ? TRACE_PAGES_MAYBE : TRACE_NONE;
		return f;
	}
	if (!t)
		return f;
	a = ckpt_classify_edge_in(c, run->off, f.off);
	b = ckpt_classify_edge_in(c, f.end, run->end);
	if (a == EDGE_TENSOR && b == EDGE_TENSOR)
		return f;
	if (a != EDGE_NONE && b != EDGE_NONE) {
		if (unit == 4096 && block && !is_native(c, t))
			f.trace = TRACE_ROWS;
		return f;
	}
	if (!block) {
		if (a == EDGE_NONE && b == EDGE_NONE &&
			ckpt_classify_is_float(t) && !is_native(c, t))
			f.trace = TRACE_RANGE;
		return f;
	}
	if (!ckpt_classify_is_float(t) || is_native(c, t))
		f.trace = unit == 4096 ? TRACE_PAGES_MAYBE : TRACE_NONE;
	else
		f.trace = unit == 4096 ? TRACE_PAGES : TRACE_SECTORS;
	return f;
}

static struct ckpt_hint *
add_cause(struct classify *c, enum trace trace)
{
	static const char title[] = "pages were never written, and are zeros";

	switch (trace) {
	case TRACE_PAGES:
		return ckpt_classify_add(c, "torn-pages", title, CKPT_STRONG,
			"zeros begin and end where pages of 4096 bytes or "
			"blocks of the header do, amid values, and not where "
			"tensors or rows do");
	case TRACE_PAGES_MAYBE:
		return ckpt_classify_add(c, "torn-pages", title, CKPT_POSSIBLE,
			"zeros begin and end where pages of 4096 bytes do, but "
			"there are zeros of other kinds as well, or no floats");
	case TRACE_SECTORS:
		return ckpt_classify_add(c, "torn-pages",
			"blocks of a disk were never written, and are zeros",
			CKPT_LIKELY,
			"zeros begin and end where blocks of 512 bytes do, and "
			"not where tensors or rows do");
	case TRACE_ROWS:
		return ckpt_classify_add(c, "torn-pages", title,
			c->changed ? CKPT_LIKELY : CKPT_POSSIBLE,
			c->changed ? "zeros are whole pages of 4096 bytes; "
				     "they are whole rows of a tensor as well, "
				     "but the checksum says that something "
				     "changed"
				   : "zeros are whole pages of 4096 bytes, and "
				     "whole rows of a tensor as well");
	case TRACE_RANGE:
		return ckpt_classify_add(c, "zeroed-range",
			"a range was lost, and is zeros", CKPT_LIKELY,
			"zeros among values, in a tensor that has no others, "
			"begin and end where nothing begins or ends");
	case TRACE_NONE: break;
	}
	return NULL;
}

/* All runs that are this trace, as one cause. */
static void
judge_trace(struct classify *c, enum trace trace)
{
	struct ckpt_hint *cause = NULL;
	uint64_t n = 0, bytes = 0;

	for (uint64_t i = 0; i < c->zeros.n; i++) {
		const struct zero_run *run = &c->zeros.runs[i];
		struct found f;

		if (run->end == c->size)
			continue;
		f = look_at(c, run);
		if (f.trace != trace)
			continue;
		if (!cause) {
			cause = add_cause(c, trace);
			ckpt_classify_where(c, cause, f.off, f.end - f.off);
		}
		if (n++ < RANGES)
			ckpt_classify_say(c, cause,
				"zeros from %s to %s, %" PRIu64 " bytes",
				ckpt_classify_at(c, f.off),
				ckpt_classify_at(c, f.end), f.end - f.off);
		bytes += f.end - f.off;
	}
	if (n > RANGES)
		ckpt_classify_say(c, cause,
			"and %" PRIu64 " more such ranges, %" PRIu64
			" bytes in all",
			n - RANGES, bytes);
	c->explained |= n > 0 && cause->likelihood != CKPT_POSSIBLE;
}

/* ---- The tail ----------------------------------------------------------- */

/* How far pieces of a file that is not looked at whole are apart, at most. */
static uint64_t
step_of(const struct classify *c)
{
	return c->size / (CKPT_CLASSIFY_MOST / CLASSIFY_CHUNK) +
	       2 * (uint64_t)CLASSIFY_CHUNK;
}

/* The first of the runs at the end that are whole pieces next to each other:
 * what lies between them was not looked at. */
static const struct zero_run *
first_of_tail(const struct classify *c)
{
	const struct zero_run *runs = c->zeros.runs;
	uint64_t k = c->zeros.n - 1;

	while (k > 0 && runs[k].cut && runs[k].off % CLASSIFY_CHUNK == 0 &&
		runs[k - 1].cut && runs[k - 1].end % CLASSIFY_CHUNK == 0 &&
		runs[k].off - runs[k - 1].end < step_of(c))
		k--;
	return &runs[k];
}

/* Where a tail that was only seen in pieces begins, to a page, if nothing but
 * zeros lies behind. */
static uint64_t
tail_start(struct classify *c, const struct zero_run *run)
{
	uint64_t step = step_of(c);
	uint64_t low = run->off > step ? run->off - step : 0, high = run->off;
	uint8_t page[CLASSIFY_PAGE];

	/* A piece that begins with something else says it to the byte. */
	if (!run->cut || run->off % CLASSIFY_CHUNK != 0)
		return run->off;
	while (high - low > CLASSIFY_PAGE && c->status == CKPT_OK) {
		uint64_t mid = low + (high - low) / 2;
		size_t n = ckpt_classify_read(c, mid, page, sizeof page), i = 0;

		while (i < n && page[i] == 0)
			i++;
		if (i == n)
			high = mid;
		else
			low = mid;
	}
	return high;
}

/* Nothing but zeros behind the end that the file gives itself. */
static void
judge_padded(struct classify *c)
{
	uint64_t n = c->size - c->declared;
	struct ckpt_hint *cause = ckpt_classify_add(c, "zero-tail",
		"the file was extended with zeros",
		n < 64 ? CKPT_LIKELY : CKPT_STRONG,
		"every byte behind its end is zero");
	const char *words;

	ckpt_classify_where(c, cause, c->declared, n);
	ckpt_classify_say(c, cause, "%" PRIu64 " zero bytes from %s on", n,
		ckpt_classify_at(c, c->declared));
	if (ckpt_classify_block(c->size, &words) > 0)
		ckpt_classify_say(c, cause,
			"the file of %" PRIu64 " bytes is a multiple of %s",
			c->size, words);
	c->explained_size = true;
	c->explained = true;
}

static enum ckpt_likelihood
judge_tail_start(struct classify *c, uint64_t off, const char **reason)
{
	const struct ckpt_span *t = ckpt_classify_tensor(c, off);
	bool valid = !ckpt_run_primary(c->run);
	enum classify_edge edge;

	if (off <= c->data || !t) {
		*reason = valid ? "all values are zero, as those of a file "
				  "that is no more than a plan may be"
				: "nothing but the header was written";
		return valid ? CKPT_POSSIBLE : CKPT_STRONG;
	}
	edge = ckpt_classify_edge_in(c, off, off + CLASSIFY_SLACK);
	if (edge != EDGE_NONE) {
		*reason = "they begin where a tensor or a row begins, which "
			  "may be zero";
		return CKPT_POSSIBLE;
	}
	*reason = "they begin in the middle of a tensor, and all behind it is "
		  "zero, too";
	if (!ckpt_classify_is_float(t) || is_native(c, t))
		return CKPT_POSSIBLE;
	return c->size - off >= 512 ? CKPT_STRONG : CKPT_LIKELY;
}

static void
judge_tail(struct classify *c, const struct zero_run *run)
{
	uint64_t off = tail_start(c, run), aligned;
	struct ckpt_hint *cause;
	enum ckpt_likelihood likelihood;
	const char *reason, *words;

	/* No slack here: what is said is said of every byte. */
	if (c->has_declared && c->size > c->declared && off <= c->declared)
		judge_padded(c);
	if (c->has_declared && off + 64 > c->declared)
		return;
	likelihood = judge_tail_start(c, off, &reason);
	if (likelihood == CKPT_POSSIBLE && !ckpt_run_primary(c->run) &&
		c->size - off < 4096)
		return;
	if (off == 0)
		likelihood = CKPT_STRONG;
	cause = ckpt_classify_add(c, "zero-tail",
		"the file got its size before its contents, which were not "
		"written to the end",
		likelihood,
		off == 0 ? "the file is zeros and nothing else" : reason);
	ckpt_classify_where(c, cause, off, c->size - off);
	ckpt_classify_say(c, cause,
		"nothing but zeros from %s%s to the end, %" PRIu64
		" of %" PRIu64 " bytes",
		run->cut ? "about " : "", ckpt_classify_at(c, off),
		c->size - off, c->size);
	if (!run->cut && ckpt_align_u64(off, 512, &aligned) &&
		aligned - off <= CLASSIFY_SLACK &&
		ckpt_classify_block(aligned, &words) > 0)
		ckpt_classify_say(
			c, cause, "they begin at a multiple of %s", words);
	c->explained |= likelihood != CKPT_POSSIBLE;
}

void
ckpt_classify_judge_zeros(struct classify *c)
{
	const struct zeros *z = &c->zeros;

	for (int trace = TRACE_PAGES; trace < TRACE_NONE; trace++)
		judge_trace(c, (enum trace)trace);
	if (z->n > 0 && z->runs[z->n - 1].end == c->size)
		judge_tail(c, first_of_tail(c));
}
