/* SPDX-License-Identifier: MIT */
/*
 * Tensors as a tree of their names: the parts that dots divide, a few levels
 * deep, each with what lies below it. A part with one part below it is one
 * with that; numbers stand in the order of numbers. The depth is a constant,
 * so what recurses here is bounded whatever the names are.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"

enum { LEVELS = 3, NAME_MOST = 80, OVERVIEW_ROWS = 24 };

/* Somebody who takes the rows of the tree one by one. */
struct tree {
	const struct inspect *in;
	const uint32_t *order; /* of the tensors by name */
	void (*row)(struct tree *tree, uint64_t begin, uint64_t end,
		size_t from, size_t to, unsigned level);
	uint64_t most, rows; /* no more than most of them, 0: all */
	struct ckpt_table *table;
	struct ckpt_buf *cell;
	json_t *list;
	bool failed;
};

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static size_t
digits(const struct ckpt_span *s, size_t i)
{
	size_t n = 0;

	while (i + n < s->name_len && is_digit(s->name[i + n]))
		n++;
	return n;
}

/* Bytewise, but dots come before all else and numbers are numbers. */
static int
by_name(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_span *sa = ctx, *sb = sa + b;
	size_t i = 0;

	sa += a;
	while (i < sa->name_len && i < sb->name_len) {
		uint8_t ca = sa->name[i], cb = sb->name[i];
		bool start = i == 0 || !is_digit(sa->name[i - 1]);

		if (start && is_digit(ca) && is_digit(cb)) {
			size_t na = digits(sa, i), nb = digits(sb, i);

			if (na != nb && ca != '0' && cb != '0')
				return na < nb ? -1 : 1;
		}
		if (ca != cb) {
			if (ca == '.' || cb == '.')
				return ca == '.' ? -1 : 1;
			return ca < cb ? -1 : 1;
		}
		i++;
	}
	return (sa->name_len > sb->name_len) - (sa->name_len < sb->name_len);
}

static const struct ckpt_span *
span_at(const struct tree *t, uint64_t i)
{
	return &t->in->spans.tensors[t->order[i]];
}

/* Where the part that begins at from ends: at a dot, or with the name. */
static size_t
part_end(const struct ckpt_span *s, size_t from)
{
	while (from < s->name_len && s->name[from] != '.')
		from++;
	return from;
}

static bool
same_part(const struct ckpt_span *a, const struct ckpt_span *b, size_t from)
{
	size_t end = part_end(a, from);

	return end == part_end(b, from) &&
	       memcmp(a->name + from, b->name + from, end - from) == 0;
}

/* The tensors from begin on that have the same part at from; the end of them.
 * Names that end where the part begins stand alone. */
static uint64_t
gather(const struct tree *t, uint64_t begin, uint64_t end, size_t from)
{
	const struct ckpt_span *first = span_at(t, begin);
	uint64_t i = begin + 1;

	while (i < end && first->name_len >= from &&
		span_at(t, i)->name_len >= from &&
		same_part(first, span_at(t, i), from))
		i++;
	return i;
}

static void
walk(struct tree *t, uint64_t begin, uint64_t end, size_t from, unsigned level)
{
	for (uint64_t i = begin, next; i < end && !t->failed; i = next) {
		const struct ckpt_span *s = span_at(t, i);
		size_t to = part_end(s, from);

		if (t->most && t->rows == t->most)
			return;
		t->rows++;
		next = gather(t, i, end, from);
		if (next - i == 1) {
			t->row(t, i, next, from, s->name_len, level);
			continue;
		}
		/* Parts that all of them share are one. */
		while (to < s->name_len && gather(t, i, next, to + 1) == next)
			to = part_end(s, to + 1);
		t->row(t, i, next, from, to, level);
		if (level + 1 < LEVELS && to < s->name_len)
			walk(t, i, next, to + 1, level + 1);
	}
}

/* ---- Rows --------------------------------------------------------------- */

struct sums {
	uint64_t values, bytes;
	bool fit;
	const char *dtype;
};

static struct sums
add_up(const struct tree *t, uint64_t begin, uint64_t end)
{
	struct sums sums = { .fit = true, .dtype = span_at(t, begin)->dtype };

	for (uint64_t i = begin; i < end; i++) {
		const struct ckpt_span *s = span_at(t, i);
		uint64_t n;

		sums.fit = sums.fit && ckpt_span_elements(s, &n) &&
			   ckpt_add_u64(sums.values, n, &sums.values) &&
			   ckpt_add_u64(sums.bytes, s->len, &sums.bytes);
		if (strcmp(s->dtype, sums.dtype) != 0)
			sums.dtype = "mixed";
	}
	return sums;
}

