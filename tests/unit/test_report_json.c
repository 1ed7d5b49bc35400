/* SPDX-License-Identifier: MIT */
/*
 * Results as JSON where a file cannot easily show it: numbers beyond 2^53,
 * doubles, text that is not UTF-8, more findings than are kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sink/json.h"

static json_t *
object_of(const struct ckpt_run *run, const char *path)
{
	struct ckpt_result result;
	json_t *object;

	ckpt_result_init(
		&result, path, run, ckpt_diags_verdict(&run->diags), false);
	object = ckpt_json_result(&result, false, true);
	assert_non_null(object);
	return object;
}

static const char *
text_at(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	assert_non_null(text);
	return text;
}

static void
test_json_u64_is_a_number_below_2_to_53(void **state)
{
	static const struct {
		uint64_t value;
		const char *text; /* NULL: a number */
	} cases[] = {
		{ 0, NULL },
		{ 1, NULL },
		{ (UINT64_C(1) << 53) - 1, NULL },
		{ UINT64_C(1) << 53, "9007199254740992" },
		{ (UINT64_C(1) << 63), "9223372036854775808" },
		{ UINT64_MAX, "18446744073709551615" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		json_t *value = ckpt_json_u64(cases[i].value);

		if (cases[i].text)
			assert_string_equal(
				json_string_value(value), cases[i].text);
		else
			assert_true(json_is_integer(value) &&
				    (uint64_t)json_integer_value(value) ==
					    cases[i].value);
		json_decref(value);
	}
}

static void
test_json_f64_has_its_bits(void **state)
{
	static const struct {
		uint64_t bits;
		bool finite;
		const char *text;
	} cases[] = {
		{ 0x3ff8000000000000, true, "3ff8000000000000" },
		{ 0x8000000000000000, true, "8000000000000000" },
		{ 0x0000000000000001, true, "0000000000000001" },
		{ 0x7ff0000000000000, false, "7ff0000000000000" },
		{ 0xfff8000000000123, false, "fff8000000000123" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ckpt_value value = ckpt_v_f64(cases[i].bits);
		json_t *object = ckpt_json_value(&value);
		json_t *number = json_object_get(object, "value");

		assert_string_equal(text_at(object, "bits"), cases[i].text);
		if (cases[i].finite)
			assert_int_equal(ckpt_f64_bits(json_real_value(number)),
				cases[i].bits);
		else
			assert_true(json_is_null(number));
		json_decref(object);
	}
}

static void
test_json_finding_beyond_2_to_53(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	json_t *object, *primary;

	(void)state;
	ckpt_run_add(run, CKPT_D_OFFSET, 3,
		&(struct ckpt_diag){ .off = UINT64_MAX,
			.len = UINT64_C(1) << 53,
			.path = "records[3].offset",
			.expected = ckpt_v_u64(UINT64_MAX),
			.found = ckpt_v_bytes("\xff\0\x1b", 3),
			.note = "words" });
	object = object_of(run, "x");
	primary = json_object_get(object, "primary");
	assert_string_equal(text_at(primary, "offset"), "18446744073709551615");
	assert_string_equal(text_at(primary, "length"), "9007199254740992");
	assert_string_equal(
		text_at(primary, "expected"), "18446744073709551615");
	assert_string_equal(text_at(primary, "found"), "\"\\xff\\x00\\x1b\"");
	assert_string_equal(text_at(primary, "path"), "records[3].offset");
	assert_non_null(strstr(text_at(primary, "message"), ": words"));
	assert_true(json_is_null(json_object_get(primary, "caused_by")));
	json_decref(object);
	ckpt_run_free(run);
}

static void
test_json_path_is_escaped(void **state)
{
	static const struct {
		const char *path, *text;
	} cases[] = {
		{ "plain/caf\xc3\xa9", "plain/caf\xc3\xa9" },
		{ "bad\xff\xfe", "bad\\xff\\xfe" },
		{ "cut\xe2\x80", "cut\\xe2\\x80" },
		{ "a\n\t\033\x7f", "a\\n\\t\\x1b\\x7f" },
		{ "back\\slash", "back\\\\slash" },
		{ "\xe2\x80\xae", "\\u{202e}" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ckpt_run *run = ckpt_run_new(NULL);
		json_t *object = object_of(run, cases[i].path);
		json_t *file = json_object_get(object, "file");

		assert_string_equal(text_at(file, "path"), cases[i].text);
		assert_true(json_is_null(json_object_get(file, "size")));
		assert_true(json_is_null(json_object_get(object, "format")));
		json_decref(object);
		ckpt_run_free(run);
	}
}

static void
test_json_says_what_it_leaves_out(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	json_t *object;

	(void)state;
	for (uint64_t i = 0; i < CKPT_DIAGS_PER_RULE + 3; i++)
		ckpt_run_add(run, CKPT_D_OFFSET, i, &(struct ckpt_diag){ 0 });
	object = object_of(run, "x");
	assert_int_equal(json_array_size(json_object_get(object, "findings")),
		CKPT_DIAGS_PER_RULE);
	assert_int_equal(
		json_integer_value(json_object_get(object, "suppressed")), 3);
	json_decref(object);
	ckpt_run_free(run);
}

static void
test_json_write_fails_visibly(void **state)
{
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_json_write(&buf, json_pack("{s:[i,i]}", "a", 1, 2));
	assert_false(buf.failed);
	assert_string_equal(buf.p, "{\"a\":[1,2]}");
	ckpt_json_write(&buf, NULL);
	assert_true(buf.failed);
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_u64_is_a_number_below_2_to_53),
		cmocka_unit_test(test_json_f64_has_its_bits),
		cmocka_unit_test(test_json_finding_beyond_2_to_53),
		cmocka_unit_test(test_json_path_is_escaped),
		cmocka_unit_test(test_json_says_what_it_leaves_out),
		cmocka_unit_test(test_json_write_fails_visibly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
