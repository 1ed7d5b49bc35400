/* SPDX-License-Identifier: MIT */
/*
 * Findings in words: the title, the rows and the details of the pane, in the
 * words of ckverify.
 */
#include "view/findings_text.h"

#include <inttypes.h>
#include <string.h>

#include "sink/report.h"
#include "sink/text.h"
#include "view/spot.h"
#include "wire/value.h"

const char *
view_findings_none(const struct view_doc *doc)
{
	switch (doc->stage) {
	case VIEW_READING: return "none so far: the header is being read";
	case VIEW_VERIFYING: return "none so far: the payload is being read";
	case VIEW_PAUSED:
		return "none so far: the payload was not verified (v)";
	case VIEW_VERIFIED: break;
	}
	return "none";
}

/* "findings: 2 errors, 1 warning; payload not verified (v)" */
void
view_findings_title_write(struct ckpt_buf *buf, const struct view_doc *doc)
{
	size_t counts[CKPT_ERROR + 1] = { 0 };
	const char *before = ": ";
	const char *more = doc->stage == VIEW_VERIFIED ? ""
			   : doc->stage == VIEW_PAUSED
				   ? "; payload not verified (v)"
				   : "; more may come";

	for (size_t i = 0; i < doc->nfindings; i++)
		counts[doc->findings[i].rule->severity]++;
	ckpt_buf_puts(buf, "findings");
	if (doc->nfindings == 0)
		return;
	for (size_t i = CKPT_ERROR + 1; i-- > 0;) {
		if (counts[i] == 0)
			continue;
		ckpt_buf_printf(buf, "%s%zu %s%s", before, counts[i],
			ckpt_severity_name((enum ckpt_severity)i),
			counts[i] == 1 ? "" : "s");
		before = ", ";
	}
	if (doc->run && doc->run->diags.suppressed > 0)
		ckpt_buf_printf(buf, ", %" PRIu64 " not listed",
			doc->run->diags.suppressed);
	ckpt_buf_puts(buf, more);
}

/* What tells findings apart comes first, because rows are cut. */
void
view_findings_row_write(
	struct ckpt_buf *buf, struct view *view, const struct ckpt_diag *d)
{
	ckpt_buf_printf(buf, "%s %s ", ckpt_severity_name(d->rule->severity),
		d->rule->id);
	if (view_finding_placed(d)) {
		if (view->base == VIEW_HEXADECIMAL)
			ckpt_buf_printf(buf, "0x%" PRIx64, d->off);
		else
			view_offset_write(buf, view, d->off);
		ckpt_buf_puts(buf, " ");
	}
	ckpt_buf_puts(buf, d->rule->slug);
	if (d == view->doc->primary)
		ckpt_buf_puts(buf, ", primary");
	if (d->path[0]) {
		ckpt_buf_puts(buf, ", ");
		ckpt_buf_escape(buf, d->path, strlen(d->path), 0);
	}
	if (d->count > 1)
		ckpt_buf_printf(buf, ", %" PRIu64 " times", d->count);
	if (d->caused_by)
		ckpt_buf_printf(buf, ", caused by %s", d->caused_by->id);
}

/* The lines about one finding, with line feeds between them. */
void
view_findings_details_write(struct ckpt_buf *buf, const struct view *view,
	const struct ckpt_diag *d)
{
	bool expected = d->expected.kind != CKPT_V_NONE;

	ckpt_diag_message(buf, d);
	if (expected) {
		ckpt_buf_puts(buf, "\nexpected ");
		ckpt_value_write(buf, &d->expected);
	}
	if (d->found.kind != CKPT_V_NONE) {
		ckpt_buf_puts(buf, expected ? ", found " : "\nfound ");
		ckpt_value_write(buf, &d->found);
	}
	if (view_finding_visit(d))
		ckpt_buf_printf(buf, "\neach of them: %s, then n",
			view_finding_visit(d));
	ckpt_buf_printf(buf, "\nlikely cause: %s", d->rule->why);
	if (!d->rule->next)
		return;
	ckpt_buf_puts(buf, "\nnext: ");
	ckpt_text_next(buf, d->rule->next, view->doc->path, d);
}
