/* SPDX-License-Identifier: MIT */
/*
 * What is reported of a bad safetensors file beyond its verdict: which rules
 * have not passed because they could not judge all of it, both definitions of
 * what is there twice, the bytes at fault, and files that nothing names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "diag/diag.h"
#include "format/safetensors.h"
#include "support/judged.h"

#define GOOD "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}"

static const uint8_t one[] = { 0, 0, 0x80, 0x3f };

/* A file with this header and, behind it, a float of 1; its size. */
static size_t
file_of(uint8_t *file, const char *header)
{
	size_t n = strlen(header);

	assert_true(n < 500);
	ckpt_store_u64(file, n);
	memcpy(file + 8, header, n);
	memcpy(file + 8 + n, one, sizeof one);
	return 8 + n + sizeof one;
}

static void
judge(struct judged *j, const char *header)
{
	uint8_t file[512];
	size_t n = file_of(file, header);

	judged_named(j, "x.safetensors", file, n);
	assert_int_equal(j->verdict, CKPT_INVALID);
}

/* ---- Rules that could not judge everything ------------------------------ */

/* Not evaluated, with a reason, are those of from to to. */
static void
expect_unjudged(const struct judged *j, const char *from, const char *to)
{
	const struct ckpt_diags *diags = &j->run->diags;

	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const struct ckpt_rule *rule = ckpt_rule_at(i);

		if (strcmp(rule->id, from) < 0 || strcmp(rule->id, to) > 0 ||
			diags->per_rule[i] > 0)
			continue;
		if (diags->ran[i] != CKPT_NOT_RUN || !diags->reason[i])
			fail_msg("%s has passed", rule->id);
	}
}

static bool
passed(const struct judged *j, enum ckpt_code code)
{
	return j->run->diags.ran[code] == CKPT_RAN &&
	       j->run->diags.per_rule[code] == 0;
}

static void
test_reports_text_that_breaks_leaves_rules_open(void **state)
{
	static const struct {
		const char *header, *id;
		bool utf8, object;
	} broken[] = {
		{ "{\xee", "CK2101", false, false },
		{ "\xef\xbb\xbf{}", "CK2102", true, false },
		{ "!", "CK2113", true, false },
		{ "[]", "CK2104", true, true },
		{ "{", "CK2113", true, true },
		{ "{\"__metadata__\":{},}", "CK2111", true, true },
		{ "{\"a\":" GOOD "}x", "CK2106", true, true },
		{ "{\"a\":" GOOD ",\"a\":{\"z\":[[[[[[[[[", "CK2105", true,
			true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		struct judged j;

		judge(&j, broken[i].header);
		assert_string_equal(judged_primary(&j), broken[i].id);
		expect_unjudged(&j, "CK2105", "CK2128");
		expect_unjudged(&j, "CK3101", "CK3156");
		assert_int_equal(passed(&j, CKPT_D_ST_UTF8), broken[i].utf8);
		assert_int_equal(passed(&j, CKPT_D_ST_BOM),
			broken[i].utf8 && strcmp(broken[i].id, "CK2102") != 0);
		if (i > 0)
			assert_int_equal(passed(&j, CKPT_D_ST_NOT_OBJECT),
				broken[i].object && i != 3);
		judged_free(&j);
	}
}

static void
test_reports_malformed_records_leave_rules_open(void **state)
{
	struct judged j;

	(void)state;
	judge(&j, "{\"a\":" GOOD ",\"b\":{\"dtype\":\"F32\",\"shape\":[1]}}");
	assert_string_equal(judged_primary(&j), "CK2123");
	expect_unjudged(&j, "CK3101", "CK3156");
	assert_true(passed(&j, CKPT_D_ST_NAME_REPEATED));
	assert_true(passed(&j, CKPT_D_ST_SYNTAX));
	judged_free(&j);
	judge(&j, "{\"a\":" GOOD ",\"b\":{\"dtype\":\"F32\",\"shape\":[2],"
		  "\"data_offsets\":[4,8]},\"c\":{\"dtype\":\"X\","
		  "\"shape\":[],\"data_offsets\":[8,8]}}");
	assert_non_null(judged_find(&j, "CK3103"));
	expect_unjudged(&j, "CK3102", "CK3104");
	assert_true(passed(&j, CKPT_D_ST_REVERSED));
	judged_free(&j);
}

/* ---- What is there twice ------------------------------------------------ */

static const struct {
	const char *header, *id, *path;
	/* What the reported bytes are; what readers would take. */
	const char *bytes, *first, *last;
} twice[] = {
	{ "{\"a\":" GOOD ",\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "CK2115",
		"tensors[1].name", "\"a\":{\"dtype\":\"F32\",\"shape\":[1]}",
		"first load F32 [1] at 0..4",
		"last load {\"dtype\":\"F32\",\"shape\":[1]}" },
	{ "{\"a\":" GOOD ",\"\\u0061\" : 3}", "CK2115", "tensors[1].name",
		"\"\\u0061\" : 3", "first load F32 [1] at 0..4",
		"last load 3" },
	{ "{\"a\":[],\"b\":" GOOD ",\"a\":null}", "CK2115", "tensors[2].name",
		"\"a\":null", "first load []", "last load null" },
	{ "{\"a\":3,\"a\":" GOOD "}", "CK2115", "tensors[1].name",
		"\"a\":" GOOD, "first load 3", "last load F32 [1] at 0..4" },
	{ "{\"__metadata__\":{\"y\":\"\",\"y\":1},\"a\":" GOOD "}", "CK2116",
		"metadata[1].key", "\"y\":1", "first load \"y\":\"\"",
		"last load \"y\":1" },
	{ "{\"__metadata__\":{\"y\":[2],\"y\":{}},\"a\":" GOOD "}", "CK2116",
		"metadata[1].key", "\"y\":{}", "first load \"y\":[2]",
		"last load \"y\":{}" },
	{ "{\"__metadata__\":{\"y\":\"1\"},\"a\":" GOOD
	  ",\"__metadata__\":{\"y\":\"2\"}}",
		"CK2117", "metadata", "\"__metadata__\":{\"y\":\"2\"}",
		"first load {\"y\":\"1\"}", "last load {\"y\":\"2\"}" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],"
	  "\"shape\":[2]}}",
		"CK2118", "tensors[0].shape", "\"shape\":[2]", "first load [1]",
		"last load [2]" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],"
	  "\"dtype\":7}}",
		"CK2118", "tensors[0].dtype", "\"dtype\":7",
		"first load \"F32\"", "last load 7" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],"
	  "\"x\":1,\"x\":{\"y\":2}}}",
		"CK2119", "tensors[0].x", "\"x\":{\"y\":2}",
		"first load \"x\":1", "last load \"x\":{\"y\":2}" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],"
	  "\"x\":{\"y\":2,\"y\":3}}}",
		"CK2119", "tensors[0]", "\"y\":3", "first load \"y\":2",
		"last load \"y\":3" },
	{ "{\"__metadata__\":{\"x\":{\"y\":2,\"y\":3}},\"a\":" GOOD "}",
		"CK2119", "metadata", "\"y\":3", "first load \"y\":2",
		"last load \"y\":3" },
};

