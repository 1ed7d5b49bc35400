/* SPDX-License-Identifier: MIT */
/*
 * The one pass of the classifier over the bytes: runs of zeros, what a text
 * tool counts, samples of content, and magics of other files. A piece of a
 * megabyte is read at a time; files beyond CKPT_CLASSIFY_MOST give as many
 * pieces as that allows, evenly spread, the first and the last among them.
 */
#include "forensics/classify_parts.h"

#include <string.h>

#include "format/format.h"

/* Shorter ones are of no block. */
enum { ZEROS_LEAST = 64 };

/* ---- Zeros -------------------------------------------------------------- */

void
ckpt_classify_zeros_close(struct classify *c, bool cut)
{
	struct zeros *z = &c->zeros;

	if (!z->open)
		return;
	z->open = false;
	z->now.cut |= cut;
	if (z->now.end - z->now.off < ZEROS_LEAST)
		return;
	if (z->n < CLASSIFY_RUNS)
		z->runs[z->n++] = z->now;
	else
		z->lost++;
}

/* Zero bytes at the front of p. */
static size_t
zeros_at(const uint8_t *p, size_t n)
{
	static const uint8_t zero[256];
	size_t i = 0;

	while (n - i >= sizeof zero && memcmp(p + i, zero, sizeof zero) == 0)
		i += sizeof zero;
	while (i < n && p[i] == 0)
		i++;
	return i;
}

void
ckpt_classify_zeros_add(
	struct classify *c, uint64_t off, const uint8_t *p, size_t n)
{
	struct zeros *z = &c->zeros;

	for (size_t i = 0; i < n;) {
		const uint8_t *found;
		size_t k = zeros_at(p + i, n - i);

		if (k > 0 && !z->open) {
			z->open = true;
			z->now = (struct zero_run){ .off = off + i,
				.cut = i == 0 && z->after_gap };
		}
		z->now.end = off + i + k;
		i += k;
		if (i == n)
			break;
		ckpt_classify_zeros_close(c, false);
		found = memchr(p + i, 0, n - i);
		i = found ? (size_t)(found - p) : n;
	}
	z->after_gap = false;
}

/* ---- Text --------------------------------------------------------------- */

/* The length of the UTF-8 sequence that begins with b; 0: none does. */
static unsigned
sequence(uint8_t b)
{
	if (b < 0x80)
		return 1;
	if (b >= 0xc2 && b < 0xe0)
		return 2;
	if (b >= 0xe0 && b < 0xf0)
		return 3;
	return b >= 0xf0 && b < 0xf5 ? 4 : 0;
}

/* Whether everything so far is UTF-8, for as long as it is. Overlong forms
 * pass: who counts on them is not who asks here. */
static void
follow_utf8(struct byte_counts *t, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && !t->not_utf8; i++) {
		if (t->wanted > 0) {
			t->not_utf8 = (p[i] & 0xc0) != 0x80;
			t->wanted--;
			continue;
		}
		t->wanted = sequence(p[i]);
		t->not_utf8 = t->wanted == 0;
		if (t->wanted == 0)
			return;
		t->wanted--;
		t->leads += p[i] >= 0x80;
		t->latin += p[i] == 0xc2 || p[i] == 0xc3;
	}
}

static void
count_pairs(struct byte_counts *t, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *found = memchr(p + i, '\n', n - i);
		uint8_t before;

		if (!found)
			break;
		i = (size_t)(found - p);
		before = i > 0 ? p[i - 1] : t->tail[1];
		t->crlf += before == '\r';
	}
	for (size_t i = 0; i < n; i++) {
		const uint8_t *found = memchr(p + i, 0xbd, n - i);
		uint8_t one, two;

		if (!found)
			break;
		i = (size_t)(found - p);
		two = i > 0 ? p[i - 1] : t->tail[1];
		one = i > 1 ? p[i - 2] : t->tail[i];
		t->replaced += one == 0xef && two == 0xbf;
	}
}

void
ckpt_classify_text_add(struct classify *c, const uint8_t *p, size_t n)
{
	struct byte_counts *t = &c->text;
	uint32_t counts[4][256] = { { 0 } };
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		counts[0][p[i]]++;
		counts[1][p[i + 1]]++;
		counts[2][p[i + 2]]++;
		counts[3][p[i + 3]]++;
	}
	for (; i < n; i++)
		counts[i % 4][p[i]]++;
	for (i = 0; i < 256; i++)
		for (size_t k = 0; k < 4; k++)
			t->count[i] += counts[k][i];
	/* Chunks begin at even offsets. */
	t->odd_zero += counts[1][0] + counts[3][0];
	t->bytes += n;
	count_pairs(t, p, n);
	follow_utf8(t, p, n);
	if (n >= 2)
		memcpy(t->tail, p + n - 2, 2);
}

