/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_INSPECT_HTML_H
#define CKPT_CLI_INSPECT_HTML_H

/*
 * The page of --html in pieces, one file each. Every piece appends to in->out
 * and calls inspect_flush(in, false) now and then, so that a page of any size
 * needs little memory. What a piece leaves out it says.
 *
 * Words that hold bytes of the file are made by the writers that escape them,
 * in a buffer of their own, and get into the page by ckpt_html_take().
 */

#include "cli/inspect.h"
#include "sink/html.h"

enum {
	INSPECT_HTML_FINDINGS = 1000,
	INSPECT_HTML_RECORDS = 100000,
	INSPECT_HTML_RECORD_BYTES = 40 * 1000 * 1000, /* of their table */
	INSPECT_HTML_HISTOGRAMS = 2000,
	INSPECT_HTML_FIELDS = 5000,
};

/* "1 record", "38 records" */
void inspect_html_count(struct ckpt_buf *buf, uint64_t n, const char *what);

/* A link to the row of a record, if it has one, else its name alone. */
void inspect_html_link(struct inspect *in, const struct ckpt_span *span);

void inspect_html_map(struct inspect *in);
void inspect_html_findings(struct inspect *in);
void inspect_html_records(struct inspect *in);
void inspect_html_histograms(struct inspect *in);
void inspect_html_fields(struct inspect *in);
void inspect_html_scope(struct inspect *in);

/* What the page looks like, and what makes it filter and sort. */
extern const char *const inspect_html_style[];
extern const char *const inspect_html_script[];

#endif
