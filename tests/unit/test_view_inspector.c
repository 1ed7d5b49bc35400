/* SPDX-License-Identifier: MIT */
/*
 * The inspector: what it says of fields, elements, faults and bytes of nobody,
 * against known answers; that every word can be read at any width and by
 * scrolling.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "support/sample.h"
#include "support/viewing.h"
#include "view/wrap.h"

#define NAN_FILE     "corpus/llmcp35/bad/parameter-nan.ckpt"
#define OVERLAP_FILE "corpus/llmcp35/bad/offset-overlap.ckpt"

/* The inspector alone, tall enough for everything. */
static void
open_tall(struct viewing *v, const char *path, uint64_t off)
{
	viewing_open(v, path, 60, 100);
	viewing_keys(v, "iz");
	view_jump(&v->view, off);
}

static void
field_with_tags(void **state)
{
	struct viewing v;

	(void)state;
	open_tall(&v, NAN_FILE, 0x3a);
	viewing_shows(&v, "owner    header.tokenizer_kind\n"
			  "field    tokenizer kind, u8 [58,59)\n"
			  "meaning  how the tokenizer is stored\n"
			  "value    1 literal-u32: one record a token\n"
			  "bytes    01 at 58 (0x3a)\n"
			  "legal    1 literal-u32, 2 byte-bpe\n"
			  "numbers  8 bytes at 58 (0x3a), little-endian, as\n"
			  "u8 i8    1  1\n");
	viewing_lacks(&v, "f64 is");
	viewing_lacks(&v, "finding");
	viewing_close(&v);
}

