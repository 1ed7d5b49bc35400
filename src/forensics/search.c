/* SPDX-License-Identifier: MIT */
/*
 * How a damaged byte is found.
 *
 * A step of the hash, h' = (h ^ b) * p mod 2^64, can be undone because p is
 * odd: h = (h' * q) ^ b with p q = 1. So there are two walks back over the
 * same bytes, from the end to the start. One begins with the hash that was
 * computed from the bytes as they are: it passes through K[i], the states that
 * the computation had before byte i. The other begins with the stored hash:
 * S[i] is the state before byte i that would have led to it. As both undo the
 * same bytes, they never meet unless they are equal all along.
 *
 * If exactly byte i is damaged, the bytes before it are right, so K[i] is what
 * the writer had, too; the bytes behind it are right, so S[i+1] is as well.
 * Hence (K[i] ^ original) * p = S[i+1] = (S[i] ^ found) * p: S[i] and K[i]
 * differ by original ^ found, in the low byte only. Two numbers of 64 bits that
 * have nothing to do with each other agree in the upper 56 bits once in 2^56.
 *
 * If bytes i and i+1 are damaged, ((K[i] ^ a) * p ^ b) * p = S[i+2] with a and
 * b unknown. b touches a low byte only, so above it (K[i] ^ a) * p must be
 * T = S[i+2] * q, which is S[i+1] above its low byte. a turns K[i] into its
 * upper part plus some x < 256, so x * p must be D = T - upper(K[i]) * p above
 * the low byte; and as p = 2^40 + 435, x is simply D >> 40 (435 x stays below
 * 2^40). One multiplication tells whether an x fits: no search over 65536
 * pairs. Most positions are done with when D >> 48 is not zero.
 *
 * Both walks are chains of dependent multiplications, four cycles a byte; the
 * processor runs them side by side, and the tests in their shade.
 */
#include "forensics/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/try.h"
#include "io/source_read.h"

#define UPPER (~UINT64_C(0xff))

enum { BLOCK = 1 << 20, FIELD = 8 };

/* The two walks: their states before the byte where they stand, and the one
 * from the stored hash a byte earlier. */
struct walk {
	uint64_t stored, computed, behind;
};

struct search {
	const struct ckpt_damage_search *task;
	struct ckpt_location *location;
	uint8_t *block; /* BLOCK bytes or the whole file, owned */
	struct walk walk;
};

/* ---- Reading ------------------------------------------------------------ */

void
ckpt_checksum_blank(uint64_t field, uint8_t *bytes, uint64_t off, size_t n)
{
	for (uint64_t i = field; i < field + FIELD; i++)
		if (i >= off && i - off < n)
			bytes[i - off] = 0;
}

static enum ckpt_status
read_bytes(const struct search *s, uint64_t off, void *bytes, size_t n)
{
	return ckpt_source_read_all(s->task->source, off, bytes, n);
}

static bool
in_field(const struct search *s, uint64_t off)
{
	return off >= s->task->field && off - s->task->field < FIELD;
}

/* n bytes at off into the block, as they count. */
static enum ckpt_status
load(const struct search *s, uint64_t off, size_t n)
{
	CKPT_TRY(read_bytes(s, off, s->block, n));
	ckpt_checksum_blank(s->task->field, s->block, off, n);
	return CKPT_OK;
}

static enum ckpt_status
tell(const struct search *s, uint64_t done)
{
	const struct ckpt_damage_search *t = s->task;

	/* Both passes count. */
	if (t->progress && !t->progress(t->progress_ctx, done, 2 * t->length))
		return CKPT_STOP;
	return CKPT_OK;
}

/* ---- Explanations ------------------------------------------------------- */

static void
add(struct search *s, const struct ckpt_damage *damage)
{
	struct ckpt_location *l = s->location;

	if (l->n < CKPT_DAMAGES)
		l->damages[l->n++] = *damage;
	l->count++;
}

static double
chance(double explanations)
{
	return ldexp(explanations, -64);
}

