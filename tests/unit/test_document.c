/* SPDX-License-Identifier: MIT */
/*
 * JSON as Python's json module takes it. What stands below as good and bad was
 * tried with that module; the tree is compared with jansson's where both read
 * a text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sets/document.h"

struct read {
	struct ckpt_arena arena;
	struct ckpt_doc doc;
};

/* The text stands alone in memory, so that a sanitiser sees a read past it. */
static bool
reads(struct read *r, const char *text, size_t n, bool unique)
{
	char *copy = malloc(n ? n : 1);
	bool good;

	assert_non_null(copy);
	memcpy(copy, text, n);
	ckpt_arena_init(&r->arena, 1 << 24);
	assert_int_equal(
		ckpt_doc_read(&r->doc, &r->arena, copy, n, unique), CKPT_OK);
	good = r->doc.root != NULL;
	assert_int_equal(good, r->doc.fault == NULL);
	assert_true(r->doc.fault_at <= n);
	free(copy);
	return good;
}

static bool
is_good(const char *text, size_t n)
{
	struct read r;
	bool good = reads(&r, text, n, false);

	ckpt_arena_release(&r.arena);
	return good;
}

static const char *const good[] = { "0", "-0", "null", " [ ] ", "{}", "\"\"",
	"\t\r\n {\"a\" : [1 , 2] } \n", "NaN", "[Infinity,-Infinity]", "1e999",
	"-1E+5", "1.5e-3", "123456789012345678901234567890", "\"\\ud800\"",
	"\"\\udc00\\ud800\"", "\"\\u0000\\/\\b\"", "\"\x7f\xc2\x80\"",
	"{\"a\":1,\"a\":2}", "true", "\"\\uD83D\\uDE00\"" };

static const char *const bad[] = { "", " ", "[", "{", "[1,]", "{\"a\":1,}",
	"{\"a\"}", "{\"a\":}", "{a:1}", "{1:1}", "[1 2]", "01", "1.", ".5",
	"1e", "+1", "-", "-NaN", "nan", "Inf", "infinity", "tru", "nulll", "\"",
	"\"\\\"", "\"\\x41\"", "\"\\u12\"", "\"\\u12g4\"", "\"\t\"", "\"\x1f\"",
	"\"\n\"", "[1]x", "[1],", "]", "}", "[}", "{]", "'a'", "/**/1",
	"\xef\xbb\xbf{}", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc3\"" };

static void
test_document_takes_what_python_takes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		if (!is_good(good[i], strlen(good[i])))
			fail_msg("rejected: %s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (is_good(bad[i], strlen(bad[i])))
			fail_msg("taken: %s", bad[i]);
	assert_false(is_good("[\0]", 3));
	assert_false(is_good("\"\0\"", 3));
}

static void
test_document_is_as_deep_as_promised(void **state)
{
	char text[2 * CKPT_DOC_DEPTH + 2];

	(void)state;
	for (size_t depth = CKPT_DOC_DEPTH; depth <= CKPT_DOC_DEPTH + 1;
		depth++) {
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		assert_int_equal(
			is_good(text, 2 * depth), depth == CKPT_DOC_DEPTH);
	}
}

/* ---- The tree ----------------------------------------------------------- */

static void
compare(const struct ckpt_doc_value *ours, json_t *theirs)
{
	uint64_t u;
	double x;
	size_t i = 0;

	switch (ours->kind) {
	case CKPT_DOC_NULL: assert_true(json_is_null(theirs)); break;
	case CKPT_DOC_FALSE: assert_true(json_is_false(theirs)); break;
	case CKPT_DOC_TRUE: assert_true(json_is_true(theirs)); break;
	case CKPT_DOC_NUMBER:
		assert_true(ckpt_doc_f64(ours, &x));
		assert_true(x == json_number_value(theirs));
		if (json_is_integer(theirs) && json_integer_value(theirs) >= 0)
			assert_true(ckpt_doc_u64(ours, &u) &&
				    u == (uint64_t)json_integer_value(theirs));
		break;
	case CKPT_DOC_STRING:
		assert_int_equal(ours->n, json_string_length(theirs));
		assert_memory_equal(
			ours->p, json_string_value(theirs), (size_t)ours->n);
		break;
	case CKPT_DOC_ARRAY:
		assert_int_equal(ours->n, json_array_size(theirs));
		for (const struct ckpt_doc_value *v = ours->first; v;
			v = v->next)
			compare(v, json_array_get(theirs, i++));
		break;
	case CKPT_DOC_OBJECT:
		assert_int_equal(ours->n, json_object_size(theirs));
		for (const struct ckpt_doc_value *v = ours->first; v;
			v = v->next)
			compare(v, json_object_getn(theirs, v->key, v->key_n));
		break;
	}
}

