/* SPDX-License-Identifier: MIT */
/*
 * The pane of bytes: what a row looks like at every width and base, that the
 * cursor is in view and on its byte whatever is pressed, whose colour a byte
 * has, what is marked as faulty, and what becomes of a file that is cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/viewing.h"

#define NAN_FILE "corpus/llmcp35/bad/parameter-nan.ckpt"

/* Bytes of no format: what they are can be told from where they are. */
static void
open_pattern(struct viewing *v, size_t n, int rows, int cols)
{
	uint8_t *bytes = malloc(n + 1);

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(i ^ i >> 8);
	viewing_bytes(v, bytes, n, rows, cols);
	free(bytes);
}

static const struct view_cell *
cell(struct viewing *v, int row, int col)
{
	const struct view_area *a = &v->view.areas[VIEW_HEX];

	assert_true(row < a->rows && col < a->cols);
	return &v->view.grid.cells[(a->row + row) * v->view.grid.cols + a->col +
				   col];
}

/* A row of the pane as text. */
static const char *
line(struct viewing *v, int row)
{
	static char text[4096];
	size_t n = 0;

	for (int col = 0; col < v->view.areas[VIEW_HEX].cols; col++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s",
			cell(v, row, col)->text);
	while (n > 0 && text[n - 1] == ' ')
		text[--n] = '\0';
	return text;
}

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
	open_pattern(&v, 300, 30, 80);
	viewing_keys(&v, "xz");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool seen = false;

		view_resize(&v.view, 30, rows[i].cols);
		viewing_screen(&v);
		for (int row = 1; row < v.view.areas[VIEW_HEX].rows; row++)
			seen = seen || strcmp(line(&v, row), rows[i].line) == 0;
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
	assert_string_equal(
		line(&v, 1), "!0x00000000 41 1b 5b 32 4a 9b ff 7e  A.[2J..~");
	/* 23 blanks; the sign is for what is missing behind the end. */
	assert_string_equal(
		line(&v, 2), "!0x00000008 7f                       .");
	assert_string_equal(line(&v, 3), "");
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
	assert_memory_equal(line(&v, 5), " 0x000002d0 3c", 14);
	viewing_keys(&v, "o");
	viewing_screen(&v);
	assert_memory_equal(line(&v, 4), "        712 87", 14);
	assert_memory_equal(line(&v, 5), "        720 3c", 14);
	viewing_keys(&v, "o");
	viewing_screen(&v);
	assert_memory_equal(line(&v, 3), "         -4 00", 14);
	assert_memory_equal(line(&v, 4), "         +4 87", 14);
	assert_memory_equal(line(&v, 5), "        +12 3c", 14);
	viewing_keys(&v, "o");
	viewing_screen(&v);
	assert_memory_equal(line(&v, 5), " 0x000002d0 3c", 14);
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
	assert_memory_equal(line(&v, 1), "!0x0000000000 00 00", 19);
	viewing_keys(&v, "G");
	assert_int_equal(v.view.cursor, ((uint64_t)1 << 40) - 1);
	viewing_screen(&v);
	assert_memory_equal(line(&v, v.view.areas[VIEW_HEX].rows - 1),
		" 0xfffffffff0 00", 16);
	viewing_keys(&v, "o");
	viewing_screen(&v);
	/* 13 digits are too many for sixteen bytes a row in 79 columns. */
	assert_memory_equal(line(&v, v.view.areas[VIEW_HEX].rows - 1),
		" 1099511627760 00", 17);
	viewing_keys(&v, "g");
	viewing_screen(&v);
	assert_memory_equal(line(&v, 1), "!            0 00", 17);
	viewing_close(&v);
	unlink(path);
}

/* The cells that are reversed: the byte under the cursor, and its character,
 * in the row of its offset. */
static void
assert_cursor_shown(struct viewing *v)
{
	const struct view_area *a = &v->view.areas[VIEW_HEX];
	uint64_t at = v->view.cursor;
	char hex[3], want[3];
	int n = 0, row = 0;

	viewing_screen(v);
	for (int r = 1; r < a->rows; r++)
		for (int c = 0; c < a->cols; c++) {
			if (!(cell(v, r, c)->marks & VIEW_REVERSE))
				continue;
			if (n < 2)
				hex[n] = cell(v, r, c)->text[0];
			assert_true(n == 0 || r == row);
			row = r;
			n++;
		}
	assert_int_equal(n, 3);
	hex[2] = '\0';
	snprintf(want, sizeof want, "%02x", (unsigned)((at ^ at >> 8) & 0xff));
	assert_string_equal(hex, want);
	at = strtoull(line(v, row) + 1, NULL, 16);
	assert_true(v->view.cursor >= at && v->view.cursor - at < 32);
}

