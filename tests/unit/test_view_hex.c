/* SPDX-License-Identifier: MIT */
/*
 * The pane of bytes: what a row looks like at every width and base, whose
 * colour a byte has, what is marked as faulty, and what becomes of a file that
 * is cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/viewing.h"

#define NAN_FILE "corpus/llmcp35/bad/parameter-nan.ckpt"

static void
rows_by_width(void **state)
{
	static const struct {
		int cols;
		const char *line;
	} rows[] = {
		{ 40, " 0x020 20 21 22 23 24 25 26 27   !\"#$%&'" },
		{ 42, " 00000020 20 21 22 23 24 25 26 27  !\"#$%&'" },
		{ 45, " 0x00000020 20 21 22 23 24 25 26 27   !\"#$%&'" },
		{ 77, " 0x00000020 20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d "
		      "2e 2f   !\"#$%&'()*+,-./" },
		{ 78, " 0x00000020 20 21 22 23 24 25 26 27  28 29 2a 2b 2c 2d "
		      "2e 2f   !\"#$%&'()*+,-./" },
		{ 141, " 0x00000020 20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d "
		       "2e 2f 30 31 32 33 34 35 36 37 38 39 3a 3b 3c 3d 3e 3f "
		       "  !\"#$%&'()*+,-./0123456789:;<=>?" },
	};
	struct viewing v;

	(void)state;
	viewing_pattern(&v, 300, 30, 80);
	viewing_keys(&v, "xz");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool seen = false;

		view_resize(&v.view, 30, rows[i].cols);
		viewing_screen(&v);
		for (int row = 1; row < v.view.areas[VIEW_HEX].rows; row++)
			seen = seen || strcmp(viewing_row(&v, VIEW_HEX, row),
					       rows[i].line) == 0;
		if (!seen)
			fail_msg("%d columns: no \"%s\" in\n%s", rows[i].cols,
				rows[i].line, viewing_screen(&v));
	}
	viewing_close(&v);
}

static void
short_last_row_and_bytes_that_are_no_text(void **state)
{
	static const uint8_t bytes[] = "A\x1b[2J\x9b\xff~\x7f";
	struct viewing v;

	(void)state;
	viewing_bytes(&v, bytes, 9, 24, 80);
	viewing_keys(&v, "x");
	viewing_screen(&v);
	assert_string_equal(viewing_row(&v, VIEW_HEX, 1),
		"!0x00000000 41 1b 5b 32 4a 9b ff 7e  A.[2J..~");
	/* 23 blanks; the sign is for what is missing behind the end. */
	assert_string_equal(viewing_row(&v, VIEW_HEX, 2),
		"!0x00000008 7f                       .");
	assert_string_equal(viewing_row(&v, VIEW_HEX, 3), "");
	viewing_close(&v);
}

static void
empty_file(void **state)
{
	struct viewing v;

	(void)state;
	viewing_bytes(&v, "", 0, 24, 80);
	viewing_keys(&v, "xjkhlGg<PgDn><PgUp><C-d><C-u><Enter>");
	viewing_shows(&v, "the file is empty");
	assert_int_equal(v.view.cursor, 0);
	viewing_close(&v);
}

static void
offsets_in_every_base(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, NAN_FILE, 24, 80);
	viewing_keys(&v, "x");
	view_jump(&v.view, 720); /* of the tensor [708,756) */
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 5), " 0x000002d0 3c", 14);
	viewing_keys(&v, "o");
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 4), "        712 87", 14);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 5), "        720 3c", 14);
	viewing_keys(&v, "o");
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 3), "         -4 00", 14);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 4), "         +4 87", 14);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 5), "        +12 3c", 14);
	viewing_keys(&v, "o");
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 5), " 0x000002d0 3c", 14);
	viewing_close(&v);
}

/* Sparse files: offsets of nine digits and more keep their columns. */
static void
offsets_of_large_files(void **state)
{
	char path[] = "/tmp/view-hex-XXXXXX";
	int fd = mkstemp(path);
	struct viewing v;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	close(fd);
	viewing_open(&v, path, 24, 80);
	viewing_keys(&v, "xz");
	viewing_screen(&v);
	assert_memory_equal(
		viewing_row(&v, VIEW_HEX, 1), "!0x0000000000 00 00", 19);
	viewing_keys(&v, "G");
	assert_int_equal(v.view.cursor, ((uint64_t)1 << 40) - 1);
	viewing_screen(&v);
	assert_memory_equal(
		viewing_row(&v, VIEW_HEX, v.view.areas[VIEW_HEX].rows - 1),
		" 0xfffffffff0 00", 16);
	viewing_keys(&v, "o");
	viewing_screen(&v);
	/* 13 digits are too many for sixteen bytes a row in 79 columns. */
	assert_memory_equal(
		viewing_row(&v, VIEW_HEX, v.view.areas[VIEW_HEX].rows - 1),
		" 1099511627760 00", 17);
	viewing_keys(&v, "g");
	viewing_screen(&v);
	assert_memory_equal(
		viewing_row(&v, VIEW_HEX, 1), "!            0 00", 17);
	viewing_close(&v);
	unlink(path);
}

/* Columns of byte off when the rows have eight and the first is at top. */
static const struct view_cell *
byte_cell(struct viewing *v, uint64_t off)
{
	for (int row = 1; row < v->view.areas[VIEW_HEX].rows; row++) {
		uint64_t at =
			strtoull(viewing_row(v, VIEW_HEX, row) + 1, NULL, 16);

		if (viewing_row(v, VIEW_HEX, row)[0] && off >= at &&
			off - at < 8)
			return viewing_cell(
				v, VIEW_HEX, row, 12 + 3 * (int)(off - at));
	}
	fail_msg("%llu is not shown", (unsigned long long)off);
	return NULL;
}

