/* SPDX-License-Identifier: MIT */
/*
 * The byte map: the file from its first byte to its last in rows of columns,
 * coloured by what owns the bytes, with a mark where a finding is. A stretch
 * of bytes gets at least a column; those that share a column share a piece of
 * the map, so its size does not grow with the file. Positions are computed in
 * doubles, whose quotients and products keep the order of what they are made
 * of: pieces never overlap.
 */
#include "cli/inspect_html.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "sink/report.h"

enum {
	ROWS = 8,
	COLUMNS = 1000, /* of a row */
	CELLS = ROWS * COLUMNS,
	LEFT = 84, /* of the rows: their offsets */
	TOP = 14,  /* above each: marks */
	HIGH = 22,
	PITCH = TOP + HIGH,
};

/* What is drawn as one: one stretch, or several that share a column. */
struct piece {
	struct inspect_stretch first, last;
	uint64_t count, longest;
	int from, to; /* columns, counted over all rows */
	const char *class_, *words;
};

enum owner { HEADER, TOKENS, PARAMETERS, MOMENTS, OTHERS, LOST, OWNERS };

static const struct {
	const char *class_, *words;
} owners[OWNERS] = {
	[HEADER] = { "h", "header" },
	[TOKENS] = { "t", "tokenizer" },
	[PARAMETERS] = { "p", "parameters" },
	[MOMENTS] = { "m", "moments" },
	[OTHERS] = { "o", "other tensors" },
	[LOST] = { "x", "no owner" },
};

static enum owner
owner_of(const struct inspect *in, const struct inspect_stretch *s)
{
	static const enum owner tensors[] = {
		[CKPT_TENSOR_TOKENIZER] = TOKENS,
		[CKPT_TENSOR_PARAMETER] = PARAMETERS,
		[CKPT_TENSOR_MOMENT] = MOMENTS,
		[CKPT_TENSOR_OTHER] = OTHERS,
	};

	switch (s->first->kind) {
	case CKPT_OWNER_FIELD: return HEADER;
	case CKPT_OWNER_TENSOR:
		return tensors[in->spans.tensors[s->first->index].class_];
	case CKPT_OWNER_HEADER:
	case CKPT_OWNER_GAP:
	case CKPT_OWNER_NONE: return LOST;
	}
	return LOST;
}

/* The column boundary next to off, 0 to CELLS. */
static int
boundary(const struct inspect *in, uint64_t off)
{
	double part = (double)off / (double)in->spans.size;

	return (int)floor(part * CELLS + 0.5);
}

/* ---- Pieces ------------------------------------------------------------- */

static void
write_words(struct inspect *in, const struct piece *p, struct ckpt_buf *words)
{
	uint64_t len = p->last.end - p->first.off;

	ckpt_range_write(words, p->first.off, len);
	ckpt_buf_puts(words, " \xc2\xb7 ");
	inspect_html_count(words, len, "byte");
	ckpt_buf_puts(words, " \xc2\xb7 ");
	if (p->count > 1)
		ckpt_buf_printf(words, "%" PRIu64 " owners, from ", p->count);
	else
		ckpt_buf_printf(words, "%s \xc2\xb7 ", p->words);
	inspect_stretch_write(words, in, &p->first);
	if (p->count > 1) {
		ckpt_buf_puts(words, " to ");
		inspect_stretch_write(words, in, &p->last);
	}
}

/* The rows that a piece is in, as one path. */
static void
write_shape(struct ckpt_buf *out, const struct piece *p)
{
	int at = p->from;

	ckpt_buf_puts(out, "<path d=\"");
	while (at < p->to) {
		int row = at / COLUMNS, end = (row + 1) * COLUMNS;
		int to = p->to < end ? p->to : end;

		ckpt_buf_printf(out, "M%d %dh%dv%dh-%dz", LEFT + at % COLUMNS,
			row * PITCH + TOP, to - at, HIGH, to - at);
		at = to;
	}
	ckpt_buf_puts(out, "\"/>");
}

