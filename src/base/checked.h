/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_CHECKED_H
#define CKPT_BASE_CHECKED_H

/*
 * Checked arithmetic for every number that came from a file. Six helpers and
 * no others; the result comes last and true means that it fits, as every bool
 * of this project means good when it is true.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ckpt.h>

static inline CKPT_MUST_USE bool
ckpt_add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
	return !__builtin_add_overflow(a, b, out);
}

static inline CKPT_MUST_USE bool
ckpt_sub_u64(uint64_t a, uint64_t b, uint64_t *out)
{
	return !__builtin_sub_overflow(a, b, out);
}

static inline CKPT_MUST_USE bool
ckpt_mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
	return !__builtin_mul_overflow(a, b, out);
}

/* Rounds up to a multiple of align, which is not zero. */
static inline CKPT_MUST_USE bool
ckpt_align_u64(uint64_t a, uint64_t align, uint64_t *out)
{
	uint64_t rest = a % align;

	if (rest == 0) {
		*out = a;
		return true;
	}
	return ckpt_add_u64(a, align - rest, out);
}

/* File positions are u64, memory is size_t: this is the only door between. */
static inline CKPT_MUST_USE bool
ckpt_to_size(uint64_t a, size_t *out)
{
	*out = (size_t)a;
	return *out == a;
}

/* [off, off + len) lies inside [0, limit). */
static inline CKPT_MUST_USE bool
ckpt_within(uint64_t off, uint64_t len, uint64_t limit)
{
	return off <= limit && len <= limit - off;
}

#endif
