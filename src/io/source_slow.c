/* SPDX-License-Identifier: MIT */
/*
 * Short reads on purpose: whatever the chunks, a file must give the same
 * events and findings. Also the source that fails at a chosen byte.
 */
#include "io/source_slow.h"

#include <errno.h>
#include <stdlib.h>

struct slow_source {
	struct ckpt_source source;
	struct ckpt_source *inner; /* owned */
	size_t most;
	uint64_t at, fail_at;
};

static ptrdiff_t
slow_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct slow_source *slow = (struct slow_source *)source;
	ptrdiff_t got;

	if (n > slow->most)
		n = slow->most;
	if (slow->at >= slow->fail_at) {
		errno = EIO;
		return -1;
	}
	if (n > slow->fail_at - slow->at)
		n = (size_t)(slow->fail_at - slow->at);
	got = slow->inner->read(slow->inner, bytes, n);
	if (got > 0)
		slow->at += (uint64_t)got;
	return got;
}

static void
slow_close(struct ckpt_source *source)
{
	struct slow_source *slow = (struct slow_source *)source;

	ckpt_source_close(slow->inner);
	free(slow);
}

struct ckpt_source *
ckpt_source_slow(
	struct ckpt_source *inner, size_t most, bool pipe, uint64_t fail_at)
{
	struct slow_source *slow = calloc(1, sizeof *slow);

	if (!slow) {
		ckpt_source_close(inner);
		return NULL;
	}
	slow->source = (struct ckpt_source){
		.read = slow_read,
		.close = slow_close,
		.has_size = inner->has_size && !pipe,
		.size = inner->size,
		.is_pipe = pipe,
		.name = inner->name,
	};
	slow->inner = inner;
	slow->most = most;
	slow->fail_at = fail_at;
	return &slow->source;
}
