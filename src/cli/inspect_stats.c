/* SPDX-License-Identifier: MIT */
/*
 * Statistics of every tensor, gathered while the run passes its values by.
 * Elements are added up in the order of the file, in doubles; minimum,
 * maximum, mean and L2 are those of the finite elements. Tensors whose bytes
 * the driver did not read (it knew their place or size to be wrong) have none.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/value.h"

static void
add(struct inspect_stats *s, const struct ckpt_span *span, const uint8_t *p)
{
	uint8_t wide[8] = { 0 };
	double x;

	memcpy(wide, p, span->width);
	x = inspect_number_value(span, ckpt_load_u64(wide));
	s->count++;
	if (isnan(x)) {
		s->nan++;
		return;
	}
	if (isinf(x)) {
		s->inf++;
		return;
	}
	if (s->finite == 0 || x < s->min)
		s->min = x;
	if (s->finite == 0 || x > s->max)
		s->max = x;
	s->finite++;
	s->sum += x;
	s->squares += x * x;
	if (x == 0.0)
		s->zeros++;
	else if (span->width == 8 ? !isnormal(x) : !isnormal((float)x))
		s->denormals++;
}

/* A block of bytes; an element may be cut by its ends. */
static void
add_block(struct inspect_stats *s, const struct ckpt_span *span,
	const uint8_t *p, uint64_t n)
{
	while (n > 0 && s->carried > 0) {
		s->carry[s->carried++] = *p++;
		n--;
		if (s->carried == span->width) {
			s->carried = 0;
			add(s, span, s->carry);
		}
	}
	for (; n >= span->width; p += span->width, n -= span->width)
		add(s, span, p);
	if (n > 0)
		memcpy(s->carry, p, (size_t)n);
	s->carried += (unsigned)n;
}

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
		inspect_number_of(&spans->tensors[event->index]) !=
			INSPECT_OPAQUE)
		add_block(&in->stats[event->index],
			&spans->tensors[event->index], event->data, event->len);
	return CKPT_OK;
}

static const struct inspect_stats *
stats_of(const struct inspect *in, uint64_t i)
{
	return i < in->nstats && in->stats[i].count > 0 ? &in->stats[i] : NULL;
}

static void
add_number(struct ckpt_table *table, const struct inspect_stats *s, double x)
{
	if (s->finite == 0)
		ckpt_table_cell(table, "-");
	else
		ckpt_table_cellf(table, "%.6g", x);
}

static void
add_row(struct ckpt_table *table, const struct inspect *in, uint64_t i,
	struct ckpt_buf *cell)
{
	const struct ckpt_span *span = &in->spans.tensors[i];
	const struct inspect_stats *s = stats_of(in, i);
	bool bad = s && s->finite < s->count;

	ckpt_table_cellf(table, "%" PRIu64, span->index);
	inspect_name_write(cell, span);
	ckpt_table_take(table, cell);
	ckpt_table_cell(table, span->dtype);
	if (s) {
		const uint64_t counts[] = { s->zeros, s->denormals, s->nan,
			s->inf };

		ckpt_table_cellf(table, "%" PRIu64, s->count);
		add_number(table, s, s->min);
		add_number(table, s, s->max);
		add_number(table, s, s->sum / (double)s->finite);
		add_number(table, s, sqrt(s->squares));
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

	inspect_empty_write(in, in->records, in->spans.ntensors);
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
finite_json(const struct inspect_stats *s, double x)
{
	return s->finite > 0 ? inspect_json_f64(x) : json_null();
}

static json_t *
tensor_json(const struct inspect *in, uint64_t i)
{
	static const struct inspect_stats none;
	const struct ckpt_span *span = &in->spans.tensors[i];
	const struct inspect_stats *s = stats_of(in, i);
	struct ckpt_buf name;
	json_t *text;
	bool read = s || span->len == 0;

	ckpt_buf_init(&name);
	inspect_name_write(&name, span);
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
		finite_json(s, s->sum / (double)s->finite), "l2",
		finite_json(s, sqrt(s->squares)), "zeros",
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
