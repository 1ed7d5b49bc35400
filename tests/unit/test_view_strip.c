/* SPDX-License-Identifier: MIT */
/*
 * The line with the whole file: whose bytes a cell has most of, against
 * counting them one by one; findings, zeros, and clicks.
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

#include "support/build35.h"
#include "support/viewing.h"

#define GOOD "corpus/llmcp35/good/"
#define BAD  "corpus/llmcp35/bad/"

/* Line 1 of the screen, where the strip is. */
static const struct view_cell *
cells(struct viewing *v)
{
	viewing_screen(v);
	return v->view.grid.cells + v->view.grid.cols;
}

static char
sign_at(struct viewing *v, uint64_t off)
{
	static const char signs[] = { [VIEW_HEADER] = 'h',
		[VIEW_TOKENIZER] = 't',
		[VIEW_PARAMETER] = 'p',
		[VIEW_MOMENT] = 'm',
		[VIEW_OTHER] = 'o',
		[VIEW_LOST] = '.' };
	struct view_owner owner;

	assert_true(view_doc_owner(&v->doc, off, &owner));
	return signs[view_owner_style(&owner)];
}

/* Every cell is of a kind of which it has no less than of any other. */
static void
check(const char *path, int cols)
{
	struct viewing v;
	const struct view_cell *row;
	uint64_t n = (uint64_t)cols, size;

	viewing_open(&v, path, 24, cols);
	row = cells(&v);
	size = v.doc.size;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t from = i * size / n, end = (i + 1) * size / n;
		uint64_t bytes[256] = { 0 };
		char sign = row[i].text[0];

		end = end > from ? end : from + 1;
		for (uint64_t off = from; off < end; off++)
			bytes[(unsigned char)sign_at(&v, off)]++;
		if (sign == '!') {
			assert_non_null(
				view_doc_finding_in(&v.doc, from, end - from));
			continue;
		}
		assert_null(view_doc_finding_in(&v.doc, from, end - from));
		if (sign == '0') {
			for (; from < end; from++) {
				uint8_t byte = 1;

				view_doc_read(&v.doc, from, &byte, 1);
				assert_int_equal(byte, 0);
			}
			continue;
		}
		assert_true(strchr("htpmo.", sign) != NULL);
		for (size_t k = 0; k < 256; k++)
			assert_true(bytes[k] <= bytes[(unsigned char)sign]);
	}
	viewing_close(&v);
}

static void
test_cells(void **state)
{
	static const char *const files[] = { GOOD "selected-step8.ckpt",
		GOOD "tiny.ckpt", GOOD "bpe.ckpt", BAD "offset-gap.ckpt",
		BAD "checksum-zero.ckpt", BAD "hostile-name.ckpt" };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		for (int cols = 40; cols < 400; cols += 71)
			check(files[i], cols);
}

static void
test_line(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 24, 80);
	viewing_shows(&v,
		"\nhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhppppppppppppppp"
		"mmmmmmmmmmmmmmmmmmmmmmmmmmmmm\n");
	/* The cell of the cursor, and colours that say the same. */
	assert_int_equal(cells(&v)[0].marks, VIEW_REVERSE);
	assert_int_equal(cells(&v)[1].marks, 0);
	assert_int_equal(cells(&v)[1].style, VIEW_HEADER);
	view_go(&v.view, 6329);
	assert_int_equal(cells(&v)[79].marks, VIEW_REVERSE);
	assert_int_equal(cells(&v)[79].style, VIEW_MOMENT);
	view_click(&v.view, 1, 40, false);
	assert_int_equal(v.view.cursor, 3165);
	view_click(&v.view, 1, 79, false);
	assert_int_equal(v.view.cursor, 6250);
	viewing_close(&v);
}

static void
test_zeros(void **state)
{
	struct viewing v;
	struct b35 b;
	uint8_t *bytes;
	size_t n = 60000;

	(void)state;
	b35_init(&b);
	b35_small(&b);
	b35_build(&b);
	bytes = calloc(1, n);
	assert_non_null(bytes);
	memcpy(bytes, b.bytes, b.n);
	/* Bytes of nobody: zeros but for one in the last cell. */
	bytes[n - 1] = 1;
	viewing_bytes(&v, bytes, n, 24, 60);
	assert_string_equal(cells(&v)[58].text, "0");
	assert_int_equal(cells(&v)[58].style, VIEW_LOST);
	assert_string_equal(cells(&v)[59].text, ".");
	/* The extents are too short, which the fixed header says. */
	assert_string_equal(cells(&v)[0].text, "!");
	assert_int_equal(cells(&v)[0].style, VIEW_ERROR);
	viewing_close(&v);
	free(bytes);
	b35_free(&b);
}

/* Of a large cell some pages are looked at, the first and the last among
 * them. */
static void
test_large(void **state)
{
	char path[] = "/tmp/strip-XXXXXX";
	uint64_t size = (uint64_t)80 << 30, cell = size / 80;
	struct viewing v;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(pwrite(fd, "x", 1, (off_t)(cell * 3)), 1);
	assert_int_equal(pwrite(fd, "x", 1, (off_t)(cell * 6 - 1)), 1);
	close(fd);
	viewing_open(&v, path, 24, 80);
	unlink(path);
	for (int i = 1; i < 80; i++)
		assert_string_equal(
			cells(&v)[i].text, i == 3 || i == 5 ? "." : "0");
	viewing_close(&v);
}

static void
test_few_bytes(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "empty.ckpt", 24, 80);
	view_click(&v.view, 1, 5, false);
	assert_string_equal(cells(&v)[0].text, " ");
	viewing_close(&v);
	for (size_t n = 1; n < 100; n += 13) {
		uint8_t bytes[100];

		memset(bytes, 'x', sizeof bytes);
		viewing_bytes(&v, bytes, n, 24, 80);
		for (int i = 0; i < 80; i++) {
			view_click(&v.view, 1, i, true);
			assert_true(v.view.cursor < n);
			assert_int_equal(cells(&v)[i].marks, VIEW_REVERSE);
		}
		viewing_close(&v);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_few_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
