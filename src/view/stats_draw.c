/* SPDX-License-Identifier: MIT */
/*
 * Statistics as text: what tensor, its numbers in as many columns as fit, its
 * least and greatest element, and the histogram. The words are those of
 * ckinspect --batch=stats. Lines outside of the area are not drawn, so that
 * scrolling is a matter of where the first one lies.
 */
#include "view/stats_draw.h"

#include <inttypes.h>
#include <math.h>

#include "sink/words.h"
#include "view/numbers.h"

enum { ITEM_COLS = 19, BESIDE = 76, BARS_HIGH = 4, BARS_FEW = 16 };

/* Where the next line goes. */
struct page {
	struct view_area area;
	int row;
	bool show;
	struct ckpt_buf text;
};

static void
put(struct page *page, int col, unsigned style)
{
	if (page->show && page->text.n > 0 && page->row >= 0 &&
		page->row < page->area.rows)
		view_put(&page->area, page->row, col, style, page->text.p,
			page->text.n);
	ckpt_buf_clear(&page->text);
}

static void
line(struct page *page, unsigned style)
{
	put(page, 0, style);
	page->row++;
}

static void
heading(struct page *page, const struct ckpt_span *span)
{
	ckpt_span_name_write(&page->text, span);
	line(page, VIEW_BOLD);
	ckpt_buf_printf(&page->text, "%s, %s ", span->role, span->dtype);
	ckpt_span_shape_write(&page->text, span);
	line(page, VIEW_PLAIN);
}

/* ---- Numbers ------------------------------------------------------------ */

/* The least or greatest element, so that it can be found: exactly, and where
 * it is. */
static void
extreme(struct page *page, const struct ckpt_span *span, const char *label,
	double value, uint64_t number)
{
	struct ckpt_buf at = { 0 };

	ckpt_buf_printf(&page->text, "%s ", label);
	view_f64_write(&page->text, value);
	ckpt_buf_puts(&at, "at ");
	ckpt_span_index_write(&at, span, view_stats_element(span, number));
	if (at.p && page->text.n + 1 + at.n > (size_t)page->area.cols) {
		line(page, VIEW_PLAIN);
		ckpt_buf_puts(&page->text, " ");
	}
	ckpt_buf_printf(&page->text, " %s", at.p ? at.p : "");
	line(page, VIEW_PLAIN);
	ckpt_buf_release(&at);
}

struct item {
	const char *label;
	bool real; /* of the finite elements, else a number of elements */
	bool bad;  /* there should be none */
	double value;
	uint64_t count;
};

static void
write_item(struct page *page, const struct item *item, bool finite)
{
	ckpt_buf_printf(&page->text, "%s ", item->label);
	if (!item->real)
		ckpt_buf_printf(&page->text, "%" PRIu64, item->count);
	else if (finite)
		ckpt_stats_write(&page->text, item->value);
	else
		ckpt_buf_puts(&page->text, "-");
}

static void
numbers(struct page *page, const struct ckpt_span *span,
	const struct ckpt_stats *s)
{
	const struct item items[] = {
		{ .label = "count", .count = s->count },
		{ .label = "finite", .count = s->finite },
		{ .label = "mean", .real = true, .value = ckpt_stats_mean(s) },
		{ .label = "L2", .real = true, .value = ckpt_stats_l2(s) },
		{ .label = "zeros", .count = s->zeros },
		{ .label = "denormals", .count = s->denormals },
		{ .label = "NaN", .bad = s->nan > 0, .count = s->nan },
		{ .label = "inf", .bad = s->inf > 0, .count = s->inf },
	};
	int most = (int)(sizeof items / sizeof items[0]);
	int across = (page->area.cols + 1) / ITEM_COLS, i;

	across = across < 1 ? 1 : across > 5 ? 5 : across;
	for (i = 0; i < most; i++) {
		write_item(page, &items[i], s->finite > 0);
		put(page, i % across * (page->area.cols / across),
			items[i].bad ? VIEW_ERROR : VIEW_PLAIN);
		if (i % across == across - 1)
			page->row++;
	}
	if (i % across)
		page->row++;
	if (s->finite == 0)
		return;
	extreme(page, span, "min", s->min, s->min_at);
	extreme(page, span, "max", s->max, s->max_at);
}