/* ---- Samples of content ------------------------------------------------- */

/* One of 2^64 that is odd and has no pattern (the fractional part of the
 * golden ratio), so that every byte moves all bits above. */
static uint64_t
spread(uint8_t b)
{
	uint64_t x = (b + (uint64_t)1) * 0x9e3779b97f4a7c15u;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

/* The hash of the 64 bytes before each place, of which those are kept whose
 * upper bits are zero: wherever some content comes again, the same places of
 * it are kept again. */
void
ckpt_classify_repeats_add(
	struct classify *c, uint64_t off, const uint8_t *p, size_t n)
{
	struct repeats *r = &c->repeats;
	uint64_t h = r->hash, mask = r->mask;
	uint64_t table[256];

	for (unsigned b = 0; b < 256; b++)
		table[b] = spread((uint8_t)b);
	for (size_t i = 0; i < n; i++) {
		h = (h << 1) + table[p[i]];
		if ((h & mask) != 0 || r->filled + i < 64)
			continue;
		/* What has a period would fill the list with one hash. */
		if (r->n > 0 && r->samples[r->n - 1].hash == h)
			continue;
		if (r->n == CLASSIFY_SAMPLES) {
			r->full = true;
			break;
		}
		r->samples[r->n++] = (struct content_sample){ h, off + i + 1 };
	}
	r->hash = h;
	r->filled += n;
}

/* Hashes are kept so rarely that the list is about half full at the end. */
static uint64_t
mask_for(uint64_t bytes)
{
	unsigned bits = 8;

	while (bytes >> bits > CLASSIFY_SAMPLES / 2)
		bits++;
	return UINT64_MAX << (64 - bits);
}

/* ---- Magics ------------------------------------------------------------- */

/* Files begin where blocks do. */
void
ckpt_classify_magics_add(
	struct classify *c, uint64_t off, const uint8_t *p, size_t n)
{
	struct magics *m = &c->magics;

	for (size_t i = 0; i < n; i += 512) {
		const char *name;

		if (off + i == 0 || m->n == CLASSIFY_MAGICS)
			continue;
		name = ckpt_foreign_magic(p + i, n - i);
		if (!name || ckpt_classify_edge_at(c, off + i) == EDGE_TENSOR)
			continue;
		m->list[m->n].off = off + i;
		m->list[m->n].values = ckpt_classify_values_at(
			c, off + i, p + i, n - i < 4096 ? n - i : 4096);
		m->list[m->n++].name = name;
	}
}

/* ---- All ---------------------------------------------------------------- */

static void
add_gap(struct classify *c)
{
	ckpt_classify_zeros_close(c, true);
	c->zeros.after_gap = true;
	ckpt_classify_phases_close(c);
	c->repeats.hash = 0;
	c->repeats.filled = 0;
	memset(c->text.tail, 0, sizeof c->text.tail);
	c->text.not_utf8 = true; /* nobody knows */
}

void
ckpt_classify_scan(struct classify *c)
{
	uint64_t all = (c->size + CLASSIFY_CHUNK - 1) / CLASSIFY_CHUNK;
	uint64_t most = CKPT_CLASSIFY_MOST / CLASSIFY_CHUNK;
	uint64_t n = all < most ? all : most, last = 0;

	c->sampled = n < all;
	c->repeats.mask = mask_for(n * CLASSIFY_CHUNK);
	for (uint64_t i = 0; i < n && c->status == CKPT_OK; i++) {
		/* all < 2^44, so this does not overflow. */
		uint64_t chunk = c->sampled ? i * (all - 1) / (n - 1) : i;
		uint64_t off = chunk * CLASSIFY_CHUNK;
		size_t k;

		if (!ckpt_classify_go_on(c, off))
			return;
		if (i > 0 && chunk != last + 1)
			add_gap(c);
		last = chunk;
		k = ckpt_classify_read(c, off, c->chunk, CLASSIFY_CHUNK);
		ckpt_classify_zeros_add(c, off, c->chunk, k);
		ckpt_classify_text_add(c, c->chunk, k);
		ckpt_classify_phases_add(c, off, c->chunk, k);
		ckpt_classify_repeats_add(c, off, c->chunk, k);
		ckpt_classify_magics_add(c, off, c->chunk, k);
		c->causes->examined += k;
	}
	ckpt_classify_zeros_close(c, false);
	ckpt_classify_phases_close(c);
}
