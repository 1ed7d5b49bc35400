/* SPDX-License-Identifier: MIT */
/*
 * Every header field that was decoded, in file order: where, what it is
 * called, what it holds, and what it may hold. The rows of the schema say all
 * of it; with -v also what the field is for.
 */
#include "cli/inspect.h"

#include <inttypes.h>

#include "wire/value.h"

static void
add_row(struct ckpt_table *table, const struct inspect *in,
	const struct ckpt_span_field *field, struct ckpt_buf *cell)
{
	const struct ckpt_diag *d =
		inspect_finding_in(in, field->off, field->len);
	bool good = !d || d->rule->severity != CKPT_ERROR;

	ckpt_table_cellf(table, "%" PRIu64, field->off);
	ckpt_table_cellf(table, "%" PRIu64, field->len);
	ckpt_table_cell(table, field->path);
	ckpt_span_field_write(cell, field);
	ckpt_table_take(table, cell);
	ckpt_want_write(cell, field->want);
	if (d)
		ckpt_buf_printf(cell, "%s<- %s %s", cell->n ? " " : "",
			d->rule->id, d->rule->slug);
	ckpt_table_take(table, cell);
	if (in->verbose)
		ckpt_table_cell(table, field->doc ? field->doc : "");
	ckpt_table_row(table, inspect_color(in, good ? "" : INSPECT_RED),
		inspect_color(in, good ? "" : INSPECT_OFF));
}

void
inspect_fields_text(struct inspect *in)
{
	static const char *const titles[] = { "offset", "length", "path",
		"value", "legal values", "meaning" };
	struct ckpt_table table;
	struct ckpt_buf cell;

	inspect_empty_write(in, "fields", in->spans.nfields);
	if (in->spans.nfields == 0)
		return;
	ckpt_table_init(&table, in->verbose ? "rrllll" : "rrlll");
	ckpt_buf_init(&cell);
	for (size_t i = 0; i < (in->verbose ? 6 : 5); i++)
		ckpt_table_cell(&table, titles[i]);
	ckpt_table_row(&table, inspect_color(in, INSPECT_BOLD),
		inspect_color(in, INSPECT_OFF));
	for (uint64_t i = 0; i < in->spans.nfields; i++)
		if (!(in->spans.fields[i].flags & CKPT_IS_SYNTAX))
			add_row(&table, in, &in->spans.fields[i], &cell);
	ckpt_table_write(&table, &in->out, 0);
	ckpt_table_release(&table);
	ckpt_buf_release(&cell);
}

static json_t *
field_json(const struct ckpt_span_field *field, struct ckpt_buf *text)
{
	json_t *shown, *legal;

	ckpt_span_field_write(text, field);
	shown = ckpt_json_take(text);
	ckpt_want_write(text, field->want);
	legal = ckpt_json_take(text);
	return json_pack("{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:s?}", "offset",
		ckpt_json_u64(field->off), "length", ckpt_json_u64(field->len),
		"path", field->path, "type", ckpt_type_name(field->type),
		"value", ckpt_json_value(&field->value), "text", shown, "legal",
		legal, "tag",
		field->value.kind == CKPT_V_U64
			? ckpt_tag_name(field->want, field->value.u64)
			: NULL);
}

json_t *
inspect_fields_json(struct inspect *in)
{
	json_t *list = json_array();
	struct ckpt_buf text;
	bool ok = list != NULL;

	ckpt_buf_init(&text);
	for (uint64_t i = 0; ok && i < in->spans.nfields; i++)
		if (!(in->spans.fields[i].flags & CKPT_IS_SYNTAX))
			ok = json_array_append_new(list,
				     field_json(&in->spans.fields[i], &text)) ==
			     0;
	ckpt_buf_release(&text);
	if (!ok) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o}", "fields", list);
}
