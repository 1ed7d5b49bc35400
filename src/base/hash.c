/* SPDX-License-Identifier: MIT */
/*
 * The plain loop. It is the definition: a faster path may stand beside it,
 * never replace it.
 */
#include "base/hash.h"

_Static_assert(CKPT_FNV1A64_PRIME * CKPT_FNV1A64_INVERSE == 1,
	"the inverse undoes the prime");

/* The product wraps on purpose, it is the hash. */
uint64_t
ckpt_fnv1a64_plain(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * CKPT_FNV1A64_PRIME;
	return h;
}

uint64_t
ckpt_fnv1a64_back(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n > 0)
		h = h * CKPT_FNV1A64_INVERSE ^ p[--n];
	return h;
}

uint64_t
ckpt_fnv1a64(uint64_t h, const void *bytes, size_t n)
{
	return ckpt_fnv1a64_plain(h, bytes, n);
}
