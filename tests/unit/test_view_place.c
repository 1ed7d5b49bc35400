/* SPDX-License-Identifier: MIT */
/*
 * Where a byte is: the name first, the path where there is room, the middle
 * cut where there is none, never more columns than were given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/utf8.h"
#include "support/build35.h"
#include "support/viewing.h"
#include "view/place.h"

#define GOOD "corpus/llmcp35/good/selected-step8.ckpt"

static void
check(struct viewing *v, uint64_t off, int cols, const char *want)
{
	struct ckpt_buf text = { 0 };

	view_place_write(&text, &v->view, off, cols);
	assert_string_equal(text.p ? text.p : "", want);
	ckpt_buf_release(&text);
}

static void
test_words(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	check(&v, 2874 + 8 * 3 + 5, 80,
		"token_embedding.weight[0,3]  records[5].data[0,3]");
	check(&v, 2874 + 8 * 3, 49,
		"token_embedding.weight[0,3]  records[5].data[0,3]");
	check(&v, 2874 + 8 * 3, 48, "token_embedding.weight[0,3]");
	check(&v, 2874 + 8 * 3, 27, "token_embedding.weight[0,3]");
	check(&v, 2874 + 8 * 3, 23, "token_embed~weight[0,3]");
	check(&v, 2874 + 8 * 3, 2, "~]");
	check(&v, 2874 + 8 * 3, 1, "~");
	check(&v, 2874 + 8 * 3, 0, "");
	check(&v, 2874 + 8 * 3, -5, "");
	check(&v, 6329, 80,
		"second:token_embedding.weight[4,3]  records[37].data[4,3]");
	check(&v, 2870, 80, "literal-token-1[0]  records[1].data[0]");
	check(&v, 30, 80, "fixed_header.checksum");
	check(&v, 30, 13, "fixed_~ecksum");
	check(&v, 1 << 20, 80, "");
	viewing_close(&v);
	viewing_bytes(&v, "plain", 5, 24, 80);
	check(&v, 0, 80, "(unowned)");
	viewing_close(&v);
}

/* The last line and the title of the bytes say it at any width. */
static void
test_lines(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 10, 40);
	viewing_keys(&v, "x");
	view_go(&v.view, 2874 + 8 * 3);
	viewing_shows(&v, "[bytes  token_embedding.weight[0,3]]");
	viewing_shows(&v, "\n0x00000b52  45%  token_embed~weight[0,3]\n");
	view_resize(&v.view, 24, 80);
	viewing_shows(&v, "\n0x00000b52  45%  token_embedding.weight[0,3]  "
			  "records[5].data[0,3]       ? help\n");
	viewing_close(&v);
}

static void
test_any_width(void **state)
{
	static const char name[] = "\xe6\xb5\x8b\xe8\xaf\x95.\x1b[31m.\xff."
				   "\xc3\xa9\xc3\xa9\xc3\xa9";
	struct b35 b;
	struct viewing v;

	(void)state;
	b35_init(&b);
	b35_small(&b);
	b35_rename(&b.records[3], name, sizeof name - 1);
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 24, 80);
	for (int cols = 1; cols < 90; cols++) {
		struct ckpt_buf text = { 0 };

		view_place_write(
			&text, &v.view, b.records[3].data_at + 9, cols);
		assert_non_null(text.p);
		assert_true(view_width(text.p, text.n) <= cols);
		assert_true(ckpt_utf8_valid(text.p, text.n, NULL));
		for (size_t i = 0; i < text.n; i++)
			assert_true((uint8_t)text.p[i] >= ' ');
		ckpt_buf_release(&text);
	}
	viewing_close(&v);
	b35_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_any_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
