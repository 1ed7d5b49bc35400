/* SPDX-License-Identifier: MIT */
/*
 * Drafts: fields and payload pieces. Whether a header can be edited is not
 * asked of the driver: it can if what was decoded gives, emitted again, the
 * bytes that it was decoded from. What follows them is payload, of which a
 * record owns what its offset and length say, as long as no record before it
 * owns that too.
 */
#include "format/draft.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "format/alias.h"
#include "format/draft_parts.h"
#include "wire/emit.h"

enum ckpt_edit_status
ckpt_draft_bad(struct ckpt_draft *d, const char *why)
{
	d->why = why;
	return CKPT_EDIT_BAD;
}

/* ---- taking apart ------------------------------------------------------- */

static struct ckpt_draft_piece *
new_piece(struct ckpt_draft *d, const void *p, uint64_t n)
{
	struct ckpt_draft_piece *piece =
		ckpt_arena_zalloc(&d->run->arena, sizeof *piece);
	uint8_t *copy = ckpt_arena_bytes(&d->run->arena, (size_t)n);

	if (!piece || !copy)
		return NULL;
	if (n > 0)
		memcpy(copy, p, (size_t)n);
	*piece = (struct ckpt_draft_piece){ copy, n, false };
	return piece;
}

static bool
add_piece(struct ckpt_draft *d, struct ckpt_draft_piece *piece)
{
	struct ckpt_draft_piece **pieces = ckpt_arena_push(&d->run->arena,
		d->pieces, d->npieces, sizeof(struct ckpt_draft_piece *));

	if (!piece || !pieces)
		return false;
	d->pieces = pieces;
	pieces[d->npieces++] = piece;
	return true;
}

/* What record i owns of the n bytes behind the header; *at is where the
 * pieces so far end. */
static bool
take_payload(struct ckpt_draft *d, uint32_t i, const uint8_t *bytes, uint64_t n,
	uint64_t *at)
{
	struct ckpt_draft_tensor tensor;
	uint64_t off;

	d->own[i] = NULL;
	d->format->draft->tensor(d->root, i, &tensor);
	if (!ckpt_sub_u64(tensor.off, d->header_bytes, &off) || off < *at ||
		!ckpt_within(off, tensor.len, n))
		return true;
	if (off > *at && !add_piece(d, new_piece(d, bytes + *at, off - *at)))
		return false;
	d->own[i] = new_piece(d, bytes + off, tensor.len);
	*at = off + tensor.len;
	return add_piece(d, d->own[i]);
}

static uint32_t
record_count(const struct ckpt_draft *d)
{
	struct ckpt_array array = { 0 };

	if (d->records)
		memcpy(&array, (const uint8_t *)d->root + d->records->slot,
			sizeof array);
	return array.n;
}

static enum ckpt_edit_status
take_apart(struct ckpt_draft *d, const uint8_t *payload, uint64_t n)
{
	uint64_t at = 0;

	d->records = d->format->draft ? ckpt_payload_records(d->format) : NULL;
	d->nown = record_count(d);
	d->own = ckpt_arena_alloc(
		&d->run->arena, (d->nown + (size_t)1) * sizeof *d->own);
	if (!d->own)
		return CKPT_EDIT_NO_MEMORY;
	for (uint32_t i = 0; i < d->nown; i++)
		if (!take_payload(d, i, payload, n, &at))
			return CKPT_EDIT_NO_MEMORY;
	if (at < n && !add_piece(d, new_piece(d, payload + at, n - at)))
		return CKPT_EDIT_NO_MEMORY;
	d->editable = true;
	return CKPT_EDIT_OK;
}

