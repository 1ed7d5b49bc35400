/* SPDX-License-Identifier: MIT */
/*
 * --at: everything about one byte. Its owner by path, and by role and name if
 * the format has such names; the value it is part of, with all its bytes; the
 * findings on it. The byte itself was checked to be in the file.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/value.h"

enum { BYTES_SHOWN = 32, CLAIMS_SHOWN = 4 };

/* What is known of the byte; text cells are filled for both outputs. */
struct spot {
	const struct ckpt_owner *owner;
	struct ckpt_buf path, alias, value;
	uint64_t off, len; /* of the value that the byte is part of */
	uint8_t bytes[BYTES_SHOWN];
	size_t nbytes;
	const struct ckpt_span *span;
	const struct ckpt_span_field *field;
	uint64_t element;
	bool has_element;
};

static void
look_field(struct spot *spot, const struct inspect *in)
{
	const struct ckpt_span_field *f = &in->spans.fields[spot->owner->index];

	spot->field = f;
	spot->off = f->off;
	spot->len = f->len;
	if (f->flags & CKPT_IS_JSON) {
		ckpt_span_field_write(&spot->value, f);
		return;
	}
	if (f->type == CKPT_STR && in->offset - f->off < 4) {
		spot->len = 4;
		ckpt_buf_printf(&spot->value, "%zu", f->value.n);
		return;
	}
	if (f->type == CKPT_STR) {
		spot->off += 4;
		spot->len -= 4;
	}
	ckpt_span_field_write(&spot->value, f);
}

static void
look_tensor(struct spot *spot, struct inspect *in)
{
	const struct ckpt_span *span = &in->spans.tensors[spot->owner->index];
	uint8_t wide[8] = { 0 };

	spot->span = span;
	spot->off = in->offset;
	spot->len = 1;
	ckpt_span_alias_write(&spot->alias, &in->spans, span, in->offset);
	if (!ckpt_span_element(span, in->offset, &spot->element, &spot->off))
		return;
	spot->has_element = true;
	spot->len = span->width;
	if (span->width > sizeof wide)
		return;
	if (inspect_bytes_get(&in->bytes, spot->off, wide, span->width) ==
		span->width)
		ckpt_number_write(&spot->value, span, ckpt_load_u64(wide));
	else
		ckpt_buf_puts(&spot->value, "cut off by the end of the file");
}

static void
look(struct spot *spot, struct inspect *in)
{
	memset(spot, 0, sizeof *spot);
	spot->owner = ckpt_spans_at(&in->spans, in->offset);
	if (!spot->owner)
		return;
	ckpt_owner_write(&spot->path, &in->spans, spot->owner, in->offset);
	spot->off = spot->owner->off;
	spot->len = spot->owner->end - spot->owner->off;
	if (spot->owner->kind == CKPT_OWNER_FIELD) {
		look_field(spot, in);
	} else if (spot->owner->kind == CKPT_OWNER_TENSOR) {
		look_tensor(spot, in);
	} else {
		/* Of bytes without meaning the one itself is all there is. */
		spot->off = in->offset;
		spot->len = 1;
	}
	spot->nbytes = inspect_bytes_get(&in->bytes, spot->off, spot->bytes,
		spot->len < BYTES_SHOWN ? (size_t)spot->len : BYTES_SHOWN);
}

static void
release(struct spot *spot)
{
	ckpt_buf_release(&spot->path);
	ckpt_buf_release(&spot->alias);
	ckpt_buf_release(&spot->value);
}

static void
line(struct inspect *in, const char *title)
{
	ckpt_buf_printf(&in->out, "%-9s ", title);
}

static void
line_buf(struct inspect *in, const char *title, const struct ckpt_buf *buf)
{
	if (buf->n == 0)
		return;
	line(in, title);
	ckpt_buf_add(&in->out, buf->p, buf->n);
	ckpt_buf_puts(&in->out, "\n");
}

static void
write_field(struct inspect *in, const struct spot *spot)
{
	const struct ckpt_span_field *f = spot->field;
	struct ckpt_buf legal;

	line(in, "field");
	ckpt_buf_printf(&in->out, "%s, %s ", f->title ? f->title : f->name,
		ckpt_type_name(f->type));
	ckpt_range_write(&in->out, f->off, f->len);
	ckpt_buf_puts(&in->out, "\n");
	ckpt_buf_init(&legal);
	ckpt_want_write(&legal, f->want);
	line_buf(in, "legal", &legal);
	ckpt_buf_release(&legal);
	if (f->doc) {
		line(in, "meaning");
		ckpt_buf_printf(&in->out, "%s\n", f->doc);
	}
}

/* Other tensors that claim the byte as well. */
static void
write_claims(struct inspect *in, const struct spot *spot)
{
	uint64_t said = 0;

	for (uint64_t i = 0; i < in->spans.ntensors; i++) {
		const struct ckpt_span *s = &in->spans.tensors[i];

		if (s == spot->span || in->offset < s->off ||
			in->offset - s->off >= s->len)
			continue;
		line(in, "claimed");
		if (said++ == CLAIMS_SHOWN) {
			ckpt_buf_puts(&in->out, "by more records\n");
			return;
		}
		ckpt_buf_puts(&in->out, "also by ");
		ckpt_span_path_write(&in->out, &in->spans, s, in->offset);
		ckpt_buf_puts(&in->out, "\n");
	}
}

