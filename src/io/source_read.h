/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_SOURCE_READ_H
#define CKPT_IO_SOURCE_READ_H

/*
 * Bytes of a source that has read_at, as often as it takes to get them.
 */

#include <ckpt.h>

/* Up to n bytes at off; *got of them, fewer only at the source's end or before
 * an error. CKPT_EIO with errno. */
CKPT_MUST_USE enum ckpt_status ckpt_source_read_up_to(
	struct ckpt_source *source, uint64_t off, void *bytes, size_t n,
	size_t *got);

/* All n; CKPT_EIO with errno, which is EIO if the source ends before. */
CKPT_MUST_USE enum ckpt_status ckpt_source_read_all(
	struct ckpt_source *source, uint64_t off, void *bytes, size_t n);

#endif