enum ckpt_edit_status
ckpt_draft_open(struct ckpt_draft *d, const void *bytes, size_t n)
{
	struct ckpt_source *source = ckpt_source_memory(bytes, n);
	struct ckpt_buf header = { 0 };
	enum ckpt_edit_status status = CKPT_EDIT_OK;

	memset(d, 0, sizeof *d);
	d->run = ckpt_run_new(NULL);
	if (!d->run || !source) {
		ckpt_source_close(source);
		return CKPT_EDIT_NO_MEMORY;
	}
	ckpt_verify(d->run, source);
	ckpt_source_close(source);
	d->format = d->run->format;
	d->root = d->run->decoded;
	d->textual = d->format && d->root && d->format->text;
	if (d->format && d->root && !d->textual)
		ckpt_emit_record(&header, d->format->root, d->root);
	d->header_bytes = header.n;
	if (header.n > 0 && !header.failed && header.n <= n &&
		memcmp(header.p, bytes, header.n) == 0)
		status = take_apart(
			d, (const uint8_t *)bytes + header.n, n - header.n);
	else
		d->opaque = !d->textual;
	if (!d->editable)
		ckpt_buf_add(&d->bytes, bytes, n);
	ckpt_buf_release(&header);
	return d->bytes.failed ? CKPT_EDIT_NO_MEMORY : status;
}

void
ckpt_draft_release(struct ckpt_draft *d)
{
	ckpt_run_free(d->run);
	ckpt_buf_release(&d->bytes);
}

enum ckpt_edit_status
ckpt_draft_finish(struct ckpt_draft *d)
{
	if (!d->editable)
		return CKPT_EDIT_OK;
	ckpt_emit_record(&d->bytes, d->format->root, d->root);
	d->header_bytes = d->bytes.n;
	for (uint32_t i = 0; i < d->npieces; i++)
		ckpt_buf_add(
			&d->bytes, d->pieces[i]->p, (size_t)d->pieces[i]->n);
	d->editable = false;
	return d->bytes.failed ? CKPT_EDIT_NO_MEMORY : CKPT_EDIT_OK;
}

/* ---- fields ------------------------------------------------------------- */

/* Payload follows its records. */
static enum ckpt_edit_status
follow(struct ckpt_draft *d, enum ckpt_draft_edit edit,
	const struct ckpt_mutation *m)
{
	struct ckpt_draft_piece **own, *piece;
	uint64_t i = m->index;
	uint32_t n = d->nown;

	if (m->at.field != d->records)
		return CKPT_EDIT_OK;
	if (edit == CKPT_DRAFT_SWAP) {
		piece = d->own[i];
		d->own[i] = d->own[m->other];
		d->own[m->other] = piece;
		return CKPT_EDIT_OK;
	}
	if (edit == CKPT_DRAFT_DELETE) {
		memmove(d->own + i, d->own + i + 1,
			(n - i - 1) * sizeof(struct ckpt_draft_piece *));
		d->nown--;
		return CKPT_EDIT_OK;
	}
	own = ckpt_arena_alloc(&d->run->arena,
		(n + (size_t)2) * sizeof(struct ckpt_draft_piece *));
	if (!own)
		return CKPT_EDIT_NO_MEMORY;
	piece = d->own[i];
	if (piece && !(piece = new_piece(d, piece->p, piece->n)))
		return CKPT_EDIT_NO_MEMORY;
	memcpy(own, d->own, (i + 1) * sizeof(struct ckpt_draft_piece *));
	own[i + 1] = piece;
	memcpy(own + i + 2, d->own + i + 1,
		(n - i - 1) * sizeof(struct ckpt_draft_piece *));
	d->own = own;
	d->nown++;
	return CKPT_EDIT_OK;
}

