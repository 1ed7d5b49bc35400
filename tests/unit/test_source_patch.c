/* SPDX-License-Identifier: MIT */
/*
 * A source with a few bytes of another one replaced: read front to back in
 * pieces of any size, and from any place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "io/source_patch.h"
#include "io/source_read.h"

enum { SIZE = 6330 };

static void
test_patched_bytes(void **state)
{
	static const uint8_t patch[] = { 'a', 'b', 'c' };
	static uint8_t good[SIZE];
	uint8_t want[SIZE], got[SIZE];
	struct ckpt_source *inner = ckpt_source_memory(good, SIZE);
	struct ckpt_source *patched;

	(void)state;
	assert_non_null(inner);
	for (size_t i = 0; i < SIZE; i++)
		good[i] = (uint8_t)(i * 7);
	for (size_t off = 0; off <= SIZE; off += SIZE / 5) {
		size_t n = off + 3 > SIZE ? SIZE - off : 3, at = 0;

		memcpy(want, good, SIZE);
		memcpy(want + off, patch, n);
		patched = ckpt_source_patched(inner, off, patch, n);
		assert_non_null(patched);
		for (size_t step = 1; at < SIZE; step = step % 7 + 1) {
			ptrdiff_t k = patched->read(patched, got + at, step);

			assert_true(k > 0);
			at += (size_t)k;
		}
		assert_memory_equal(got, want, SIZE);
		for (size_t from = 0; from + 2 <= SIZE; from++) {
			assert_int_equal(
				ckpt_source_read_all(patched, from, got, 2),
				CKPT_OK);
			assert_memory_equal(got, want + from, 2);
		}
		assert_int_equal(
			ckpt_source_read_all(patched, SIZE - 1, got, 2),
			CKPT_EIO);
		assert_int_equal(errno, EIO);
		ckpt_source_close(patched);
	}
	ckpt_source_close(inner);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patched_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
