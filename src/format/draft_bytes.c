/* SPDX-License-Identifier: MIT */
/*
 * Drafts: bytes, extents, checksum. The checksum is found by its flag and the
 * extents by the paths in the format's row, in the bytes as they are then.
 */
#include "format/draft_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "wire/literal.h"

static enum ckpt_edit_status
grown(const struct ckpt_draft *d)
{
	return d->bytes.failed ? CKPT_EDIT_NO_MEMORY : CKPT_EDIT_OK;
}

/* n bytes at off; what stood there and what stands there now. */
static void
overwrite(struct ckpt_draft *d, uint64_t off, const void *p, size_t n)
{
	char *at = d->bytes.p + off;
	char *old = ckpt_arena_strndup(&d->run->arena, at, n);

	d->change.off = off;
	d->change.before = old ? ckpt_v_bytes(old, n) : ckpt_v_none();
	memcpy(at, p, n);
	d->change.after = ckpt_v_bytes(at, n);
}

/* An offset up to c; *rest is what stands behind c. */
static bool
offset_before(const char *words, char c, uint64_t *off, const char **rest)
{
	char *end;

	if (words[0] < '0' || words[0] > '9')
		return false;
	/* Not base 0: 010 is ten. */
	*off = strtoull(words, &end, strncmp(words, "0x", 2) ? 10 : 16);
	*rest = end + 1;
	return *end == c;
}

static enum ckpt_edit_status
hex_bytes(struct ckpt_draft *d, const char *hex, struct ckpt_str *bytes)
{
	struct ckpt_arena *arena = &d->run->arena;
	const char *text = ckpt_arena_printf(arena, "hex:%s", hex);

	if (!text)
		return CKPT_EDIT_NO_MEMORY;
	if (!ckpt_bytes_read(arena, text, bytes))
		return ckpt_draft_bad(
			d, "pairs of hexadecimal digits were expected");
	return bytes->p ? CKPT_EDIT_OK : CKPT_EDIT_NO_MEMORY;
}

static enum ckpt_edit_status
set_bytes(struct ckpt_draft *d, const char *words)
{
	enum ckpt_edit_status status;
	struct ckpt_str bytes;
	const char *hex;
	uint64_t off;

	if (!offset_before(words, '=', &off, &hex))
		return ckpt_draft_bad(d, "OFFSET=HEX was expected");
	status = hex_bytes(d, hex, &bytes);
	if (status != CKPT_EDIT_OK)
		return status;
	if (!ckpt_within(off, bytes.n, d->bytes.n))
		return ckpt_draft_bad(d, "behind the end of the file");
	if (bytes.n > 0)
		overwrite(d, off, bytes.p, bytes.n);
	return CKPT_EDIT_OK;
}

static enum ckpt_edit_status
flip(struct ckpt_draft *d, const char *words)
{
	const char *bit;
	uint64_t off;
	uint8_t byte;

	if (!offset_before(words, '.', &off, &bit) || bit[0] < '0' ||
		bit[0] > '7' || bit[1] != '\0')
		return ckpt_draft_bad(
			d, "OFFSET.BIT was expected, BIT from 0 to 7");
	if (off >= d->bytes.n)
		return ckpt_draft_bad(d, "behind the end of the file");
	byte = (uint8_t)((uint8_t)d->bytes.p[off] ^ 1u << (bit[0] - '0'));
	overwrite(d, off, &byte, 1);
	return CKPT_EDIT_OK;
}

static enum ckpt_edit_status
truncate_at(struct ckpt_draft *d, const char *words)
{
	const char *rest;
	uint64_t n;

	if (!offset_before(words, '\0', &n, &rest))
		return ckpt_draft_bad(d, "a number of bytes was expected");
	if (n > d->bytes.n)
		return ckpt_draft_bad(d, "the file is shorter than that");
	d->change.off = n;
	d->change.before = ckpt_v_u64(d->bytes.n);
	d->change.after = ckpt_v_u64(n);
	d->bytes.n = (size_t)n;
	return CKPT_EDIT_OK;
}

static enum ckpt_edit_status
append(struct ckpt_draft *d, const char *words, bool text)
{
	struct ckpt_str bytes;
	enum ckpt_edit_status status;

	if (!text) {
		status = hex_bytes(d, words, &bytes);
		if (status != CKPT_EDIT_OK)
			return status;
	} else if (!ckpt_bytes_read(&d->run->arena, words, &bytes)) {
		return ckpt_draft_bad(d, "an escape is \\xHH or \\\\");
	}
	if (!bytes.p)
		return CKPT_EDIT_NO_MEMORY;
	d->change.off = d->bytes.n;
	d->change.after = ckpt_v_bytes(bytes.p, bytes.n);
	ckpt_buf_add(&d->bytes, bytes.p, bytes.n);
	return grown(d);
}

