/* SPDX-License-Identifier: MIT */
/*
 * Whole pages of --html, also of noise: they are clean and closed, their map
 * shows every byte once and hides no gap, their histograms are right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "cli/inspect_html.h"
#include "support/sample.h"

enum { CELLS = 8000, LEFT = 84, ROW = 36, TOP = 14 };

static size_t
count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)) != NULL; text += strlen(word))
		n++;
	return n;
}

/* What a browser needs to be told where things end. */
static void
assert_closed(const char *page)
{
	static const char *const tags[] = { "section", "svg", "g", "figure",
		"details", "table", "a", "title" };
	char open[16], bare[16], close[16];

	for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
		snprintf(open, sizeof open, "<%s ", tags[i]);
		snprintf(bare, sizeof bare, "<%s>", tags[i]);
		snprintf(close, sizeof close, "</%s>", tags[i]);
		assert_int_equal(count(page, open) + count(page, bare),
			count(page, close));
	}
}

/* The pieces of the map: in order, side by side, every column once. */
static void
assert_tiled(const char *page)
{
	const char *p = strstr(page, "id=\"bytes\"");
	const char *end = p ? strstr(p, "</svg>") : NULL;
	int at = 0;

	if (!p) {
		assert_non_null(strstr(page, "The file is empty."));
		return;
	}
	p = strstr(p, "</pattern>");
	while ((p = strchr(p, 'M')) != NULL && p < end) {
		int x, y, wide, high, back;

		if (sscanf(p++, "M%d %dh%dv%dh-%dz", &x, &y, &wide, &high,
			    &back) != 5)
			continue;
		assert_int_equal(wide, back);
		assert_true(wide > 0);
		assert_int_equal((y - TOP) / ROW * 1000 + x - LEFT, at);
		at += wide;
	}
	assert_int_equal(at, CELLS);
}

/* The page of a file, for free(). */
static char *
page_of(const uint8_t *p, size_t n)
{
	struct inspect in = { .path = "<\"FILE'\x1b>",
		.section = INSPECT_HTML };
	char *page;

	assert_true(inspect_load(&in, ckpt_source_memory(p, n)));
	assert_true(inspect_html(&in));
	page = strdup(in.out.p);
	assert_non_null(page);
	assert_int_equal(strlen(page), in.out.n);
	inspect_release(&in);
	return page;
}

static void
check_page(const uint8_t *p, size_t n)
{
	char *page = page_of(p, n);

	assert_true(ckpt_utf8_valid(page, strlen(page), NULL));
	for (const char *c = page; *c; c++)
		assert_true(
			*c == '\n' || ((unsigned char)*c >= ' ' && *c != 0x7f));
	assert_int_equal(count(page, "<script"), 1);
	assert_int_equal(count(page, "&lt;&quot;FILE&#39;\\x1b&gt;</h1>"), 1);
	assert_closed(page);
	assert_tiled(page);
	free(page);
}

static uint64_t
draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static void
pages_of_noise(void **state)
{
	size_t n;
	uint8_t *good = sample_make(sample_find("hostile"), &n);
	uint8_t *p = malloc(n);
	uint64_t seed = 35;

	(void)state;
	assert_non_null(good);
	assert_non_null(p);
	for (int round = 0; round < 300; round++) {
		size_t k = draw(&seed) % n + 1;

		memcpy(p, good, k);
		if (round % 4 == 0)
			for (size_t i = 0; i < k; i++)
				p[i] = (uint8_t)draw(&seed);
		else if (round % 4 == 1)
			for (size_t i = draw(&seed) % k; i < k; i++)
				p[i] = (uint8_t)draw(&seed);
		else
			for (int i = 0; i < 6; i++)
				p[draw(&seed) % k] = (uint8_t)draw(&seed);
		check_page(p, k);
	}
	check_page(p, 0);
	check_page(good, n);
	free(p);
	free(good);
}

/* A map of tensors of these lengths, every third of which is a gap instead;
 * for free(). */
static char *
map_of(const uint64_t *lengths, size_t n)
{
	struct inspect in = { .path = "FILE", .run = ckpt_run_new(NULL) };
	struct ckpt_owner *owners = calloc(n, sizeof *owners);
	struct ckpt_span *tensors = calloc(n, sizeof *tensors);
	uint64_t at = 0;
	char *map;

	assert_non_null(in.run);
	assert_non_null(owners);
	assert_non_null(tensors);
	for (size_t i = 0; i < n; i++) {
		tensors[i] = (struct ckpt_span){ .index = i,
			.class_ = i % 2 ? CKPT_TENSOR_MOMENT
					: CKPT_TENSOR_PARAMETER,
			.name = (const uint8_t *)"<",
			.name_len = 1,
			.label = "",
			.off = at,
			.len = lengths[i] };
		owners[i] = (struct ckpt_owner){
			.kind = i % 3 == 1 ? CKPT_OWNER_GAP : CKPT_OWNER_TENSOR,
			.off = at,
			.end = at + lengths[i],
			.index = i
		};
		at += lengths[i];
	}
	in.spans = (struct ckpt_spans){ .tensors = tensors,
		.ntensors = n,
		.owners = owners,
		.nowners = n,
		.size = at,
		.records = "records" };
	inspect_html_map(&in);
	assert_false(in.out.failed);
	map = strdup(in.out.p);
	assert_non_null(map);
	ckpt_buf_release(&in.out);
	ckpt_run_free(in.run);
	free(owners);
	free(tensors);
	return map;
}

