/* SPDX-License-Identifier: MIT */
/*
 * Drafts: fields of a header that is text. An edit replaces the bytes of what
 * its path names and corrects the length in front of the header, nothing else:
 * ranges and the tensors' bytes stay as they stand. Then the file is decoded
 * again, so that the next path leads to where things are now.
 */
#include "format/draft_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "format/alias.h"
#include "wire/literal.h"

/* What the edit puts in the place of the bytes that are there. */
static enum ckpt_edit_status
replace(struct ckpt_draft *d, uint64_t off, uint64_t len, const void *p,
	size_t n)
{
	struct ckpt_buf old = d->bytes;

	if (!ckpt_within(off, len, old.n))
		return CKPT_EDIT_NO_PATH;
	ckpt_buf_init(&d->bytes);
	ckpt_buf_add(&d->bytes, old.p, (size_t)off);
	ckpt_buf_add(&d->bytes, p, n);
	ckpt_buf_add(&d->bytes, old.p + off + len, old.n - (size_t)(off + len));
	ckpt_buf_release(&old);
	return d->bytes.failed ? CKPT_EDIT_NO_MEMORY : CKPT_EDIT_OK;
}

/* The length in front of the header, after text of old bytes became new. */
static void
keep_length(struct ckpt_draft *d, uint64_t old, uint64_t new)
{
	uint8_t *at = (uint8_t *)d->bytes.p + d->format->text->length_off;
	uint64_t length = ckpt_load_u64(at);

	if (ckpt_add_u64(length, new, &length) &&
		ckpt_sub_u64(length, old, &length))
		ckpt_store_u64(at, length);
}

/* Decodes the file as it is now. The values of the change are kept. */
static enum ckpt_edit_status
decode_again(struct ckpt_draft *d)
{
	struct ckpt_source *source = ckpt_source_memory(d->bytes.p, d->bytes.n);
	struct ckpt_run *run = ckpt_run_new(NULL), *old = d->run;
	struct ckpt_value *const values[] = { &d->change.before,
		&d->change.after };

	d->path = NULL;
	if (!run || !source) {
		ckpt_source_close(source);
		ckpt_run_free(run);
		return CKPT_EDIT_NO_MEMORY;
	}
	ckpt_verify(run, source);
	ckpt_source_close(source);
	for (size_t i = 0; i < 2; i++) {
		struct ckpt_value *v = values[i];

		if (v->kind == CKPT_V_BYTES)
			v->p = ckpt_arena_strndup(&run->arena, v->p, v->n);
		if (v->kind == CKPT_V_BYTES && !v->p)
			*v = ckpt_v_none();
	}
	d->run = run;
	/* What is no such file any more has no paths either. */
	d->textual = run->format && run->format->text == d->format->text &&
		     run->decoded;
	/* An edit may make a container of it that has a meaning, or none. */
	if (d->textual)
		d->format = run->format;
	d->opaque = !d->textual;
	d->root = run->decoded;
	ckpt_run_free(old);
	return CKPT_EDIT_OK;
}

/* ---- New texts ---------------------------------------------------------- */

/* A string of JSON, as writers of the format escape it. */
static void
add_string(struct ckpt_buf *text, const uint8_t *p, size_t n)
{
	ckpt_buf_puts(text, "\"");
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '"' || p[i] == '\\')
			ckpt_buf_printf(text, "\\%c", p[i]);
		else if (p[i] < ' ')
			ckpt_buf_printf(text, "\\u%04x", p[i]);
		else
			ckpt_buf_add(text, p + i, 1);
	}
	ckpt_buf_puts(text, "\"");
}

