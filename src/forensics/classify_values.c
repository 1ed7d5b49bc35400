/* SPDX-License-Identifier: MIT */
/*
 * Causes that values show: elements that are displaced (bytes inserted or
 * lost before them, a region moved), elements whose bytes are swapped, pages
 * among good ones that hold no values at all, and single values that one
 * flipped bit would explain.
 */
#include "forensics/classify_parts.h"

#include <inttypes.h>

enum { PLACES = 3, EDGE = 16 };

static const char values_differ[] =
	"the values before it are in their places, those behind it are not";

/* ---- Displaced ---------------------------------------------------------- */

/* Runs [from, to) follow each other without a page in place between them. */
static uint64_t
group_end(const struct phases *p, uint64_t from)
{
	uint64_t to = from + 1;

	while (to < p->n && p->runs[to - 1].good_after.width == 0 &&
		p->runs[to].class_ == PAGE_PHASE &&
		p->runs[to - 1].class_ == PAGE_PHASE)
		to++;
	return to;
}

/* Where the exponent goes on: behind it in memory if bytes are swapped, before
 * it if they are not. Two bytes have only one neighbour, so what is swapped
 * there is a whole tensor of a file that has its right size. */
static bool
is_swapped(const struct classify *c, const struct odd_run *run)
{
	if (run->shift != 1)
		return false;
	if (run->width == 2)
		return run->first.starts_owner && c->has_declared &&
		       c->declared == c->size;
	return run->behind > run->before;
}

static void
judge_swapped(struct classify *c, const struct odd_run *run)
{
	bool sure = run->width > 2 && run->pages > 1;
	struct ckpt_hint *cause = ckpt_classify_add(c, "byte-order-swapped",
		"values were written in the other byte order",
		sure ? CKPT_STRONG : CKPT_LIKELY,
		sure ? "both bytes of the exponent stand where the other byte "
		       "order has them"
		     : "elements this short, or this few, look much the same "
		       "when they are displaced by one byte");

	ckpt_classify_where(c, cause, run->off, run->end - run->off);
	ckpt_classify_say(c, cause,
		"from %s to %s the exponents of elements of %u bytes stand in "
		"their first byte instead of the last (%" PRIu64 " pages)",
		ckpt_classify_at(c, run->off), ckpt_classify_at(c, run->end),
		run->width, run->pages);
	c->explained = true;
}

static void
say_places(
	struct classify *c, struct ckpt_hint *cause, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to && i < from + PLACES; i++) {
		const struct odd_run *r = &c->phases.runs[i];

		ckpt_classify_say(c, cause,
			"from about %s to about %s elements of %u bytes begin "
			"%u %s late, or %u early, by their exponents (%" PRIu64
			" pages)",
			ckpt_classify_at(c, r->off),
			ckpt_classify_at(c, r->end), r->width, r->shift,
			r->shift == 1 ? "byte" : "bytes", r->width - r->shift,
			r->pages);
	}
	if (to - from > PLACES)
		ckpt_classify_say(c, cause, "and at %" PRIu64 " more places",
			to - from - PLACES);
	if (c->phases.good_pages > 0)
		ckpt_classify_say(c, cause, "%" PRIu64 " pages are in place",
			c->phases.good_pages);
}

/* Everything behind some place is displaced; the size tells by how much. */
static bool
judge_to_the_end(struct classify *c, uint64_t from, uint64_t to)
{
	const struct odd_run *first = &c->phases.runs[from];
	const struct odd_run *last = &c->phases.runs[to - 1];
	bool more = c->size > c->declared;
	uint64_t n = more ? c->size - c->declared : c->declared - c->size;
	uint64_t late = more ? n % last->width
			     : (last->width - n % last->width) % last->width;
	struct ckpt_hint *cause;

	if (!c->has_declared || n == 0 || last->good_after.width > 0 ||
		late != last->shift)
		return false;
	cause = ckpt_classify_add(c, more ? "bytes-inserted" : "bytes-lost",
		more ? "bytes were inserted" : "bytes were lost on the way",
		CKPT_STRONG,
		"the displacement of the values and the size of the file say "
		"the same");
	ckpt_classify_where(c, cause, first->off, more ? n : 1);
	ckpt_classify_say(c, cause,
		"the file is %" PRIu64 " %s %s than it says (%" PRIu64
		" instead of %" PRIu64 ")",
		n, n == 1 ? "byte" : "bytes", more ? "longer" : "shorter",
		c->size, c->declared);
	say_places(c, cause, from, to);
	c->explained_size = true;
	return true;
}

static void
judge_displaced(struct classify *c, uint64_t from, uint64_t to)
{
	const struct odd_run *run = &c->phases.runs[from];
	const struct odd_run *last = &c->phases.runs[to - 1];
	bool both = run->good_before.width > 0 &&
		    ckpt_classify_edge_at(c, run->off) != EDGE_TENSOR &&
		    !run->first.starts_owner;
	struct ckpt_hint *cause;

	c->explained = true;
	if (judge_to_the_end(c, from, to))
		return;
	cause = ckpt_classify_add(c, "shifted-region",
		"part of the file is not where it should be",
		both ? CKPT_STRONG : CKPT_LIKELY,
		both ? values_differ
		     : "it begins where a tensor begins, which may simply hold "
		       "other values than its dtype says");
	ckpt_classify_where(c, cause, run->off, last->end - run->off);
	say_places(c, cause, from, to);
}