static void
cursor_is_always_in_view(void **state)
{
	static const char *const keys[] = { "j", "k", "h", "l", "<PgDn>",
		"<PgUp>", "<C-d>", "<C-u>", "G", "g", "jjj", "kkk", "<Space>" };
	uint64_t seed = 7;
	struct viewing v;

	(void)state;
	open_pattern(&v, 5003, 24, 80);
	viewing_keys(&v, "x");
	for (int i = 0; i < 1500; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		viewing_keys(&v,
			keys[(seed >> 40) % (sizeof keys / sizeof keys[0])]);
		if (seed >> 60 == 0)
			view_resize(&v.view, 10 + (int)(seed >> 20 & 31),
				45 + (int)(seed >> 30 & 127));
		if (seed >> 60 == 1)
			view_jump(&v.view, (seed >> 20) % 6000);
		assert_cursor_shown(&v);
	}
	viewing_close(&v);
}

static void
moving(void **state)
{
	static const struct {
		const char *keys;
		uint64_t cursor;
	} rows[] = {
		{ "k", 0 },
		{ "h", 0 },
		{ "l", 1 },
		{ "j", 17 },
		{ "jjk", 33 },
		{ "<PgDn>", 33 + 16 * 20 },
		{ "<C-d>", 33 + 16 * 30 },
		{ "<C-u><PgUp>", 33 },
		{ "<PgUp>", 1 },
		{ "G", 4999 },
		{ "l", 4999 },
		{ "j", 4999 },
		{ "k", 4983 },
		{ "hhhhj", 4995 },
		{ "kllllll", 4985 },
		/* Nothing is below it, but there is a last row. */
		{ "llllllj", 4999 },
		{ "g", 0 },
	};
	struct viewing v;

	(void)state;
	/* 20 rows of 16; the last one has 8 bytes. */
	open_pattern(&v, 5000, 24, 80);
	viewing_keys(&v, "xz");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		viewing_keys(&v, rows[i].keys);
		if (v.view.cursor != rows[i].cursor)
			fail_msg("%s: at %llu, not %llu", rows[i].keys,
				(unsigned long long)v.view.cursor,
				(unsigned long long)rows[i].cursor);
	}
	viewing_close(&v);
}

/* A step out of the pane scrolls by a row, a jump puts the byte into the
 * upper third, and near the end no row is wasted. */
static void
scrolling(void **state)
{
	struct viewing v;

	(void)state;
	open_pattern(&v, 16 * 1000, 24, 80);
	viewing_keys(&v, "xz<PgDn>");
	viewing_screen(&v);
	assert_memory_equal(line(&v, 1), " 0x00000140", 11);
	viewing_keys(&v, "k");
	viewing_screen(&v);
	assert_memory_equal(line(&v, 1), " 0x00000130", 11);
	view_jump(&v.view, 0x2000);
	viewing_screen(&v);
	assert_memory_equal(line(&v, 7), " 0x00002000", 11);
	/* In view already: nothing moves. */
	view_jump(&v.view, 0x2085);
	viewing_screen(&v);
	assert_memory_equal(line(&v, 7), " 0x00002000", 11);
	viewing_keys(&v, "G");
	viewing_screen(&v);
	assert_memory_equal(line(&v, 20), " 0x00003e70", 11);
	viewing_close(&v);
}