static void
test_reports_both_definitions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
		const struct ckpt_diag *d;
		struct judged j;

		judge(&j, twice[i].header);
		d = judged_find(&j, twice[i].id);
		if (!d)
			fail_msg("%s: no %s", twice[i].header, twice[i].id);
		assert_int_equal(judged_count(&j, twice[i].id), 1);
		assert_string_equal(d->path, twice[i].path);
		assert_int_equal(d->len, strlen(twice[i].bytes));
		assert_memory_equal(
			twice[i].header + d->off - 8, twice[i].bytes, d->len);
		if (!strstr(d->note, twice[i].first) ||
			!strstr(d->note, twice[i].last))
			fail_msg("%s: %s", twice[i].header, d->note);
		judged_free(&j);
	}
}

/* Keys of two objects are no repeats of each other. */
static void
test_reports_no_repeat_across_objects(void **state)
{
	struct judged j;

	(void)state;
	judge(&j, "{\"__metadata__\":{\"y\":\"1\"},\"a\":" GOOD
		  ",\"__metadata__\":{\"y\":\"2\"}}");
	assert_null(judged_find(&j, "CK2116"));
	judged_free(&j);
	judge(&j, "{\"a\":{\"dtype\":\"F32\",\"x\":1},\"b\":{\"dtype\":1,"
		  "\"x\":1},\"c\":" GOOD "}");
	assert_null(judged_find(&j, "CK2115"));
	assert_null(judged_find(&j, "CK2119"));
	judged_free(&j);
}

/* Faulty entries are few or many, in any order: each repeat is found once. */
static void
test_reports_repeats_among_faulty_entries(void **state)
{
	enum { MANY = 300 };
	char header[MANY * 16], *p = header;
	uint8_t file[MANY * 16 + 16];
	struct judged j;

	(void)state;
	*p++ = '{';
	for (int i = 0; i < MANY; i++)
		p += sprintf(p, "%s\"n%d\":%d", i ? "," : "", i * 7 % 100, i);
	strcpy(p, "}");
	ckpt_store_u64(file, strlen(header));
	memcpy(file + 8, header, strlen(header));
	judged_named(&j, "x.safetensors", file, 8 + strlen(header));
	assert_int_equal(judged_count(&j, "CK2122"), MANY);
	assert_int_equal(judged_count(&j, "CK2115"), MANY - 100);
	assert_non_null(strstr(judged_find(&j, "CK2115")->note,
		"first load 0, readers that keep the last load 100"));
	judged_free(&j);
}