static enum ckpt_edit_status
mutate(struct ckpt_mutation *m, enum ckpt_draft_edit edit, const char *words)
{
	switch (edit) {
	case CKPT_DRAFT_SET: return ckpt_mutate_set(m, words);
	case CKPT_DRAFT_DELETE: return ckpt_mutate_delete(m, words);
	case CKPT_DRAFT_DUPLICATE: return ckpt_mutate_duplicate(m, words);
	case CKPT_DRAFT_INSERT: return ckpt_mutate_insert(m, words);
	case CKPT_DRAFT_SWAP: return ckpt_mutate_swap(m, words);
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
	return CKPT_EDIT_BAD;
}

/* Both paths of a swap may be aliases. */
static const char *
expand(struct ckpt_draft *d, enum ckpt_draft_edit edit, const char *words)
{
	struct ckpt_arena *arena = &d->run->arena;
	const char *first = ckpt_alias_expand(d->format, d->root, arena, words);
	const char *comma = first ? strchr(first, ',') : NULL, *second;

	if (edit != CKPT_DRAFT_SWAP || !comma)
		return first;
	second = ckpt_alias_expand(d->format, d->root, arena, comma + 1);
	return second ? ckpt_arena_printf(arena, "%.*s,%s",
				(int)(comma - first), first, second)
		      : NULL;
}

static enum ckpt_edit_status
edit_fields(struct ckpt_draft *d, enum ckpt_draft_edit edit, const char *words)
{
	struct ckpt_mutation m = {
		.rec = d->format->root, .base = d->root, .arena = &d->run->arena
	};
	enum ckpt_edit_status status;
	const char *data;
	uint32_t record;

	words = expand(d, edit, words);
	if (!words)
		return CKPT_EDIT_NO_MEMORY;
	d->path = words;
	data = edit == CKPT_DRAFT_SET
		       ? ckpt_draft_payload_path(d, words, &record)
		       : NULL;
	if (data)
		return ckpt_draft_set_data(d, record, data);
	status = mutate(&m, edit, words);
	d->why = m.why;
	if (status != CKPT_EDIT_OK)
		return status;
	d->change =
		(struct ckpt_change){ m.at.field, m.off, m.before, m.after };
	if (edit != CKPT_DRAFT_SET)
		status = follow(d, edit, &m);
	ckpt_mutate_settle(d->format->root, d->root, 0);
	return status;
}

/* The length of the file by its own words. */
static struct ckpt_value
declared_length(const struct ckpt_draft *d)
{
	uint64_t end;

	return ckpt_format_declared_end(d->format, d->root, &end)
		       ? ckpt_v_u64(end)
		       : ckpt_v_none();
}

static enum ckpt_edit_status
relayout(struct ckpt_draft *d)
{
	struct ckpt_arena *arena = &d->run->arena;
	uint64_t *len = ckpt_arena_zalloc(arena, (d->nown + 1) * sizeof *len);
	bool *fresh = ckpt_arena_zalloc(arena, (d->nown + 1) * sizeof *fresh);

	if (!d->records)
		return ckpt_draft_bad(
			d, "this format has no records to lay out");
	if (!len || !fresh)
		return CKPT_EDIT_NO_MEMORY;
	d->change.before = declared_length(d);
	d->pieces = NULL;
	d->npieces = 0;
	for (uint32_t i = 0; i < d->nown; i++) {
		if (!d->own[i])
			continue;
		len[i] = d->own[i]->n;
		fresh[i] = d->own[i]->fresh;
		if (!add_piece(d, d->own[i]))
			return CKPT_EDIT_NO_MEMORY;
	}
	d->format->draft->relayout(d->root, len, fresh);
	ckpt_mutate_settle(d->format->root, d->root, 0);
	d->change.after = declared_length(d);
	return CKPT_EDIT_OK;
}

enum ckpt_edit_status
ckpt_draft_apply(
	struct ckpt_draft *d, enum ckpt_draft_edit edit, const char *words)
{
	enum ckpt_edit_status status;

	d->change = (struct ckpt_change){ 0 };
	d->path = words;
	if (edit <= CKPT_DRAFT_RELAYOUT) {
		if (d->textual)
			return ckpt_draft_edit_text(d, edit, words);
		if (!d->editable)
			return ckpt_draft_bad(
				d, d->opaque ? "the header of this file "
					       "cannot be parsed, so only "
					       "its bytes can be edited"
					     : "fields are edited before "
					       "bytes");
		return edit == CKPT_DRAFT_RELAYOUT
			       ? relayout(d)
			       : edit_fields(d, edit, words);
	}
	status = ckpt_draft_finish(d);
	return status != CKPT_EDIT_OK ? status
				      : ckpt_draft_edit_bytes(d, edit, words);
}
