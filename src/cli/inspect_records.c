/* SPDX-License-Identifier: MIT */
/*
 * The records, one row each: what the header claims of a tensor, and whether
 * it begins where the one before it ends. Rows that broke a rule carry its
 * name; the last lines hold the end of the table against the file.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "sink/number.h"

/* "8", "4 bits" */
static void
write_width(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	const struct safetensors_dtype *dtype = ckpt_number_dtype(span);

	if (span->width > 0)
		ckpt_buf_printf(buf, "%u", span->width);
	else if (dtype)
		ckpt_buf_printf(buf, "%u bits", dtype->bits);
	else
		ckpt_buf_puts(buf, "?");
}

/* The bytes of so many elements; false if they are no whole number of them,
 * which is possible only below a byte each. */
static bool
size_of(const struct ckpt_span *span, uint64_t elements, uint64_t *bytes)
{
	const struct safetensors_dtype *dtype = ckpt_number_dtype(span);
	uint64_t bits;

	if (span->width > 0)
		return ckpt_mul_u64(elements, span->width, bytes);
	if (!dtype || !ckpt_mul_u64(elements, dtype->bits, &bits))
		return false;
	*bytes = bits / 8;
	return bits % 8 == 0;
}

/* "8 x 20 = 160": width, elements, bytes; and what was declared instead. */
static void
write_size(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	uint64_t elements, bytes;

	write_width(buf, span);
	if (!ckpt_span_elements(span, &elements)) {
		ckpt_buf_puts(buf, " x beyond 64 bits");
	} else if (size_of(span, elements, &bytes)) {
		ckpt_buf_printf(
			buf, " x %" PRIu64 " = %" PRIu64, elements, bytes);
		if (bytes == span->len)
			return;
	} else {
		ckpt_buf_printf(buf, " x %" PRIu64 "%s", elements,
			span->width > 0 ? " = beyond 64 bits" : "");
	}
	ckpt_buf_printf(buf, ", declared %" PRIu64, span->len);
}

/* "<- CK3004 offset-mismatch (+2)" */
static bool
write_marks(struct ckpt_buf *buf, const struct inspect *in, uint64_t record)
{
	const struct inspect_mark *first = inspect_marks_of(in, record);
	const struct inspect_mark *end = in->marks + in->nmarks, *m = first;
	const struct ckpt_rule *rule;

	if (!first)
		return false;
	rule = ckpt_run_finding(in->run, (size_t)first->finding)->rule;
	ckpt_buf_printf(buf, "<- %s %s", rule->id, rule->slug);
	while (m < end && m->record == record)
		m++;
	if (m - first > 1)
		ckpt_buf_printf(buf, " (+%td)", m - first - 1);
	return rule->severity == CKPT_ERROR;
}

static void
add_row(struct ckpt_table *table, const struct inspect *in,
	const struct ckpt_span *span, struct ckpt_buf *cell)
{
	bool bad;

	ckpt_table_cellf(table, "%" PRIu64, span->index);
	ckpt_table_cell(table, span->role);
	ckpt_span_name_write(cell, span);
	ckpt_table_take(table, cell);
	ckpt_table_cell(table, span->dtype);
	ckpt_span_shape_write(cell, span);
	ckpt_table_take(table, cell);
	write_size(cell, span);
	ckpt_table_take(table, cell);
	ckpt_range_write(cell, span->off, span->len);
	ckpt_table_take(table, cell);
	if (span->expected == CKPT_ANYWHERE)
		ckpt_table_cell(table, "?");
	else
		ckpt_table_cellf(table, "%" PRIu64, span->expected);
	ckpt_span_status_write(cell, span);
	ckpt_table_take(table, cell);
	if (in->verbose) {
		ckpt_range_write(cell, span->record_at, span->record_len);
		ckpt_table_take(table, cell);
	}
	bad = write_marks(cell, in, span->index);
	ckpt_table_take(table, cell);
	ckpt_table_row(table, inspect_color(in, bad ? INSPECT_RED : ""),
		inspect_color(in, bad ? INSPECT_OFF : ""));
}

/* Where the next record would begin, after the last one. */
static bool
table_end(const struct inspect *in, uint64_t *end)
{
	const struct ckpt_spans *spans = &in->spans;

	if (spans->ntensors == 0)
		return false;
	return ckpt_span_end(&spans->tensors[spans->ntensors - 1], end);
}

/* The end that the header's extents give; false if it names none. */
static bool
declared_end(const struct inspect *in, uint64_t *end)
{
	const struct ckpt_run *run = in->run;

	return run->format && run->header_end > 0 &&
	       ckpt_format_declared_end(run->format, run->decoded, end);
}

