/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_DRAFT_PARTS_H
#define CKPT_FORMAT_DRAFT_PARTS_H

/* The parts of ckpt_draft_apply() that stand in files of their own. */

#include "format/draft.h"

/* CKPT_EDIT_BAD, and why; static. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_draft_bad(
	struct ckpt_draft *draft, const char *why);

/* Once all fields stand. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_draft_edit_bytes(
	struct ckpt_draft *draft, enum ckpt_draft_edit edit, const char *words);

/* Fields of a header that is text. */
CKPT_MUST_USE enum ckpt_edit_status ckpt_draft_edit_text(
	struct ckpt_draft *draft, enum ckpt_draft_edit edit, const char *words);

/* What follows "records[3].data" in words, and which record that is
 * (UINT32_MAX if there is none); NULL if words name no payload. */
const char *ckpt_draft_payload_path(
	const struct ckpt_draft *draft, const char *words, uint32_t *record);

/* text is "=VALUE", "[j]=VALUE" or "[a,b]=VALUE". */
CKPT_MUST_USE enum ckpt_edit_status ckpt_draft_set_data(
	struct ckpt_draft *draft, uint32_t record, const char *text);

#endif
