/* SPDX-License-Identifier: MIT */
/*
 * Digests of files and records against libcrypto over the same bytes: random
 * files and valid ones, whole, cut and with more behind them, from memory,
 * pipes and threads; and when a digest must not be given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/source_slow.h"
#include "sink/digest.h"
#include "support/build35.h"

#define BUDGET (UINT64_C(1) << 30)

/* How a file is read. */
struct way {
	size_t most;
	bool pipe, thread;
};

static const struct way ways[] = {
	{ SIZE_MAX, false, false },
	{ SIZE_MAX, false, true },
	{ 65536, true, false },
	{ 1021, true, false },
	{ 999983, false, true },
};

enum { WAYS = sizeof ways / sizeof ways[0] };

static void
expected(char out[CKPT_SHA256_TEXT], const uint8_t *p, size_t n)
{
	unsigned char bytes[SHA256_DIGEST_LENGTH];

	SHA256(p, n, bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* A verification with digests; the run is over, its names are still there. */
struct digested {
	struct ckpt_run *run;
	struct ckpt_digest digest;
	enum ckpt_verdict verdict;
};

static bool
stop_early(void *ctx, uint64_t done, uint64_t total)
{
	(void)total;
	return done < *(const uint64_t *)ctx;
}

static void
digest(struct digested *d, const uint8_t *p, size_t n, const struct way *way,
	uint64_t fail_at, uint64_t stop_at)
{
	const struct ckpt_options options = { .progress = stop_early,
		.progress_ctx = &stop_at };
	struct ckpt_source *source = ckpt_source_slow(
		ckpt_source_memory(p, n), way->most, way->pipe, fail_at);

	assert_non_null(source);
	source->any_thread = way->thread;
	d->run = ckpt_run_new(&options);
	assert_non_null(d->run);
	ckpt_digest_init(&d->digest, d->run, BUDGET);
	d->verdict = ckpt_verify(d->run, source);
	ckpt_source_close(source);
	ckpt_digest_close(&d->digest);
}

static void
forget(struct digested *d)
{
	ckpt_digest_release(&d->digest);
	ckpt_run_free(d->run);
}

static void
check_file(const uint8_t *p, size_t n)
{
	char want[CKPT_SHA256_TEXT];

	expected(want, p, n);
	for (size_t i = 0; i < WAYS; i++) {
		struct digested d;

		digest(&d, p, n, &ways[i], UINT64_MAX, UINT64_MAX);
		assert_null(d.digest.missing);
		assert_string_equal(d.digest.sha256, want);
		forget(&d);
	}
}

static void
test_digest_of_random_files(void **state)
{
	static const size_t lengths[] = { 0, 1, 7, 49, 4096, 262143, 262144,
		262145, 900001 };
	uint8_t *p = malloc(12000000);
	uint32_t seed = 5;

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i < 12000000; i++) {
		seed = seed * 1664525 + 1013904223;
		p[i] = (uint8_t)(seed >> 24);
	}
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		check_file(p, lengths[i]);
	/* Of no format: only a file is read to its end however long it is. */
	for (size_t i = 0; i < WAYS; i++) {
		char want[CKPT_SHA256_TEXT];
		struct digested d;

		expected(want, p, 12000000);
		digest(&d, p, 12000000, &ways[i], UINT64_MAX, UINT64_MAX);
		assert_string_equal(d.digest.sha256, ways[i].pipe ? "" : want);
		assert_int_equal(d.digest.missing != NULL, ways[i].pipe);
		forget(&d);
	}
	free(p);
}

/* Every record of a valid file, and the file; then with bytes behind it. */
static void
check_records(struct b35 *b, size_t more)
{
	uint8_t *p = calloc(1, b->n + more);
	char want[CKPT_SHA256_TEXT];

	assert_non_null(p);
	memcpy(p, b->bytes, b->n);
	check_file(p, b->n + more);
	for (size_t i = 0; i < WAYS; i++) {
		struct digested d;

		digest(&d, p, b->n + more, &ways[i], UINT64_MAX, UINT64_MAX);
		assert_int_equal(d.verdict, more ? CKPT_INVALID : CKPT_VALID);
		assert_int_equal(d.digest.nrecords, b->nrecords);
		for (uint32_t k = 0; k < b->nrecords; k++) {
			const struct b35_record *r = &b->records[k];

			expected(want, p + r->data_at, (size_t)r->n);
			assert_int_equal(d.digest.records[k].index, k);
			assert_string_equal(d.digest.records[k].sha256, want);
		}
		forget(&d);
	}
	free(p);
}

static void
test_digest_of_records(void **state)
{
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	check_records(&b, 0);
	check_records(&b, 1);
	b35_free(&b);
	b35_init(&b);
	b35_literal(&b, 2);
	b.vocabulary = 2;
	b35_model(&b, 150000, 2, 6, 0);
	b35_moments(&b, 1);
	b35_build(&b);
	check_records(&b, 0);
	b35_free(&b);
}

/* Of a cut file the records that are there have a digest, the cut one has
 * not, and the file is what is left of it. */
static void
test_digest_of_cut_files(void **state)
{
	char want[CKPT_SHA256_TEXT];
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	for (size_t n = 1; n < b.n; n += n < 60 ? 1 : 37) {
		struct digested d;

		expected(want, b.bytes, n);
		for (size_t i = 0; i < WAYS; i++) {
			digest(&d, b.bytes, n, &ways[i], UINT64_MAX,
				UINT64_MAX);
			assert_int_equal(d.verdict, CKPT_INVALID);
			assert_string_equal(d.digest.sha256, want);
			for (uint64_t k = 0; k < d.digest.nrecords; k++) {
				const struct b35_record *r = &b.records[k];

				if (r->data_at + r->n > n)
					assert_string_equal(
						d.digest.records[k].sha256, "");
			}
			forget(&d);
		}
	}
	b35_free(&b);
}

/* Nothing is said of bytes that were not all read. */
static void
test_digest_is_of_all_or_not_given(void **state)
{
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	for (size_t i = 0; i < WAYS; i++)
		for (uint64_t at = 0; at < b.n; at += 97) {
			struct digested d;

			digest(&d, b.bytes, b.n, &ways[i], at, UINT64_MAX);
			assert_int_equal(d.verdict, CKPT_NOT_VERIFIED);
			assert_string_equal(d.digest.sha256, "");
			assert_non_null(d.digest.missing);
			forget(&d);
			if (ways[i].most > 2000 || at < 2000)
				continue;
			digest(&d, b.bytes, b.n, &ways[i], UINT64_MAX, at);
			assert_int_equal(d.verdict, CKPT_NOT_VERIFIED);
			assert_string_equal(d.digest.sha256, "");
			assert_non_null(d.digest.missing);
			forget(&d);
		}
	b35_free(&b);
}

/* An error or a cancelling behind what the format wanted counts as well. */
static void
test_digest_of_what_nobody_judged(void **state)
{
	const struct way *way = &ways[0];
	uint8_t *p = calloc(1, 3000000);
	struct digested d;

	(void)state;
	assert_non_null(p);
	memset(p, 'x', 3000000);
	digest(&d, p, 3000000, way, 2000000, UINT64_MAX);
	assert_int_equal(d.verdict, CKPT_NOT_VERIFIED);
	assert_string_equal(ckpt_run_primary(d.run)->rule->id, "CK9001");
	assert_int_equal(ckpt_run_primary(d.run)->off, 2000000);
	assert_string_equal(d.digest.sha256, "");
	forget(&d);
	digest(&d, p, 3000000, way, UINT64_MAX, 2000000);
	assert_int_equal(d.verdict, CKPT_NOT_VERIFIED);
	assert_string_equal(ckpt_run_primary(d.run)->rule->id, "CK9006");
	assert_string_equal(d.digest.sha256, "");
	forget(&d);
	free(p);
}

static enum ckpt_status
changed(struct ckpt_source *source, const char **what)
{
	(void)source;
	*what = "it became longer";
	return CKPT_EIO;
}

static void
test_digest_not_of_a_changed_or_missing_file(void **state)
{
	struct digested d = { .run = ckpt_run_new(NULL) };
	struct ckpt_source *source = ckpt_source_memory("abc", 3);

	(void)state;
	assert_non_null(d.run);
	assert_non_null(source);
	source->unchanged = changed;
	ckpt_digest_init(&d.digest, d.run, BUDGET);
	assert_int_equal(ckpt_verify(d.run, source), CKPT_NOT_VERIFIED);
	ckpt_source_close(source);
	ckpt_digest_close(&d.digest);
	assert_string_equal(d.digest.sha256, "");
	assert_non_null(strstr(d.digest.missing, "changed"));
	forget(&d);
	d.run = ckpt_run_new(NULL);
	ckpt_digest_init(&d.digest, d.run, BUDGET);
	assert_int_equal(ckpt_run_trouble(d.run, ENOENT), CKPT_NOT_VERIFIED);
	ckpt_digest_close(&d.digest);
	assert_string_equal(d.digest.sha256, "");
	assert_non_null(strstr(d.digest.missing, "opened"));
	forget(&d);
}

/* Too little memory for the digests is not a fault of the file. */
static void
test_digest_memory(void **state)
{
	struct digested d = { .run = ckpt_run_new(NULL) };
	struct ckpt_source *source;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_build(&b);
	source = ckpt_source_memory(b.bytes, b.n);
	assert_non_null(source);
	ckpt_digest_init(&d.digest, d.run, 64);
	assert_int_equal(ckpt_verify(d.run, source), CKPT_NOT_VERIFIED);
	assert_string_equal(ckpt_run_primary(d.run)->rule->id, "CK9003");
	ckpt_source_close(source);
	ckpt_digest_close(&d.digest);
	forget(&d);
	b35_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digest_of_random_files),
		cmocka_unit_test(test_digest_of_records),
		cmocka_unit_test(test_digest_of_cut_files),
		cmocka_unit_test(test_digest_is_of_all_or_not_given),
		cmocka_unit_test(test_digest_of_what_nobody_judged),
		cmocka_unit_test(test_digest_not_of_a_changed_or_missing_file),
		cmocka_unit_test(test_digest_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
