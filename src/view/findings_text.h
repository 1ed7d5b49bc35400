/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_FINDINGS_TEXT_H
#define CKPT_VIEW_FINDINGS_TEXT_H

/* Findings in words. */

#include "view/view.h"

/* What is said where there are none. */
const char *view_findings_none(const struct view_doc *doc);
/* "findings: 2 errors, 1 warning; payload not verified (v)" */
void view_findings_title_write(
	struct ckpt_buf *buf, const struct view_doc *doc);
/* "error CK1006 0x1e checksum-mismatch, primary, PATH" */
void view_findings_row_write(
	struct ckpt_buf *buf, struct view *view, const struct ckpt_diag *diag);
/* All there is to say of one, in lines. */
void view_findings_details_write(struct ckpt_buf *buf, const struct view *view,
	const struct ckpt_diag *diag);

#endif
