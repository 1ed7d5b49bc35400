/* SPDX-License-Identifier: MIT */
/*
 * Reading ahead: the same bytes in the same order as without, whatever the
 * source gives at a time; its errors and its end; being given up half way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "io/reader.h"

enum { BYTES = 20 * 1024 * 1024 + 77 };

/* Gives the bytes of a formula, in pieces of all sizes. */
struct formula {
	struct ckpt_source source; /* first member */
	uint64_t at, end, fail_at;
	uint32_t seed;
	uint32_t piece; /* at most */
};

static uint8_t
byte_at(uint64_t i)
{
	return (uint8_t)(i * 2654435761u >> 17 ^ i >> 20);
}

static ptrdiff_t
formula_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct formula *f = (struct formula *)source;
	uint8_t *p = bytes;
	size_t k;

	f->seed = f->seed * 1664525 + 1013904223;
	if (f->seed >> 29 == 0) {
		errno = EINTR;
		return -1;
	}
	if (f->at >= f->fail_at) {
		errno = ENXIO;
		return -1;
	}
	k = 1 + (f->seed >> 8) % f->piece;
	k = k < n ? k : n;
	k = k < f->end - f->at ? k : (size_t)(f->end - f->at);
	for (size_t i = 0; i < k; i++)
		p[i] = byte_at(f->at + i);
	f->at += k;
	return (ptrdiff_t)k;
}

static bool
stop_late(void *ctx, uint64_t done, uint64_t total)
{
	(void)total;
	return done < *(const uint64_t *)ctx;
}

struct reading {
	struct formula formula;
	struct ckpt_run *run;
	struct ckpt_reader reader;
	uint64_t stop;
};

static void
begin(struct reading *r, uint32_t piece, uint64_t fail_at, uint64_t stop)
{
	const struct ckpt_options options = { .progress = stop_late,
		.progress_ctx = &r->stop };

	r->formula = (struct formula){
		.source = { .read = formula_read, .any_thread = true },
		.end = BYTES,
		.fail_at = fail_at,
		.seed = piece,
		.piece = piece,
	};
	r->stop = stop;
	r->run = ckpt_run_new(&options);
	assert_non_null(r->run);
	assert_int_equal(
		ckpt_reader_init(&r->reader, r->run, &r->formula.source),
		CKPT_OK);
}

static void
end(struct reading *r)
{
	ckpt_reader_release(&r->reader);
	ckpt_run_free(r->run);
}

/* Peeks and skips in turns; how many bytes there were. */
static uint64_t
read_all(struct reading *r)
{
	struct ckpt_reader *reader = &r->reader;
	uint32_t seed = 3;
	uint64_t at = 0;

	for (;;) {
		size_t want, n;
		const uint8_t *p;

		seed = seed * 1664525 + 1013904223;
		want = 1 + (seed >> 8) % (CKPT_READER_BUFFER / 2);
		n = ckpt_reader_peek(reader, want, &p);
		assert_int_equal(ckpt_reader_offset(reader), at);
		for (size_t i = 0; i < n; i++)
			assert_true(p[i] == byte_at(at + i));
		if (n < want || reader->status != CKPT_OK)
			return at + n;
		n -= (seed >> 7) % (want < 100 ? want : 100);
		ckpt_reader_skip(reader, n);
		at += n;
	}
}

/* Byte by byte, those of [zero, zero + 8) as zeros. */
static uint64_t
hash_of_all(uint64_t zero)
{
	uint64_t h = CKPT_FNV1A64_START;

	for (uint64_t i = 0; i < BYTES; i++) {
		uint8_t x = i >= zero && i < zero + 8 ? 0 : byte_at(i);

		h = ckpt_fnv1a64(h, &x, 1);
	}
	return h;
}

static void
test_ahead_gives_the_same_bytes(void **state)
{
	static const uint32_t pieces[] = { 3000000, 400000, 50000 };

	(void)state;
	for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
		struct reading r;
		const uint8_t *p;
		size_t n;

		begin(&r, pieces[i], UINT64_MAX, UINT64_MAX);
		ckpt_reader_peek(&r.reader, 100, &p);
		r.reader.hashing = true;
		r.reader.zero_off = 30;
		r.reader.zero_len = 8;
		ckpt_reader_ahead(&r.reader, BYTES);
		assert_non_null(r.reader.ahead);
		assert_int_equal(read_all(&r), BYTES);
		n = ckpt_reader_peek(&r.reader, 1, &p);
		ckpt_reader_skip(&r.reader, n);
		assert_int_equal(ckpt_reader_offset(&r.reader), BYTES);
		assert_true(ckpt_reader_hash(&r.reader) == hash_of_all(30));
		assert_true(r.reader.eof);
		assert_int_equal(r.reader.status, CKPT_OK);
		end(&r);
	}
}

static void
test_ahead_keeps_errors(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, 900000, 13 * 1024 * 1024, UINT64_MAX);
	ckpt_reader_ahead(&r.reader, BYTES);
	assert_in_range(read_all(&r), 13 * 1024 * 1024, 14 * 1024 * 1024);
	assert_int_equal(r.reader.status, CKPT_EIO);
	assert_int_equal(r.reader.error, ENXIO);
	assert_false(r.reader.eof);
	end(&r);
}

static void
test_ahead_can_be_given_up(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, 500000, UINT64_MAX, 9 * 1024 * 1024);
	ckpt_reader_ahead(&r.reader, BYTES);
	assert_true(read_all(&r) < BYTES);
	assert_int_equal(r.reader.status, CKPT_STOP);
	assert_true(r.reader.cancelled);
	end(&r);
	begin(&r, 500000, UINT64_MAX, UINT64_MAX); /* before the first byte */
	ckpt_reader_ahead(&r.reader, BYTES);
	end(&r);
}

/* Only where it is worth it and allowed. */
static void
test_ahead_is_not_for_all(void **state)
{
	struct reading r;

	(void)state;
	begin(&r, 500000, UINT64_MAX, UINT64_MAX);
	ckpt_reader_ahead(&r.reader, 1024 * 1024);
	assert_null(r.reader.ahead);
	r.formula.source.any_thread = false;
	ckpt_reader_ahead(&r.reader, BYTES);
	assert_null(r.reader.ahead);
	r.formula.source.any_thread = true;
	r.run->arena.budget = r.run->arena.used + CKPT_AHEAD_MEMORY - 1;
	ckpt_reader_ahead(&r.reader, BYTES);
	assert_null(r.reader.ahead);
	end(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ahead_gives_the_same_bytes),
		cmocka_unit_test(test_ahead_keeps_errors),
		cmocka_unit_test(test_ahead_can_be_given_up),
		cmocka_unit_test(test_ahead_is_not_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
