/* SPDX-License-Identifier: MIT */
/*
 * Drawing the pane of bytes. A byte has the colour of its owner, or that of a
 * fault; the value under the cursor is underlined, and a row where something
 * is wrong begins with a sign. What the file does not give any more is "--".
 */
#include "view/hex.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/compare.h"
#include "view/place.h"
#include "view/spot.h"

/* A frame being drawn. */
struct pen {
	struct view *view;
	struct view_hex *hex;
	const struct view_area *area;
	const struct view_hex_layout *g;
	uint64_t value, value_end; /* bytes of the value under the cursor */
	uint64_t start;            /* from where relative offsets count */
	uint64_t owner_end;        /* up to which the style holds */
	unsigned style;
	uint8_t differs[VIEW_HEX_BYTES]; /* bytes of the row, from the second
					  * file's: not 0 if so */
};

/* Adds a finding to those of the n bytes on the screen. */
static void
add_fault(struct view_hex *h, const struct ckpt_diag *d, uint64_t n)
{
	int *delta = d->rule->severity == CKPT_ERROR ? h->errors : h->warnings;
	uint64_t len = d->len ? d->len : 1, from = 0, end = n;

	if (d->off >= h->top)
		from = d->off - h->top;
	else if (len <= h->top - d->off)
		return;
	else
		len -= h->top - d->off;
	if (from >= n)
		return;
	if (len < n - from)
		end = from + len;
	delta[from]++;
	delta[end]--;
}

static void
find_faults(struct view_hex *h, const struct view_doc *doc,
	const struct view_hex_layout *g)
{
	size_t n = (size_t)g->rows * (size_t)g->bytes;

	memset(h->errors, 0, (n + 1) * sizeof h->errors[0]);
	memset(h->warnings, 0, (n + 1) * sizeof h->warnings[0]);
	h->beyond = false;
	for (size_t i = 0; i < doc->nfindings; i++) {
		const struct ckpt_diag *d = &doc->findings[i];

		if (!view_finding_placed(d))
			continue;
		if (d->off >= doc->size)
			h->beyond = true;
		else
			add_fault(h, d, n);
	}
	for (size_t i = 1; i < n; i++) {
		h->errors[i] += h->errors[i - 1];
		h->warnings[i] += h->warnings[i - 1];
	}
}

static void
draw_title(struct view *view, const struct view_area *area, bool focused)
{
	struct ckpt_buf place = { 0 }, text = { 0 };

	/* The rule is seen at both ends of a title. */
	view_place_write(&place, view, view->cursor,
		area->cols - (int)strlen("- bytes   -"));
	ckpt_buf_puts(&text, "bytes");
	if (place.n > 0)
		ckpt_buf_printf(&text, "  %s", place.p);
	view_title(area, focused, text.failed ? "bytes" : text.p);
	ckpt_buf_release(&place);
	ckpt_buf_release(&text);
}

/* The offset of a row, as wide in all rows. All of them count from the same
 * byte, else two rows could have the same. */
static void
draw_offset(const struct pen *pen, int row, uint64_t off)
{
	const struct view_hex_layout *g = pen->g;
	uint64_t cursor = pen->view->cursor, start = pen->start;
	bool here = cursor >= off && cursor - off < (uint64_t)g->bytes;
	unsigned style = here ? VIEW_BOLD : VIEW_DIM;
	char text[32];
	int pad;

	switch (pen->view->base) {
	case VIEW_HEXADECIMAL:
		snprintf(text, sizeof text, "%s%0*" PRIx64,
			g->prefix ? "0x" : "",
			g->prefix ? g->digits - 2 : g->digits, off);
		break;
	case VIEW_DECIMAL: snprintf(text, sizeof text, "%" PRIu64, off); break;
	case VIEW_RELATIVE:
		snprintf(text, sizeof text, "%c%" PRIu64,
			off < start ? '-' : '+',
			off < start ? start - off : off - start);
		break;
	}
	pad = g->digits - (int)strlen(text);
	view_puts(pen->area, row, 1 + (pad > 0 ? pad : 0), style, text);
}

/* The sign of a row with n bytes that holds a finding. */
static void
draw_sign(const struct pen *pen, int row, uint64_t off, size_t n)
{
	const struct view_hex *h = pen->hex;
	size_t at = (size_t)(row - 1) * (size_t)pen->g->bytes;
	bool warned = h->beyond && n == pen->view->doc->size - off;
	bool error = warned;

	for (size_t i = at; i < at + n; i++) {
		error = error || h->errors[i] > 0;
		warned = warned || h->warnings[i] > 0;
	}
	if (error || warned)
		view_puts(pen->area, row, 0, error ? VIEW_ERROR : VIEW_WARNING,
			"!");
	else if (memchr(pen->differs, 1, n) || memchr(pen->differs, 2, n))
		view_puts(pen->area, row, 0, VIEW_WARNING, "~");
}

