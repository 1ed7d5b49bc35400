/* SPDX-License-Identifier: MIT */
/*
 * Spans, owners and elements in words: what tables, panes and messages say of
 * bytes. Names come from the file and pass the sanitiser here; everything
 * else is ours.
 */
#include "sink/words.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "format/alias.h"
#include "wire/value.h"

enum { NAME_SHOWN = CKPT_BUF_SHOWN, DIMS_SHOWN = 8 };

const char *
ckpt_records_name(const struct ckpt_format *format)
{
	const struct ckpt_field *records =
		format ? ckpt_payload_records(format) : NULL;

	return records ? records->name : "records";
}

void
ckpt_offset_write(struct ckpt_buf *buf, uint64_t off)
{
	ckpt_buf_printf(buf, "%" PRIu64 " (0x%" PRIx64 ")", off, off);
}

void
ckpt_range_write(struct ckpt_buf *buf, uint64_t off, uint64_t len)
{
	uint64_t end;

	if (ckpt_add_u64(off, len, &end))
		ckpt_buf_printf(buf, "[%" PRIu64 ",%" PRIu64 ")", off, end);
	else
		ckpt_buf_printf(buf, "[%" PRIu64 ",beyond 64 bits)", off);
}

void
ckpt_span_name_write(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	ckpt_buf_puts(buf, span->label);
	ckpt_buf_escape(buf, span->name, span->name_len, NAME_SHOWN);
}

void
ckpt_span_shape_write(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	ckpt_buf_puts(buf, "[");
	for (uint32_t i = 0; i < span->rank && i < DIMS_SHOWN; i++)
		ckpt_buf_printf(buf, "%s%" PRIu64, i ? "," : "", span->dims[i]);
	if (span->rank > DIMS_SHOWN)
		ckpt_buf_printf(buf, ",... %" PRIu32 " dims", span->rank);
	ckpt_buf_puts(buf, "]");
}

static void
write_data(struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t off)
{
	uint64_t element, start;

	ckpt_buf_puts(buf, ".data");
	if (ckpt_span_element(span, off, &element, &start))
		ckpt_span_index_write(buf, span, element);
}

void
ckpt_span_path_write(struct ckpt_buf *buf, const struct ckpt_spans *spans,
	const struct ckpt_span *span, uint64_t off)
{
	ckpt_buf_printf(buf, "%s[%" PRIu64 "]", spans->records, span->index);
	write_data(buf, span, off);
}

/* The tags of the field that gives records their roles. */
static const struct ckpt_want *
role_tags(const struct ckpt_format *format)
{
	const struct ckpt_field *records =
		format ? ckpt_payload_records(format) : NULL;
	const struct ckpt_field *role =
		records ? ckpt_record_field(records->rec, "role") : NULL;

	return role ? role->want : NULL;
}

const struct ckpt_alias *
ckpt_span_alias(const struct ckpt_spans *spans, const struct ckpt_span *span)
{
	const struct ckpt_format *format = spans->format;
	const struct ckpt_want *tags = role_tags(format);

	for (size_t i = 0; format && i < format->naliases; i++) {
		const struct ckpt_alias *alias = &format->aliases[i];
		const char *role = ckpt_tag_name(tags, alias->role);

		if (!tags || (role && strcmp(role, span->role) == 0))
			return alias;
	}
	return NULL;
}

void
ckpt_span_alias_write(struct ckpt_buf *buf, const struct ckpt_spans *spans,
	const struct ckpt_span *span, uint64_t off)
{
	const struct ckpt_alias *alias = ckpt_span_alias(spans, span);

	if (!alias)
		return;
	ckpt_buf_puts(buf, alias->prefix);
	if (alias->by == CKPT_ALIAS_BY_NAME)
		ckpt_buf_escape(buf, span->name, span->name_len, NAME_SHOWN);
	else if (alias->by == CKPT_ALIAS_BY_INDEX)
		ckpt_buf_printf(buf, "[%" PRIu64 "]", span->nth);
	write_data(buf, span, off);
}

const char *
ckpt_field_part(const struct ckpt_span_field *field, uint64_t off)
{
	if (field->type != CKPT_STR || field->flags & CKPT_IS_JSON)
		return "";
	return off - field->off < 4 ? ".length" : ".bytes";
}

const char *
ckpt_owner_kind_name(enum ckpt_owner_kind kind)
{
	switch (kind) {
	case CKPT_OWNER_FIELD: return "field";
	case CKPT_OWNER_TENSOR: return "tensor";
	case CKPT_OWNER_HEADER: return "unparsed";
	case CKPT_OWNER_GAP: return "gap";
	case CKPT_OWNER_NONE: return "unowned";
	}
	return "";
}

void
ckpt_owner_write(struct ckpt_buf *buf, const struct ckpt_spans *spans,
	const struct ckpt_owner *owner, uint64_t off)
{
	const struct ckpt_span_field *field;

	switch (owner->kind) {
	case CKPT_OWNER_FIELD:
		field = &spans->fields[owner->index];
		ckpt_buf_puts(buf, field->path);
		ckpt_buf_puts(buf, ckpt_field_part(field, off));
		break;
	case CKPT_OWNER_TENSOR:
		ckpt_span_path_write(
			buf, spans, &spans->tensors[owner->index], off);
		break;
	case CKPT_OWNER_HEADER:
	case CKPT_OWNER_GAP:
	case CKPT_OWNER_NONE:
		ckpt_buf_printf(buf, "(%s)", ckpt_owner_kind_name(owner->kind));
		break;
	}
}

void
ckpt_span_status_write(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	if (span->expected == CKPT_ANYWHERE)
		ckpt_buf_puts(buf, "unknown");
	else if (span->off == span->expected)
		ckpt_buf_puts(buf, "ok");
	else if (span->off > span->expected)
		ckpt_buf_printf(
			buf, "gap %" PRIu64, span->off - span->expected);
	else
		ckpt_buf_printf(
			buf, "overlap %" PRIu64, span->expected - span->off);
}
