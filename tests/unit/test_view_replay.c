/* SPDX-License-Identifier: MIT */
/*
 * The page of replays: what it says of the fixture, of branches that differ,
 * and of everything that is refused; where Enter goes; that any size can be
 * drawn, and that a run can be left at any time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "replay/fixture.h"
#include "support/viewing.h"
#include "view/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ckpt_buf fixture;

static int
make_fixture(void **state)
{
	struct ckpt_value label;

	(void)state;
	return ckpt_fixture_selected_step8(
		       &ckpt_format_llmcp35, NULL, &fixture, &label) == CKPT_OK
		       ? 0
		       : -1;
}

static int
free_fixture(void **state)
{
	(void)state;
	ckpt_buf_release(&fixture);
	return 0;
}

static void
open_fixture(struct viewing *v, int rows, int cols)
{
	viewing_bytes(v, fixture.p, fixture.n, rows, cols);
}

static void
start(struct viewing *v, const char *inputs, const char *targets,
	const char *rate)
{
	view_replay_start(&v->view, inputs, targets, rate);
	view_settle(&v->view);
}

/* Lines of the screen that begin with words behind their sign. */
static size_t
count_lines(struct viewing *v, const char *words)
{
	const char *s = viewing_screen(v);
	size_t n = 0;

	while (*s) {
		const char *end = strchr(s, '\n');

		if (strlen(s) > 2 && strncmp(s + 2, words, strlen(words)) == 0)
			n++;
		if (!end)
			break;
		s = end + 1;
	}
	return n;
}

/* The selected line, which begins with the sign. */
static const char *
selected(struct viewing *v, char *line, size_t n)
{
	const char *s = viewing_screen(v), *found = strstr(s, "\n> "), *end;

	assert_non_null(found);
	end = strchr(found + 1, '\n');
	assert_non_null(end);
	snprintf(line, n, "%.*s", (int)(end - found - 1), found + 1);
	return line;
}

/* The record of the fixture with this role and name. */
static const struct ckpt_span *
record(struct viewing *v, const char *role, const char *name)
{
	const struct ckpt_spans *spans = v->doc.spans;

	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *s = &spans->tensors[i];

		if (strstr(s->role, role) && s->name_len == strlen(name) &&
			memcmp(s->name, name, s->name_len) == 0)
			return s;
	}
	fail_msg("no %s %s", role, name);
	return NULL;
}

static void
test_replay_of_the_fixture_is_equal(void **state)
{
	struct viewing v;

	(void)state;
	open_fixture(&v, 80, 100);
	start(&v, "0,1", "1,2", "0.006");
	viewing_shows(&v, "replay of one update: bit-equal");
	viewing_shows(&v, "verdict        bit-equal");
	viewing_shows(&v, "step           8 -> 9");
	viewing_shows(&v, "inputs         0,1");
	viewing_shows(&v, "targets        1,2");
	viewing_shows(&v, "learning rate  0.006 (bits 3f789374bc6a7efa)");
	viewing_shows(&v, "loss ");
	viewing_shows(&v, "gradients      fnv1a64:");
	viewing_shows(&v, "logits before  fnv1a64:");
	viewing_shows(&v, "logits after   fnv1a64:");
	viewing_shows(&v, "state          fnv1a64:");
	viewing_shows(&v, ", 6330 bytes; not written");
	viewing_shows(&v, "next draw      0x");
	viewing_shows(&v, "arithmetic     ");
	viewing_shows(&v, "33 of 33 parameters and moments equal, 5 of 5");
	viewing_shows(&v, "equality of this one update under this arithmetic");
	/* 11 parameters, 22 moments, and the tokens together. */
	assert_int_equal(count_lines(&v, "equal  "), 34);
	assert_int_equal(count_lines(&v, "different  "), 0);
	viewing_shows(
		&v, "equal         0x00000b35  5            all 5 tokens\n");
	viewing_shows(&v, "equal         0x00000b3a  160          parameter "
			  "token_embedding.weight\n");
	viewing_close(&v);
}

