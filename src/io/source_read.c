/* SPDX-License-Identifier: MIT */
/*
 * read_at may give less than was asked for, and a signal may end it early;
 * whoever judges bytes wants neither.
 */
#include "io/source_read.h"

#include <errno.h>

#include "base/try.h"

enum ckpt_status
ckpt_source_read_up_to(struct ckpt_source *source, uint64_t off, void *bytes,
	size_t n, size_t *got)
{
	*got = 0;
	while (*got < n) {
		ptrdiff_t k = source->read_at(
			source, (uint8_t *)bytes + *got, n - *got, off + *got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return CKPT_EIO;
		if (k == 0)
			break;
		*got += (size_t)k;
	}
	return CKPT_OK;
}

enum ckpt_status
ckpt_source_read_all(
	struct ckpt_source *source, uint64_t off, void *bytes, size_t n)
{
	size_t got;

	CKPT_TRY(ckpt_source_read_up_to(source, off, bytes, n, &got));
	if (got == n)
		return CKPT_OK;
	errno = EIO;
	return CKPT_EIO;
}
