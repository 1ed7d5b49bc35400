/* SPDX-License-Identifier: MIT */
/*
 * A mutator for AFL++ that knows the fields, loaded by afl-fuzz itself.
 *
 * post_process repairs what would stop a changed file at the door: checksum,
 * extents, offsets and lengths. How much it repairs is decided by the values
 * that it never changes, so the same bytes always give the same file, a
 * repaired file is left as it is, and broken files are tried too. fuzz makes
 * one or a few edits by field, record or tensor element.
 *
 * All of this goes by the events of a parse and the flags of the schema rows;
 * no format is named here, and nothing in src is switched for fuzzing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/hash.h"
#include "format/format.h"
#include "model/rng.h"

enum { FIELDS = 8192, TENSORS = 1024, LARGEST = 1 << 20 };

/* What a parse told: where the fields are, and what the records need. */
struct place {
	enum ckpt_type type;
	unsigned flags;
	const struct ckpt_want *want;
	uint64_t off, len;
};

struct tensor {
	uint64_t required; /* bytes that shape and type need */
	unsigned width;
	uint64_t off, record_at, record_len;
};

struct scan {
	struct ckpt_sink sink;
	struct place fields[FIELDS];
	size_t nfields;
	struct tensor tensors[TENSORS];
	size_t ntensors;
	uint64_t begin, end; /* of the header behind the extents */
	bool complete;       /* the whole header was understood */
};

struct mutator {
	struct scan scan;
	struct ckpt_rng rng;
	/* LARGEST bytes each. Two, because afl-fuzz gives what it got back
	 * to be repaired again. */
	uint8_t *fixed, *other, *edited;
};

void *afl_custom_init(void *afl, unsigned int seed);
void afl_custom_deinit(void *data);
size_t afl_custom_post_process(
	void *data, uint8_t *buf, size_t size, uint8_t **out);
size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t size, uint8_t **out,
	uint8_t *add, size_t add_size, size_t most);

void
afl_custom_deinit(void *data)
{
	struct mutator *m = data;

	if (!m)
		return;
	free(m->fixed);
	free(m->other);
	free(m->edited);
	free(m);
}

void *
afl_custom_init(void *afl, unsigned int seed)
{
	struct mutator *m = calloc(1, sizeof *m);

	(void)afl;
	if (!m)
		return NULL;
	m->rng.state = seed;
	m->fixed = malloc(LARGEST);
	m->other = malloc(LARGEST);
	m->edited = malloc(LARGEST);
	if (!m->fixed || !m->other || !m->edited) {
		afl_custom_deinit(m);
		return NULL;
	}
	return m;
}

/* ---- finding out where things are --------------------------------------- */

/* Shape and width give the length; what does not fit counts as declared. */
static uint64_t
required(const struct ckpt_span *span)
{
	uint64_t n = span->width;

	for (uint32_t i = 0; i < span->rank; i++)
		if (!ckpt_mul_u64(n, span->dims[i], &n))
			return span->len;
	return n;
}

static enum ckpt_status
listen(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct scan *s = (struct scan *)sink;
	const struct ckpt_span *span = event->span;

	if (event->kind == CKPT_EV_FIELD && s->nfields < FIELDS)
		s->fields[s->nfields++] =
			(struct place){ event->field->type, event->field->flags,
				event->field->want, event->off, event->len };
	if (event->kind == CKPT_EV_FIELD)
		s->end = event->off + event->len;
	if (event->kind == CKPT_EV_SPAN && s->ntensors < TENSORS)
		s->tensors[s->ntensors++] =
			(struct tensor){ required(span), span->width, span->off,
				span->record_at, span->record_len };
	return CKPT_OK;
}

