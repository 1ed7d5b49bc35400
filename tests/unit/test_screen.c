/* SPDX-License-Identifier: MIT */
/*
 * Colour rules as a table, and progress with a clock of our own: what is drawn,
 * when, and that the line is gone in the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/screen.h"

#define MS  UINT64_C(1000000)
#define MIB UINT64_C(1048576)

static void
test_screen_color_precedence(void **state)
{
	static const struct {
		enum ckpt_when when;
		struct ckpt_screen_facts facts;
		bool color;
	} cases[] = {
		{ CKPT_WHEN_AUTO, { true, NULL, NULL, "xterm" }, true },
		{ CKPT_WHEN_AUTO, { false, NULL, NULL, "xterm" }, false },
		{ CKPT_WHEN_AUTO, { true, NULL, NULL, "dumb" }, false },
		{ CKPT_WHEN_AUTO, { true, NULL, NULL, "" }, false },
		{ CKPT_WHEN_AUTO, { true, NULL, NULL, NULL }, false },
		{ CKPT_WHEN_AUTO, { true, "", NULL, "xterm" }, true },
		{ CKPT_WHEN_AUTO, { true, "1", NULL, "xterm" }, false },
		{ CKPT_WHEN_AUTO, { true, "0", NULL, "xterm" }, false },
		{ CKPT_WHEN_AUTO, { true, "1", "1", "xterm" }, false },
		{ CKPT_WHEN_AUTO, { false, NULL, "1", "xterm" }, true },
		{ CKPT_WHEN_AUTO, { false, NULL, "1", "dumb" }, true },
		{ CKPT_WHEN_AUTO, { false, NULL, "0", "xterm" }, false },
		{ CKPT_WHEN_AUTO, { false, NULL, "", "xterm" }, false },
		{ CKPT_WHEN_AUTO, { true, NULL, "0", "xterm" }, true },
		{ CKPT_WHEN_ALWAYS, { false, "1", "0", "dumb" }, true },
		{ CKPT_WHEN_NEVER, { true, NULL, "1", "xterm" }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (ckpt_screen_color(cases[i].when, &cases[i].facts) !=
			cases[i].color)
			fail_msg("case %zu", i);
}

static void
test_screen_utf8_by_codeset(void **state)
{
	(void)state;
	assert_true(ckpt_screen_utf8("UTF-8"));
	assert_true(ckpt_screen_utf8("utf8"));
	assert_false(ckpt_screen_utf8("ANSI_X3.4-1968"));
	assert_false(ckpt_screen_utf8("ISO-8859-1"));
	assert_false(ckpt_screen_utf8(""));
	assert_false(ckpt_screen_utf8(NULL));
}

static void
test_screen_init_reads_environment(void **state)
{
	FILE *file = tmpfile();
	struct ckpt_screen screen;

	(void)state;
	assert_non_null(file);
	setenv("LC_ALL", "C", 1);
	setenv("CLICOLOR_FORCE", "1", 1);
	unsetenv("NO_COLOR");
	ckpt_screen_init(&screen, CKPT_WHEN_AUTO, fileno(file));
	assert_true(screen.color);
	assert_false(screen.utf8);
	setenv("NO_COLOR", "1", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	ckpt_screen_init(&screen, CKPT_WHEN_AUTO, fileno(file));
	assert_false(screen.color);
	assert_true(screen.utf8);
	fclose(file);
}

static void
test_progress_line_text(void **state)
{
	static const struct {
		const char *name;
		uint64_t done, total, ms;
		size_t columns;
		const char *line;
	} cases[] = {
		{ "a.ckpt", 0, 100, 0, 79, "a.ckpt    0%" },
		{ "a.ckpt", 42 * MIB, 100 * MIB, 2000, 79,
			"a.ckpt   42%  21.0 MiB/s  0:03 left" },
		{ "a.ckpt", 100, 100, 1000, 79, "a.ckpt  100%  100 B/s" },
		{ "a.ckpt", 0, 0, 1000, 79, "a.ckpt  100%" },
		{ "a.ckpt", 200, 100, 1000, 79, "a.ckpt  100%  200 B/s" },
		{ "a.ckpt", 1536, CKPT_PROGRESS_UNKNOWN, 1000, 79,
			"a.ckpt  1.5 KiB  1.5 KiB/s" },
		{ "a.ckpt", 1, 7200, 1000, 79,
			"a.ckpt    0%  1 B/s  1:59:59 left" },
		{ "a.ckpt", 1, UINT64_C(1) << 62, 1000, 79,
			"a.ckpt    0%  1 B/s  days left" },
		{ "runs/of/a/long/name/step-000100.ckpt", 50, 100, 1000, 44,
			"...step-000100.ckpt   50%  50 B/s  0:01 left" },
		{ "a\033[2J\n.ckpt", 1, 2, 0, 79, "a\\x1b[2J\\n.ckpt   50%" },
		{ "a.ckpt", 50, 100, 1000, 9, "a.ckpt" },
		{ "a-long-name.ckpt", 50, 100, 1000, 9, "...e.ckpt" },
		{ "a-long-name.ckpt", 50, 100, 1000, 0, "..." },
	};
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ckpt_buf_clear(&buf);
		ckpt_progress_line(&buf, cases[i].name, cases[i].done,
			cases[i].total, cases[i].ms * MS, cases[i].columns);
		assert_string_equal(buf.p, cases[i].line);
	}
	ckpt_buf_release(&buf);
}

static uint64_t now;

static uint64_t
fake_clock(void)
{
	return now;
}

/* Ten blocks of 100 ms each, and what was written; with the line cleared
 * behind each block or not. */
