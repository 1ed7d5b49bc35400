/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_ARENA_H
#define CKPT_BASE_ARENA_H

/*
 * All memory of a run comes from one arena with a budget. Nothing is freed
 * singly; ckpt_arena_release() frees all. Small blocks are carved from
 * chunks, large ones stand alone so that growing them is a realloc and costs
 * no second copy.
 *
 * Every function that gives memory returns NULL when the budget or the
 * machine's memory is used up; failure then says which, and
 * ckpt_arena_status() says it as a status.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ckpt.h>

enum ckpt_arena_failure {
	CKPT_ARENA_OK,
	CKPT_ARENA_BUDGET, /* the next block would pass the budget */
	CKPT_ARENA_MEMORY, /* malloc said no */
};

struct ckpt_arena_block;

struct ckpt_arena {
	struct ckpt_arena_block *chunks; /* owned; head is being carved */
	struct ckpt_arena_block *large;  /* owned; each one block */
	uint64_t used;                   /* bytes taken from malloc */
	uint64_t budget;
	enum ckpt_arena_failure failure; /* sticky */
	/* Tests let the n-th allocation fail; 0 lets none fail. */
	uint64_t fail_at;
	uint64_t count;
};

void ckpt_arena_init(struct ckpt_arena *arena, uint64_t budget);
void ckpt_arena_release(struct ckpt_arena *arena);

/* Takes everything back, and keeps one chunk so that the next use of the
 * arena need not ask for memory. Limit, failure and count stay. */
void ckpt_arena_reuse(struct ckpt_arena *arena);

/* CKPT_ELIMIT or CKPT_ENOMEM, once something gave NULL. */
enum ckpt_status ckpt_arena_status(const struct ckpt_arena *arena);

/* Aligned for any pointer or number of 8 bytes; contents are indeterminate.
 * n = 0 gives a valid pointer to nothing. */
void *ckpt_arena_alloc(struct ckpt_arena *arena, size_t n);

/* The same, zeroed. */
void *ckpt_arena_zalloc(struct ckpt_arena *arena, size_t n);

/* Bytes without alignment, for names and digests. */
void *ckpt_arena_bytes(struct ckpt_arena *arena, size_t n);

/* Grows the block at p from old to n bytes (p may be NULL when old is 0).
 * On failure p stays valid. */
void *ckpt_arena_grow(struct ckpt_arena *arena, void *p, size_t old, size_t n);

/* Makes room for one more element in an array that grew by this function
 * alone: its capacity then follows from count and size, so that none needs to
 * be stored. At most a quarter of a large array is spare. */
void *ckpt_arena_push(
	struct ckpt_arena *arena, void *p, uint64_t count, size_t size);

/* A copy of n bytes with a NUL behind it. */
char *ckpt_arena_strndup(struct ckpt_arena *arena, const void *p, size_t n);

/* printf into the arena. */
char *ckpt_arena_printf(struct ckpt_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *ckpt_arena_vprintf(struct ckpt_arena *arena, const char *format,
	va_list args) __attribute__((format(printf, 2, 0)));

#endif