/* Errors that no row carries: of the extents, of a record that was cut. */
static void
write_others(struct inspect *in)
{
	uint64_t said = 0;

	for (size_t i = 0; i < ckpt_run_finding_count(in->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(in->run, i);
		uint64_t record;

		if (d->rule->severity != CKPT_ERROR ||
			(inspect_record_of(in, d->path, &record) &&
				record < in->spans.ntensors))
			continue;
		if (said++ == 8) {
			ckpt_buf_puts(&in->out, "<- more: --batch=findings\n");
			return;
		}
		ckpt_buf_printf(
			&in->out, "<- %s %s at ", d->rule->id, d->rule->slug);
		ckpt_offset_write(&in->out, d->off);
		ckpt_buf_printf(
			&in->out, "%s%s\n", d->path[0] ? ", " : "", d->path);
	}
}

static void
write_closing(struct inspect *in)
{
	struct ckpt_buf *out = &in->out;
	uint64_t end;

	if (declared_end(in, &end)) {
		ckpt_buf_puts(out, "declared end ");
		ckpt_offset_write(out, end);
	} else {
		ckpt_buf_puts(out, "no declared end");
	}
	if (table_end(in, &end)) {
		ckpt_buf_puts(out, ", last record ends at ");
		ckpt_offset_write(out, end);
	}
	ckpt_buf_printf(out, ", file has %s%" PRIu64 " bytes\n",
		in->run->size_known ? "" : "at least ", in->run->size);
	write_others(in);
	if (in->partial)
		ckpt_buf_puts(out, "verdict: not computed; the payload was not "
				   "read to its end\n");
}

void
inspect_records_text(struct inspect *in)
{
	static const char *const titles[] = { "record", "role", "name", "dtype",
		"shape", "width x elements = bytes", "range", "expected",
		"status", "descriptor" };
	struct ckpt_table table;
	struct ckpt_buf cell;
	size_t columns = in->verbose ? 10 : 9;

	inspect_empty_write(in, in->spans.records, in->spans.ntensors);
	ckpt_table_init(&table, in->verbose ? "rllllllrlll" : "rllllllrll");
	ckpt_buf_init(&cell);
	for (size_t i = 0; i < columns; i++)
		ckpt_table_cell(&table, titles[i]);
	ckpt_table_row(&table, inspect_color(in, INSPECT_BOLD),
		inspect_color(in, INSPECT_OFF));
	for (uint64_t i = 0; i < in->spans.ntensors; i++)
		add_row(&table, in, &in->spans.tensors[i], &cell);
	if (in->spans.ntensors > 0)
		ckpt_table_write(&table, &in->out, 0);
	if (in->run->format)
		write_closing(in);
	ckpt_table_release(&table);
	ckpt_buf_release(&cell);
}

static json_t *
record_json(const struct inspect *in, const struct ckpt_span *span,
	struct ckpt_buf *text)
{
	uint64_t elements;
	json_t *name, *status;

	ckpt_buf_escape(text, span->name, span->name_len, 0);
	name = ckpt_json_take(text);
	ckpt_span_status_write(text, span);
	status = ckpt_json_take(text);
	return json_pack("{s:o, s:s, s:o, s:s, s:s, s:o, s:i, s:o, s:o, s:o, "
			 "s:o, s:o, s:o, s:o}",
		"record", ckpt_json_u64(span->index), "role", span->role,
		"name", name, "label", span->label, "dtype", span->dtype,
		"shape", inspect_json_shape(span), "width", (int)span->width,
		"elements",
		ckpt_span_elements(span, &elements) ? ckpt_json_u64(elements)
						    : json_null(),
		"length", ckpt_json_u64(span->len), "range",
		inspect_json_range(span->off, span->len), "expected",
		span->expected == CKPT_ANYWHERE ? json_null()
						: ckpt_json_u64(span->expected),
		"status", status, "descriptor",
		inspect_json_range(span->record_at, span->record_len), "rules",
		inspect_json_marks(in, span->index));
}

json_t *
inspect_records_json(struct inspect *in)
{
	json_t *list = json_array();
	struct ckpt_buf text;
	uint64_t declared, last;
	bool ok = list != NULL;

	ckpt_buf_init(&text);
	for (uint64_t i = 0; ok && i < in->spans.ntensors; i++)
		ok = json_array_append_new(list,
			     record_json(in, &in->spans.tensors[i], &text)) ==
		     0;
	ckpt_buf_release(&text);
	if (!ok) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o}", "records", list, "declared_end",
		declared_end(in, &declared) ? ckpt_json_u64(declared)
					    : json_null(),
		"last_end",
		table_end(in, &last) ? ckpt_json_u64(last) : json_null());
}
