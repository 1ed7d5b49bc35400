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
void viewing_close(struct viewing *v);

/* Presses the keys of a script (view/keys.h), waiting for the background after
 * each. */
void viewing_keys(struct viewing *v, const char *script);

/* The screen as text; borrowed until the next call. */
const char *viewing_screen(struct viewing *v);

/* Asserts that the screen shows words somewhere, or does not. */
void viewing_shows(struct viewing *v, const char *words);
void viewing_lacks(struct viewing *v, const char *words);

/* Asserts that the screen is that of tests/golden/NAME.txt; with UPDATE_GOLDEN
 * in the environment writes it. */
void viewing_golden(struct viewing *v, const char *name);

#endif
