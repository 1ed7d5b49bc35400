/* SPDX-License-Identifier: MIT */
/*
 * Searching: what is said of it and what was probably meant; stopping;
 * values against the numbers that were put into a file; names by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/build35.h"
#include "support/viewing.h"

#define GOOD "corpus/llmcp35/good/selected-step8.ckpt"

static void
test_what_is_said(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "/t LLMCP35<Enter>");
	viewing_shows(&v,
		"from the start again: t LLMCP35 (1 of 1) at 0 (0x0), "
		"fixed_header.magic");
	viewing_keys(&v, "/x 01 00 04 03 02 01<Enter>");
	viewing_shows(&v, "\nx 01 00 04 03 02 01 (1 of 1) at 8 (0x8), "
			  "fixed_header.version");
	viewing_keys(&v, "/x zz<Enter>");
	viewing_shows(&v, "neither a hexadecimal digit nor ?: zz");
	viewing_keys(&v, "n");
	viewing_shows(&v, "nothing was searched for yet");
	viewing_keys(&v, "/<Enter>");
	viewing_shows(&v, "nothing was searched for yet");
	viewing_close(&v);
}

/* A search that is stopped says so, and leaves the cursor alone. */
static void
test_cancel(void **state)
{
	size_t n = 8 << 20;
	uint8_t *bytes = calloc(1, n);
	struct viewing v;

	(void)state;
	assert_non_null(bytes);
	viewing_bytes(&v, bytes, n, 24, 80);
	view_go(&v.view, 5);
	for (const char *p = "/x 01 02 03\r"; *p; p++)
		view_key(&v.view, (uint32_t)*p);
	assert_true(view_search_busy(&v.view));
	view_poll(&v.view);
	viewing_keys(&v, "<Esc>");
	assert_false(view_search_busy(&v.view));
	assert_int_equal(v.view.cursor, 5);
	assert_true(strstr(v.view.message.p, "cancelled") ||
		    strstr(v.view.message.p, "not found"));
	/* Closed in the middle of one. */
	for (const char *p = "/x 01 02 03\r"; *p; p++)
		view_key(&v.view, (uint32_t)*p);
	viewing_close(&v);
	free(bytes);
}

static ptrdiff_t (*read_at)(
	struct ckpt_source *source, void *p, size_t n, uint64_t off);

static ptrdiff_t
read_slowly(struct ckpt_source *source, void *p, size_t n, uint64_t off)
{
	const struct timespec pause = { .tv_nsec = 3 * 1000 * 1000 };

	nanosleep(&pause, NULL);
	return read_at(source, p, n, off);
}

/* The other direction while it looks in one: the nearest match that way. */
static void
test_turned_round(void **state)
{
	static const uint32_t at[] = { 1 << 20, 2 << 20, 6 << 20, 7 << 20 };
	size_t n = 8 << 20;
	uint8_t *bytes = calloc(1, n);
	struct viewing v;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 4; i++)
		memcpy(bytes + at[i], "\1\2\3", 3);
	viewing_bytes(&v, bytes, n, 24, 80);
	read_at = v.doc.source->read_at;
	v.doc.source->read_at = read_slowly;
	for (int i = 0; i < 8; i++) {
		view_go(&v.view, 4 << 20);
		for (const char *p = "/x 01 02 03\r"; *p; p++)
			view_key(&v.view, (uint32_t)*p);
		view_key(&v.view, 'N');
		if (i % 2)
			view_key(&v.view, 'n');
		view_settle(&v.view);
		assert_int_equal(v.view.cursor, at[i % 2 ? 2 : 1]);
	}
	viewing_close(&v);
	free(bytes);
}

