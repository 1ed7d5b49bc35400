/* SPDX-License-Identifier: MIT */
/*
 * Moving in the pane of bytes: that the cursor is in view and on its byte
 * whatever is pressed, where each key leads, following offsets, and clicks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "support/viewing.h"

#define NAN_FILE "corpus/llmcp35/bad/parameter-nan.ckpt"

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
			if (!(viewing_cell(v, VIEW_HEX, r, c)->marks &
				    VIEW_REVERSE))
				continue;
			if (n < 2)
				hex[n] = viewing_cell(v, VIEW_HEX, r, c)
						 ->text[0];
			assert_true(n == 0 || r == row);
			row = r;
			n++;
		}
	assert_int_equal(n, 3);
	hex[2] = '\0';
	snprintf(want, sizeof want, "%02x", viewing_pattern_at(at));
	assert_string_equal(hex, want);
	at = strtoull(viewing_row(v, VIEW_HEX, row) + 1, NULL, 16);
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
	viewing_pattern(&v, 5003, 24, 80);
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
	viewing_pattern(&v, 5000, 24, 80);
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
	viewing_pattern(&v, 16 * 1000, 24, 80);
	viewing_keys(&v, "xz<PgDn>");
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 1), " 0x00000140", 11);
	viewing_keys(&v, "k");
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 1), " 0x00000130", 11);
	view_jump(&v.view, 0x2000);
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 7), " 0x00002000", 11);
	/* In view already: nothing moves. */
	view_jump(&v.view, 0x2085);
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 7), " 0x00002000", 11);
	viewing_keys(&v, "G");
	viewing_screen(&v);
	assert_memory_equal(viewing_row(&v, VIEW_HEX, 20), " 0x00003e70", 11);
	viewing_close(&v);
}

static void
enter_follows_offsets(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, NAN_FILE, 24, 80);
	viewing_keys(&v, "x");
	view_jump(&v.view, viewing_field(&v, "records[3].offset") + 2);
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, 708);
	view_jump(&v.view, viewing_field(&v, "records[4].rank"));
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
	at = viewing_field(&v, "records[3].offset");
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
	viewing_pattern(&v, 1000, 24, 80);
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
		assert_int_equal(viewing_cell(&v, VIEW_HEX, 3, 62 + i)->text[0],
			' ' + i);
	}
	view_click(&v.view, a->row + 2, a->col + 1, false);
	assert_int_equal(v.view.cursor, 16);
	view_click(&v.view, a->row + 2, a->cols - 1, false);
	assert_int_equal(v.view.cursor, 31);
	view_click(&v.view, a->row, a->col + 20, false);
	assert_int_equal(v.view.cursor, 31);
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cursor_is_always_in_view),
		cmocka_unit_test(moving),
		cmocka_unit_test(scrolling),
		cmocka_unit_test(enter_follows_offsets),
		cmocka_unit_test(enter_does_not_leave_the_file),
		cmocka_unit_test(clicks),
	};

	return cmocka_run_group_tests_name("view_hex_moves", tests, NULL, NULL);
}