/* Columns of byte off when the rows have eight and the first is at top. */
static const struct view_cell *
byte_cell(struct viewing *v, uint64_t off)
{
	for (int row = 1; row < v->view.areas[VIEW_HEX].rows; row++) {
		uint64_t at = strtoull(line(v, row) + 1, NULL, 16);

		if (line(v, row)[0] && off >= at && off - at < 8)
			return cell(v, row, 12 + 3 * (int)(off - at));
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
	uint64_t at = 0;

	(void)state;
	viewing_open(&v, NAN_FILE, 34, 80);
	viewing_keys(&v, "x");
	for (uint64_t i = 0; i < v.doc.spans->nfields; i++)
		if (strcmp(v.doc.spans->fields[i].path, "records[3].name") == 0)
			at = v.doc.spans->fields[i].off;
	assert_true(at > 0);
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
		uint64_t at = strtoull(line(&v, row) + 1, NULL, 16);

		assert_int_equal(
			line(&v, row)[0] == '!', at == 0x2e8 || at == 0x2f0);
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
	assert_int_equal(line(&v, 5)[0], '!');
	viewing_close(&v);
}

static uint64_t
field_at(const struct viewing *v, const char *path)
{
	for (uint64_t i = 0; i < v->doc.spans->nfields; i++)
		if (strcmp(v->doc.spans->fields[i].path, path) == 0)
			return v->doc.spans->fields[i].off;
	fail_msg("no %s", path);
	return 0;
}

static void
enter_follows_offsets(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, NAN_FILE, 24, 80);
	viewing_keys(&v, "x");
	view_jump(&v.view, field_at(&v, "records[3].offset") + 2);
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, 708);
	view_jump(&v.view, field_at(&v, "records[4].rank"));
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, 756);
	/* Nowhere to go from here. */
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, 756);
	viewing_shows(&v, "points nowhere");
	view_jump(&v.view, 3);
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, 3);
	viewing_close(&v);
}

static void
enter_does_not_leave_the_file(void **state)
{
	uint8_t bytes[1024];
	struct viewing v;
	uint64_t at;
	size_t n;
	FILE *f = fopen(NAN_FILE, "rb");

	(void)state;
	assert_non_null(f);
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	assert_int_equal(n, 900);
	viewing_open(&v, NAN_FILE, 24, 80);
	at = field_at(&v, "records[3].offset");
	viewing_close(&v);
	ckpt_store_u64(bytes + at, UINT64_MAX - 4);
	viewing_bytes(&v, bytes, n, 24, 80);
	viewing_keys(&v, "x");
	view_jump(&v.view, at);
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, at);
	viewing_shows(&v, "points to 18446744073709551611, behind the end");
	viewing_close(&v);
}

static void
clicks(void **state)
{
	const struct view_area *a;
	struct viewing v;

	(void)state;
	open_pattern(&v, 1000, 24, 80);
	viewing_keys(&v, "xz");
	viewing_screen(&v);
	a = &v.view.areas[VIEW_HEX];
	for (int i = 0; i < 16; i++) {
		/* Both digits, and the character. */
		for (int k = 0; k < 2; k++) {
			int col = 12 + 3 * i + (i >= 8) + k;

			view_click(&v.view, a->row + 3, a->col + col, false);
			assert_int_equal(v.view.cursor, 32 + i);
		}
		view_click(&v.view, a->row + 1, a->col + 62 + i, false);
		assert_int_equal(v.view.cursor, i);
		assert_int_equal(cell(&v, 3, 62 + i)->text[0], ' ' + i);
	}
	view_click(&v.view, a->row + 2, a->col + 1, false);
	assert_int_equal(v.view.cursor, 16);
	view_click(&v.view, a->row + 2, a->cols - 1, false);
	assert_int_equal(v.view.cursor, 31);
	view_click(&v.view, a->row, a->col + 20, false);
	assert_int_equal(v.view.cursor, 31);
	viewing_close(&v);
}

static void
cut_while_open(void **state)
{
	struct viewing v;

	(void)state;
	open_pattern(&v, 100, 24, 80);
	viewing_keys(&v, "xz");
	assert_int_equal(truncate(v.path, 34), 0);
	viewing_screen(&v);
	assert_string_equal(line(&v, 3),
		" 0x00000020 20 21 -- -- -- -- -- --  -- -- -- -- -- -- -- --"
		"   !");
	assert_memory_equal(line(&v, 7), " 0x00000060 -- -- -- --", 23);
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
		cmocka_unit_test(cursor_is_always_in_view),
		cmocka_unit_test(moving),
		cmocka_unit_test(scrolling),
		cmocka_unit_test(bytes_look_like_their_owner),
		cmocka_unit_test(strings_have_two_parts),
		cmocka_unit_test(rows_with_findings_have_a_sign),
		cmocka_unit_test(missing_bytes_have_a_sign),
		cmocka_unit_test(enter_follows_offsets),
		cmocka_unit_test(enter_does_not_leave_the_file),
		cmocka_unit_test(clicks),
		cmocka_unit_test(cut_while_open),
		cmocka_unit_test(any_size),
	};

	return cmocka_run_group_tests_name("view_hex", tests, NULL, NULL);
}
