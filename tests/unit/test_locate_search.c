/* SPDX-License-Identifier: MIT */
/*
 * The search for damaged bytes, without any format: every byte, every pair of
 * neighbours and every byte of the checksum of small files, blocks and their
 * edges in a large one, sources that give little at a time, and damage that
 * must not be explained.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "forensics/search.h"
#include "model/rng.h"

enum { FIELD = 30, SMALL = 700 };

/* A source of n bytes that gives at most most at once, and fails at a place. */
struct pieces {
	struct ckpt_source source;
	const uint8_t *p;
	size_t n, most;
	uint64_t fail_at;
	bool interrupted;
};

static ptrdiff_t
read_piece(struct ckpt_source *source, void *bytes, size_t n, uint64_t off)
{
	struct pieces *s = (struct pieces *)source;

	s->interrupted = !s->interrupted;
	if (s->most < s->n && s->interrupted) {
		errno = EINTR;
		return -1;
	}
	if (off >= s->fail_at) {
		errno = ENXIO;
		return -1;
	}
	if (off >= s->n)
		return 0;
	if (n > s->n - off)
		n = s->n - (size_t)off;
	if (n > s->most)
		n = s->most;
	memcpy(bytes, s->p + off, n);
	return (ptrdiff_t)n;
}

static struct pieces
source_of(const uint8_t *p, size_t n)
{
	return (struct pieces){ .source = { .read_at = read_piece,
					.has_size = true,
					.size = n },
		.p = p,
		.n = n,
		.most = n,
		.fail_at = UINT64_MAX };
}

static struct ckpt_location
search_at(const uint8_t *p, size_t n, uint64_t field)
{
	struct pieces pieces = source_of(p, n);
	const struct ckpt_damage_search task = {
		.source = &pieces.source, .length = n, .field = field
	};
	struct ckpt_location l;

	assert_int_equal(ckpt_search_damage(&task, &l), CKPT_OK);
	assert_true(l.n == (l.count < CKPT_DAMAGES ? l.count : CKPT_DAMAGES));
	return l;
}

static struct ckpt_location
search(const uint8_t *p, size_t n)
{
	return search_at(p, n, FIELD);
}

static void
seal(uint8_t *p, size_t n, size_t field)
{
	memset(p + field, 0, 8);
	ckpt_store_u64(p + field, ckpt_fnv1a64(CKPT_FNV1A64_START, p, n));
}

/* Random bytes with a checksum; owned by the caller. */
static uint8_t *
make(size_t n, uint64_t seed)
{
	struct ckpt_rng rng = { .state = seed };
	uint8_t *p = malloc(n);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(ckpt_rng_draw(&rng) >> 40);
	seal(p, n, FIELD);
	return p;
}

static bool
in_field(size_t i)
{
	return i >= FIELD && i < FIELD + 8;
}

/* Exactly one explanation, and it is this one. */
static void
expect(const struct ckpt_location *l, enum ckpt_damage_kind kind, size_t off,
	const uint8_t *found, const uint8_t *original, size_t n)
{
	const struct ckpt_damage *d = &l->damages[0];

	assert_int_equal(l->count, 1);
	assert_int_equal(d->kind, kind);
	assert_int_equal(d->off, off);
	assert_int_equal(d->len, n);
	assert_memory_equal(d->found, found, n);
	assert_memory_equal(d->original, original, n);
	assert_true(d->chance > 0 && d->chance < 1e-6);
}

/* ---- One byte ----------------------------------------------------------- */

static void
every_byte(uint8_t *p, size_t n, bool every_value)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t good = p[i];

		for (unsigned x = 1; x < 256 && !in_field(i); x++) {
			struct ckpt_location l;

			if (!every_value && (x & (x - 1)) != 0 && x != 255 &&
				x != 1 + i % 255)
				continue;
			p[i] = (uint8_t)(good ^ x);
			l = search(p, n);
			expect(&l, CKPT_DAMAGE_BYTE, i, &p[i], &good, 1);
			p[i] = good;
		}
	}
}