/* ---- Bytes and words ---------------------------------------------------- */

static const struct {
	const char *header, *id, *bytes, *found;
} places[] = {
	{ "{\"a\":{\"dtype\":\"X\",\"shape\":[18446744073709551615,3],"
	  "\"data_offsets\":[0,4]}}",
		"CK3102", "[18446744073709551615,3]",
		"[18446744073709551615, 3]" },
	{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[ 2305843009213693952 ],"
	  "\"data_offsets\":[0,4]}}",
		"CK3102", "[ 2305843009213693952 ]",
		"[2305843009213693952] x 8 bits" },
	{ "{\"a\":{\"dtype\":\"F4\",\"shape\":[7],\"data_offsets\":[0,4]}}",
		"CK3104", "[7]", "28 bits" },
	{ "{\"a\":{\"data_offsets\":[0,1],\"shape\":[1],\"dtype\":\"F32\"}}",
		"CK3103", "[0,1]", "1 byte, [0, 1)" },
	{ "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8],\"shape\":[2]}}",
		"CK1106", "[0,8]", "4 bytes, then the end at offset 66" },
	{ "{\"a\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]},"
	  "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
		"CK1107", NULL, "1 extra byte" },
};

static void
test_reports_bytes_at_fault(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		const char *header = places[i].header;
		const struct ckpt_diag *d;
		struct judged j;

		judge(&j, header);
		d = judged_find(&j, places[i].id);
		if (!d)
			fail_msg("%s: no %s", header, places[i].id);
		assert_string_equal(d->found.p, places[i].found);
		if (places[i].bytes) {
			assert_int_equal(d->len, strlen(places[i].bytes));
			assert_memory_equal(
				header + d->off - 8, places[i].bytes, d->len);
		}
		judged_free(&j);
	}
}

static void
test_reports_dtype_that_is_an_object(void **state)
{
	static const char header[] =
		"{\"a\":{\"dtype\":{ \"F33\" : null },\"shape\":[1],"
		"\"data_offsets\":[0,4]}}";
	struct ckpt_options options = { .profile = CKPT_PROFILE_REFERENCE };
	struct ckpt_run *run = ckpt_run_new(&options);
	uint8_t file[512];
	struct ckpt_source *source =
		ckpt_source_memory(file, file_of(file, header));
	const struct ckpt_diag *d;

	(void)state;
	assert_true(run && source);
	assert_int_equal(ckpt_verify(run, source), CKPT_UNSUPPORTED);
	d = ckpt_run_primary(run);
	assert_int_equal(d->found.n, 3);
	assert_memory_equal(d->found.p, "F33", 3);
	assert_int_equal(d->len, strlen("{ \"F33\" : null }"));
	ckpt_source_close(source);
	ckpt_run_free(run);
}

/* ---- Files that nothing names ------------------------------------------- */

static void
expect_pipe(const uint8_t *file, size_t n, const char *id, bool ours)
{
	struct judged j;

	judged_slowly(&j, file, n, 5, true, UINT64_MAX);
	assert_int_equal(j.verdict, CKPT_INVALID);
	assert_string_equal(judged_primary(&j), id);
	if (ours)
		assert_string_equal(
			ckpt_run_format(j.run, NULL), "safetensors");
	else
		assert_null(ckpt_run_format(j.run, NULL));
	if (!ours) {
		const char *note = ckpt_run_primary(j.run)->note;

		assert_non_null(note);
		assert_non_null(strstr(note, "no format is recognised"));
		assert_non_null(strstr(note, "\"LLMCP35\""));
		assert_non_null(strstr(note, "8 bytes of header length"));
	}
	judged_free(&j);
}

