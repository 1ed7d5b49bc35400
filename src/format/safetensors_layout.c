/* SPDX-License-Identifier: MIT */
/*
 * Where the tensors lie: each as long as its shape and dtype require, and all
 * of them side by side, from the beginning of the data to the end of the file.
 * The proof goes through the tensors by (begin, end): what is not exactly
 * behind the tensors before it is a gap or an overlap with one of them.
 */
#include "format/safetensors.h"

#include <string.h>

#include "base/checked.h"
#include "base/sort.h"
#include "format/safetensors_dtype.h"

#define U(x) ((unsigned long long)(x))

static const char *
text_range(struct safetensors_judge *j, uint64_t begin, uint64_t end)
{
	return ckpt_walk_text(&j->walk, "[%llu, %llu)", U(begin), U(end));
}

/* A finding about the offsets of a tensor, at their place in the header. */
static void
report_offsets(struct safetensors_judge *j, const struct safetensors_tensor *t,
	const struct ckpt_report *given)
{
	struct ckpt_report report = *given;

	report.path = safetensors_path(j, t->number, ".data_offsets");
	report.placed = true;
	report.off = safetensors_at(t->offsets_at);
	report.len = safetensors_value_end(j, t->offsets_at) - t->offsets_at;
	ckpt_walk_report(&j->walk, &report);
}

/* ---- Sizes -------------------------------------------------------------- */

/* Of a tensor whose dtype is known. */
static const char *
arithmetic(struct safetensors_judge *j, const struct safetensors_tensor *t)
{
	return ckpt_walk_text(&j->walk, "%s of %s is %llu x %u bits",
		safetensors_shape_text(j, t), t->dtype->name, U(t->elements),
		t->dtype->bits);
}

/* A finding about the shape of a tensor, at its place in the header. */
static void
report_shape(struct safetensors_judge *j, const struct safetensors_tensor *t,
	const struct ckpt_report *given)
{
	struct ckpt_report report = *given;

	report.unit = t->number;
	report.path = safetensors_path(j, t->number, ".shape");
	report.placed = true;
	report.off = safetensors_at(t->shape_at);
	report.len = safetensors_value_end(j, t->shape_at) - t->shape_at;
	ckpt_walk_report(&j->walk, &report);
}

static void
report_overflow(struct safetensors_judge *j, const struct safetensors_tensor *t)
{
	const char *shape = safetensors_shape_text(j, t);

	report_shape(j, t,
		&(struct ckpt_report){ .code = CKPT_D_ST_OVERFLOW,
			.expected = ckpt_v_text(
				"a product below 2^64, from left to right"),
			.found = ckpt_v_text(
				t->dtype ? ckpt_walk_text(&j->walk,
						   "%s x %u bits", shape,
						   t->dtype->bits)
					 : shape),
			.note = ckpt_walk_text(&j->walk, "tensor %s",
				safetensors_quote(j, &t->name)) });
}

static void
judge_size(struct safetensors_judge *j, struct safetensors_tensor *t)
{
	uint64_t bits = 0, len = t->end - t->begin;

	if (t->overflow || (t->dtype && !ckpt_mul_u64(t->elements,
						t->dtype->bits, &bits))) {
		t->overflow = true;
		report_overflow(j, t);
		return;
	}
	if (!t->dtype)
		return;
	if (bits % 8 != 0)
		report_shape(j, t,
			&(struct ckpt_report){ .code = CKPT_D_ST_SUB_BYTE,
				.expected = ckpt_v_text("a multiple of 8 bits"),
				.found = ckpt_v_text(
					safetensors_count(j, bits, "bit")),
				.note = ckpt_walk_text(&j->walk,
					"tensor %s: %s",
					safetensors_quote(j, &t->name),
					arithmetic(j, t)) });
	else if (len != bits / 8)
		report_offsets(j, t,
			&(struct ckpt_report){ .code = CKPT_D_ST_SIZE,
				.unit = t->number,
				.expected = ckpt_v_text(
					safetensors_count(j, bits / 8, "byte")),
				.found = ckpt_v_text(ckpt_walk_text(&j->walk,
					"%s, %s",
					safetensors_count(j, len, "byte"),
					text_range(j, t->begin, t->end))),
				.note = ckpt_walk_text(&j->walk,
					"tensor %s: %s, %s",
					safetensors_quote(j, &t->name),
					arithmetic(j, t),
					safetensors_count(
						j, bits / 8, "byte")) });
}