/* Far more owners than columns, of all sizes: still every column once. */
static void
map_of_very_many(void **state)
{
	enum { N = 20000 };
	static uint64_t lengths[N];
	uint64_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		size_t n = round ? draw(&seed) % N + 1 : N;
		char *map;

		for (size_t i = 0; i < n; i++)
			lengths[i] =
				1 +
				draw(&seed) % ((uint64_t)1 << draw(&seed) % 32);
		map = map_of(lengths, n);
		assert_tiled(map);
		assert_closed(map);
		assert_true(count(map, "<title>") <= CELLS);
		free(map);
	}
}

/* A byte that nobody owns is seen between and behind terabytes. */
static void
map_hides_no_gap(void **state)
{
	static const uint64_t between[] = { (uint64_t)1 << 42, 1,
		(uint64_t)1 << 42 };
	static const uint64_t behind[] = { (uint64_t)1 << 42, 1 };
	static const uint64_t among[] = { (uint64_t)1 << 42, 1, 1, 1, 1, 1,
		(uint64_t)1 << 42 };
	/* With what is longer, before and behind. */
	static const uint64_t first[] = { (uint64_t)1 << 42, 1, 100,
		(uint64_t)1 << 42 };
	static const uint64_t second[] = { 100, 1, (uint64_t)1 << 42,
		(uint64_t)1 << 42 };
	static const struct {
		const uint64_t *lengths;
		size_t n;
	} cases[] = { { between, 3 }, { behind, 2 }, { among, 7 }, { first, 4 },
		{ second, 4 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *map = map_of(cases[i].lengths, cases[i].n);
		const char *bytes = strstr(map, "id=\"bytes\"");

		assert_non_null(bytes);
		assert_int_equal(count(bytes, "<g class=\"x"), 1);
		assert_int_equal(count(bytes, "<g class=\""),
			cases[i].n < 3 ? cases[i].n : 3);
		assert_tiled(map);
		free(map);
	}
}

/* The bars of the first histogram as counts relative to the fullest. */
static size_t
bars(const char *page, int at[32], int heights[32])
{
	const char *p = strstr(page, "<figure>"), *end;
	size_t n = 0;

	assert_non_null(p);
	p = strstr(p, "<path d=\"");
	assert_non_null(p);
	end = strchr(p + 9, '"');
	while ((p = strchr(p + 1, 'M')) != NULL && p < end) {
		int base;

		assert_true(n < 32);
		assert_int_equal(
			sscanf(p, "M%d %dv-%dh4v", &at[n], &base, &heights[n]),
			3);
		assert_int_equal(base, 40);
		n++;
	}
	return n;
}

/* The first parameter of the sample gets values whose spread is known: 1 and
 * 3 at the ends and twice as many 2 in the middle, and what is not finite. */
static void
histogram_known_answer(void **state)
{
	static const uint64_t bits[] = { 0x3ff0000000000000 /* 1 */,
		0x4008000000000000 /* 3 */, 0x4000000000000000 /* 2 */,
		0x4000000000000000, 0x7ff8000000000000, 0xfff0000000000000 };
	struct inspect in = { .path = "FILE", .section = INSPECT_RECORDS };
	const struct ckpt_span *span;
	size_t n, values;
	uint8_t *p = sample_make(sample_find("plain"), &n);
	int at[32], heights[32];
	char *page;

	(void)state;
	assert_non_null(p);
	assert_true(inspect_load(&in, ckpt_source_memory(p, n)));
	assert_true(in.spans.ntensors > 0);
	span = in.spans.tensors;
	while (span->class_ != CKPT_TENSOR_PARAMETER)
		assert_true(++span < in.spans.tensors + in.spans.ntensors);
	values = (size_t)span->len / 8;
	assert_true(values >= 6);
	for (size_t i = 0; i < values; i++)
		ckpt_store_u64(p + span->off + 8 * i,
			i < 6 ? bits[i] : 0x7ff8000000000000);
	inspect_release(&in);
	page = page_of(p, n);
	assert_int_equal(bars(page, at, heights), 3);
	assert_int_equal(at[0], 0);
	assert_int_equal(at[1], 16 * 5);
	assert_int_equal(at[2], 31 * 5);
	assert_int_equal(heights[0], 20);
	assert_int_equal(heights[1], 40);
	assert_int_equal(heights[2], 20);
	assert_non_null(strstr(page, "<span>1</span><span>3</span>"));
	free(page);
	free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_of_noise),
		cmocka_unit_test(map_of_very_many),
		cmocka_unit_test(map_hides_no_gap),
		cmocka_unit_test(histogram_known_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
