/* SPDX-License-Identifier: MIT */
/*
 * Archives: the values, as they pass by. Of the large tensors only the first
 * value that must not be there is remembered, so memory does not grow with
 * them; the small ones are kept whole.
 */
#include "format/archive.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/sort.h"
#include "format/f64_block.h"

#define EXPONENT CKPT_F64_EXPONENT
#define SIGN     CKPT_F64_SIGN

static void
note_fault(struct archive_fault *fault, uint32_t tensor, uint64_t at,
	uint64_t bits)
{
	if (fault->count++ > 0)
		return;
	fault->tensor = tensor;
	fault->at = at;
	fault->bits = bits;
}

void
archive_report_value(struct safetensors_judge *j, enum ckpt_code code,
	uint32_t tensor, uint64_t element, const char *expected,
	struct ckpt_value found, uint64_t count)
{
	const struct safetensors_tensor *t =
		&SAFETENSORS_TENSORS(j->file)[tensor];
	unsigned width = safetensors_dtype_width(t->dtype);
	char place[64];

	if (t->shape.n == 2 && SAFETENSORS_SHAPE(t)[1] > 0)
		snprintf(place, sizeof place, ".data[%llu,%llu]",
			(unsigned long long)(element / SAFETENSORS_SHAPE(t)[1]),
			(unsigned long long)(element %
					     SAFETENSORS_SHAPE(t)[1]));
	else
		snprintf(place, sizeof place, ".data[%llu]",
			(unsigned long long)element);
	SAFETENSORS_REPORT(j, .code = code, .sub = t->number,
		.path = safetensors_path(j, t->number, place),
		.off = safetensors_off(j->file, t) + element * width,
		.len = width, .expected = ckpt_v_text(expected), .found = found,
		.count = count,
		.note = ckpt_walk_text(
			&j->walk, "tensor %s", safetensors_quote(j, &t->name)));
}

/* ---- Weights and moments ------------------------------------------------ */

static void
look_closely(struct archive *a, uint32_t tensor, uint64_t at, const uint8_t *p,
	size_t n)
{
	enum archive_what what = (enum archive_what)a->parts[tensor].what;
	struct archive_fault *fault =
		what == ARCHIVE_PARAMETER ? &a->weights : &a->moments;

	for (size_t i = 0; i < n; i += 8) {
		uint64_t bits = ckpt_load_u64(p + i);

		if ((bits & EXPONENT) == EXPONENT)
			note_fault(fault, tensor, (at + i) / 8, bits);
		else if (what == ARCHIVE_MOMENT_2 && bits > SIGN)
			note_fault(&a->negative, tensor, (at + i) / 8, bits);
	}
}

/* Of most blocks a glance is enough. */
static void
look_at(struct archive *a, uint32_t tensor, uint64_t at, const uint8_t *p,
	size_t n)
{
	bool second = a->parts[tensor].what == ARCHIVE_MOMENT_2;
	ckpt_f64_look *look = ckpt_f64_looking();
	size_t i = 0;

	for (; n - i >= CKPT_F64_BLOCK; i += CKPT_F64_BLOCK) {
		struct ckpt_f64_glance g = look(p + i);

		if (g.special || (second && (g.any & SIGN)))
			look_closely(a, tensor, at + i, p + i, CKPT_F64_BLOCK);
	}
	look_closely(a, tensor, at + i, p + i, n - i);
}

/* ---- Small tensors ------------------------------------------------------ */

static enum ckpt_status
keep_pairs(struct safetensors_judge *j, const uint8_t *p, size_t n)
{
	struct archive *a = j->file->archive;

	for (size_t i = 0; i < n; i += 8) {
		uint8_t *pairs =
			ckpt_arena_push(&j->run->arena, a->pairs, a->npairs, 8);

		if (!pairs)
			return ckpt_run_memory(j->run);
		memcpy(pairs + 8 * a->npairs++, p + i, 8);
		a->pairs = pairs;
	}
	return CKPT_OK;
}

/* Room for a bit for each document. */
static bool
make_named(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;

	a->named = ckpt_arena_zalloc(
		&j->run->arena, (size_t)(a->training.documents / 8) + 1);
	return a->named != NULL;
}

static void
name_document(
	struct archive *a, uint32_t tensor, uint64_t place, uint64_t document)
{
	uint8_t bit = (uint8_t)(1u << document % 8);

	if (document >= a->training.documents || a->named[document / 8] & bit)
		note_fault(&a->places, tensor, place, document);
	else
		a->named[document / 8] |= bit;
}

/* Places of the data order, of which each document has one. How many there
 * are is only proven by a file of known size: of any other they are kept as
 * they come, and looked at when they have come. */