static enum ckpt_edit_status
read_element(struct ckpt_draft *d, const struct ckpt_text_place *place,
	const char *words, struct ckpt_buf *text)
{
	static const enum ckpt_type types[] = {
		[1] = CKPT_U8, [2] = CKPT_U16, [4] = CKPT_U32, [8] = CKPT_U64
	};
	uint8_t bytes[8];
	uint64_t bits = 0;
	char *end;
	float narrow;

	if (place->real && place->len == 8) {
		if (!ckpt_number_read(CKPT_F64, NULL, words, &bits))
			goto bad;
	} else if (place->real && place->len == 4 &&
		   strncmp(words, "0x", 2) != 0) {
		narrow = strtof(words, &end);
		if (end == words || *end)
			goto bad;
		memcpy(bytes, &narrow, sizeof narrow);
		bits = ckpt_load_u32(bytes);
	} else if (!ckpt_number_read(types[place->len], NULL, words, &bits)) {
		goto bad;
	}
	ckpt_store_u64(bytes, bits);
	ckpt_buf_add(text, bytes, (size_t)place->len);
	return CKPT_EDIT_OK;
bad:
	return ckpt_draft_bad(d, "not a number that fits; 0x and the bits do "
				 "for every dtype");
}

/* The bytes that words mean at a place: of a string its text, or json: and
 * the bytes as they are; a number as it is written. */
static enum ckpt_edit_status
read_value(struct ckpt_draft *d, const struct ckpt_text_place *place,
	const char *words, struct ckpt_buf *text)
{
	struct ckpt_str bytes;
	bool raw = strncmp(words, "json:", 5) == 0;
	uint64_t value;
	uint8_t b[8];

	switch (place->kind) {
	case CKPT_TEXT_BINARY:
		if (!ckpt_number_read(CKPT_U64, NULL, words, &value))
			return ckpt_draft_bad(d, "not a number that fits");
		ckpt_store_u64(b, value);
		ckpt_buf_add(text, b, sizeof b);
		return CKPT_EDIT_OK;
	case CKPT_TEXT_ELEMENT: return read_element(d, place, words, text);
	case CKPT_TEXT_NUMBER:
	case CKPT_TEXT_ENTRY:
		ckpt_buf_puts(text, raw ? words + 5 : words);
		return CKPT_EDIT_OK;
	case CKPT_TEXT_STRING:
	case CKPT_TEXT_PAYLOAD: break;
	}
	if (raw && place->kind == CKPT_TEXT_STRING) {
		ckpt_buf_puts(text, words + 5);
		return CKPT_EDIT_OK;
	}
	if (!ckpt_bytes_read(&d->run->arena, words, &bytes))
		return ckpt_draft_bad(d,
			"neither hex: and pairs of digits nor text with "
			"\\xHH");
	if (!bytes.p)
		return CKPT_EDIT_NO_MEMORY;
	if (place->kind == CKPT_TEXT_STRING)
		add_string(text, bytes.p, bytes.n);
	else
		ckpt_buf_add(text, bytes.p, bytes.n);
	return CKPT_EDIT_OK;
}

/* ---- Edits -------------------------------------------------------------- */

static struct ckpt_value
kept(struct ckpt_draft *d, const void *p, size_t n)
{
	char *copy = ckpt_arena_strndup(&d->run->arena, p, n);

	return copy ? ckpt_v_bytes(copy, n) : ckpt_v_none();
}

/* Puts n bytes at place, and says so. */
static enum ckpt_edit_status
put(struct ckpt_draft *d, const struct ckpt_text_place *place, const char *p,
	size_t n)
{
	enum ckpt_edit_status status;

	if (!ckpt_within(place->off, place->len, d->bytes.n))
		return CKPT_EDIT_NO_PATH;
	d->change.off = place->off;
	d->change.before = kept(d, d->bytes.p + place->off, (size_t)place->len);
	d->change.after = kept(d, p, n);
	status = replace(d, place->off, place->len, p, n);
	if (status != CKPT_EDIT_OK)
		return status;
	if (place->kind == CKPT_TEXT_STRING ||
		place->kind == CKPT_TEXT_NUMBER ||
		place->kind == CKPT_TEXT_ENTRY)
		keep_length(d, place->len, n);
	return decode_again(d);
}