static void
scan(struct scan *s, const uint8_t *bytes, size_t size)
{
	struct ckpt_options options = { .max_memory = (uint64_t)64 << 20 };
	struct ckpt_run *run = ckpt_run_new(&options);
	struct ckpt_source *source = ckpt_source_memory(bytes, size);

	s->nfields = s->ntensors = 0;
	s->end = 0;
	s->complete = false;
	s->sink = (struct ckpt_sink){ .event = listen, .wants_fields = true };
	if (run && source) {
		ckpt_run_listen(run, &s->sink);
		(void)ckpt_verify(run, source);
		s->complete =
			run->diags.per_rule[CKPT_D_HEADER_TRUNCATED] == 0 &&
			s->nfields < FIELDS && s->ntensors > 0 &&
			s->ntensors < TENSORS;
	}
	ckpt_source_close(source);
	ckpt_run_free(run);
}

static bool
find(const struct ckpt_format *format, const char *path, void *base,
	size_t size, uint64_t *off)
{
	struct ckpt_place place;

	if (!path || !ckpt_path_find(format->root, base, 0, path, &place) ||
		place.len != 8 || !ckpt_within(place.off, 8, size))
		return false;
	*off = place.off;
	return true;
}

/* Where the extents of the file are, by the rows of its format. */
static bool
find_extents(
	const uint8_t *bytes, size_t size, uint64_t *header, uint64_t *payload)
{
	const struct ckpt_format *format = ckpt_format_sniff(bytes, size);
	void *base =
		format && format->draft ? calloc(1, format->root->size) : NULL;
	bool found = base &&
		     find(format, format->draft->header_extent, base, size,
			     header) &&
		     find(format, format->draft->payload_extent, base, size,
			     payload);

	free(base);
	return found;
}

/* ---- repair ------------------------------------------------------------- */

/* A number that no repair changes. */
static uint64_t
constant_hash(const struct scan *s, const uint8_t *bytes)
{
	uint64_t h = CKPT_FNV1A64_START;

	for (size_t i = 0; i < s->nfields; i++) {
		const struct place *f = &s->fields[i];

		if ((f->flags & (CKPT_HASH_AS_ZERO | CKPT_IS_OFFSET |
					CKPT_IS_LENGTH)) == 0)
			h = ckpt_fnv1a64(h, bytes + f->off, (size_t)f->len);
	}
	return h;
}

static void
repair_checksum(const struct scan *s, uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < s->nfields; i++) {
		const struct place *f = &s->fields[i];

		if (!(f->flags & CKPT_HASH_AS_ZERO) || f->len != 8)
			continue;
		memset(bytes + f->off, 0, 8);
		ckpt_store_u64(bytes + f->off,
			ckpt_fnv1a64(CKPT_FNV1A64_START, bytes, size));
	}
}

/* Offsets and lengths so that the tensors follow each other; returns where
 * the last one ends. */
static uint64_t
repair_tensors(const struct scan *s, uint8_t *bytes)
{
	uint64_t at = s->end;
	size_t i = 0;

	for (size_t k = 0; k < s->ntensors; k++) {
		const struct tensor *t = &s->tensors[k];

		for (; i < s->nfields; i++) {
			const struct place *f = &s->fields[i];

			if (f->off >= t->record_at + t->record_len)
				break;
			if (f->off < t->record_at || f->len != 8)
				continue;
			if (f->flags & CKPT_IS_OFFSET)
				ckpt_store_u64(bytes + f->off, at);
			if (f->flags & CKPT_IS_LENGTH)
				ckpt_store_u64(bytes + f->off, t->required);
		}
		if (!ckpt_add_u64(at, t->required, &at))
			return UINT64_MAX;
	}
	return at;
}

enum { NOTHING, CHECKSUM, EXTENTS, EVERYTHING };

/* Of sixteen files two stay broken, three get a checksum, three extents. */
static int
level_of(uint64_t hash)
{
	unsigned pick = (unsigned)(hash >> 32) % 16;

	return pick < 2   ? NOTHING
	       : pick < 5 ? CHECKSUM
	       : pick < 8 ? EXTENTS
			  : EVERYTHING;
}