static char *
run_clearing(enum ckpt_when when, bool terminal, uint64_t step, bool clears)
{
	struct ckpt_progress progress;
	FILE *out = tmpfile();
	static char text[4096];
	size_t n;

	assert_non_null(out);
	now = 1000 * MS;
	ckpt_progress_init(&progress, when, out);
	progress.clock = fake_clock;
	progress.terminal = terminal;
	ckpt_progress_begin(&progress, "f");
	for (uint64_t i = 1; i <= 10; i++) {
		now += step;
		ckpt_progress_update(&progress, i * 10, 100);
		if (clears)
			ckpt_progress_clear(&progress);
	}
	ckpt_progress_end(&progress);
	ckpt_progress_release(&progress);
	rewind(out);
	n = fread(text, 1, sizeof text - 1, out);
	text[n] = '\0';
	fclose(out);
	return text;
}

static char *
run_progress(enum ckpt_when when, bool terminal, uint64_t step)
{
	return run_clearing(when, terminal, step, false);
}

static size_t
count(const char *text, char c)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

static void
test_progress_off_unless_terminal(void **state)
{
	(void)state;
	assert_string_equal(run_progress(CKPT_WHEN_AUTO, false, 500 * MS), "");
	assert_string_equal(run_progress(CKPT_WHEN_NEVER, true, 500 * MS), "");
}

static void
test_progress_plain_lines_each_second(void **state)
{
	(void)state;
	assert_string_equal(run_progress(CKPT_WHEN_ALWAYS, false, 500 * MS),
		"f   20%  20 B/s  0:04 left\n"
		"f   40%  20 B/s  0:03 left\n"
		"f   60%  20 B/s  0:02 left\n"
		"f   80%  20 B/s  0:01 left\n"
		"f  100%  20 B/s\n");
}

static void
test_progress_quiet_at_first(void **state)
{
	(void)state;
	assert_string_equal(run_progress(CKPT_WHEN_ALWAYS, true, 20 * MS), "");
}

/* Results that are printed in between do not start the clock anew. */
static void
test_progress_goes_on_behind_results(void **state)
{
	(void)state;
	assert_string_equal(
		run_clearing(CKPT_WHEN_ALWAYS, false, 500 * MS, true),
		"f   20%  20 B/s  0:04 left\n"
		"f   40%  20 B/s  0:03 left\n"
		"f   60%  20 B/s  0:02 left\n"
		"f   80%  20 B/s  0:01 left\n"
		"f  100%  20 B/s\n");
	assert_string_equal(run_clearing(CKPT_WHEN_ALWAYS, true, 50 * MS, true),
		"\rf   60%  200 B/s  0:00 left\r                           \r"
		"\rf   80%  200 B/s  0:00 left\r                           \r"
		"\rf  100%  200 B/s\r                \r");
}

static void
test_progress_rewrites_and_clears(void **state)
{
	const char *text = run_progress(CKPT_WHEN_ALWAYS, true, 50 * MS);

	(void)state;
	/* Drawn at 300, 400 and 500 ms, then cleared. */
	assert_int_equal(count(text, '\r'), 3 + 2);
	assert_int_equal(count(text, '\n'), 0);
	assert_string_equal(text, "\rf   60%  200 B/s  0:00 left"
				  "\rf   80%  200 B/s  0:00 left"
				  "\rf  100%  200 B/s           "
				  "\r                \r");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_screen_color_precedence),
		cmocka_unit_test(test_screen_utf8_by_codeset),
		cmocka_unit_test(test_screen_init_reads_environment),
		cmocka_unit_test(test_progress_line_text),
		cmocka_unit_test(test_progress_off_unless_terminal),
		cmocka_unit_test(test_progress_plain_lines_each_second),
		cmocka_unit_test(test_progress_quiet_at_first),
		cmocka_unit_test(test_progress_goes_on_behind_results),
		cmocka_unit_test(test_progress_rewrites_and_clears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
