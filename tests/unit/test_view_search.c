/* SPDX-License-Identifier: MIT */
/*
 * Searching: patterns against a slow matcher that looks at every place, in
 * both directions, round the ends and across the blocks that the job reads;
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

#include "support/build35.h"
#include "support/viewing.h"
#include "view/search_pattern.h"

#define GOOD "corpus/llmcp35/good/selected-step8.ckpt"

static uint64_t seed = 3;

static uint64_t
pick(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* ---- Patterns ----------------------------------------------------------- */

static void
test_parse_bytes(void **state)
{
	static const uint8_t bytes[] = { 0x0a, 0, 0xff, 0xa0, 0x0b };
	static const uint8_t mask[] = { 0xff, 0, 0xff, 0xf0, 0x0f };
	static const char *const same[] = { "x 0a ?? ff a? ?b", "/x 0A??FFA??B",
		"x   0a??  ff a??b  " };
	struct view_pattern p;
	struct ckpt_buf why = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		assert_true(view_pattern_parse(&p, same[i], &why));
		assert_int_equal(p.kind, VIEW_SEARCH_BYTES);
		assert_int_equal(p.n, 5);
		assert_memory_equal(p.bytes, bytes, 5);
		assert_memory_equal(p.mask, mask, 5);
		assert_int_equal(p.anchor, 0);
	}
	assert_true(view_pattern_parse(&p, "x 00 ?? 00 01", &why));
	assert_int_equal(p.anchor, 3);
	assert_true(view_pattern_parse(&p, "t a b", &why));
	assert_int_equal(p.n, 3);
	assert_memory_equal(p.bytes, "a b", 3);
	assert_true(view_pattern_parse(&p, "t é", &why));
	assert_memory_equal(p.bytes, "\xc3\xa9", 2);
	assert_int_equal(why.n, 0);
	ckpt_buf_release(&why);
}

static void
test_parse_values(void **state)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{ "f 0.5", 0.5 },
		{ "/f  -1e3 ", -1000 },
		{ "f 0x1.8p1", 3 },
		{ "f inf", (double)INFINITY },
		{ "f -inf", -(double)INFINITY },
		{ "f bits:3ff0000000000000", 1 },
	};
	struct view_pattern p;
	struct ckpt_buf why = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_true(view_pattern_parse(&p, rows[i].text, &why));
		assert_int_equal(p.kind, VIEW_SEARCH_VALUE);
		assert_true(p.value == rows[i].value);
	}
	assert_true(view_pattern_parse(&p, "f nan", &why));
	assert_true(isnan(p.value));
	ckpt_buf_release(&why);
}

static void
test_parse_names(void **state)
{
	static const char *const names[] = { "x", "f", "f0.5", "xylophone",
		"token", "for x" };
	struct view_pattern p;
	struct ckpt_buf why = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_true(view_pattern_parse(&p, names[i], &why));
		assert_int_equal(p.kind, VIEW_SEARCH_NAME);
		assert_string_equal(p.name, names[i]);
	}
	ckpt_buf_release(&why);
}

static void
test_parse_errors(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "x 0", "a byte has two digits: 0a, a?, ??" },
		{ "x 0 a", "a byte has two digits: 0a, a?, ??" },
		{ "x 0a g1", "neither a hexadecimal digit nor ?: g1" },
		{ "x 0x0a", "neither a hexadecimal digit nor ?: x0a" },
		{ "x \x1b[", "neither a hexadecimal digit nor ?: \\x1b[" },
		{ "x ", "which bytes? as in: x 0a ?? ff" },
		{ "/x", "which bytes? as in: x 0a ?? ff" },
		{ "x ?? ??", "?? alone is everywhere" },
		{ "t ", "which text? as in: t hello" },
		{ "f ", "which value? as in: f 0.5, f nan, f -inf" },
		{ "f 0.5.1", "not a number: 0.5.1" },
		{ "f one", "not a number: one" },
		{ "", "nothing to search for" },
	};
	struct view_pattern p;
	char longest[4000];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_buf why = { 0 };

		assert_false(view_pattern_parse(&p, rows[i].text, &why));
		assert_string_equal(why.p, rows[i].why);
		ckpt_buf_release(&why);
	}
	for (int i = 0; i < 2; i++) {
		struct ckpt_buf why = { 0 };

		memset(longest, 'a', sizeof longest - 1);
		longest[sizeof longest - 1] = '\0';
		memcpy(longest, i ? "t " : "x ", 2);
		assert_false(view_pattern_parse(&p, longest, &why));
		assert_string_equal(why.p, "at most 1024 bytes");
		ckpt_buf_release(&why);
	}
}

/* ---- Bytes against a slow search ---------------------------------------- */

static bool
at_place(
	const struct view_pattern *p, const uint8_t *bytes, size_t n, size_t at)
{
	if (at > n || n - at < p->n)
		return false;
	for (size_t i = 0; i < p->n; i++)
		if ((bytes[at + i] & p->mask[i]) != p->bytes[i])
			return false;
	return true;
}

