/* SPDX-License-Identifier: MIT */
/*
 * The patched source keeps its own position and reads by read_at only, so any
 * number of them can stand over one source.
 */
#include "io/source_patch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct patched {
	struct ckpt_source source; /* first member */
	struct ckpt_source *inner; /* borrowed */
	uint64_t at;
	uint64_t off;
	size_t n;
	uint8_t bytes[CKPT_PATCH_MOST];
};

static ptrdiff_t
patched_read_at(struct ckpt_source *source, void *bytes, size_t n, uint64_t off)
{
	struct patched *p = (struct patched *)source;
	ptrdiff_t got = p->inner->read_at(p->inner, bytes, n, off);

	for (size_t i = 0; got > 0 && i < p->n; i++) {
		uint64_t at = p->off + i;

		if (at >= off && at - off < (uint64_t)got)
			((uint8_t *)bytes)[at - off] = p->bytes[i];
	}
	return got;
}

static ptrdiff_t
patched_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct patched *p = (struct patched *)source;
	ptrdiff_t got = patched_read_at(source, bytes, n, p->at);

	if (got > 0)
		p->at += (uint64_t)got;
	return got;
}

static enum ckpt_status
patched_unchanged(struct ckpt_source *source, const char **what)
{
	struct patched *p = (struct patched *)source;

	return p->inner->unchanged(p->inner, what);
}

static void
patched_close(struct ckpt_source *source)
{
	free(source);
}

struct ckpt_source *
ckpt_source_patched(
	struct ckpt_source *inner, uint64_t off, const void *bytes, size_t n)
{
	struct patched *p = calloc(1, sizeof *p);

	assert(inner->read_at && n <= CKPT_PATCH_MOST);
	if (!p)
		return NULL;
	p->source = (struct ckpt_source){
		.read = patched_read,
		.read_at = patched_read_at,
		.unchanged = inner->unchanged ? patched_unchanged : NULL,
		.close = patched_close,
		.has_size = inner->has_size,
		.size = inner->size,
		.any_thread = inner->any_thread,
		.name = inner->name,
	};
	p->inner = inner;
	p->off = off;
	p->n = n;
	if (n)
		memcpy(p->bytes, bytes, n);
	return &p->source;
}