static void
bytes_look_like_their_owner(void **state)
{
	static const struct {
		uint64_t off;
		enum view_style style;
	} rows[] = {
		{ 704, VIEW_HEADER },    /* the last field */
		{ 705, VIEW_TOKENIZER }, /* three tokens */
		{ 707, VIEW_TOKENIZER },
		{ 708, VIEW_PARAMETER },
		{ 747, VIEW_PARAMETER },
		{ 748, VIEW_ERROR }, /* a NaN */
		{ 755, VIEW_ERROR },
		{ 756, VIEW_PARAMETER },
		{ 771, VIEW_PARAMETER },
		{ 772, VIEW_MOMENT },
	};
	struct viewing v;

	(void)state;
	viewing_open(&v, NAN_FILE, 34, 80);
	viewing_keys(&v, "x");
	view_jump(&v.view, 730);
	viewing_screen(&v);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct view_cell *c = byte_cell(&v, rows[i].off);

		if (c->style != rows[i].style)
			fail_msg("%llu: style %d",
				(unsigned long long)rows[i].off, c->style);
	}
	/* The element under the cursor, and no byte more. */
	for (uint64_t off = 708; off < 748; off++)
		assert_int_equal(
			(byte_cell(&v, off)->marks & VIEW_UNDERLINE) != 0,
			off >= 724 && off < 732);
	for (uint64_t off = 748; off < 756; off++)
		assert_true(byte_cell(&v, off)->marks & VIEW_UNDERLINE);
	viewing_close(&v);
}

/* The two halves of a string are values of their own. */
static void
strings_have_two_parts(void **state)
{
	struct viewing v;
	uint64_t at;

	(void)state;
	viewing_open(&v, NAN_FILE, 34, 80);
	viewing_keys(&v, "x");
	at = viewing_field(&v, "records[3].name");
	view_jump(&v.view, at + 1);
	viewing_screen(&v);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(
			(byte_cell(&v, at + i)->marks & VIEW_UNDERLINE) != 0,
			i < 4);
	view_jump(&v.view, at + 4);
	viewing_screen(&v);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(
			(byte_cell(&v, at + i)->marks & VIEW_UNDERLINE) != 0,
			i >= 4);
	viewing_shows(&v, "bytes  records[3].name.bytes");
	viewing_close(&v);
}

static void
rows_with_findings_have_a_sign(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, NAN_FILE, 34, 80);
	viewing_keys(&v, "x");
	view_jump(&v.view, 748);
	viewing_screen(&v);
	for (int row = 1; row < v.view.areas[VIEW_HEX].rows; row++) {
		uint64_t at =
			strtoull(viewing_row(&v, VIEW_HEX, row) + 1, NULL, 16);

		assert_int_equal(viewing_row(&v, VIEW_HEX, row)[0] == '!',
			at == 0x2e8 || at == 0x2f0);
	}
	viewing_close(&v);
}

/* What is wrong behind the end is a fault of the last row. */
static void
missing_bytes_have_a_sign(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/bad/fixed-header-only.ckpt", 34, 80);
	viewing_keys(&v, "xG");
	viewing_screen(&v);
	assert_true(v.doc.nfindings > 0);
	assert_int_equal(viewing_row(&v, VIEW_HEX, 5)[0], '!');
	viewing_close(&v);
}

static void
cut_while_open(void **state)
{
	struct viewing v;

	(void)state;
	viewing_pattern(&v, 100, 24, 80);
	viewing_keys(&v, "xz");
	assert_int_equal(truncate(v.path, 34), 0);
	viewing_screen(&v);
	assert_string_equal(viewing_row(&v, VIEW_HEX, 3),
		" 0x00000020 20 21 -- -- -- -- -- --  -- -- -- -- -- -- -- --"
		"   !");
	assert_memory_equal(
		viewing_row(&v, VIEW_HEX, 7), " 0x00000060 -- -- -- --", 23);
	viewing_keys(&v, "G");
	assert_int_equal(v.view.cursor, 99);
	viewing_screen(&v);
	viewing_close(&v);
}

/* Nothing is drawn outside of the area, whatever its size. */
static void
any_size(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, NAN_FILE, 40, 200);
	for (int rows = 0; rows < 6; rows++)
		for (int cols = 0; cols < 150; cols++) {
			struct view_area all = view_grid_area(&v.view.grid);
			struct view_area a =
				view_area_part(&all, 3, 5, rows, cols);

			view_grid_clear(&v.view.grid);
			v.view.base = (enum view_base)(cols % 3);
			view_go(&v.view, (uint64_t)cols * 6);
			view_hex_pane.draw(&v.view, v.view.panes[VIEW_HEX], &a,
				cols % 2 == 0);
			for (int i = 0; i < 40 * 200; i++)
				if (i / 200 < 3 || i / 200 >= 3 + rows ||
					i % 200 < 5 || i % 200 >= 5 + cols)
					assert_string_equal(
						v.view.grid.cells[i].text, " ");
		}
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_by_width),
		cmocka_unit_test(short_last_row_and_bytes_that_are_no_text),
		cmocka_unit_test(empty_file),
		cmocka_unit_test(offsets_in_every_base),
		cmocka_unit_test(offsets_of_large_files),
		cmocka_unit_test(bytes_look_like_their_owner),
		cmocka_unit_test(strings_have_two_parts),
		cmocka_unit_test(rows_with_findings_have_a_sign),
		cmocka_unit_test(missing_bytes_have_a_sign),
		cmocka_unit_test(cut_while_open),
		cmocka_unit_test(any_size),
	};

	return cmocka_run_group_tests_name("view_hex", tests, NULL, NULL);
}
