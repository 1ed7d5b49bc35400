/* SPDX-License-Identifier: MIT */
/*
 * Aligned tables for all text output. The cells stand one behind the other in
 * one buffer, so a table of a million rows costs its text and nothing else.
 */
#include "sink/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { GAP = 2 }; /* blanks between columns */

void
ckpt_table_init(struct ckpt_table *table, const char *align)
{
	memset(table, 0, sizeof *table);
	table->columns = strlen(align);
	table->align = align;
	assert(table->columns <= CKPT_TABLE_COLUMNS);
}

void
ckpt_table_release(struct ckpt_table *table)
{
	ckpt_buf_release(&table->cells);
}

/* Characters; a wide one counts as one. */
static size_t
width(const char *text, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; w++) {
		uint32_t point;
		size_t k = ckpt_utf8_decode(
			(const uint8_t *)text + i, n - i, &point);

		i += k ? k : 1;
	}
	return w;
}

static void
add(struct ckpt_table *table, const char *text, size_t n)
{
	size_t w = width(text, n);

	assert(table->cell < table->columns);
	if (w > table->widths[table->cell])
		table->widths[table->cell] = w;
	ckpt_buf_add(&table->cells, text, n);
	ckpt_buf_add(&table->cells, "", 1);
	table->cell++;
}

void
ckpt_table_cell(struct ckpt_table *table, const char *text)
{
	add(table, text, strlen(text));
}

void
ckpt_table_cellf(struct ckpt_table *table, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	add(table, text, strlen(text));
}

void
ckpt_table_take(struct ckpt_table *table, struct ckpt_buf *buf)
{
	if (buf->failed)
		table->cells.failed = true;
	add(table, buf->p ? buf->p : "", buf->n);
	ckpt_buf_clear(buf);
}

void
ckpt_table_row(struct ckpt_table *table, const char *before, const char *after)
{
	const char *around[] = { before ? before : "", after ? after : "" };

	while (table->cell < table->columns)
		add(table, "", 0);
	for (size_t i = 0; i < 2; i++)
		ckpt_buf_add(&table->cells, around[i], strlen(around[i]) + 1);
	table->cell = 0;
}

static void
pad(struct ckpt_buf *out, size_t n)
{
	ckpt_buf_printf(out, "%*s", (int)n, "");
}

/* Blanks are owed until something follows, so no line ends in one. */
static const char *
write_row(const struct ckpt_table *table, struct ckpt_buf *out, size_t indent,
	const char *cell)
{
	const char *before = cell;
	size_t owed = 0;

	for (size_t i = 0; i < table->columns; i++)
		before += strlen(before) + 1;
	pad(out, indent);
	ckpt_buf_puts(out, before);
	for (size_t i = 0; i < table->columns; i++) {
		size_t n = strlen(cell), w = width(cell, n);
		size_t blank = table->widths[i] - w;
		bool right = table->align[i] == 'r';

		if (n > 0) {
			pad(out, owed + (right ? blank : 0));
			ckpt_buf_add(out, cell, n);
			owed = right ? GAP : blank + GAP;
		} else if (table->widths[i] > 0) {
			owed += blank + GAP;
		}
		cell += n + 1;
	}
	cell = before + strlen(before) + 1;
	ckpt_buf_puts(out, cell);
	ckpt_buf_puts(out, "\n");
	return cell + strlen(cell) + 1;
}

void
ckpt_table_write(
	const struct ckpt_table *table, struct ckpt_buf *out, size_t indent)
{
	const char *at = table->cells.p;

	if (table->cells.failed) {
		out->failed = true;
		return;
	}
	while (at && at < table->cells.p + table->cells.n)
		at = write_row(table, out, indent, at);
}