size_t
afl_custom_post_process(void *data, uint8_t *buf, size_t size, uint8_t **out)
{
	struct mutator *m = data;
	struct scan *s = &m->scan;
	uint64_t header, payload, end;
	uint8_t *fixed = buf == m->fixed ? m->other : m->fixed;
	int level;

	*out = buf;
	if (size > LARGEST || !find_extents(buf, size, &header, &payload))
		return size;
	/* The header ends where its fields do, wherever it says it does. */
	memcpy(fixed, buf, size);
	ckpt_store_u64(fixed + header, size);
	ckpt_store_u64(fixed + payload, 0);
	scan(s, fixed, size);
	level = level_of(constant_hash(s, fixed));
	if (level == NOTHING)
		return size;
	*out = fixed;
	memcpy(fixed + header, buf + header, 8);
	memcpy(fixed + payload, buf + payload, 8);
	if (level >= EXTENTS && s->complete) {
		end = level == EVERYTHING ? repair_tensors(s, fixed) : size;
		if (end > LARGEST)
			end = size;
		if (end > size)
			memset(fixed + size, 0, (size_t)(end - size));
		size = (size_t)end;
		ckpt_store_u64(fixed + header, s->end);
		ckpt_store_u64(fixed + payload, size - s->end);
	}
	repair_checksum(s, fixed, size);
	return size;
}

/* ---- edits -------------------------------------------------------------- */

static uint64_t
below(struct mutator *m, uint64_t n)
{
	return ckpt_rng_draw(&m->rng) % n;
}

/* A number that has broken programs before. */
static uint64_t
interesting(struct mutator *m, uint64_t old)
{
	static const uint64_t numbers[] = { 0, 1, 2, 3, 9, 255, 256, 257, 258,
		65535, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		(uint64_t)1 << 60, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 1,
		UINT64_MAX };

	switch (below(m, 5)) {
	case 0: return old + 1;
	case 1: return old - 1;
	case 2: return old ^ (uint64_t)1 << below(m, 64);
	case 3: return below(m, 16);
	default: return numbers[below(m, sizeof numbers / sizeof numbers[0])];
	}
}

static uint64_t
interesting_bits(struct mutator *m, uint64_t old)
{
	static const uint64_t bits[] = { 0, 1, 0x8000000000000000,
		0x8000000000000001, 0x3ff0000000000000, 0x3fefffffffffffff,
		0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
		0x7ff8000000000000, 0x7ff0000000000001, 0x7fefffffffffffff,
		0x0010000000000000 };

	if (below(m, 4) == 0)
		return old ^ (uint64_t)1 << below(m, 64);
	return bits[below(m, sizeof bits / sizeof bits[0])];
}

static void
edit_number(struct mutator *m, uint8_t *p, enum ckpt_type type, size_t len,
	const struct ckpt_want *want)
{
	uint8_t b[8] = { 0 };
	uint64_t value;

	if (len > sizeof b)
		return;
	memcpy(b, p, len);
	value = ckpt_load_u64(b);
	if (want && want->kind == CKPT_WANT_TAGS && below(m, 2))
		value = want->tags[below(m, want->ntags)].value;
	else if (type == CKPT_F64)
		value = interesting_bits(m, value);
	else
		value = interesting(m, value);
	ckpt_store_u64(b, value);
	memcpy(p, b, len);
}

/* Makes room for n bytes in place of old ones at off. */
static bool
replace(uint8_t *bytes, size_t *size, size_t most, uint64_t off, uint64_t old,
	const uint8_t *with, size_t n)
{
	uint64_t rest = *size - off - old;

	if (*size - old + n > most)
		return false;
	memmove(bytes + off + n, bytes + off + old, (size_t)rest);
	if (n)
		memcpy(bytes + off, with, n);
	*size = *size - (size_t)old + n;
	return true;
}

/* A string takes the bytes of another one, loses or gains a byte, or lies
 * about its length. */