/* What the page says is what the engine says. */
static void
test_replay_says_what_a_step_says(void **state)
{
	static const uint32_t ids[] = { 3, 2 }, targets[] = { 2, 1 };
	const struct ckpt_batch batch = { 1, 2, ids, targets };
	struct ckpt_step step = { .batch = &batch, .rate = 0.5 };
	struct ckpt_source *source = ckpt_source_memory(fixture.p, fixture.n);
	struct ckpt_checkpoint *c;
	struct viewing v;
	char line[80];

	(void)state;
	assert_int_equal(ckpt_checkpoint_read(source, NULL, &c), CKPT_OK);
	assert_int_equal(ckpt_step_run(&step, c), CKPT_OK);
	open_fixture(&v, 80, 100);
	start(&v, "3,2", "2,1", "0x1p-1");
	snprintf(line, sizeof line, "logits after   fnv1a64:%016llx",
		(unsigned long long)step.branch[0].after);
	viewing_shows(&v, line);
	snprintf(line, sizeof line, "gradients      fnv1a64:%016llx",
		(unsigned long long)step.branch[0].gradients);
	viewing_shows(&v, line);
	snprintf(line, sizeof line,
		"updated file   fnv1a64:%016llx, 6330 bytes",
		(unsigned long long)step.label);
	viewing_shows(&v, line);
	snprintf(line, sizeof line, "next draw      0x%016llx of",
		(unsigned long long)step.branch[0].rng_next);
	viewing_shows(&v, line);
	viewing_close(&v);
	ckpt_step_release(&step);
	ckpt_source_close(source);
}

static void
test_replay_enter_goes_to_the_record(void **state)
{
	struct viewing v;
	char line[160];

	(void)state;
	open_fixture(&v, 24, 80);
	start(&v, "0,1", "1,2", "0.006");
	/* Facts lead nowhere. */
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.focus, VIEW_REPLAY);
	viewing_shows(&v, "Enter goes to a record of the table");
	viewing_keys(&v, "G");
	assert_non_null(strstr(selected(&v, line, sizeof line),
		"second moment token_embedding.weight"));
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.focus, VIEW_HEX);
	assert_int_equal(v.view.cursor,
		record(&v, "Second", "token_embedding.weight")->off);
	/* Back at the page, the same row is selected. */
	viewing_keys(&v, "q");
	assert_int_equal(v.view.focus, VIEW_REPLAY);
	assert_non_null(strstr(selected(&v, line, sizeof line),
		"second moment token_embedding.weight"));
	viewing_keys(&v, "k<Enter>");
	assert_int_equal(v.view.cursor,
		record(&v, "First", "token_embedding.weight")->off);
	view_focus(&v.view, VIEW_REPLAY);
	viewing_keys(&v, "g");
	for (int i = 0; i < 100; i++) {
		if (strstr(selected(&v, line, sizeof line), "all 5 tokens"))
			break;
		viewing_keys(&v, "j");
	}
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, 2869);
	viewing_close(&v);
}

/* The low bit of one element of the re-encoded first moments is another. */
static uint64_t meddled_at;

static enum ckpt_status
meddle(struct ckpt_spool *reencoded)
{
	const size_t checksum = 30;
	uint8_t *p = malloc(reencoded->n);
	uint8_t sum[8];
	enum ckpt_status s;

	assert_non_null(p);
	s = ckpt_spool_read(reencoded, 0, p, reencoded->n);
	p[meddled_at] ^= 1;
	memset(p + checksum, 0, 8);
	ckpt_store_u64(
		sum, ckpt_fnv1a64(CKPT_FNV1A64_START, p, (size_t)reencoded->n));
	memcpy(p + checksum, sum, 8);
	if (s == CKPT_OK)
		s = ckpt_spool_write(reencoded, "", 0);
	if (s == CKPT_OK)
		s = ckpt_spool_patch(reencoded, 0, p, reencoded->n);
	free(p);
	return s;
}

