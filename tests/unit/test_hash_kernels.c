/* SPDX-License-Identifier: MIT */
/*
 * Every kernel of FNV-1a that runs here gives what the plain loop gives, which
 * is written once more below: for all short lengths, for all places in memory,
 * from extreme hashes, on contents made to keep it at its limits, and however
 * the bytes are cut. Every buffer ends where its bytes end, so that a
 * sanitizer sees a read beyond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/fnv1a.h"
#include "base/hash.h"
#include "model/rng.h"

#if defined(__SANITIZE_ADDRESS__)
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOW 1
#endif
#endif
#ifndef SLOW
#define SLOW 0
#endif

/* The widest kernel takes blocks of 4096 bytes. */
enum { BLOCK = 4096, MOST = 3 * BLOCK + 70, CASES = SLOW ? 1500 : 12000 };

enum content {
	ZEROS,
	ONES,
	ALTERNATING,
	COUNTING,
	RANDOM,
	RARE,     /* few bytes are not zero */
	LOWEST,   /* x = 0 always: d = -l */
	HIGHEST,  /* x = 255 always: d = 255 - l */
	FARTHEST, /* d as far from 0 as it goes */
	CONTENTS
};

static uint64_t
expected(uint64_t h, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		h ^= p[i];
		h *= 0x100000001b3;
	}
	return h;
}

static uint8_t
against(uint64_t low, enum content content)
{
	if (content == LOWEST)
		return (uint8_t)low;
	if (content == HIGHEST)
		return (uint8_t)~low;
	return (uint8_t)((low & 255) < 128 ? ~low : low);
}

/* The last three follow the hash that they are put to, h. */
static void
fill(uint8_t *p, size_t n, enum content content, uint64_t h,
	struct ckpt_rng *rng)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t r = ckpt_rng_draw(rng);

		p[i] = content == ZEROS         ? 0
		       : content == ONES        ? 255
		       : content == ALTERNATING ? (i % 2 ? 0x55 : 0xaa)
		       : content == COUNTING    ? (uint8_t)i
		       : content == RANDOM      ? (uint8_t)r
		       : content == RARE ? (uint8_t)(r % 500 ? 0 : r >> 32)
					 : against(h, content);
		h = expected(h, p + i, 1);
	}
}

static const uint64_t starts[] = { CKPT_FNV1A64_START, 0, 1, 127, 128, 255,
	UINT64_MAX, INT64_MAX, 1ull << 63, 0xffffffffffffff00,
	0x8000800080008000, 0x7fff7fff7fff7fff };

static void
same(const uint8_t *p, size_t n, uint64_t h)
{
	uint64_t want = expected(h, p, n);

	for (unsigned k = 0; k <= ckpt_simd_best(); k++) {
		enum ckpt_simd level = (enum ckpt_simd)k;

		if (ckpt_fnv1a64_of(level)(h, p, n) != want)
			fail_msg("%s: %zu bytes from %#jx",
				ckpt_simd_name(level), n, (uintmax_t)h);
	}
	assert_true(ckpt_fnv1a64(h, p, n) == want);
}

static void
test_hash_kernels_every_length(void **state)
{
	struct ckpt_rng rng = { 11 };

	(void)state;
	for (size_t n = 0; n <= MOST; n += SLOW ? 29 : 1) {
		uint8_t *p = malloc(n ? n : 1);

		assert_non_null(p);
		fill(p, n, RANDOM, 0, &rng);
		same(p, n, ckpt_rng_draw(&rng));
		free(p);
	}
}

static void
test_hash_kernels_every_place(void **state)
{
	struct ckpt_rng rng = { 12 };

	(void)state;
	for (size_t at = 0; at < 64; at++)
		for (size_t n = 2 * BLOCK - 1; n <= 2 * BLOCK + 1; n++) {
			uint8_t *p = aligned_alloc(64, 2 * BLOCK + 128);
			size_t end = at + n;

			assert_non_null(p);
			fill(p, end, RANDOM, 0, &rng);
			same(p + at, n, CKPT_FNV1A64_START);
			free(p);
		}
}

static void
test_hash_kernels_extreme_contents(void **state)
{
	struct ckpt_rng rng = { 13 };

	(void)state;
	for (unsigned c = 0; c < CONTENTS; c++)
		for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
			size_t n = BLOCK + 1024 * (i % 4);
			uint8_t *p = malloc(n);

			assert_non_null(p);
			fill(p, n, (enum content)c, starts[i], &rng);
			same(p, n, starts[i]);
			free(p);
		}
}

/* Every bit of every byte of a block matters as it should. */
static void
test_hash_kernels_every_bit(void **state)
{
	static uint8_t p[BLOCK];
	struct ckpt_rng rng = { 14 };

	(void)state;
	fill(p, BLOCK, RANDOM, 0, &rng);
	for (size_t i = 0; i < BLOCK; i += SLOW ? 13 : 1) {
		p[i] ^= (uint8_t)(1u << (i / 8 + i) % 8);
		same(p, BLOCK, CKPT_FNV1A64_START);
	}
}

static uint64_t
in_pieces(const uint8_t *p, size_t n, uint64_t h, struct ckpt_rng *rng)
{
	unsigned levels = ckpt_simd_best() + 1u;

	while (n > 0) {
		uint64_t r = ckpt_rng_draw(rng);
		size_t m = 1 + r % (r >> 62 ? n : 9);
		enum ckpt_simd level = (enum ckpt_simd)((r >> 32) % levels);

		m = m < n ? m : n;
		h = ckpt_fnv1a64_of(level)(h, p, m);
		p += m;
		n -= m;
	}
	return h;
}

static void
test_hash_kernels_random_cases(void **state)
{
	struct ckpt_rng rng = { 15 };

	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		uint64_t r = ckpt_rng_draw(&rng), h = ckpt_rng_draw(&rng);
		size_t n = 1 + r % MOST, at = (r >> 32) % 64;
		enum content content = (enum content)((r >> 40) % CONTENTS);
		uint8_t *p = malloc(at + n);

		assert_non_null(p);
		memset(p, 0, at);
		fill(p + at, n, content, h, &rng);
		same(p + at, n, h);
		assert_true(in_pieces(p + at, n, h, &rng) ==
			    expected(h, p + at, n));
		free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_kernels_every_length),
		cmocka_unit_test(test_hash_kernels_every_place),
		cmocka_unit_test(test_hash_kernels_extreme_contents),
		cmocka_unit_test(test_hash_kernels_every_bit),
		cmocka_unit_test(test_hash_kernels_random_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
