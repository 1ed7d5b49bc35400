/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SORT_H
#define CKPT_BASE_SORT_H

#include "base/arena.h"

/* The numbers 0 to n-1 in the order of compare, equal ones ascending. Sorting
 * finds repeats in a time that no input can spoil, as it could with a hash
 * table. From the arena; NULL when memory is used up. n < 2^32. */
uint32_t *ckpt_sorted(struct ckpt_arena *arena, uint64_t n,
	int (*compare)(const void *ctx, uint32_t a, uint32_t b),
	const void *ctx);

/* memcmp order in which a proper prefix comes first. */
int ckpt_bytes_compare(const void *a, size_t na, const void *b, size_t nb);

#endif