static void
test_replay_shows_the_first_difference(void **state)
{
	const struct ckpt_span *span;
	struct viewing v;
	char line[160];

	(void)state;
	open_fixture(&v, 100, 100);
	span = record(&v, "First", "final_norm.gain");
	meddled_at = span->off + 3 * 8 + 6;
	view_replay_meddle(&v.view, meddle);
	start(&v, "0,1", "1,2", "0.006");
	viewing_shows(&v, "replay of one update: mismatch");
	viewing_shows(&v, "difference of this one update under this");
	viewing_shows(&v, "state          different: fnv1a64:");
	/* Logits after the update see what the moments were. */
	viewing_shows(&v, "logits before  fnv1a64:");
	viewing_shows(&v, ", equal\n");
	assert_true(count_lines(&v, "different  ") >= 1);
	assert_true(
		count_lines(&v, "different  ") + count_lines(&v, "equal  ") ==
		34);
	for (;;) {
		viewing_keys(&v, "j");
		if (strstr(selected(&v, line, sizeof line),
			    "first moment final_norm.gain"))
			break;
	}
	assert_non_null(strstr(line, "> different "));
	viewing_shows(&v, "\n    element 3   first  ");
	viewing_shows(&v, "\n                second ");
	viewing_keys(&v, "<Enter>");
	assert_int_equal(v.view.cursor, span->off + 3 * 8);
	viewing_close(&v);
}

/* The re-encoded bytes are not valid at all. */
static enum ckpt_status
spoil(struct ckpt_spool *reencoded)
{
	return ckpt_spool_patch(reencoded, 0, "x", 1);
}

static void
test_replay_claims_nothing_that_was_not_compared(void **state)
{
	struct viewing v;

	(void)state;
	open_fixture(&v, 100, 100);
	view_replay_meddle(&v.view, spoil);
	start(&v, "0,1", "1,2", "0.006");
	viewing_shows(&v, "replay of one update: mismatch");
	viewing_shows(&v, "the re-encoded bytes are not valid");
	viewing_shows(&v, "0 of 33 parameters and moments equal, 0 of 5");
	assert_int_equal(count_lines(&v, "not compared  "), 38);
	assert_int_equal(count_lines(&v, "equal  "), 0);
	viewing_lacks(&v, ", equal\n");
	viewing_close(&v);
}

static void
test_replay_refusals_are_said(void **state)
{
	static const struct {
		const char *inputs, *targets, *rate, *said, *why;
	} rows[] = {
		{ "0,9", "1,2", "0.1", "invalid-input", "TokenOutOfRange: " },
		{ "0,1,2", "1,2,3", "0.1", "invalid-input",
			"TooManyPositions: " },
		{ "0,1", "1,2", "nan", "invalid-input",
			"InvalidLearningRate: " },
		{ "0,1", "1,2", "-1", "invalid-input",
			"InvalidLearningRate: " },
		{ "0,1", "1", "0.1", "not run",
			"inputs are 1 row of 2, targets 1 row of 1" },
		{ "0,1;1,2", "1,2", "0.1", "not run",
			"inputs are 2 rows of 2, targets 1 row of 2" },
		{ "0,1;2", "1,2;3", "0.1", "not run",
			"rows of different length: 0,1;2" },
		{ "", "1", "0.1", "not run", "token ids are numbers below" },
		{ "0,", "1", "0.1", "not run", "between them: 0," },
		{ "0", "1", "fast", "not run", "not a learning rate: fast" },
		{ "\x1b[31m\xff", "1", "1", "not run", "\\x1b[31m\\xff" },
	};
	struct viewing v;

	(void)state;
	open_fixture(&v, 24, 200);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		start(&v, rows[i].inputs, rows[i].targets, rows[i].rate);
		viewing_shows(&v, rows[i].said);
		viewing_shows(&v, rows[i].why);
		viewing_shows(&v, "r asks again");
		assert_null(strchr(viewing_screen(&v), 0x1b));
		/* Nothing to go to, and nothing breaks. */
		viewing_keys(&v, "jjkGg<PgDn><PgUp><C-d><C-u><Enter>");
		assert_int_equal(v.view.focus, VIEW_REPLAY);
	}
	/* And after all that it still runs. */
	start(&v, "0,1", "1,2", "0.1");
	viewing_shows(&v, "bit-equal");
	viewing_close(&v);
}

