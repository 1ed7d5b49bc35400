/* SPDX-License-Identifier: MIT */
/*
 * The kernel for any processor: the template as it is (fnv1a_lanes.h), with
 * the compiler's own vectors. The order of the segments in a word is that of
 * little endian; elsewhere, and where the compiler cannot shuffle, the plain
 * loop has to do.
 */
#include "base/fnv1a.h"

#include "base/hash.h"

#if defined(__BYTE_ORDER__) && defined(__has_builtin)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&                               \
	__has_builtin(__builtin_shufflevector)
#define HAS_VECTORS
#endif
#endif

#ifdef HAS_VECTORS
#include "base/fnv1a_lanes.h"
#else
uint64_t
ckpt_fnv1a64_portable(uint64_t h, const void *bytes, size_t n)
{
	return ckpt_fnv1a64_plain(h, bytes, n);
}
#endif
