/* SPDX-License-Identifier: MIT */
/* The header fields in file order: where, what, and what would be legal. */
#include "cli/inspect_html.h"

#include <inttypes.h>

#include "wire/value.h"

static void
add_row(struct inspect *in, const struct ckpt_span_field *field,
	struct ckpt_buf *words)
{
	const struct ckpt_diag *d =
		inspect_finding_in(in, field->off, field->len);
	struct ckpt_buf *out = &in->out;

	ckpt_buf_printf(out,
		"<tr%s><td>%" PRIu64 "\n<td>%" PRIu64 "\n<th scope=row>",
		d ? " class=marked" : "", field->off, field->len);
	ckpt_html_puts(out, field->path);
	ckpt_buf_puts(out, "\n<td>");
	ckpt_span_field_write(words, field);
	ckpt_html_take(out, words);
	ckpt_buf_puts(out, "\n<td>");
	ckpt_want_write(words, field->want);
	ckpt_html_take(out, words);
	ckpt_buf_puts(out, "\n<td>");
	if (d)
		ckpt_buf_printf(out, "%s %s", d->rule->id, d->rule->slug);
	ckpt_buf_puts(out, "\n");
	inspect_flush(in, false);
}

void
inspect_html_fields(struct inspect *in)
{
	uint64_t n = in->spans.nfields;
	struct ckpt_buf words;

	if (n > INSPECT_HTML_FIELDS)
		n = INSPECT_HTML_FIELDS;
	ckpt_buf_printf(&in->out,
		"<section id=\"fields\">\n<h2>Header fields</h2>\n"
		"<details><summary>%" PRIu64 " of %" PRIu64
		" fields, in file order</summary>\n"
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"Header fields\">\n<table>\n<thead><tr>"
		"<th scope=\"col\" class=\"n\">offset"
		"<th scope=\"col\" class=\"n\">length"
		"<th scope=\"col\">path<th scope=\"col\">value"
		"<th scope=\"col\">legal values<th scope=\"col\">finding"
		"</thead>\n<tbody>\n",
		n, in->spans.nfields);
	ckpt_buf_init(&words);
	for (uint64_t i = 0; i < n; i++)
		add_row(in, &in->spans.fields[i], &words);
	ckpt_buf_release(&words);
	ckpt_buf_puts(&in->out, "</tbody>\n</table>\n</div>\n</details>\n");
	if (n < in->spans.nfields)
		ckpt_buf_printf(&in->out,
			"<p class=\"note\">%" PRIu64 " more fields are left "
			"out of this page; <code>ckinspect --batch=fields"
			"</code> prints them.</p>\n",
			in->spans.nfields - n);
	ckpt_buf_puts(&in->out, "</section>\n");
}