static void
test_find(void **state)
{
	uint8_t bytes[64];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct view_pattern p = { .n = 1 + pick(4) };
		size_t n = pick(sizeof bytes), starts = pick(70), at = 99;
		size_t first = SIZE_MAX, last = SIZE_MAX;

		for (size_t i = 0; i < sizeof bytes; i++)
			bytes[i] = (uint8_t)pick(3);
		p.anchor = p.n;
		for (size_t i = 0; i < p.n; i++) {
			static const uint8_t masks[] = { 0xff, 0, 0x0f, 0xff };

			p.mask[i] = masks[pick(4)];
			p.bytes[i] = (uint8_t)(pick(3) & p.mask[i]);
			if (p.mask[i] == 0xff && pick(2))
				p.anchor = i;
		}
		for (size_t i = 0; i < starts; i++)
			if (at_place(&p, bytes, n, i)) {
				first = first == SIZE_MAX ? i : first;
				last = i;
			}
		assert_int_equal(
			view_pattern_find(&p, bytes, n, starts, false, &at),
			first != SIZE_MAX);
		if (first != SIZE_MAX)
			assert_int_equal(at, first);
		assert_int_equal(
			view_pattern_find(&p, bytes, n, starts, true, &at),
			last != SIZE_MAX);
		if (last != SIZE_MAX)
			assert_int_equal(at, last);
	}
}

/* The next place from the cursor on, round the end; SIZE_MAX: none. */
static size_t
slow(const struct view_pattern *p, const uint8_t *bytes, size_t n,
	size_t cursor, bool back)
{
	for (size_t i = 1; i <= n; i++) {
		size_t at = back ? (cursor + n - i) % n : (cursor + i) % n;

		if (at_place(p, bytes, n, at))
			return at;
	}
	return SIZE_MAX;
}

static void
test_bytes_everywhere(void **state)
{
	static const char *const scripts[] = { "/x 01<Enter>",
		"/x 00 01<Enter>", "/x ?1 ?? 02<Enter>", "/x 02 02 02<Enter>",
		"/x 07<Enter>" };
	uint8_t bytes[97];
	struct viewing v;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)pick(3);
	viewing_bytes(&v, bytes, sizeof bytes, 24, 80);
	for (size_t s = 0; s < 5; s++) {
		struct view_pattern p;
		struct ckpt_buf why = { 0 };
		char text[40];

		snprintf(text, sizeof text, "%s", scripts[s] + 1);
		*strchr(text, '<') = '\0';
		assert_true(view_pattern_parse(&p, text, &why));
		ckpt_buf_release(&why);
		viewing_keys(&v, scripts[s]);
		for (size_t at = 0; at < sizeof bytes; at++)
			for (int back = 0; back < 2; back++) {
				size_t want =
					slow(&p, bytes, sizeof bytes, at, back);

				view_go(&v.view, at);
				viewing_keys(&v, back ? "N" : "n");
				assert_int_equal(v.view.cursor,
					want == SIZE_MAX ? at : want);
			}
	}
	viewing_shows(&v, "not found: x 07");
	viewing_close(&v);
}

/* Planted round the ends of blocks of a large file. */
static void
test_blocks(void **state)
{
	static const uint8_t word[] = { 0xde, 0xad, 0xbe, 0xef };
	const size_t million = 1 << 20, n = 3 * million + 100;
	const size_t places[] = { 0, million - 3, million + 50, 2 * million - 1,
		2 * million + 1000, 3 * million - 4, n - 4 };
	enum { PLACES = sizeof places / sizeof places[0] };
	uint8_t *bytes = calloc(1, n);
	struct viewing v;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < PLACES; i++)
		memcpy(bytes + places[i], word, sizeof word);
	viewing_bytes(&v, bytes, n, 24, 80);
	viewing_keys(&v, "/x de ad be ef<Enter>");
	for (size_t i = 1; i < 2 * PLACES; i++) {
		assert_int_equal(v.view.cursor, places[i % PLACES]);
		viewing_keys(&v, "n");
	}
	view_go(&v.view, 0);
	for (size_t i = 2 * PLACES; i > 0; i--) {
		viewing_keys(&v, "N");
		assert_int_equal(v.view.cursor, places[(i - 1) % PLACES]);
	}
	/* From places that are not at a word. */
	for (size_t i = 0; i < PLACES; i++) {
		size_t at = places[i] + (i + 1 < PLACES ? 1 : 0);

		view_go(&v.view, at);
		viewing_keys(&v, "N");
		assert_int_equal(v.view.cursor,
			i + 1 < PLACES ? places[i] : places[i - 1]);
	}
	viewing_close(&v);
	free(bytes);
}

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

/* ---- Values ------------------------------------------------------------- */

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

/* Which match it is, against counting by hand. */
static void
test_counts(void **state)
{
	uint8_t bytes[300];
	size_t all = 0, before = 0;
	char want[60];
	struct viewing v;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)pick(2);
	for (size_t i = 0; i + 1 < sizeof bytes; i++)
		all += bytes[i] == 0 && bytes[i + 1] == 0;
	viewing_bytes(&v, bytes, sizeof bytes, 24, 80);
	view_go(&v.view, sizeof bytes - 1);
	for (size_t i = 0; i + 1 < sizeof bytes; i++) {
		if (bytes[i] || bytes[i + 1])
			continue;
		viewing_keys(&v, before++ ? "n" : "/x 00 00<Enter>");
		assert_int_equal(v.view.cursor, i);
		snprintf(want, sizeof want, "x 00 00 (%zu of %zu) at %zu ",
			before, all, i);
		viewing_shows(&v, want);
	}
	assert_int_equal(before, all);
	viewing_close(&v);
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

/* ---- Names -------------------------------------------------------------- */

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_bytes),
		cmocka_unit_test(test_parse_values),
		cmocka_unit_test(test_parse_names),
		cmocka_unit_test(test_parse_errors),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_bytes_everywhere),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_what_is_said),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_value_words),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