/* The style and the marks of a byte. */
static unsigned
look_of(struct pen *pen, size_t at, int i, uint64_t off)
{
	struct view_owner owner;
	unsigned style, marks = 0;

	if (off >= pen->owner_end) {
		view_doc_owner(pen->view->doc, off, &owner);
		pen->style = view_owner_style(&owner);
		pen->owner_end = owner.end > off ? owner.end : off + 1;
	}
	style = pen->style;
	if (off >= pen->value && off < pen->value_end)
		marks |= VIEW_UNDERLINE;
	if (pen->hex->errors[at] > 0 || pen->hex->warnings[at] > 0) {
		style = pen->hex->errors[at] > 0 ? VIEW_ERROR : VIEW_WARNING;
		marks |= VIEW_UNDERLINE;
	}
	if (pen->differs[i] > 0) {
		style = style == VIEW_ERROR ? style : VIEW_WARNING;
		marks |= VIEW_UNDERLINE;
	}
	if (off == pen->view->cursor)
		marks |= VIEW_REVERSE;
	return style | VIEW_MARKS(marks);
}

/* Byte i of a row; NULL: it cannot be read. */
static void
draw_byte(struct pen *pen, int row, int i, uint64_t off, const uint8_t *byte)
{
	const struct view_hex_layout *g = pen->g;
	size_t at = (size_t)(row - 1) * (size_t)g->bytes + (size_t)i;
	unsigned look = look_of(pen, at, i, off), text = look;
	int col = view_hex_column(g, i);
	char c[2] = ".";

	if (!byte) {
		look = (look & ~0xffU) | VIEW_LOST;
		view_puts(pen->area, row, col, look, "--");
		view_puts(pen->area, row, g->text + i, look, " ");
		return;
	}
	view_printf(pen->area, row, col, look, "%02x", *byte);
	if (*byte >= ' ' && *byte <= '~')
		c[0] = (char)*byte;
	else if ((text & 0xff) == pen->style)
		text = (text & ~0xffU) | VIEW_DIM;
	view_puts(pen->area, row, g->text + i, text, c);
	/* The line below a value has no holes. */
	if (i > 0 && off > pen->value && off < pen->value_end)
		view_mark(pen->area, row, view_hex_column(g, i - 1) + 2, col,
			VIEW_UNDERLINE);
}

static void
draw_row(struct pen *pen, int row)
{
	const struct view_hex_layout *g = pen->g;
	uint64_t off = pen->hex->top + (uint64_t)(row - 1) * (uint64_t)g->bytes;
	uint64_t size = pen->view->doc->size;
	uint8_t bytes[VIEW_HEX_BYTES];
	size_t n = (size_t)g->bytes, got;

	if (off >= size)
		return;
	if (n > size - off)
		n = (size_t)(size - off);
	got = view_doc_read(pen->view->doc, off, bytes, n);
	if (!view_compare_bytes(pen->view, off, n, pen->differs))
		memset(pen->differs, 0, sizeof pen->differs);
	draw_sign(pen, row, off, n);
	draw_offset(pen, row, off);
	for (size_t i = 0; i < n; i++)
		draw_byte(
			pen, row, (int)i, off + i, i < got ? &bytes[i] : NULL);
}

void
view_hex_draw(struct view *view, void *state, const struct view_area *area,
	bool focused)
{
	struct view_hex_layout g = view_hex_lay_out(view, area);
	struct pen pen = { .view = view, .hex = state, .area = area, .g = &g };
	struct view_spot spot;

	draw_title(view, area, focused);
	if (view->doc->size == 0) {
		view_puts(area, 1, 1, VIEW_DIM, "the file is empty");
		return;
	}
	view_hex_follow(view, state, &g);
	find_faults(state, view->doc, &g);
	view_spot_at(view->doc, view->cursor, &spot);
	pen.start = spot.owner.span ? spot.owner.span->off : spot.owner.off;
	pen.value = spot.off;
	pen.value_end = spot.len > view->doc->size - spot.off
				? view->doc->size
				: spot.off + spot.len;
	for (int row = 1; row <= g.rows; row++)
		draw_row(&pen, row);
}