static void
consider_byte(struct search *s, uint64_t at, uint8_t found)
{
	uint64_t differ = s->walk.stored ^ s->walk.computed;
	double n = (double)(s->task->length - FIELD);

	if (differ > 0xff || in_field(s, at))
		return;
	add(s, &(struct ckpt_damage){
		       .kind = CKPT_DAMAGE_BYTE,
		       .off = at,
		       .len = 1,
		       .found = { found },
		       .original = { (uint8_t)(found ^ differ) },
		       .chance = chance(255 * n),
	       });
}

static uint64_t
burst_difference(const struct walk *w)
{
	return (w->behind & UPPER) - (w->computed & UPPER) * CKPT_FNV1A64_PRIME;
}

/* Of a burst of which only one byte changes is spoken as of that byte. */
static void
consider_burst(struct search *s, uint64_t at, const uint8_t found[2])
{
	const struct walk *w = &s->walk;
	uint64_t d = burst_difference(w), x = d >> 40;
	double n = (double)(s->task->length - FIELD);
	uint8_t a, b;

	if (x > 0xff || (x * CKPT_FNV1A64_PRIME & UPPER) != d ||
		in_field(s, at) || in_field(s, at + 1))
		return;
	a = (uint8_t)(w->computed ^ x);
	b = (uint8_t)(((w->computed & UPPER) + x) * CKPT_FNV1A64_PRIME ^
		      w->behind ^ found[1]);
	if (a == found[0] || b == found[1])
		return;
	add(s, &(struct ckpt_damage){
		       .kind = CKPT_DAMAGE_BURST,
		       .off = at,
		       .len = 2,
		       .found = { found[0], found[1] },
		       .original = { a, b },
		       .chance = chance(255.0 * 255 * n),
	       });
}

