/* SPDX-License-Identifier: MIT */
/*
 * Searching bytes against a slow matcher that looks at every place: in both
 * directions, round the ends of the file and of the blocks that the job
 * reads, and counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/viewing.h"
#include "view/search_pattern.h"

static uint64_t seed = 3;

static uint64_t
pick(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

static bool
at_place(
	const struct view_pattern *p, const uint8_t *bytes, size_t n, size_t at)
{
	if (at > n || n - at < p->n)
		return false;
	for (size_t i = 0; i < p->n; i++)
		if ((bytes[at + i] & p->mask[i]) != p->bytes[i])
			return false;
	return true;
}

static void
test_find(void **state)
{
	uint8_t bytes[64];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct view_pattern p = { .n = 1 + pick(4) };
		size_t n = pick(sizeof bytes), starts = pick(70), at = 99;
		size_t first = SIZE_MAX, last = SIZE_MAX;

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)pick(3);
		p.anchor = p.n;
		for (size_t i = 0; i < p.n; i++) {
			static const uint8_t masks[] = { 0xff, 0, 0x0f, 0xff };

			p.mask[i] = masks[pick(4)];
			p.bytes[i] = (uint8_t)(pick(3) & p.mask[i]);
			if (p.mask[i] == 0xff && pick(2))
				p.anchor = i;
		}
		for (size_t i = 0; i < starts; i++)
			if (at_place(&p, bytes, n, i)) {
				first = first == SIZE_MAX ? i : first;
				last = i;
			}
		assert_int_equal(
			view_pattern_find(&p, bytes, n, starts, false, &at),
			first != SIZE_MAX);
		if (first != SIZE_MAX)
			assert_int_equal(at, first);
		assert_int_equal(
			view_pattern_find(&p, bytes, n, starts, true, &at),
			last != SIZE_MAX);
		if (last != SIZE_MAX)
			assert_int_equal(at, last);
	}
}

/* The next place from the cursor on, round the end; SIZE_MAX: none. */
static size_t
slow(const struct view_pattern *p, const uint8_t *bytes, size_t n,
	size_t cursor, bool back)
{
	for (size_t i = 1; i <= n; i++) {
		size_t at = back ? (cursor + n - i) % n : (cursor + i) % n;

		if (at_place(p, bytes, n, at))
			return at;
	}
	return SIZE_MAX;
}

static void
test_bytes_everywhere(void **state)
{
	static const char *const scripts[] = { "/x 01<Enter>",
		"/x 00 01<Enter>", "/x ?1 ?? 02<Enter>", "/x 02 02 02<Enter>",
		"/x 07<Enter>" };
	uint8_t bytes[97];
	struct viewing v;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)pick(3);
	viewing_bytes(&v, bytes, sizeof bytes, 24, 80);
	for (size_t s = 0; s < 5; s++) {
		struct view_pattern p;
		struct ckpt_buf why = { 0 };
		char text[40];

		snprintf(text, sizeof text, "%s", scripts[s] + 1);
		*strchr(text, '<') = '\0';
		assert_true(view_pattern_parse(&p, text, &why));
		ckpt_buf_release(&why);
		viewing_keys(&v, scripts[s]);
		for (size_t at = 0; at < sizeof bytes; at++)
			for (int back = 0; back < 2; back++) {
				size_t want =
					slow(&p, bytes, sizeof bytes, at, back);

				view_go(&v.view, at);
				viewing_keys(&v, back ? "N" : "n");
				assert_int_equal(v.view.cursor,
					want == SIZE_MAX ? at : want);
			}
	}
	viewing_shows(&v, "not found: x 07");
	viewing_close(&v);
}

/* Planted round the ends of blocks of a large file. */
static void
test_blocks(void **state)
{
	static const uint8_t word[] = { 0xde, 0xad, 0xbe, 0xef };
	const size_t million = 1 << 20, n = 3 * million + 100;
	const size_t places[] = { 0, million - 3, million + 50, 2 * million - 1,
		2 * million + 1000, 3 * million - 4, n - 4 };
	enum { PLACES = sizeof places / sizeof places[0] };
	uint8_t *bytes = calloc(1, n);
	struct viewing v;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < PLACES; i++)
		memcpy(bytes + places[i], word, sizeof word);
	viewing_bytes(&v, bytes, n, 24, 80);
	viewing_keys(&v, "/x de ad be ef<Enter>");
	for (size_t i = 1; i < 2 * PLACES; i++) {
		assert_int_equal(v.view.cursor, places[i % PLACES]);
		viewing_keys(&v, "n");
	}
	view_go(&v.view, 0);
	for (size_t i = 2 * PLACES; i > 0; i--) {
		viewing_keys(&v, "N");
		assert_int_equal(v.view.cursor, places[(i - 1) % PLACES]);
	}
	/* From places that are not at a word. */
	for (size_t i = 0; i < PLACES; i++) {
		size_t at = places[i] + (i + 1 < PLACES ? 1 : 0);

		view_go(&v.view, at);
		viewing_keys(&v, "N");
		assert_int_equal(v.view.cursor,
			i + 1 < PLACES ? places[i] : places[i - 1]);
	}
	viewing_close(&v);
	free(bytes);
}

/* Which match it is, against counting by hand. */
static void
test_counts(void **state)
{
	uint8_t bytes[300];
	size_t all = 0, before = 0;
	char want[60];
	struct viewing v;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)pick(2);
	for (size_t i = 0; i + 1 < sizeof bytes; i++)
		all += bytes[i] == 0 && bytes[i + 1] == 0;
	viewing_bytes(&v, bytes, sizeof bytes, 24, 80);
	view_go(&v.view, sizeof bytes - 1);
	for (size_t i = 0; i + 1 < sizeof bytes; i++) {
		if (bytes[i] || bytes[i + 1])
			continue;
		viewing_keys(&v, before++ ? "n" : "/x 00 00<Enter>");
		assert_int_equal(v.view.cursor, i);
		snprintf(want, sizeof want, "x 00 00 (%zu of %zu) at %zu ",
			before, all, i);
		viewing_shows(&v, want);
	}
	assert_int_equal(before, all);
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_bytes_everywhere),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
