/* SPDX-License-Identifier: MIT */
/*
 * Text that has no room: which part of it is kept, against counting it out;
 * paths of any length and bytes in the first line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "support/viewing.h"
#include "view/bar.h"

/* Plain, wide, with a mark over the letter, and no characters at all. */
static const char *const texts[] = { "", "a", "plain words", "\xe6\xbc\xa2",
	"a\xe6\xbc\xa2\xe5\xad\x97z",
	"e\xcc\x81"
	"e\xcc\x81\xcc\x82"
	"z",
	"\xff\xfe\x80\x80", "ab\xe6\xbc", "\xcc\x81\xcc\x81" };

static size_t
step(const char *s, size_t n)
{
	uint32_t point;
	size_t k = ckpt_utf8_decode((const uint8_t *)s, n, &point);

	return k ? k : 1;
}

/* The longest end that fits, from its first character on that is seen. */
static size_t
counted(const char *s, size_t n, int cols)
{
	size_t at = 0;

	while (at < n && view_width(s + at, n - at) > cols)
		at += step(s + at, n - at);
	while (at > 0 && at < n &&
		view_width(s + at, step(s + at, n - at)) == 0)
		at += step(s + at, n - at);
	return at;
}

static void
check_texts(void)
{
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		for (int cols = -2; cols < 14; cols++) {
			size_t n = strlen(texts[i]);

			assert_int_equal(view_fit_end(texts[i], n, cols),
				counted(texts[i], n, cols));
		}
}

static void
test_end(void **state)
{
	(void)state;
	check_texts();
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_int_equal(view_width("\xe6\xbc\xa2", 3), 2);
	check_texts();
	/* Half a wide character is none, a mark goes with its letter. */
	assert_int_equal(view_fit_end(texts[4], 8, 2), 7);
	assert_int_equal(view_fit_end(texts[5], 9, 1), 8);
	setlocale(LC_CTYPE, "C");
}

static const char *
path_of(struct ckpt_buf *buf, const char *path, int cols)
{
	const struct view_grid grid = { .rows = 1, .cols = cols };

	ckpt_buf_clear(buf);
	ckpt_buf_puts(buf, "");
	view_path_write(buf, &grid, path, cols);
	assert_false(buf->failed);
	assert_true(view_width(buf->p, buf->n) <= (cols > 1 ? cols : 1));
	return buf->p;
}

static void
test_paths(void **state)
{
	static const char *const fills[] = { "\x01", "\xff", "\x80", "x",
		"\xe6\xbc\xa2", "\xf0\x9f\x98\x80", "\xe2\x80\xae", "\\" };
	struct ckpt_buf text = { 0 };
	char path[4096];

	(void)state;
	assert_string_equal(path_of(&text, "a/file", 6), "a/file");
	assert_string_equal(path_of(&text, "a/file", 5), "~file");
	assert_string_equal(path_of(&text, "a/file", 1), "~");
	assert_string_equal(path_of(&text, "", 1), "");
	for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
		size_t k = strlen(fills[i]), n = 0;

		while (n + k + sizeof "/end" <= sizeof path) {
			memcpy(path + n, fills[i], k);
			n += k;
		}
		strcpy(path + n, "/end");
		for (int cols = 1; cols <= 200; cols++)
			path_of(&text, path, cols);
		assert_string_equal(path_of(&text, path, 5), "~/end");
	}
	ckpt_buf_release(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
