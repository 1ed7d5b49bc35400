/* SPDX-License-Identifier: MIT */
/*
 * Edits by field, record and tensor element: numbers that have broken
 * programs before, values that the rows allow, and what other fields hold.
 */
#include "postproc.h"

#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

uint64_t
fuzz_below(struct fuzz_mutator *m, uint64_t n)
{
	return ckpt_rng_draw(&m->rng) % n;
}

uint64_t
fuzz_number(struct fuzz_mutator *m, uint64_t old)
{
	static const uint64_t numbers[] = { 0, 1, 2, 3, 9, 255, 256, 257, 258,
		65535, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		(uint64_t)1 << 60, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 1,
		UINT64_MAX };

	switch (fuzz_below(m, 5)) {
	case 0: return old + 1;
	case 1: return old - 1;
	case 2: return old ^ (uint64_t)1 << fuzz_below(m, 64);
	case 3: return fuzz_below(m, 16);
	default:
		return numbers[fuzz_below(
			m, sizeof numbers / sizeof numbers[0])];
	}
}

static uint64_t
interesting_bits(struct fuzz_mutator *m, uint64_t old)
{
	static const uint64_t bits[] = { 0, 1, 0x8000000000000000,
		0x8000000000000001, 0x3ff0000000000000, 0x3fefffffffffffff,
		0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
		0x7ff8000000000000, 0x7ff0000000000001, 0x7fefffffffffffff,
		0x0010000000000000 };

	if (fuzz_below(m, 4) == 0)
		return old ^ (uint64_t)1 << fuzz_below(m, 64);
	return bits[fuzz_below(m, sizeof bits / sizeof bits[0])];
}

static void
edit_number(struct fuzz_mutator *m, uint8_t *p, enum ckpt_type type, size_t len,
	const struct ckpt_want *want)
{
	uint8_t b[8] = { 0 };
	uint64_t value;

	if (len > sizeof b)
		return;
	memcpy(b, p, len);
	value = ckpt_load_u64(b);
	if (want && want->kind == CKPT_WANT_TAGS && fuzz_below(m, 2))
		value = want->tags[fuzz_below(m, want->ntags)].value;
	else if (type == CKPT_F64)
		value = interesting_bits(m, value);
	else
		value = fuzz_number(m, value);
	ckpt_store_u64(b, value);
	memcpy(p, b, len);
}

bool
fuzz_replace(uint8_t *bytes, size_t *size, size_t most, uint64_t off,
	uint64_t old, const void *with, size_t n)
{
	uint64_t rest;

	if (!ckpt_within(off, old, *size) || *size - (size_t)old + n > most)
		return false;
	rest = *size - off - old;
	memmove(bytes + off + n, bytes + off + old, (size_t)rest);
	if (n)
		memcpy(bytes + off, with, n);
	*size = *size - (size_t)old + n;
	return true;
}

/* A string takes the bytes of another one, loses or gains a byte, or lies
 * about its length. */
static void
edit_string(struct fuzz_mutator *m, uint8_t *bytes, size_t *size, size_t most,
	const struct fuzz_place *f)
{
	const struct fuzz_place *g =
		&m->scan.fields[fuzz_below(m, m->scan.nfields)];
	uint8_t text[512];
	size_t n = (size_t)f->len;

	if (fuzz_below(m, 4) == 0) {
		edit_number(m, bytes + f->off, CKPT_U32, 4, NULL);
		return;
	}
	if (g->type == CKPT_STR && g->len <= sizeof text && fuzz_below(m, 2)) {
		memcpy(text, bytes + g->off, (size_t)g->len);
		fuzz_replace(bytes, size, most, f->off, f->len, text,
			(size_t)g->len);
		return;
	}
	if (n < 5 || n >= sizeof text)
		return;
	memcpy(text, bytes + f->off, n);
	if (fuzz_below(m, 2))
		text[n++] = (uint8_t)fuzz_below(m, 256);
	else if (fuzz_below(m, 2))
		n--;
	else
		text[4 + fuzz_below(m, n - 4)] ^=
			(uint8_t)(1 << fuzz_below(m, 8));
	ckpt_store_u32(text, (uint32_t)n - 4);
	fuzz_replace(bytes, size, most, f->off, f->len, text, n);
}

static void
edit_field(struct fuzz_mutator *m, uint8_t *bytes, size_t *size, size_t most)
{
	const struct fuzz_place *f =
		&m->scan.fields[fuzz_below(m, m->scan.nfields)];

	if (!ckpt_within(f->off, f->len, *size))
		return;
	if (f->flags & CKPT_IS_JSON)
		fuzz_edit_text(m, bytes, size, most, f);
	else if (f->type == CKPT_STR)
		edit_string(m, bytes, size, most, f);
	else
		edit_number(
			m, bytes + f->off, f->type, (size_t)f->len, f->want);
}

/* Deletes, doubles or swaps records, mostly counting them anew: the field in
 * front of the first record is taken for their number. */
static void
edit_records(struct fuzz_mutator *m, uint8_t *bytes, size_t *size, size_t most)
{
	const struct fuzz_scan *s = &m->scan;
	const struct fuzz_tensor *t = &s->tensors[fuzz_below(m, s->ntensors)];
	uint64_t first = s->tensors[0].record_at, count_at = first - 4;
	uint32_t count;
	uint8_t record[512];
	size_t n = (size_t)t->record_len;

	if (t->record_len > sizeof record || first < 4 ||
		!ckpt_within(count_at, 4, *size) ||
		!ckpt_within(t->record_at, n, *size))
		return;
	count = ckpt_load_u32(bytes + count_at);
	memcpy(record, bytes + t->record_at, n);
	if (fuzz_below(m, 2)) {
		fuzz_replace(bytes, size, most, t->record_at, n, NULL, 0);
		count--;
	} else {
		const struct fuzz_tensor *u =
			&s->tensors[fuzz_below(m, s->ntensors)];

		if (!fuzz_replace(
			    bytes, size, most, u->record_at, 0, record, n))
			return;
		count++;
	}
	if (fuzz_below(m, 4))
		ckpt_store_u32(bytes + count_at, count);
}

static void
edit_element(struct fuzz_mutator *m, uint8_t *bytes, size_t size)
{
	const struct fuzz_scan *s = &m->scan;
	const struct fuzz_tensor *t = &s->tensors[fuzz_below(m, s->ntensors)];
	uint64_t at;

	if (t->width == 0 || t->required < t->width)
		return;
	at = fuzz_below(m, t->required / t->width) * t->width;
	if (!ckpt_add_u64(at, t->off, &at) || !ckpt_within(at, t->width, size))
		return;
	edit_number(m, bytes + at, t->width == 8 ? CKPT_F64 : CKPT_U32,
		t->width, NULL);
}

void
fuzz_edit(struct fuzz_mutator *m, uint8_t *bytes, size_t *size, size_t most)
{
	uint64_t pick = fuzz_below(m, 8);

	if (m->scan.ntensors == 0 || pick < 5)
		edit_field(m, bytes, size, most);
	else if (pick == 5 && m->scan.text)
		fuzz_edit_entry(m, bytes, size, most);
	else if (pick == 5)
		edit_records(m, bytes, size, most);
	else
		edit_element(m, bytes, *size);
}