/* A piece that is one record leads to its row. odd tells neighbours apart. */
static void
write_piece(struct inspect *in, const struct piece *p, bool odd,
	struct ckpt_buf *words)
{
	struct ckpt_buf *out = &in->out;
	bool link = p->count == 1 &&
		    p->first.first->kind == CKPT_OWNER_TENSOR &&
		    p->first.first->index < INSPECT_HTML_RECORDS;

	if (link)
		ckpt_buf_printf(out,
			"<a href=\"#r%" PRIu64 "\" tabindex=\"-1\">",
			p->first.first->index);
	ckpt_buf_printf(
		out, "<g class=\"%s%s\"><title>", p->class_, odd ? " d" : "");
	write_words(in, p, words);
	ckpt_html_take(out, words);
	ckpt_buf_puts(out, "</title>");
	write_shape(out, p);
	ckpt_buf_puts(out, link ? "</g></a>\n" : "</g>\n");
	inspect_flush(in, false);
}

/* Takes another stretch into a piece that has no column of its own left. What
 * nobody owns is never hidden by what shares its column. */
static void
join(struct inspect *in, struct piece *p, const struct inspect_stretch *s)
{
	enum owner owner = owner_of(in, s);
	bool lost = strcmp(p->class_, owners[LOST].class_) == 0;

	p->last = *s;
	p->count++;
	if (owner != LOST && (lost || s->end - s->off <= p->longest))
		return;
	p->longest = s->end - s->off;
	p->class_ = owners[owner].class_;
	p->words = owners[owner].words;
}

/* s alone in a piece of its own. True if it can begin where p ends; p may
 * have to leave its last column for that. */
static bool
begin(struct inspect *in, struct piece *p, struct piece *next,
	const struct inspect_stretch *s)
{
	enum owner owner = owner_of(in, s);
	int to = boundary(in, s->end);

	if (p->count > 0 && to <= p->to) {
		bool tiny = p->to - p->from < 2;

		/* Within the column that the piece before it was given. */
		if (tiny)
			return false;
		if (p->to >= CELLS)
			p->to = CELLS - 1;
	}
	*next = (struct piece){ .first = *s,
		.last = *s,
		.count = 1,
		.longest = s->end - s->off,
		.from = p->count > 0 ? p->to : 0,
		.class_ = owners[owner].class_,
		.words = owners[owner].words };
	next->to = to > next->from ? to : next->from + 1;
	return true;
}

static void
write_pieces(struct inspect *in, struct ckpt_buf *words)
{
	struct piece p = { 0 }, next;
	struct inspect_stretch s;
	bool odd = false;

	for (uint64_t i = 0; i < in->spans.nowners;) {
		i = inspect_stretch_next(in, i, &s);
		if (!begin(in, &p, &next, &s)) {
			join(in, &p, &s);
			continue;
		}
		if (p.count > 0) {
			write_piece(in, &p, odd, words);
			odd = !odd && strcmp(p.class_, next.class_) == 0;
		}
		p = next;
	}
	write_piece(in, &p, odd, words);
}

/* ---- Marks -------------------------------------------------------------- */

static void
write_mark(struct inspect *in, const struct ckpt_diag *worst, uint64_t finding,
	uint64_t count, int cell)
{
	const struct ckpt_rule *rule = worst->rule;
	struct ckpt_buf words;
	int x = LEFT + cell % COLUMNS, y = cell / COLUMNS * PITCH + 4;

	if (finding < INSPECT_HTML_FINDINGS)
		ckpt_buf_printf(&in->out,
			"<a href=\"#f%" PRIu64 "\" tabindex=\"-1\">", finding);
	ckpt_buf_printf(&in->out, "<g class=\"mark %s\"><title>",
		ckpt_severity_name(rule->severity));
	ckpt_buf_init(&words);
	ckpt_offset_write(&words, worst->off);
	ckpt_buf_printf(&words, " \xc2\xb7 %s %s %s",
		ckpt_severity_name(rule->severity), rule->id, rule->slug);
	if (worst->path[0])
		ckpt_buf_printf(&words, " \xc2\xb7 %s", worst->path);
	if (count > 1)
		ckpt_buf_printf(&words, " \xc2\xb7 and %" PRIu64 " more here",
			count - 1);
	ckpt_html_take(&in->out, &words);
	ckpt_buf_release(&words);
	ckpt_buf_printf(&in->out,
		"</title><path d=\"M%d %dh10l-5 8z\"/></g>%s\n", x - 5, y,
		finding < INSPECT_HTML_FINDINGS ? "</a>" : "");
	inspect_flush(in, false);
}

