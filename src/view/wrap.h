/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_WRAP_H
#define CKPT_VIEW_WRAP_H

/* Words in rows, for the panes. */

#include <stddef.h>

/* How many of n bytes of text stand in a row of cols columns: up to a blank,
 * or, of a word that is longer than the row, up to a dot or bracket, so that
 * paths are broken where they have joints. At least a character; the blanks
 * behind it are left out by whoever goes on. */
size_t view_row_bytes(const char *text, size_t n, int cols);

#endif
