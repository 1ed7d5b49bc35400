/* SPDX-License-Identifier: MIT */
/*
 * Pages of floats in the order of the file: those that are not what their
 * tensor's elements should be are put together to runs. Where a run begins
 * and ends is then found to an element or two: of all places in the page
 * where the change may be, the one at which the bytes on both sides fit
 * best, by the exponents that the good page next to it has.
 */
#include "forensics/classify_parts.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fmath.h"
#include "sink/number.h"

/* ---- Windows ------------------------------------------------------------ */

/* Whether the owner holds floats whose exponents can be told. */
static bool
float_owner(const struct classify *c, const struct ckpt_owner *owner,
	struct window *w)
{
	const struct ckpt_span *span;
	const struct safetensors_dtype *dtype;

	if (owner->kind != CKPT_OWNER_TENSOR)
		return false;
	span = &c->spans->tensors[owner->index];
	if (ckpt_number_of(span) != CKPT_NUMBER_FLOAT)
		return false;
	dtype = ckpt_number_dtype(span);
	if (span->width != 2 && span->width != 4 && span->width != 8)
		return false;
	*w = (struct window){
		.off = owner->off,
		.end = owner->end,
		.width = span->width,
		.residue = (unsigned)(span->off % span->width),
		.half = strcmp(dtype->name, "F16") == 0,
		.starts_owner = owner->off == span->off,
	};
	return true;
}

static bool
agree(const struct window *a, const struct window *b)
{
	return a->width == b->width && a->residue == b->residue &&
	       a->half == b->half;
}

/* ---- Runs --------------------------------------------------------------- */

/* The pages at the edges are partly something else. */
static enum page_class
class_of(const struct odd_run *run)
{
	if (run->text > 0 && run->pages - run->text <= 2)
		return PAGE_TEXT;
	if (run->noise > 0 && run->pages - run->noise <= 2)
		return PAGE_NOISE;
	return PAGE_OTHER;
}

static void
close_run(struct phases *p, const struct window *good)
{
	if (!p->open)
		return;
	p->open = false;
	if (p->now.class_ != PAGE_PHASE)
		p->now.class_ = class_of(&p->now);
	if (good)
		p->now.good_after = *good;
	if (p->n < CLASSIFY_ODD)
		p->runs[p->n++] = p->now;
	else
		p->lost++;
}

void
ckpt_classify_phases_close(struct classify *c)
{
	close_run(&c->phases, NULL);
	c->phases.good = (struct window){ 0 };
}

/* A displacement that both widths see: of two the wider tells more. */
static bool
goes_on(struct odd_run *run, const struct page_view *view, unsigned width)
{
	if (run->class_ != PAGE_PHASE && view->class_ != PAGE_PHASE)
		return true;
	if (run->class_ != view->class_)
		return false;
	if (width <= run->width)
		return run->shift % width == view->shift;
	if (view->shift % run->width != run->shift)
		return false;
	run->shift = view->shift;
	run->width = width;
	return true;
}

static void
add_odd(struct phases *p, const struct window *w, const struct page_view *view)
{
	struct odd_run *run = &p->now;

	if (p->open && !goes_on(run, view, w->width))
		close_run(p, NULL);
	if (!p->open) {
		p->open = true;
		*run = (struct odd_run){ .class_ = view->class_,
			.shift = view->shift,
			.width = w->width,
			.first = *w,
			.good_before = p->good };
	}
	run->last = *w;
	run->pages++;
	run->noise += view->class_ == PAGE_NOISE;
	run->text += view->class_ == PAGE_TEXT;
	run->behind += view->behind;
	run->before += view->before;
}

/* What arithmetic makes and no flipped bit: an infinity, or a NaN whose
 * mantissa is empty but for its uppermost bit. */
static bool
is_computed(uint64_t bits, unsigned width)
{
	unsigned mantissa = width == 8 ? 52 : width == 4 ? 23 : 7;
	uint64_t rest = bits & (((uint64_t)1 << (mantissa - 1)) - 1);

	return rest == 0;
}

/* The elements of a page that stand out. */
static void
note_outlier(struct phases *p, const struct window *w, const uint8_t *bytes,
	const struct page_view *view)
{
	uint64_t first = (w->residue + w->width - w->off % w->width) % w->width;
	unsigned far = view->mode + (w->width == 8 ? 4 : 20);

	if (view->outliers == 0)
		return;
	for (uint64_t i = first; i + w->width <= w->end - w->off;
		i += w->width) {
		const uint8_t *e = bytes + i;
		uint64_t bits = 0;

		if ((e[w->width - 1] & 0x7fu) < far)
			continue;
		for (unsigned k = w->width; k-- > 0;)
			bits = bits << 8 | e[k];
		if (is_computed(bits, w->width))
			continue;
		if (p->outliers++ == 0) {
			p->outlier.off = w->off + i;
			p->outlier.width = w->width;
			p->outlier.bits = bits;
		}
	}
}

