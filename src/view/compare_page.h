/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_COMPARE_PAGE_H
#define CKPT_VIEW_COMPARE_PAGE_H

/* The page of the comparison, between the files that make it. */

#include "view/compare.h"
#include "view/lines.h"

enum view_compare_kind {
	VIEW_COMPARE_HEAD,   /* of the columns */
	VIEW_COMPARE_RECORD, /* at: of the first file */
	VIEW_COMPARE_ONLY,   /* at: a record of the second alone */
	VIEW_COMPARE_FIELD,  /* at: among the fields that are unlike */
};

struct view_compare_entry {
	enum view_compare_kind kind;
	uint32_t at;
};

struct view_compare_page {
	struct view *view;
	struct view_compare_entry *entries; /* the table; owned */
	size_t n, room;
	/* Of it the entries that differ, from the second one on; where records
	 * stand in it, and where the fields begin. */
	size_t differing;
	uint32_t *rows; /* owned; a number for each record */
	uint64_t nrows;
	size_t first_field;
	uint64_t matchings;      /* for which it was made */
	uint64_t cursor;         /* to which a row was selected */
	bool placed;             /* a row of the table was selected once */
	struct view_lines lines; /* above it */
	size_t selected, top;    /* among lines and entries together */
	int height;
	uint64_t shown; /* progress that was drawn, percent */
	/* How many records there are of each. */
	uint64_t counts[VIEW_ABSENT + 1];
};

/* ---- compare_list.c -- */

/* Makes the table anew, and selects in it what was selected before. */
void view_compare_list(
	struct view_compare_page *page, const struct view_compare *compare);
/* Makes the lines above it. */
void view_compare_say(
	struct view *view, struct view_compare_page *page, int cols);
/* The entry of what owns a byte of the first file; false if there is none. */
bool view_compare_find(const struct view_compare_page *page, struct view *view,
	uint64_t off, size_t *entry);
/* The selected row of the table, or NULL. */
const struct view_compare_entry *view_compare_selected(
	const struct view_compare_page *page);
unsigned view_compare_percent(const struct view_compare *compare);

/* ---- compare_draw.c -- */

/* The title, with both paths. */
void view_compare_draw_head(
	struct view *view, const struct view_area *area, bool focused);
/* A row of the table; columns 0 and 1 are left alone. */
void view_compare_draw_entry(struct view *view,
	const struct view_compare_entry *entry, const struct view_area *area,
	int at);

enum { VIEW_COMPARE_BLOCK = 6 };

/* What a row is about, and the bytes around the cursor: the first file's above
 * the second's, with a sign below those that differ. entry may be NULL. */
void view_compare_draw_block(struct view *view,
	const struct view_compare_entry *entry, const struct view_area *area);

/* The records of an entry, or NULL. */
void view_compare_spans(const struct view *view,
	const struct view_compare_entry *entry, const struct ckpt_span **first,
	const struct ckpt_span **second);
/* Its fields, or NULL. */
void view_compare_fields(const struct view *view,
	const struct view_compare_entry *entry,
	const struct ckpt_span_field **first,
	const struct ckpt_span_field **second);

#endif