static void
test_reports_damaged_beginnings_of_a_pipe(void **state)
{
	static const char text[] = "written: {\"dtype\": \"F32\"} and more";
	uint8_t file[512], unknown[64];
	size_t n = file_of(file, "{\"a\":" GOOD "}");

	(void)state;
	/* Each bit of the length, and of the brace. */
	for (size_t bit = 0; bit < 72; bit++) {
		struct judged j;

		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
		judged_slowly(&j, file, n, 5, true, UINT64_MAX);
		assert_int_equal(j.verdict, CKPT_INVALID);
		assert_string_equal(
			ckpt_run_format(j.run, NULL), "safetensors");
		judged_free(&j);
		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	memset(file, 0, 8);
	expect_pipe(file, n, "CK1102", true);
	memset(file, 0xff, 8);
	expect_pipe(file, n, "CK1103", true);
	for (size_t i = 0; i < sizeof unknown; i++)
		unknown[i] = (uint8_t)(i * 37 + 1);
	expect_pipe(unknown, sizeof unknown, "CK1002", false);
	expect_pipe(unknown, 12, "CK1001", false);
	/* Text that speaks of the format is not of it. */
	expect_pipe((const uint8_t *)text, strlen(text), "CK1001", false);
}

/* ---- The order of what does not decide ---------------------------------- */

#define BIG  "{\"dtype\":\"F32\",\"shape\":[64,64],\"data_offsets\":"
#define HALF "{\"dtype\":\"F32\",\"shape\":[32,64],\"data_offsets\":"
#define ODD  "module./../\\u200b"

enum { VALUES = 4096 };

/* Values that a BF16 holds: a quarter of them, the rest zero. */
static void
fill(uint32_t *values)
{
	static const uint32_t odd[] = { 0x7fc00000, 0x7f800000, 0x72fc0000 };

	for (size_t i = 0; i < VALUES; i++)
		values[i] = i < 3 ? odd[i] : i < VALUES / 4 ? 0x3fc00000 : 0;
}

static void
expect_order(const char *header, const void *data, size_t n, const char *ids)
{
	struct ckpt_buf file = { 0 }, found = { 0 };
	uint8_t length[8];
	struct ckpt_source *source;
	struct ckpt_run *run = ckpt_run_new(&(struct ckpt_options){
		.align = 4096, .max_memory = 1u << 24 });

	ckpt_store_u64(length, strlen(header));
	ckpt_buf_add(&file, length, sizeof length);
	ckpt_buf_add(&file, header, strlen(header));
	ckpt_buf_add(&file, data, n);
	source = ckpt_source_memory(file.p, file.n);
	assert_true(run && source && !file.failed);
	assert_int_equal(ckpt_verify(run, source), CKPT_VALID);
	for (size_t i = 0; i < run->diags.n; i++)
		ckpt_buf_printf(&found, "%s%s", i ? " " : "",
			run->diags.list[i].rule->id);
	assert_string_equal(found.p, ids);
	ckpt_source_close(source);
	ckpt_run_free(run);
	ckpt_buf_release(&file);
	ckpt_buf_release(&found);
}

/* What is said of one tensor, or of all as of the first, in the same order
 * whatever was found first. */
static void
test_reports_order_of_warnings(void **state)
{
	uint32_t *values = calloc(2 * VALUES, sizeof *values);

	(void)state;
	assert_non_null(values);
	expect_order(" {\"" ODD "\":{\"dtype\":\"F32\",\"shape\":[0],"
		     "\"data_offsets\":[0,0],\"x\":1},"
		     "\"a\":{\"dtype\":\"F32\",\"shape\":[0],"
		     "\"data_offsets\":[0,0]},"
		     "\"b\":{\"dtype\":\"F32\",\"shape\":[8,8],"
		     "\"data_offsets\":[0,256]}}",
		values, 256,
		"CK2151 CK2152 CK3152 CK3153 CK3154 CK3155 CK3156 CK4211");
	fill(values);
	fill(values + VALUES);
	expect_order("{\"" ODD "\":" BIG "[0,16384]},\"b\":" BIG
		     "[16384,32768]}}",
		values, 2 * VALUES * sizeof *values,
		"CK3153 CK3154 CK3155 CK3156 CK4201 CK4202 CK4215 CK4221 "
		"CK4214 CK4215 CK4222");
	memset(values + VALUES, 0, VALUES * sizeof *values);
	expect_order("{\"a\":{\"dtype\":\"F32\",\"shape\":[8,8],"
		     "\"data_offsets\":[0,256]},"
		     "\"lora_B\":" HALF "[256,8448]},\"x.lora_B\":" HALF
		     "[8448,16640]}}",
		values + VALUES / 4 - 64, 16640, "CK3156 CK4213 CK4214");
	expect_order("{\"a\":{\"dtype\":\"F32\",\"shape\":[8,8],"
		     "\"data_offsets\":[0,256]},"
		     "\"w\":" HALF "[256,8448]},\"x.w\":" HALF "[8448,16640]}}",
		values + VALUES / 4 - 64, 16640, "CK3156 CK4212 CK4214 CK4212");
	free(values);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_reports_text_that_breaks_leaves_rules_open),
		cmocka_unit_test(
			test_reports_malformed_records_leave_rules_open),
		cmocka_unit_test(test_reports_both_definitions),
		cmocka_unit_test(test_reports_no_repeat_across_objects),
		cmocka_unit_test(test_reports_repeats_among_faulty_entries),
		cmocka_unit_test(test_reports_bytes_at_fault),
		cmocka_unit_test(test_reports_dtype_that_is_an_object),
		cmocka_unit_test(test_reports_damaged_beginnings_of_a_pipe),
		cmocka_unit_test(test_reports_order_of_warnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
