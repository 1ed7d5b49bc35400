/* SPDX-License-Identifier: MIT */
/*
 * The span index. Events are borrowed, so everything is copied. Dividing the
 * file takes three steps, each O(n log n) or better: fields sorted by offset,
 * tensors sorted and clipped against each other, then one merge in which
 * fields cut tensors and what is left over gets a name. Tensor extents are
 * claims of the file and may be anything; fields were read and are not.
 */
#include "sink/spans.h"

#include <string.h>

#include "base/checked.h"
#include "base/sort.h"
#include "base/try.h"
#include "wire/value.h"

static enum ckpt_status
keep_field(struct ckpt_spans *spans, const struct ckpt_event *event)
{
	struct ckpt_arena *arena = &spans->arena;
	const struct ckpt_field *row = event->field;
	struct ckpt_span_field field = {
		.off = event->off,
		.len = event->len,
		.value = event->value,
		.name = row->name,
		.title = row->title,
		.doc = row->doc,
		.want = row->want,
		.type = row->type,
		.flags = row->flags,
	};
	const struct ckpt_sink *sink = &spans->sink;
	struct ckpt_span_field *grown;

	if (sink->fields_end &&
		(event->off >= sink->fields_end ||
			(event->off < sink->fields_from &&
				sink->fields_from - event->off >= event->len)))
		return CKPT_OK;
	if (spans->fields_most && spans->nfields == spans->fields_most) {
		spans->fields_cut = true;
		return CKPT_OK;
	}
	field.path =
		ckpt_arena_strndup(arena, event->path, strlen(event->path));
	if (!field.path)
		return ckpt_arena_status(&spans->arena);
	if (event->value.kind == CKPT_V_BYTES) {
		field.value.p = ckpt_arena_strndup(
			arena, event->value.p, event->value.n);
		if (!field.value.p)
			return ckpt_arena_status(&spans->arena);
	}
	grown = ckpt_arena_push(
		arena, spans->fields, spans->nfields, sizeof *grown);
	if (!grown)
		return ckpt_arena_status(&spans->arena);
	spans->fields = grown;
	spans->fields[spans->nfields++] = field;
	return CKPT_OK;
}

/* How many tensors of the same role came before. */
static uint64_t
count_role(struct ckpt_spans *spans, const char *role)
{
	for (size_t i = 0; i < CKPT_SPAN_ROLES; i++) {
		if (!spans->roles[i].role)
			spans->roles[i].role = role;
		if (spans->roles[i].role == role)
			return spans->roles[i].n++;
	}
	return 0;
}

static enum ckpt_status
keep_tensor(struct ckpt_spans *spans, const struct ckpt_span *span)
{
	struct ckpt_arena *arena = &spans->arena;
	struct ckpt_span copy = *span, *grown;
	uint64_t *dims;
	size_t bytes = span->rank * sizeof *dims;

	dims = ckpt_arena_alloc(arena, bytes);
	copy.name = (const uint8_t *)ckpt_arena_strndup(
		arena, span->name, span->name_len);
	if (!dims || !copy.name)
		return ckpt_arena_status(&spans->arena);
	if (bytes)
		memcpy(dims, span->dims, bytes);
	copy.dims = dims;
	copy.nth = count_role(spans, span->role);
	grown = ckpt_arena_push(
		arena, spans->tensors, spans->ntensors, sizeof *grown);
	if (!grown)
		return ckpt_arena_status(&spans->arena);
	spans->tensors = grown;
	spans->tensors[spans->ntensors++] = copy;
	return CKPT_OK;
}

enum ckpt_status
ckpt_spans_keep(struct ckpt_spans *spans, const struct ckpt_event *event)
{
	switch (event->kind) {
	case CKPT_EV_FIELD:
		return spans->sink.wants_fields ? keep_field(spans, event)
						: CKPT_OK;
	case CKPT_EV_SPAN: return keep_tensor(spans, event->span);
	case CKPT_EV_BEGIN:
	case CKPT_EV_DATA:
	case CKPT_EV_END: break;
	}
	return CKPT_OK;
}

