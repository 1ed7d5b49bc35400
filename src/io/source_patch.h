/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_SOURCE_PATCH_H
#define CKPT_IO_SOURCE_PATCH_H

/*
 * A source as it would be with a few other bytes, so that a change can be
 * judged before anything is written.
 */

#include <ckpt.h>

enum { CKPT_PATCH_MOST = 8 };

/* inner must have read_at and is borrowed: it is not closed, and what its read
 * gives next does not change. The n (at most CKPT_PATCH_MOST) bytes are
 * copied. NULL if out of memory; the caller owns the source. */
struct ckpt_source *ckpt_source_patched(
	struct ckpt_source *inner, uint64_t off, const void *bytes, size_t n);

#endif