unsigned
ckpt_bits_count(uint64_t x)
{
	unsigned n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

/* The stored checksum beside that of intact bytes: one byte, two neighbours,
 * or a few bits anywhere. */
static void
consider_checksum(struct search *s)
{
	const struct ckpt_location *l = s->location;
	struct ckpt_damage damage = {
		.kind = CKPT_DAMAGE_CHECKSUM,
		.chance = chance(8 * 255 + 7 * 255 * 255 + 64 * 63 / 2 +
				 64 * 63 * 62 / 6),
	};
	uint8_t stored[FIELD], computed[FIELD];
	size_t first = 0, last = FIELD - 1;

	ckpt_store_u64(stored, l->stored);
	ckpt_store_u64(computed, l->computed);
	while (stored[first] == computed[first])
		first++;
	while (stored[last] == computed[last])
		last--;
	if (last - first > 1 &&
		ckpt_bits_count(l->stored ^ l->computed) > CKPT_SEARCH_BITS)
		return;
	damage.off = s->task->field + first;
	damage.len = last - first + 1;
	memcpy(damage.found, stored + first, damage.len);
	memcpy(damage.original, computed + first, damage.len);
	add(s, &damage);
}

/* ---- The two passes ----------------------------------------------------- */

static enum ckpt_status
hash_forward(struct search *s)
{
	uint64_t length = s->task->length, h = CKPT_FNV1A64_START;
	uint8_t field[FIELD];

	for (uint64_t off = 0; off < length;) {
		size_t n = length - off < BLOCK ? (size_t)(length - off)
						: (size_t)BLOCK;

		CKPT_TRY(load(s, off, n));
		h = ckpt_fnv1a64(h, s->block, n);
		off += n;
		CKPT_TRY(tell(s, off));
	}
	CKPT_TRY(read_bytes(s, s->task->field, field, FIELD));
	s->location->stored = ckpt_load_u64(field);
	s->location->computed = h;
	return CKPT_OK;
}

/* Walks back from byte n of the block to the next byte before it that may be
 * an explanation, and returns its number; n itself if there is none. */
static size_t
walk_back(struct walk *walk, const uint8_t *bytes, size_t n)
{
	struct walk w = *walk;
	size_t i = n;

	while (i > 0) {
		i--;
		w.behind = w.stored;
		w.stored = (w.stored * CKPT_FNV1A64_INVERSE) ^ bytes[i];
		w.computed = (w.computed * CKPT_FNV1A64_INVERSE) ^ bytes[i];
		if (((w.stored ^ w.computed) >> 8 == 0) |
			(burst_difference(&w) >> 48 == 0)) {
			*walk = w;
			return i;
		}
	}
	*walk = w;
	return n;
}

/* The walks stand before the byte at off, whose explanations may be real. */
static enum ckpt_status
consider(struct search *s, uint64_t off)
{
	bool last = off + 1 == s->task->length;
	uint8_t found[2] = { 0 };

	CKPT_TRY(read_bytes(s, off, found, last ? 1 : 2));
	consider_byte(s, off, found[0]);
	if (!last)
		consider_burst(s, off, found);
	return CKPT_OK;
}

static enum ckpt_status
search_block(struct search *s, uint64_t off, size_t n)
{
	CKPT_TRY(load(s, off, n));
	for (;;) {
		size_t i = walk_back(&s->walk, s->block, n);

		if (i == n)
			return CKPT_OK;
		CKPT_TRY(consider(s, off + i));
		if (i == 0)
			return CKPT_OK;
		n = i;
	}
}

static enum ckpt_status
search_backward(struct search *s)
{
	uint64_t length = s->task->length;

	s->walk.stored = s->location->stored;
	s->walk.computed = s->location->computed;
	for (uint64_t end = length; end > 0;) {
		size_t n = end < BLOCK ? (size_t)end : (size_t)BLOCK;

		end -= n;
		CKPT_TRY(search_block(s, end, n));
		CKPT_TRY(tell(s, 2 * length - end));
	}
	return CKPT_OK;
}

/* One byte beside the checksum and the byte of the checksum next to it: every
 * value of the one, and the other must be all that differs then. The block
 * holds the whole file, the checksum as zero. */
static void
search_edge(struct search *s, bool front)
{
	const uint64_t field = s->task->field;
	const uint64_t at = front ? field - 1 : field + FIELD;
	const unsigned shift = front ? 0 : 56;
	uint8_t *p = &s->block[at];
	const uint8_t found = *p,
		      next = (uint8_t)(s->location->stored >> shift);

	for (unsigned v = 0; v < 256; v++) {
		uint64_t hash, differ;
		uint8_t was;

		*p = (uint8_t)v;
		hash = ckpt_fnv1a64(
			CKPT_FNV1A64_START, s->block, (size_t)s->task->length);
		differ = hash ^ s->location->stored;
		if (v == found || differ == 0 ||
			(differ & UINT64_C(0xff) << shift) != differ)
			continue;
		was = (uint8_t)(hash >> shift);
		add(s, &(struct ckpt_damage){
			       .kind = CKPT_DAMAGE_BURST,
			       .off = front ? at : at - 1,
			       .len = 2,
			       .found = { front ? found : next,
				       front ? next : found },
			       .original = { front ? (uint8_t)v : was,
				       front ? was : (uint8_t)v },
			       .chance = chance(2.0 * 255 * 255),
		       });
	}
	*p = found;
}

static enum ckpt_status
search_edges(struct search *s)
{
	const struct ckpt_damage_search *t = s->task;

	if (s->location->count > 0 || t->length > CKPT_SEARCH_EDGES_MOST)
		return CKPT_OK;
	CKPT_TRY(load(s, 0, (size_t)t->length));
	if (t->field > 0)
		search_edge(s, true);
	if (t->field + FIELD < t->length)
		search_edge(s, false);
	return CKPT_OK;
}

static int
compare(const void *a, const void *b)
{
	const struct ckpt_damage *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind > y->kind ? 1 : -1;
	return (x->off > y->off) - (x->off < y->off);
}

enum ckpt_status
ckpt_search_damage(
	const struct ckpt_damage_search *task, struct ckpt_location *location)
{
	struct search s = { .task = task, .location = location };
	enum ckpt_status status;

	memset(location, 0, sizeof *location);
	if (task->length < FIELD || task->field > task->length - FIELD)
		return CKPT_REJECTED;
	s.block = malloc(task->length < BLOCK ? (size_t)task->length : BLOCK);
	if (!s.block)
		return CKPT_ENOMEM;
	status = hash_forward(&s);
	if (status == CKPT_OK && location->stored != location->computed)
		status = search_backward(&s);
	if (status == CKPT_OK && location->stored != location->computed) {
		consider_checksum(&s);
		status = search_edges(&s);
	}
	free(s.block);
	qsort(location->damages, location->n, sizeof location->damages[0],
		compare);
	return status;
}
