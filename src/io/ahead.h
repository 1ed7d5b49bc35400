/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_AHEAD_H
#define CKPT_IO_AHEAD_H

/*
 * A thread that reads a source ahead of whoever wants its bytes: while these
 * are looked at on one processor, the next ones are copied on another.
 */

#include <ckpt.h>

#include "base/sha256.h"

struct ckpt_ahead;

/* Bytes before each block that its user may write to. A block is small enough
 * to stay in a processor's cache from its first user to its last. */
enum { CKPT_AHEAD_BEFORE = 128 * 1024, CKPT_AHEAD_BLOCK = 256 * 1024 };

enum { CKPT_AHEAD_BLOCKS = 8 };

/* Bytes of memory that one takes, about. */
enum {
	CKPT_AHEAD_MEMORY =
		CKPT_AHEAD_BLOCKS * (CKPT_AHEAD_BEFORE + CKPT_AHEAD_BLOCK)
};

/* From now on nobody else reads the source. The thread adds what it reads to
 * whole, unless that is NULL; nobody else may until it is freed. NULL where no
 * thread or memory can be had; that is no failure, only slower. */
struct ckpt_ahead *ckpt_ahead_new(
	struct ckpt_source *source, struct ckpt_sha256 *whole);

/* NULL is allowed. The source is where it may be. */
void ckpt_ahead_free(struct ckpt_ahead *ahead);

/* The next block; returns what the source's read returned, with its errno, or
 * -1 with EINTR if a signal came. Blocks stay until the next call but one. */
ptrdiff_t ckpt_ahead_next(struct ckpt_ahead *ahead, uint8_t **p);

#endif
