/* SPDX-License-Identifier: MIT */
/*
 * Reading a tensor for its statistics: blocks of 192 KiB, between which the
 * job looks whether it shall end and says how far it is. The bins of the
 * histogram have one width; the greatest element lies in the last.
 */
#include "view/stats_work.h"

#include <math.h>
#include <string.h>

#include "sink/number.h"

enum { WAKES = 64 }; /* a pass */

struct view_extent
view_extent_of(const struct ckpt_span *span)
{
	return (struct view_extent){ span->off, span->len, span->dtype,
		span->width };
}

bool
view_extent_equal(const struct view_extent *a, const struct view_extent *b)
{
	return a->off == b->off && a->len == b->len && a->width == b->width &&
	       strcmp(a->dtype, b->dtype) == 0;
}

/* As much of a span as numbers are read by. */
static struct ckpt_span
span_of(const struct view_extent *extent)
{
	return (struct ckpt_span){ .off = extent->off,
		.len = extent->len,
		.dtype = extent->dtype,
		.width = extent->width };
}

/* The bin of a finite element; the range may be wider than a double. */
static unsigned
bin_of(const struct ckpt_stats *s, double x)
{
	double part = (x - s->min) / (s->max - s->min);

	if (!isfinite(s->max - s->min))
		part = (x / 2 - s->min / 2) / (s->max / 2 - s->min / 2);
	if (!(part > 0))
		return 0;
	return part < 1 ? (unsigned)(part * VIEW_BINS) : VIEW_BINS - 1;
}

bool
view_stats_can(const struct ckpt_span *span)
{
	return span->len > 0 && ckpt_number_group_of(span).dtype;
}

uint64_t
view_stats_element(const struct ckpt_span *span, uint64_t number)
{
	struct ckpt_number_group group = ckpt_number_group_of(span);

	/* The two numbers of a C64 are one element; the F4 of a byte are not. */
	return group.bytes == span->width ? number / group.count : number;
}

/* A block begins with a group of numbers, because its size is a multiple of
 * all of theirs. */
static void
add_bins(struct view_stats *r, const uint8_t *p, size_t n)
{
	const struct ckpt_span span = span_of(&r->extent);
	const struct ckpt_number_group g = ckpt_number_group_of(&span);

	for (; n >= g.bytes; p += g.bytes, n -= g.bytes)
		for (unsigned i = 0; i < g.count; i++) {
			double x = safetensors_dtype_value(
				g.dtype, safetensors_dtype_load(g.dtype, p, i));

			if (isfinite(x))
				r->bins[bin_of(&r->stats, x)]++;
		}
}

/* Both passes go over the same blocks, n bytes in all. False if cancelled. */
static bool
pass(struct view_stats_work *work, bool second, uint64_t n, uint64_t before)
{
	struct view_stats *r = &work->result;
	struct ckpt_span span = span_of(&r->extent);
	uint64_t step = n / WAKES + 1, next = step;

	for (uint64_t at = 0; at < n;) {
		uint64_t left = n - at;
		size_t want = left < VIEW_BLOCK ? (size_t)left : VIEW_BLOCK;
		size_t got = view_doc_read(
			work->doc, r->extent.off + at, work->block, want);

		if (view_job_cancelled(&work->job))
			return false;
		if (second)
			add_bins(r, work->block, got);
		else
			ckpt_stats_add(&r->stats, &span, work->block, got);
		if (got < want) {
			r->cut = true;
			return true;
		}
		at += got;
		atomic_store(&work->job.done, before + at);
		if (at < next)
			continue;
		next = at + step;
		view_job_wake(&work->job);
	}
	return true;
}

static void
read_tensor(struct view_job *job)
{
	struct view_stats_work *work = (struct view_stats_work *)job;
	struct view_stats *r = &work->result;
	uint64_t size = work->doc->size, n = r->extent.len;

	/* What a file claims may lie behind its end. */
	if (r->extent.off > size)
		n = 0;
	else if (n > size - r->extent.off)
		n = size - r->extent.off;
	r->cut = n < r->extent.len;
	/* No file has so many bytes that twice as many overflow. */
	atomic_store(&job->total, n * 2);
	work->whole = pass(work, false, n, 0) &&
		      (r->stats.finite == 0 || pass(work, true, n, n));
}

void
view_stats_start(struct view_stats_work *work, const struct view_doc *doc,
	const struct ckpt_span *span)
{
	view_job_stop(&work->job);
	work->doc = doc;
	memset(&work->result, 0, sizeof work->result);
	work->result.extent = view_extent_of(span);
	work->whole = false;
	view_job_start(&work->job, doc->bell, read_tensor);
}
