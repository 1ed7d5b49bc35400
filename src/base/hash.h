/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_HASH_H
#define CKPT_BASE_HASH_H

/*
 * FNV-1a 64: h = (h xor byte) * 0x100000001b3 for each byte. It finds
 * accidents, it authenticates nothing: anybody can make a file that has a
 * wanted value.
 */

#include <stddef.h>
#include <stdint.h>

#define CKPT_FNV1A64_START 0xcbf29ce484222325u
#define CKPT_FNV1A64_PRIME 0x00000100000001b3u
/* The product of the two is 1 modulo 2^64. */
#define CKPT_FNV1A64_INVERSE 0xce965057aff6957bu

/* The hash of the bytes so far and n more. h is all there is of state: the
 * bytes may be cut anywhere and lie anywhere. */
uint64_t ckpt_fnv1a64(uint64_t h, const void *bytes, size_t n);

/* The same by the definition, byte after byte, whatever the processor. */
uint64_t ckpt_fnv1a64_plain(uint64_t h, const void *bytes, size_t n);

#endif
