/* SPDX-License-Identifier: MIT */
/*
 * Statistics of every tensor, gathered while the run passes its values by
 * (how: sink/stats.h). Tensors whose bytes the driver did not read (it knew
 * their place or size to be wrong) have none.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "wire/value.h"

enum ckpt_status
inspect_stats_event(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct inspect *in = (struct inspect *)(void *)((char *)sink -
							offsetof(struct inspect,
								stats_sink));
	struct ckpt_spans *spans = &in->spans;

	if (event->kind != CKPT_EV_DATA || event->index >= spans->ntensors)
		return CKPT_OK;
	if (!in->stats) {
		in->stats = ckpt_arena_zalloc(&spans->arena,
			(size_t)spans->ntensors * sizeof *in->stats);
		if (!in->stats)
			return CKPT_ELIMIT;
		in->nstats = spans->ntensors;
	}
	if (event->index < in->nstats &&
		ckpt_number_group_of(&spans->tensors[event->index]).dtype)
		ckpt_stats_add(&in->stats[event->index],
			&spans->tensors[event->index], event->data, event->len);
	return CKPT_OK;
}

const struct ckpt_stats *
inspect_stats_of(const struct inspect *in, uint64_t i)
{
	return i < in->nstats && in->stats[i].count > 0 ? &in->stats[i] : NULL;
}

static void
add_number(struct ckpt_table *table, struct ckpt_buf *cell,
	const struct ckpt_stats *s, double x)
{
	if (s->finite == 0)
		ckpt_buf_puts(cell, "-");
	else
		ckpt_stats_write(cell, x);
	ckpt_table_take(table, cell);
}

static void
add_row(struct ckpt_table *table, const struct inspect *in, uint64_t i,
	struct ckpt_buf *cell)
{
	const struct ckpt_span *span = &in->spans.tensors[i];
	const struct ckpt_stats *s = inspect_stats_of(in, i);
	bool bad = s && s->finite < s->count;

	ckpt_table_cellf(table, "%" PRIu64, span->index);
	ckpt_span_name_write(cell, span);
	ckpt_table_take(table, cell);
	ckpt_table_cell(table, span->dtype);
	if (s) {
		const uint64_t counts[] = { s->zeros, s->denormals, s->nan,
			s->inf };

		ckpt_table_cellf(table, "%" PRIu64, s->count);
		add_number(table, cell, s, s->min);
		add_number(table, cell, s, s->max);
		add_number(table, cell, s, ckpt_stats_mean(s));
		add_number(table, cell, s, ckpt_stats_l2(s));
		for (size_t k = 0; k < 4; k++)
			ckpt_table_cellf(table, "%" PRIu64, counts[k]);
	} else {
		ckpt_table_cell(table, span->len == 0 ? "0" : "not read");
	}
	ckpt_table_row(table, inspect_color(in, bad ? INSPECT_RED : ""),
		inspect_color(in, bad ? INSPECT_OFF : ""));
}

void
inspect_stats_text(struct inspect *in)
{
	static const char *const titles[] = { "record", "name", "dtype",
		"count", "min", "max", "mean", "L2", "zeros", "denormals",
		"NaN", "inf" };
	struct ckpt_table table;
	struct ckpt_buf cell;

	inspect_empty_write(in, in->spans.records, in->spans.ntensors);
	if (in->spans.ntensors == 0)
		return;
	ckpt_table_init(&table, "rllrrrrrrrrr");
	ckpt_buf_init(&cell);
	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		ckpt_table_cell(&table, titles[i]);
	ckpt_table_row(&table, inspect_color(in, INSPECT_BOLD),
		inspect_color(in, INSPECT_OFF));
	for (uint64_t i = 0; i < in->spans.ntensors; i++)
		add_row(&table, in, i, &cell);
	ckpt_table_write(&table, &in->out, 0);
	ckpt_table_release(&table);
	ckpt_buf_release(&cell);
}

static json_t *
finite_json(const struct ckpt_stats *s, double x)
{
	return s->finite > 0 ? inspect_json_f64(x) : json_null();
}

static json_t *
tensor_json(const struct inspect *in, uint64_t i)
{
	static const struct ckpt_stats none;
	const struct ckpt_span *span = &in->spans.tensors[i];
	const struct ckpt_stats *s = inspect_stats_of(in, i);
	struct ckpt_buf name;
	json_t *text;
	bool read = s || span->len == 0;

	ckpt_buf_init(&name);
	ckpt_span_name_write(&name, span);
	text = ckpt_json_take(&name);
	ckpt_buf_release(&name);
	if (!s)
		s = &none;
	return json_pack("{s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, "
			 "s:o, s:o, s:o}",
		"record", ckpt_json_u64(span->index), "name", text, "dtype",
		span->dtype, "read", (int)read, "count",
		ckpt_json_u64(s->count), "min", finite_json(s, s->min), "max",
		finite_json(s, s->max), "mean",
		finite_json(s, ckpt_stats_mean(s)), "l2",
		finite_json(s, ckpt_stats_l2(s)), "zeros",
		ckpt_json_u64(s->zeros), "denormals",
		ckpt_json_u64(s->denormals), "nan", ckpt_json_u64(s->nan),
		"inf", ckpt_json_u64(s->inf));
}

json_t *
inspect_stats_json(struct inspect *in)
{
	json_t *list = json_array();
	bool ok = list != NULL;

	for (uint64_t i = 0; ok && i < in->spans.ntensors; i++)
		ok = json_array_append_new(list, tensor_json(in, i)) == 0;
	if (!ok) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o}", "tensors", list);
}
