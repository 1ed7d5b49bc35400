/* SPDX-License-Identifier: MIT */
/*
 * The reader. Invariant: bytes before buf[tapped] are in the hash, and
 * nothing leaves the buffer untapped; tapped never passes at, so a format may
 * still set the zeroed range after it has peeked.
 */
#include "io/reader.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/hash.h"

/* Fewer bytes are not worth a thread; more of a pipe may never end. */
enum { AHEAD_LEAST = 8 * 1024 * 1024, REST_MOST = 1024 * 1024 };

_Static_assert((int)CKPT_AHEAD_BEFORE >= (int)CKPT_READER_BUFFER / 2,
	"what is unread when more is wanted fits before a block");

enum ckpt_status
ckpt_reader_init(struct ckpt_reader *reader, struct ckpt_run *run,
	struct ckpt_source *source)
{
	memset(reader, 0, sizeof *reader);
	reader->run = run;
	reader->source = source;
	reader->hash = CKPT_FNV1A64_START;
	reader->buf = ckpt_arena_alloc(&run->arena, CKPT_READER_BUFFER);
	return reader->buf ? CKPT_OK : ckpt_run_memory(run);
}

void
ckpt_reader_release(struct ckpt_reader *reader)
{
	ckpt_ahead_free(reader->ahead);
	reader->ahead = NULL;
}

void
ckpt_reader_ahead(struct ckpt_reader *r, uint64_t n)
{
	const struct ckpt_arena *arena = &r->run->arena;

	if (r->ahead || !r->source->any_thread || n < AHEAD_LEAST ||
		arena->budget - arena->used < CKPT_AHEAD_MEMORY)
		return;
	r->ahead = ckpt_ahead_new(r->source, r->run->whole);
}

/* Hashes up to buf[end), the zeroed range as zeros. */
static void
tap(struct ckpt_reader *r, size_t end)
{
	static const uint8_t zeros[16];

	if (!r->hashing) {
		r->tapped = end;
		return;
	}
	while (r->tapped < end) {
		uint64_t off = r->base + r->tapped;
		uint64_t zero_end = r->zero_off + r->zero_len;
		size_t n = end - r->tapped;
		const uint8_t *p = r->buf + r->tapped;

		if (off < r->zero_off && n > r->zero_off - off)
			n = (size_t)(r->zero_off - off);
		if (off >= r->zero_off && off < zero_end) {
			if (n > zero_end - off)
				n = (size_t)(zero_end - off);
			if (n > sizeof zeros)
				n = sizeof zeros;
			p = zeros;
		}
		r->hash = ckpt_fnv1a64(r->hash, p, n);
		r->tapped += n;
	}
}

static bool
go_on(struct ckpt_reader *r)
{
	const struct ckpt_options *options = &r->run->options;

	if (!options->progress ||
		options->progress(options->progress_ctx, r->base + r->fill,
			r->source->has_size ? r->source->size : 0))
		return true;
	r->status = CKPT_STOP;
	r->cancelled = true;
	return false;
}

/* The unread bytes begin at buf now, which may be another one. */
static void
move_to(struct ckpt_reader *r, uint8_t *buf)
{
	r->buf = buf;
	r->base += r->at;
	r->fill -= r->at;
	r->tapped = 0;
	r->at = 0;
}

/* Moves unread bytes to the front and reads more behind them, once. */
static ptrdiff_t
read_behind(struct ckpt_reader *r)
{
	ptrdiff_t got;

	if (r->at > 0) {
		memmove(r->buf, r->buf + r->at, r->fill - r->at);
		move_to(r, r->buf);
	}
	got = r->source->read(
		r->source, r->buf + r->fill, CKPT_READER_BUFFER - r->fill);
	if (r->run->whole && got > 0)
		ckpt_sha256_add(r->run->whole, r->buf + r->fill, (size_t)got);
	return got;
}

/* The next block that was read ahead, with the unread bytes put before it:
 * they are fewer than somebody wants. */
static ptrdiff_t
take_block(struct ckpt_reader *r)
{
	size_t unread = r->fill - r->at;
	uint8_t *block;
	ptrdiff_t got = ckpt_ahead_next(r->ahead, &block);

	if (got < 0)
		return got;
	assert(unread <= CKPT_AHEAD_BEFORE);
	memcpy(block - unread, r->buf + r->at, unread);
	move_to(r, block - unread);
	return got;
}

static void
refill(struct ckpt_reader *r)
{
	ptrdiff_t got;

	tap(r, r->at);
	if (!go_on(r))
		return;
	got = r->ahead ? take_block(r) : read_behind(r);
	if (got < 0 && errno == EINTR)
		return; /* whoever asked for bytes comes again */
	if (got < 0) {
		r->status = CKPT_EIO;
		r->error = errno;
	} else if (got == 0) {
		r->eof = true;
	} else {
		r->fill += (size_t)got;
	}
}

size_t
ckpt_reader_peek(struct ckpt_reader *r, size_t want, const uint8_t **p)
{
	while (r->fill - r->at < want && !r->eof && r->status == CKPT_OK)
		refill(r);
	*p = r->buf + r->at;
	return r->fill - r->at;
}

void
ckpt_reader_skip(struct ckpt_reader *r, size_t n)
{
	r->at += n;
}

/* Up to n bytes, to out unless it is NULL; how many there were. */
static uint64_t
consume(struct ckpt_reader *r, uint8_t *out, uint64_t n)
{
	uint64_t got = 0;

	while (got < n) {
		const uint8_t *p;
		size_t k = ckpt_reader_peek(r, 1, &p);

		if (k == 0)
			break;
		if (k > n - got)
			k = (size_t)(n - got);
		if (out)
			memcpy(out + got, p, k);
		ckpt_reader_skip(r, k);
		got += k;
	}
	return got;
}

size_t
ckpt_reader_read(struct ckpt_reader *r, void *bytes, size_t n)
{
	return (size_t)consume(r, bytes, n);
}

uint64_t
ckpt_reader_drop(struct ckpt_reader *r, uint64_t n)
{
	return consume(r, NULL, n);
}

bool
ckpt_reader_finish(struct ckpt_reader *r)
{
	const struct ckpt_source *source = r->source;
	uint64_t at = ckpt_reader_offset(r), most = REST_MOST;
	const uint8_t *p;

	if (source->has_size) {
		most = UINT64_MAX;
		if (source->size > at)
			ckpt_reader_ahead(r, source->size - at);
	}
	r->hashing = false;
	ckpt_reader_drop(r, most);
	/* The end shows itself only to who asks for more. */
	return ckpt_reader_peek(r, 1, &p) == 0 && r->status == CKPT_OK;
}

uint64_t
ckpt_reader_hash(struct ckpt_reader *r)
{
	tap(r, r->at);
	return r->hash;
}
