/* SPDX-License-Identifier: MIT */
/*
 * Going to places: each way to write one and where it leads, numbers that do
 * not fit, names that are several, and paths of a header that is too long to
 * be kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/build35.h"
#include "support/viewing.h"
#include "view/place.h"

#define GOOD "corpus/llmcp35/good/selected-step8.ckpt"

static void
go(struct viewing *v, const char *where)
{
	viewing_keys(v, ":");
	for (; *where; where++)
		view_key(&v->view, (uint8_t)*where);
	viewing_keys(v, "<Enter>");
}

static const struct {
	const char *where;
	uint64_t from, to;
	const char *said; /* or NULL */
} rows[] = {
	{ "0", 5, 0, NULL },
	{ "2870", 0, 2870, NULL },
	{ "  2870 ", 0, 2870, NULL },
	{ "0xb36", 0, 2870, NULL },
	{ "0XB36", 0, 2870, NULL },
	{ "+16", 100, 116, NULL },
	{ "+0x10", 100, 116, NULL },
	{ "-16", 100, 84, NULL },
	{ "-0x10", 100, 84, NULL },
	{ "-101", 100, 0, "that is before the start" },
	{ "+99999999999999999999", 100, 6329, "behind the end" },
	{ "-99999999999999999999", 100, 0, "before the start" },
	{ "99999999999999999999", 100, 6329,
		"beyond 18446744073709551615 is behind the end; this "
		"is the last byte, 6329" },
	{ "0xffffffffffffffffffff", 100, 6329, "behind the end" },
	{ "6329", 0, 6329, NULL },
	{ "6330", 0, 6329, "6330 is behind the end" },
	{ "0%", 100, 0, NULL },
	{ "100%", 100, 6329, NULL },
	{ "50%", 0, 3165, NULL },
	{ "12.5 %", 0, 792, NULL },
	{ "100.01%", 7, 7, "a percentage is from 0% to 100%" },
	{ "-1%", 7, 7, "not a number of bytes: -1%" },
	{ "x%", 7, 7, "not a percentage: x%" },
	{ "%", 7, 7, "a percentage is from" },
	{ "+", 7, 7, "not a number of bytes: +" },
	{ "+0x", 7, 7, "not a number of bytes: +0x" },
	{ "token_embedding.weight", 0, 2874,
		"token_embedding.weight, ModelParameter: the first of "
		"3 of that name" },
	{ "literal-token-4", 0, 2873, "literal-token-4, " },
	{ "literal-token", 0, 2869,
		"the first of 5 with \"literal-token\" in the name" },
	{ "param:token_embedding.weight", 0, 2874, NULL },
	{ "second:token_embedding.weight", 0, 6170, NULL },
	{ "second:token_embedding.weight.data[0,1]", 0, 6178, NULL },
	{ "token[2]", 0, 2871, "literal-token-2" },
	{ "token[9]", 7, 7, "no place is called token[9]" },
	{ "records[5].data", 0, 2874, "token_embedding.weight" },
	{ "records[5].data[1,2]", 0, 2874 + 8 * 6, NULL },
	{ "records[5].data[7]", 0, 2874 + 8 * 7, NULL },
	{ "records[5].data[4,3]", 0, 3026, NULL },
	{ "records[5].data[5,0]", 7, 7, "the tensor has no element [5,0]" },
	{ "records[5].data[0,4]", 7, 7, "no element [0,4]" },
	{ "records[5].data[20]", 7, 7, "no element [20]" },
	{ "records[5].data[1,2", 7, 7, "an element is data[7]" },
	{ "records[5].data[]", 7, 7, "an element is data[7]" },
	{ "records[5].data[1,2].x", 7, 7, "an element is data[7]" },
	{ "records[5].data[99999999999999999999]", 7, 7, "no element" },
	{ "records[99]", 7, 7, "there is no such record" },
	{ "records[99999999999999999999]", 7, 7, "there is no such record" },
	{ "records[5].nothing", 7, 7,
		"no field has the path records[5].nothing" },
	{ "fixed_header.checksum", 0, 30, NULL },
	{ "CHECKSUM", 0, 30, "fixed_header.checksum" },
	{ "header.adamw", 0, 131,
		"the first of 5 with \"header.adamw\" in the path" },
	/* What is in a tensor, behind its name alone. */
	{ "token_embedding.weight[0,1]", 0, 2874 + 8,
		"token_embedding.weight, ModelParameter: the first of "
		"3 of that name" },
	{ "token_embedding.weight.data[4,3]", 0, 3026, NULL },
	{ "token_embedding.weight[7]", 0, 2874 + 8 * 7, NULL },
	{ "token_embedding.weight.data", 0, 2874, NULL },
	{ "token_embedding.weight[5,0]", 7, 7,
		"the tensor has no element [5,0]" },
	{ "token_embedding.weight[", 7, 7,
		"no place is called token_embedding.weight[" },
	{ "token_embedding.weight.nothing", 7, 7,
		"no place is called token_embedding.weight.nothing" },
	{ "second:token_embedding.weight[0,1]", 0, 6178, NULL },
	{ "literal-token-2[0]", 0, 2871, NULL },
	{ "token[2][0]", 0, 2871, NULL },
	{ "token[2].data[0]", 0, 2871, NULL },
	{ "records[5][1,2]", 0, 2874 + 8 * 6, NULL },
	/* A part of a name behind its role. */
	{ "second:token", 0, 6170,
		"token_embedding.weight, OptimizerSecondMoment" },
	{ "second:ATTENTION.", 0, 4154,
		"the first of 4 with \"second:ATTENTION.\"" },
	{ "second:", 7, 7, "no place is called second:" },
	{ "second:nothing", 7, 7, "no place is called" },
	/* The least and the greatest element of the tensor here. */
	{ "max", 6171, 6170 + 8 * 5,
		"max 7.531116788009405e-05 at [1,1] of "
		"token_embedding.weight, OptimizerSecondMoment" },
	{ "min", 6329, 6170 + 8 * 3, "min 2.1322462180266746e-06 at [0,3] of" },
	{ "max", 2874, 2874 + 8 * 8, "max 0.7152623616189918 at [2,0] of" },
	{ "max", 7, 7, "there is no tensor here, so no max" },
	{ "CK1006", 7, 7,
		"CK1006 checksum-mismatch: there is no such finding" },
	{ "checksum-mismatch", 7, 7, "there is no such finding" },
	{ "b36", 7, 7,
		"hexadecimal offsets begin with 0x; no place is called "
		"b36" },
	{ "no such thing", 7, 7, "no place is called no such thing" },
};

