/* SPDX-License-Identifier: MIT */
/*
 * What the inspector says of the byte under the cursor, what matters most
 * first: whose it is, what that means, the value and its bytes, what would be
 * legal, what is wrong with it; then the same bytes as every type. The words
 * are those of `ckinspect --at`.
 */
#include "view/inspector.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "sink/number.h"
#include "sink/report.h"
#include "view/numbers.h"
#include "view/spot.h"
#include "wire/value.h"

enum { BYTES_SHOWN = 32, CLAIMS_SHOWN = 4, FINDINGS_SHOWN = 8 };

/* What is known of the byte. */
struct place {
	struct view *view;
	struct view_spot spot;
	uint64_t off;
	uint8_t bytes[BYTES_SHOWN]; /* the first of the value */
	size_t nbytes;
};

/* Ends what was written since the last call; nothing is no line. */
static void
said(struct view_sayings *say, const char *label, unsigned style)
{
	if (say->text.n > say->from && say->n < VIEW_SAYINGS)
		say->list[say->n++] = (struct view_saying){ label, say->from,
			say->text.n - say->from, style };
	say->from = say->text.n;
}

static void
say_bytes(struct view_sayings *say, const struct place *p)
{
	const struct view_spot *spot = &p->spot;

	for (size_t i = 0; i < p->nbytes; i++)
		ckpt_buf_printf(&say->text, "%02x ", p->bytes[i]);
	if (p->nbytes < spot->len && p->nbytes < BYTES_SHOWN)
		ckpt_buf_puts(&say->text, "(cut off by the end of the file) ");
	else if (p->nbytes < spot->len)
		ckpt_buf_puts(&say->text, "... ");
	ckpt_buf_puts(&say->text, "at ");
	ckpt_offset_write(&say->text, spot->off);
	said(say, "bytes", VIEW_PLAIN);
}

/* ---- Fields ------------------------------------------------------------- */

/* The words of a tag behind its name. */
static void
write_tag_doc(struct ckpt_buf *buf, const struct ckpt_span_field *f)
{
	const struct ckpt_want *want = f->want;

	if (!want || want->kind != CKPT_WANT_TAGS ||
		f->value.kind != CKPT_V_U64)
		return;
	for (size_t i = 0; i < want->ntags; i++)
		if (want->tags[i].value == f->value.u64 && want->tags[i].doc)
			ckpt_buf_printf(buf, ": %s", want->tags[i].doc);
}

