/* SPDX-License-Identifier: MIT */
/*
 * Results as text, and what all outputs share: how the exit status follows
 * from the verdict, how rules are sorted, what a set makes of its members.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/verify.h"
#include "sink/text.h"
#include "support/sample.h"

static const char *
text_of(struct ckpt_buf *buf, const struct ckpt_run *run, const char *path,
	struct ckpt_text_style style)
{
	struct ckpt_result result;

	ckpt_result_init(
		&result, path, run, ckpt_diags_verdict(&run->diags), false);
	ckpt_buf_clear(buf);
	ckpt_text_result(buf, &result, &style);
	assert_false(buf->failed);
	return buf->p;
}

static void
test_text_finding_has_every_part(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_text_style style = { 0 };
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_run_add(run, CKPT_D_CHECKSUM, 0,
		&(struct ckpt_diag){ .off = 30,
			.len = 8,
			.path = "fixed_header.checksum",
			.expected = ckpt_v_hash(1),
			.found = ckpt_v_hash(2) });
	assert_string_equal(text_of(&buf, run, "dir/a.ckpt", style),
		"dir/a.ckpt: invalid\n"
		"  error CK1006 checksum-mismatch at 0x1e (30), "
		"fixed_header.checksum\n"
		"    the stored checksum is not that of the bytes\n"
		"    expected fnv1a64:0000000000000001, "
		"found fnv1a64:0000000000000002\n"
		"    likely cause: one or more bytes changed after the file "
		"was written\n"
		"    next: search for a single damaged byte: `ckverify "
		"--locate dir/a.ckpt`\n");
	/* A name that a shell would take apart is not put into a command. */
	assert_non_null(strstr(text_of(&buf, run, "a b;c", style),
		"`ckverify --locate FILE`"));
	assert_non_null(strstr(
		text_of(&buf, run, "-a", style), "`ckverify --locate FILE`"));
	style.color = true;
	assert_non_null(strstr(text_of(&buf, run, "a", style),
		"a: \033[1;31minvalid\033[0m\n  \033[1;31merror\033[0m "));
	ckpt_buf_release(&buf);
	ckpt_run_free(run);
}

