/* SPDX-License-Identifier: MIT */
/*
 * Nothing that a file holds and nothing that is pressed may crash the viewer,
 * or bring a control character to the screen. Every file of the corpus, and
 * random bytes behind random heads, are walked through by random keys, clicks
 * and resizes. CKPT_VIEW_KEYS and CKPT_VIEW_FILES ask for longer walks.
 */
#include <dirent.h>
#include <fts.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "support/viewing.h"

static uint64_t seed = 1;

static uint64_t
draw(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

static unsigned long
wanted(const char *name, unsigned long otherwise)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 10) : otherwise;
}

/* Words that lead somewhere, and keys that do. */
static const char *const scripts[] = { "j", "k", "h", "l", "<Down>", "<Down>",
	"<Up>", "<Enter>", "<Enter>", "<Tab>", "<S-Tab>", "<PgDn>", "<PgUp>",
	"g", "G", "<C-d>", "<C-u>", "<Space>", "{", "}", "[", "]", "u", "-",
	"+", "T", "x", "i", "s", "e", "S", "z", "o", "t", "v", "?", "q",
	"<Esc>", "n", "N", "ma", "'a", "''", "m\xc3\xa9", ":50%<Enter>",
	":0x10<Enter>", ":+7<Enter>", ":-99999999999999999999<Enter>",
	":token<Enter>", ":CK1006<Enter>", ":records[1].data[0]<Enter>",
	":records[2].dims<Enter>", ":\xff<Enter>", "/e<Enter>",
	"/x 00 ?? 0?<Enter>", "/x zz<Enter>", "/f nan<Enter>", "/f 0.5<Enter>",
	"/t a<Enter>", "/<Up><Enter>", "fgain<Enter>", "f<C-u><Enter>",
	"w<Enter>", "w<C-u>out<Enter>",
	"r<C-u>0<Enter><C-u>0<Enter><C-u>0.1<Enter>", "r<Esc>",
	"/abc<Left><BS>", "<C-l>", "<F5>", "<Home>", "<End>", "<C-g>", "c" };

static void
assert_clean(struct viewing *v)
{
	const char *screen = viewing_screen(v);
	size_t n = strlen(screen);

	assert_true(ckpt_utf8_valid(screen, n, NULL));
	for (size_t i = 0; i < n; i++) {
		uint8_t c = (uint8_t)screen[i];

		assert_true((c >= ' ' && c != 0x7f) || c == '\n');
		/* C1 controls */
		assert_false(c == 0xc2 && (uint8_t)screen[i + 1] < 0xa0);
	}
}

static void
one_step(struct viewing *v)
{
	static const int rows[] = { 24, 40, 10, 1, 60, 9, 18 },
			 cols[] = { 80, 120, 40, 1, 220, 39, 72 };
	size_t n = sizeof scripts / sizeof scripts[0];
	int row = (int)draw(60), col = (int)draw(220);

	switch (draw(20)) {
	case 0: view_resize(&v->view, rows[draw(7)], cols[draw(7)]); break;
	case 1: view_click(&v->view, row, col, draw(2)); break;
	case 2: view_wheel(&v->view, row, col, draw(2) ? 3 : -3); break;
	case 3: v->view.grid.utf8 = draw(2); break;
	default: viewing_keys(v, scripts[draw(n)]); break;
	}
	v->view.quit = v->view.reload = false;
}

static void
walk(struct viewing *v, unsigned long keys)
{
	assert_clean(v);
	for (unsigned long i = 0; i < keys; i++) {
		one_step(v);
		assert_clean(v);
	}
}

/* What is exported and bookmarked must not stay. */
static int
enter_temporary(void **state)
{
	static char folder[] = "/tmp/view-random-XXXXXX";
	char *root = realpath("corpus", NULL);

	assert_non_null(root);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(setenv("XDG_STATE_HOME", folder, 1), 0);
	*state = root;
	return 0;
}

static int
leave_temporary(void **state)
{
	char here[256];

	free(*state);
	if (!getcwd(here, sizeof here) || strncmp(here, "/tmp/", 5) != 0)
		return -1;
	FTS *fts = fts_open((char *[]){ here, NULL }, FTS_PHYSICAL, NULL);

	for (FTSENT *e; fts && (e = fts_read(fts));)
		if (e->fts_info != FTS_D)
			remove(e->fts_accpath);
	if (fts)
		fts_close(fts);
	return chdir("/");
}

static void
test_view_walks_through_the_corpus(void **state)
{
	unsigned long keys = wanted("CKPT_VIEW_KEYS", 40), files = 0;
	FTS *fts = fts_open(
		(char *[]){ *state, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	assert_non_null(fts);
	for (FTSENT *e; (e = fts_read(fts));) {
		struct viewing v;

		if (e->fts_info != FTS_F)
			continue;
		viewing_open(&v, e->fts_path, 24, 80);
		walk(&v, keys);
		viewing_close(&v);
		files++;
	}
	fts_close(fts);
	assert_true(files > 100);
}

static void
test_view_walks_through_random_bytes(void **state)
{
	unsigned long files = wanted("CKPT_VIEW_FILES", 60);
	unsigned long keys = wanted("CKPT_VIEW_KEYS", 40);

	(void)state;
	for (unsigned long i = 0; i < files; i++) {
		static const char head[] = "LLMCP35\0\1\0\4\3\2\1";
		uint8_t bytes[2000];
		size_t n = (size_t)draw(sizeof bytes);
		struct viewing v;

		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)(draw(3) ? draw(256) : draw(3));
		if (draw(2) && n > sizeof head)
			memcpy(bytes, head, sizeof head - 1);
		viewing_bytes(&v, bytes, n, 24, 80);
		walk(&v, keys);
		viewing_close(&v);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view_walks_through_the_corpus),
		cmocka_unit_test(test_view_walks_through_random_bytes),
	};

	return cmocka_run_group_tests(tests, enter_temporary, leave_temporary);
}
