/* SPDX-License-Identifier: MIT */
/*
 * Whole screens, as they are to look: the 6330-byte fixture, and a damaged
 * copy of it, in the three sizes that people have. UPDATE_GOLDEN=1 writes them
 * anew; look at the difference before it is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay/fixture.h"
#include "support/viewing.h"

static char folder[] = "/tmp/view-screens-XXXXXX";
static char good[64], damaged[64];

static void
write_file(const char *path, const struct ckpt_buf *bytes)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes->p, 1, bytes->n, f), bytes->n);
	assert_int_equal(fclose(f), 0);
}

/* The damaged one holds a NaN where a number of the embedding stood, and an
 * offset that points past the record before it. */
static int
make_files(void **state)
{
	struct ckpt_buf bytes = { 0 };
	struct ckpt_value label;

	(void)state;
	if (!mkdtemp(folder) ||
		ckpt_fixture_selected_step8(ckpt_format_find("llmcp35"), NULL,
			&bytes, &label) != CKPT_OK)
		return -1;
	snprintf(good, sizeof good, "%s/step8.ckpt", folder);
	snprintf(damaged, sizeof damaged, "%s/damaged.ckpt", folder);
	write_file(good, &bytes);
	memset(bytes.p + 2898, 0xff, 8);
	bytes.p[2861] ^= 1;
	write_file(damaged, &bytes);
	ckpt_buf_release(&bytes);
	return 0;
}

static int
remove_files(void **state)
{
	(void)state;
	unlink(good);
	unlink(damaged);
	return rmdir(folder);
}

struct shot {
	const char *name;
	int rows, cols;
	bool utf8, damaged;
	const char *keys;
};

static const struct shot shots[] = {
	{ "view_start_80x24", 24, 80, true, false, "" },
	{ "view_start_120x40", 40, 120, true, false, "" },
	{ "view_start_40x10", 10, 40, true, false, "" },
	{ "view_start_ascii", 24, 80, false, false, "" },
	{ "view_embedding_80x24", 24, 80, true, false, ":2874<Enter>x" },
	{ "view_embedding_120x40", 40, 120, true, false, ":2874<Enter>s" },
	{ "view_embedding_40x10", 10, 40, true, false, ":2874<Enter>x" },
	{ "view_inspector_zoomed", 40, 80, true, false, ":2874<Enter>iz" },
	{ "view_help_80x24", 24, 80, true, false, "?" },
	{ "view_summary_80x24", 24, 80, true, false, "S" },
	{ "view_prompt_80x24", 24, 80, true, false, "/x 0a ?? ff" },
	{ "view_found_80x24", 24, 80, true, false, "/gain<Enter>n" },
	{ "view_replay_120x40", 40, 120, true, false,
		"r0,1<Enter>1,2<Enter>0.006<Enter>" },
	{ "view_damaged_80x24", 24, 80, true, true, "]e" },
	{ "view_damaged_120x40", 40, 120, true, true, "]]" },
	{ "view_small_30x8", 8, 30, true, false, "" },
};

static void
test_view_screens(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof shots / sizeof shots[0]; i++) {
		const struct shot *s = &shots[i];
		struct viewing v;

		viewing_open(&v, s->damaged ? damaged : good, s->rows, s->cols);
		v.view.grid.utf8 = s->utf8;
		viewing_keys(&v, s->keys);
		viewing_golden(&v, s->name);
		viewing_close(&v);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view_screens),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