static void
test_places(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 120);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		view_go(&v.view, rows[i].from);
		go(&v, rows[i].where);
		if (v.view.cursor != rows[i].to)
			fail_msg("%s: %llu, not %llu (%s)", rows[i].where,
				(unsigned long long)v.view.cursor,
				(unsigned long long)rows[i].to,
				v.view.message.p ? v.view.message.p : "");
		if (rows[i].said)
			viewing_shows(&v, rows[i].said);
		else if (v.view.message.n > 0) /* its name and role */
			assert_non_null(strchr(v.view.message.p, ','));
	}
	go(&v, "records[5]");
	viewing_shows(&v, "records[5].role");
	go(&v, "records[5].dims[1]");
	viewing_shows(&v, "records[5].dims[1]");
	go(&v, "records[5].name.bytes");
	viewing_shows(&v, "records[5].name.bytes");
	go(&v, "second:token_embedding.weight.offset");
	viewing_shows(&v, "records[37].offset");
	go(&v, "token_embedding.weight.offset");
	viewing_shows(&v, "records[5].offset");
	viewing_close(&v);
}

/* Every element of every tensor, and every field, by the path that the last
 * line shows for it. */
static void
test_paths_lead_back(void **state)
{
	struct viewing v;
	struct ckpt_buf path = { 0 };

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	for (uint64_t off = 0; off < v.doc.size; off += off < 2900 ? 1 : 8) {
		struct view_owner owner;
		uint64_t element, start = off;

		assert_true(view_doc_owner(&v.doc, off, &owner));
		ckpt_buf_clear(&path);
		ckpt_owner_write(&path, owner.spans, &owner.owner, off);
		if (owner.span)
			assert_true(ckpt_span_element(
				owner.span, off, &element, &start));
		else if (owner.field->type != CKPT_STR)
			start = owner.off;
		else
			start = owner.off + (off - owner.off < 4 ? 0 : 4);
		assert_true(view_go_to(&v.view, path.p));
		assert_int_equal(v.view.cursor, start);
	}
	ckpt_buf_release(&path);
	viewing_close(&v);
}

/* The same by the name that the last line shows for it. */
static void
test_names_lead_back(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, GOOD, 24, 80);
	for (uint64_t off = 2869; off < v.doc.size; off += off < 2874 ? 1 : 8) {
		struct ckpt_buf name = { 0 };

		view_place_write(&name, &v.view, off, 200);
		assert_non_null(strstr(name.p, "  records["));
		*strstr(name.p, "  records[") = '\0';
		view_go(&v.view, 0);
		assert_true(view_go_to(&v.view, name.p));
		assert_int_equal(v.view.cursor, off);
		ckpt_buf_release(&name);
	}
	viewing_close(&v);
}

/* An element that only a long reading finds: a key that is pressed meanwhile
 * keeps the cursor where it is. */