/* Words that are longer than a row are broken where paths have joints. */
static void
path_is_broken_at_joints(void **state)
{
	static const struct {
		const char *text;
		int cols;
		size_t n;
	} rows[] = {
		{ "one two", 7, 7 },
		{ "one two", 6, 3 },
		{ "one two", 3, 3 },
		{ "records[12].data[2,1]", 20, 16 },
		{ "records[12].data[2,1]", 16, 16 },
		{ "records[12].data[2,1]", 15, 11 },
		{ "records[12].data[2,1]", 10, 7 },
		{ "records[12].data[2,1]", 5, 5 },
		{ "at norm.weight.data", 12, 2 },
		{ "\xc3\xa9\xc3\xa9", 1, 4 },
		{ "a", -1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(view_row_bytes(rows[i].text,
					 strlen(rows[i].text), rows[i].cols),
			rows[i].n);
}

/* A finding tells of one value; searching visits each. */
static void
value_with_a_hint(void **state)
{
	struct viewing v;

	(void)state;
	open_tall(&v, "corpus/llmcp35/bad/two-nan-and-name.ckpt", 0x2c4);
	viewing_shows(&v, "found    NaN (bits 7ff8000000000000)\n"
			  "each     /f nan, then n\n");
	viewing_close(&v);
}

static void
field_with_a_double(void **state)
{
	struct viewing v;

	(void)state;
	open_tall(&v, NAN_FILE, 0);
	view_jump(&v.view, viewing_field(&v, "header.adamw.beta1") + 5);
	viewing_shows(&v,
		"value    0.9 (bits 3feccccccccccccd)\n"
		"bytes    cd cc cc cc cc cc ec 3f at 139 (0x8b)\n"
		"legal    finite, >= 0, < 1\n"
		"f64 is   sign +, exponent -1, mantissa 0xccccccccccccd, "
		"normal\n"
		"below    0.8999999999999999 (bits 3feccccccccccccc)\n"
		"above    0.9000000000000001 (bits 3fecccccccccccce)\n");
	viewing_close(&v);
}

static void
field_that_points(void **state)
{
	struct viewing v;
	uint64_t at;

	(void)state;
	open_tall(&v, NAN_FILE, 0);
	at = viewing_field(&v, "records[3].offset");
	view_jump(&v.view, at);
	viewing_shows(&v, "value    708\n");
	viewing_shows(&v, "is       an offset in the file: Enter goes there\n");
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, 708);
	view_jump(&v.view, at + 8);
	viewing_shows(&v, "is       a length in bytes\n");
	viewing_close(&v);
}

static void
field_with_text(void **state)
{
	struct viewing v;
	uint64_t at;

	(void)state;
	open_tall(&v, NAN_FILE, 0);
	at = viewing_field(&v, "records[3].name");
	view_jump(&v.view, at);
	viewing_shows(&v, "owner    records[3].name.length\n");
	viewing_shows(&v, "value    22 bytes of text follow\n");
	viewing_shows(&v, "bytes    16 00 00 00 at ");
	view_jump(&v.view, at + 9);
	viewing_shows(&v, "owner    records[3].name.bytes\n");
	viewing_shows(&v, "value    \"token_embedding.weight\"\n");
	viewing_shows(&v, "legal    UTF-8, not empty\n");
	viewing_close(&v);
}

static void
element(void **state)
{
	struct viewing v;

	(void)state;
	open_tall(&v, NAN_FILE, 719);
	viewing_shows(&v,
		"owner    records[3].data[0,1]\n"
		"tensor   token_embedding.weight, ModelParameter, f64 [3,2], "
		"[708,756)\n"
		"element  1 of 6, byte 3 of 8\n");
	viewing_shows(&v, "at 716 (0x2cc)\n"
			  "also     param:token_embedding.weight.data[0,1]\n");
	/* The numbers are of the element, not from the byte on. */
	viewing_shows(&v, "numbers  8 bytes at 716 (0x2cc), little-endian");
	/* An element of a byte: a token's. */
	view_jump(&v.view, 705);
	viewing_shows(&v, "tensor   literal-token-0, LiteralToken, u8 [1], "
			  "[705,706)\n"
			  "element  0 of 1, byte 0 of 1\n"
			  "value    97 'a'\n"
			  "bytes    61 at 705 (0x2c1)\n");
	viewing_lacks(&v, "f64 is");
	viewing_close(&v);
}

static void
element_at_fault(void **state)
{
	struct viewing v;

	(void)state;
	open_tall(&v, NAN_FILE, 755);
	viewing_shows(&v, "value    NaN (bits 7ff8000000000000)\n");
	viewing_shows(&v, "finding  CK4001 parameter-not-finite, error: ");
	viewing_shows(&v, "expected a finite number\n"
			  "found    NaN (bits 7ff8000000000000)\n");
	viewing_shows(&v, "f64 is   sign +, exponent 1024, mantissa "
			  "0x8000000000000, quiet NaN, payload 0x0\n");
	viewing_lacks(&v, "below");
	view_jump(&v.view, 756);
	viewing_lacks(&v, "finding  ");
	viewing_close(&v);
}

static void
bytes_that_two_claim(void **state)
{
	struct viewing v;

	(void)state;
	open_tall(&v, OVERLAP_FILE, 755);
	viewing_shows(&v, "owner    records[3].data[2,1]\n");
	viewing_shows(
		&v, "claimed  also by records[4].data[0], final_norm.gain\n");
	view_jump(&v.view, 754);
	viewing_lacks(&v, "claimed");
	view_jump(&v.view, 756);
	viewing_lacks(&v, "claimed");
	viewing_close(&v);
}

static void
ends_of_files(void **state)
{
	struct viewing v;

	(void)state;
	viewing_bytes(&v, "12345678Z", 9, 60, 100);
	viewing_keys(&v, "izl");
	viewing_shows(&v, "owner    (unowned)\n"
			  "among    bytes without owner, [0,9)\n"
			  "bytes    32 at 1 (0x1)\n");
	viewing_shows(&v, "u64 i64  6501006768069686066  "
			  "6501006768069686066\n");
	viewing_keys(&v, "lllllll");
	assert_int_equal(v.view.cursor, 8);
	viewing_shows(&v, "numbers  1 byte at 8 (0x8), little-endian, as\n"
			  "u8 i8    90  90\n");
	viewing_lacks(&v, "u16");
	viewing_keys(&v, "lllhhhhhhhhhhh");
	assert_int_equal(v.view.cursor, 0);
	viewing_close(&v);

	viewing_bytes(&v, "", 0, 24, 80);
	viewing_keys(&v, "ijkhl<PgDn>G<Enter>");
	viewing_shows(&v, "owner    the file is empty");
	viewing_close(&v);

	/* What is missing is a fault of the last byte. */
	open_tall(&v, "corpus/llmcp35/bad/fixed-header-only.ckpt", 37);
	viewing_shows(&v, "finding  CK");
	viewing_close(&v);
}

/* In the small pane of a usual screen. */
static void
scrolling(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, NAN_FILE, 24, 80);
	viewing_keys(&v, "i");
	view_jump(&v.view, 708);
	viewing_shows(&v, "inspector, lines 1-7 of ");
	viewing_shows(&v, "owner    records[3].data[0,0]");
	viewing_keys(&v, "k");
	viewing_shows(&v, "inspector, lines 1-7 of ");
	viewing_keys(&v, "jj");
	viewing_shows(&v, "inspector, lines 3-9 of ");
	viewing_lacks(&v, "owner    records[3].data[0,0]");
	/* It stays there while findings come, and begins anew elsewhere. */
	view_go(&v.view, 708);
	viewing_shows(&v, "inspector, lines 3-9 of ");
	view_go(&v.view, 709);
	viewing_shows(&v, "inspector, lines 1-7 of ");
	viewing_keys(&v, "G");
	viewing_shows(&v, "f64      0.14582910473973623");
	viewing_keys(&v, "g");
	viewing_shows(&v, "inspector, lines 1-7 of ");
	viewing_close(&v);
}