/* What was probably meant. */
static void
test_hints(void **state)
{
	static const struct {
		const char *script, *said, *not ;
	} rows[] = {
		{ "/x<Enter>", "; bytes: /x 0a ff", NULL },
		{ "/t<Enter>", "; a text: /t words", NULL },
		{ "/f<Enter>", "; a value: /f 0.5", NULL },
		{ "/nan<Enter>", "not found: nan; as a value: /f and the",
			NULL },
		{ "/0.5<Enter>", "not found: 0.5; as a value: /f and", NULL },
		{ "/0<Enter>", " of ", "as a value" },
		{ "/nowhere<Enter>", "not found: nowhere", "as a value" },
		{ "/token<Enter>", " of ", ";" },
	};
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		viewing_keys(&v, rows[i].script);
		assert_non_null(strstr(v.view.message.p, rows[i].said));
		if (rows[i].not )
			assert_null(strstr(v.view.message.p, rows[i].not ));
	}
	viewing_close(&v);
}

/* A file whose tensors are longer than a block and lie across its ends. */
static void
build(struct b35 *b)
{
	b35_init(b);
	b35_literal(b, 3);
	b35_model(b, 256, 2, 512, 1);
	for (uint32_t i = 0; i < b->nrecords; i++)
		if (b->records[i].n % 8 == 0 && b->records[i].n > 800)
			for (uint64_t k = 0; k < b->records[i].n / 8; k++)
				b35_f64(&b->records[i], k, 1.0);
}

static void
test_values(void **state)
{
	static const struct {
		const char *script;
		double value;
	} rows[] = {
		{ "/f 0.5<Enter>", 0.5 },
		{ "/f nan<Enter>", (double)NAN },
		{ "/f inf<Enter>", (double)INFINITY },
		{ "/f -inf<Enter>", -(double)INFINITY },
		{ "/f -0x1.8p-1<Enter>", -0.75 },
		{ "/f 0<Enter>", -0.0 },
	};
	struct b35 b;
	struct viewing v;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct b35_record *r, *s;

		build(&b);
		r = &b.records[b.nrecords - 4];
		s = &b.records[b.nrecords - 2];
		assert_true(r->n > 1000 && s->n > 1000);
		b35_f64(r, 7, rows[i].value);
		b35_f64(r, r->n / 8 - 1, rows[i].value);
		b35_f64(s, 0, rows[i].value);
		b35_build(&b);
		viewing_bytes(&v, b.bytes, b.n, 24, 80);
		viewing_keys(&v, rows[i].script);
		assert_int_equal(v.view.cursor, r->data_at + 56);
		if (rows[i].value < 0 || rows[i].value > 0)
			viewing_shows(&v, " (1 of 3) at ");
		viewing_keys(&v, "n");
		assert_int_equal(v.view.cursor, r->data_at + r->n - 8);
		viewing_keys(&v, "n");
		assert_int_equal(v.view.cursor, s->data_at);
		if (isnan(rows[i].value))
			viewing_shows(&v, " (3 of 3) at ");
		viewing_keys(&v, "n");
		assert_int_equal(v.view.cursor, r->data_at + 56);
		viewing_keys(&v, "N");
		assert_int_equal(v.view.cursor, s->data_at);
		viewing_keys(&v, "N");
		assert_int_equal(v.view.cursor, r->data_at + r->n - 8);
		/* From within the element, backwards to its own start. */
		view_go(&v.view, r->data_at + r->n - 3);
		viewing_keys(&v, "N");
		assert_int_equal(v.view.cursor, r->data_at + r->n - 8);
		viewing_keys(&v, "/f 123.25<Enter>");
		viewing_shows(&v, "not found: f 123.25; nearest 1 at ");
		viewing_close(&v);
		b35_free(&b);
	}
}

/* A number as it was rounded leads to the one that was rounded, and those that
 * are not finite have no neighbours. */
