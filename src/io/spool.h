/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_SPOOL_H
#define CKPT_IO_SPOOL_H

/*
 * Bytes put aside in a temporary file that has no name any more: nobody finds
 * it, nothing is left behind, and memory stays free.
 */

#include <ckpt.h>

struct ckpt_spool {
	int fd; /* -1 when closed */
	uint64_t n;
};

/* In $TMPDIR, else /tmp. CKPT_EIO with errno set. */
CKPT_MUST_USE enum ckpt_status ckpt_spool_open(struct ckpt_spool *spool);
void ckpt_spool_close(struct ckpt_spool *spool);

/* Appends, overwrites inside what is there, reads n bytes at off. */
CKPT_MUST_USE enum ckpt_status ckpt_spool_write(
	struct ckpt_spool *spool, const void *bytes, size_t n);
CKPT_MUST_USE enum ckpt_status ckpt_spool_patch(
	struct ckpt_spool *spool, uint64_t off, const void *bytes, size_t n);
CKPT_MUST_USE enum ckpt_status ckpt_spool_read(
	const struct ckpt_spool *spool, uint64_t off, void *bytes, size_t n);

/* What was spooled, as a source. The spool stays yours and must outlive it.
 * NULL if out of memory. */
struct ckpt_source *ckpt_spool_source(const struct ckpt_spool *spool);

#endif