static enum ckpt_status
listen(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	return ckpt_spans_keep((struct ckpt_spans *)sink, event);
}

void
ckpt_spans_init(struct ckpt_spans *spans, uint64_t budget, bool with_fields)
{
	memset(spans, 0, sizeof *spans);
	spans->sink.event = listen;
	spans->sink.wants_fields = with_fields;
	ckpt_arena_init(&spans->arena, budget);
}

void
ckpt_spans_window(struct ckpt_spans *spans, uint64_t from, uint64_t end)
{
	spans->sink.fields_from = from;
	spans->sink.fields_end = end;
}

void
ckpt_spans_release(struct ckpt_spans *spans)
{
	ckpt_arena_release(&spans->arena);
	memset(spans, 0, sizeof *spans);
}

bool
ckpt_span_end(const struct ckpt_span *span, uint64_t *end)
{
	return ckpt_add_u64(span->off, span->len, end);
}

bool
ckpt_span_elements(const struct ckpt_span *span, uint64_t *elements)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < span->rank; i++)
		if (!ckpt_mul_u64(n, span->dims[i], &n))
			return false;
	*elements = n;
	return true;
}

/* ---- Dividing the file -------------------------------------------------- */

struct tiler {
	struct ckpt_spans *spans;
	uint64_t header_end;
	uint64_t at;         /* everything before has an owner */
	uint64_t tensor_end; /* of the last tensor, within the file */
};

static enum ckpt_status
push(struct ckpt_spans *spans, enum ckpt_owner_kind kind, uint64_t off,
	uint64_t end, uint64_t index)
{
	struct ckpt_owner *grown;

	if (off >= end)
		return CKPT_OK;
	grown = ckpt_arena_push(
		&spans->arena, spans->owners, spans->nowners, sizeof *grown);
	if (!grown)
		return ckpt_arena_status(&spans->arena);
	spans->owners = grown;
	spans->owners[spans->nowners++] =
		(struct ckpt_owner){ kind, off, end, index };
	return CKPT_OK;
}

/* What lies between two owners is named by where it is. */
static enum ckpt_status
fill(struct tiler *t, uint64_t end)
{
	static const enum ckpt_owner_kind kinds[] = { CKPT_OWNER_HEADER,
		CKPT_OWNER_GAP, CKPT_OWNER_NONE };
	const uint64_t limits[] = { t->header_end, t->tensor_end, end };

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		uint64_t stop = limits[i] < end ? limits[i] : end;

		if (t->at >= stop)
			continue;
		CKPT_TRY(push(t->spans, kinds[i], t->at, stop, 0));
		t->at = stop;
	}
	return CKPT_OK;
}

/* An owner that may reach back over bytes that are given away already. */
static enum ckpt_status
give(struct tiler *t, enum ckpt_owner_kind kind, uint64_t off, uint64_t end,
	uint64_t index)
{
	if (end > t->spans->size)
		end = t->spans->size;
	if (off < t->at)
		off = t->at;
	if (off >= end)
		return CKPT_OK;
	CKPT_TRY(fill(t, off));
	t->at = end;
	return push(t->spans, kind, off, end, index);
}

/* All fields that begin before end. */
static enum ckpt_status
give_fields(struct tiler *t, const uint32_t *order, uint64_t *next,
	uint64_t end, uint64_t tensor, bool inside)
{
	const struct ckpt_spans *spans = t->spans;

	for (; *next < spans->nfields; ++*next) {
		const struct ckpt_span_field *f = &spans->fields[order[*next]];

		if (f->off >= end)
			break;
		/* A tensor owns what fields inside it leave over. */
		if (inside)
			CKPT_TRY(give(
				t, CKPT_OWNER_TENSOR, t->at, f->off, tensor));
		CKPT_TRY(give(t, CKPT_OWNER_FIELD, f->off, f->off + f->len,
			order[*next]));
	}
	return CKPT_OK;
}

