/* SPDX-License-Identifier: MIT */
/*
 * The plain loop. It is the definition: a faster path may stand beside it,
 * never replace it.
 */
#include "base/hash.h"

/* The product wraps on purpose, it is the hash. */
uint64_t
ckpt_fnv1a64(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x00000100000001b3u;
	return h;
}