static void
test_every_byte(void **state)
{
	uint8_t *p = make(SMALL, 1);

	(void)state;
	every_byte(p, SMALL, false);
	free(p);
}

static void
test_every_value(void **state)
{
	uint8_t *p = make(64, 2);

	(void)state;
	every_byte(p, 64, true);
	free(p);
}

/* Bytes that are all alike leave the same trace as others. */
static void
test_uniform(void **state)
{
	static const uint8_t fills[] = { 0, 0xff, 0x80 };
	uint8_t p[128];

	(void)state;
	for (size_t i = 0; i < sizeof fills; i++) {
		memset(p, fills[i], sizeof p);
		seal(p, sizeof p, FIELD);
		every_byte(p, sizeof p, false);
	}
}

/* ---- Two neighbours ----------------------------------------------------- */

static void
one_burst(uint8_t *p, size_t n, size_t i, unsigned x, unsigned y)
{
	const uint8_t good[2] = { p[i], p[i + 1] };
	struct ckpt_location l;

	p[i] = (uint8_t)(p[i] ^ x);
	p[i + 1] = (uint8_t)(p[i + 1] ^ y);
	l = search(p, n);
	expect(&l, CKPT_DAMAGE_BURST, i, p + i, good, 2);
	memcpy(p + i, good, 2);
}

static void
test_every_burst(void **state)
{
	struct ckpt_rng rng = { .state = 7 };
	uint8_t *p = make(SMALL, 3);

	(void)state;
	for (size_t i = 0; i + 1 < SMALL; i++) {
		if (in_field(i) || in_field(i + 1))
			continue;
		for (int k = 0; k < 8; k++)
			one_burst(p, SMALL, i,
				1 + (unsigned)(ckpt_rng_draw(&rng) >> 32) % 255,
				1 + (unsigned)(ckpt_rng_draw(&rng) >> 32) %
						255);
		one_burst(p, SMALL, i, 0xff, 0xff);
		one_burst(p, SMALL, i, 1, 1);
		if (p[i] != p[i + 1])
			one_burst(
				p, SMALL, i, p[i] ^ p[i + 1], p[i] ^ p[i + 1]);
	}
	free(p);
}

/* All 65025 pairs of values at one place. */
static void
test_every_pair(void **state)
{
	uint8_t *p = make(48, 4);

	(void)state;
	for (unsigned x = 1; x < 256; x++)
		for (unsigned y = 1; y < 256; y++)
			one_burst(p, 48, 42, x, y);
	free(p);
}

/* ---- The checksum itself ------------------------------------------------ */

static void
test_every_byte_of_checksum(void **state)
{
	uint8_t *p = make(SMALL, 5), good[8];
	struct ckpt_location l;

	(void)state;
	memcpy(good, p + FIELD, sizeof good);
	for (size_t i = 0; i < 8; i++)
		for (unsigned x = 1; x < 256; x++) {
			p[FIELD + i] = (uint8_t)(good[i] ^ x);
			l = search(p, SMALL);
			expect(&l, CKPT_DAMAGE_CHECKSUM, FIELD + i,
				p + FIELD + i, good + i, 1);
			assert_int_equal(l.computed, ckpt_load_u64(good));
			p[FIELD + i] = good[i];
		}
	for (size_t i = 0; i < 7; i++) {
		p[FIELD + i] ^= 0x5a;
		p[FIELD + i + 1] ^= 0xff;
		l = search(p, SMALL);
		expect(&l, CKPT_DAMAGE_CHECKSUM, FIELD + i, p + FIELD + i,
			good + i, 2);
		memcpy(p + FIELD, good, sizeof good);
	}
	free(p);
}

/* A byte beside the checksum together with the next one of it. */
static void
test_edges_of_checksum(void **state)
{
	static const size_t edges[] = { FIELD - 1, FIELD + 7 };
	uint8_t *p = make(SMALL, 14);

	(void)state;
	for (unsigned k = 0; k < 2; k++)
		for (unsigned x = 1; x < 256; x += 11)
			one_burst(p, SMALL, edges[k], x, 256 - x);
	free(p);
}

