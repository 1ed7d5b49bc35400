/* SPDX-License-Identifier: MIT */
/*
 * The records in a few rows: of the tokenizer the first, those between, and
 * the last; then the first parameter; then everything else together. A row's
 * range runs from its first byte to its last, also where records inside it
 * leave gaps or overlap, which is said.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"

enum { ROWS_MOST = 5 };

struct group {
	uint64_t first, last; /* records, both in */
	bool tokens;          /* of the tokenizer, more than one */
	bool rest;
	uint64_t values, bytes;
	bool values_fit; /* else more than 64 bits hold */
	uint64_t off, end;
	bool contiguous;
};

static void
measure(const struct inspect *in, struct group *g)
{
	g->off = UINT64_MAX;
	g->values_fit = g->contiguous = true;
	for (uint64_t i = g->first; i <= g->last; i++) {
		const struct ckpt_span *s = &in->spans.tensors[i];
		uint64_t n, end;

		g->values_fit = g->values_fit && ckpt_span_elements(s, &n) &&
				ckpt_add_u64(g->values, n, &g->values) &&
				ckpt_add_u64(g->bytes, s->len, &g->bytes);
		if (!ckpt_span_end(s, &end))
			end = UINT64_MAX;
		if (i > g->first && s->off != s->expected &&
			s->expected != CKPT_ANYWHERE)
			g->contiguous = false;
		if (s->off < g->off)
			g->off = s->off;
		if (end > g->end)
			g->end = end;
	}
}

static size_t
divide(const struct inspect *in, struct group rows[ROWS_MOST])
{
	const struct ckpt_spans *spans = &in->spans;
	uint64_t n = spans->ntensors, tokens = 0;
	size_t k = 0;

	while (tokens < n &&
		spans->tensors[tokens].class_ == CKPT_TENSOR_TOKENIZER)
		tokens++;
	if (tokens > 0)
		rows[k++] = (struct group){ .first = 0, .last = 0 };
	if (tokens > 2)
		rows[k++] = (struct group){
			.first = 1, .last = tokens - 2, .tokens = true
		};
	if (tokens > 1)
		rows[k++] = (struct group){ .first = tokens - 1,
			.last = tokens - 1 };
	if (tokens < n &&
		spans->tensors[tokens].class_ == CKPT_TENSOR_PARAMETER) {
		rows[k++] = (struct group){ .first = tokens, .last = tokens };
		tokens++;
	}
	if (tokens < n)
		rows[k++] = (struct group){
			.first = tokens, .last = n - 1, .rest = true
		};
	for (size_t i = 0; i < k; i++)
		measure(in, &rows[i]);
	return k;
}

static void
write_bare(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	ckpt_buf_escape(buf, span->name, span->name_len, 80);
}

/* "tokens 1 to 3", "32 tensor records / 412 scalar values" */
static void
write_what(
	struct ckpt_buf *buf, const struct inspect *in, const struct group *g)
{
	const struct ckpt_span *first = &in->spans.tensors[g->first];
	uint64_t n = g->last - g->first + 1;

	if (g->tokens && n > 1) {
		ckpt_buf_puts(buf, "tokens ");
		write_bare(buf, first);
		ckpt_buf_puts(buf, " to ");
		write_bare(buf, &in->spans.tensors[g->last]);
	} else if (g->rest) {
		ckpt_buf_printf(buf, "%" PRIu64 " tensor record%s / ", n,
			n == 1 ? "" : "s");
		if (g->values_fit)
			ckpt_buf_printf(
				buf, "%" PRIu64 " scalar values", g->values);
		else
			ckpt_buf_puts(buf, "more than 64 bits of values");
	} else if (first->label[0]) {
		ckpt_buf_puts(buf, "token ");
		write_bare(buf, first);
	} else {
		ckpt_span_name_write(buf, first);
	}
	ckpt_buf_printf(buf, " [%" PRIu64 ",%" PRIu64 ")", g->off, g->end);
	if (!g->contiguous)
		ckpt_buf_puts(buf, ", with gaps or overlaps");
}

