/* SPDX-License-Identifier: MIT */
/*
 * What one page of floats looks like. The bytes of an element are not alike:
 * weights of one tensor have few exponents, so the byte with sign and
 * exponent has few values, while low bytes of mantissas have all 256 about
 * equally often. How often two bytes of one place in the element agree (its
 * concentration: 1/128 without the sign for even ones) shows where elements
 * begin, whatever the values are.
 */
#include "forensics/classify_parts.h"

#include <string.h>

enum { TOPS = 128 };

/* What the bytes at one place of the elements are. */
struct lane {
	uint32_t n;
	double seven;  /* concentration of the lower seven bits */
	unsigned mode; /* most frequent lower seven bits */
	bool even;
	bool exponent; /* it may be the byte with the exponent */
};

/* By width: how concentrated exponents are at least, and which are found in
 * checkpoints: from about 2^-60 to 2^30 (F16: all but the extreme). */
struct shape {
	unsigned width;
	bool half;
	double least;
	unsigned from, to; /* of the byte without sign */
	unsigned elements; /* fewer say nothing */
};

static const struct shape shapes[] = {
	{ 8, false, 0.20, 0x3a, 0x42, 16 },
	{ 4, false, 0.08, 0x20, 0x4f, 32 },
	{ 2, false, 0.08, 0x20, 0x4f, 64 },
	{ 2, true, 0.025, 0x08, 0x60, 128 },
};

static const struct shape *
shape_of(const struct window *w)
{
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		if (shapes[i].width == w->width && shapes[i].half == w->half)
			return &shapes[i];
	return NULL;
}

/* How often two of n agree, without the bias of a small n. */
static double
concentration(const uint32_t *counts, size_t bins, uint32_t n)
{
	uint64_t pairs = 0;

	for (size_t i = 0; i < bins; i++)
		pairs += (uint64_t)counts[i] * counts[i] - counts[i];
	return n < 2 ? 0 : (double)pairs / ((double)n * (n - 1));
}

static struct lane
look_at_lane(const uint16_t *counts, const struct shape *shape)
{
	uint32_t seven[TOPS];
	struct lane lane = { 0 };
	unsigned low = 0; /* low bits that are ever set */

	for (unsigned i = 0; i < TOPS; i++) {
		seven[i] = (uint32_t)counts[i] + counts[i + TOPS];
		lane.n += seven[i];
		if (seven[i] > 0)
			low |= i & 0x0f;
		if (seven[i] > seven[lane.mode])
			lane.mode = i;
	}
	lane.seven = concentration(seven, TOPS, lane.n);
	/* 1/128, and what chance adds: about 1/n either way. */
	lane.even = lane.n >= 16 && lane.seven < 1.4 / TOPS + 2.0 / lane.n;
	/* A mantissa that was rounded has few values, too, but coarse ones. */
	lane.exponent = lane.seven >= shape->least && low != 0 &&
			lane.mode >= shape->from && lane.mode <= shape->to;
	return lane;
}

/* Nearly all bytes are such as a log or a page has. */
static bool
is_text(const uint8_t *p, size_t n)
{
	size_t odd = 0;

	for (size_t i = 0; i < n; i++)
		odd += (p[i] < ' ' && p[i] != '\n' && p[i] != '\t' &&
			       p[i] != '\r') ||
		       p[i] > '~';
	return n >= 64 && odd * 50 < n;
}

static void
count(const struct window *w, const uint8_t *p, uint16_t (*counts)[256])
{
	size_t n = (size_t)(w->end - w->off);
	size_t lane = (size_t)((w->off + w->width - w->residue) % w->width);

	for (size_t i = 0; i < n; i++) {
		counts[lane][p[i]]++;
		if (++lane == w->width)
			lane = 0;
	}
}

/* Elements whose exponent is far above all others of the page, and would be
 * among them with one bit flipped. */
