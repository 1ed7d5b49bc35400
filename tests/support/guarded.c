/* SPDX-License-Identifier: MIT */
/*
 * The bytes are copied to the end of a block of pages, and the page behind it
 * may not be touched.
 */
#include "support/guarded.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const void *
guarded(const void *bytes, size_t n)
{
	static uint8_t *block;
	uint8_t *p;

	assert(n <= GUARDED_MOST);
	if (!block) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		int failed;

		block = mmap(NULL, GUARDED_MOST + page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert(block != MAP_FAILED);
		failed = mprotect(block + GUARDED_MOST, page, PROT_NONE);
		assert(!failed);
	}
	p = block + GUARDED_MOST - n;
	if (n)
		memcpy(p, bytes, n);
	return p;
}