static void
judge_dtype(struct safetensors_judge *j, const struct safetensors_tensor *t)
{
	const uint8_t *p = j->file->json;
	uint64_t len = safetensors_value_end(j, t->dtype_at) - t->dtype_at;
	uint64_t at = t->dtype_at, end;

	/* The reference profile knows dtypes that are objects: of one key. */
	while (p[at] != '"')
		at++;
	end = safetensors_string_end(j, at);
	j->nunknown++;
	SAFETENSORS_REPORT(j, .code = CKPT_D_ST_DTYPE_UNKNOWN,
		.path = safetensors_path(j, t->number, ".dtype"),
		.off = safetensors_at(t->dtype_at), .len = len,
		.expected = ckpt_v_text("one of the 22 dtypes, as \"F32\""),
		.found = ckpt_v_bytes(p + at + 1, (size_t)(end - at - 2)),
		.note = ckpt_walk_text(
			&j->walk, "tensor %s", safetensors_quote(j, &t->name)));
}

void
safetensors_judge_sizes(struct safetensors_judge *j)
{
	struct safetensors_tensor *tensors = SAFETENSORS_TENSORS(j->file);

	for (uint32_t i = 0; i < j->file->tensors.n; i++) {
		struct safetensors_tensor *t = &tensors[i];

		if (!t->dtype)
			judge_dtype(j, t);
		/* Of what a later entry replaces the loader looks only at the
		 * types of the fields. */
		if (t->replaced && j->reference)
			continue;
		if (t->begin > t->end)
			report_offsets(j, t,
				&(struct ckpt_report){
					.code = CKPT_D_ST_REVERSED,
					.unit = t->number,
					.expected = ckpt_v_text("begin <= end"),
					.found = ckpt_v_text(text_range(
						j, t->begin, t->end)),
					.note = ckpt_walk_text(&j->walk,
						"tensor %s",
						safetensors_quote(
							j, &t->name)) });
		else
			judge_size(j, t);
	}
}

/* ---- Side by side ------------------------------------------------------- */

static int
by_range(const void *ctx, uint32_t a, uint32_t b)
{
	const struct safetensors_tensor *ta = ctx, *tb = ta + b;

	ta += a;
	if (ta->begin != tb->begin)
		return ta->begin < tb->begin ? -1 : 1;
	return (ta->end > tb->end) - (ta->end < tb->end);
}

static bool
set_order(struct safetensors_judge *j)
{
	struct safetensors_file *file = j->file;
	const struct safetensors_tensor *tensors = SAFETENSORS_TENSORS(file);
	struct ckpt_arena *arena = &j->run->arena;
	bool sorted = true;
	uint32_t *order;
	uint32_t n = 0;

	for (uint32_t i = 1; i < file->tensors.n && sorted; i++)
		sorted = by_range(tensors, i - 1, i) <= 0;
	order = ckpt_sorted(
		arena, sorted ? 0 : file->tensors.n, by_range, tensors);
	if (order && sorted)
		order = ckpt_arena_alloc(
			arena, file->tensors.n * sizeof *order);
	if (!order)
		return false;
	for (uint32_t i = 0; i < file->tensors.n; i++) {
		uint32_t k = sorted ? i : order[i];

		if (!tensors[k].replaced)
			order[n++] = k;
	}
	file->order = order;
	file->norder = n;
	return true;
}

/* t does not begin at at, where top, the tensor that reaches furthest, ends;
 * top is NULL in front of the first. */
static void
report_misplaced(struct safetensors_judge *j,
	const struct safetensors_tensor *t,
	const struct safetensors_tensor *top, uint64_t at)
{
	enum ckpt_code code = CKPT_D_ST_OVERLAP;
	const char *other = "";

	if (t->begin > at)
		code = top ? CKPT_D_ST_GAP : CKPT_D_ST_NOT_AT_ZERO;
	else if (t->begin == top->begin && t->end == top->end)
		code = CKPT_D_ST_ALIASED;
	if (top)
		other = ckpt_walk_text(&j->walk, ", tensors[%u] %s has %s",
			top->number, safetensors_quote(j, &top->name),
			text_range(j, top->begin, top->end));
	report_offsets(j, t,
		&(struct ckpt_report){ .code = code,
			.unit = t->begin,
			.sub = t->number,
			.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
				"a tensor that begins at %llu", U(at))),
			.found = ckpt_v_text(ckpt_walk_text(&j->walk,
				"%s, %s %s", text_range(j, t->begin, t->end),
				safetensors_count(j,
					t->begin > at ? t->begin - at
						      : at - t->begin,
					"byte"),
				t->begin > at ? "of no tensor" : "too early")),
			.note = ckpt_walk_text(&j->walk, "tensor %s has %s%s",
				safetensors_quote(j, &t->name),
				text_range(j, t->begin, t->end), other) });
}

