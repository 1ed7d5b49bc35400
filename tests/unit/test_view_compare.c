/* SPDX-License-Identifier: MIT */
/*
 * Two files side by side: which records and fields differ, where first and by
 * how much, what is in one of them only; the bytes at their places; and files
 * that are broken, of other shapes, or no checkpoints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "model/synth.h"
#include "sink/save.h"
#include "support/viewing.h"
#include "view/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Eleven parameters and their moments, five tokens. */
static const struct ckpt_synth usual = {
	.config = { 5, 8, 2, 12, 1, 4, 500.0, 1e-5 },
	.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
	.step = 7,
	.gain_groups = true,
	.seed = 11,
	.sampling_rng_state = 1,
};

static void
make(struct ckpt_buf *bytes, const struct ckpt_synth *synth)
{
	struct ckpt_arena arena;
	struct ckpt_state state;

	ckpt_arena_init(&arena, UINT64_MAX);
	ckpt_buf_init(bytes);
	assert_int_equal(ckpt_synth_state(&arena, synth, &state), CKPT_OK);
	assert_int_equal(
		ckpt_encode(bytes, ckpt_format_at(0), &state, NULL), CKPT_OK);
	ckpt_arena_release(&arena);
}

static char second[] = "/tmp/viewing-b-XXXXXX";

/* Opens b beside a. The names of both are "a" and "b". */
static void
open_two(struct viewing *v, const void *a, size_t na, const void *b, size_t nb,
	int rows, int cols)
{
	int fd;

	strcpy(second + strlen(second) - 6, "XXXXXX");
	fd = mkstemp(second);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, b, nb), nb);
	close(fd);
	viewing_bytes(v, a, na, rows, cols);
	assert_int_equal(view_compare_open(&v->view, second), 0);
	strcpy(v->doc.path, "a");
	strcpy(v->view.compare->other.path, "b");
	view_settle(&v->view);
}

static void
close_two(struct viewing *v)
{
	viewing_close(v);
	unlink(second);
}

static uint64_t
find(struct viewing *v, const char *role, const char *name)
{
	const struct ckpt_spans *spans = v->doc.spans;

	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *s = &spans->tensors[i];

		if (strstr(s->role, role) && s->name_len == strlen(name) &&
			memcmp(s->name, name, s->name_len) == 0)
			return i;
	}
	fail_msg("no %s %s", role, name);
	return 0;
}

static const struct ckpt_span *
span_of(struct viewing *v, uint64_t record)
{
	return &v->doc.spans->tensors[record];
}

/* Where the screen has words, in lines; -1 nowhere. */
static int
line_of(struct viewing *v, const char *words)
{
	const char *s = viewing_screen(v), *found = strstr(s, words);
	int n = 0;

	if (!found)
		return -1;
	for (; s < found; s++)
		n += *s == '\n';
	return n;
}

static void
test_compare_with_itself(void **state)
{
	struct view_difference d;
	struct ckpt_buf a;
	struct viewing v;
	uint8_t differs[100];

	(void)state;
	make(&a, &usual);
	open_two(&v, a.p, a.n, a.p, a.n, 24, 80);
	viewing_keys(&v, "c");
	assert_int_equal(v.view.focus, VIEW_COMPARE);
	viewing_shows(&v, "[compare A a with B b]");
	viewing_shows(
		&v, "verdict        no record and no header field differs");
	viewing_shows(&v, "records        38 same\n");
	viewing_shows(&v, "header fields  0 that differ");
	for (uint64_t i = 0; i < v.doc.spans->ntensors; i++) {
		assert_int_equal(
			view_compare_record(&v.view, i, &d), VIEW_SAME);
		assert_int_equal(d.other, i);
	}
	/* No record has this number. */
	assert_int_equal(
		view_compare_record(&v.view, 38, &d), VIEW_NOT_COMPARED);
	for (uint64_t off = 0; off < a.n; off += sizeof differs) {
		size_t n = a.n - off < sizeof differs ? (size_t)(a.n - off)
						      : sizeof differs;

		assert_true(view_compare_bytes(&v.view, off, n, differs));
		for (size_t i = 0; i < n; i++)
			assert_int_equal(differs[i], 0);
	}
	close_two(&v);
	ckpt_buf_release(&a);
}