/* Findings in the order of their offsets, one mark a column: of the first in
 * rank, which is the worst. */
static void
write_marks(struct inspect *in)
{
	const struct ckpt_diags *diags = &in->run->diags;
	uint64_t best = 0, count = 0;
	int cell = -1;

	for (uint64_t i = 0; i < diags->n; i++) {
		uint64_t k = in->by_offset[i];
		const struct ckpt_diag *d = &diags->list[k];
		int at;

		if (!inspect_finding_placed(d))
			continue;
		/* Behind the end, as of what is missing: at the end. */
		at = d->off < in->spans.size ? boundary(in, d->off) : CELLS;
		if (at > CELLS - 1)
			at = CELLS - 1;
		if (count > 0 && at != cell) {
			write_mark(in, &diags->list[best], best, count, cell);
			count = 0;
		}
		if (count == 0 || k < best)
			best = k;
		cell = at;
		count++;
	}
	if (count > 0)
		write_mark(in, &diags->list[best], best, count, cell);
}

/* ---- Around it ---------------------------------------------------------- */

static void
write_legend(struct inspect *in)
{
	uint64_t bytes[OWNERS] = { 0 };
	struct inspect_stretch s;

	for (uint64_t i = 0; i < in->spans.nowners;) {
		i = inspect_stretch_next(in, i, &s);
		bytes[owner_of(in, &s)] += s.end - s.off;
	}
	ckpt_buf_puts(&in->out, "<ul class=\"legend\">\n");
	for (size_t i = 0; i < OWNERS; i++) {
		double share;

		if (bytes[i] == 0)
			continue;
		share = 100.0 * (double)bytes[i] / (double)in->spans.size;
		ckpt_buf_printf(&in->out,
			"<li><svg class=\"map\" viewBox=\"0 0 12 12\" "
			"aria-hidden=\"true\"><g class=\"%s\"><path "
			"d=\"M0 0h12v12h-12z\"/></g></svg>%s <b>%" PRIu64
			"</b> <small>%s%.1f%%</small></li>\n",
			owners[i].class_, owners[i].words, bytes[i],
			share < 0.1 ? "below " : "", share < 0.1 ? 0.1 : share);
	}
	ckpt_buf_puts(&in->out, "</ul>\n");
}

/* The first byte of each row. */
static void
write_offsets(struct inspect *in)
{
	for (int row = 0; row < ROWS; row++) {
		double first = ceil((double)in->spans.size * row / ROWS);

		ckpt_buf_printf(&in->out,
			"<text x=\"%d\" y=\"%d\">%.0f</text>\n", LEFT - 10,
			row * PITCH + TOP + HIGH / 2 + 4, first);
	}
}

void
inspect_html_map(struct inspect *in)
{
	struct ckpt_buf words;

	ckpt_buf_puts(&in->out, "<section id=\"map\">\n<h2>Byte map</h2>\n");
	if (in->spans.nowners == 0) {
		ckpt_buf_puts(&in->out, "<p class=\"note\">The file is empty."
					"</p>\n</section>\n");
		return;
	}
	write_legend(in);
	ckpt_buf_printf(&in->out,
		"<div class=\"wide\">\n<svg id=\"bytes\" class=\"map\" "
		"viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Byte map; "
		"the table of records says the same\">\n"
		"<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" "
		"patternUnits=\"userSpaceOnUse\" "
		"patternTransform=\"rotate(45)\"><path d=\"M0 0h2v5h-2z\"/>"
		"</pattern></defs>\n",
		LEFT + COLUMNS + 6, ROWS * PITCH + 2);
	ckpt_buf_init(&words);
	write_offsets(in);
	write_pieces(in, &words);
	write_marks(in);
	ckpt_buf_release(&words);
	ckpt_buf_puts(&in->out,
		"</svg>\n</div>\n<p id=\"where\" class=\"where\" "
		"aria-live=\"polite\" hidden></p>\n</section>\n");
}
