/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_GOTO_H
#define CKPT_VIEW_GOTO_H

/* The parts of going to a place that is typed. */

#include "view/view.h"

enum view_went {
	VIEW_WENT_NOT,     /* it is something else, nothing was said */
	VIEW_WENT,         /* the cursor is there */
	VIEW_WENT_NOWHERE, /* it is that, but leads nowhere: that was said */
};

/* goto.c: words and what was typed, as a warning; VIEW_WENT_NOWHERE. */
enum view_went view_went_nowhere(
	struct view *view, const char *words, const char *where);
/* To an offset; says so if it is behind the end. */
enum view_went view_went_to(struct view *view, uint64_t off);
/* Digits, or 0x and digits. False if it is none; what does not fit 64 bits
 * becomes the largest number. */
bool view_number_read(const char *text, uint64_t *number);

/* goto_path.c: a tensor by its name as it is shown or stored, or by a part of
 * it; a record, element or field by its path; a field by a part of its path;
 * what is in a record, behind its name: "NAME[1,2]", "NAME.offset". */
enum view_went view_go_name(struct view *view, const char *where, bool whole);
enum view_went view_go_path(struct view *view, const char *where);
enum view_went view_go_part_of_path(struct view *view, const char *where);
enum view_went view_go_behind_name(struct view *view, const char *where);
/* For those below: to a tensor, which is the first of several that are said
 * to be alike by words; to what stands behind a record. */
enum view_went view_go_tensor(struct view *view, const struct ckpt_span *span,
	size_t of, const char *alike);
enum view_went view_go_record(struct view *view, const struct ckpt_span *span,
	const char *rest, bool by_name);

/* goto_alias.c: a record by its role and name, or by a part of its name. */
enum view_went view_go_alias(struct view *view, const char *where);
enum view_went view_go_part_of_alias(struct view *view, const char *where);

#endif