static void
test_document_agrees_with_jansson(void **state)
{
	static const char *const texts[] = {
		"{\"metadata\":{\"total_size\":2048000,\"f\":128.0},"
		"\"weight_map\":{\"a.b\":\"m-1\",\"\\u00e9\\n\":\"\\\"x\\\\\"}"
		"}",
		"[0,-0,1,-1,1.5,1e3,-2.5E-3,9007199254740993]",
		"[9223372036854775807]",
		"[null,true,false,[],{},[[]],{\"\":{\"\":[]}}]",
		"\"\\uD83D\\uDE00\\u20ac\\u00e9\\u0041\"",
		"{\"\\ud83d\\ude00\":\"\xf0\x9f\x98\x80\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		size_t n = strlen(texts[i]);
		json_t *theirs = json_loadb(
			texts[i], n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		struct ckpt_arena arena;
		struct ckpt_doc doc;

		assert_non_null(theirs);
		ckpt_arena_init(&arena, 1 << 20);
		assert_int_equal(ckpt_doc_read(&doc, &arena, texts[i], n, true),
			CKPT_OK);
		assert_non_null(doc.root);
		compare(doc.root, theirs);
		json_decref(theirs);
		ckpt_arena_release(&arena);
	}
}

/* Whatever jansson reads of damaged text we read as well, and the same. */
static void
test_document_takes_all_that_jansson_takes(void **state)
{
	static const char text[] =
		"{\"a\":[1,-2.5e3,\"\\u00e9x\",null],"
		"\"b\":{\"c\":true,\"d\":\"\\ud83d\\ude00\"}}";
	static const char bytes[] = "{}[]\",:\\u0e-.9 tnx\x01\xc3";
	char copy[sizeof text];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof text; i++) {
		for (size_t k = 0; k + 1 < sizeof bytes; k++) {
			json_t *theirs;
			struct read r;

			memcpy(copy, text, sizeof copy);
			copy[i] = bytes[k];
			theirs = json_loadb(copy, sizeof text - 1,
				JSON_DECODE_ANY | JSON_ALLOW_NUL |
					JSON_REJECT_DUPLICATES,
				NULL);
			if (!reads(&r, copy, sizeof text - 1, true))
				assert_null(theirs);
			ckpt_arena_release(&r.arena);
			json_decref(theirs);
		}
		assert_false(is_good(text, i));
	}
}