/* The common dtype of a group's records, or "mixed". */
static const char *
dtype_of(const struct inspect *in, const struct group *g)
{
	const char *dtype = in->spans.tensors[g->first].dtype;

	for (uint64_t i = g->first; i <= g->last; i++)
		if (strcmp(in->spans.tensors[i].dtype, dtype) != 0)
			return "mixed";
	return dtype;
}

static void
add_row(struct ckpt_table *table, const struct inspect *in,
	const struct group *g, struct ckpt_buf *cell)
{
	const struct ckpt_span *first = &in->spans.tensors[g->first];

	ckpt_buf_printf(cell, "%" PRIu64, g->first);
	if (g->last > g->first)
		ckpt_buf_printf(cell, "-%" PRIu64, g->last);
	ckpt_table_take(table, cell);
	ckpt_table_cell(table, g->first == g->last ? first->role
			       : g->tokens         ? first->role
						   : "");
	ckpt_table_cell(table, dtype_of(in, g));
	if (g->first == g->last)
		ckpt_span_shape_write(cell, first);
	ckpt_table_take(table, cell);
	if (g->values_fit)
		ckpt_table_cellf(table, "%" PRIu64, g->bytes);
	else
		ckpt_table_cell(table, "beyond 64 bits");
	write_what(cell, in, g);
	ckpt_table_take(table, cell);
	ckpt_table_row(table, NULL, NULL);
}

static bool
has_no_roles(const struct inspect *in)
{
	return in->run->format && in->run->format->named;
}

void
inspect_groups_text(struct inspect *in)
{
	static const char *const titles[] = { "records", "role", "dtype",
		"shape", "bytes", "group" };
	struct group rows[ROWS_MOST];
	struct ckpt_table table;
	struct ckpt_buf cell;
	size_t n;

	if (has_no_roles(in)) {
		inspect_tree_text(in);
		return;
	}
	n = divide(in, rows);
	inspect_empty_write(in, in->spans.records, n);
	if (n == 0)
		return;
	ckpt_table_init(&table, "llllrl");
	ckpt_buf_init(&cell);
	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		ckpt_table_cell(&table, titles[i]);
	ckpt_table_row(&table, inspect_color(in, INSPECT_BOLD),
		inspect_color(in, INSPECT_OFF));
	for (size_t i = 0; i < n; i++)
		add_row(&table, in, &rows[i], &cell);
	ckpt_table_write(&table, &in->out, 0);
	ckpt_table_release(&table);
	ckpt_buf_release(&cell);
}

static json_t *
group_json(const struct inspect *in, const struct group *g)
{
	struct ckpt_buf text;
	json_t *what;

	ckpt_buf_init(&text);
	write_what(&text, in, g);
	what = ckpt_json_take(&text);
	ckpt_buf_release(&text);
	return json_pack("{s:[o, o], s:o, s:s, s:o, s:o, s:[o, o], s:b}",
		"records", ckpt_json_u64(g->first), ckpt_json_u64(g->last),
		"group", what, "dtype", dtype_of(in, g), "values",
		g->values_fit ? ckpt_json_u64(g->values) : json_null(), "bytes",
		g->values_fit ? ckpt_json_u64(g->bytes) : json_null(), "range",
		ckpt_json_u64(g->off), ckpt_json_u64(g->end), "contiguous",
		(int)g->contiguous);
}

json_t *
inspect_groups_json(struct inspect *in)
{
	struct group rows[ROWS_MOST];
	json_t *list;
	size_t n;

	if (has_no_roles(in))
		return inspect_tree_json(in);
	n = divide(in, rows);
	list = json_array();
	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(list, group_json(in, &rows[i])) !=
			0) {
			json_decref(list);
			return NULL;
		}
	return json_pack("{s:o}", "groups", list);
}
