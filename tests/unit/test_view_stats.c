/* SPDX-License-Identifier: MIT */
/*
 * The pane of the statistics against known answers, and the reading of a
 * tensor against counting by hand: bins that add up, ranges that no double
 * holds, tensors behind the end of the file, and readings that are cancelled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "support/build35.h"
#include "support/viewing.h"
#include "view/stats_work.h"

#define BAD "corpus/llmcp35/bad/"

/* Puts the cursor on a record's payload. */
static void
go(struct viewing *v, uint64_t record)
{
	assert_true(record < v->doc.spans->ntensors);
	view_go(&v->view, v->doc.spans->tensors[record].off);
}

static void
test_numbers(void **state)
{
	struct viewing v;
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_small(&b);
	/* Record 3 is the embedding, [3,4]. */
	for (uint64_t i = 0; i < 12; i++)
		b35_f64(&b.records[3], i, (double)i - 4);
	b35_f64_bits(&b.records[3], 10, 1);
	b35_f64(&b.records[3], 11, -0.0);
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 24, 80);
	viewing_keys(&v, "sz");
	go(&v, 3);
	viewing_shows(&v, "-[statistics]-");
	viewing_shows(&v, "\n token_embedding.weight\n"
			  " ModelParameter, f64 [3,4]\n");
	viewing_shows(&v, " count 12 ");
	viewing_shows(&v, " finite 12 ");
	viewing_shows(&v, "\n min -4 at [0,0]\n max 5 at [2,1]\n");
	viewing_shows(&v, " mean 0.416667 ");
	viewing_shows(&v, " L2 9.21954\n");
	viewing_shows(&v, " zeros 2 ");
	viewing_shows(&v, " denormals 1 ");
	viewing_shows(&v, " NaN 0 ");
	viewing_shows(&v, "\n -4 to 5, tallest bar 3\n");
	viewing_lacks(&v, "reading");
	viewing_close(&v);
	b35_free(&b);
}

static void
test_not_finite(void **state)
{
	struct viewing v;
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_small(&b);
	for (uint64_t i = 0; i < 12; i++)
		b35_f64(&b.records[3], i, 7);
	b35_f64(&b.records[3], 2, (double)NAN);
	b35_f64(&b.records[3], 3, -(double)INFINITY);
	b35_f64(&b.records[3], 4, (double)INFINITY);
	for (uint64_t i = 0; i < b.records[4].n / 8; i++)
		b35_f64(&b.records[4], i, (double)NAN);
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 24, 80);
	viewing_keys(&v, "sz");
	go(&v, 3);
	viewing_shows(&v, " finite 9 ");
	viewing_shows(&v, " NaN 1 ");
	viewing_shows(&v, " inf 2\n");
	viewing_shows(&v, "\n all that are finite are 7\n");
	go(&v, 4);
	viewing_shows(&v, " NaN 4 ");
	viewing_shows(&v, " mean - ");
	viewing_lacks(&v, "all that");
	viewing_lacks(&v, " to ");
	viewing_lacks(&v, " min ");
	viewing_close(&v);
	b35_free(&b);
}

/* A moment stands beside its parameter, or below it in a narrow pane; bytes
 * and record of a tensor are both it. */
static void
test_moment(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/good/selected-step8.ckpt", 24, 80);
	viewing_keys(&v, "sz");
	view_go(&v.view, 6329);
	viewing_shows(&v, "\n OptimizerSecondMoment, f64 [5,4]        "
			  "ModelParameter, f64 [5,4]\n");
	viewing_shows(&v, "\n min 2.1322462180266746e-06 at [0,3]     "
			  "min -0.7628304658492149 at [0,1]\n"
			  " max 7.531116788009405e-05 at [1,1]      "
			  "max 0.7152623616189918 at [2,0]\n");
	view_go(&v.view, 2868);
	viewing_shows(&v, " OptimizerSecondMoment, f64 [5,4] ");
	view_resize(&v.view, 40, 50);
	viewing_shows(&v, "\n token_embedding.weight\n"
			  " ModelParameter, f64 [5,4]\n");
	view_resize(&v.view, 16, 50);
	viewing_shows(&v, "[statistics, lines 1-12 of ");
	viewing_lacks(&v, "ModelParameter");
	viewing_keys(&v, "G");
	viewing_shows(&v, "ModelParameter");
	viewing_lacks(&v, "OptimizerSecondMoment");
	viewing_keys(&v, "gk");
	viewing_shows(&v, "[statistics, lines 1-12 of ");
	viewing_close(&v);
}

