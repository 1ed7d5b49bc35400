/* SPDX-License-Identifier: MIT */
/*
 * The table of records with the statistics of their values. It may have very
 * many rows, so it is as terse as HTML allows: rows and cells need no end
 * tags. Their number is bounded, and so are their bytes, whatever the names.
 */
#include "cli/inspect_html.h"

#include <inttypes.h>

/* n: a column of numbers, t: of text; what the script sorts by. */
static const struct {
	const char *kind, *title;
} columns[] = {
	{ "n", "record" },
	{ "t", "name" },
	{ "t", "role" },
	{ "t", "dtype" },
	{ "t", "shape" },
	{ "n", "range" },
	{ "n", "bytes" },
	{ "t", "status" },
	{ "n", "count" },
	{ "n", "min" },
	{ "n", "max" },
	{ "n", "mean" },
	{ "n", "L2" },
	{ "n", "zeros" },
	{ "n", "NaN" },
	{ "n", "inf" },
};

/* Rows of one table. Browsers need minutes for one of very many rows, so they
 * come in parts, closed but for the first; the script makes them one again and
 * shows no more at once. */
enum { PART = 2000 };

/* Rows that the table has; later pieces link to those only. */
static uint64_t
rows_most(const struct inspect *in)
{
	return in->spans.ntensors < INSPECT_HTML_RECORDS ? in->spans.ntensors
							 : INSPECT_HTML_RECORDS;
}

void
inspect_html_link(struct inspect *in, const struct ckpt_span *span)
{
	struct ckpt_buf words;
	bool has_row = span->index < rows_most(in);

	ckpt_buf_init(&words);
	if (has_row)
		ckpt_buf_printf(
			&in->out, "<a href=\"#r%" PRIu64 "\">", span->index);
	ckpt_span_name_write(&words, span);
	ckpt_html_take(&in->out, &words);
	ckpt_buf_puts(&in->out, has_row ? "</a>" : "");
	ckpt_buf_release(&words);
}

static void
add_cell(struct inspect *in, struct ckpt_buf *words)
{
	ckpt_buf_puts(&in->out, "\n<td>");
	ckpt_html_take(&in->out, words);
}

static void
add_number(struct inspect *in, const struct ckpt_stats *s, double x)
{
	struct ckpt_buf words = { 0 };

	if (s->finite == 0)
		ckpt_buf_puts(&words, "-");
	else
		ckpt_stats_write(&words, x);
	add_cell(in, &words);
	ckpt_buf_release(&words);
}

static void
add_stats(struct inspect *in, uint64_t i)
{
	const struct ckpt_span *span = &in->spans.tensors[i];
	const struct ckpt_stats *s = inspect_stats_of(in, i);

	if (!s) {
		ckpt_buf_printf(&in->out, "\n<td colspan=8 class=none>%s",
			span->len == 0 ? "empty" : "not read");
		return;
	}
	ckpt_buf_printf(&in->out, "\n<td>%" PRIu64, s->count);
	add_number(in, s, s->min);
	add_number(in, s, s->max);
	add_number(in, s, ckpt_stats_mean(s));
	add_number(in, s, ckpt_stats_l2(s));
	ckpt_buf_printf(&in->out,
		"\n<td>%" PRIu64 "\n<td>%" PRIu64 "\n<td>%" PRIu64, s->zeros,
		s->nan, s->inf);
}

/* The rules that the record broke, each with a link to its finding. */
static void
add_marks(struct inspect *in, uint64_t record)
{
	const struct inspect_mark *m = inspect_marks_of(in, record);
	const struct inspect_mark *end = in->marks + in->nmarks;

	for (; m && m < end && m->record == record; m++) {
		const struct ckpt_diag *d =
			ckpt_run_finding(in->run, (size_t)m->finding);

		if (m->finding < INSPECT_HTML_FINDINGS)
			ckpt_buf_printf(&in->out,
				" <a href=\"#f%" PRIu64 "\">%s</a>", m->finding,
				d->rule->id);
		else
			ckpt_buf_printf(&in->out, " %s", d->rule->id);
	}
}

