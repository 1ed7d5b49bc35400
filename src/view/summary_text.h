/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_SUMMARY_TEXT_H
#define CKPT_VIEW_SUMMARY_TEXT_H

#include "base/buf.h"
#include "view/doc.h"

/* What the file holds, in lines. A line with a tab is a label and words that
 * may be wrapped; one without is shown as it is. */
void view_summary_write(struct ckpt_buf *out, const struct view_doc *doc);

#endif
