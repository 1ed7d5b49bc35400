/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_TEXT_H
#define CKPT_SINK_TEXT_H

/* Results and rules as text for people. */

#include "sink/report.h"

struct ckpt_text_style {
	bool color;
	bool verbose; /* also notes, facts, rules, what the format holds */
	bool first;   /* of the findings only the primary one */
	bool located; /* the damage was searched for: no need to advise it */
};

/* One line for what is good; below it, every finding: what, where, expected
 * and found, likely cause, next step. */
void ckpt_text_result(struct ckpt_buf *buf, const struct ckpt_result *result,
	const struct ckpt_text_style *style);

/* The next step of a rule; FILE and OFFSET become those of the finding. */
void ckpt_text_next(struct ckpt_buf *buf, const char *next, const char *path,
	const struct ckpt_diag *d);

/* The four lists of what a file of a format holds and what it does not. */
void ckpt_text_scope(struct ckpt_buf *buf, const struct ckpt_scope *scope,
	const char *indent);

/* SHA-256 of the file and, indented below it, of each record. */
void ckpt_text_digests(struct ckpt_buf *buf, const struct ckpt_result *result);

/* How many rules passed, failed and were not evaluated; which, and why. */
void ckpt_text_rulings(struct ckpt_buf *buf, const struct ckpt_result *result);

/* What may have happened to the file, ranked, with evidence. */
void ckpt_text_hints(struct ckpt_buf *buf, const struct ckpt_hints *causes);

/* Everything the findings table says of one rule, and the line of a list. */
void ckpt_text_rule(struct ckpt_buf *buf, const struct ckpt_rule *rule);
void ckpt_text_rule_line(struct ckpt_buf *buf, const struct ckpt_rule *rule);

#endif
