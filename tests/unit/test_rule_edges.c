/* SPDX-License-Identifier: MIT */
/*
 * Rules on both sides of their edges: the value that just passes and the one
 * that just does not. Each row is there because a mutant of its rule passed
 * all other tests (tests/mutants).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "format/json.h"
#include "model/config.h"
#include "model/params.h"
#include "support/judged.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- safetensors: names ------------------------------------------------- */

/* A file of floats, one each, with these names; its size. */
static size_t
file_of(uint8_t file[1024], const char *const *names, const char *padding)
{
	char *header = (char *)file + 8;
	size_t n = 0, at = 0;

	n += (size_t)sprintf(header, "{");
	for (; names[at]; at++)
		n += (size_t)sprintf(header + n,
			"%s\"%s\":{\"dtype\":\"U8\",\"shape\":[1],"
			"\"data_offsets\":[%zu,%zu]}",
			at ? "," : "", names[at], at, at + 1);
	n += (size_t)sprintf(header + n, "}%s", padding);
	ckpt_store_u64(file, n);
	memset(file + 8 + n, 1, at);
	return 8 + n + at;
}

static void
test_edges_names_like_paths(void **state)
{
	static const struct {
		const char *name;
		bool path;
	} rows[] = {
		{ "..", true },
		{ "../a", true },
		{ "a/..", true },
		{ "a/../b", true },
		{ "a\\\\..\\\\b", true },
		{ "\\\\a", true },
		{ "/", true },
		{ "a:/b", true },
		{ "z:\\\\b", true },
		{ "A:/b", true },
		{ "Z:/b", true },
		{ "..a", false },
		{ "a..", false },
		{ "a../b", false },
		{ "a/..b", false },
		{ "a/.", false },
		{ "a.", false },
		{ ".a", false },
		{ "a/.b/c", false },
		{ "a/b./c", false },
		{ "ab/c", false },
		{ "ab\\\\c", false },
		{ "a", false },
		{ "a:", false },
		{ "a:b", false },
		{ "@:/b", false },
		{ "[:/b", false },
		{ "a/b", false },
		{ "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const names[] = { rows[i].name, NULL };
		uint8_t file[1024];
		struct judged j;

		judged_bytes(&j, file, file_of(file, names, ""));
		if (judged_count(&j, "CK3154") != rows[i].path ||
			j.verdict != CKPT_VALID)
			fail_msg("\"%s\" is %s path", rows[i].name,
				rows[i].path ? "a" : "no");
		judged_free(&j);
	}
}

static void
test_edges_names_of_wrappers(void **state)
{
	static const struct {
		const char *name;
		bool wrapper;
	} rows[] = {
		{ "module.w", true },
		{ "_orig_mod", true },
		{ "a._orig_mod", true },
		{ "a._orig_mod.w", true },
		{ "a.b.c._orig_mod", true },
		{ "_orig_mo._orig_mod", true },
		{ "module", false },
		{ "a.module.w", false },
		{ "_orig_mode.w", false },
		{ "a_orig_mod.w", false },
		{ "a.", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const names[] = { rows[i].name, "b", NULL };
		uint8_t file[1024];
		struct judged j;

		judged_bytes(&j, file, file_of(file, names, ""));
		if (judged_count(&j, "CK3155") != rows[i].wrapper)
			fail_msg("\"%s\" has %s wrapper", rows[i].name,
				rows[i].wrapper ? "a" : "no");
		judged_free(&j);
	}
}

/* Of several, the first is named and all are counted. */
static void
test_edges_first_of_several(void **state)
{
	static const char *const names[] = { "w", "module.a", "module.b",
		NULL };
	const struct ckpt_diag *d;
	uint8_t file[1024];
	struct judged j;

	(void)state;
	judged_bytes(&j, file, file_of(file, names, ""));
	d = judged_find(&j, "CK3155");
	assert_non_null(d);
	assert_string_equal(d->path, "tensors[1].name");
	assert_int_equal(d->count, 2);
	judged_free(&j);
}

/* How many are found not to be aligned, and the first of them. */
static void
expect_unaligned(const uint8_t *file, size_t n, uint64_t align, uint64_t count,
	const char *first)
{
	const struct ckpt_options options = { .align = align };
	struct ckpt_run *run = ckpt_run_new(&options);
	struct ckpt_source *source = ckpt_source_memory(file, n);
	const struct ckpt_diag *d;

	assert_true(run && source);
	assert_int_equal(ckpt_verify(run, source), CKPT_VALID);
	d = ckpt_run_finding(run, 0);
	if (count == 0) {
		assert_null(d);
	} else {
		assert_non_null(d);
		assert_string_equal(d->rule->id, "CK3156");
		assert_string_equal(d->path, first);
		assert_int_equal(d->count, count);
	}
	ckpt_source_close(source);
	ckpt_run_free(run);
}

static void
test_edges_alignment(void **state)
{
	static const char *const names[] = { "a", "b", "c", NULL };
	const char *padding = "     ";
	uint8_t file[1024];
	size_t n;

	(void)state;
	/* The data begins at a multiple of four, its tensors are bytes. */
	for (; n = file_of(file, names, padding), (n - 3) % 4 != 0; padding++)
		assert_true(padding[1]);
	expect_unaligned(file, n, 1, 0, NULL);
	expect_unaligned(file, n, 4, 2, "tensors[1].name");
	/* And a byte earlier. */
	n = file_of(file, names, padding + 1);
	expect_unaligned(file, n, 1, 0, NULL);
	expect_unaligned(file, n, 2, 2, "tensors[0].name");
	expect_unaligned(file, n, 4, 2, "tensors[0].name");
	expect_unaligned(file, n, 8 * 1024, 3, "tensors[0].name");
}

/* Tensors without elements, the first ones of the file. */
static size_t
empty_of(uint8_t file[1024], unsigned empty, unsigned all)
{
	char *header = (char *)file + 8;
	size_t n = (size_t)sprintf(header, "{");
	unsigned bytes = all - empty;

	for (unsigned i = 0; i < all; i++)
		n += (size_t)sprintf(header + n,
			"%s\"t%u\":{\"dtype\":\"U8\",\"shape\":[%d],"
			"\"data_offsets\":[%u,%u]}",
			i ? "," : "", i, i >= empty, i < empty ? 0 : i - empty,
			i < empty ? 0 : i - empty + 1);
	n += (size_t)sprintf(header + n, "}");
	ckpt_store_u64(file, n);
	memset(file + 8 + n, 1, bytes);
	return 8 + n + bytes;
}

static void
test_edges_placeholders(void **state)
{
	static const struct {
		unsigned empty, all;
		bool found;
	} rows[] = {
		{ 1, 1, false },
		{ 2, 2, true },
		{ 1, 2, false },
		{ 2, 3, true },
		{ 2, 4, true },
		{ 2, 5, false },
		{ 3, 5, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t file[1024];
		struct judged j;

		judged_bytes(
			&j, file, empty_of(file, rows[i].empty, rows[i].all));
		if (judged_count(&j, "CK3152") != rows[i].found)
			fail_msg("%u of %u", rows[i].empty, rows[i].all);
		judged_free(&j);
	}
}

/* ---- strings of JSON ---------------------------------------------------- */

static void
test_edges_escapes(void **state)
{
	static const struct {
		const char *json, *text;
	} rows[] = {
		{ "\"\\u007f\"", "\x7f" },
		{ "\"\\u0080\"", "\xc2\x80" },
		{ "\"\\u07ff\"", "\xdf\xbf" },
		{ "\"\\u0800\"", "\xe0\xa0\x80" },
		{ "\"\\ud7ff\"", "\xed\x9f\xbf" },
		{ "\"\\ue000\"", "\xee\x80\x80" },
		{ "\"\\uffff\"", "\xef\xbf\xbf" },
		{ "\"\\ud800\\udc00\"", "\xf0\x90\x80\x80" },
		{ "\"\\udbff\\udfff\"", "\xf4\x8f\xbf\xbf" },
		{ "\"\\udc00\\udc00\"", NULL },
		{ "\"\\ud800\\udbff\"", NULL },
		{ "\"\\ud800\\ue000\"", NULL },
		{ "\"\\udfff\"", NULL },
		{ "\"\\ud800\"", NULL },
		{ "\"\\ud800x\"", NULL },
		{ "\"\\ud800\\n\"", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ckpt_arena arena;
		struct ckpt_scan scan;
		struct ckpt_token token;
		struct ckpt_str text;

		ckpt_arena_init(&arena, 1 << 20);
		ckpt_scan_init(&scan, rows[i].json, strlen(rows[i].json), 4);
		if (!rows[i].text) {
			assert_int_equal(
				ckpt_scan_next(&scan, &token), CKPT_SCAN_FAULT);
			assert_int_equal(scan.fault, CKPT_FAULT_SURROGATE);
		} else {
			assert_int_equal(ckpt_scan_next(&scan, &token),
				CKPT_SCAN_STRING);
			assert_true(
				ckpt_scan_text(&scan, &token, &arena, &text));
			assert_int_equal(text.n, strlen(rows[i].text));
			assert_memory_equal(text.p, rows[i].text, text.n);
		}
		ckpt_arena_release(&arena);
	}
}

/* ---- settings ----------------------------------------------------------- */

static void
expect_config(const struct ckpt_config *c, const char *refused)
{
	struct ckpt_buf why = { 0 };
	bool good = ckpt_config_check(c, &why);

	if (good != !refused ||
		(refused && (!why.p || !strstr(why.p, refused))))
		fail_msg("%s instead of %s", why.p ? why.p : "good",
			refused ? refused : "good");
	ckpt_buf_release(&why);
}

static const struct ckpt_config good_config = { .vocabulary = 1,
	.width = 8,
	.heads = 4,
	.kv_heads = 2,
	.feed_forward_width = 1,
	.layers = 1,
	.positions = 2,
	.context_window = 2,
	.rope_base = 10000.0,
	.rms_epsilon = 0.0 };

static void
test_edges_model_settings(void **state)
{
	struct ckpt_config c = good_config;

	(void)state;
	expect_config(&c, NULL);
#define EDGE(member, value, refused)                                           \
	(c = good_config, c.member = (value), expect_config(&c, refused))
	EDGE(vocabulary, 0, "vocabulary is 0");
	EDGE(width, 0, "width is 0");
	EDGE(heads, 0, "heads is 0");
	EDGE(feed_forward_width, 0, "feed-forward width is 0");
	EDGE(positions, 0, "positions is 0");
	EDGE(width, 9, "not a multiple of heads");
	EDGE(width, 12, "is odd");
	EDGE(kv_heads, 0, NULL);
	EDGE(kv_heads, 4, NULL);
	EDGE(kv_heads, 3, "kv heads");
	EDGE(context_window, 0, NULL);
	EDGE(context_window, 3, "context window 3");
	EDGE(rope_base, 0.0, "RoPE base");
	EDGE(rope_base, -1.0, "RoPE base");
	EDGE(rope_base, (double)INFINITY, "RoPE base");
	EDGE(rope_base, (double)NAN, "RoPE base");
	EDGE(rope_base, 0x1p-1074, NULL);
	EDGE(rms_epsilon, -0x1p-1074, "RMS epsilon");
	EDGE(rms_epsilon, -0.0, NULL);
	EDGE(rms_epsilon, (double)INFINITY, "RMS epsilon");
	EDGE(rms_epsilon, (double)NAN, "RMS epsilon");
	EDGE(positions, CKPT_ROPE_MOST, NULL);
	EDGE(positions, CKPT_ROPE_MOST + 1, "rotary pairs");
	EDGE(positions, UINT64_MAX, "rotary pairs");
#undef EDGE
}

static void
test_edges_rotary_angles(void **state)
{
	struct ckpt_config c = good_config;

	(void)state;
	/* The product is 2^64. */
	c.width = 16;
	c.positions = (uint64_t)1 << 63;
	expect_config(&c, "rotary pairs");
	/* With no layers there are no angles. */
	c = good_config;
	c.layers = 0;
	c.positions = UINT64_MAX;
	expect_config(&c, NULL);
	/* The last pair of a wide head has almost the whole power. */
	c = good_config;
	c.width = 400;
	c.heads = c.kv_heads = 1;
	c.rope_base = 0x1p-1074;
	expect_config(&c, "not finite");
	c.positions = c.context_window = 1;
	expect_config(&c, "not finite");
	c.rope_base = 0x1p-1020;
	expect_config(&c, NULL);
	c.positions = 1 << 20;
	expect_config(&c, "not finite");
}

static void
expect_adamw(const struct ckpt_adamw *a, const char *refused)
{
	struct ckpt_buf why = { 0 };
	bool good = ckpt_adamw_check(a, &why);

	if (good != !refused ||
		(refused && (!why.p || strncmp(why.p, refused,
					       strlen(refused)) != 0)))
		fail_msg("%s instead of %s", why.p ? why.p : "good",
			refused ? refused : "good");
	ckpt_buf_release(&why);
}

static void
test_edges_optimizer_settings(void **state)
{
	static const struct ckpt_adamw good = { 0.5, 0.5, 0.5, 1e-8, 0.5 };
	struct ckpt_adamw a = good;

	(void)state;
	expect_adamw(&a, NULL);
#define EDGE(member, value, refused)                                           \
	(a = good, a.member = (double)(value), expect_adamw(&a, refused))
	EDGE(learning_rate, 0.0, "learning rate 0 is");
	EDGE(learning_rate, -1.0, "learning rate -1 is");
	EDGE(learning_rate, INFINITY, "learning rate inf is");
	EDGE(learning_rate, NAN, "learning rate nan is");
	EDGE(beta1, 0.0, NULL);
	EDGE(beta1, -0x1p-1074, "beta1");
	EDGE(beta1, 0x1.fffffffffffffp-1, NULL);
	EDGE(beta1, 1.0, "beta1");
	EDGE(beta1, NAN, "beta1");
	EDGE(beta2, 0.0, NULL);
	EDGE(beta2, -0x1p-1074, "beta2");
	EDGE(beta2, 0x1.fffffffffffffp-1, NULL);
	EDGE(beta2, 1.0, "beta2");
	EDGE(beta2, NAN, "beta2");
	EDGE(epsilon, 0.0, "epsilon");
	EDGE(epsilon, 0x1p-1074, NULL);
	EDGE(epsilon, INFINITY, "epsilon");
	EDGE(epsilon, NAN, "epsilon");
	EDGE(weight_decay, 0.0, NULL);
	EDGE(weight_decay, -0.0, NULL);
	EDGE(weight_decay, -0x1p-1074, "weight decay");
	EDGE(weight_decay, INFINITY, "weight decay");
	EDGE(weight_decay, NAN, "weight decay");
	EDGE(weight_decay, 0x1.fffffffffffffp0, NULL);
	EDGE(weight_decay, 2.0, "learning rate x weight decay");
	EDGE(weight_decay, 0x1p-1074, "learning rate x weight decay");
#undef EDGE
}

static void
test_edges_parameter_count(void **state)
{
	const uint64_t most = (UINT64_MAX - 2) / CKPT_LAYER_PARAMS;
	uint64_t n;

	(void)state;
	assert_true(ckpt_param_count(0, &n));
	assert_int_equal(n, 2);
	assert_true(ckpt_param_count(most, &n));
	assert_true(n == most * CKPT_LAYER_PARAMS + 2);
	assert_false(ckpt_param_count(most + 1, &n));
	assert_false(ckpt_param_count(UINT64_MAX, &n));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges_names_like_paths),
		cmocka_unit_test(test_edges_names_of_wrappers),
		cmocka_unit_test(test_edges_first_of_several),
		cmocka_unit_test(test_edges_alignment),
		cmocka_unit_test(test_edges_placeholders),
		cmocka_unit_test(test_edges_escapes),
		cmocka_unit_test(test_edges_model_settings),
		cmocka_unit_test(test_edges_rotary_angles),
		cmocka_unit_test(test_edges_optimizer_settings),
		cmocka_unit_test(test_edges_parameter_count),
	};

	return cmocka_run_group_tests_name("rule edges", tests, NULL, NULL);
}
