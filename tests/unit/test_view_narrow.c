/* SPDX-License-Identifier: MIT */
/*
 * Elements of less than a byte, and of two numbers, in the viewer: statistics
 * that end and count every number, and a comparison that does not call bytes
 * elements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "support/comparing.h"
#include "support/viewing.h"
#include "view/compare.h"
#include "view/stats_work.h"

/* A file of one tensor "w" whose bytes are of this pattern. */
static size_t
file_of(uint8_t *file, const char *dtype, const char *shape, size_t n)
{
	char header[200];
	int len = snprintf(header, sizeof header,
		"{\"w\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[0,%zu]"
		"}}",
		dtype, shape, n);

	ckpt_store_u64(file, (uint64_t)len);
	memcpy(file + 8, header, (size_t)len);
	for (size_t i = 0; i < n; i++)
		file[8 + (size_t)len + i] = (uint8_t)(i * 73 + 5);
	return 8 + (size_t)len + n;
}

/* ---- Statistics --------------------------------------------------------- */

static const struct {
	const char *dtype;
	unsigned width, bytes, numbers; /* a group */
} groups[] = {
	{ "F4", 0, 1, 2 },
	{ "F6_E2M3", 0, 3, 4 },
	{ "F6_E3M2", 0, 3, 4 },
	{ "C64", 8, 8, 2 },
	{ "BF16", 2, 2, 1 },
};

/* Over several blocks, each group is counted once in both passes. */
static void
test_narrow_bins_add_up(void **state)
{
	enum { SIZE = 24 * 30000 };
	struct view_stats_work *work = calloc(1, sizeof *work);
	uint8_t *bytes = malloc(SIZE);
	char path[] = "/tmp/narrow-XXXXXX";
	int fd = mkstemp(path);
	struct view_doc doc;

	(void)state;
	assert_true(work && bytes && fd >= 0);
	/* Exponents stay below those of infinities. */
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 73 + i / 256) & 0x3f;
	assert_int_equal(write(fd, bytes, SIZE), SIZE);
	close(fd);
	assert_int_equal(view_doc_open(&doc, path, 0, -1), 0);
	view_doc_settle(&doc);
	unlink(path);
	for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
		const struct ckpt_span span = { .dtype = groups[i].dtype,
			.width = groups[i].width,
			.len = SIZE };
		uint64_t n = SIZE / groups[i].bytes * groups[i].numbers;
		uint64_t binned = 0;

		assert_true(view_stats_can(&span));
		view_stats_start(work, &doc, &span);
		while (!view_job_take(&work->job))
			usleep(200);
		assert_true(work->whole);
		for (size_t k = 0; k < VIEW_BINS; k++)
			binned += work->result.bins[k];
		assert_int_equal(work->result.stats.count, n);
		assert_int_equal(work->result.stats.finite, n);
		assert_int_equal(binned, n);
	}
	view_doc_release(&doc);
	free(bytes);
	free(work);
}

static void
test_narrow_statistics_pane(void **state)
{
	static const uint8_t values[] = { 0x20, 0x71 }; /* 0 1 0.5 6 */
	uint8_t file[400];
	struct viewing v;
	size_t n = file_of(file, "F4", "[2,2]", 2);

	(void)state;
	memcpy(file + n - 2, values, 2);
	viewing_bytes(&v, file, n, 24, 80);
	viewing_keys(&v, "sz");
	view_go(&v.view, n - 2);
	viewing_shows(&v, " w\n tensor, F4 [2,2]\n");
	viewing_shows(&v, " count 4 ");
	viewing_shows(&v, " min 0 at [0,0]\n max 6 at [1,1]\n");
	viewing_close(&v);
	/* Real and imaginary parts are of one element. */
	n = file_of(file, "C64", "[2]", 16);
	memset(file + n - 16, 0, 16);
	ckpt_store_u32(file + n - 4, 0x40000000);
	viewing_bytes(&v, file, n, 24, 80);
	viewing_keys(&v, "sz");
	view_go(&v.view, n - 16);
	viewing_shows(&v, " count 4 ");
	viewing_shows(&v, " max 2 at [1]\n");
	viewing_close(&v);
}

/* ---- Comparing ---------------------------------------------------------- */

static void
test_narrow_comparison_says_bytes(void **state)
{
	uint8_t a[400], b[400];
	struct viewing v;
	size_t n = file_of(a, "F4", "[64,2]", 64);

	(void)state;
	file_of(b, "F4", "[64,2]", 64);
	b[n - 3] ^= 1;
	comparing_open(&v, a, n, b, n, 30, 100);
	viewing_keys(&v, "c");
	viewing_shows(&v, "different     1 of 64 bytes w");
	viewing_shows(&v, "w: first differs in byte 61");
	viewing_close(&v);
	n = file_of(a, "F16", "[16,2]", 64);
	file_of(b, "F16", "[16,2]", 64);
	b[n - 3] ^= 1;
	comparing_open(&v, a, n, b, n, 30, 100);
	viewing_keys(&v, "c");
	viewing_shows(&v, "different     1 of 32       ");
	viewing_shows(&v, "w: first differs in element [15,0]");
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_narrow_bins_add_up),
		cmocka_unit_test(test_narrow_statistics_pane),
		cmocka_unit_test(test_narrow_comparison_says_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
