/* SPDX-License-Identifier: MIT */
/*
 * Decoding by rows. The walker goes on after a finding as long as it knows
 * where the next byte is; a read past the extent ends it, since every field
 * behind would be made of other bytes.
 *
 * Rank of what is found here: a legal value is judged where the field ends, a
 * truncation where it begins, so their units follow the order in which a
 * reader that stops at its first fault would meet them.
 */
#include "wire/walk.h"

#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/try.h"
#include "wire/value.h"

enum { STRING_STEP = 4096 };

const char *
ckpt_walk_text(struct ckpt_walk *walk, const char *format, ...)
{
	va_list args;
	const char *s;

	va_start(args, format);
	s = ckpt_arena_vprintf(&walk->run->texts, format, args);
	va_end(args);
	if (!s)
		walk->run->diags.lost = true;
	return s ? s : "";
}

void
ckpt_walk_report(struct ckpt_walk *walk, const struct ckpt_report *report)
{
	struct ckpt_diag diag = {
		.rule = ckpt_rule_row(report->code),
		.rank = ckpt_rank_of(report->code, report->unit, report->sub),
		.off = report->off,
		.len = report->len,
		.path = report->path,
		.expected = report->expected,
		.found = report->found,
		.note = report->note,
		.count = report->count ? report->count : 1,
		.caused_by =
			report->caused ? ckpt_rule_row(report->cause) : NULL,
	};
	struct ckpt_place place = { .off = report->off, .len = report->len };

	if (report->ranked)
		diag.rank.step = report->step;
	if (!report->placed && ckpt_path_find(walk->root, walk->root_base, 0,
				       report->path, &place)) {
		diag.off = place.off;
		diag.len = place.len;
	}
	ckpt_diags_add(&walk->run->diags, &diag);
	ckpt_arena_reuse(&walk->run->texts);
}

static const char *
path_text(struct ckpt_walk *walk, const struct ckpt_path *path)
{
	ckpt_buf_clear(&walk->scratch);
	ckpt_path_write(path, &walk->scratch);
	return walk->scratch.failed ? "" : walk->scratch.p;
}

static enum ckpt_status
truncated(struct ckpt_walk *walk, const struct ckpt_field *field,
	const struct ckpt_path *path, uint64_t at, uint64_t want)
{
	uint64_t end = walk->end;
	bool file_ends =
		walk->reader->eof && ckpt_reader_offset(walk->reader) < end;

	if (walk->reader->status != CKPT_OK)
		return walk->reader->status;
	if (file_ends)
		end = ckpt_reader_offset(walk->reader);
	ckpt_walk_report(walk,
		&(struct ckpt_report){
			.code = walk->truncated,
			.unit = at,
			.path = path_text(walk, path),
			.expected = ckpt_v_text(ckpt_walk_text(walk,
				"%llu bytes of %s at offset %llu",
				(unsigned long long)want,
				field->title ? field->title : field->name,
				(unsigned long long)at)),
			.found = ckpt_v_text(ckpt_walk_text(walk,
				"%llu before the %s ends",
				(unsigned long long)(end > at ? end - at : 0),
				file_ends ? "file" : "header")),
			.placed = true,
			.off = at,
			.len = end > at ? end - at : 0,
		});
	return CKPT_REJECTED;
}

/* n <= 8 bytes, or the finding that they are not there. */
static enum ckpt_status
take(struct ckpt_walk *walk, const struct ckpt_field *field,
	const struct ckpt_path *path, uint64_t at, uint8_t *bytes, size_t n)
{
	if (!ckpt_within(ckpt_reader_offset(walk->reader), n, walk->end) ||
		ckpt_reader_read(walk->reader, bytes, n) != n)
		return truncated(walk, field, path, at, n);
	return CKPT_OK;
}

static enum ckpt_status
told(struct ckpt_walk *walk, const struct ckpt_field *field,
	const struct ckpt_path *path, uint64_t at,
	const struct ckpt_value *value)
{
	struct ckpt_event event = {
		.kind = CKPT_EV_FIELD,
		.field = field,
		.off = at,
		.len = ckpt_reader_offset(walk->reader) - at,
		.value = *value,
	};

	if (!ckpt_run_wants_field(walk->run, at, event.len))
		return CKPT_OK;
	event.path = path_text(walk, path);
	return ckpt_run_event(walk->run, &event);
}

/* placed has the unit, and the bytes at fault when they are known. */
static void
report_want(struct ckpt_walk *walk, const struct ckpt_field *field,
	const char *path, const struct ckpt_value *value,
	const struct ckpt_report *placed)
{
	struct ckpt_report report = *placed;
	struct ckpt_buf *legal = &(struct ckpt_buf){ 0 };

	ckpt_want_write(legal, field->want);
	report.code = field->want->code;
	report.path = path;
	report.expected = ckpt_v_text(legal->p ? legal->p : "");
	report.found = *value;
	ckpt_walk_report(walk, &report);
	ckpt_buf_release(legal);
}