/* ---- The histogram ------------------------------------------------------ */

/* The bins as n bars. */
static double
make_bars(const struct view_stats *stats, double *bars, int n)
{
	double tallest = 0;

	for (int i = 0; i < n; i++) {
		bars[i] = 0;
		for (int k = 0; k < VIEW_BINS / n; k++)
			bars[i] += (double)stats->bins[i * (VIEW_BINS / n) + k];
		if (bars[i] > tallest)
			tallest = bars[i];
	}
	return tallest;
}

static void
histogram(struct page *page, const struct view_stats *stats)
{
	const struct ckpt_stats *s = &stats->stats;
	struct ckpt_buf bar = { 0 };
	double bars[VIEW_BINS], tallest;
	int n = VIEW_BINS, high = page->area.rows / 4;

	if (s->finite == 0)
		return;
	if (s->min == s->max) {
		ckpt_buf_printf(
			&page->text, "all that are finite are %.6g", s->min);
		line(page, VIEW_PLAIN);
		return;
	}
	while (n > page->area.cols && n > BARS_FEW)
		n /= 2;
	high = high < 1 ? 1 : high > BARS_HIGH ? BARS_HIGH : high;
	tallest = make_bars(stats, bars, n);
	for (int row = high; row-- > 0; page->row++)
		for (int i = 0; i < n; i++) {
			/* What is there at all has an eighth of a row. */
			int eighths = (int)ceil(bars[i] / tallest * 8 * high) -
				      8 * row;

			ckpt_buf_puts(&page->text,
				view_block(page->area.grid,
					eighths < 0 ? 0 : (unsigned)eighths));
			put(page, i, VIEW_PLAIN);
		}
	ckpt_buf_printf(&page->text, "%.6g to %.6g, ", s->min, s->max);
	ckpt_buf_printf(&bar, "tallest bar %.0f", tallest);
	if (page->text.n + bar.n > (size_t)page->area.cols)
		line(page, VIEW_DIM);
	ckpt_buf_puts(&page->text, bar.p ? bar.p : "");
	line(page, VIEW_DIM);
	ckpt_buf_release(&bar);
}

/* ---- Parts -------------------------------------------------------------- */

static void
part(struct page *page, const struct view_stats_part *p)
{
	const struct view_stats *stats = p->stats;

	heading(page, p->span);
	if (p->span->len == 0) {
		ckpt_buf_puts(&page->text, "no elements");
		line(page, VIEW_PLAIN);
	} else if (!view_stats_can(p->span)) {
		ckpt_buf_puts(&page->text, "not read as numbers");
		line(page, VIEW_PLAIN);
	} else if (!stats) {
		ckpt_buf_printf(&page->text, "reading %u%% ...",
			p->total ? (unsigned)(100.0 * (double)p->done /
					      (double)p->total)
				 : 0);
		line(page, VIEW_PLAIN);
	} else {
		if (stats->cut) {
			ckpt_buf_puts(
				&page->text, "the file ends before it does");
			line(page, VIEW_ERROR);
		}
		numbers(page, p->span, &stats->stats);
		histogram(page, stats);
	}
}

int
view_stats_draw(const struct view_area *area,
	const struct view_stats_part *parts, size_t n, int without, bool show)
{
	struct page page = { .area = view_area_part(
				     area, 0, 1, area->rows, area->cols - 1),
		.row = -without,
		.show = show };
	bool beside = n > 1 && area->cols >= BESIDE;
	int lines = 0;

	for (size_t i = 0; i < n; i++) {
		if (beside) {
			page.area = view_area_part(area, 0,
				1 + (int)i * (area->cols / 2), area->rows,
				area->cols / 2 - 2);
			page.row = -without;
		} else if (i > 0) {
			page.row++;
		}
		part(&page, &parts[i]);
		if (page.row + without > lines)
			lines = page.row + without;
	}
	ckpt_buf_release(&page.text);
	return lines;
}