/* What the inspector shows below its title, blanks left out. */
static void
words(struct viewing *v, char *to, size_t n)
{
	const struct view_area *a = &v->view.areas[VIEW_INSPECTOR];
	size_t k = 0;

	viewing_screen(v);
	for (int row = 1; row < a->rows; row++)
		for (int col = 0; col < a->cols; col++) {
			const char *text =
				v->view.grid
					.cells[(a->row + row) *
							v->view.grid.cols +
						a->col + col]
					.text;

			for (; *text && k < n - 1; text++)
				if (*text != ' ')
					to[k++] = *text;
		}
	to[k] = '\0';
}

static void
no_word_is_lost_at_any_width(void **state)
{
	static const uint64_t offs[] = { 30, 139, 210, 708, 755, 899 };
	static char wide[8192], narrow[8192];
	struct viewing v;

	(void)state;
	open_tall(&v, NAN_FILE, 0);
	for (size_t i = 0; i < sizeof offs / sizeof offs[0]; i++) {
		view_jump(&v.view, offs[i]);
		view_resize(&v.view, 100, 200);
		words(&v, wide, sizeof wide);
		assert_true(strlen(wide) > 100);
		for (int cols = 40; cols < 120; cols++) {
			view_resize(&v.view, 100, cols);
			words(&v, narrow, sizeof narrow);
			assert_string_equal(narrow, wide);
		}
	}
	viewing_close(&v);
}

static void
any_byte_of_a_hostile_file(void **state)
{
	const struct sample *sample = sample_find("hostile");
	struct viewing v;
	uint8_t *bytes;
	size_t n;

	(void)state;
	assert_non_null(sample);
	bytes = sample_make(sample, &n);
	assert_non_null(bytes);
	viewing_bytes(&v, bytes, n, 50, 60);
	viewing_keys(&v, "iz");
	for (uint64_t off = 0; off < n; off++) {
		struct ckpt_buf owner = { 0 };
		struct view_owner o;
		const char *screen;

		view_go(&v.view, off);
		assert_true(view_doc_owner(&v.doc, off, &o));
		ckpt_buf_puts(&owner, "owner    ");
		ckpt_owner_write(&owner, o.spans, &o.owner, off);
		/* The first of it; long ones go on in the next row. */
		owner.p[owner.n < 40 ? owner.n : 40] = '\0';
		viewing_shows(&v, owner.p);
		ckpt_buf_release(&owner);
		screen = viewing_screen(&v);
		assert_true(ckpt_utf8_valid(
			(const uint8_t *)screen, strlen(screen), NULL));
		for (; *screen; screen++)
			assert_true(*screen == '\n' ||
				    (unsigned char)*screen >= ' ');
	}
	viewing_close(&v);
	free(bytes);
}

static void
any_size(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, NAN_FILE, 40, 120);
	for (int rows = 0; rows < 8; rows++)
		for (int cols = 0; cols < 100; cols++) {
			struct view_area all = view_grid_area(&v.view.grid);
			struct view_area a =
				view_area_part(&all, 3, 5, rows, cols);

			view_grid_clear(&v.view.grid);
			view_go(&v.view, (uint64_t)cols * 9);
			view_inspector_pane.draw(&v.view,
				v.view.panes[VIEW_INSPECTOR], &a, cols % 2);
			for (int i = 0; i < 40 * 120; i++)
				if (i / 120 < 3 || i / 120 >= 3 + rows ||
					i % 120 < 5 || i % 120 >= 5 + cols)
					assert_string_equal(
						v.view.grid.cells[i].text, " ");
		}
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(field_with_tags),
		cmocka_unit_test(path_is_broken_at_joints),
		cmocka_unit_test(value_with_a_hint),
		cmocka_unit_test(field_with_a_double),
		cmocka_unit_test(field_that_points),
		cmocka_unit_test(field_with_text),
		cmocka_unit_test(element),
		cmocka_unit_test(element_at_fault),
		cmocka_unit_test(bytes_that_two_claim),
		cmocka_unit_test(ends_of_files),
		cmocka_unit_test(scrolling),
		cmocka_unit_test(no_word_is_lost_at_any_width),
		cmocka_unit_test(any_byte_of_a_hostile_file),
		cmocka_unit_test(any_size),
	};

	return cmocka_run_group_tests_name("view_inspector", tests, NULL, NULL);
}
