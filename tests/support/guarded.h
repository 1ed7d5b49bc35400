/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_GUARDED_H
#define CKPT_TESTS_GUARDED_H

/*
 * Bytes behind which there is no memory: who reads one byte too many gets a
 * signal, with or without a sanitiser.
 */

#include <stddef.h>

enum { GUARDED_MOST = 64 * 1024 };

/* A copy of n <= GUARDED_MOST bytes, until the next call. */
const void *guarded(const void *bytes, size_t n);

#endif