static void
edit_string(struct mutator *m, uint8_t *bytes, size_t *size, size_t most,
	const struct place *f)
{
	const struct place *g = &m->scan.fields[below(m, m->scan.nfields)];
	uint8_t text[512];
	size_t n = (size_t)f->len;

	if (below(m, 4) == 0) {
		edit_number(m, bytes + f->off, CKPT_U32, 4, NULL);
		return;
	}
	if (g->type == CKPT_STR && g->len <= sizeof text && below(m, 2)) {
		memcpy(text, bytes + g->off, (size_t)g->len);
		replace(bytes, size, most, f->off, f->len, text,
			(size_t)g->len);
		return;
	}
	if (n < 5 || n >= sizeof text)
		return;
	memcpy(text, bytes + f->off, n);
	if (below(m, 2))
		text[n++] = (uint8_t)below(m, 256);
	else if (below(m, 2))
		n--;
	else
		text[4 + below(m, n - 4)] ^= (uint8_t)(1 << below(m, 8));
	ckpt_store_u32(text, (uint32_t)n - 4);
	replace(bytes, size, most, f->off, f->len, text, n);
}

static void
edit_field(struct mutator *m, uint8_t *bytes, size_t *size, size_t most)
{
	const struct place *f = &m->scan.fields[below(m, m->scan.nfields)];

	if (f->type == CKPT_STR)
		edit_string(m, bytes, size, most, f);
	else
		edit_number(
			m, bytes + f->off, f->type, (size_t)f->len, f->want);
}

/* Deletes, doubles or swaps records, mostly counting them anew: the field in
 * front of the first record is taken for their number. */
static void
edit_records(struct mutator *m, uint8_t *bytes, size_t *size, size_t most)
{
	const struct scan *s = &m->scan;
	const struct tensor *t = &s->tensors[below(m, s->ntensors)];
	uint64_t count_at = s->tensors[0].record_at - 4;
	uint32_t count = ckpt_load_u32(bytes + count_at);
	uint8_t record[512];
	size_t n = (size_t)t->record_len;

	if (n > sizeof record || count_at > *size)
		return;
	memcpy(record, bytes + t->record_at, n);
	if (below(m, 2)) {
		replace(bytes, size, most, t->record_at, n, NULL, 0);
		count--;
	} else {
		const struct tensor *u = &s->tensors[below(m, s->ntensors)];

		if (!replace(bytes, size, most, u->record_at, 0, record, n))
			return;
		count++;
	}
	if (below(m, 4))
		ckpt_store_u32(bytes + count_at, count);
}

static void
edit_element(struct mutator *m, uint8_t *bytes, size_t size)
{
	const struct scan *s = &m->scan;
	const struct tensor *t = &s->tensors[below(m, s->ntensors)];
	uint64_t at;

	if (t->width == 0 || t->required < t->width)
		return;
	at = below(m, t->required / t->width) * t->width;
	if (!ckpt_add_u64(at, t->off, &at) || !ckpt_within(at, t->width, size))
		return;
	edit_number(m, bytes + at, t->width == 8 ? CKPT_F64 : CKPT_U32,
		t->width, NULL);
}

size_t
afl_custom_fuzz(void *data, uint8_t *buf, size_t size, uint8_t **out,
	uint8_t *add, size_t add_size, size_t most)
{
	struct mutator *m = data;
	uint8_t *bytes = m->edited;
	uint64_t edits = 1 + below(m, 3);

	(void)add;
	(void)add_size;
	*out = buf;
	if (most > LARGEST)
		most = LARGEST;
	if (size == 0 || size > most)
		return size;
	memcpy(bytes, buf, size);
	*out = bytes;
	for (uint64_t i = 0; i < edits; i++) {
		uint64_t pick = below(m, 8);

		/* The edit before may have moved everything. */
		scan(&m->scan, bytes, size);
		if (m->scan.nfields == 0)
			return size;
		if (m->scan.ntensors == 0 || pick < 5)
			edit_field(m, bytes, &size, most);
		else if (pick == 5)
			edit_records(m, bytes, &size, most);
		else
			edit_element(m, bytes, size);
	}
	return size;
}
