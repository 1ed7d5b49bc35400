/* SPDX-License-Identifier: MIT */
/*
 * The page that compares: its lines for records and header fields, how the
 * selected one and the cursor follow each other, going from difference to
 * difference, names that would harm a terminal, and every size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/comparing.h"
#include "view/compare.h"

#include <stdio.h>
#include <string.h>

static void
test_compare_page_goes_there(void **state)
{
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t off;
	char line[80];

	(void)state;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &comparing_usual);
	off = comparing_payload(&a, "First", "token_embedding.weight") + 10 * 8;
	ckpt_store_u64((uint8_t *)a.p + off, 0x3ff0000000000000);
	ckpt_store_u64((uint8_t *)b.p + off, 0x3ff0000000000003);
	comparing_open(&v, a.p, a.n, b.p, b.n, 30, 100);
	viewing_keys(&v, "c");
	/* It begins there. The cursor has come along, and its bytes are
	 * shown. */
	viewing_shows(&v, "\n> different     1 of 40");
	viewing_shows(&v, "verdict        the files differ");
	assert_int_equal(v.view.cursor, off);
	viewing_shows(&v, "token_embedding.weight: first differs in element "
			  "[1,2]");
	viewing_shows(&v, "A 3ff0000000000000 1\n");
	viewing_shows(&v, "B 3ff0000000000003 1.0000000000000007, 3 ULPs "
			  "apart\n");
	snprintf(line, sizeof line, "  A 0x%08llx  ", (unsigned long long)off);
	viewing_shows(&v, line);
	viewing_shows(&v, " 00 00 00 00 00 00 f0 3f ");
	viewing_shows(&v, " 03 00 00 00 00 00 f0 3f ");
	viewing_shows(&v, " ^^\n");
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.focus, VIEW_HEX);
	assert_int_equal(v.view.cursor, off);
	/* q goes back to the page, where the row is still selected. */
	viewing_keys(&v, "q");
	assert_int_equal(v.view.focus, VIEW_COMPARE);
	viewing_shows(&v, "> different     1 of 40");
	viewing_keys(&v, "q");
	assert_int_equal(v.view.focus, VIEW_TREE);
	viewing_close(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_goes_to_the_next_difference(void **state)
{
	static const char *const keys[][2] = { { "]", "[" }, { "n", "N" } };
	struct ckpt_synth other = comparing_usual;
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t gain, moment;

	(void)state;
	other.adamw.learning_rate = 0.5;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &other);
	gain = comparing_payload(&a, "Parameter", "final_norm.gain") + 8;
	moment = comparing_payload(&a, "Second", "token_embedding.weight");
	b.p[gain] ^= 1;
	b.p[moment] ^= 1;
	for (size_t i = 0; i < 2; i++) {
		comparing_open(&v, a.p, a.n, b.p, b.n, 40, 100);
		/* The place before is not lost. */
		viewing_keys(&v, ":700<Enter>c");
		assert_int_equal(v.view.cursor, gain);
		assert_int_equal(v.view.before, 700);
		assert_true(comparing_selected(&v, "final_norm.gain"));
		viewing_keys(&v, keys[i][0]);
		assert_int_equal(v.view.cursor, moment);
		assert_true(comparing_selected(&v, "token_embedding.weight"));
		viewing_shows(&v, "difference 2 of 4");
		viewing_keys(&v, keys[i][0]);
		assert_true(comparing_selected(&v, "header field"));
		viewing_keys(&v, keys[i][0]);
		assert_true(comparing_selected(&v, "header field"));
		viewing_shows(&v, "difference 4 of 4");
		viewing_keys(&v, keys[i][0]);
		assert_int_equal(v.view.cursor, gain);
		viewing_shows(&v, "from the first again: difference 1 of 4");
		viewing_keys(&v, keys[i][1]);
		viewing_shows(&v, "from the last again: difference 4 of 4");
		viewing_keys(&v, keys[i][1]);
		viewing_shows(&v, "difference 3 of 4");
		viewing_lacks(&v, "again");
		/* From what is the same, and from the lines above. */
		viewing_keys(&v, "G");
		viewing_keys(&v, keys[i][1]);
		viewing_shows(&v, "difference 4 of 4");
		viewing_keys(&v, "g");
		viewing_keys(&v, keys[i][0]);
		viewing_shows(&v, "difference 1 of 4");
		viewing_lacks(&v, "again");
		viewing_keys(&v, "c");
		viewing_shows(&v, "] goes to the next difference");
		viewing_close(&v);
	}
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_only_difference(void **state)
{
	struct ckpt_buf a, b;
	struct viewing v;

	(void)state;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &comparing_usual);
	b.p[comparing_payload(&a, "Parameter", "final_norm.gain") + 8] ^= 1;
	comparing_open(&v, a.p, a.n, b.p, b.n, 10, 40);
	viewing_keys(&v, "c");
	viewing_shows(&v, "[compare A a with B b]");
	viewing_keys(&v, "]");
	viewing_shows(&v, "this is the only difference");
	viewing_keys(&v, "G]");
	viewing_shows(&v, "from the first again: difference 1 of 1");
	viewing_close(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_no_difference(void **state)
{
	struct ckpt_buf a;
	struct viewing v;

	(void)state;
	comparing_make(&a, &comparing_usual);
	comparing_open(&v, a.p, a.n, a.p, a.n, 40, 100);
	viewing_keys(&v, ":700<Enter>c]");
	viewing_shows(&v, "no difference was found");
	viewing_keys(&v, "N");
	viewing_shows(&v, "no difference was found");
	viewing_keys(&v, "c");
	viewing_shows(&v, "all is compared; nothing differs");
	assert_int_equal(v.view.cursor, 700);
	viewing_close(&v);
	ckpt_buf_release(&a);
}

static void
test_compare_selection_follows_the_cursor(void **state)
{
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t gain, key;

	(void)state;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &comparing_usual);
	gain = comparing_payload(&a, "Parameter", "final_norm.gain");
	key = comparing_payload(
		&a, "Parameter", "blocks.0.attention.key.weight");
	b.p[gain] ^= 1;
	b.p[key] ^= 1;
	comparing_open(&v, a.p, a.n, b.p, b.n, 40, 100);
	/* The page begins with the row of the cursor if it differs. */
	view_go(&v.view, gain + 16);
	viewing_keys(&v, "c");
	assert_int_equal(v.view.cursor, gain + 16);
	assert_true(comparing_selected(&v, "final_norm.gain"));
	/* Whatever moves the cursor selects: a key, a search, a place. */
	viewing_keys(&v, "}");
	assert_false(comparing_selected(&v, "final_norm.gain"));
	viewing_keys(&v, "/ffn.up<Enter>");
	assert_true(comparing_selected(&v, "blocks.0.ffn.up.weight"));
	viewing_keys(&v, "{");
	assert_true(comparing_selected(&v, "blocks.0.ffn.gate.weight"));
	viewing_keys(&v, ":final_norm.gain<Enter>");
	assert_true(comparing_selected(&v, "final_norm.gain  ModelParameter"));
	/* Bytes of its record in the header are its, others nobody's. */
	viewing_keys(&v, "u");
	assert_true(v.view.cursor < v.doc.header_end);
	assert_true(comparing_selected(&v, "final_norm.gain  ModelParameter"));
	viewing_keys(&v, ":0<Enter>");
	assert_true(comparing_selected(&v, "final_norm.gain  ModelParameter"));
	/* Also from another pane, where it goes on unseen. */
	viewing_keys(&v, "x:blocks.0.attention.key.weight<Enter>q");
	assert_int_equal(v.view.focus, VIEW_COMPARE);
	assert_true(
		comparing_selected(&v, "attention.key.weight  ModelParameter"));
	/* And its own rows stay selected, those without a place included. */
	viewing_keys(&v, "g");
	assert_true(comparing_selected(&v, "> A "));
	view_poll(&v.view);
	view_go(&v.view, v.view.cursor);
	assert_true(comparing_selected(&v, "> A "));
	viewing_close(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

/* NaN has no distance; zeros of both signs have none but differ. */
static void
test_compare_distances(void **state)
{
	static const struct {
		uint64_t a, b;
		const char *said;
	} rows[] = {
		{ 0x0000000000000000, 0x8000000000000000, ", 0 ULPs apart" },
		{ 0x0000000000000001, 0x8000000000000001, ", 2 ULPs apart" },
		{ 0x3ff0000000000000, 0x3ff0000000000001, ", 1 ULP apart" },
		{ 0x3ff0000000000000, 0x7ff8000000000000,
			", one is not a number" },
	};
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t off;

	(void)state;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &comparing_usual);
	off = comparing_payload(&a, "Parameter", "final_norm.gain");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ckpt_store_u64((uint8_t *)a.p + off, rows[i].a);
		ckpt_store_u64((uint8_t *)b.p + off, rows[i].b);
		comparing_open(&v, a.p, a.n, b.p, b.n, 30, 100);
		viewing_keys(&v, "c");
		comparing_select(&v, "1 of 8");
		viewing_shows(&v, rows[i].said);
		viewing_close(&v);
	}
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_header_fields(void **state)
{
	struct ckpt_synth other = comparing_usual;
	struct ckpt_buf a, b;
	struct viewing v;

	(void)state;
	other.step = 9;
	other.adamw.learning_rate = 0.5;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &other);
	comparing_open(&v, a.p, a.n, b.p, b.n, 60, 120);
	viewing_keys(&v, "c");
	viewing_shows(&v, "selected_step: 7 and 9");
	viewing_shows(&v, "learning_rate: 0.02 (bits 3f947ae147ae147b) and "
			  "0.5 (bits 3fe0000000000000)");
	viewing_shows(&v, "checksum: fnv1a64:");
	/* Fields of records are not told one by one. */
	viewing_lacks(&v, "records[");
	comparing_select(&v, "selected_step: 7 and 9");
	viewing_shows(&v, "\n  A 7\n  B 9\n");
	assert_int_equal(((uint8_t *)a.p)[v.view.cursor], 7);
	viewing_close(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_hostile_names(void **state)
{
	static const char a[] = "a", b[] = "b";
	struct viewing v;

	(void)state;
	comparing_open(&v, a, 1, b, 1, 24, 80);
	strcpy(v.view.compare->other.path, "\x1b[2J\xff\n\xe2\x80\xae");
	viewing_keys(&v, "c");
	viewing_shows(&v, "\\x1b[2J\\xff\\n\\u{202e}");
	assert_null(strchr(viewing_screen(&v), 0x1b));
	viewing_close(&v);
}

static void
test_compare_any_size(void **state)
{
	const struct view_pane_ops *ops = &view_compare_pane;
	struct ckpt_synth other = comparing_usual;
	struct ckpt_buf a, b;
	struct viewing v;

	(void)state;
	other.config.layers = 2;
	other.seed = 12;
	comparing_make(&a, &comparing_usual);
	comparing_make(&b, &other);
	comparing_open(&v, a.p, a.n, b.p, b.n, 24, 80);
	for (int rows = 1; rows <= 20; rows++)
		for (int cols = 1; cols <= 150; cols += 7) {
			struct view_area all, area;
			void *page = v.view.panes[VIEW_COMPARE];

			view_resize(&v.view, rows, cols);
			all = view_grid_area(&v.view.grid);
			area = view_area_part(&all, 0, 0, rows, cols);
			ops->draw(&v.view, page, &area, true);
			ops->act(&v.view, page,
				cols % 2 ? VIEW_DO_PAGE_DOWN : VIEW_DO_UP);
		}
	viewing_close(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_page_goes_there),
		cmocka_unit_test(test_compare_goes_to_the_next_difference),
		cmocka_unit_test(test_compare_only_difference),
		cmocka_unit_test(test_compare_no_difference),
		cmocka_unit_test(test_compare_selection_follows_the_cursor),
		cmocka_unit_test(test_compare_distances),
		cmocka_unit_test(test_compare_header_fields),
		cmocka_unit_test(test_compare_hostile_names),
		cmocka_unit_test(test_compare_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