/* In a pane that is too narrow for it the place has a line of its own. */
static void
test_narrow(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/good/selected-step8.ckpt", 40, 80);
	viewing_keys(&v, "s");
	view_go(&v.view, 6329);
	viewing_shows(&v, "min 2.1322462180266746e-06 at [0,3]\n");
	view_resize(&v.view, 24, 40);
	viewing_shows(&v, "\n max 7.531116788009405e-05 at [1,1]\n");
	viewing_keys(&v, "jj");
	viewing_shows(&v, "\n 2.13225e-06 to 7.53112e-05,\n"
			  " tallest bar 3\n");
	viewing_close(&v);
}

/* The first of equal elements, and none of those that are no numbers. */
static void
test_where(void **state)
{
	struct viewing v;
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_small(&b);
	for (uint64_t i = 0; i < 12; i++)
		b35_f64(&b.records[3], i, i % 2 ? 0.1 : -0.25);
	b35_f64(&b.records[3], 0, (double)NAN);
	b35_f64(&b.records[3], 1, (double)INFINITY);
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 24, 80);
	viewing_keys(&v, "sz");
	go(&v, 3);
	viewing_shows(&v, "\n min -0.25 at [0,2]\n max 0.1 at [0,3]\n");
	viewing_close(&v);
	b35_free(&b);
}

/* Bytes are those of now, statistics may not be. */
static void
test_old(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/good/selected-step8.ckpt", 24, 80);
	viewing_keys(&v, "s");
	view_go(&v.view, 2874);
	viewing_lacks(&v, "old (F5)");
	v.doc.changed = "it was written to";
	viewing_shows(&v, "[statistics, old (F5), lines 1-");
	viewing_keys(&v, "z");
	viewing_shows(&v, "[statistics, old (F5)]");
	viewing_close(&v);
}

static void
test_others(void **state)
{
	struct viewing v;
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_small(&b);
	b35_payload(&b.records[0], "az", 2);
	b.records[0].dims[0] = 2;
	b.records[5].dtype = 9;
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 24, 80);
	viewing_keys(&v, "sz");
	viewing_shows(&v, "no tensor here");
	go(&v, 0);
	viewing_shows(&v, " literal-token-0\n");
	viewing_shows(&v, "u8 [2]\n");
	viewing_shows(&v, "\n min 97 at [0]\n max 122 at [1]\n");
	view_go(&v.view, v.doc.spans->tensors[5].record_at);
	viewing_shows(&v, "not read as numbers");
	viewing_close(&v);
	viewing_open(&v, BAD "empty.ckpt", 24, 80);
	viewing_keys(&v, "szjkgG");
	viewing_shows(&v, "no tensor here");
	viewing_close(&v);
	b35_free(&b);
}

static void
test_cut_file(void **state)
{
	struct viewing v;
	struct b35 b;

	(void)state;
	b35_init(&b);
	b35_small(&b);
	b35_build(&b);
	/* Two elements and a half of the embedding. */
	viewing_bytes(&v, b.bytes, b.records[3].data_at + 20, 24, 80);
	viewing_keys(&v, "sz");
	go(&v, 3);
	viewing_shows(&v, "the file ends before it does");
	viewing_shows(&v, " count 2 ");
	view_go(&v.view, v.doc.spans->tensors[4].record_at);
	viewing_shows(&v, "the file ends before it does");
	viewing_shows(&v, " count 0 ");
	viewing_close(&v);
	b35_free(&b);
}

/* ---- Reading ------------------------------------------------------------ */

static void
open_bytes(struct view_doc *doc, const void *bytes, size_t n)
{
	char path[] = "/tmp/stats-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
	assert_int_equal(view_doc_open(doc, path, 0, -1), 0);
	view_doc_settle(doc);
	unlink(path);
}

static void
read_all(struct view_stats_work *work, const struct view_doc *doc,
	const struct ckpt_span *span)
{
	view_stats_start(work, doc, span);
	while (!view_job_take(&work->job))
		usleep(200);
	assert_true(work->whole);
}

static uint64_t
binned(const struct view_stats_work *work)
{
	uint64_t n = 0;

	for (size_t i = 0; i < VIEW_BINS; i++)
		n += work->result.bins[i];
	return n;
}

