/* SPDX-License-Identifier: MIT */
/*
 * What listeners are told of the header: every value as a field, in the order
 * of the text, and the text between them as fields too, so that each byte of
 * the header belongs to something. Then the tensors. The entries know where
 * their values begin; the rest is read again from the text.
 */
#include "format/safetensors.h"

#include "base/checked.h"
#include "base/try.h"
#include "format/archive.h"
#include "format/safetensors_dtype.h"

/* Where the telling is. */
struct teller {
	struct safetensors_judge *j;
	const char *owner; /* path of what the text between values belongs to */
	uint64_t at;       /* in the JSON text; what was before is told */
};

/* ---- Fields ------------------------------------------------------------- */

static enum ckpt_status
tell_bytes(struct teller *t, const struct ckpt_field *field, const char *path,
	uint64_t end, struct ckpt_value value)
{
	struct ckpt_event event = {
		.kind = CKPT_EV_FIELD,
		.field = field,
		.path = path,
		.off = safetensors_at(t->at),
		.len = end - t->at,
		.value = value,
	};

	t->at = end;
	return ckpt_run_event(t->j->run, &event);
}

/* The text up to end, which belongs to no value. */
static enum ckpt_status
tell_between(struct teller *t, uint64_t end)
{
	if (end <= t->at)
		return CKPT_OK;
	return tell_bytes(t, &safetensors_syntax_field, t->owner, end,
		ckpt_v_bytes(t->j->file->json + t->at, (size_t)(end - t->at)));
}

static enum ckpt_status
tell_value(struct teller *t, const struct ckpt_field *field, const char *path,
	const struct ckpt_token *token, struct ckpt_value value)
{
	CKPT_TRY(tell_between(t, token->at));
	return tell_bytes(t, field, path, token->end, value);
}

static void
scan_from(const struct teller *t, struct ckpt_scan *scan, uint32_t at)
{
	ckpt_scan_init(
		scan, t->j->file->json, (size_t)t->j->file->header_bytes, 1);
	scan->at = at;
}

/* The member name of the owner. */
static const char *
member(const struct teller *t, const char *name)
{
	return ckpt_walk_text(&t->j->walk, "%s.%s", t->owner, name);
}

/* A string by the offset of its quote. */
static enum ckpt_status
tell_text(struct teller *t, const struct ckpt_field *field, uint32_t at)
{
	struct ckpt_scan scan;
	struct ckpt_token token;
	struct ckpt_str text;

	scan_from(t, &scan, at);
	/* The reference profile knows dtypes that are objects. */
	if (ckpt_scan_next(&scan, &token) != CKPT_SCAN_STRING)
		return CKPT_OK;
	if (!ckpt_scan_text(&scan, &token, &t->j->run->arena, &text))
		return ckpt_run_memory(t->j->run);
	return tell_value(t, field, member(t, field->name), &token,
		ckpt_v_bytes(text.p, text.n));
}

/* The numbers of an array, one field each. */
static enum ckpt_status
tell_numbers(struct teller *t, const struct ckpt_field *field, uint32_t at)
{
	struct ckpt_scan scan;
	struct ckpt_token token;

	scan_from(t, &scan, at);
	ckpt_scan_next(&scan, &token);
	for (uint64_t i = 0; ckpt_scan_next(&scan, &token) == CKPT_SCAN_NUMBER;
		i++)
		CKPT_TRY(tell_value(t, field,
			ckpt_walk_text(&t->j->walk, "%s.%s[%llu]", t->owner,
				field->name, (unsigned long long)i),
			&token, ckpt_v_u64(token.u64)));
	return CKPT_OK;
}

static enum ckpt_status
tell_entry(struct teller *t, uint32_t i)
{
	const struct safetensors_entry *e = &SAFETENSORS_ENTRIES(t->j->file)[i];

	CKPT_TRY(tell_between(t, e->at));
	t->owner = ckpt_walk_text(&t->j->walk, "metadata[%u]", i);
	CKPT_TRY(tell_text(
		t, &safetensors_entry_fields[SAFETENSORS_KEY], e->at));
	CKPT_TRY(tell_text(
		t, &safetensors_entry_fields[SAFETENSORS_VALUE], e->value_at));
	t->owner = "metadata";
	ckpt_arena_reuse(&t->j->run->texts);
	return CKPT_OK;
}