/* A few bits anywhere, but not four of them. */
static void
test_bits_of_checksum(void **state)
{
	uint8_t *p = make(SMALL, 6), good[8];
	struct ckpt_location l;

	(void)state;
	memcpy(good, p + FIELD, sizeof good);
	p[FIELD + 1] ^= 0x10;
	p[FIELD + 4] ^= 0x01;
	p[FIELD + 6] ^= 0x80;
	l = search(p, SMALL);
	expect(&l, CKPT_DAMAGE_CHECKSUM, FIELD + 1, p + FIELD + 1, good + 1, 6);
	p[FIELD + 6] ^= 0x40;
	l = search(p, SMALL);
	assert_int_equal(l.count, 0);
	free(p);
}

/* ---- What is not explained ---------------------------------------------- */

static void
test_intact(void **state)
{
	uint8_t *p = make(SMALL, 8);
	struct ckpt_location l = search(p, SMALL);

	(void)state;
	assert_int_equal(l.count, 0);
	assert_true(l.stored == l.computed);
	assert_true(l.stored == ckpt_load_u64(p + FIELD));
	free(p);
}

static void
test_more_damage(void **state)
{
	struct ckpt_rng rng = { .state = 9 };
	uint8_t *p = make(SMALL, 9), *bad = malloc(SMALL);

	(void)state;
	assert_non_null(bad);
	for (int k = 0; k < 1000; k++) {
		size_t i = 38 + (size_t)(ckpt_rng_draw(&rng) % (SMALL - 41));
		struct ckpt_location l;

		memcpy(bad, p, SMALL);
		bad[i] ^= 1;
		bad[i + 2] ^= (uint8_t)(1 + ckpt_rng_draw(&rng) % 255);
		if (k % 2) /* three in a row, or two apart */
			bad[i + 1] ^= 0x20;
		l = search(bad, SMALL);
		assert_int_equal(l.count, 0);
		assert_true(l.stored != l.computed);
	}
	free(bad);
	free(p);
}

/* ---- Sizes and sources -------------------------------------------------- */

static void
test_smallest_files(void **state)
{
	uint8_t p[10] = { 0 };
	struct ckpt_location l;
	struct pieces pieces = source_of(p, 7);
	struct ckpt_damage_search task = { .source = &pieces.source,
		.length = 7 };

	(void)state;
	assert_int_equal(ckpt_search_damage(&task, &l), CKPT_REJECTED);
	task.length = 8;
	task.field = 1;
	assert_int_equal(ckpt_search_damage(&task, &l), CKPT_REJECTED);
	/* Nothing but a checksum, then one byte before and one behind it. */
	seal(p, 8, 0);
	p[3] ^= 4;
	l = search_at(p, 8, 0);
	assert_int_equal(l.count, 1);
	assert_int_equal(l.damages[0].kind, CKPT_DAMAGE_CHECKSUM);
	for (size_t field = 0; field < 3; field++)
		for (size_t i = 0; i < sizeof p; i++) {
			memset(p, 0x33, sizeof p);
			seal(p, sizeof p, field);
			if (i >= field && i - field < 8)
				continue;
			p[i] ^= 0x44;
			l = search_at(p, sizeof p, field);
			assert_int_equal(l.count, 1);
			assert_int_equal(l.damages[0].kind, CKPT_DAMAGE_BYTE);
			assert_int_equal(l.damages[0].off, i);
			assert_int_equal(l.damages[0].original[0], 0x33);
		}
}