static void
test_document_finds_keys_that_stand_twice(void **state)
{
	static const struct {
		const char *text;
		uint64_t once, twice; /* 0: none */
	} cases[] = { { "{\"a\":1,\"b\":2}", 0, 0 },
		{ "{\"a\":1,\"b\":2,\"a\":3}", 1, 13 },
		{ "{\"a\":1,\"\\u0061\":3}", 1, 7 },
		{ "[{\"a\":1},{\"a\":1}]", 0, 0 },
		{ "{\"x\":[{\"k\":1,\"k\":1}]}", 7, 13 },
		{ "{\"a\":{\"a\":1}}", 0, 0 },
		{ "{\"\\ud800\":1,\"\\udbff\":1}", 0, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct read r;

		assert_true(
			reads(&r, cases[i].text, strlen(cases[i].text), true));
		assert_int_equal(r.doc.once != NULL, cases[i].once != 0);
		if (r.doc.once) {
			assert_int_equal(r.doc.once->key_at, cases[i].once);
			assert_int_equal(r.doc.twice->key_at, cases[i].twice);
		}
		ckpt_arena_release(&r.arena);
	}
}

static void
test_document_finds_members(void **state)
{
	static const char text[] = "{\"a\":1,\"n\":null,\"a\":2,\"s\":\"x\"}";
	struct ckpt_arena arena;
	struct ckpt_doc doc;
	uint64_t u = 0;

	(void)state;
	ckpt_arena_init(&arena, 1 << 20);
	assert_int_equal(
		ckpt_doc_read(&doc, &arena, text, sizeof text - 1, false),
		CKPT_OK);
	assert_true(ckpt_doc_u64(ckpt_doc_get(doc.root, "a"), &u));
	assert_int_equal(u, 2);
	assert_null(ckpt_doc_get(doc.root, "n"));
	assert_non_null(ckpt_doc_member(doc.root, "n"));
	assert_null(ckpt_doc_get(doc.root, "b"));
	assert_null(ckpt_doc_get(NULL, "a"));
	assert_null(ckpt_doc_get(ckpt_doc_get(doc.root, "a"), "a"));
	assert_true(ckpt_doc_is(ckpt_doc_get(doc.root, "s"), "x"));
	assert_false(ckpt_doc_is(ckpt_doc_get(doc.root, "a"), "2"));
	ckpt_arena_release(&arena);
}

/* Halves that do not fit stay halves, in the three bytes of their code. */
static void
test_document_keeps_halves_of_pairs(void **state)
{
	static const struct {
		const char *text, *bytes;
	} cases[] = { { "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
		{ "\"\\ud83d\\ue000\"", "\xed\xa0\xbd\xee\x80\x80" },
		{ "\"\\ud83d\\ud83d\"", "\xed\xa0\xbd\xed\xa0\xbd" },
		{ "\"\\ude00\\ud83d\"", "\xed\xb8\x80\xed\xa0\xbd" },
		{ "\"\\ud83dx\"", "\xed\xa0\xbdx" } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ckpt_arena arena;
		struct ckpt_doc doc;

		ckpt_arena_init(&arena, 1 << 20);
		assert_int_equal(ckpt_doc_read(&doc, &arena, cases[i].text,
					 strlen(cases[i].text), false),
			CKPT_OK);
		assert_true(ckpt_doc_is(doc.root, cases[i].bytes));
		ckpt_arena_release(&arena);
	}
}

static void
test_document_numbers(void **state)
{
	static const struct {
		const char *text;
		bool whole;
		uint64_t u64;
	} cases[] = { { "0", true, 0 }, { "-0", true, 0 }, { "-0.0", true, 0 },
		{ "128.0", true, 128 }, { "1.28e2", true, 128 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 }, { "1e999", false, 0 },
		{ "NaN", false, 0 }, { "Infinity", false, 0 },
		{ "-1", false, 0 }, { "0.5", false, 0 }, { "true", false, 0 },
		{ "\"1\"", false, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *text = cases[i].text;
		struct ckpt_arena arena;
		struct ckpt_doc doc;
		uint64_t u = 0;

		ckpt_arena_init(&arena, 1 << 20);
		assert_int_equal(
			ckpt_doc_read(&doc, &arena, text, strlen(text), false),
			CKPT_OK);
		if (ckpt_doc_u64(doc.root, &u) != cases[i].whole ||
			(cases[i].whole && u != cases[i].u64))
			fail_msg("%s", text);
		ckpt_arena_release(&arena);
	}
}

/* A number of 512 bytes is none any more; the longest one is rounded. */
static void
test_document_numbers_have_a_length(void **state)
{
	char text[513];

	(void)state;
	for (size_t n = 511; n <= 512; n++) {
		struct ckpt_arena arena;
		struct ckpt_doc doc;
		uint64_t u = 77;
		double x = 77;

		memset(text, '0', n);
		memcpy(text, "2.", 2);
		ckpt_arena_init(&arena, 1 << 20);
		assert_int_equal(
			ckpt_doc_read(&doc, &arena, text, n, false), CKPT_OK);
		assert_int_equal(ckpt_doc_f64(doc.root, &x), n < 512);
		assert_true(x == (n < 512 ? 2 : 77));
		assert_int_equal(ckpt_doc_u64(doc.root, &u), n < 512);
		assert_int_equal(u, n < 512 ? 2 : 77);
		ckpt_arena_release(&arena);
	}
}

/* Of another type, or none at all, is no number, whatever stands there. */
static void
test_document_numbers_are_no_texts(void **state)
{
	static const char text[] = "{\"s\":\"5\",\"n\":null,\"l\":[5]}";
	static const char *const keys[] = { "s", "n", "l", "absent" };
	struct ckpt_arena arena;
	struct ckpt_doc doc;

	(void)state;
	ckpt_arena_init(&arena, 1 << 20);
	assert_int_equal(
		ckpt_doc_read(&doc, &arena, text, sizeof text - 1, false),
		CKPT_OK);
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const struct ckpt_doc_value *v =
			ckpt_doc_member(doc.root, keys[i]);
		uint64_t u;
		double x;

		assert_false(ckpt_doc_f64(v, &x));
		assert_false(ckpt_doc_u64(v, &u));
		assert_null(ckpt_doc_number(doc.root, keys[i]));
	}
	ckpt_arena_release(&arena);
}

static void
test_document_keeps_to_its_memory(void **state)
{
	static const char text[] = "[[1,2,3],\"\\u0041\",{\"a\":1,\"b\":2}]";
	enum ckpt_status status;
	uint64_t allocations;

	(void)state;
	for (uint64_t fail_at = 1;; fail_at++) {
		struct ckpt_arena arena;
		struct ckpt_doc doc;

		ckpt_arena_init(&arena, 1 << 20);
		arena.fail_at = fail_at;
		status = ckpt_doc_read(
			&doc, &arena, text, sizeof text - 1, true);
		allocations = arena.count;
		ckpt_arena_release(&arena);
		if (status == CKPT_OK)
			break;
		assert_int_equal(status, CKPT_ENOMEM);
		assert_null(doc.root);
	}
	assert_true(allocations > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document_takes_what_python_takes),
		cmocka_unit_test(test_document_is_as_deep_as_promised),
		cmocka_unit_test(test_document_agrees_with_jansson),
		cmocka_unit_test(test_document_takes_all_that_jansson_takes),
		cmocka_unit_test(test_document_finds_keys_that_stand_twice),
		cmocka_unit_test(test_document_finds_members),
		cmocka_unit_test(test_document_keeps_halves_of_pairs),
		cmocka_unit_test(test_document_numbers),
		cmocka_unit_test(test_document_numbers_have_a_length),
		cmocka_unit_test(test_document_numbers_are_no_texts),
		cmocka_unit_test(test_document_keeps_to_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