enum ckpt_status
safetensors_judge_tiling(struct safetensors_judge *j)
{
	const struct safetensors_tensor *tensors = SAFETENSORS_TENSORS(j->file);
	const struct safetensors_tensor *top = NULL;
	uint64_t at = 0;

	if (!set_order(j))
		return ckpt_run_memory(j->run);
	for (uint32_t i = 0; i < j->file->norder; i++) {
		const struct safetensors_tensor *t =
			&tensors[j->file->order[i]];

		if (t->begin != at)
			report_misplaced(j, t, top, at);
		if (t->end >= at) {
			at = t->end;
			top = t;
		}
	}
	return CKPT_OK;
}

uint64_t
safetensors_data_end(const struct safetensors_file *file)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < file->norder; i++) {
		uint64_t e = SAFETENSORS_TENSORS(file)[file->order[i]].end;

		if (e > end)
			end = e;
	}
	return end;
}

/* ---- The end of the file ------------------------------------------------ */

/* have bytes of data are there. */
static void
report_cut(struct safetensors_judge *j, uint64_t end, uint64_t have)
{
	const struct safetensors_file *file = j->file;
	const struct safetensors_tensor *first = NULL;
	uint64_t affected = 0;

	for (uint32_t i = 0; i < file->norder; i++) {
		const struct safetensors_tensor *t =
			&SAFETENSORS_TENSORS(file)[file->order[i]];

		if (t->end <= have)
			continue;
		affected++;
		first = first ? first : t;
	}
	report_offsets(j, first,
		&(struct ckpt_report){ .code = CKPT_D_ST_DATA_TRUNCATED,
			.count = affected,
			.expected = ckpt_v_text(
				ckpt_walk_text(&j->walk, "%s of tensors",
					safetensors_count(j, end, "byte"))),
			.found = ckpt_v_text(ckpt_walk_text(&j->walk,
				"%s, then the end at offset %llu",
				safetensors_count(j, have, "byte"),
				U(file->data_at + have))),
			.note = ckpt_walk_text(&j->walk,
				"%s missing; tensors affected: %llu of %u, "
				"from %s on",
				safetensors_count(j, end - have, "byte"),
				U(affected), file->norder,
				safetensors_quote(j, &first->name)) });
}

/* What hides behind the tensors, in words, or NULL. */
static const char *
name_tail(const uint8_t *tail, size_t n, char *text, size_t size)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (memcmp(tail + i, "PK\x05\x06", 4) == 0 ||
			memcmp(tail + i, "PK\x03\x04", 4) == 0)
			return "a zip archive: the file can be opened as two "
			       "things";
	return n ? ckpt_foreign_name(tail, n, text, size) : NULL;
}

static void
report_trailing(struct safetensors_judge *j, uint64_t end, uint64_t have,
	bool at_least, const uint8_t *tail, size_t n)
{
	const struct safetensors_file *file = j->file;
	char text[160];
	const char *what = name_tail(tail, n, text, sizeof text);

	SAFETENSORS_REPORT(j, .code = CKPT_D_ST_DATA_TRAILING, .path = "header",
		.off = file->data_at + end, .len = have - end,
		.expected = ckpt_v_text(
			ckpt_walk_text(&j->walk, "%s of tensors, then the end",
				safetensors_count(j, end, "byte"))),
		.found = ckpt_v_text(ckpt_walk_text(&j->walk, "%s%s",
			at_least ? "at least " : "",
			safetensors_count(j, have - end, "extra byte"))),
		.note = what ? ckpt_walk_text(
				       &j->walk, "they look like %s", what)
			     : NULL);
}

void
safetensors_judge_end(struct safetensors_judge *j, uint64_t size, bool at_least,
	const uint8_t *tail, size_t n)
{
	uint64_t end = safetensors_data_end(j->file);
	uint64_t have = size - j->file->data_at;

	if (end > have)
		report_cut(j, end, have);
	else if (end < have)
		report_trailing(j, end, have, at_least, tail, n);
}