static enum ckpt_edit_status
set(struct ckpt_draft *d, const struct ckpt_text_place *place,
	const char *words)
{
	struct ckpt_buf text;
	enum ckpt_edit_status status;

	ckpt_buf_init(&text);
	status = read_value(d, place, words, &text);
	if (status == CKPT_EDIT_OK && text.failed)
		status = CKPT_EDIT_NO_MEMORY;
	if (status == CKPT_EDIT_OK)
		status = put(d, place, text.p ? text.p : "", text.n);
	ckpt_buf_release(&text);
	return status;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* An entry goes with the comma behind it, the last with the one before. */
static enum ckpt_edit_status delete (
	struct ckpt_draft *d, struct ckpt_text_place *place) {
	const char *p = d->bytes.p;
	uint64_t end = place->off + place->len, at = place->off;

	while (end < d->bytes.n && is_blank(p[end])) end++;
	if (end < d->bytes.n && p[end] == ','){
		place->len = end + 1 - place->off;
		return put(d, place, "", 0); }
while (at > 0 && is_blank(p[at - 1])) at--;
if (at > 0 && p[at - 1] == ',') {
	place->len += place->off - (at - 1);
	place->off = at - 1;
}
return put(d, place, "", 0);
}

static enum ckpt_edit_status
duplicate(struct ckpt_draft *d, const struct ckpt_text_place *place)
{
	const char *p = d->bytes.p + place->off;
	struct ckpt_buf text;
	enum ckpt_edit_status status;

	ckpt_buf_init(&text);
	ckpt_buf_add(&text, p, (size_t)place->len);
	ckpt_buf_puts(&text, ",");
	ckpt_buf_add(&text, p, (size_t)place->len);
	status = text.failed ? CKPT_EDIT_NO_MEMORY
			     : put(d, place, text.p, text.n);
	ckpt_buf_release(&text);
	return status;
}

/* The equals sign behind the path. Names may hold one, so a path that leads
 * somewhere wins. */
static bool
find(struct ckpt_draft *d, const char *words, struct ckpt_text_place *place,
	const char **value)
{
	for (const char *at = strchr(words, '='); at;
		at = strchr(at + 1, '=')) {
		char *path = ckpt_arena_strndup(
			&d->run->arena, words, (size_t)(at - words));

		if (path && d->format->text->locate(d->root, path, place)) {
			*value = at + 1;
			return true;
		}
	}
	return false;
}

enum ckpt_edit_status
ckpt_draft_edit_text(
	struct ckpt_draft *d, enum ckpt_draft_edit edit, const char *words)
{
	struct ckpt_text_place place;
	const char *value;

	if (!words)
		return ckpt_draft_bad(
			d, "ranges of a header that is text are set by hand");
	words = ckpt_alias_expand(d->format, d->root, &d->run->arena, words);
	if (!words)
		return CKPT_EDIT_NO_MEMORY;
	d->path = words;
	switch (edit) {
	case CKPT_DRAFT_SET:
		if (!find(d, words, &place, &value))
			return d->run->arena.failure ? CKPT_EDIT_NO_MEMORY
						     : CKPT_EDIT_NO_PATH;
		return set(d, &place, value);
	case CKPT_DRAFT_DELETE:
	case CKPT_DRAFT_DUPLICATE:
		if (!d->format->text->locate(d->root, words, &place))
			return CKPT_EDIT_NO_PATH;
		if (place.kind != CKPT_TEXT_ENTRY &&
			place.kind != CKPT_TEXT_NUMBER)
			return ckpt_draft_bad(d, "no element of an array");
		return edit == CKPT_DRAFT_DELETE ? delete (d, &place)
						 : duplicate(d, &place);
	case CKPT_DRAFT_INSERT:
	case CKPT_DRAFT_SWAP:
	case CKPT_DRAFT_RELAYOUT:
	case CKPT_DRAFT_BYTES:
	case CKPT_DRAFT_FLIP:
	case CKPT_DRAFT_TRUNCATE:
	case CKPT_DRAFT_APPEND:
	case CKPT_DRAFT_APPEND_TEXT:
	case CKPT_DRAFT_MANGLE:
	case CKPT_DRAFT_FIX_EXTENTS:
	case CKPT_DRAFT_FIX_CHECKSUM: break;
	}
	return ckpt_draft_bad(d, "not for a header that is text: set, delete "
				 "and duplicate are");
}
