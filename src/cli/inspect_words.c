/* SPDX-License-Identifier: MIT */
/*
 * Words that several sections share: offsets, ranges, names and shapes of
 * tensors, and the paths of bytes. Names come from the file and pass the
 * sanitiser here; everything else is ours.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "format/alias.h"
#include "wire/value.h"

enum { NAME_SHOWN = 80, DIMS_SHOWN = 8 };

void
inspect_offset_write(struct ckpt_buf *buf, uint64_t off)
{
	ckpt_buf_printf(buf, "%" PRIu64 " (0x%" PRIx64 ")", off, off);
}

void
inspect_range_write(struct ckpt_buf *buf, uint64_t off, uint64_t len)
{
	uint64_t end;

	if (ckpt_add_u64(off, len, &end))
		ckpt_buf_printf(buf, "[%" PRIu64 ",%" PRIu64 ")", off, end);
	else
		ckpt_buf_printf(buf, "[%" PRIu64 ",beyond 64 bits)", off);
}

void
inspect_name_write(struct ckpt_buf *buf, const struct ckpt_span *span)
{
	ckpt_buf_puts(buf, span->label);
	ckpt_buf_escape(buf, span->name, span->name_len, NAME_SHOWN);
}

void
inspect_shape_write(struct ckpt_buf *buf, const struct ckpt_span *span)
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
inspect_element_write(struct ckpt_buf *buf, const struct inspect *in,
	const struct ckpt_span *span, uint64_t off)
{
	ckpt_buf_printf(buf, "%s[%" PRIu64 "]", in->records, span->index);
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

/* How many records of the same role stand before this one. */
static uint64_t
number_in_role(const struct inspect *in, const struct ckpt_span *span)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < in->spans.ntensors; i++) {
		const struct ckpt_span *other = &in->spans.tensors[i];

		if (other->index < span->index &&
			strcmp(other->role, span->role) == 0)
			n++;
	}
	return n;
}

void
inspect_alias_write(struct ckpt_buf *buf, const struct inspect *in,
	const struct ckpt_span *span, uint64_t off)
{
	const struct ckpt_format *format = in->run->format;
	const struct ckpt_want *tags = role_tags(format);

	for (size_t i = 0; tags && i < format->naliases; i++) {
		const struct ckpt_alias *alias = &format->aliases[i];
		const char *role = ckpt_tag_name(tags, alias->role);

		if (!role || strcmp(role, span->role) != 0)
			continue;
		ckpt_buf_puts(buf, alias->prefix);
		if (alias->by == CKPT_ALIAS_BY_NAME)
			ckpt_buf_escape(
				buf, span->name, span->name_len, NAME_SHOWN);
		else if (alias->by == CKPT_ALIAS_BY_INDEX)
			ckpt_buf_printf(
				buf, "[%" PRIu64 "]", number_in_role(in, span));
		write_data(buf, span, off);
		return;
	}
}

const char *
inspect_field_part(const struct ckpt_span_field *field, uint64_t off)
{
	if (field->type != CKPT_STR)
		return "";
	return off - field->off < 4 ? ".length" : ".bytes";
}

const char *
inspect_owner_kind(enum ckpt_owner_kind kind)
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
inspect_owner_write(struct ckpt_buf *buf, const struct inspect *in,
	const struct ckpt_owner *owner, uint64_t off)
{
	const struct ckpt_span_field *field;

	switch (owner->kind) {
	case CKPT_OWNER_FIELD:
		field = &in->spans.fields[owner->index];
		ckpt_buf_puts(buf, field->path);
		ckpt_buf_puts(buf, inspect_field_part(field, off));
		break;
	case CKPT_OWNER_TENSOR:
		inspect_element_write(
			buf, in, &in->spans.tensors[owner->index], off);
		break;
	case CKPT_OWNER_HEADER:
	case CKPT_OWNER_GAP:
	case CKPT_OWNER_NONE:
		ckpt_buf_printf(buf, "(%s)", inspect_owner_kind(owner->kind));
		break;
	}
}

void
inspect_status_write(struct ckpt_buf *buf, const struct ckpt_span *span)
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

/* What a file is that nobody claimed stands in the note of its finding. */
void
inspect_format_write(struct ckpt_buf *buf, const struct inspect *in)
{
	const struct ckpt_diag *primary = ckpt_run_primary(in->run);
	unsigned version;
	const char *name = ckpt_run_format(in->run, &version);

	if (name) {
		ckpt_buf_puts(buf, name);
		if (version > 0) /* else the file ends before it */
			ckpt_buf_printf(buf, " v%u", version);
		ckpt_buf_printf(buf, " (%s)", in->run->format->title);
		return;
	}
	ckpt_buf_puts(buf, "none that is known");
	if (primary && primary->note)
		ckpt_buf_printf(buf, "; %s", primary->note);
}

void
inspect_empty_write(struct inspect *in, const char *what, uint64_t n)
{
	if (n > 0)
		return;
	ckpt_buf_printf(&in->out, "no %s: ", what);
	if (!in->run->format) {
		ckpt_buf_puts(&in->out, "the format is ");
		inspect_format_write(&in->out, in);
		ckpt_buf_puts(&in->out, "\n");
	} else if (ckpt_run_primary(in->run)) {
		ckpt_buf_puts(&in->out,
			"the header could not be read that far (see "
			"--batch=findings)\n");
	} else {
		ckpt_buf_puts(&in->out, "the file has none\n");
	}
}

json_t *
inspect_json_range(uint64_t off, uint64_t len)
{
	uint64_t end;

	return json_pack("[o, o]", ckpt_json_u64(off),
		ckpt_add_u64(off, len, &end) ? ckpt_json_u64(end)
					     : json_null());
}

json_t *
inspect_json_shape(const struct ckpt_span *span)
{
	json_t *shape = json_array();

	for (uint32_t i = 0; i < span->rank; i++)
		if (json_array_append_new(
			    shape, ckpt_json_u64(span->dims[i])) != 0) {
			json_decref(shape);
			return NULL;
		}
	return shape;
}

json_t *
inspect_json_marks(const struct inspect *in, uint64_t record)
{
	const struct inspect_mark *mark = inspect_marks_of(in, record);
	json_t *ids = json_array();

	for (; mark && mark < in->marks + in->nmarks && mark->record == record;
		mark++) {
		const struct ckpt_diag *d =
			ckpt_run_finding(in->run, (size_t)mark->finding);

		if (json_array_append_new(ids, json_string(d->rule->id)) != 0) {
			json_decref(ids);
			return NULL;
		}
	}
	return ids;
}
