/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_VIEWING_H
#define CKPT_TESTS_VIEWING_H

/* The viewer without a terminal: a file, keys in, a screen out as text. */

#include "view/view.h"

struct viewing {
	struct view_doc doc;
	struct view view;
	struct ckpt_buf text;
	char path[64]; /* of the temporary file, if there is one */
};

/* Opens a file, or n bytes put into a temporary file (path is NULL then), and
 * waits until the background is done. The screen has rows and cols. */
void viewing_open(struct viewing *v, const char *path, int rows, int cols);
void viewing_bytes(
	struct viewing *v, const void *bytes, size_t n, int rows, int cols);
/* n bytes of no format: what one is can be told from where it is. */
void viewing_pattern(struct viewing *v, size_t n, int rows, int cols);
uint8_t viewing_pattern_at(uint64_t off);
void viewing_close(struct viewing *v);

/* Presses the keys of a script (view/keys.h), waiting for the background after
 * each. */
void viewing_keys(struct viewing *v, const char *script);

/* The screen as text; borrowed until the next call. */
const char *viewing_screen(struct viewing *v);

/* A cell of a pane, and a row of it as text, as they were drawn last; the text
 * is borrowed until the next call. */
const struct view_cell *viewing_cell(
	const struct viewing *v, enum view_pane_id pane, int row, int col);
const char *viewing_row(struct viewing *v, enum view_pane_id pane, int row);

/* Where the header field of this path begins. */
uint64_t viewing_field(const struct viewing *v, const char *path);

/* Asserts that the screen shows words somewhere, or does not. */
void viewing_shows(struct viewing *v, const char *words);
void viewing_lacks(struct viewing *v, const char *words);

/* Asserts that the screen is that of tests/golden/NAME.txt; with UPDATE_GOLDEN
 * in the environment writes it. */
void viewing_golden(struct viewing *v, const char *name);

#endif