static void
test_nearest(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 120);
	viewing_keys(&v, "/f 7.53112e-05<Enter>");
	viewing_shows(&v, "\nnot found: f 7.53112e-05; nearest "
			  "7.531116788009405e-05 at "
			  "second:token_embedding.weight[1,1]");
	assert_int_equal(v.view.cursor, 0);
	viewing_keys(&v, "/f 7.531116788009405e-05<Enter>");
	assert_int_equal(v.view.cursor, 6170 + 8 * 5);
	viewing_keys(&v, "/f nan<Enter>");
	viewing_shows(&v, "\nnot found: f nan");
	viewing_lacks(&v, "nearest");
	viewing_keys(&v, "/f -inf<Enter>");
	viewing_lacks(&v, "nearest");
	viewing_close(&v);
}

static void
test_value_words(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/bad/two-nan-and-name.ckpt", 24, 80);
	viewing_keys(&v, "/f nan<Enter>");
	viewing_shows(&v, "\nNaN (1 of 1) at 708 (0x2c4), "
			  "token_embedding.weight[0,0]");
	viewing_keys(&v, "n");
	viewing_shows(&v, "\nfrom the start again: NaN (1 of 1) at 708 "
			  "(0x2c4), token_embedding.weight[0,0]\n");
	viewing_close(&v);
	viewing_bytes(&v, "nothing that is known", 21, 24, 80);
	viewing_keys(&v, "/f nan<Enter>");
	viewing_shows(&v, "there are no tensors of floats");
	viewing_close(&v);
	viewing_bytes(&v, "", 0, 24, 80);
	viewing_keys(&v, "/x 00<Enter>");
	viewing_shows(&v, "the file is empty");
	viewing_keys(&v, "nN/name<Enter>");
	viewing_shows(&v, "the file is empty");
	viewing_close(&v);
}

static void
test_names(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "/EMBEDDING<Enter>");
	assert_int_equal(v.view.cursor, 2874);
	viewing_shows(&v, "\ntoken_embedding.weight, ModelParameter (1 of 3)");
	viewing_keys(&v, "n");
	viewing_shows(&v, "\ntoken_embedding.weight, OptimizerFirstMoment "
			  "(2 of 3)");
	viewing_keys(&v, "nn");
	viewing_shows(&v, "\nfrom the start again: token_embedding.weight, "
			  "ModelParameter (1 of 3)");
	viewing_keys(&v, "N");
	viewing_shows(&v, "\nfrom the end again: token_embedding.weight, "
			  "OptimizerSecondMoment (3 of 3)");
	viewing_keys(&v, "/literal-token<Enter>");
	viewing_shows(&v, "literal-token-0, ");
	assert_int_equal(v.view.cursor, 2869);
	viewing_keys(&v, "/adamw.beta<Enter>");
	viewing_shows(&v, "header.adamw.beta1 (1 of 2)");
	viewing_keys(&v, "/nowhere<Enter>");
	viewing_shows(&v, "not found: nowhere");
	viewing_close(&v);
}

/* Forwards from a match to itself again takes as many steps as there are
 * matches, and backwards too. */
static void
test_names_cycle(void **state)
{
	static const char *const words[] = { "weight", "r", "dims", "token-4",
		"records[3]" };
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		for (int back = 0; back < 2; back++) {
			uint64_t start;
			unsigned count = 0, of = 0;
			char script[40];

			snprintf(script, sizeof script, "/%s<Enter>", words[i]);
			viewing_keys(&v, script);
			start = v.view.cursor;
			sscanf(strrchr(v.view.message.p, '('), "(%*u of %u)",
				&of);
			do {
				viewing_keys(&v, back ? "N" : "n");
				count++;
			} while (v.view.cursor != start && count < 1000);
			assert_int_equal(count, of);
		}
	viewing_close(&v);
}

static void
test_roles(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	viewing_keys(&v, "/second<Enter>");
	assert_int_equal(v.view.cursor, v.doc.spans->tensors[17].off);
	viewing_shows(&v, ", OptimizerSecondMoment (1 of 11)");
	viewing_keys(&v, "/OPTIMIZERSECOND<Enter>");
	viewing_shows(&v, "OptimizerSecondMoment (2 of 11)");
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_said),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_turned_round),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_value_words),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_cycle),
		cmocka_unit_test(test_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