/* ---- No values ---------------------------------------------------------- */

/* Within a few bytes of a multiple of unit. */
static bool
near(uint64_t off, uint64_t unit, uint64_t *at)
{
	uint64_t rest = off % unit;

	*at = rest <= EDGE ? off - rest : off + (unit - rest);
	return rest <= EDGE || unit - rest <= EDGE;
}

/* Those that a run has explained need no cause of their own. */
static void
note_run(struct classify *c, const struct odd_run *run)
{
	for (uint64_t i = 0; i < c->magics.n; i++)
		if (c->magics.list[i].off + EDGE >= run->off &&
			c->magics.list[i].off < run->end)
			c->magics.list[i].explained = true;
}

static const char *
magic_in(const struct classify *c, uint64_t off, uint64_t end, uint64_t *at)
{
	for (uint64_t i = 0; i < c->magics.n; i++)
		if (c->magics.list[i].off + EDGE >= off &&
			c->magics.list[i].off < end) {
			*at = c->magics.list[i].off;
			return c->magics.list[i].name;
		}
	return NULL;
}

/* Text begins where the first byte is that can be of it. */
static uint64_t
text_start(struct classify *c, uint64_t off)
{
	uint8_t bytes[EDGE];
	size_t n = ckpt_classify_read(c, off, bytes, sizeof bytes), i = n;

	while (i > 0 && bytes[i - 1] >= ' ' && bytes[i - 1] <= '~')
		i--;
	return off + i;
}

struct foreign {
	uint64_t off, end, unit; /* unit 0: of no blocks */
	const char *name;        /* of the kind of file that begins at: */
	uint64_t at;
};

/* How its bounds were found. The last block of a file may not be whole. */
static const char *
bounds_of(const struct foreign *f)
{
	bool whole = f->unit == 0 || f->end % f->unit == 0;

	if (f->unit == 4096)
		return whole ? ", whole pages of 4096"
			     : ", pages of 4096 up to the end of the file";
	if (f->unit == 512)
		return whole ? ", whole blocks of 512"
			     : ", blocks of 512 up to the end of the file";
	return ", to an element or two";
}

static struct ckpt_hint *
add_foreign(
	struct classify *c, const struct odd_run *run, const struct foreign *f)
{
	static const char over[] = "a part was overwritten by something else";
	static const char torn[] =
		"pages were not written, and hold other bytes";

	if (f->name)
		return ckpt_classify_add(c, "overwritten-region", over,
			CKPT_STRONG,
			"another kind of file begins there, where values of a "
			"tensor belong");
	if (run->class_ == PAGE_TEXT)
		return ckpt_classify_add(c, "overwritten-region", over,
			CKPT_STRONG,
			"text stands where values of a tensor belong");
	if (f->unit == 4096 && run->class_ == PAGE_NOISE)
		return ckpt_classify_add(c, "torn-pages", torn, CKPT_STRONG,
			"bytes that are no values of the tensor begin and end "
			"where pages do, and not where tensors do");
	if (f->unit > 0)
		return ckpt_classify_add(c, "torn-pages", torn, CKPT_LIKELY,
			"bytes that hardly are values of the tensor begin and "
			"end where blocks do");
	return ckpt_classify_add(c, "overwritten-region", over,
		run->class_ == PAGE_NOISE ? CKPT_LIKELY : CKPT_POSSIBLE,
		"no byte there is that of an exponent, and pages next to it "
		"have them");
}

/* Where pages are cut by tensors too short to say anything, a run ends with
 * its tensor; nothing good says that it does. */
static bool
reaches(const struct classify *c, const struct odd_run *run, uint64_t unit,
	uint64_t *from, uint64_t *to)
{
	const struct window *a = &run->good_before, *b = &run->good_after;
	bool first = near(run->off, unit, from),
	     last = near(run->end, unit, to);

	if (!first && ckpt_classify_edge_at(c, run->off) == EDGE_TENSOR) {
		*from = run->off - run->off % unit;
		first = a->width == 0 || a->end <= *from;
	}
	if (!last && ckpt_classify_edge_at(c, run->end) == EDGE_TENSOR) {
		*to = run->end + (unit - run->end % unit);
		last = b->width == 0 || b->off >= *to;
	}
	return first && last;
}