static void
sum_cell(struct ckpt_table *table, bool fit, uint64_t sum)
{
	if (fit)
		ckpt_table_cellf(table, "%" PRIu64, sum);
	else
		ckpt_table_cell(table, "beyond 64 bits");
}

static void
text_row(struct tree *t, uint64_t begin, uint64_t end, size_t from, size_t to,
	unsigned level)
{
	const struct ckpt_span *s = span_at(t, begin);
	struct sums sums = add_up(t, begin, end);

	ckpt_buf_printf(t->cell, "%*s", (int)(2 * level), "");
	ckpt_buf_escape(t->cell, s->name + from, to - from, NAME_MOST);
	if (to == from)
		ckpt_buf_puts(t->cell, "\"\"");
	if (end - begin > 1 && to < s->name_len)
		ckpt_buf_puts(t->cell, ".");
	ckpt_table_take(t->table, t->cell);
	ckpt_table_cellf(t->table, "%" PRIu64, end - begin);
	ckpt_table_cell(t->table, sums.dtype);
	if (end - begin == 1)
		ckpt_span_shape_write(t->cell, s);
	ckpt_table_take(t->table, t->cell);
	sum_cell(t->table, sums.fit, sums.values);
	sum_cell(t->table, sums.fit, sums.bytes);
	ckpt_table_row(t->table, NULL, NULL);
}

static void
json_row(struct tree *t, uint64_t begin, uint64_t end, size_t from, size_t to,
	unsigned level)
{
	const struct ckpt_span *s = span_at(t, begin);
	struct sums sums = add_up(t, begin, end);

	t->failed |=
		json_array_append_new(t->list,
			json_pack("{s:o, s:i, s:o, s:s, s:o, s:o, s:o}", "name",
				ckpt_json_escaped(s->name + from, to - from),
				"level", (int)level, "tensors",
				ckpt_json_u64(end - begin), "dtype", sums.dtype,
				"shape",
				end - begin == 1 ? inspect_json_shape(s)
						 : json_null(),
				"values",
				sums.fit ? ckpt_json_u64(sums.values)
					 : json_null(),
				"bytes",
				sums.fit ? ckpt_json_u64(sums.bytes)
					 : json_null())) != 0;
}

void
inspect_tree_text(struct inspect *in)
{
	static const char *const titles[] = { "name", "tensors", "dtype",
		"shape", "values", "bytes" };
	struct tree tree = { .in = in, .row = text_row };
	struct ckpt_table table;
	struct ckpt_buf cell;

	inspect_empty_write(in, in->spans.records, in->spans.ntensors);
	if (in->spans.ntensors == 0)
		return;
	tree.order = ckpt_sorted(&in->spans.arena, in->spans.ntensors, by_name,
		in->spans.tensors);
	if (!tree.order) {
		in->out.failed = true;
		return;
	}
	ckpt_table_init(&table, "lrllrr");
	ckpt_buf_init(&cell);
	tree.table = &table;
	tree.cell = &cell;
	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		ckpt_table_cell(&table, titles[i]);
	ckpt_table_row(&table, inspect_color(in, INSPECT_BOLD),
		inspect_color(in, INSPECT_OFF));
	tree.most = in->section == INSPECT_OVERVIEW ? OVERVIEW_ROWS : 0;
	walk(&tree, 0, in->spans.ntensors, 0, 0);
	ckpt_table_write(&table, &in->out, 0);
	if (tree.most && tree.rows == tree.most)
		ckpt_buf_puts(&in->out, "... (see --batch=groups)\n");
	ckpt_table_release(&table);
	ckpt_buf_release(&cell);
}

json_t *
inspect_tree_json(struct inspect *in)
{
	struct tree tree = { .in = in, .row = json_row };

	tree.order = ckpt_sorted(&in->spans.arena, in->spans.ntensors, by_name,
		in->spans.tensors);
	tree.list = json_array();
	if (tree.order && tree.list)
		walk(&tree, 0, in->spans.ntensors, 0, 0);
	if (!tree.order || tree.failed) {
		json_decref(tree.list);
		return NULL;
	}
	return json_pack("{s:o}", "tree", tree.list);
}