/* A string that is UTF-8 may still be too short. */
static void
judge_short(struct ckpt_walk *walk, const struct ckpt_field *field,
	const struct ckpt_path *path, const struct ckpt_value *value,
	const struct ckpt_report *placed)
{
	struct ckpt_report report = *placed;

	if (field->want->kind != CKPT_WANT_UTF8 || value->n >= field->want->min)
		return;
	report.code = field->want->short_code;
	report.path = path_text(walk, path);
	report.expected = ckpt_v_text("at least one byte");
	report.found = ckpt_v_text("none");
	ckpt_walk_report(walk, &report);
}

/* The value just read, which began at at. Looking for its bytes by its path
 * would take a time that grows with the names before it. */
static enum ckpt_status
judge(struct ckpt_walk *walk, const struct ckpt_field *field,
	const struct ckpt_path *path, uint64_t at,
	const struct ckpt_value *value)
{
	uint64_t unit = ckpt_reader_offset(walk->reader);
	const struct ckpt_report placed = {
		.unit = unit, .placed = true, .off = at, .len = unit - at
	};

	if (!field->want || field->want->at != 0)
		return CKPT_OK;
	if (ckpt_want_holds(field->want, value)) {
		judge_short(walk, field, path, value, &placed);
		return CKPT_OK;
	}
	report_want(walk, field, path_text(walk, path), value, &placed);
	return field->want->stops ? CKPT_REJECTED : CKPT_OK;
}

/* The bytes of a string, grown as they arrive. */
static enum ckpt_status
take_bytes(struct ckpt_walk *walk, const struct ckpt_field *field,
	const struct ckpt_path *path, uint64_t at, struct ckpt_str *str)
{
	struct ckpt_arena *arena = &walk->run->arena;
	size_t room = str->declared < STRING_STEP ? str->declared : STRING_STEP;
	uint8_t *p = ckpt_arena_bytes(arena, room);
	size_t have = 0;

	if (!p)
		return ckpt_run_memory(walk->run);
	for (;;) {
		have += ckpt_reader_read(walk->reader, p + have, room - have);
		if (have < room)
			return truncated(walk, field, path, at,
				4 + (uint64_t)str->declared);
		if (have == str->declared)
			break;
		room = str->declared - have < have ? str->declared : 2 * have;
		p = ckpt_arena_grow(arena, p, have, room);
		if (!p)
			return ckpt_run_memory(walk->run);
	}
	str->p = p;
	str->n = str->declared;
	return CKPT_OK;
}

static enum ckpt_status
walk_str(struct ckpt_walk *walk, const struct ckpt_field *field, void *slot,
	const struct ckpt_path *path)
{
	uint64_t at = ckpt_reader_offset(walk->reader);
	struct ckpt_str str = { 0 };
	struct ckpt_value value;
	enum ckpt_status status;
	uint8_t b[4];

	status = take(walk, field, path, at, b, sizeof b);
	if (status != CKPT_OK)
		return status;
	str.declared = ckpt_load_u32(b);
	if (!ckpt_within(
		    ckpt_reader_offset(walk->reader), str.declared, walk->end))
		return truncated(
			walk, field, path, at, 4 + (uint64_t)str.declared);
	status = take_bytes(walk, field, path, at, &str);
	if (status != CKPT_OK)
		return status;
	memcpy(slot, &str, sizeof str);
	value = ckpt_v_bytes(str.p, str.n);
	status = told(walk, field, path, at, &value);
	return status != CKPT_OK ? status
				 : judge(walk, field, path, at, &value);
}

static enum ckpt_status
walk_scalar(struct ckpt_walk *walk, const struct ckpt_field *field,
	enum ckpt_type type, void *slot, const struct ckpt_path *path)
{
	uint64_t at = ckpt_reader_offset(walk->reader);
	uint8_t b[8] = { 0 };
	struct ckpt_value value;
	enum ckpt_status status;

	status = take(walk, field, path, at, b, ckpt_type_width(type));
	if (status != CKPT_OK)
		return status;
	if (type == CKPT_MAGIC) {
		memcpy(slot, b, sizeof b);
		value = ckpt_v_bytes(b, sizeof b);
	} else {
		ckpt_slot_store(slot, 0, type, ckpt_load_u64(b));
		value = type == CKPT_F64 ? ckpt_v_f64(ckpt_load_u64(b))
					 : ckpt_v_u64(ckpt_load_u64(b));
	}
	status = told(walk, field, path, at, &value);
	return status != CKPT_OK ? status
				 : judge(walk, field, path, at, &value);
}

static enum ckpt_status
walk_value(struct ckpt_walk *walk, const struct ckpt_field *field, void *slot,
	const struct ckpt_path *path)
{
	if (field->type == CKPT_REC)
		return ckpt_walk_record(walk, field->rec, slot, path);
	if (field->type == CKPT_STR)
		return walk_str(walk, field, slot, path);
	return walk_scalar(walk, field, field->type, slot, path);
}

/* The row of every count that stands in front of an array. */
static const struct ckpt_field count_field = {
	.name = "count",
	.type = CKPT_U32,
	.doc = "number of elements that follow",
};