static void
add_row(struct inspect *in, uint64_t i, struct ckpt_buf *words)
{
	const struct ckpt_span *span = &in->spans.tensors[i];
	bool marked = inspect_marks_of(in, span->index) != NULL;

	ckpt_buf_printf(&in->out, "<tr id=r%" PRIu64 "%s><td>%" PRIu64,
		span->index, marked ? " class=marked" : "", span->index);
	ckpt_buf_puts(&in->out, "\n<th scope=row>");
	ckpt_span_name_write(words, span);
	ckpt_html_take(&in->out, words);
	ckpt_buf_puts(words, span->role);
	add_cell(in, words);
	ckpt_buf_puts(words, span->dtype);
	add_cell(in, words);
	ckpt_span_shape_write(words, span);
	add_cell(in, words);
	ckpt_range_write(words, span->off, span->len);
	add_cell(in, words);
	ckpt_buf_printf(words, "%" PRIu64, span->len);
	add_cell(in, words);
	ckpt_span_status_write(words, span);
	add_cell(in, words);
	add_marks(in, span->index);
	add_stats(in, i);
	ckpt_buf_puts(&in->out, "\n");
	inspect_flush(in, false);
}

static void
open_part(struct inspect *in, uint64_t first)
{
	struct ckpt_buf *out = &in->out;

	if (first > 0)
		ckpt_buf_printf(out,
			"<details class=\"more\"><summary>records from "
			"%" PRIu64 "</summary>\n",
			first);
	ckpt_buf_printf(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"Records from %" PRIu64 "\">\n<table%s>\n"
		"<thead><tr>",
		first, first > 0 ? "" : " id=\"table\"");
	for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
		ckpt_buf_printf(out, "<th scope=\"col\" class=\"%s\">%s",
			columns[k].kind, columns[k].title);
	ckpt_buf_puts(out, "</thead>\n<tbody>\n");
}

static void
close_part(struct inspect *in, uint64_t first)
{
	ckpt_buf_puts(&in->out, "</tbody>\n</table>\n</div>\n");
	if (first > 0)
		ckpt_buf_puts(&in->out, "</details>\n");
}

/* As many rows as the bounds allow; their number. */
static uint64_t
write_rows(struct inspect *in)
{
	uint64_t i, part = 0, n = rows_most(in);
	uint64_t before = in->written + in->out.n;
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	open_part(in, 0);
	for (i = 0; i < n; i++) {
		if (in->written + in->out.n - before >
			INSPECT_HTML_RECORD_BYTES)
			break;
		if (i - part == PART) {
			close_part(in, part);
			part = i;
			open_part(in, part);
		}
		add_row(in, i, &words);
	}
	close_part(in, part);
	ckpt_buf_release(&words);
	return i;
}

static void
write_tables(struct inspect *in)
{
	uint64_t n;

	ckpt_buf_puts(&in->out,
		"<div class=\"tools\" hidden><label for=\"q\">Filter</label>"
		"<input id=\"q\" type=\"search\" autocomplete=\"off\" "
		"spellcheck=\"false\" placeholder=\"name, role, dtype, "
		"status\"><output for=\"q\" id=\"shown\"></output></div>\n");
	n = write_rows(in);
	if (n < in->spans.ntensors)
		ckpt_buf_printf(&in->out,
			"<p class=\"note\">%" PRIu64 " more records are left "
			"out of this page; <code>ckinspect --batch=records"
			"</code> prints them.</p>\n",
			in->spans.ntensors - n);
}

/* Why there is no table. */
static void
write_none(struct inspect *in)
{
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	if (!in->run->format) {
		ckpt_buf_puts(&words, "None: the format is ");
		inspect_format_write(&words, in);
	} else if (ckpt_run_primary(in->run)) {
		ckpt_buf_puts(
			&words, "None: the header could not be read that far.");
	} else {
		ckpt_buf_puts(&words, "The file has none.");
	}
	ckpt_buf_puts(&in->out, "<p class=\"note\">");
	ckpt_html_take(&in->out, &words);
	ckpt_buf_puts(&in->out, "</p>\n");
	ckpt_buf_release(&words);
}

void
inspect_html_records(struct inspect *in)
{
	ckpt_buf_puts(&in->out, "<section id=\"records\">\n<h2>Records</h2>\n");
	if (in->spans.ntensors > 0)
		write_tables(in);
	else
		write_none(in);
	ckpt_buf_puts(&in->out, "</section>\n");
}
