/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_TABLE_H
#define CKPT_SINK_TABLE_H

/*
 * Aligned text: cells row by row, then all at once with every column as wide
 * as its widest cell. Cells hold printable text: what came from a file was
 * escaped before.
 */

#include "base/buf.h"

enum { CKPT_TABLE_COLUMNS = 16 };

struct ckpt_table {
	size_t columns;
	const char *align;     /* a letter a column: 'l' or 'r' */
	struct ckpt_buf cells; /* each ends in NUL */
	size_t widths[CKPT_TABLE_COLUMNS];
	size_t cell; /* of the row that is being filled */
};

/* At most CKPT_TABLE_COLUMNS letters; align is static. */
void ckpt_table_init(struct ckpt_table *table, const char *align);
void ckpt_table_release(struct ckpt_table *table);

/* The next cell, left to right. */
void ckpt_table_cell(struct ckpt_table *table, const char *text);
void ckpt_table_cellf(struct ckpt_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The next cell takes what buf holds and empties it. */
void ckpt_table_take(struct ckpt_table *table, struct ckpt_buf *buf);

/* Ends the row; cells that were not given are empty. before and after stand
 * around its line and take no room (colours); static, NULL for nothing. */
void ckpt_table_row(
	struct ckpt_table *table, const char *before, const char *after);

/* All rows, each indented. */
void ckpt_table_write(
	const struct ckpt_table *table, struct ckpt_buf *out, size_t indent);

#endif