static void
test_extreme_is_left(void **state)
{
	struct b35 b;
	struct viewing v;
	struct b35_record *r;

	(void)state;
	b35_init(&b);
	b35_literal(&b, 3);
	b35_model(&b, 256, 2, 4096, 1);
	r = &b.records[0];
	for (uint32_t i = 1; i < b.nrecords; i++)
		if (b.records[i].n > r->n)
			r = &b.records[i];
	assert_true(r->n >= 8 << 20);
	b35_f64(r, r->n / 8 - 2, 3);
	b35_f64(r, r->n / 8 - 1, -3);
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 24, 80);
	view_go(&v.view, r->data_at + 1);
	view_key(&v.view, ':');
	for (const char *p = "max\r"; *p; p++)
		view_key(&v.view, (uint32_t)*p);
	assert_true(view_busy(&v.view));
	viewing_keys(&v, "o");
	assert_int_equal(v.view.cursor, r->data_at + 1);
	go(&v, "max");
	assert_int_equal(v.view.cursor, r->data_at + r->n - 16);
	/* It is known by now. */
	view_go(&v.view, r->data_at);
	view_key(&v.view, ':');
	for (const char *p = "min\r"; *p; p++)
		view_key(&v.view, (uint32_t)*p);
	assert_int_equal(v.view.cursor, r->data_at + r->n - 8);
	viewing_close(&v);
	b35_free(&b);
}

static void
test_findings(void **state)
{
	struct viewing v;

	(void)state;
	viewing_open(&v, "corpus/llmcp35/bad/two-nan-and-name.ckpt", 24, 80);
	go(&v, "CK4001");
	assert_int_equal(v.view.cursor, 0x2c4);
	go(&v, "bad-parameter-name");
	assert_int_equal(v.view.cursor, 0x1af);
	viewing_keys(&v, "''");
	assert_int_equal(v.view.cursor, 0x2c4);
	viewing_close(&v);
}

/* Shapes and offsets that lie. */
static void
test_lies(void **state)
{
	static const char *const files[] = { "shape-overflow",
		"tensor-end-overflow", "offset-zero", "byte-length", "dtype-0",
		"hostile-rank", "parameter-rank-0", "offset-gap",
		"truncated-header", "empty", "odd-head",
		"record-count-overflow" };
	static const char *const places[] = { "records[3].data[1,2]",
		"records[3].data[0]", "records[3].data[18446744073709551614]",
		"records[3].data[4294967295,4294967295]", "records[3].data",
		"records[0].offset", "records[3]", "param:final_norm.gain",
		"50%", "+1", "max", "min", "final_norm.gain[0]", "second:final",
		"final_norm.gain.data[4294967295,1]", "CK4001", "e", "final",
		"token[0].data[0]" };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct viewing v;
		char path[100];

		snprintf(path, sizeof path, "corpus/llmcp35/bad/%s.ckpt",
			files[i]);
		viewing_open(&v, path, 24, 80);
		for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
			go(&v, places[k]);
			assert_true(v.view.cursor < v.doc.size ||
				    v.view.cursor == 0);
			viewing_screen(&v);
		}
		viewing_close(&v);
	}
}

/* More fields than are kept in memory: those of late records are read
 * again. */
static void
test_long_header(void **state)
{
	struct b35 b;
	struct viewing v;

	(void)state;
	b35_init(&b);
	b35_literal(&b, 12000);
	b35_build(&b);
	viewing_bytes(&v, b.bytes, b.n, 24, 80);
	assert_non_null(v.doc.spans);
	assert_true(v.doc.spans->fields_cut);
	go(&v, "records[11990].offset");
	assert_int_equal(v.view.cursor, b35_at_offset(&b.records[11990]));
	viewing_shows(&v, "records[11990].offset");
	go(&v, "token[11000].byte_length");
	assert_int_equal(v.view.cursor, b35_at_length(&b.records[11000]));
	go(&v, "records[11999].dims[0]");
	assert_int_equal(v.view.cursor, b35_at_dim(&b.records[11999], 0));
	go(&v, "records[11999].data[0]");
	assert_int_equal(v.view.cursor, b.records[11999].data_at);
	go(&v, "records[11999].nothing");
	viewing_shows(&v, "no field has the path");
	viewing_close(&v);
	b35_free(&b);
}

static void
test_empty(void **state)
{
	struct viewing v;

	(void)state;
	viewing_bytes(&v, "", 0, 24, 80);
	go(&v, "50%");
	viewing_shows(&v, "the file is empty");
	go(&v, "");
	assert_int_equal(v.view.message.n, 0);
	viewing_close(&v);
	viewing_bytes(&v, "x", 1, 24, 80);
	go(&v, "100%");
	assert_int_equal(v.view.cursor, 0);
	go(&v, "fixed_header.magic");
	viewing_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_paths_lead_back),
		cmocka_unit_test(test_names_lead_back),
		cmocka_unit_test(test_extreme_is_left),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_long_header),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
