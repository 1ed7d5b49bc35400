/* SPDX-License-Identifier: MIT */
/*
 * What is wrong, in the words of ckverify: each finding with its place, what
 * was expected and found, the likely cause and the next step.
 */
#include "cli/inspect_html.h"

#include <inttypes.h>

#include "sink/report.h"
#include "sink/text.h"
#include "wire/value.h"

static void
write_row(struct inspect *in, const char *title, struct ckpt_buf *words)
{
	if (words->n == 0)
		return;
	ckpt_buf_printf(&in->out, "<div><dt>%s</dt><dd>", title);
	ckpt_html_take(&in->out, words);
	ckpt_buf_puts(&in->out, "</dd></div>");
}

static void
write_place(struct ckpt_buf *words, const struct ckpt_diag *d)
{
	if (!inspect_finding_placed(d)) {
		ckpt_buf_puts(words, "the file as a whole");
	} else {
		ckpt_buf_puts(words, "at ");
		ckpt_offset_write(words, d->off);
		if (d->len > 0) {
			ckpt_buf_puts(words, ", ");
			inspect_html_count(words, d->len, "byte");
		}
		if (d->path[0])
			ckpt_buf_printf(words, ", %s", d->path);
	}
	if (d->count > 1)
		ckpt_buf_printf(words, ", %" PRIu64 " times", d->count);
	if (d->caused_by)
		ckpt_buf_printf(words, ", caused by %s", d->caused_by->id);
}

static void
write_finding(struct inspect *in, uint64_t i, struct ckpt_buf *words)
{
	const struct ckpt_diag *d = &in->run->diags.list[i];
	const struct ckpt_rule *rule = d->rule;
	const char *next = rule->next,
		   *name = ckpt_severity_name(rule->severity);

	ckpt_buf_printf(&in->out,
		"<li id=\"f%" PRIu64 "\" class=\"%s\"><h3><span>%s</span> %s "
		"%s</h3><p>",
		i, name, name, rule->id, rule->slug);
	ckpt_diag_message(words, d);
	ckpt_html_take(&in->out, words);
	ckpt_buf_puts(&in->out, "</p><dl>");
	write_place(words, d);
	write_row(in, "where", words);
	if (d->expected.kind != CKPT_V_NONE)
		ckpt_value_write(words, &d->expected);
	write_row(in, "expected", words);
	if (d->found.kind != CKPT_V_NONE)
		ckpt_value_write(words, &d->found);
	write_row(in, "found", words);
	ckpt_buf_puts(words, rule->why);
	write_row(in, "likely cause", words);
	if (!next && in->run->format && d->path[0])
		next = "see the place: `ckinspect --at OFFSET FILE`";
	if (next)
		ckpt_text_next(words, next, in->path, d);
	write_row(in, "next", words);
	ckpt_buf_puts(&in->out, "</dl></li>\n");
	inspect_flush(in, false);
}

void
inspect_html_findings(struct inspect *in)
{
	const struct ckpt_diags *diags = &in->run->diags;
	uint64_t n = diags->n, left;
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	if (n > INSPECT_HTML_FINDINGS)
		n = INSPECT_HTML_FINDINGS;
	left = diags->n - n;
	ckpt_buf_puts(
		&in->out, "<section id=\"findings\">\n<h2>Findings</h2>\n");
	if (n == 0)
		ckpt_buf_puts(&in->out, "<p class=\"note\">None.</p>\n");
	else
		ckpt_buf_puts(&in->out, "<ol class=\"findings\">\n");
	for (uint64_t i = 0; i < n; i++)
		write_finding(in, i, &words);
	if (n > 0)
		ckpt_buf_puts(&in->out, "</ol>\n");
	if (left > 0)
		ckpt_buf_printf(&in->out,
			"<p class=\"note\">%" PRIu64 " more are left out of "
			"this page; <code>ckverify</code> prints them.</p>\n",
			left);
	if (diags->suppressed > 0)
		ckpt_buf_printf(&in->out,
			"<p class=\"note\">%" PRIu64 " more findings were not "
			"kept: at most %d of a rule are.</p>\n",
			diags->suppressed, (int)CKPT_DIAGS_PER_RULE);
	ckpt_buf_puts(&in->out, "</section>\n");
	ckpt_buf_release(&words);
}
