/* SPDX-License-Identifier: MIT */
/*
 * Comparing the contents of records, in blocks: equal blocks cost one memcmp,
 * others are looked at element by element. A record is done wholly or not at
 * all, so what was cancelled goes on with the record at which it stopped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "view/compare.h"

enum {
	BLOCK = 256 * 1024, /* a multiple of every width */
	PIECE = 4096,
};

static bool
read_all(struct ckpt_source *source, uint64_t off, uint8_t *to, size_t n)
{
	while (n > 0) {
		ptrdiff_t got = source->read_at(source, to, n, off);

		if (got <= 0)
			return false;
		to += got;
		off += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

static uint64_t
element(const uint8_t *p, unsigned width)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < width; i++)
		bits |= (uint64_t)p[i] << (8 * i);
	return bits;
}

/* The elements of a piece that differs, at of the record. */
static void
compare_elements(struct view_pair *p, const uint8_t *a, const uint8_t *b,
	size_t n, uint64_t at)
{
	for (size_t i = 0; i < n; i += p->width) {
		/* What is left of an element at the end of a broken record. */
		unsigned w = n - i < p->width ? (unsigned)(n - i) : p->width;

		if (memcmp(a + i, b + i, w) == 0)
			continue;
		if (p->differing++ > 0)
			continue;
		p->first = (at + i) / p->width;
		p->bits[0] = element(a + i, w);
		p->bits[1] = element(b + i, w);
	}
}

static void
compare_block(struct view_pair *p, const uint8_t *a, const uint8_t *b, size_t n,
	uint64_t at)
{
	if (memcmp(a, b, n) == 0)
		return;
	for (size_t i = 0; i < n; i += PIECE) {
		size_t k = n - i < PIECE ? n - i : PIECE;

		if (memcmp(a + i, b + i, k) != 0)
			compare_elements(p, a + i, b + i, k, at + i);
	}
}

/* What became of a pair; NOT_COMPARED if it was cancelled. */
static enum view_sameness
compare_pair(
	struct view_compare *c, struct view_pair *p, uint8_t *a, uint8_t *b)
{
	if (!ckpt_within(p->off[0], p->len, c->size[0]) ||
		!ckpt_within(p->off[1], p->len, c->size[1]))
		return VIEW_UNREADABLE;
	p->differing = 0;
	for (uint64_t at = 0; at < p->len;) {
		size_t n = p->len - at < BLOCK ? (size_t)(p->len - at) : BLOCK;

		if (view_job_cancelled(&c->job))
			return VIEW_NOT_COMPARED;
		if (!read_all(c->source[0], p->off[0] + at, a, n) ||
			!read_all(c->source[1], p->off[1] + at, b, n))
			return VIEW_UNREADABLE;
		compare_block(p, a, b, n, at);
		at += n;
		atomic_fetch_add(&c->job.done, n);
	}
	return p->differing > 0 ? VIEW_DIFFERENT : VIEW_SAME;
}

/* Bytes of all pairs that have bytes to be compared, and of those that are
 * done. Lengths are those of a header, so they may add up to anything. */
static void
measure(struct view_compare *c)
{
	uint64_t total = 0, done = 0;

	for (uint64_t i = 0; i < c->npairs; i++) {
		int s = atomic_load(&c->pairs[i].sameness);
		uint64_t len = c->pairs[i].len;

		if (s == VIEW_ABSENT || s == VIEW_SHAPE || len > c->size[0])
			continue;
		if (!ckpt_add_u64(total, len, &total))
			total = UINT64_MAX;
		if (s != VIEW_NOT_COMPARED && !ckpt_add_u64(done, len, &done))
			done = UINT64_MAX;
	}
	atomic_store(&c->job.done, done);
	atomic_store(&c->job.total, total);
}

void
view_compare_work(struct view_job *job)
{
	struct view_compare *c = (struct view_compare *)job;
	uint8_t *a = malloc(BLOCK), *b = malloc(BLOCK);

	measure(c);
	for (uint64_t i = 0; a && b && i < c->npairs; i++) {
		struct view_pair *p = &c->pairs[i];
		enum view_sameness s;

		if (view_job_cancelled(job))
			break;
		if (atomic_load(&p->sameness) != VIEW_NOT_COMPARED)
			continue;
		s = compare_pair(c, p, a, b);
		atomic_store(&p->sameness, s);
	}
	free(a);
	free(b);
}
