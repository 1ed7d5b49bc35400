/* SPDX-License-Identifier: MIT */
/*
 * The arena of a run. Invariant: used is the sum of the sizes of all blocks
 * on both lists and never passes budget. Large blocks carry their list node
 * in front, so ckpt_arena_grow() can tell from the old size alone which kind
 * of block it was given: LARGE bytes and more are always large.
 */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum { CHUNK = 64 * 1024, LARGE = 16 * 1024, ALIGN = 8 };

struct ckpt_arena_block {
	struct ckpt_arena_block *next;
	struct ckpt_arena_block *prev; /* large blocks only */
	size_t size;                   /* bytes behind the node */
	size_t low;  /* chunks: aligned blocks grow up from here */
	size_t high; /* chunks: unaligned bytes grow down from here */
	size_t pad;  /* keeps the node a multiple of ALIGN */
};

_Static_assert(sizeof(struct ckpt_arena_block) % ALIGN == 0,
	"blocks behind the node must be aligned");

static uint8_t *
body(struct ckpt_arena_block *block)
{
	return (uint8_t *)(block + 1);
}

void
ckpt_arena_init(struct ckpt_arena *arena, uint64_t budget)
{
	memset(arena, 0, sizeof *arena);
	arena->budget = budget;
}

static void
free_list(struct ckpt_arena_block *block)
{
	while (block) {
		struct ckpt_arena_block *next = block->next;

		free(block);
		block = next;
	}
}

void
ckpt_arena_release(struct ckpt_arena *arena)
{
	free_list(arena->chunks);
	free_list(arena->large);
	arena->chunks = NULL;
	arena->large = NULL;
	arena->used = 0;
}

void
ckpt_arena_reuse(struct ckpt_arena *arena)
{
	struct ckpt_arena_block *chunk = arena->chunks;

	free_list(arena->large);
	arena->large = NULL;
	arena->used = 0;
	if (!chunk)
		return;
	free_list(chunk->next);
	chunk->next = NULL;
	chunk->low = 0;
	chunk->high = CHUNK;
	arena->used = CHUNK;
}

enum ckpt_status
ckpt_arena_status(const struct ckpt_arena *arena)
{
	return arena->failure == CKPT_ARENA_BUDGET ? CKPT_ELIMIT : CKPT_ENOMEM;
}

static struct ckpt_arena_block *
take(struct ckpt_arena *arena, struct ckpt_arena_block *old, size_t n)
{
	uint64_t before = old ? old->size : 0;
	uint64_t used;
	struct ckpt_arena_block *block;
	size_t bytes;

	if (!ckpt_add_u64(arena->used - before, n, &used) ||
		used > arena->budget) {
		arena->failure = CKPT_ARENA_BUDGET;
		return NULL;
	}
	if (__builtin_add_overflow(sizeof *block, n, &bytes) ||
		++arena->count == arena->fail_at ||
		!(block = realloc(old, bytes))) {
		arena->failure = CKPT_ARENA_MEMORY;
		return NULL;
	}
	block->size = n;
	arena->used = used;
	return block;
}

static void *
take_large(struct ckpt_arena *arena, struct ckpt_arena_block *old, size_t n)
{
	struct ckpt_arena_block *block = take(arena, old, n);

	if (!block)
		return NULL;
	if (!old) {
		block->prev = NULL;
		block->next = arena->large;
		arena->large = block;
	} else if (!block->prev) {
		arena->large = block;
	}
	if (block->next)
		block->next->prev = block;
	if (block->prev)
		block->prev->next = block;
	return body(block);
}

static bool
room(struct ckpt_arena *arena, size_t n)
{
	struct ckpt_arena_block *block = arena->chunks;

	if (block && block->high - block->low >= n)
		return true;
	block = take(arena, NULL, CHUNK);
	if (!block)
		return false;
	block->next = arena->chunks;
	block->low = 0;
	block->high = CHUNK;
	arena->chunks = block;
	return true;
}

void *
ckpt_arena_alloc(struct ckpt_arena *arena, size_t n)
{
	struct ckpt_arena_block *block;
	void *p;

	if (n >= LARGE)
		return take_large(arena, NULL, n);
	n = (n + ALIGN - 1) / ALIGN * ALIGN;
	if (!room(arena, n))
		return NULL;
	block = arena->chunks;
	p = body(block) + block->low;
	block->low += n;
	return p;
}

void *
ckpt_arena_zalloc(struct ckpt_arena *arena, size_t n)
{
	void *p = ckpt_arena_alloc(arena, n);

	if (p)
		memset(p, 0, n);
	return p;
}

void *
ckpt_arena_bytes(struct ckpt_arena *arena, size_t n)
{
	struct ckpt_arena_block *block;

	if (n >= LARGE)
		return take_large(arena, NULL, n);
	if (!room(arena, n))
		return NULL;
	block = arena->chunks;
	block->high -= n;
	/* Aligned blocks must never reach into the bytes: room() compares. */
	return body(block) + block->high;
}

void *
ckpt_arena_grow(struct ckpt_arena *arena, void *p, size_t old, size_t n)
{
	void *q;

	if (p && old >= LARGE) {
		struct ckpt_arena_block *block = p;

		return take_large(arena, block - 1, n);
	}
	q = ckpt_arena_alloc(arena, n);
	if (q && old)
		memcpy(q, p, old);
	return q;
}

/* By how much an array of count elements grows when it is full: to twice its
 * size, but by quarters of a power of two once it is a block of its own, where
 * growing costs no copy. A power of two, so it also tells when it is full. */
static uint64_t
growth(uint64_t count, size_t size)
{
	uint64_t power = (uint64_t)1 << (63 - __builtin_clzll(count));

	return power >= 4 && power >= LARGE / size + 1 ? power / 4 : power;
}

void *
ckpt_arena_push(struct ckpt_arena *arena, void *p, uint64_t count, size_t size)
{
	uint64_t more = count ? growth(count, size) : 1;
	uint64_t bytes;
	size_t n;

	if (count & (more - 1))
		return p;
	/* guards: the caller writes element count, the first beyond. */
	if (!ckpt_add_u64(count, more, &bytes) ||
		!ckpt_mul_u64(bytes, size, &bytes) ||
		!ckpt_to_size(bytes, &n)) {
		arena->failure = CKPT_ARENA_BUDGET;
		return NULL;
	}
	return ckpt_arena_grow(arena, p, (size_t)count * size, n);
}

char *
ckpt_arena_strndup(struct ckpt_arena *arena, const void *p, size_t n)
{
	char *s = ckpt_arena_bytes(arena, n + 1);

	if (s) {
		if (n)
			memcpy(s, p, n);
		s[n] = '\0';
	}
	return s;
}

char *
ckpt_arena_vprintf(struct ckpt_arena *arena, const char *format, va_list args)
{
	va_list again;
	char *s;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	s = n < 0 ? NULL : ckpt_arena_bytes(arena, (size_t)n + 1);
	if (s)
		vsnprintf(s, (size_t)n + 1, format, args);
	return s;
}

char *
ckpt_arena_printf(struct ckpt_arena *arena, const char *format, ...)
{
	va_list args;
	char *s;

	va_start(args, format);
	s = ckpt_arena_vprintf(arena, format, args);
	va_end(args);
	return s;
}
