/* SPDX-License-Identifier: MIT */
/*
 * Index sorting on top of the C library's sort.
 */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

struct order {
	int (*compare)(const void *ctx, uint32_t a, uint32_t b);
	const void *ctx;
};

static int
by_order(const void *pa, const void *pb, void *pctx)
{
	const struct order *order = pctx;
	uint32_t a, b;
	int c;

	memcpy(&a, pa, sizeof a);
	memcpy(&b, pb, sizeof b);
	c = order->compare(order->ctx, a, b);
	return c ? c : (a > b) - (a < b);
}

uint32_t *
ckpt_sorted(struct ckpt_arena *arena, uint64_t n,
	int (*compare)(const void *ctx, uint32_t a, uint32_t b),
	const void *ctx)
{
	struct order order = { compare, ctx };
	uint32_t *index;
	uint64_t bytes;
	size_t size;

	if (!ckpt_mul_u64(n, sizeof *index, &bytes) ||
		!ckpt_to_size(bytes, &size))
		return NULL;
	index = ckpt_arena_alloc(arena, size);
	if (!index)
		return NULL;
	for (uint64_t i = 0; i < n; i++)
		index[i] = (uint32_t)i;
	if (n > 1)
		qsort_r(index, (size_t)n, sizeof *index, by_order, &order);
	return index;
}

int
ckpt_bytes_compare(const void *a, size_t na, const void *b, size_t nb)
{
	size_t n = na < nb ? na : nb;
	int c = n ? memcmp(a, b, n) : 0;

	return c ? c : (na > nb) - (na < nb);
}