static void
add_window(struct classify *c, const struct window *w, const uint8_t *bytes)
{
	struct phases *p = &c->phases;
	struct page_view view = ckpt_classify_page(w, bytes);

	switch (view.class_) {
	case PAGE_UNKNOWN: break;
	case PAGE_NOISE:
	case PAGE_OTHER:
	case PAGE_TEXT: add_odd(p, w, &view); break;
	case PAGE_PHASE:
		if (view.shift != 0) {
			add_odd(p, w, &view);
			break;
		}
		/* A displacement by 4 is none for elements of 4 bytes. */
		if (p->open && p->now.class_ == PAGE_PHASE &&
			w->width < p->now.width && p->now.shift % w->width == 0)
			break;
		close_run(p, w);
		p->good = *w;
		p->good_end = w->end;
		p->good_pages++;
		note_outlier(p, w, bytes, &view);
		break;
	}
}

/* The windows of one page. */
static void
add_page(struct classify *c, uint64_t off, const uint8_t *p, size_t n)
{
	const struct ckpt_spans *spans = c->spans;
	struct window all = { 0 };
	uint64_t end = off + n;

	for (; c->owner < spans->nowners; c->owner++) {
		const struct ckpt_owner *owner = &spans->owners[c->owner];
		struct window w;

		if (owner->off >= end)
			break;
		if (owner->end > off && float_owner(c, owner, &w)) {
			w.off = w.off < off ? off : w.off;
			w.end = w.end > end ? end : w.end;
			w.starts_owner = w.starts_owner && w.off == owner->off;
			if (all.width > 0 && all.end == w.off &&
				agree(&all, &w)) {
				all.end = w.end;
			} else {
				if (all.width > 0)
					add_window(
						c, &all, p + (all.off - off));
				all = w;
			}
		}
		if (owner->end > end)
			break;
	}
	if (all.width > 0)
		add_window(c, &all, p + (all.off - off));
}

void
ckpt_classify_phases_add(
	struct classify *c, uint64_t off, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i += CLASSIFY_PAGE)
		add_page(c, off + i, p + i,
			n - i < CLASSIFY_PAGE ? n - i : CLASSIFY_PAGE);
}

bool
ckpt_classify_values_at(
	const struct classify *c, uint64_t off, const uint8_t *p, size_t n)
{
	const struct ckpt_owner *owner = ckpt_spans_at(c->spans, off);
	struct page_view view;
	struct window w;

	if (!owner || !float_owner(c, owner, &w))
		return true; /* nobody can tell */
	w.off = off;
	if (w.end - off > n)
		w.end = off + n;
	view = ckpt_classify_page(&w, p);
	return view.class_ == PAGE_PHASE && view.shift == 0;
}

/* ---- Where it changes --------------------------------------------------- */

/* How much better a byte is explained by the exponents of a good page than by
 * chance, in nats. */
static void
weigh(const struct window *good, const uint8_t *p, double *weight)
{
	uint32_t counts[128] = { 0 }, n = 0;
	uint64_t at = (good->residue + good->width - good->off % good->width) %
			      good->width +
		      good->width - 1;

	for (; at < good->end - good->off; at += good->width) {
		counts[p[at] & 0x7f]++;
		n++;
	}
	for (unsigned i = 0; i < 128; i++)
		weight[i] = ckpt_log(128.0 * (counts[i] + 0.25) / (n + 32.0));
}

/* Splits [off, off + n): on one side elements are in phase, on the other they
 * are shift late, or nothing (shift = width). good_first says which side is
 * which. The place is where both fit best. */
static uint64_t
split(const struct window *w, unsigned shift, bool good_first,
	const double *weight, uint64_t off, const uint8_t *p, size_t n)
{
	uint64_t first = (w->residue + w->width - off % w->width) % w->width;
	double sum = 0, best = 0;
	uint64_t place = off + first;

	for (uint64_t i = first; i + w->width - 1 < n; i += w->width) {
		uint64_t late = i + w->width - 1 + shift;
		double good = weight[p[i + w->width - 1] & 0x7f], bad = 0;

		if (shift < w->width && late < n)
			bad = weight[p[late] & 0x7f];
		sum += good_first ? good - bad : bad - good;
		if (sum > best) {
			best = sum;
			place = off + i + w->width;
		}
	}
	return place;
}

enum { SPLIT_MOST = 4 * CLASSIFY_PAGE };

/* The change between a good window and an odd one of the same elements. */
static uint64_t
refine(struct classify *c, const struct odd_run *run, const struct window *good,
	const struct window *odd, bool good_first)
{
	const struct window *a = good_first ? good : odd;
	const struct window *b = good_first ? odd : good;
	uint8_t *bytes = c->chunk;
	unsigned shift = run->class_ == PAGE_PHASE ? run->shift % good->width
						   : good->width;
	double weight[128];
	size_t n;

	if (!agree(good, odd) || b->end - a->off > SPLIT_MOST)
		return good_first ? odd->off : odd->end;
	n = (size_t)(b->end - a->off);
	if (ckpt_classify_read(c, a->off, bytes, n) != n)
		return good_first ? odd->off : odd->end;
	weigh(good, bytes + (good->off - a->off), weight);
	return split(good, shift, good_first, weight, a->off, bytes, n);
}

void
ckpt_classify_refine(struct classify *c, struct odd_run *run)
{
	run->off = run->first.off;
	run->end = run->last.end;
	if (run->good_before.width > 0)
		run->off = refine(c, run, &run->good_before, &run->first, true);
	if (run->good_after.width > 0)
		run->end = refine(c, run, &run->good_after, &run->last, false);
	if (run->end < run->off)
		run->end = run->last.end;
}