/* What a transfer as text does to bytes. */
static enum ckpt_edit_status
mangle(struct ckpt_draft *d, const char *words)
{
	bool crlf = strcmp(words, "crlf") == 0;
	struct ckpt_buf old = d->bytes;
	size_t i = 0;

	if (!crlf && strcmp(words, "utf8") != 0)
		return ckpt_draft_bad(d, "crlf or utf8 was expected");
	ckpt_buf_init(&d->bytes);
	while (i < old.n) {
		const uint8_t *p = (const uint8_t *)old.p + i;
		uint32_t point;
		size_t n = ckpt_utf8_decode(p, old.n - i, &point);

		if (crlf && *p == '\n')
			ckpt_buf_puts(&d->bytes, "\r");
		if (crlf || n > 0)
			ckpt_buf_add(&d->bytes, p, crlf ? 1 : n);
		else
			ckpt_buf_puts(&d->bytes, "\xef\xbf\xbd");
		i += crlf || n == 0 ? 1 : n;
	}
	d->change.before = ckpt_v_u64(old.n);
	d->change.after = ckpt_v_u64(d->bytes.n);
	ckpt_buf_release(&old);
	return grown(d);
}

/* ---- extents and checksum ----------------------------------------------- */

/* A number into the bytes of the field at path. */
static bool
patch(struct ckpt_draft *d, const char *path, uint64_t value, uint64_t *old)
{
	struct ckpt_place place;
	uint8_t b[8];

	if (!ckpt_path_find(d->format->root, d->root, 0, path, &place) ||
		place.len > sizeof b ||
		!ckpt_within(place.off, place.len, d->bytes.n))
		return false;
	*old = ckpt_slot_load(place.value, 0, place.field->type);
	ckpt_store_u64(b, value);
	memcpy(d->bytes.p + place.off, b, (size_t)place.len);
	d->change.off = place.off;
	return true;
}

/* What a repair needs and the file does not have, because its format is not
 * known or has no such thing. */
static enum ckpt_edit_status
lacks(struct ckpt_draft *d, const char *unknown, const char *none)
{
	return ckpt_draft_bad(d, d->format ? none : unknown);
}

static enum ckpt_edit_status
fix_extents(struct ckpt_draft *d)
{
	const struct ckpt_draft_rules *rules =
		d->format ? d->format->draft : NULL;
	uint64_t size = d->bytes.n, header = d->header_bytes, old, unused;

	if (!rules || !rules->header_extent)
		return lacks(d, "no known format, so there are no extents",
			"files of this format have no extents");
	if (header > size)
		header = size;
	if (header == 0 ||
		!patch(d, rules->payload_extent, size - header, &unused) ||
		!patch(d, rules->header_extent, header, &old))
		return ckpt_draft_bad(d, "the extents are not in the file");
	d->change.before = ckpt_v_u64(old);
	d->change.after = ckpt_v_u64(header);
	return CKPT_EDIT_OK;
}

static enum ckpt_edit_status
fix_checksum(struct ckpt_draft *d)
{
	const struct ckpt_field *field = NULL;
	uint64_t off = 0, hash, old;
	uint8_t *p = (uint8_t *)d->bytes.p;
	unsigned width;

	if (d->format && d->root && !d->textual)
		field = ckpt_format_flagged(
			d->format, d->root, CKPT_HASH_AS_ZERO, &off);
	width = field ? ckpt_type_width(field->type) : 0;
	if (width != 8)
		return lacks(d, "no known format, so there is no checksum",
			"files of this format have no checksum");
	if (!ckpt_within(off, width, d->bytes.n))
		return ckpt_draft_bad(d, "the file ends before its checksum");
	old = ckpt_load_u64(p + off);
	memset(p + off, 0, width);
	hash = ckpt_fnv1a64(CKPT_FNV1A64_START, p, d->bytes.n);
	ckpt_store_u64(p + off, hash);
	d->change = (struct ckpt_change){ field, off, ckpt_v_hash(old),
		ckpt_v_hash(hash) };
	return CKPT_EDIT_OK;
}

enum ckpt_edit_status
ckpt_draft_edit_bytes(
	struct ckpt_draft *d, enum ckpt_draft_edit edit, const char *words)
{
	switch (edit) {
	case CKPT_DRAFT_BYTES: return set_bytes(d, words);
	case CKPT_DRAFT_FLIP: return flip(d, words);
	case CKPT_DRAFT_TRUNCATE: return truncate_at(d, words);
	case CKPT_DRAFT_APPEND: return append(d, words, false);
	case CKPT_DRAFT_APPEND_TEXT: return append(d, words, true);
	case CKPT_DRAFT_MANGLE: return mangle(d, words);
	case CKPT_DRAFT_FIX_EXTENTS: return fix_extents(d);
	case CKPT_DRAFT_FIX_CHECKSUM: return fix_checksum(d);
	case CKPT_DRAFT_SET:
	case CKPT_DRAFT_DELETE:
	case CKPT_DRAFT_DUPLICATE:
	case CKPT_DRAFT_INSERT:
	case CKPT_DRAFT_SWAP:
	case CKPT_DRAFT_RELAYOUT: break;
	}
	return ckpt_draft_bad(d, "an edit of fields");
}