static void
say_flags(struct view_sayings *say, const struct ckpt_span_field *f)
{
	static const struct {
		unsigned flag;
		const char *words;
	} rows[] = {
		{ CKPT_IS_OFFSET, "an offset in the file: Enter goes there" },
		{ CKPT_IS_LENGTH, "a length in bytes" },
		{ CKPT_HASH_AS_ZERO, "the checksum; its own bytes count as 0" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (f->flags & rows[i].flag)
			ckpt_buf_puts(&say->text, rows[i].words);
		said(say, "is", VIEW_PLAIN);
	}
}

static void
say_field(struct view_sayings *say, const struct place *p)
{
	const struct ckpt_span_field *f = p->spot.owner.field;
	struct ckpt_buf *text = &say->text;
	bool length = p->off - f->off < 4;

	ckpt_buf_printf(text, "%s, %s ", f->title ? f->title : f->name,
		ckpt_type_name(f->type));
	ckpt_range_write(text, f->off, f->len);
	said(say, "field", VIEW_PLAIN);
	if (f->doc)
		ckpt_buf_puts(text, f->doc);
	said(say, "meaning", VIEW_PLAIN);
	if (f->type == CKPT_STR && length) {
		ckpt_buf_printf(text, "%zu bytes of text follow", f->value.n);
	} else {
		ckpt_span_field_write(text, f);
		write_tag_doc(text, f);
	}
	said(say, "value", VIEW_BOLD);
	say_bytes(say, p);
	ckpt_want_write(text, f->want);
	said(say, "legal", VIEW_PLAIN);
	say_flags(say, f);
}

/* ---- Tensors ------------------------------------------------------------ */

static void
say_tensor(struct view_sayings *say, const struct place *p)
{
	const struct view_spot *spot = &p->spot;
	const struct ckpt_span *s = spot->owner.span;
	struct ckpt_buf *text = &say->text;
	uint8_t wide[8] = { 0 };

	ckpt_span_name_write(text, s);
	ckpt_buf_printf(text, ", %s, %s ", s->role, s->dtype);
	ckpt_span_shape_write(text, s);
	ckpt_buf_puts(text, ", ");
	ckpt_range_write(text, s->off, s->len);
	said(say, "tensor", VIEW_PLAIN);
	if (spot->has_element)
		ckpt_buf_printf(text,
			"%" PRIu64 " of %" PRIu64 ", byte %" PRIu64 " of %u",
			spot->element, s->len / s->width, p->off - spot->off,
			s->width);
	said(say, "element", VIEW_PLAIN);
	if (spot->has_element && s->width <= sizeof wide) {
		memcpy(wide, p->bytes, p->nbytes);
		if (p->nbytes == s->width)
			ckpt_number_write(text, s, ckpt_load_u64(wide));
		else
			ckpt_buf_puts(text, "cut off by the end of the file");
	}
	said(say, "value", VIEW_BOLD);
	say_bytes(say, p);
	ckpt_span_alias_write(text, spot->owner.spans, s, p->off);
	said(say, "also", VIEW_PLAIN);
}

bool
view_tensors_apart(const struct view_doc *doc)
{
	const struct ckpt_spans *spans = doc->spans;
	uint64_t end = doc->header_end;

	for (uint64_t i = 0; spans && i < spans->ntensors; i++) {
		const struct ckpt_span *s = &spans->tensors[i];

		if (s->len == 0)
			continue;
		if (s->off < end || !ckpt_add_u64(s->off, s->len, &end))
			return false;
	}
	return true;
}

/* Other tensors that claim the byte as well. */
static void
say_claims(struct view_sayings *say, const struct place *p)
{
	const struct ckpt_spans *spans = p->view->doc->spans;
	uint64_t n = 0;

	for (uint64_t i = 0; spans && i < spans->ntensors; i++) {
		const struct ckpt_span *s = &spans->tensors[i];

		if (s == p->spot.owner.span || p->off < s->off ||
			p->off - s->off >= s->len)
			continue;
		if (n++ == CLAIMS_SHOWN) {
			ckpt_buf_puts(&say->text, "by more records");
			said(say, "claimed", VIEW_WARNING);
			return;
		}
		ckpt_buf_puts(&say->text, "also by ");
		ckpt_span_path_write(&say->text, spans, s, p->off);
		ckpt_buf_puts(&say->text, ", ");
		ckpt_span_name_write(&say->text, s);
		said(say, "claimed", VIEW_WARNING);
	}
}

/* ---- Everything --------------------------------------------------------- */

static void
say_nobody(struct view_sayings *say, const struct place *p)
{
	static const char *const where[] = {
		[CKPT_OWNER_FIELD] = "",
		[CKPT_OWNER_TENSOR] = "",
		[CKPT_OWNER_HEADER] = "header bytes that are no field, ",
		[CKPT_OWNER_GAP] = "payload bytes of no tensor, ",
		[CKPT_OWNER_NONE] = "bytes without owner, ",
	};
	const struct view_owner *o = &p->spot.owner;

	if (o->spans) {
		ckpt_buf_puts(&say->text, where[o->kind]);
		ckpt_range_write(&say->text, o->off, o->end - o->off);
	}
	said(say, "among", VIEW_PLAIN);
	say_bytes(say, p);
}

static void
say_finding(struct view_sayings *say, const struct ckpt_diag *d)
{
	unsigned style =
		d->rule->severity == CKPT_ERROR ? VIEW_ERROR : VIEW_WARNING;
	struct ckpt_buf *text = &say->text;

	ckpt_buf_printf(text, "%s %s, %s: ", d->rule->id, d->rule->slug,
		ckpt_severity_name(d->rule->severity));
	ckpt_diag_message(text, d);
	said(say, "finding", style);
	if (d->expected.kind != CKPT_V_NONE)
		ckpt_value_write(text, &d->expected);
	said(say, "expected", VIEW_PLAIN);
	if (d->found.kind != CKPT_V_NONE)
		ckpt_value_write(text, &d->found);
	said(say, "found", VIEW_PLAIN);
	if (view_finding_visit(d))
		ckpt_buf_printf(text, "%s, then n", view_finding_visit(d));
	said(say, "each", VIEW_PLAIN);
}

static void
say_findings(struct view_sayings *say, const struct place *p)
{
	const struct view_doc *doc = p->view->doc;
	size_t n = 0;

	for (size_t i = 0; i < doc->nfindings; i++) {
		const struct ckpt_diag *d = &doc->findings[i];

		if (!view_spot_faulty(doc, d, p->off))
			continue;
		if (n++ < FINDINGS_SHOWN)
			say_finding(say, d);
	}
	if (n > FINDINGS_SHOWN)
		ckpt_buf_printf(
			&say->text, "%zu more here", n - FINDINGS_SHOWN);
	said(say, "finding", VIEW_WARNING);
}

static void
say_f64(struct view_sayings *say, uint64_t bits)
{
	uint64_t next;

	view_f64_parts_write(&say->text, bits);
	said(say, "f64 is", VIEW_PLAIN);
	if (view_f64_below(bits, &next))
		ckpt_f64_write(&say->text, next);
	said(say, "below", VIEW_PLAIN);
	if (view_f64_above(bits, &next))
		ckpt_f64_write(&say->text, next);
	said(say, "above", VIEW_PLAIN);
}

/* Eight bytes, from the value's first or, of what is longer than a number,
 * from the cursor. */
static void
say_numbers(struct view_sayings *say, const struct place *p)
{
	const struct view_spot *spot = &p->spot;
	uint64_t off = spot->len <= 8 ? spot->off : p->off;
	uint8_t bytes[8];
	size_t n = view_doc_read(p->view->doc, off, bytes, sizeof bytes);

	ckpt_buf_printf(&say->text, "%zu byte%s at ", n, n == 1 ? "" : "s");
	ckpt_offset_write(&say->text, off);
	ckpt_buf_puts(&say->text, ", little-endian, as");
	said(say, "numbers", VIEW_PLAIN);
	for (size_t i = 0; view_number_pair(i); i++) {
		view_number_pair_write(&say->text, i, bytes, n);
		said(say, view_number_pair(i), VIEW_PLAIN);
	}
}

static bool
is_f64(const struct place *p)
{
	const struct view_owner *o = &p->spot.owner;

	if (p->nbytes != 8)
		return false;
	if (o->field)
		return o->field->type == CKPT_F64;
	return o->span && p->spot.has_element && o->span->width == 8 &&
	       ckpt_number_of(o->span) == CKPT_NUMBER_FLOAT;
}

static void
say_owner(struct view_sayings *say, const struct place *p)
{
	const struct view_owner *o = &p->spot.owner;

	if (o->spans)
		ckpt_owner_write(&say->text, o->spans, &o->owner, p->off);
	else
		ckpt_buf_puts(&say->text,
			p->view->doc->stage == VIEW_READING
				? "not known yet: the header is being read"
				: "not known");
	said(say, "owner", VIEW_BOLD);
	if (o->field)
		say_field(say, p);
	else if (o->span)
		say_tensor(say, p);
	else
		say_nobody(say, p);
}

void
view_inspect(struct view_sayings *say, struct view *view, bool apart)
{
	struct place p = { .view = view, .off = view->cursor };
	uint64_t len;

	ckpt_buf_clear(&say->text);
	say->n = 0;
	say->from = 0;
	if (view->doc->size == 0) {
		ckpt_buf_puts(&say->text, "the file is empty");
		said(say, "owner", VIEW_BOLD);
		return;
	}
	view_spot_at(view->doc, p.off, &p.spot);
	len = p.spot.len < BYTES_SHOWN ? p.spot.len : BYTES_SHOWN;
	p.nbytes = view_doc_read(view->doc, p.spot.off, p.bytes, (size_t)len);
	say_owner(say, &p);
	say_findings(say, &p);
	if (!apart)
		say_claims(say, &p);
	if (is_f64(&p))
		say_f64(say, ckpt_load_u64(p.bytes));
	say_numbers(say, &p);
	if (say->text.failed)
		say->n = 0;
}