static enum ckpt_status
tell_tensor(struct teller *t, const struct safetensors_tensor *tensor)
{
	const struct ckpt_field *fields = safetensors_tensor_fields;
	const uint32_t at[] = { tensor->dtype_at, tensor->shape_at,
		tensor->offsets_at };

	CKPT_TRY(tell_between(t, tensor->at));
	t->owner = safetensors_path(t->j, tensor->number, "");
	CKPT_TRY(tell_text(t, &fields[SAFETENSORS_NAME], tensor->at));
	for (int turn = 0; turn < 3; turn++) {
		int next = -1;

		/* In the order of the text. */
		for (int i = 0; i < 3; i++)
			if (at[i] >= t->at && (next < 0 || at[i] < at[next]))
				next = i;
		if (next == 0)
			CKPT_TRY(tell_text(
				t, &fields[SAFETENSORS_DTYPE], at[next]));
		else if (next > 0)
			CKPT_TRY(tell_numbers(t,
				&fields[next == 1 ? SAFETENSORS_DIMENSION
						  : SAFETENSORS_RANGE],
				at[next]));
		/* An empty shape told nothing. */
		if (next >= 0 && t->at <= at[next])
			CKPT_TRY(tell_between(t, at[next] + 1));
	}
	CKPT_TRY(tell_between(t, tensor->after));
	t->owner = "header";
	ckpt_arena_reuse(&t->j->run->texts);
	return CKPT_OK;
}

static enum ckpt_status
tell_fields(struct safetensors_judge *j)
{
	const struct safetensors_file *file = j->file;
	const struct ckpt_event length = {
		.kind = CKPT_EV_FIELD,
		.field = &safetensors_file_rec.fields[0],
		.path = safetensors_file_rec.fields[0].name,
		.len = SAFETENSORS_LENGTH_BYTES,
		.value = ckpt_v_u64(file->header_bytes),
	};
	struct teller t = { .j = j, .owner = "header" };
	uint32_t entry = 0, tensor = 0;

	CKPT_TRY(ckpt_run_event(j->run, &length));
	while (entry < file->metadata.n || tensor < file->tensors.n) {
		if (tensor == file->tensors.n ||
			(entry < file->metadata.n &&
				SAFETENSORS_ENTRIES(file)[entry].at <
					SAFETENSORS_TENSORS(file)[tensor].at))
			CKPT_TRY(tell_entry(&t, entry++));
		else
			CKPT_TRY(tell_tensor(
				&t, &SAFETENSORS_TENSORS(file)[tensor++]));
	}
	return tell_between(&t, file->header_bytes);
}

/* ---- Tensors ------------------------------------------------------------ */

/* Where each tensor has to begin: behind those before it. NULL and nothing
 * said if memory is used up or there is no order. */
static uint64_t *
expectations(struct safetensors_judge *j)
{
	const struct safetensors_file *file = j->file;
	uint64_t at = 0, *expected;

	expected = ckpt_arena_alloc(
		&j->run->arena, file->tensors.n * sizeof *expected);
	if (!expected)
		return NULL;
	for (uint32_t i = 0; i < file->tensors.n; i++)
		expected[i] = CKPT_ANYWHERE;
	for (uint32_t i = 0; i < file->norder; i++) {
		const struct safetensors_tensor *t =
			&SAFETENSORS_TENSORS(file)[file->order[i]];

		if (!ckpt_add_u64(file->data_at, at, &expected[file->order[i]]))
			expected[file->order[i]] = CKPT_ANYWHERE;
		if (t->end > at)
			at = t->end;
	}
	return expected;
}

static enum ckpt_status
tell_span(struct safetensors_judge *j, uint32_t i, uint64_t expected)
{
	const struct safetensors_tensor *t = &SAFETENSORS_TENSORS(j->file)[i];
	struct ckpt_span span = {
		.index = t->number,
		.class_ = CKPT_TENSOR_OTHER,
		.role = "tensor",
		.name = t->name.p,
		.name_len = t->name.n,
		.label = "",
		.dtype = t->dtype ? t->dtype->name : "unknown",
		.width = t->dtype ? safetensors_dtype_width(t->dtype) : 0,
		.dims = SAFETENSORS_SHAPE(t),
		.rank = t->shape.n,
		.len = t->end >= t->begin ? t->end - t->begin : 0,
		.expected = expected,
		.record_at = safetensors_at(t->at),
		.record_len = t->after - t->at,
	};
	struct ckpt_event event = { .kind = CKPT_EV_SPAN, .span = &span };

	if (j->file->archive)
		archive_describe(j->file->archive, i, &span);
	if (!ckpt_add_u64(j->file->data_at, t->begin, &span.off))
		span.off = UINT64_MAX;
	return ckpt_run_event(j->run, &event);
}

enum ckpt_status
safetensors_tell(struct safetensors_judge *j)
{
	uint64_t *expected;

	if (!j->run->sinks)
		return CKPT_OK;
	if (j->run->wants_fields)
		CKPT_TRY(tell_fields(j));
	ckpt_arena_reuse(&j->run->texts);
	expected = expectations(j);
	if (!expected)
		return ckpt_run_memory(j->run);
	for (uint32_t i = 0; i < j->file->tensors.n; i++)
		CKPT_TRY(tell_span(j, i, expected[i]));
	return CKPT_OK;
}