static void
test_replay_of_files_that_cannot(void **state)
{
	static const struct {
		size_t n;
		int flip; /* offset, or -1 */
		const char *said;
	} rows[] = {
		{ 0, -1, "InvalidFile: " },
		{ 1, -1, "InvalidFile: " },
		{ 2869, -1, "InvalidFile: " },
		{ 6329, -1, "InvalidFile: " },
		{ 6330, 6000, "InvalidFile: CK1006 checksum-mismatch" },
		{ 6330, 0, "InvalidFile: " },
	};
	static const char foreign[] = "\x89PNG\r\n\x1a\n and so on";
	uint8_t bytes[6330];
	struct viewing v;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		memcpy(bytes, fixture.p, sizeof bytes);
		if (rows[i].flip >= 0)
			bytes[rows[i].flip] ^= 1;
		viewing_bytes(&v, bytes, rows[i].n, 40, 100);
		start(&v, "0,1", "1,2", "0.1");
		viewing_shows(&v, "invalid-input");
		viewing_shows(&v, rows[i].said);
		viewing_keys(&v, "GG<Enter>");
		viewing_close(&v);
	}
	viewing_bytes(&v, foreign, sizeof foreign - 1, 40, 100);
	start(&v, "0,1", "1,2", "0.1");
	viewing_shows(&v, "nothing was changed; r asks again");
	viewing_lacks(&v, "bit-equal");
	viewing_close(&v);
}

static void
test_replay_keeps_within_memory(void **state)
{
	struct viewing v;

	(void)state;
	open_fixture(&v, 24, 200);
	v.view.max_memory = 6329;
	start(&v, "0,1", "1,2", "0.1");
	viewing_shows(&v, "the file has 6330 bytes, and a replay holds it in "
			  "memory, of which it may use 6329");
	/* The file fits, what is read from it does not. */
	v.view.max_memory = 6330;
	start(&v, "0,1", "1,2", "0.1");
	viewing_shows(&v, "not-verified");
	viewing_shows(&v, "more memory than allowed is needed");
	viewing_close(&v);
}

/* 400 sizes; what is drawn lies inside, which a sanitiser sees. */
static void
test_replay_any_size(void **state)
{
	const struct view_pane_ops *ops = &view_replay_pane;
	struct viewing v;

	(void)state;
	open_fixture(&v, 24, 80);
	for (int pass = 0; pass < 3; pass++) {
		if (pass == 1)
			start(&v, "0,1", "1,2", "0.1");
		if (pass == 2)
			start(&v, "0,7", "1,2", "0.1");
		for (int rows = 1; rows <= 20; rows++)
			for (int cols = 1; cols <= 100; cols += 5) {
				struct view_area all, area;

				view_resize(&v.view, rows, cols);
				all = view_grid_area(&v.view.grid);
				area = view_area_part(&all, 0, 0, rows, cols);
				ops->draw(&v.view, v.view.panes[VIEW_REPLAY],
					&area, true);
				ops->act(&v.view, v.view.panes[VIEW_REPLAY],
					VIEW_DO_PAGE_DOWN);
			}
	}
	viewing_close(&v);
}

/* Everything can be reached on the smallest screen. */
static void
test_replay_small_screen_reaches_every_row(void **state)
{
	struct viewing v;
	char line[160];
	size_t equal = 0, before;

	(void)state;
	open_fixture(&v, 10, 40);
	start(&v, "0,1", "1,2", "0.006");
	viewing_shows(&v, "> verdict        bit-equal");
	do {
		if (strstr(selected(&v, line, sizeof line), "> equal "))
			equal++;
		before = view_replay_of(&v.view)->selected;
		viewing_keys(&v, "j");
	} while (view_replay_of(&v.view)->selected != before);
	assert_int_equal(equal, 34);
	viewing_keys(&v, "<Home>");
	viewing_shows(&v, "> verdict        bit-equal");
	viewing_close(&v);
}