/* The range holds no values of its tensor, and pages before or behind it do. */
static void
judge_foreign(struct classify *c, const struct odd_run *run)
{
	struct foreign f = { .off = run->off, .end = run->end };
	uint64_t from, to;
	struct ckpt_hint *cause;

	f.name = magic_in(c, run->off, run->end, &f.at);
	if (reaches(c, run, 4096, &from, &to))
		f.unit = 4096;
	else if (reaches(c, run, 512, &from, &to))
		f.unit = 512;
	if (run->class_ == PAGE_OTHER && !f.name && !c->changed)
		return; /* values may be of more kinds than we know */
	if (f.unit > 0) {
		f.off = from;
		f.end = to < c->size ? to : c->size;
	} else if (run->class_ == PAGE_TEXT) {
		f.off = text_start(c, f.off);
	}
	cause = add_foreign(c, run, &f);
	ckpt_classify_where(c, cause, f.off, f.end - f.off);
	ckpt_classify_say(c, cause, "from %s to %s (%" PRIu64 " bytes%s) %s",
		ckpt_classify_at(c, f.off), ckpt_classify_at(c, f.end),
		f.end - f.off, bounds_of(&f),
		run->class_ == PAGE_TEXT ? "nearly every byte is printable"
					 : "no byte of the elements is like "
					   "that of an exponent");
	note_run(c, run);
	if (f.name)
		ckpt_classify_say(c, cause, "at %s begins %s",
			ckpt_classify_at(c, f.at), f.name);
	if (run->class_ == PAGE_TEXT)
		ckpt_classify_say_bytes(
			c, cause, "it begins with", f.off, UINT64_MAX);
	c->explained |= cause->likelihood != CKPT_POSSIBLE;
}

/* A neighbour of the same tensor has values. */
static bool
has_good_neighbour(const struct classify *c, const struct odd_run *run)
{
	const struct window *a = &run->good_before, *b = &run->good_after;

	return (a->width > 0 &&
		       ckpt_classify_tensor(c, a->end - 1) ==
			       ckpt_classify_tensor(c, run->first.off)) ||
	       (b->width > 0 &&
		       ckpt_classify_tensor(c, b->off) ==
			       ckpt_classify_tensor(c, run->last.end - 1));
}

/* What begins as another file does, where no values are, and page statistics
 * alone say nothing. */
static void
judge_magics(struct classify *c)
{
	for (uint64_t i = 0; i < c->magics.n; i++) {
		uint64_t off = c->magics.list[i].off;
		struct ckpt_hint *cause;

		if (c->magics.list[i].explained || c->magics.list[i].values ||
			!ckpt_classify_tensor(c, off))
			continue;
		cause = ckpt_classify_add(c, "overwritten-region",
			"a part was overwritten by something else", CKPT_LIKELY,
			"another kind of file begins at the start of a block, "
			"and its page does not look like values");
		ckpt_classify_where(c, cause, off, 4);
		ckpt_classify_say(c, cause, "at %s begins %s",
			ckpt_classify_at(c, off), c->magics.list[i].name);
		c->explained = true;
		return;
	}
}

void
ckpt_classify_judge_phases(struct classify *c)
{
	struct phases *p = &c->phases;

	for (uint64_t i = 0; i < p->n; i++)
		ckpt_classify_refine(c, &p->runs[i]);
	for (uint64_t i = 0; i < p->n;) {
		struct odd_run *run = &p->runs[i];
		uint64_t to = group_end(p, i);

		if (run->class_ != PAGE_PHASE) {
			if (has_good_neighbour(c, run))
				judge_foreign(c, run);
			to = i + 1;
		} else if (to == i + 1 && is_swapped(c, run)) {
			judge_swapped(c, run);
		} else if (!c->text_mode) {
			judge_displaced(c, i, to);
		}
		i = to;
	}
	judge_magics(c);
}

/* ---- Single bits -------------------------------------------------------- */

static void
judge_outlier(struct classify *c)
{
	const struct phases *p = &c->phases;
	unsigned bit = p->outlier.width * 8 - 2;
	struct ckpt_hint *cause = ckpt_classify_add(c, "flipped-bit",
		"a single bit of a value was flipped", CKPT_LIKELY,
		"a value far above all others of its page would be among them "
		"with its uppermost exponent bit clear");

	ckpt_classify_where(c, cause, p->outlier.off, p->outlier.width);
	ckpt_classify_say(c, cause,
		"the element at %s has the bits %0*" PRIx64
		"; with bit %u clear, %0*" PRIx64,
		ckpt_classify_at(c, p->outlier.off), (int)p->outlier.width * 2,
		p->outlier.bits, bit, (int)p->outlier.width * 2,
		p->outlier.bits & ~((uint64_t)1 << bit));
	c->explained = true;
}

void
ckpt_classify_judge_flips(struct classify *c)
{
	struct ckpt_hint *cause;

	/* Where many stand out they may be meant to. */
	if (c->phases.outliers > 0 && c->phases.outliers <= 4)
		judge_outlier(c);
	if (c->explained || !c->changed)
		return;
	cause = ckpt_classify_add(c, "few-bytes-changed",
		"a byte or a few were changed", CKPT_POSSIBLE,
		"the checksum says that something changed, and no trace of "
		"anything larger was found");
	ckpt_classify_say(c, cause,
		"the size is right, and %" PRIu64
		" pages of floats look like values of their tensors",
		c->phases.good_pages);
	ckpt_classify_say(c, cause,
		"`ckverify --locate FILE` searches for a single damaged byte");
}
