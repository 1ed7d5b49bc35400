/* SPDX-License-Identifier: MIT */
/*
 * Headers that are text: JSON behind its length. Repaired are the length,
 * the ranges of the tensors, and a payload of the size that they need; edits
 * put other literals in the place of values, and other text between them.
 */
#include "postproc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

enum { DIGITS = 20 };

/* ---- repair ------------------------------------------------------------- */

static bool
is_blank(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Where the object ends that begins at p, or behind blanks; 0 if none does. */
static size_t
object_end(const uint8_t *p, size_t n)
{
	bool string = false;
	size_t depth = 0, i = 0;

	while (i < n && is_blank(p[i]))
		i++;
	for (; i < n; i++) {
		if (string && p[i] == '\\')
			i++;
		else if (p[i] == '"')
			string = !string;
		else if (!string && p[i] == '{')
			depth++;
		else if (!string && p[i] == '}' && --depth == 0)
			return i + 1;
		if (depth == 0)
			return 0;
	}
	return 0;
}

/* The header's length: of the object, and of blanks behind it as far as they
 * are counted now. */
static uint64_t
header_length(const uint8_t *head, size_t n, uint64_t declared)
{
	uint64_t end = object_end(head, n);

	if (end == 0 || declared < end || declared > n)
		return end;
	for (uint64_t i = end; i < declared; i++)
		if (!is_blank(head[i]))
			return end;
	return declared;
}

static bool
is_range(const struct fuzz_place *f)
{
	return (f->flags & CKPT_IS_OFFSET) && (f->flags & CKPT_IS_JSON);
}

/* Ranges so that the tensors follow each other; fields from the last, so that
 * those before it stay where they are. Returns what was added to the text. */
static void
repair_ranges(struct fuzz_scan *s, uint8_t *bytes, size_t *size)
{
	uint64_t ends[FUZZ_TENSORS + 1] = { 0 };
	size_t i = s->nfields;

	for (size_t k = 0; k < s->ntensors; k++)
		if (!ckpt_add_u64(
			    ends[k], s->tensors[k].required, &ends[k + 1]))
			return;
	for (size_t k = s->ntensors; k-- > 0;) {
		const struct fuzz_tensor *t = &s->tensors[k];
		uint64_t value = ends[k + 1];

		for (; i > 0 && s->fields[i - 1].off >= t->record_at; i--) {
			const struct fuzz_place *f = &s->fields[i - 1];
			char text[DIGITS + 1];

			if (!is_range(f))
				continue;
			snprintf(text, sizeof text, "%" PRIu64, value);
			if (!fuzz_replace(bytes, size, FUZZ_LARGEST, f->off,
				    f->len, text, strlen(text)))
				return;
			value = ends[k];
		}
	}
}

/* Bytes that the ranges need behind the header. */
static uint64_t
payload_needed(const struct fuzz_scan *s, const uint8_t *bytes)
{
	uint64_t need = 0;

	for (size_t i = 0; i < s->nfields; i++) {
		const struct fuzz_place *f = &s->fields[i];
		char text[DIGITS + 1] = "";
		uint64_t end;

		if (!is_range(f) || f->len > DIGITS)
			continue;
		memcpy(text, bytes + f->off, (size_t)f->len);
		end = strtoull(text, NULL, 10);
		if (end > need)
			need = end;
	}
	return need;
}

size_t
fuzz_repair_text(
	struct fuzz_scan *s, const uint8_t *bytes, size_t size, uint8_t *fixed)
{
	uint64_t at = s->text->length_off, head = at + 8, length, end;
	enum fuzz_level level;

	length = header_length(
		bytes + head, size - (size_t)head, ckpt_load_u64(bytes + at));
	if (length == 0)
		return 0;
	memcpy(fixed, bytes, size);
	ckpt_store_u64(fixed + at, length);
	fuzz_scan(s, fixed, size);
	level = s->text ? fuzz_level(s, fixed, size) : FUZZ_NOTHING;
	if (level == FUZZ_NOTHING)
		return 0;
	if (level == FUZZ_EVERYTHING && s->complete) {
		size_t before = size;

		repair_ranges(s, fixed, &size);
		length += size - before;
		ckpt_store_u64(fixed + at, length);
		fuzz_scan(s, fixed, size);
	}
	if (level >= FUZZ_EXTENTS && s->complete) {
		end = payload_needed(s, fixed);
		if (!ckpt_add_u64(end, head + length, &end) ||
			end > FUZZ_LARGEST)
			return size;
		if (end > size)
			memset(fixed + size, 0, (size_t)(end - size));
		size = (size_t)end;
	}
	return size;
}

/* ---- edits -------------------------------------------------------------- */

/* The header's length goes with its text. */
static void
put(const struct fuzz_scan *s, uint8_t *bytes, size_t *size, size_t most,
	uint64_t off, uint64_t old, const void *with, size_t n)
{
	uint64_t at = s->text->length_off;

	if (fuzz_replace(bytes, size, most, off, old, with, n))
		ckpt_store_u64(bytes + at, ckpt_load_u64(bytes + at) - old + n);
}

/* Literals that no number of the format is, or only just. */
static const char *const literals[] = { "-1", "-0", "1.0", "1e3", "01", "+1",
	"18446744073709551615", "18446744073709551616", "9223372036854775808",
	"null", "true", "[]", "{}", "\"\"", "\"1\"", "" };

static size_t
new_number(struct fuzz_mutator *m, const uint8_t *old, size_t n, char text[32])
{
	char digits[DIGITS + 1] = "";

	if (fuzz_below(m, 4) == 0) {
		const char *literal = literals[fuzz_below(
			m, sizeof literals / sizeof literals[0])];

		return (size_t)snprintf(text, 32, "%s", literal);
	}
	memcpy(digits, old, n < DIGITS ? n : DIGITS);
	return (size_t)snprintf(text, 32, "%" PRIu64,
		fuzz_number(m, strtoull(digits, NULL, 10)));
}

/* What another field has; a bit or a byte of this one is other. */
static void
edit_literal(struct fuzz_mutator *m, uint8_t *bytes, size_t *size, size_t most,
	const struct fuzz_place *f)
{
	const struct fuzz_place *g =
		&m->scan.fields[fuzz_below(m, m->scan.nfields)];
	static const uint8_t marks[] = { ' ', '\t', '\n', '"', '\\', '{', '}',
		'[', ']', ',', ':', '0', 'e', '-', 0x80, 0xff };
	uint8_t text[512];
	size_t n = (size_t)f->len, at;

	if (g->type == f->type && g->len <= sizeof text &&
		((g->flags ^ f->flags) & CKPT_IS_SYNTAX) == 0 &&
		fuzz_below(m, 2)) {
		memcpy(text, bytes + g->off, (size_t)g->len);
		put(&m->scan, bytes, size, most, f->off, f->len, text,
			(size_t)g->len);
		return;
	}
	if (n == 0 || n >= sizeof text)
		return;
	memcpy(text, bytes + f->off, n);
	at = (size_t)fuzz_below(m, n);
	switch (fuzz_below(m, 4)) {
	case 0: text[at] ^= (uint8_t)(1 << fuzz_below(m, 8)); break;
	case 1: text[at] = marks[fuzz_below(m, sizeof marks)]; break;
	case 2: text[n++] = text[at]; break;
	default: n--; break;
	}
	put(&m->scan, bytes, size, most, f->off, f->len, text, n);
}

void
fuzz_edit_text(struct fuzz_mutator *m, uint8_t *bytes, size_t *size,
	size_t most, const struct fuzz_place *f)
{
	char text[32];
	size_t n;

	if (f->type == CKPT_STR) {
		edit_literal(m, bytes, size, most, f);
		return;
	}
	n = new_number(m, bytes + f->off, (size_t)f->len, text);
	put(&m->scan, bytes, size, most, f->off, f->len, text, n);
}

/* Deletes a record with the comma behind it, or doubles it in front of
 * another. */
void
fuzz_edit_entry(
	struct fuzz_mutator *m, uint8_t *bytes, size_t *size, size_t most)
{
	const struct fuzz_scan *s = &m->scan;
	const struct fuzz_tensor *t = &s->tensors[fuzz_below(m, s->ntensors)];
	const struct fuzz_tensor *u = &s->tensors[fuzz_below(m, s->ntensors)];
	uint8_t record[512];
	size_t n = (size_t)t->record_len;

	if (n >= sizeof record || !ckpt_within(t->record_at, n, *size))
		return;
	if (fuzz_below(m, 2)) {
		bool comma = t->record_at + n < *size &&
			     bytes[t->record_at + n] == ',';

		put(s, bytes, size, most, t->record_at, n + comma, NULL, 0);
		return;
	}
	memcpy(record, bytes + t->record_at, n);
	record[n++] = ',';
	put(s, bytes, size, most, u->record_at, 0, record, n);
}
