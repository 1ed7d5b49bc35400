/* SPDX-License-Identifier: MIT */
/*
 * Bytes, sixteen a row, with the paths of their owners. Without a range: the
 * first bytes and the neighbourhood of every finding. The first sixteen bytes
 * are also decoded field by field. Read piece by piece, so a range may be as
 * long as the file.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

enum {
	ROW = 16,
	FIRST_SHOWN = 256,
	NEIGHBOURS = 32, /* bytes on each side of a finding */
	SPOTS_MOST = 32, /* findings whose neighbourhood is shown */
	OWNERS_SHOWN = 3,
};

/* Ranges to be shown, ascending and apart. */
struct plan {
	struct inspect_range ranges[SPOTS_MOST + 1];
	size_t n;
	bool cut; /* there are more findings */
};

static void
plan_range(struct plan *plan, uint64_t off, uint64_t end, uint64_t size)
{
	struct inspect_range *last =
		plan->n > 0 ? &plan->ranges[plan->n - 1] : NULL;

	off -= off % ROW;
	if (end > size)
		end = size;
	if (off >= end)
		return;
	if (last && off <= last->off + last->len) {
		if (end > last->off + last->len)
			last->len = end - last->off;
		return;
	}
	if (plan->n == SPOTS_MOST + 1) {
		plan->cut = true;
		return;
	}
	plan->ranges[plan->n++] = (struct inspect_range){ off, end - off };
}

static void
make_plan(struct plan *plan, const struct inspect *in)
{
	uint64_t size = in->run->size;
	const struct ckpt_diags *diags = &in->run->diags;

	memset(plan, 0, sizeof *plan);
	if (in->has_range) {
		uint64_t off = in->range.off;
		uint64_t left = off < size ? size - off : 0;

		plan->ranges[0] = (struct inspect_range){ off,
			in->range.len < left ? in->range.len : left };
		plan->n = plan->ranges[0].len > 0;
		return;
	}
	plan_range(plan, 0, FIRST_SHOWN, size);
	for (uint64_t i = 0; i < diags->n; i++) {
		const struct ckpt_diag *d = &diags->list[in->by_offset[i]];
		uint64_t off = d->off < size ? d->off : size;
		uint64_t end =
			off + (d->len < NEIGHBOURS ? d->len : NEIGHBOURS);

		if (!inspect_finding_placed(d))
			continue;
		end += NEIGHBOURS - end % ROW;
		plan_range(plan, off < NEIGHBOURS ? 0 : off - NEIGHBOURS, end,
			size);
	}
}

/* Paths of those who own bytes of the row, the first few. */
static void
write_owners(
	struct ckpt_buf *buf, const struct inspect *in, uint64_t off, size_t n)
{
	const struct ckpt_owner *o = ckpt_spans_at(&in->spans, off);
	const struct ckpt_owner *end = in->spans.owners + in->spans.nowners;
	uint64_t stop = off + n;

	for (size_t k = 0; o && o < end && o->off < stop; o++, k++) {
		if (k == OWNERS_SHOWN) {
			ckpt_buf_puts(buf, ", ...");
			return;
		}
		if (k > 0)
			ckpt_buf_puts(buf, ", ");
		ckpt_owner_write(
			buf, &in->spans, o, o->off > off ? o->off : off);
	}
}

static void
write_hex(struct ckpt_buf *buf, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ckpt_buf_printf(buf, "%s%02x", i ? " " : "", p[i]);
}

static void
write_ascii(struct ckpt_buf *buf, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ckpt_buf_add(buf,
			p[i] >= ' ' && p[i] <= '~' ? (const char *)p + i : ".",
			1);
}

static void
write_row(struct inspect *in, uint64_t off, const uint8_t *p, size_t n)
{
	struct ckpt_buf *out = &in->out;
	const struct ckpt_diag *d = inspect_finding_in(in, off, n);
	bool bad = d && d->rule->severity == CKPT_ERROR;

	if (bad)
		ckpt_buf_puts(out, inspect_color(in, INSPECT_RED));
	ckpt_buf_printf(out, "%08" PRIx64 "  ", off);
	write_hex(out, p, n);
	ckpt_buf_printf(out, "%*s  |", (int)(3 * (ROW - n)), "");
	write_ascii(out, p, n);
	ckpt_buf_printf(out, "|%*s  ", (int)(ROW - n), "");
	write_owners(out, in, off, n);
	if (d)
		ckpt_buf_printf(out, "  <- %s %s", d->rule->id, d->rule->slug);
	if (bad)
		ckpt_buf_puts(out, inspect_color(in, INSPECT_OFF));
	ckpt_buf_puts(out, "\n");
}

