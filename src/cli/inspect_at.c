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
#include "sink/spot.h"
#include "wire/value.h"

enum { BYTES_SHOWN = 32, CLAIMS_SHOWN = 4 };

/* What is known of the byte; text cells are filled for both outputs. */
struct spot {
	struct ckpt_spot at;
	struct ckpt_buf path, alias, value;
	uint8_t bytes[BYTES_SHOWN];
	size_t nbytes;
};

/* Of a field what was read, which may be more than the bytes shown. */
static void
write_value(struct spot *spot, const struct inspect *in)
{
	const struct ckpt_span_field *f = spot->at.field;

	if (f && strcmp(ckpt_field_part(f, in->offset), ".length") == 0)
		ckpt_buf_printf(&spot->value, "%zu", f->value.n);
	else if (f)
		ckpt_span_field_write(&spot->value, f);
	else if (spot->at.has_element && spot->nbytes < spot->at.len &&
		 spot->at.len <= 8)
		ckpt_buf_puts(&spot->value, "cut off by the end of the file");
	else
		ckpt_spot_write(
			&spot->value, &spot->at, spot->bytes, spot->nbytes);
}

static void
look(struct spot *spot, struct inspect *in)
{
	memset(spot, 0, sizeof *spot);
	if (!ckpt_spot_at(&spot->at, &in->spans, in->offset))
		return;
	ckpt_owner_write(&spot->path, &in->spans, spot->at.owner, in->offset);
	if (spot->at.span)
		ckpt_span_alias_write(
			&spot->alias, &in->spans, spot->at.span, in->offset);
	spot->nbytes = inspect_bytes_get(&in->bytes, spot->at.off, spot->bytes,
		spot->at.len < BYTES_SHOWN ? (size_t)spot->at.len
					   : BYTES_SHOWN);
	write_value(spot, in);
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
	const struct ckpt_span_field *f = spot->at.field;
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

		if (s == spot->at.span || in->offset < s->off ||
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
	const struct ckpt_span *s = spot->at.span;
	struct ckpt_buf *out = &in->out;

	line(in, "tensor");
	ckpt_span_name_write(out, s);
	ckpt_buf_printf(out, ", %s, %s ", s->role, s->dtype);
	ckpt_span_shape_write(out, s);
	ckpt_buf_puts(out, ", ");
	ckpt_range_write(out, s->off, s->len);
	ckpt_buf_puts(out, "\n");
	if (!spot->at.has_element)
		return;
	line(in, "element");
	ckpt_buf_printf(out, "%" PRIu64, spot->at.element);
	ckpt_buf_printf(out, " of %" PRIu64 ", byte %" PRIu64 " of %u\n",
		s->len / s->width, in->offset - spot->at.off, s->width);
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
	ckpt_buf_puts(&in->out, where[spot->at.owner->kind]);
	ckpt_range_write(&in->out, spot->at.owner->off,
		spot->at.owner->end - spot->at.owner->off);
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
	if (!spot.at.owner)
		return;
	line(in, "offset");
	ckpt_offset_write(out, in->offset);
	ckpt_buf_puts(out, "\n");
	line_buf(in, "owner", &spot.path);
	line_buf(in, "also", &spot.alias);
	if (spot.at.field)
		write_field(in, &spot);
	else if (spot.at.span)
		write_tensor(in, &spot);
	else
		write_nobody(in, &spot);
	line(in, "bytes");
	for (size_t i = 0; i < spot.nbytes; i++)
		ckpt_buf_printf(out, "%02x ", spot.bytes[i]);
	ckpt_buf_printf(out, "%sat ", spot.nbytes < spot.at.len ? "... " : "");
	ckpt_offset_write(out, spot.at.off);
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
	const struct ckpt_span *span = spot->at.span;
	uint8_t wide[8] = { 0 };

	if (spot->at.field &&
		strcmp(ckpt_field_part(spot->at.field, in->offset),
			".length") == 0)
		return ckpt_json_u64(spot->at.field->value.n);
	if (spot->at.field)
		return ckpt_json_value(&spot->at.field->value);
	if (!span || !spot->at.has_element || spot->nbytes < span->width ||
		span->width > sizeof wide)
		return json_null();
	memcpy(wide, spot->bytes, span->width);
	return ckpt_number_json(span, ckpt_load_u64(wide));
}

json_t *
inspect_at_json(struct inspect *in)
{
	struct spot spot;
	struct ckpt_buf hex;
	json_t *value, *bytes, *object;

	look(&spot, in);
	if (!spot.at.owner)
		return NULL;
	ckpt_buf_init(&hex);
	for (size_t i = 0; i < spot.nbytes; i++)
		ckpt_buf_printf(&hex, "%02x", spot.bytes[i]);
	bytes = ckpt_json_take(&hex);
	ckpt_buf_release(&hex);
	value = value_json(in, &spot);
	object = json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"offset", ckpt_json_u64(in->offset), "kind",
		ckpt_owner_kind_name(spot.at.owner->kind), "path",
		ckpt_json_take(&spot.path), "alias",
		spot.alias.n ? ckpt_json_take(&spot.alias) : json_null(),
		"record",
		spot.at.span ? ckpt_json_u64(spot.at.span->index) : json_null(),
		"element",
		spot.at.has_element ? ckpt_json_u64(spot.at.element)
				    : json_null(),
		"range", inspect_json_range(spot.at.off, spot.at.len), "bytes",
		bytes, "value", value, "rules", rules_json(in));
	release(&spot);
	return object;
}