static unsigned
count_outliers(const uint16_t *top, unsigned mode, bool wide)
{
	unsigned n = 0;

	for (unsigned i = mode + (wide ? 4 : 20); i < TOPS; i++) {
		unsigned flipped = i & ~0x40u;
		unsigned k = (unsigned)top[i] + top[i + TOPS];
		bool one_bit = (i & 0x40) && flipped + 2 >= mode &&
			       flipped <= mode + 2;

		if (k > 0 && !one_bit)
			return 0; /* large values are at home here */
		n += k;
	}
	return n;
}

/* Bytes of many kinds, few of them zero: content of some sort. */
static bool
is_content(const uint8_t *p, size_t n)
{
	size_t zeros = 0;

	for (size_t i = 0; i < n; i++)
		zeros += p[i] == 0;
	return n >= 512 && ckpt_classify_values(p, n) >= 96 &&
	       zeros < n - n / 4;
}

/* The exponents are in one lane, and no other can be meant. */
static void
look_at_phase(struct page_view *view, const struct lane *lanes, unsigned width,
	unsigned best)
{
	view->class_ = PAGE_PHASE;
	for (unsigned i = 0; i < width; i++)
		if (i != best && lanes[i].exponent &&
			2 * lanes[i].seven > lanes[best].seven)
			view->class_ = PAGE_UNKNOWN;
	view->shift = (best + 1) % width;
	view->mode = lanes[best].mode;
}

/* The exponent goes on in the upper bits of a neighbour of its byte, so of
 * elements with one exponent byte more have that bit set than clear, or fewer.
 * How uneven that is, beside 1 for each kind that chance makes. step: 1 is the
 * byte behind it, -1 before. */
static double
unevenness(const struct window *w, const uint8_t *p, size_t n, unsigned best,
	int step)
{
	int32_t more[TOPS] = { 0 }, all[TOPS] = { 0 };
	size_t lane = (size_t)((w->off + w->width - w->residue) % w->width);
	size_t i = (best + w->width - lane) % w->width;
	double sum = 0;

	for (i += i == 0 ? w->width : 0; i + 1 < n; i += w->width) {
		uint8_t top = p[i] & 0x7f;

		all[top]++;
		more[top] += p[step > 0 ? i + 1 : i - 1] & 0x80 ? 1 : -1;
	}
	for (unsigned k = 0; k < TOPS; k++)
		if (all[k] >= 16)
			sum += (double)more[k] * more[k] / all[k] - 1;
	return sum;
}

struct page_view
ckpt_classify_page(const struct window *w, const uint8_t *p)
{
	const struct shape *shape = shape_of(w);
	size_t n = (size_t)(w->end - w->off);
	uint16_t counts[8][256] = { { 0 } };
	struct page_view view = { .class_ = PAGE_UNKNOWN };
	struct lane lanes[8] = { { 0 } };
	unsigned best = 8, even = 0;

	if (!shape || n < (size_t)shape->elements * w->width)
		return view;
	count(w, p, counts);
	for (unsigned i = 0; i < w->width; i++) {
		lanes[i] = look_at_lane(counts[i], shape);
		even += lanes[i].even;
		if (lanes[i].exponent &&
			(best == 8 || lanes[i].seven > lanes[best].seven))
			best = i;
	}
	if (is_text(p, n)) {
		view.class_ = PAGE_TEXT;
	} else if (even == w->width && lanes[0].n >= 128) {
		view.class_ = PAGE_NOISE;
	} else if (best < 8 && even > 0) {
		look_at_phase(&view, lanes, w->width, best);
		if (view.shift == 1 && w->width > 2) {
			view.behind = unevenness(w, p, n, best, 1);
			view.before = unevenness(w, p, n, best, -1);
		}
		if (view.shift == 0 && !w->half)
			view.outliers = count_outliers(
				counts[best], view.mode, w->width == 8);
	} else if (best == 8 && is_content(p, n)) {
		view.class_ = PAGE_OTHER;
	}
	return view;
}