static void
write_tensor(struct inspect *in, const struct spot *spot)
{
	const struct ckpt_span *s = spot->span;
	struct ckpt_buf *out = &in->out;

	line(in, "tensor");
	ckpt_span_name_write(out, s);
	ckpt_buf_printf(out, ", %s, %s ", s->role, s->dtype);
	ckpt_span_shape_write(out, s);
	ckpt_buf_puts(out, ", ");
	ckpt_range_write(out, s->off, s->len);
	ckpt_buf_puts(out, "\n");
	if (!spot->has_element)
		return;
	line(in, "element");
	ckpt_buf_printf(out, "%" PRIu64, spot->element);
	ckpt_buf_printf(out, " of %" PRIu64 ", byte %" PRIu64 " of %u\n",
		s->len / s->width, in->offset - spot->off, s->width);
}

static void
write_nobody(struct inspect *in, const struct spot *spot)
{
	static const char *const where[] = {
		[CKPT_OWNER_FIELD] = "",
		[CKPT_OWNER_TENSOR] = "",
		[CKPT_OWNER_HEADER] = "header bytes that are no field, ",
		[CKPT_OWNER_GAP] = "payload bytes of no tensor, ",
		[CKPT_OWNER_NONE] = "bytes without owner, ",
	};

	line(in, "among");
	ckpt_buf_puts(&in->out, where[spot->owner->kind]);
	ckpt_range_write(&in->out, spot->owner->off,
		spot->owner->end - spot->owner->off);
	ckpt_buf_puts(&in->out, "\n");
	if (in->run->format)
		return;
	line(in, "format");
	inspect_format_write(&in->out, in);
	ckpt_buf_puts(&in->out, "\n");
}

static bool
covers(const struct ckpt_diag *d, uint64_t off)
{
	return inspect_finding_placed(d) && off >= d->off &&
	       off - d->off < (d->len ? d->len : 1);
}

static void
write_findings(struct inspect *in)
{
	for (size_t i = 0; i < ckpt_run_finding_count(in->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(in->run, i);

		if (!covers(d, in->offset))
			continue;
		line(in, "finding");
		ckpt_buf_printf(&in->out, "%s %s, %s\n", d->rule->id,
			d->rule->slug, d->path);
	}
}

void
inspect_at_text(struct inspect *in)
{
	struct ckpt_buf *out = &in->out;
	struct spot spot;

	look(&spot, in);
	if (!spot.owner)
		return;
	line(in, "offset");
	ckpt_offset_write(out, in->offset);
	ckpt_buf_puts(out, "\n");
	line_buf(in, "owner", &spot.path);
	line_buf(in, "also", &spot.alias);
	if (spot.field)
		write_field(in, &spot);
	else if (spot.span)
		write_tensor(in, &spot);
	else
		write_nobody(in, &spot);
	line(in, "bytes");
	for (size_t i = 0; i < spot.nbytes; i++)
		ckpt_buf_printf(out, "%02x ", spot.bytes[i]);
	ckpt_buf_printf(out, "%sat ", spot.nbytes < spot.len ? "... " : "");
	ckpt_offset_write(out, spot.off);
	ckpt_buf_puts(out, "\n");
	line_buf(in, "value", &spot.value);
	write_claims(in, &spot);
	write_findings(in);
	release(&spot);
}

static json_t *
rules_json(const struct inspect *in)
{
	json_t *ids = json_array();

	for (size_t i = 0; i < ckpt_run_finding_count(in->run); i++) {
		const struct ckpt_diag *d = ckpt_run_finding(in->run, i);

		if (covers(d, in->offset) &&
			json_array_append_new(ids, json_string(d->rule->id)) !=
				0) {
			json_decref(ids);
			return NULL;
		}
	}
	return ids;
}

static json_t *
value_json(const struct inspect *in, struct spot *spot)
{
	const struct ckpt_span *span = spot->span;
	uint8_t wide[8] = { 0 };

	if (spot->field && strcmp(ckpt_field_part(spot->field, in->offset),
				   ".length") == 0)
		return ckpt_json_u64(spot->field->value.n);
	if (spot->field)
		return ckpt_json_value(&spot->field->value);
	if (!span || !spot->has_element || spot->nbytes < span->width ||
		span->width > sizeof wide)
		return json_null();
	memcpy(wide, spot->bytes, span->width);
	return inspect_element_json(span, ckpt_load_u64(wide));
}

json_t *
inspect_at_json(struct inspect *in)
{
	struct spot spot;
	struct ckpt_buf hex;
	json_t *value, *bytes, *object;

	look(&spot, in);
	if (!spot.owner)
		return NULL;
	ckpt_buf_init(&hex);
	for (size_t i = 0; i < spot.nbytes; i++)
		ckpt_buf_printf(&hex, "%02x", spot.bytes[i]);
	bytes = ckpt_json_take(&hex);
	ckpt_buf_release(&hex);
	value = value_json(in, &spot);
	object = json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"offset", ckpt_json_u64(in->offset), "kind",
		ckpt_owner_kind_name(spot.owner->kind), "path",
		ckpt_json_take(&spot.path), "alias",
		spot.alias.n ? ckpt_json_take(&spot.alias) : json_null(),
		"record",
		spot.span ? ckpt_json_u64(spot.span->index) : json_null(),
		"element",
		spot.has_element ? ckpt_json_u64(spot.element) : json_null(),
		"range", inspect_json_range(spot.off, spot.len), "bytes", bytes,
		"value", value, "rules", rules_json(in));
	release(&spot);
	return object;
}