static void
write_range(struct inspect *in, const struct inspect_range *range)
{
	uint8_t bytes[256 * ROW];
	uint64_t off = range->off, end = range->off + range->len;

	while (off < end) {
		uint64_t left = end - off;
		size_t want = left < sizeof bytes ? (size_t)left : sizeof bytes;
		size_t got = inspect_bytes_get(&in->bytes, off, bytes, want);

		for (size_t i = 0; i < got; i += ROW)
			write_row(in, off + i, bytes + i,
				got - i < ROW ? got - i : ROW);
		off += got;
		if (got < want)
			break;
		inspect_flush(in, false);
	}
	if (off < end)
		ckpt_buf_printf(&in->out,
			"%08" PRIx64 "  (%" PRIu64 " bytes of a pipe were not "
			"kept, or the file became shorter)\n",
			off, end - off);
}

/* The first bytes, a line a field. What is cut is its low part, since the
 * numbers of the wire are little-endian. */
static void
write_prefix(struct inspect *in)
{
	uint8_t p[ROW];
	size_t n = inspect_bytes_get(&in->bytes, 0, p, sizeof p);
	struct ckpt_table table;
	struct ckpt_buf cell;

	ckpt_table_init(&table, "rlll");
	ckpt_buf_init(&cell);
	for (uint64_t i = 0; i < in->spans.nowners; i++) {
		const struct ckpt_owner *o = &in->spans.owners[i];
		uint64_t len = o->end - o->off;

		if (o->off >= n)
			break;
		if (o->kind != CKPT_OWNER_FIELD)
			continue;
		if (len > n - o->off)
			len = n - o->off;
		ckpt_table_cellf(&table, "%" PRIu64, o->off);
		write_hex(&cell, p + o->off, (size_t)len);
		ckpt_table_take(&table, &cell);
		ckpt_table_cell(&table, in->spans.fields[o->index].path);
		ckpt_span_field_write(&cell, &in->spans.fields[o->index]);
		if (len < o->end - o->off)
			ckpt_buf_printf(&cell,
				" (the low %" PRIu64 " of %" PRIu64 " bytes)",
				len, o->end - o->off);
		ckpt_table_take(&table, &cell);
		ckpt_table_row(&table, NULL, NULL);
	}
	if (table.cells.n > 0) {
		ckpt_buf_printf(&in->out, "first %zu bytes\n", n);
		ckpt_table_write(&table, &in->out, 2);
		ckpt_buf_puts(&in->out, "\n");
	}
	ckpt_table_release(&table);
	ckpt_buf_release(&cell);
}

void
inspect_hex_text(struct inspect *in)
{
	struct plan plan;

	make_plan(&plan, in);
	if (!in->has_range)
		write_prefix(in);
	if (plan.n == 0)
		ckpt_buf_puts(&in->out, "the file is empty\n");
	for (size_t i = 0; i < plan.n; i++) {
		if (i > 0)
			ckpt_buf_puts(&in->out, "*\n");
		write_range(in, &plan.ranges[i]);
	}
	if (plan.cut)
		ckpt_buf_puts(&in->out, "* more findings: --batch=findings\n");
}

static json_t *
row_json(const struct inspect *in, uint64_t off, const uint8_t *p, size_t n)
{
	const struct ckpt_diag *d = inspect_finding_in(in, off, n);
	struct ckpt_buf text;
	json_t *hex, *ascii, *owner;

	ckpt_buf_init(&text);
	for (size_t i = 0; i < n; i++)
		ckpt_buf_printf(&text, "%02x", p[i]);
	hex = ckpt_json_take(&text);
	write_ascii(&text, p, n);
	ascii = ckpt_json_take(&text);
	write_owners(&text, in, off, n);
	owner = ckpt_json_take(&text);
	ckpt_buf_release(&text);
	return json_pack("{s:o, s:o, s:o, s:o, s:s?}", "offset",
		ckpt_json_u64(off), "hex", hex, "ascii", ascii, "owner", owner,
		"rule", d ? d->rule->id : NULL);
}

json_t *
inspect_hex_json(struct inspect *in)
{
	json_t *list = json_array();
	struct plan plan;
	uint8_t p[ROW];
	bool ok = list != NULL;

	make_plan(&plan, in);
	for (size_t i = 0; i < plan.n; i++) {
		uint64_t off = plan.ranges[i].off,
			 end = off + plan.ranges[i].len;
		size_t n = 1;

		for (; ok && off < end && n > 0; off += n) {
			size_t want =
				end - off < ROW ? (size_t)(end - off) : ROW;

			n = inspect_bytes_get(&in->bytes, off, p, want);
			if (n > 0)
				ok = json_array_append_new(list,
					     row_json(in, off, p, n)) == 0;
		}
	}
	if (!ok) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o}", "rows", list);
}
