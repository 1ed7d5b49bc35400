/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_BYTES_H
#define CKPT_BASE_BYTES_H

/*
 * Little-endian loads and stores, byte by byte: the wire is unaligned, so no
 * pointer to file bytes is ever cast to a wider type. Compilers turn these
 * into single moves.
 */

#include <stdint.h>
#include <string.h>

static inline uint16_t
ckpt_load_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t
ckpt_load_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static inline uint64_t
ckpt_load_u64(const uint8_t *p)
{
	return (uint64_t)ckpt_load_u32(p) | (uint64_t)ckpt_load_u32(p + 4)
						    << 32;
}

static inline void
ckpt_store_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static inline void
ckpt_store_u64(uint8_t *p, uint64_t v)
{
	ckpt_store_u32(p, (uint32_t)v);
	ckpt_store_u32(p + 4, (uint32_t)(v >> 32));
}

static inline uint64_t
ckpt_f64_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline double
ckpt_f64_from_bits(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

#endif