static size_t
times(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void
test_text_shows_all_findings_and_advice_once(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_text_style style = { 0 };
	struct ckpt_buf buf;
	const char *text;

	(void)state;
	ckpt_buf_init(&buf);
	for (uint64_t i = 0; i < CKPT_DIAGS_PER_RULE + 7; i++)
		ckpt_run_add(run, CKPT_D_OFFSET, i,
			&(struct ckpt_diag){ .off = 100 + i, .path = "x" });
	ckpt_diags_close(&run->diags);
	text = text_of(&buf, run, "a", style);
	assert_int_equal(times(text, "CK3004"), CKPT_DIAGS_PER_RULE);
	assert_int_equal(times(text, "likely cause"), 1);
	assert_int_equal(times(text, "  7 more findings are not shown"), 1);
	style.first = true;
	text = text_of(&buf, run, "a", style);
	assert_int_equal(times(text, "CK3004"), 1);
	assert_non_null(strstr(text, "at 0x64 (100)"));
	ckpt_buf_release(&buf);
	ckpt_run_free(run);
}

static void
test_text_notes_are_for_the_verbose(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_text_style style = { 0 };
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_run_add(run, CKPT_D_RNG_STATE_ZERO, 0, &(struct ckpt_diag){ 0 });
	assert_string_equal(text_of(&buf, run, "a", style), "a: valid\n");
	style.verbose = true;
	assert_non_null(strstr(text_of(&buf, run, "a", style), "note CK4103"));
	ckpt_buf_release(&buf);
	ckpt_run_free(run);
}

static void
test_result_warnings_fail_only_if_asked_to(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_result result;

	(void)state;
	ckpt_result_init(&result, "a", run, CKPT_VALID, true);
	assert_int_equal(result.exit_code, CKPT_EXIT_OK);
	assert_false(result.failed_on_warning);
	ckpt_run_add(run, CKPT_D_NEGATIVE_ZERO, 0, &(struct ckpt_diag){ 0 });
	ckpt_result_init(&result, "a", run, CKPT_VALID, false);
	assert_int_equal(result.exit_code, CKPT_EXIT_OK);
	ckpt_result_init(&result, "a", run, CKPT_VALID, true);
	assert_int_equal(result.exit_code, CKPT_EXIT_NEGATIVE);
	assert_true(result.failed_on_warning);
	assert_int_equal(result.verdict, CKPT_VALID);
	ckpt_result_init(&result, "a", run, CKPT_NOT_VERIFIED, true);
	assert_int_equal(result.exit_code, CKPT_EXIT_TROUBLE);
	assert_false(result.failed_on_warning);
	ckpt_run_free(run);
}

static void
test_result_of_a_set_is_the_worst(void **state)
{
	static const struct {
		enum ckpt_verdict a, b, worst;
		int exit_code;
	} cases[] = {
		{ CKPT_VALID, CKPT_VALID, CKPT_VALID, 0 },
		{ CKPT_VALID, CKPT_INVALID, CKPT_INVALID, 1 },
		{ CKPT_UNSUPPORTED, CKPT_INVALID, CKPT_UNSUPPORTED, 3 },
		{ CKPT_UNSUPPORTED, CKPT_NOT_VERIFIED, CKPT_NOT_VERIFIED, 3 },
		{ CKPT_INVALID, CKPT_NOT_VERIFIED, CKPT_NOT_VERIFIED, 3 },
	};
	struct ckpt_run *run = ckpt_run_new(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ckpt_result a, b, set;

		ckpt_result_init(&a, "a", run, cases[i].a, false);
		ckpt_result_init(&b, "b", run, cases[i].b, false);
		set = a;
		ckpt_result_add(&set, &b);
		assert_int_equal(set.verdict, cases[i].worst);
		assert_int_equal(set.exit_code, cases[i].exit_code);
		set = b;
		ckpt_result_add(&set, &a);
		assert_int_equal(set.verdict, cases[i].worst);
		assert_int_equal(set.exit_code, cases[i].exit_code);
	}
	ckpt_run_free(run);
}

static void
test_result_rules_are_those_of_the_format(void **state)
{
	size_t n = 0, passed = 0, apart = 0;
	uint8_t *bytes = sample_make(sample_find("noted"), &n);
	struct ckpt_source *source = ckpt_source_memory(bytes, n);
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_result result;

	(void)state;
	ckpt_result_init(&result, "a", run, ckpt_verify(run, source), false);
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const char *reason = NULL;
		enum ckpt_ruling ruling = ckpt_result_rule(&result, i, &reason);

		passed += ruling == CKPT_RULE_PASSED;
		apart += ruling == CKPT_RULE_NOT_APPLICABLE;
		assert_int_not_equal(ruling, CKPT_RULE_FAILED);
		assert_int_equal(
			ruling == CKPT_RULE_NOT_EVALUATED, reason != NULL);
		/* Sets and reading are not rules of a format. */
		if (ckpt_rule_at(i)->id[2] == '6' ||
			ckpt_rule_at(i)->id[2] == '9')
			assert_int_equal(ruling, CKPT_RULE_NOT_APPLICABLE);
		/* A note was met and nothing is wrong. */
		if (strcmp(ckpt_rule_at(i)->id, "CK4103") == 0)
			assert_int_equal(ruling, CKPT_RULE_PASSED);
	}
	assert_true(passed > 80);
	assert_true(apart >= 9);
	ckpt_run_free(run);
	ckpt_source_close(source);
	free(bytes);
}

static void
test_verify_options_are_well_made(void **state)
{
	struct ckpt_buf why;

	(void)state;
	ckpt_buf_init(&why);
	if (!ckpt_command_check(&ckpt_verify_command, &why))
		fail_msg("%s", why.p ? why.p : "");
	ckpt_buf_release(&why);
}

/* A witness that could not be made is said, and changes no exit status. */
static void
test_text_says_that_causes_are_lost(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	const struct ckpt_text_style style = { 0 };
	struct ckpt_result result;
	struct ckpt_buf buf;

	(void)state;
	assert_non_null(run);
	ckpt_buf_init(&buf);
	ckpt_run_add(run, CKPT_D_CHECKSUM, 0, &(struct ckpt_diag){ .off = 30 });
	ckpt_result_init(
		&result, "a.ckpt", run, ckpt_diags_verdict(&run->diags), false);
	result.causes = ckpt_verify_witness_hints(NULL);
	ckpt_text_result(&buf, &result, &style);
	assert_false(buf.failed);
	assert_non_null(strstr(buf.p, "that needs more memory"));
	assert_int_equal(result.exit_code, CKPT_EXIT_NEGATIVE);
	ckpt_buf_release(&buf);
	ckpt_run_free(run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_finding_has_every_part),
		cmocka_unit_test(test_text_shows_all_findings_and_advice_once),
		cmocka_unit_test(test_text_notes_are_for_the_verbose),
		cmocka_unit_test(test_result_warnings_fail_only_if_asked_to),
		cmocka_unit_test(test_result_of_a_set_is_the_worst),
		cmocka_unit_test(test_result_rules_are_those_of_the_format),
		cmocka_unit_test(test_text_says_that_causes_are_lost),
		cmocka_unit_test(test_verify_options_are_well_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