/* Both sides of every edge between the blocks in which a file is read. */
static void
test_blocks(void **state)
{
	const size_t block = 1 << 20, n = 2 * block + 12345;
	const size_t edges[] = { 1, block, 2 * block, n - block, n - 2 * block,
		n - 1 };
	uint8_t *p = make(n, 10);

	(void)state;
	for (size_t k = 0; k < sizeof edges / sizeof edges[0]; k++) {
		size_t at = edges[k];
		struct ckpt_location l;
		const uint8_t good = p[at];

		one_burst(p, n, at - 1, 0x40, 0x81);
		p[at] ^= 0x40;
		l = search(p, n);
		expect(&l, CKPT_DAMAGE_BYTE, at, p + at, &good, 1);
		p[at] = good;
	}
	free(p);
}

/* The checksum lies across an edge between blocks, from either end. */
static void
test_field_across_blocks(void **state)
{
	const size_t block = 1 << 20, n = block + 4321;
	const size_t fields[] = { block - 3, n - block - 5 };
	uint8_t *p = make(n, 11);

	(void)state;
	for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
		size_t at = fields[k];
		struct ckpt_location l;

		seal(p, n, at);
		l = search_at(p, n, at);
		assert_true(l.stored == l.computed);
		p[at - 1] ^= 2;
		l = search_at(p, n, at);
		assert_int_equal(l.count, 1);
		assert_int_equal(l.damages[0].off, at - 1);
		p[at - 1] ^= 2;
		p[at + 8] ^= 2;
		l = search_at(p, n, at);
		assert_int_equal(l.count, 1);
		assert_int_equal(l.damages[0].off, at + 8);
		p[at + 8] ^= 2;
	}
	free(p);
}

static void
test_slow_and_failing(void **state)
{
	uint8_t *p = make(SMALL, 12);
	struct pieces pieces = source_of(p, SMALL);
	const struct ckpt_damage_search task = {
		.source = &pieces.source, .length = SMALL, .field = FIELD
	};
	struct ckpt_location l;

	(void)state;
	p[500] ^= 9;
	pieces.most = 3;
	assert_int_equal(ckpt_search_damage(&task, &l), CKPT_OK);
	assert_int_equal(l.count, 1);
	assert_int_equal(l.damages[0].off, 500);
	pieces.fail_at = 600;
	assert_int_equal(ckpt_search_damage(&task, &l), CKPT_EIO);
	assert_int_equal(errno, ENXIO);
	pieces.fail_at = UINT64_MAX;
	pieces.n = SMALL - 1; /* it became shorter */
	assert_int_equal(ckpt_search_damage(&task, &l), CKPT_EIO);
	free(p);
}

struct asked {
	uint64_t last, times, stop_at;
};

static bool
ask(void *ctx, uint64_t done, uint64_t total)
{
	struct asked *asked = ctx;

	assert_true(done > asked->last && done <= total);
	asked->last = done;
	return ++asked->times != asked->stop_at;
}

static void
test_progress(void **state)
{
	const size_t n = 3 << 20;
	uint8_t *p = make(n, 13);
	struct pieces pieces = source_of(p, n);
	struct asked asked = { 0 };
	const struct ckpt_damage_search task = { .source = &pieces.source,
		.length = n,
		.field = FIELD,
		.progress = ask,
		.progress_ctx = &asked };
	struct ckpt_location l;
	uint64_t times;

	(void)state;
	p[n / 2] ^= 1;
	assert_int_equal(ckpt_search_damage(&task, &l), CKPT_OK);
	assert_int_equal(l.count, 1);
	assert_int_equal(asked.last, 2 * n);
	times = asked.times;
	for (uint64_t stop = 1; stop <= times; stop++) {
		asked = (struct asked){ .stop_at = stop };
		assert_int_equal(ckpt_search_damage(&task, &l), CKPT_STOP);
	}
	free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_every_value),
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_every_burst),
		cmocka_unit_test(test_every_pair),
		cmocka_unit_test(test_every_byte_of_checksum),
		cmocka_unit_test(test_edges_of_checksum),
		cmocka_unit_test(test_bits_of_checksum),
		cmocka_unit_test(test_intact),
		cmocka_unit_test(test_more_damage),
		cmocka_unit_test(test_smallest_files),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_field_across_blocks),
		cmocka_unit_test(test_slow_and_failing),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
