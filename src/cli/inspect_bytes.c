/* SPDX-License-Identifier: MIT */
/*
 * Bytes for the hex dump and for --at, long after the run has read past them.
 * Files are read again where needed, in small pieces; a pipe passes once, so
 * its first bytes and the window that was asked for are kept on the way.
 * Nothing is mapped: a file that is cut meanwhile gives fewer bytes.
 */
#include "cli/inspect.h"

#include <stdlib.h>
#include <string.h>

enum {
	HEAD_MOST = 64 * 1024,
	WINDOW_MOST = 16 * 1024 * 1024,
};

/* Appends what of [at, at + n) lies in [off, off + len) and was expected. */
static void
keep(uint8_t **to, size_t *have, uint64_t off, uint64_t len, uint64_t at,
	const uint8_t *p, size_t n)
{
	uint64_t next = off + *have;
	uint8_t *grown;
	size_t k;

	if (*have >= len || next < at || next - at >= n)
		return;
	k = n - (size_t)(next - at);
	if (k > len - *have)
		k = (size_t)(len - *have);
	grown = realloc(*to, *have + k);
	if (!grown)
		return;
	memcpy(grown + *have, p + (next - at), k);
	*to = grown;
	*have += k;
}

static ptrdiff_t
pass(struct ckpt_source *source, void *to, size_t n)
{
	struct inspect_bytes *b = (struct inspect_bytes *)source;
	ptrdiff_t got = b->inner->read(b->inner, to, n);

	if (got <= 0 || b->inner->read_at)
		return got;
	keep(&b->head, &b->nhead, 0, HEAD_MOST, b->at, to, (size_t)got);
	keep(&b->window, &b->nwindow, b->window_off, b->window_len, b->at, to,
		(size_t)got);
	b->at += (uint64_t)got;
	return got;
}

static enum ckpt_status
pass_unchanged(struct ckpt_source *source, const char **what)
{
	struct inspect_bytes *b = (struct inspect_bytes *)source;

	return b->inner->unchanged(b->inner, what);
}

void
inspect_bytes_init(struct inspect_bytes *bytes, struct ckpt_source *source)
{
	uint64_t off = bytes->window_off, len = bytes->window_len;

	memset(bytes, 0, sizeof *bytes);
	bytes->source = (struct ckpt_source){
		.read = pass,
		.unchanged = source->unchanged ? pass_unchanged : NULL,
		.has_size = source->has_size,
		.size = source->size,
		.is_pipe = source->is_pipe,
		.name = source->name,
	};
	bytes->inner = source;
	bytes->window_off = off;
	bytes->window_len = len < WINDOW_MOST ? len : WINDOW_MOST;
}

void
inspect_bytes_release(struct inspect_bytes *bytes)
{
	ckpt_source_close(bytes->inner);
	free(bytes->head);
	free(bytes->window);
	memset(bytes, 0, sizeof *bytes);
}

static size_t
from(const uint8_t *p, size_t have, uint64_t start, uint64_t off, uint8_t *to,
	size_t n)
{
	if (off < start || off - start >= have)
		return 0;
	if (n > have - (size_t)(off - start))
		n = have - (size_t)(off - start);
	memcpy(to, p + (off - start), n);
	return n;
}

size_t
inspect_bytes_get(
	struct inspect_bytes *bytes, uint64_t off, uint8_t *to, size_t n)
{
	struct ckpt_source *source = bytes->inner;
	size_t got = 0, kept;

	if (source && source->read_at) {
		while (got < n) {
			ptrdiff_t k = source->read_at(
				source, to + got, n - got, off + got);

			if (k <= 0)
				break;
			got += (size_t)k;
		}
		return got;
	}
	got = from(bytes->head, bytes->nhead, 0, off, to, n);
	kept = from(
		bytes->window, bytes->nwindow, bytes->window_off, off, to, n);
	/* Where both have a byte, it is the same one. */
	return kept > got ? kept : got;
}