/* Left while it may be at work, begun twice, cancelled. */
static void
test_replay_can_be_left(void **state)
{
	struct viewing v;

	(void)state;
	for (int i = 0; i < 20; i++) {
		open_fixture(&v, 24, 80);
		view_replay_start(&v.view, "0,1", "1,2", "0.006");
		view_draw(&v.view);
		if (i % 3 == 0)
			view_key(&v.view, VIEW_KEY_ESCAPE);
		if (i % 3 == 1)
			view_replay_start(&v.view, "0,1", "1,2", "0.006");
		viewing_close(&v);
	}
	open_fixture(&v, 24, 80);
	view_replay_start(&v.view, "0,1", "1,2", "0.006");
	atomic_store(&view_replay_of(&v.view)->run->job.cancel, true);
	view_settle(&v.view);
	if (view_replay_of(&v.view)->run->verdict)
		viewing_shows(&v, "cancelled");
	else
		viewing_shows(&v, "bit-equal");
	viewing_close(&v);
}

/* Asked key by key; the answers are offered again. */
static void
test_replay_asks(void **state)
{
	struct viewing v;

	(void)state;
	open_fixture(&v, 60, 100);
	viewing_keys(&v, "r");
	assert_int_equal(v.view.focus, VIEW_REPLAY);
	viewing_shows(&v, "inputs (as 0,1;1,2, rows apart by ;):");
	viewing_keys(&v, "0,1<Enter>");
	viewing_shows(&v, "targets (as 1,2;2,3, rows apart by ;):");
	/* What does not fit together ends the questions at once. */
	viewing_keys(&v, "1<Enter>");
	assert_null(v.view.prompt);
	viewing_shows(&v, "inputs are 1 row of 2, targets 1 row of 1");
	viewing_keys(&v, "r<Enter>1,2<Enter>");
	/* Whose rate it is that is offered. */
	viewing_shows(&v, "learning rate (the file's): 0.04");
	viewing_keys(&v, "0.5<Enter>r<Enter><Enter>");
	viewing_shows(&v, "learning rate (as before): 0.5");
	viewing_keys(&v, "<Esc>r<Enter><Enter><C-u><Enter>");
	viewing_shows(&v, "not a learning rate");
	viewing_keys(&v, "r<Enter><Enter>");
	viewing_shows(&v, "learning rate (the file's): 0.04");
	viewing_keys(&v, "<Enter>");
	viewing_shows(&v, "bit-equal: both branches of the replay");
	viewing_shows(&v, "bit-equal");
	viewing_shows(&v, "learning rate  ");
	viewing_keys(&v, "r");
	viewing_shows(&v, "rows apart by ;): 0,1");
	viewing_keys(&v, "<Enter><Enter><Enter>");
	viewing_shows(&v, "targets        1,2");
	viewing_shows(&v, "bit-equal");
	/* Cancelled: the last result stays. */
	viewing_keys(&v, "r<Esc>");
	viewing_shows(&v, "bit-equal");
	/* What is no list of ids ends the questions. */
	viewing_keys(&v, "r<End>x<Enter>");
	viewing_shows(&v, "no comma or semicolon after a token id: 0,1x");
	viewing_keys(&v, "q");
	assert_int_equal(v.view.focus, VIEW_TREE);
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_of_the_fixture_is_equal),
		cmocka_unit_test(test_replay_says_what_a_step_says),
		cmocka_unit_test(test_replay_enter_goes_to_the_record),
		cmocka_unit_test(test_replay_shows_the_first_difference),
		cmocka_unit_test(
			test_replay_claims_nothing_that_was_not_compared),
		cmocka_unit_test(test_replay_refusals_are_said),
		cmocka_unit_test(test_replay_of_files_that_cannot),
		cmocka_unit_test(test_replay_keeps_within_memory),
		cmocka_unit_test(test_replay_any_size),
		cmocka_unit_test(test_replay_small_screen_reaches_every_row),
		cmocka_unit_test(test_replay_can_be_left),
		cmocka_unit_test(test_replay_asks),
	};

	return cmocka_run_group_tests(tests, make_fixture, free_fixture);
}