static enum ckpt_status
walk_count(struct ckpt_walk *walk, const struct ckpt_field *field, void *base,
	const struct ckpt_path *path, uint64_t *count)
{
	const struct ckpt_path here = { path, "count", false, 0 };
	uint64_t at = ckpt_reader_offset(walk->reader);
	struct ckpt_array array = { 0 };
	struct ckpt_value value;
	uint8_t b[4];

	if (!field->prefixed) {
		*count = ckpt_slot_load(
			base, field->count_slot, field->count_type);
		return CKPT_OK;
	}
	CKPT_TRY(take(walk, field, &here, at, b, sizeof b));
	array.declared = ckpt_load_u32(b);
	*count = array.declared;
	memcpy((uint8_t *)base + field->slot, &array, sizeof array);
	value = ckpt_v_u64(*count);
	return told(walk, &count_field, &here, at, &value);
}

static enum ckpt_status
walk_array(struct ckpt_walk *walk, const struct ckpt_field *field, void *base,
	const struct ckpt_path *up)
{
	uint8_t *slot = (uint8_t *)base + field->slot;
	size_t size = ckpt_field_size(field);
	struct ckpt_path path = { up, field->name, false, 0 };
	struct ckpt_array array;
	enum ckpt_status status;
	uint64_t count;

	status = walk_count(walk, field, base, &path, &count);
	if (status != CKPT_OK)
		return status;
	path.indexed = true;
	memcpy(&array, slot, sizeof array);
	for (uint64_t i = 0; i < count; i++) {
		void *value;

		array.p = ckpt_arena_push(&walk->run->arena, array.p, i, size);
		if (!array.p)
			return ckpt_run_memory(walk->run);
		/* guards: the element is there and zero before the walk may
		 * stop inside it. */
		value = (uint8_t *)array.p + i * size;
		memset(value, 0, size);
		array.n = (uint32_t)i + 1;
		memcpy(slot, &array, sizeof array);
		path.index = i;
		status = walk_value(walk, field, value, &path);
		if (status != CKPT_OK) {
			/* Half an element counts as none. */
			array.n = (uint32_t)i;
			memcpy(slot, &array, sizeof array);
			return status;
		}
	}
	return CKPT_OK;
}

static enum ckpt_status
complete(struct ckpt_walk *walk, const struct ckpt_record *rec,
	const void *base, uint64_t index)
{
	for (size_t i = 0; i < walk->nchecks; i++) {
		const struct ckpt_check *check = &walk->checks[i];
		enum ckpt_status status;

		if (check->after != rec)
			continue;
		if (!(walk->marked >> i & 1))
			ckpt_diags_ran(&walk->run->diags, check->checks);
		walk->marked |= (uint64_t)1 << i;
		status = check->run(walk->ctx, base, index);
		if (status != CKPT_OK)
			return status;
	}
	return CKPT_OK;
}

enum ckpt_status
ckpt_walk_fields(struct ckpt_walk *walk, const struct ckpt_record *rec,
	void *base, const struct ckpt_path *path, size_t from)
{
	for (size_t i = from; i < rec->nfields; i++) {
		const struct ckpt_field *field = &rec->fields[i];
		const struct ckpt_path here = { path, field->name, false, 0 };
		enum ckpt_status status;

		if (!ckpt_field_present(field, base))
			continue;
		status =
			field->is_array
				? walk_array(walk, field, base, path)
				: walk_value(walk, field,
					  (uint8_t *)base + field->slot, &here);
		if (status != CKPT_OK)
			return status;
	}
	return complete(walk, rec, base, path->index);
}

enum ckpt_status
ckpt_walk_record(struct ckpt_walk *walk, const struct ckpt_record *rec,
	void *base, const struct ckpt_path *path)
{
	if (rec->at_slot)
		ckpt_slot_store(base, rec->at_slot, CKPT_U64,
			ckpt_reader_offset(walk->reader));
	return ckpt_walk_fields(walk, rec, base, path, 0);
}

/* Later judgement: the same rows, over the decoded structure. */
static void
wants_in(struct ckpt_walk *walk, const struct ckpt_record *rec, void *base,
	const struct ckpt_path *path, int at, uint64_t unit)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *field = &rec->fields[i];
		const struct ckpt_path here = { path, field->name, false, 0 };
		uint8_t *slot = (uint8_t *)base + field->slot;
		struct ckpt_value value;

		if (field->is_array || !ckpt_field_present(field, base))
			continue;
		if (field->type == CKPT_REC) {
			wants_in(walk, field->rec, slot, &here, at, unit);
			continue;
		}
		if (!field->want || field->want->at != at)
			continue;
		value = (field->type == CKPT_F64 ? ckpt_v_f64 : ckpt_v_u64)(
			ckpt_slot_load(slot, 0, field->type));
		if (!ckpt_want_holds(field->want, &value))
			report_want(walk, field, path_text(walk, &here), &value,
				&(struct ckpt_report){ .unit = unit });
	}
}

void
ckpt_walk_wants(struct ckpt_walk *walk, int at, uint64_t unit)
{
	const struct ckpt_path top = { 0 };

	wants_in(walk, walk->root, walk->root_base, &top, at, unit);
}
