/* SPDX-License-Identifier: MIT */
/*
 * Bytes in memory as a source; used by tests, fuzz targets and callers of the
 * library that have the file already.
 */
#include <ckpt.h>

#include <stdlib.h>
#include <string.h>

struct memory_source {
	struct ckpt_source source;
	const uint8_t *p; /* borrowed */
	size_t n, at;
};

static ptrdiff_t
memory_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct memory_source *memory = (struct memory_source *)source;
	size_t left = memory->n - memory->at;

	if (n > left)
		n = left;
	if (n)
		memcpy(bytes, memory->p + memory->at, n);
	memory->at += n;
	return (ptrdiff_t)n;
}

static ptrdiff_t
memory_read_at(struct ckpt_source *source, void *bytes, size_t n, uint64_t off)
{
	struct memory_source *memory = (struct memory_source *)source;

	if (off >= memory->n)
		return 0;
	if (n > memory->n - off)
		n = memory->n - (size_t)off;
	if (n)
		memcpy(bytes, memory->p + off, n);
	return (ptrdiff_t)n;
}

static void
memory_close(struct ckpt_source *source)
{
	free(source);
}

struct ckpt_source *
ckpt_source_memory(const void *bytes, size_t n)
{
	struct memory_source *memory = calloc(1, sizeof *memory);

	if (!memory)
		return NULL;
	memory->source = (struct ckpt_source){
		.read = memory_read,
		.read_at = memory_read_at,
		.close = memory_close,
		.has_size = true,
		.size = n,
	};
	memory->p = bytes;
	memory->n = n;
	return &memory->source;
}
