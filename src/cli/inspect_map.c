/* SPDX-License-Identifier: MIT */
/*
 * The file from its first byte to its last, in spans that lie side by side:
 * header parts (the fields that share the first element of their path),
 * tensors, and bytes that nobody owns. The spans add up to the file.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

/* "records[3]" of "records[3].dims[1]" */
static size_t
part_length(const char *path)
{
	return strcspn(path, ".");
}

uint64_t
inspect_stretch_next(
	const struct inspect *in, uint64_t i, struct inspect_stretch *s)
{
	const struct ckpt_spans *spans = &in->spans;
	const struct ckpt_owner *o = &spans->owners[i];

	*s = (struct inspect_stretch){
		.first = o, .off = o->off, .end = o->end
	};
	if (o->kind != CKPT_OWNER_FIELD)
		return i + 1;
	s->part = spans->fields[o->index].path;
	s->part_len = part_length(s->part);
	for (i++; i < spans->nowners; i++) {
		const char *path;

		o = &spans->owners[i];
		if (o->kind != CKPT_OWNER_FIELD)
			break;
		path = spans->fields[o->index].path;
		if (part_length(path) != s->part_len ||
			memcmp(path, s->part, s->part_len) != 0)
			break;
		s->end = o->end;
	}
	return i;
}

/* Of a record's own fields, the tensor that they describe. */
static void
write_part(struct ckpt_buf *buf, const struct inspect *in,
	const struct inspect_stretch *s)
{
	uint64_t record;

	ckpt_buf_add(buf, s->part, s->part_len);
	if (!inspect_record_of(in, s->part, &record) ||
		record >= in->spans.ntensors)
		return;
	ckpt_buf_puts(buf, " ");
	ckpt_span_name_write(buf, &in->spans.tensors[record]);
}

void
inspect_stretch_write(struct ckpt_buf *buf, const struct inspect *in,
	const struct inspect_stretch *s)
{
	const struct ckpt_span *span;

	switch (s->first->kind) {
	case CKPT_OWNER_FIELD: write_part(buf, in, s); break;
	case CKPT_OWNER_TENSOR:
		span = &in->spans.tensors[s->first->index];
		ckpt_buf_printf(buf, "%s[%" PRIu64 "].data ", in->spans.records,
			span->index);
		ckpt_span_name_write(buf, span);
		if (s->off != span->off || s->end - s->off != span->len)
			ckpt_buf_printf(buf,
				" (%" PRIu64 " of %" PRIu64 " bytes)",
				s->end - s->off, span->len);
		break;
	case CKPT_OWNER_HEADER:
		ckpt_buf_puts(buf, "header bytes that are no field");
		break;
	case CKPT_OWNER_GAP:
		ckpt_buf_puts(buf, "payload bytes of no tensor");
		break;
	case CKPT_OWNER_NONE:
		ckpt_buf_puts(buf, in->run->format
					   ? "bytes without owner"
					   : "bytes of no known format");
		break;
	}
}

const char *
inspect_stretch_kind(const struct inspect_stretch *s)
{
	return s->part ? "header" : ckpt_owner_kind_name(s->first->kind);
}

void
inspect_map_text(struct inspect *in)
{
	static const char *const titles[] = { "range", "bytes", "kind",
		"owner" };
	struct ckpt_table table;
	struct ckpt_buf cell;
	struct inspect_stretch s;

	if (in->spans.nowners == 0) {
		ckpt_buf_puts(&in->out, "the file is empty\n");
		return;
	}
	ckpt_table_init(&table, "lrll");
	ckpt_buf_init(&cell);
	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		ckpt_table_cell(&table, titles[i]);
	ckpt_table_row(&table, inspect_color(in, INSPECT_BOLD),
		inspect_color(in, INSPECT_OFF));
	for (uint64_t i = 0; i < in->spans.nowners;) {
		bool lost;

		i = inspect_stretch_next(in, i, &s);
		lost = !s.part && s.first->kind != CKPT_OWNER_TENSOR;
		ckpt_range_write(&cell, s.off, s.end - s.off);
		ckpt_table_take(&table, &cell);
		ckpt_table_cellf(&table, "%" PRIu64, s.end - s.off);
		ckpt_table_cell(&table, inspect_stretch_kind(&s));
		inspect_stretch_write(&cell, in, &s);
		ckpt_table_take(&table, &cell);
		ckpt_table_row(&table,
			inspect_color(in, lost ? INSPECT_RED : ""),
			inspect_color(in, lost ? INSPECT_OFF : ""));
	}
	ckpt_table_write(&table, &in->out, 0);
	if (!in->run->size_known)
		ckpt_buf_puts(&in->out, "the file goes on; it was not read to "
					"its end\n");
	ckpt_table_release(&table);
	ckpt_buf_release(&cell);
}

json_t *
inspect_map_json(struct inspect *in)
{
	json_t *list = json_array();
	struct ckpt_buf what;
	struct inspect_stretch s;
	bool ok = list != NULL;

	ckpt_buf_init(&what);
	for (uint64_t i = 0; ok && i < in->spans.nowners;) {
		i = inspect_stretch_next(in, i, &s);
		inspect_stretch_write(&what, in, &s);
		ok = json_array_append_new(list,
			     json_pack("{s:o, s:o, s:s, s:o}", "range",
				     inspect_json_range(s.off, s.end - s.off),
				     "bytes", ckpt_json_u64(s.end - s.off),
				     "kind", inspect_stretch_kind(&s), "owner",
				     ckpt_json_take(&what))) == 0;
	}
	ckpt_buf_release(&what);
	if (!ok) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o}", "spans", list);
}
