/* SPDX-License-Identifier: MIT */
/*
 * The page of what the file holds: its words for a valid file, a broken one
 * and none of ours; families that add up to the file; wrapping at any width.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/viewing.h"
#include "view/summary_text.h"

#define GOOD "corpus/llmcp35/good/"
#define BAD  "corpus/llmcp35/bad/"

static void
test_valid(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 90, 100);
	viewing_keys(&v, "S");
	viewing_shows(&v, "-[summary]-");
	viewing_shows(&v,
		"\n file                selected-step8.ckpt\n"
		" format              llmcp35 v1 (LLMCP35 checkpoint)\n"
		" size                6330 bytes\n"
		" verdict             valid (integrity, not authenticity)\n"
		" findings            none\n"
		" header_bytes        2869\n");
	viewing_shows(&v,
		"\n family      records  elements  bytes  share\n"
		" header            -         -   2869  45.3%\n"
		" tokenizer         5         5      5   0.1%\n"
		" parameters       11       144   1152  18.2%\n"
		" moments          22       288   2304  36.4%\n"
		" gradients         0         0      0   0.0%  none at a clean "
		"boundary\n"
		" file             38             6330\n");
	viewing_shows(&v, "\n settings\n fixed_header.magic ");
	viewing_shows(&v, "\n header.decoder.width               4\n");
	viewing_lacks(&v, "groups.decay[0]");
	viewing_shows(&v,
		"\n stored:                                 tokenizer,"
		" model, optimizer,");
	viewing_shows(&v, "\n supplied by the caller for one update:  next "
			  "batch, next learning rate\n");
	viewing_shows(&v, "\n still required to continue training:    trainer "
			  "capture at creation, ");
	viewing_shows(&v, "\n outside the file:                       model "
			  "lineage, ");
	viewing_keys(&v, "q");
	viewing_lacks(&v, "summary");
	viewing_close(&v);
}

static void
test_invalid(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, BAD "offset-gap.ckpt", 60, 80);
	viewing_keys(&v, "S");
	viewing_shows(&v, "verdict             invalid: CK3004 ");
	viewing_shows(&v, "findings            1 error (e shows them)\n");
	viewing_shows(&v, "\n gaps              -         -      8   0.9%\n");
	viewing_close(&v);
	viewing_bytes(&v, "no checkpoint", 13, 60, 80);
	viewing_keys(&v, "S");
	viewing_shows(&v, "format    none that is known");
	viewing_shows(&v, "verdict   invalid: CK100");
	viewing_shows(&v, "\n bytes of nobody        -         -     13  100.0%"
			  "\n");
	viewing_lacks(&v, "gradients");
	viewing_lacks(&v, "stored");
	viewing_close(&v);
	viewing_open(&v, BAD "empty.ckpt", 60, 80);
	viewing_keys(&v, "S");
	viewing_shows(&v, "size      0 bytes");
	viewing_close(&v);
}

/* The line of a family in the words, and the number in its column. */
static uint64_t
bytes_of(const char *text, const char *family)
{
	const char *line = strstr(text, family);
	uint64_t n = 0;

	if (!line)
		return 0;
	line += strlen(family);
	for (int i = 0; i < 3; i++) {
		char word[64];
		int k = 0;

		assert_int_equal(sscanf(line, " %63s%n", word, &k), 1);
		line += k;
		n = strtoull(word, NULL, 10);
	}
	return n;
}

static void
test_families_add_up(void **state)
{
	static const char *const files[] = { GOOD "bpe.ckpt", GOOD "tiny.ckpt",
		BAD "offset-gap.ckpt", BAD "offset-overlap.ckpt",
		BAD "hostile-name.ckpt", BAD "joined.ckpt",
		BAD "no-moments.ckpt" };
	static const char *const families[] = { "\nheader ", "\ntokenizer ",
		"\nparameters ", "\nmoments ", "\nother records ", "\ngaps ",
		"\nbytes of nobody " };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct viewing v;
		struct ckpt_buf text = { 0 };
		uint64_t sum = 0;

		viewing_open(&v, files[i], 24, 80);
		view_summary_write(&text, &v.doc);
		for (size_t k = 0; k < 7; k++)
			sum += bytes_of(text.p, families[k]);
		assert_int_equal(sum, v.doc.size);
		ckpt_buf_release(&text);
		viewing_close(&v);
	}
}

/* Whatever the width, all words are there, by scrolling. */
static void
test_wrapping(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD "selected-step8.ckpt", 10, 40);
	for (int cols = 40; cols < 130; cols += 9) {
		view_resize(&v.view, 10, cols);
		viewing_keys(&v, "SG");
		viewing_shows(&v, "gradients\n0x");
		viewing_keys(&v, "gG<PgUp><PgUp><C-u><C-d>kjg");
		viewing_shows(&v, "[summary, lines 1-6 of ");
		viewing_shows(&v, "selected-step8.ckpt\n");
		viewing_keys(&v, "q");
	}
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_families_add_up),
		cmocka_unit_test(test_wrapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