static void
test_compare_finds_what_differs(void **state)
{
	struct view_difference d;
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t gain, moment, off;
	uint8_t differs[32];

	(void)state;
	make(&a, &usual);
	make(&b, &usual);
	/* Places are the same in both. */
	viewing_bytes(&v, a.p, a.n, 24, 80);
	gain = find(&v, "Parameter", "final_norm.gain");
	moment = find(&v, "Second", "blocks.0.ffn.up.weight");
	off = span_of(&v, gain)->off + 3 * 8;
	b.p[off] ^= 1;
	b.p[off + 8 + 3] ^= 0x10;
	b.p[off + 4 * 8] ^= 1;
	b.p[span_of(&v, moment)->off + 95 * 8 + 7] ^= (char)0x80;
	viewing_close(&v);
	open_two(&v, a.p, a.n, b.p, b.n, 40, 100);

	assert_int_equal(
		view_compare_record(&v.view, gain, &d), VIEW_DIFFERENT);
	assert_int_equal(d.n, 8);
	assert_int_equal(d.differing, 3);
	assert_int_equal(d.first, 3);
	assert_int_equal(d.width, 8);
	assert_int_equal(d.off[0], off);
	assert_int_equal(d.off[1], off);
	assert_int_equal(d.bits[0], ckpt_load_u64((uint8_t *)a.p + off));
	assert_int_equal(d.bits[0] ^ 1, d.bits[1]);
	assert_int_equal(
		view_compare_record(&v.view, moment, &d), VIEW_DIFFERENT);
	assert_int_equal(d.n, 96);
	assert_int_equal(d.differing, 1);
	assert_int_equal(d.first, 95);
	for (uint64_t i = 0; i < v.doc.spans->ntensors; i++)
		if (i != gain && i != moment)
			assert_int_equal(
				view_compare_record(&v.view, i, &d), VIEW_SAME);

	assert_true(view_compare_bytes(&v.view, off, 32, differs));
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(differs[i], i == 0 || i == 11);

	viewing_keys(&v, "c");
	viewing_shows(&v, "36 same, 2 different");
	viewing_shows(&v, "verdict        the files differ");
	viewing_shows(&v, "different     3 of 8        final_norm.gain  "
			  "ModelParameter");
	viewing_shows(&v, "different     1 of 96       "
			  "blocks.0.ffn.up.weight  OptimizerSecondMoment");
	/* What differs comes first. */
	assert_true(line_of(&v, "  different     1 of 96") <
		    line_of(&v, "  same "));
	close_two(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

/* Presses j until a line is selected that has the words. */
static void
select_line(struct viewing *v, const char *words)
{
	char line[256];

	for (int i = 0; i < 200; i++) {
		const char *s = strstr(viewing_screen(v), "\n> "), *end;

		assert_non_null(s);
		end = strchr(s + 1, '\n');
		snprintf(line, sizeof line, "%.*s", (int)(end - s), s);
		if (strstr(line, words))
			return;
		viewing_keys(v, "j");
	}
	fail_msg("no line with \"%s\"", words);
}

static void
test_compare_page_goes_there(void **state)
{
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t off;
	char line[80];

	(void)state;
	make(&a, &usual);
	make(&b, &usual);
	viewing_bytes(&v, a.p, a.n, 24, 80);
	off = span_of(&v, find(&v, "First", "token_embedding.weight"))->off +
	      10 * 8;
	viewing_close(&v);
	ckpt_store_u64((uint8_t *)a.p + off, 0x3ff0000000000000);
	ckpt_store_u64((uint8_t *)b.p + off, 0x3ff0000000000003);
	open_two(&v, a.p, a.n, b.p, b.n, 30, 100);
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
	close_two(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

/* Whether the selected row has the words. */
static bool
is_selected(struct viewing *v, const char *words)
{
	const char *s = strstr(viewing_screen(v), "\n> ");
	const char *at = s ? strstr(s, words) : NULL;

	return at && at < strchr(s + 1, '\n');
}

static void
test_compare_goes_to_the_next_difference(void **state)
{
	static const char *const keys[][2] = { { "]", "[" }, { "n", "N" } };
	struct ckpt_synth other = usual;
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t gain, moment;

	(void)state;
	other.adamw.learning_rate = 0.5;
	make(&a, &usual);
	make(&b, &other);
	viewing_bytes(&v, a.p, a.n, 24, 80);
	gain = span_of(&v, find(&v, "Parameter", "final_norm.gain"))->off + 8;
	moment = span_of(&v, find(&v, "Second", "token_embedding.weight"))->off;
	viewing_close(&v);
	b.p[gain] ^= 1;
	b.p[moment] ^= 1;
	for (size_t i = 0; i < 2; i++) {
		open_two(&v, a.p, a.n, b.p, b.n, 40, 100);
		/* The place before is not lost. */
		viewing_keys(&v, ":700<Enter>c");
		assert_int_equal(v.view.cursor, gain);
		assert_int_equal(v.view.before, 700);
		assert_true(is_selected(&v, "final_norm.gain"));
		viewing_keys(&v, keys[i][0]);
		assert_int_equal(v.view.cursor, moment);
		assert_true(is_selected(&v, "token_embedding.weight"));
		viewing_shows(&v, "difference 2 of 4");
		viewing_keys(&v, keys[i][0]);
		assert_true(is_selected(&v, "header field"));
		viewing_keys(&v, keys[i][0]);
		assert_true(is_selected(&v, "header field"));
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
		close_two(&v);
	}
	/* One difference. */
	ckpt_buf_release(&b);
	make(&b, &usual);
	b.p[gain] ^= 1;
	open_two(&v, a.p, a.n, b.p, b.n, 10, 40);
	viewing_keys(&v, "c");
	viewing_shows(&v, "[compare A a with B b]");
	viewing_keys(&v, "]");
	viewing_shows(&v, "this is the only difference");
	viewing_keys(&v, "G]");
	viewing_shows(&v, "from the first again: difference 1 of 1");
	close_two(&v);
	/* Nothing differs. */
	open_two(&v, a.p, a.n, a.p, a.n, 40, 100);
	viewing_keys(&v, ":700<Enter>c]");
	viewing_shows(&v, "no difference was found");
	viewing_keys(&v, "N");
	viewing_shows(&v, "no difference was found");
	viewing_keys(&v, "c");
	viewing_shows(&v, "all is compared; nothing differs");
	assert_int_equal(v.view.cursor, 700);
	close_two(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_selection_follows_the_cursor(void **state)
{
	struct ckpt_buf a, b;
	struct viewing v;
	uint64_t gain, key;

	(void)state;
	make(&a, &usual);
	make(&b, &usual);
	viewing_bytes(&v, a.p, a.n, 24, 80);
	gain = span_of(&v, find(&v, "Parameter", "final_norm.gain"))->off;
	key = span_of(
		&v, find(&v, "Parameter", "blocks.0.attention.key.weight"))
		      ->off;
	viewing_close(&v);
	b.p[gain] ^= 1;
	b.p[key] ^= 1;
	open_two(&v, a.p, a.n, b.p, b.n, 40, 100);
	/* The page begins with the row of the cursor if it differs. */
	view_go(&v.view, gain + 16);
	viewing_keys(&v, "c");
	assert_int_equal(v.view.cursor, gain + 16);
	assert_true(is_selected(&v, "final_norm.gain"));
	/* Whatever moves the cursor selects: a key, a search, a place. */
	viewing_keys(&v, "}");
	assert_false(is_selected(&v, "final_norm.gain"));
	viewing_keys(&v, "/ffn.up<Enter>");
	assert_true(is_selected(&v, "blocks.0.ffn.up.weight"));
	viewing_keys(&v, "{");
	assert_true(is_selected(&v, "blocks.0.ffn.gate.weight"));
	viewing_keys(&v, ":final_norm.gain<Enter>");
	assert_true(is_selected(&v, "final_norm.gain  ModelParameter"));
	/* Bytes of its record in the header are its, others nobody's. */
	viewing_keys(&v, "u");
	assert_true(v.view.cursor < v.doc.header_end);
	assert_true(is_selected(&v, "final_norm.gain  ModelParameter"));
	viewing_keys(&v, ":0<Enter>");
	assert_true(is_selected(&v, "final_norm.gain  ModelParameter"));
	/* Also from another pane, where it goes on unseen. */
	viewing_keys(&v, "x:blocks.0.attention.key.weight<Enter>q");
	assert_int_equal(v.view.focus, VIEW_COMPARE);
	assert_true(is_selected(&v, "attention.key.weight  ModelParameter"));
	/* And its own rows stay selected, those without a place included. */
	viewing_keys(&v, "g");
	assert_true(is_selected(&v, "> A "));
	view_poll(&v.view);
	view_go(&v.view, v.view.cursor);
	assert_true(is_selected(&v, "> A "));
	close_two(&v);
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
	make(&a, &usual);
	make(&b, &usual);
	viewing_bytes(&v, a.p, a.n, 24, 80);
	off = span_of(&v, find(&v, "Parameter", "final_norm.gain"))->off;
	viewing_close(&v);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ckpt_store_u64((uint8_t *)a.p + off, rows[i].a);
		ckpt_store_u64((uint8_t *)b.p + off, rows[i].b);
		open_two(&v, a.p, a.n, b.p, b.n, 30, 100);
		viewing_keys(&v, "c");
		select_line(&v, "1 of 8");
		viewing_shows(&v, rows[i].said);
		close_two(&v);
	}
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_header_fields(void **state)
{
	struct ckpt_synth other = usual;
	struct ckpt_buf a, b;
	struct viewing v;

	(void)state;
	other.step = 9;
	other.adamw.learning_rate = 0.5;
	make(&a, &usual);
	make(&b, &other);
	open_two(&v, a.p, a.n, b.p, b.n, 60, 120);
	viewing_keys(&v, "c");
	viewing_shows(&v, "selected_step: 7 and 9");
	viewing_shows(&v, "learning_rate: 0.02 (bits 3f947ae147ae147b) and "
			  "0.5 (bits 3fe0000000000000)");
	viewing_shows(&v, "checksum: fnv1a64:");
	/* Fields of records are not told one by one. */
	viewing_lacks(&v, "records[");
	select_line(&v, "selected_step: 7 and 9");
	viewing_shows(&v, "\n  A 7\n  B 9\n");
	assert_int_equal(((uint8_t *)a.p)[v.view.cursor], 7);
	close_two(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

/* Another model: records of other shapes, and such that only one of them has;
 * those that both have stand at other places of the list. */
static void
test_compare_other_models(void **state)
{
	struct ckpt_synth other = usual;
	struct view_difference d;
	struct ckpt_buf a, b;
	struct viewing v;
	uint8_t differs[8];
	uint64_t i, off, place, end;

	(void)state;
	other.config.layers = 2;
	other.config.feed_forward_width = 14;
	make(&a, &usual);
	make(&b, &other);
	open_two(&v, a.p, a.n, b.p, b.n, 60, 120);
	viewing_keys(&v, "c");
	/* Nine parameters of a second block, thrice. */
	viewing_shows(&v, ", 27 only in B\n");
	viewing_shows(&v, "9 of another shape");
	viewing_shows(&v, "other shape                 "
			  "blocks.0.ffn.up.weight  ModelParameter");
	viewing_shows(&v, "only in B                   ");
	select_line(&v, "other shape ");
	viewing_shows(&v, "\n  A f64 [8,12], 768 bytes at ");
	viewing_shows(&v, "\n  B f64 [8,14], 896 bytes at ");
	i = find(&v, "Second", "token_embedding.weight");
	assert_int_not_equal(view_compare_record(&v.view, i, &d), VIEW_SHAPE);
	assert_true(d.other > i);
	/* Bytes are found at their place in the record, not in the file. */
	off = span_of(&v, i)->off + 8;
	assert_true(view_compare_place(&v.view, off, &place, &end));
	assert_int_equal(
		place, v.view.compare->other.spans->tensors[d.other].off + 8);
	assert_int_equal(end, span_of(&v, i)->off + span_of(&v, i)->len);
	assert_true(view_compare_bytes(&v.view, off, 8, differs));
	for (int k = 0; k < 8; k++)
		assert_int_equal(differs[k],
			a.p[off + (uint64_t)k] != b.p[place + (uint64_t)k]);
	select_line(&v, "only in B  ");
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.focus, VIEW_COMPARE);
	viewing_shows(&v, "the first file does not have it");
	close_two(&v);
	/* And the other way round. */
	open_two(&v, b.p, b.n, a.p, a.n, 60, 120);
	viewing_keys(&v, "c");
	viewing_shows(&v, ", 27 only in A\n");
	select_line(&v, "only in A  ");
	viewing_shows(&v, "\n  B does not have it\n");
	viewing_shows(&v, " -- -- ");
	close_two(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_broken_files(void **state)
{
	struct view_difference d;
	struct ckpt_buf a;
	struct viewing v;
	uint8_t differs[8];
	uint64_t i, header;

	(void)state;
	make(&a, &usual);
	viewing_bytes(&v, a.p, a.n, 24, 80);
	header = v.doc.header_end;
	viewing_close(&v);
	/* The payload of the second ends too early. */
	open_two(&v, a.p, a.n, a.p, a.n - 9, 60, 120);
	viewing_keys(&v, "c");
	viewing_shows(&v, "37 same, 1 unreadable\n");
	i = find(&v, "Second", "token_embedding.weight");
	assert_int_equal(view_compare_record(&v.view, i, &d), VIEW_UNREADABLE);
	assert_true(view_compare_bytes(&v.view, a.n - 12, 8, differs));
	for (int k = 0; k < 8; k++)
		assert_int_equal(differs[k], k < 3 ? 0 : 2);
	close_two(&v);
	/* Every cut of the header, on either side. */
	for (uint64_t n = 0; n < header; n += 37) {
		for (int swap = 0; swap < 2; swap++) {
			open_two(&v, a.p, swap ? a.n : n, a.p, swap ? n : a.n,
				24, 80);
			viewing_keys(&v, "cGgjjj<Enter>c<PgDn>k");
			viewing_lacks(&v, "no record and no");
			close_two(&v);
		}
	}
	ckpt_buf_release(&a);
}

static void
test_compare_files_without_records(void **state)
{
	static const char a[] = "this is text", b[] = "this is test, too";
	struct view_difference d;
	struct viewing v;
	uint8_t differs[12];

	(void)state;
	open_two(&v, a, 12, b, 17, 30, 100);
	viewing_keys(&v, "c");
	viewing_shows(&v, "bytes are compared at equal offsets");
	viewing_shows(&v, "differ: 12 and 17 bytes");
	viewing_shows(&v, "different     1 of 12       all bytes");
	assert_int_equal(view_compare_record(&v.view, 0, &d), VIEW_DIFFERENT);
	assert_int_equal(d.first, 10);
	assert_int_equal(d.bits[0], 'x');
	assert_int_equal(d.bits[1], 's');
	assert_true(view_compare_bytes(&v.view, 0, 12, differs));
	for (int i = 0; i < 12; i++)
		assert_int_equal(differs[i], i == 10);
	close_two(&v);
	open_two(&v, b, 17, a, 12, 30, 100);
	assert_true(view_compare_bytes(&v.view, 8, 9, differs));
	for (int i = 0; i < 9; i++)
		assert_int_equal(differs[i], i == 2 ? 1 : i < 4 ? 0 : 2);
	close_two(&v);
	open_two(&v, "", 0, "", 0, 30, 100);
	viewing_keys(&v, "cjjkG");
	viewing_shows(&v, "no byte differs");
	close_two(&v);
}

static void
test_compare_without_a_second_file(void **state)
{
	struct view_difference d;
	struct viewing v;
	uint8_t differs[4];

	(void)state;
	viewing_bytes(&v, "abc", 3, 24, 80);
	viewing_keys(&v, "c");
	viewing_shows(&v, "there is no second file; ckinspect A B opens two");
	viewing_keys(&v, "jk<Enter>cGg<Esc>");
	assert_int_equal(v.view.focus, VIEW_TREE);
	assert_int_equal(
		view_compare_record(&v.view, 0, &d), VIEW_NOT_COMPARED);
	assert_false(view_compare_bytes(&v.view, 0, 3, differs));
	assert_int_equal(view_compare_open(&v.view, "/nowhere/at/all"), -1);
	assert_int_equal(errno, ENOENT);
	assert_null(v.view.compare);
	viewing_close(&v);
}

/* A large file is compared when the page is asked for, not before; what lies
 * behind the records does not make it equal. */
static void
test_compare_large_files_when_asked(void **state)
{
	char path[] = "/tmp/viewing-b-XXXXXX";
	int fd = mkstemp(path);
	struct view_difference d;
	struct ckpt_buf a;
	struct viewing v;

	(void)state;
	make(&a, &usual);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, a.p, a.n), a.n);
	assert_int_equal(ftruncate(fd, (off_t)VIEW_AUTOMATIC + 1), 0);
	close(fd);
	viewing_bytes(&v, a.p, a.n, 30, 100);
	assert_int_equal(view_compare_open(&v.view, path), 0);
	view_settle(&v.view);
	assert_int_equal(
		view_compare_record(&v.view, 9, &d), VIEW_NOT_COMPARED);
	viewing_keys(&v, "c");
	assert_int_equal(view_compare_record(&v.view, 9, &d), VIEW_SAME);
	viewing_shows(&v, "records        38 same\n");
	viewing_shows(&v, "sizes          differ: ");
	viewing_shows(&v, "verdict        the files differ");
	/* Asked for before there is an index. */
	assert_int_equal(view_compare_open(&v.view, path), 0);
	view_compare_show(&v.view);
	view_settle(&v.view);
	assert_int_equal(view_compare_record(&v.view, 9, &d), VIEW_SAME);
	viewing_close(&v);
	unlink(path);
	ckpt_buf_release(&a);
}

/* A record is done wholly or not at all, and going on ends as if it had never
 * been stopped. */
static void
test_compare_stops_and_goes_on(void **state)
{
	struct ckpt_synth big = usual;
	struct ckpt_buf a, b;
	struct viewing v;

	(void)state;
	big.config.feed_forward_width = 40000;
	make(&a, &big);
	make(&b, &big);
	b.p[b.n - 1] ^= 1;
	open_two(&v, a.p, a.n, b.p, b.n, 24, 80);
	for (int i = 0; i < 30; i++) {
		struct view_compare *c = v.view.compare;

		for (uint64_t k = 0; k < c->npairs; k++)
			atomic_store(&c->pairs[k].sameness, VIEW_NOT_COMPARED);
		view_compare_start(&v.view);
		view_draw(&v.view);
		if (i % 2)
			view_job_stop(&c->job);
		else
			atomic_store(&c->job.cancel, true);
		view_settle(&v.view);
		view_compare_start(&v.view);
		view_settle(&v.view);
		view_focus(&v.view, VIEW_COMPARE);
		viewing_shows(&v, "37 same, 1 different");
	}
	/* Left while it is at work. */
	atomic_store(&v.view.compare->pairs[6].sameness, VIEW_NOT_COMPARED);
	view_compare_start(&v.view);
	close_two(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

static void
test_compare_hostile_names(void **state)
{
	static const char a[] = "a", b[] = "b";
	struct viewing v;

	(void)state;
	open_two(&v, a, 1, b, 1, 24, 80);
	strcpy(v.view.compare->other.path, "\x1b[2J\xff\n\xe2\x80\xae");
	viewing_keys(&v, "c");
	viewing_shows(&v, "\\x1b[2J\\xff\\n\\u{202e}");
	assert_null(strchr(viewing_screen(&v), 0x1b));
	close_two(&v);
}

static void
test_compare_any_size(void **state)
{
	const struct view_pane_ops *ops = &view_compare_pane;
	struct ckpt_synth other = usual;
	struct ckpt_buf a, b;
	struct viewing v;

	(void)state;
	other.config.layers = 2;
	other.seed = 12;
	make(&a, &usual);
	make(&b, &other);
	open_two(&v, a.p, a.n, b.p, b.n, 24, 80);
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
	close_two(&v);
	ckpt_buf_release(&a);
	ckpt_buf_release(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_with_itself),
		cmocka_unit_test(test_compare_finds_what_differs),
		cmocka_unit_test(test_compare_page_goes_there),
		cmocka_unit_test(test_compare_goes_to_the_next_difference),
		cmocka_unit_test(test_compare_selection_follows_the_cursor),
		cmocka_unit_test(test_compare_distances),
		cmocka_unit_test(test_compare_header_fields),
		cmocka_unit_test(test_compare_other_models),
		cmocka_unit_test(test_compare_broken_files),
		cmocka_unit_test(test_compare_files_without_records),
		cmocka_unit_test(test_compare_without_a_second_file),
		cmocka_unit_test(test_compare_large_files_when_asked),
		cmocka_unit_test(test_compare_stops_and_goes_on),
		cmocka_unit_test(test_compare_hostile_names),
		cmocka_unit_test(test_compare_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