static int
by_offset(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_span *tensors = ctx;

	return (tensors[a].off > tensors[b].off) -
	       (tensors[a].off < tensors[b].off);
}

static int
fields_by_offset(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_span_field *fields = ctx;

	return (fields[a].off > fields[b].off) -
	       (fields[a].off < fields[b].off);
}

/* Bytes of the tensor inside the file; an end beyond 64 bits is clipped. */
static uint64_t
clipped_end(const struct ckpt_spans *spans, const struct ckpt_span *tensor)
{
	uint64_t end;

	if (!ckpt_span_end(tensor, &end) || end > spans->size)
		return spans->size;
	return end;
}

static enum ckpt_status
divide(struct tiler *t, const uint32_t *fields, const uint32_t *tensors)
{
	struct ckpt_spans *spans = t->spans;
	uint64_t next = 0;

	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *s = &spans->tensors[tensors[i]];
		uint64_t end = clipped_end(spans, s);

		if (s->off >= end || end <= t->at)
			continue;
		CKPT_TRY(give_fields(t, fields, &next, s->off, 0, false));
		CKPT_TRY(fill(t, s->off > t->at ? s->off : t->at));
		CKPT_TRY(give_fields(t, fields, &next, end, tensors[i], true));
		CKPT_TRY(give(t, CKPT_OWNER_TENSOR, s->off, end, tensors[i]));
	}
	CKPT_TRY(give_fields(t, fields, &next, UINT64_MAX, 0, false));
	return fill(t, spans->size);
}

enum ckpt_status
ckpt_spans_close(struct ckpt_spans *spans, uint64_t header_end, uint64_t size)
{
	struct tiler t = { .spans = spans,
		.header_end = header_end < size ? header_end : size };
	uint32_t *fields, *tensors;

	spans->size = size;
	spans->owners = NULL;
	spans->nowners = 0;
	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *s = &spans->tensors[i];
		uint64_t end = clipped_end(spans, s);

		if (s->off < end && end > t.tensor_end)
			t.tensor_end = end;
	}
	fields = ckpt_sorted(
		&spans->arena, spans->nfields, fields_by_offset, spans->fields);
	tensors = ckpt_sorted(
		&spans->arena, spans->ntensors, by_offset, spans->tensors);
	if (!fields || !tensors)
		return ckpt_arena_status(&spans->arena);
	return divide(&t, fields, tensors);
}

/* ---- Asking ------------------------------------------------------------- */

const struct ckpt_owner *
ckpt_spans_at(const struct ckpt_spans *spans, uint64_t off)
{
	uint64_t low = 0, high = spans->nowners;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (spans->owners[mid].end <= off)
			low = mid + 1;
		else
			high = mid;
	}
	return low < spans->nowners ? &spans->owners[low] : NULL;
}

void
ckpt_span_field_write(struct ckpt_buf *buf, const struct ckpt_span_field *field)
{
	const struct ckpt_field row = {
		.name = field->name,
		.type = field->type,
		.want = field->want,
		.flags = field->flags,
	};

	ckpt_field_value_write(buf, &row, &field->value);
}

bool
ckpt_span_element(const struct ckpt_span *span, uint64_t off, uint64_t *element,
	uint64_t *start)
{
	uint64_t in;

	if (span->width == 0 || !ckpt_sub_u64(off, span->off, &in))
		return false;
	*element = in / span->width;
	*start = off - in % span->width;
	return true;
}

void
ckpt_span_index_write(
	struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t element)
{
	if (span->rank == 2 && span->dims[1] > 0)
		ckpt_buf_printf(buf, "[%llu,%llu]",
			(unsigned long long)(element / span->dims[1]),
			(unsigned long long)(element % span->dims[1]));
	else
		ckpt_buf_printf(buf, "[%llu]", (unsigned long long)element);
}
