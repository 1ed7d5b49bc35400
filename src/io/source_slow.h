/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_SOURCE_SLOW_H
#define CKPT_IO_SOURCE_SLOW_H

#include <ckpt.h>

/* Gives another source's bytes at most most at a time, hides its size if
 * pipe is set (as a pipe would), and fails with EIO at byte fail_at unless
 * that is UINT64_MAX. Owns the inner source. NULL (and inner closed) if out
 * of memory. For tests. */
struct ckpt_source *ckpt_source_slow(
	struct ckpt_source *inner, size_t most, bool pipe, uint64_t fail_at);

#endif