static void
test_bins(void **state)
{
	enum { MANY = 100003 };
	struct view_stats_work *work = calloc(1, sizeof *work);
	uint8_t *bytes = malloc(MANY * 8 + 3);
	struct ckpt_span span = {
		.dtype = "f64", .width = 8, .off = 3, .len = MANY * 8
	};
	struct view_doc doc;

	(void)state;
	assert_true(work && bytes);
	/* 0 to 63 in turn: a bin each. */
	for (size_t i = 0; i < MANY; i++)
		ckpt_store_u64(bytes + 3 + i * 8,
			ckpt_f64_bits((double)(i % VIEW_BINS)));
	open_bytes(&doc, bytes, MANY * 8 + 3);
	read_all(work, &doc, &span);
	assert_int_equal(work->result.stats.count, MANY);
	assert_int_equal(binned(work), MANY);
	assert_true(work->result.stats.min == 0);
	assert_true(work->result.stats.max == 63);
	for (size_t i = 0; i < VIEW_BINS; i++)
		assert_int_equal(work->result.bins[i],
			MANY / VIEW_BINS + (i < MANY % VIEW_BINS));
	assert_int_equal(atomic_load(&work->job.done), span.len * 2);
	assert_int_equal(atomic_load(&work->job.total), span.len * 2);
	/* Bytes as numbers, too. */
	span = (struct ckpt_span){ .dtype = "u8", .width = 1, .len = 900 };
	read_all(work, &doc, &span);
	assert_int_equal(binned(work), 900);
	view_doc_release(&doc);
	free(bytes);
	free(work);
}

static void
test_odd_ranges(void **state)
{
	static const double values[][3] = {
		{ -DBL_MAX, 0, DBL_MAX },
		{ 5e-324, 1e-323, 2e-323 },
		{ -0.0, 0.0, -0.0 },
		{ (double)NAN, (double)INFINITY, -(double)INFINITY },
		{ DBL_MAX, (double)NAN, DBL_MAX },
	};
	static const uint64_t finite[] = { 3, 3, 3, 0, 2 };
	struct view_stats_work *work = calloc(1, sizeof *work);
	struct ckpt_span span = { .dtype = "f64", .width = 8, .len = 24 };
	struct view_doc doc;
	uint8_t bytes[24];

	(void)state;
	assert_non_null(work);
	for (size_t i = 0; i < 5; i++) {
		for (size_t k = 0; k < 3; k++)
			ckpt_store_u64(
				bytes + k * 8, ckpt_f64_bits(values[i][k]));
		open_bytes(&doc, bytes, sizeof bytes);
		read_all(work, &doc, &span);
		assert_int_equal(work->result.stats.finite, finite[i]);
		assert_int_equal(binned(work), finite[i]);
		if (i < 2) {
			assert_int_equal(work->result.bins[0], 1);
			assert_int_equal(work->result.bins[VIEW_BINS - 1], 1);
		}
		view_doc_release(&doc);
	}
	free(work);
}

static void
test_extents_that_lie(void **state)
{
	static const uint64_t lies[][2] = { { 0, UINT64_MAX },
		{ UINT64_MAX, UINT64_MAX }, { UINT64_MAX - 7, 8 }, { 100, 8 },
		{ 64, 8 }, { 60, 8 } };
	struct view_stats_work *work = calloc(1, sizeof *work);
	uint8_t bytes[64] = { 0 };
	struct view_doc doc;

	(void)state;
	assert_non_null(work);
	open_bytes(&doc, bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
		struct ckpt_span span = { .dtype = "f64",
			.width = 8,
			.off = lies[i][0],
			.len = lies[i][1] };

		read_all(work, &doc, &span);
		assert_true(work->result.cut);
		assert_int_equal(work->result.stats.count, i == 0 ? 8 : 0);
	}
	view_doc_release(&doc);
	free(work);
}

/* A tensor of a tebibyte is left at once, and the next one is read. */
static void
test_cancelled(void **state)
{
	char path[] = "/tmp/stats-XXXXXX";
	struct view_stats_work *work = calloc(1, sizeof *work);
	struct ckpt_span span = {
		.dtype = "f64", .width = 8, .len = (uint64_t)1 << 40
	};
	struct view_doc doc;
	int fd = mkstemp(path);

	(void)state;
	assert_true(work && fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	close(fd);
	assert_int_equal(view_doc_open(&doc, path, 0, -1), 0);
	unlink(path);
	view_doc_settle(&doc);
	view_stats_start(work, &doc, &span);
	span.len = 800;
	read_all(work, &doc, &span);
	assert_int_equal(work->result.stats.zeros, 100);
	span.len = (uint64_t)1 << 40;
	view_stats_start(work, &doc, &span);
	view_job_stop(&work->job);
	assert_false(work->whole);
	view_doc_release(&doc);
	free(work);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_not_finite),
		cmocka_unit_test(test_moment),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_cut_file),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_odd_ranges),
		cmocka_unit_test(test_extents_that_lie),
		cmocka_unit_test(test_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
