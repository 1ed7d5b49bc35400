/* SPDX-License-Identifier: MIT */
/*
 * FNV-1a 64: the published vectors, and that it does not matter how the bytes
 * are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

static uint64_t
hash(const char *s)
{
	return ckpt_fnv1a64(CKPT_FNV1A64_START, s, strlen(s));
}

static void
test_hash_published_vectors(void **state)
{
	(void)state;
	assert_true(hash("") == 0xcbf29ce484222325);
	assert_true(hash("a") == 0xaf63dc4c8601ec8c);
	assert_true(hash("b") == 0xaf63df4c8601f1a5);
	assert_true(hash("foo") == 0xdcb27518fed9d577);
	assert_true(hash("foobar") == 0x85944171f73967e8);
	assert_true(ckpt_fnv1a64(CKPT_FNV1A64_START, "\0", 1) ==
		    0xaf63bd4c8601b7df);
}

static void
test_hash_is_the_same_however_it_is_cut(void **state)
{
	uint8_t s[300];
	uint64_t whole;

	(void)state;
	for (size_t i = 0; i < sizeof s; i++)
		s[i] = (uint8_t)(i * i + 3);
	whole = ckpt_fnv1a64(CKPT_FNV1A64_START, s, sizeof s);
	for (size_t i = 0; i <= sizeof s; i++)
		for (size_t k = i; k <= sizeof s; k += 17) {
			uint64_t h = ckpt_fnv1a64(CKPT_FNV1A64_START, s, i);

			h = ckpt_fnv1a64(h, s + i, k - i);
			h = ckpt_fnv1a64(h, s + k, sizeof s - k);
			assert_true(h == whole);
		}
}

static void
test_hash_loads_and_stores_are_little_endian(void **state)
{
	static const uint8_t s[9] = { 0xff, 1, 2, 3, 4, 5, 6, 7, 0x88 };
	uint8_t out[9];

	(void)state;
	assert_int_equal(ckpt_load_u16(s + 1), 0x0201);
	assert_int_equal(ckpt_load_u32(s + 1), 0x04030201);
	assert_true(ckpt_load_u64(s + 1) == 0x8807060504030201);
	memset(out, 0xff, sizeof out);
	ckpt_store_u64(out + 1, 0x8807060504030201);
	assert_memory_equal(out, s, sizeof s);
	assert_true(ckpt_f64_bits(-2.0) == 0xc000000000000000);
	assert_true(ckpt_f64_bits(ckpt_f64_from_bits(0x7ff4000000000001)) ==
		    0x7ff4000000000001);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_published_vectors),
		cmocka_unit_test(test_hash_is_the_same_however_it_is_cut),
		cmocka_unit_test(test_hash_loads_and_stores_are_little_endian),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
