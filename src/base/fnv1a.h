/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_FNV1A_H
#define CKPT_BASE_FNV1A_H

/*
 * The kernels behind ckpt_fnv1a64, all of one meaning. For hash.c, and for
 * tests and timing, which compare them; everybody else calls ckpt_fnv1a64.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/simd.h"

typedef uint64_t ckpt_fnv1a64_kernel(uint64_t h, const void *bytes, size_t n);

/* On fewer bytes than this every kernel is the plain loop. */
#define CKPT_FNV1A64_BLOCK 1024

ckpt_fnv1a64_kernel ckpt_fnv1a64_portable;
#if defined(__x86_64__)
ckpt_fnv1a64_kernel ckpt_fnv1a64_sse2, ckpt_fnv1a64_avx2, ckpt_fnv1a64_avx512;
#endif

/* The kernel of a level that runs here (simd.h). */
ckpt_fnv1a64_kernel *ckpt_fnv1a64_of(enum ckpt_simd level);

#endif