static enum ckpt_status
keep_order(struct safetensors_judge *j, uint32_t tensor, uint64_t at,
	const uint8_t *p, size_t n)
{
	struct archive *a = j->file->archive;
	bool few = a->training.documents <= ARCHIVE_ORDER_KEPT;
	bool sized = j->reader->source->has_size;

	if (at == 0 && (few || sized) && !make_named(j))
		return ckpt_run_memory(j->run);
	for (size_t i = 0; i < n; i += 8) {
		uint64_t place = (at + i) / 8, *order = a->order;

		if (few || !sized) {
			order = ckpt_arena_push(
				&j->run->arena, order, place, sizeof *order);
			if (!order)
				return ckpt_run_memory(j->run);
			order[place] = ckpt_load_u64(p + i);
			a->order = order;
		}
		if (a->named)
			name_document(a, tensor, place, ckpt_load_u64(p + i));
	}
	return CKPT_OK;
}

enum ckpt_status
archive_judge_order(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;

	if (a->named)
		return CKPT_OK;
	if (!make_named(j))
		return ckpt_run_memory(j->run);
	for (uint64_t i = 0; i < a->training.documents; i++)
		name_document(a, a->small[ARCHIVE_ORDER] - 1, i, a->order[i]);
	return CKPT_OK;
}

static enum ckpt_status
keep_small(struct safetensors_judge *j, uint32_t tensor, uint64_t at,
	const uint8_t *p, size_t n)
{
	struct archive *a = j->file->archive;
	uint32_t row = a->parts[tensor].k;

	if (row == ARCHIVE_MERGES)
		return keep_pairs(j, p, n);
	if (row == ARCHIVE_ORDER)
		return keep_order(j, tensor, at, p, n);
	/* guards: shapes were judged, so at + n <= 8 * ARCHIVE_WORDS */
	for (size_t i = 0; i < n; i += 8)
		a->words[row][(at + i) / 8] = ckpt_load_u64(p + i);
	return CKPT_OK;
}

enum ckpt_status
archive_data(struct safetensors_judge *j, uint32_t tensor, uint64_t at,
	const uint8_t *p, size_t n)
{
	struct archive *a = j->file->archive;

	/* The header was not understood to its end. */
	if (!a->hash)
		return CKPT_OK;
	archive_hash_data(j, tensor, at, p, n);
	switch ((enum archive_what)a->parts[tensor].what) {
	case ARCHIVE_PARAMETER:
	case ARCHIVE_MOMENT_1:
	case ARCHIVE_MOMENT_2: look_at(a, tensor, at, p, n); return CKPT_OK;
	case ARCHIVE_VALUES: return keep_small(j, tensor, at, p, n);
	case ARCHIVE_NOTHING: break;
	}
	return CKPT_OK;
}

/* ---- Merges ------------------------------------------------------------- */

static int
by_pair(const void *ctx, uint32_t a, uint32_t b)
{
	const uint8_t *pairs = ctx;
	uint64_t x = ckpt_load_u64(pairs + 8 * (size_t)a);
	uint64_t y = ckpt_load_u64(pairs + 8 * (size_t)b);

	return (x > y) - (x < y);
}

static void
judge_operands(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	struct archive_fault wrong = { 0 };

	for (uint64_t i = 0; i < 2 * a->npairs; i++) {
		uint32_t id = ckpt_load_u32(a->pairs + 4 * i);

		if (id >= CKPT_BPE_BYTES + i / 2)
			note_fault(&wrong, a->small[ARCHIVE_MERGES] - 1, i, id);
	}
	if (wrong.count > 0)
		archive_report_value(j, CKPT_D_ARCHIVE_MERGE_OPERAND,
			wrong.tensor, wrong.at,
			ckpt_walk_text(&j->walk, "an id below %llu",
				(unsigned long long)(CKPT_BPE_BYTES +
						     wrong.at / 2)),
			ckpt_v_u64(wrong.bits), wrong.count);
}

enum ckpt_status
archive_judge_merges(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	uint64_t first = UINT64_MAX, count = 0;
	uint32_t *order;

	judge_operands(j);
	order = ckpt_sorted(&j->run->arena, a->npairs, by_pair, a->pairs);
	if (!order)
		return ckpt_run_memory(j->run);
	for (uint64_t i = 1; i < a->npairs; i++) {
		if (by_pair(a->pairs, order[i - 1], order[i]) != 0)
			continue;
		count++;
		if (order[i] < first)
			first = order[i];
	}
	if (count > 0)
		archive_report_value(j, CKPT_D_ARCHIVE_MERGE_REPEATED,
			a->small[ARCHIVE_MERGES] - 1, 2 * first,
			"each pair once",
			ckpt_v_text(ckpt_walk_text(&j->walk, "(%u, %u) again",
				ckpt_load_u32(a->pairs + 8 * first),
				ckpt_load_u32(a->pairs + 8 * first + 4))),
			count);
	return CKPT_OK;
}
