/* SPDX-License-Identifier: MIT */
/*
 * How the values of each tensor spread between its least and its greatest. The
 * run saw every value once, but a range is known only afterwards: the bytes
 * are read again, block by block. The tokenizer's bytes are text, and a pipe
 * cannot be read again; of these there is no histogram.
 */
#include "cli/inspect_html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 32, HEIGHT = 40, WIDTH = BINS * 5, BLOCK = 24 * 8192 };

/* More cards than this are not open at first. */
enum { OPEN_MOST = 60 };

struct histogram {
	uint64_t bins[BINS];
	uint64_t total, most;
};

/* The bin of a finite element; the range may be wider than a double. */
static unsigned
bin_of(const struct ckpt_stats *s, double x)
{
	double part = (x - s->min) / (s->max - s->min);

	if (!isfinite(s->max - s->min))
		part = (x / 2 - s->min / 2) / (s->max / 2 - s->min / 2);
	if (s->min == s->max)
		return BINS / 2;
	if (!(part > 0))
		return 0;
	return part < 1 ? (unsigned)(part * BINS) : BINS - 1;
}

/* A block begins with a group, because its size is a multiple of all of
 * theirs. */
static void
add_block(struct histogram *h, const struct ckpt_number_group *g,
	const struct ckpt_stats *s, const uint8_t *p, size_t n)
{
	for (; n >= g->bytes; p += g->bytes, n -= g->bytes)
		for (unsigned i = 0; i < g->count; i++) {
			double x = safetensors_dtype_value(g->dtype,
				safetensors_dtype_load(g->dtype, p, i));

			if (!isfinite(x))
				continue;
			h->bins[bin_of(s, x)]++;
			h->total++;
		}
}

/* False if the bytes are not those that the run saw, or cannot be read. */
static bool
read_values(struct inspect *in, const struct ckpt_span *span,
	const struct ckpt_stats *s, struct histogram *h, uint8_t *block)
{
	const struct ckpt_number_group group = ckpt_number_group_of(span);

	memset(h, 0, sizeof *h);
	if (!group.dtype)
		return false;
	for (uint64_t at = 0; at < span->len;) {
		uint64_t left = span->len - at;
		size_t want = left < BLOCK ? (size_t)left : BLOCK;

		if (inspect_bytes_get(&in->bytes, span->off + at, block, want) <
			want)
			return false;
		add_block(h, &group, s, block, want);
		at += want;
	}
	for (size_t i = 0; i < BINS; i++)
		if (h->bins[i] > h->most)
			h->most = h->bins[i];
	return h->total == s->finite;
}

/* One path: a bar a bin, from the base line up; what is not zero is seen. */
static void
write_bars(struct ckpt_buf *out, const struct histogram *h)
{
	ckpt_buf_printf(out,
		"<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		"role=\"img\" aria-label=\"%d bins, the fullest holds %" PRIu64
		" of %" PRIu64 " values\"><path d=\"",
		WIDTH, HEIGHT, BINS, h->most, h->total);
	for (int i = 0; i < BINS; i++) {
		double part = (double)h->bins[i] / (double)h->most;
		int height = (int)lround(part * HEIGHT);

		if (h->bins[i] > 0)
			ckpt_buf_printf(out, "M%d %dv-%dh4v%dz", i * 5, HEIGHT,
				height > 0 ? height : 1,
				height > 0 ? height : 1);
	}
	ckpt_buf_puts(out, "\"/></svg>");
}

static void
write_card(struct inspect *in, const struct ckpt_span *span,
	const struct ckpt_stats *s, const struct histogram *h)
{
	struct ckpt_buf *out = &in->out;

	ckpt_buf_puts(out, "<figure><figcaption>");
	inspect_html_link(in, span);
	ckpt_buf_puts(out, "<small>");
	ckpt_html_puts(out, span->role);
	ckpt_buf_puts(out, "</small></figcaption>");
	if (!h)
		ckpt_buf_puts(out, "<p class=\"note\">the bytes changed while "
				   "this page was made</p>");
	else
		write_bars(out, h);
	if (h && s->min == s->max)
		ckpt_buf_printf(out,
			"<p class=\"ends\"><span></span><span>all "
			"%.4g</span><span></span></p>",
			s->min);
	else if (h)
		ckpt_buf_printf(out,
			"<p class=\"ends\"><span>%.4g</span><span>%.4g</span>"
			"</p>",
			s->min, s->max);
	if (s->finite < s->count)
		ckpt_buf_printf(out,
			"<p class=\"note\">and %" PRIu64 " not finite</p>",
			s->count - s->finite);
	ckpt_buf_puts(out, "</figure>\n");
	inspect_flush(in, false);
}

static bool
has_histogram(const struct inspect *in, uint64_t i)
{
	const struct ckpt_stats *s = inspect_stats_of(in, i);

	return s && s->finite > 0 && in->bytes.inner->read_at &&
	       in->spans.tensors[i].class_ != CKPT_TENSOR_TOKENIZER;
}

static void
write_cards(struct inspect *in, uint64_t n)
{
	uint8_t *block = malloc(BLOCK);
	struct histogram h;

	if (!block) {
		in->out.failed = true;
		return;
	}
	for (uint64_t i = 0; i < in->spans.ntensors && n > 0; i++) {
		const struct ckpt_span *span = &in->spans.tensors[i];
		const struct ckpt_stats *s = inspect_stats_of(in, i);

		if (!has_histogram(in, i))
			continue;
		write_card(in, span, s,
			read_values(in, span, s, &h, block) ? &h : NULL);
		n--;
	}
	free(block);
}

static void
write_note(struct inspect *in, uint64_t all, uint64_t n)
{
	struct ckpt_buf *out = &in->out;

	ckpt_buf_puts(out, "<p class=\"note\">");
	if (!in->bytes.inner->read_at && in->spans.ntensors > 0)
		ckpt_buf_puts(out, "None: they need a second reading, and a "
				   "pipe passes once.");
	else if (all == 0)
		ckpt_buf_puts(out, "None: no values of a tensor were read.");
	else
		ckpt_buf_printf(out,
			"%d bins of one width between the least and the "
			"greatest finite value; heights are relative to the "
			"fullest bin. The tokenizer and tensors that were not "
			"read have none.",
			BINS);
	if (n < all)
		ckpt_buf_printf(out,
			" The first %" PRIu64 " are shown, %" PRIu64
			" are left out.",
			n, all - n);
	ckpt_buf_puts(out, "</p>\n");
}

void
inspect_html_histograms(struct inspect *in)
{
	uint64_t all = 0, n;

	for (uint64_t i = 0; i < in->spans.ntensors; i++)
		all += has_histogram(in, i);
	n = all < INSPECT_HTML_HISTOGRAMS ? all : INSPECT_HTML_HISTOGRAMS;
	ckpt_buf_puts(&in->out, "<section id=\"values\">\n<h2>Values</h2>\n");
	write_note(in, all, n);
	if (n > 0) {
		ckpt_buf_printf(&in->out, "<details%s><summary>",
			n <= OPEN_MOST ? " open" : "");
		inspect_html_count(&in->out, n, "histogram");
		ckpt_buf_puts(&in->out, "</summary>\n<div class=\"cards\">\n");
		write_cards(in, n);
		ckpt_buf_puts(&in->out, "</div>\n</details>\n");
	}
	ckpt_buf_puts(&in->out, "</section>\n");
}
