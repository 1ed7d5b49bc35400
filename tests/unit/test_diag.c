/* SPDX-License-Identifier: MIT */
/*
 * Findings: the table itself, ranks, what is kept, and the verdict.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "diag/run.h"

static struct ckpt_diag
finding(enum ckpt_code code, uint64_t unit)
{
	return (struct ckpt_diag){ .rule = ckpt_rule_row(code),
		.rank = ckpt_rank_of(code, unit, 0),
		.path = "",
		.count = 1 };
}

static void
add(struct ckpt_run *run, enum ckpt_code code, uint64_t unit)
{
	struct ckpt_diag diag = finding(code, unit);

	ckpt_diags_add(&run->diags, &diag);
}

static void
test_diag_table_is_sound(void **state)
{
	(void)state;
	assert_true(ckpt_rule_count() > 80);
	assert_null(ckpt_rule_at(ckpt_rule_count()));
	assert_null(ckpt_rule_find("CK0000"));
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const struct ckpt_rule *r = ckpt_rule_at(i);

		assert_int_equal(strlen(r->id), 6);
		assert_int_equal(strncmp(r->id, "CK", 2), 0);
		assert_int_equal(
			strspn(r->slug,
				"abcdefghijklmnopqrstuvwxyz0123456789-"),
			strlen(r->slug));
		/* Found again, so neither id nor slug stands twice. */
		assert_ptr_equal(ckpt_rule_find(r->id), r);
		assert_ptr_equal(ckpt_rule_find(r->slug), r);
		assert_int_equal(ckpt_rule_code(r), i);
		assert_true(*r->text && *r->check && *r->why);
		if (r->severity != CKPT_ERROR)
			assert_int_equal(r->class_, CKPT_SUSPICIOUS);
	}
}

static void
test_diag_rank_order(void **state)
{
	/* Ascending. */
	const struct ckpt_rank ranks[] = {
		ckpt_rank_of(CKPT_D_IO, 0, 0),
		ckpt_rank_of(CKPT_D_FIXED_HEADER_TRUNCATED, 0, 0),
		ckpt_rank_of(CKPT_D_CHECKSUM, 0, 0),
		ckpt_rank_of(CKPT_D_HEADER_TRUNCATED, 40, 0),
		ckpt_rank_of(CKPT_D_ROLE, 41, 0),
		ckpt_rank_of(CKPT_D_GROUPS_OVERLAP, 41, 0),
		ckpt_rank_of(CKPT_D_HEADER_TRUNCATED, 41, 0),
		ckpt_rank_of(CKPT_D_OFFSET, 0, 0),
		ckpt_rank_of(CKPT_D_RECORD_REPEATED, 1, 0),
		ckpt_rank_of(CKPT_D_BYTE_LENGTH, 1, 0),
		ckpt_rank_of(CKPT_D_PAYLOAD_END, CKPT_UNIT_LAST, 0),
		ckpt_rank_of(CKPT_D_RECORD_COUNT, CKPT_UNIT_LAST, 0),
		ckpt_rank_of(CKPT_D_TOKEN_SHAPE, 7, 0),
		ckpt_rank_of(CKPT_D_TOKEN_RECORD, 8, 0),
		ckpt_rank_of(CKPT_D_TOKEN_REPEATED, CKPT_UNIT_LAST, 0),
		ckpt_rank_of(CKPT_D_PARAMETER_NAME, 4, 0),
		ckpt_rank_of(CKPT_D_PARAMETER_NOT_FINITE, 4, 0),
		ckpt_rank_of(CKPT_D_PARAMETER_RECORD, 5, 0),
		ckpt_rank_of(CKPT_D_CONFIG_WIDTH, CKPT_UNIT_LAST, 0),
		ckpt_rank_of(CKPT_D_PARAMETER_COUNT, CKPT_UNIT_LAST, 0),
		ckpt_rank_of(CKPT_D_CONFIG_SHAPE, CKPT_UNIT_LAST, 0),
		ckpt_rank_of(CKPT_D_MOMENT_NOT_FINITE, 0, 0),
		ckpt_rank_of(CKPT_D_MOMENT_NOT_FINITE, 0, 1),
		ckpt_rank_of(CKPT_D_SECOND_MOMENT_NEGATIVE, 0, 2),
		ckpt_rank_of(CKPT_D_FIRST_MOMENT_RECORD, 1, 0),
		ckpt_rank_of(CKPT_D_BETA1_POWER, CKPT_UNIT_LAST, 0),
		ckpt_rank_of(CKPT_D_GROUPS_MISMATCH, CKPT_UNIT_LAST, 0),
		ckpt_rank_of(CKPT_D_VOCABULARY, 99, 0),
		ckpt_rank_of(CKPT_D_STEP, 0, 0),
		ckpt_rank_of(CKPT_D_OPTIMIZER_SHAPE, 5, 0),
		ckpt_rank_of(CKPT_D_OPTIMIZER_SHAPE, 0, 1),
		ckpt_rank_of(CKPT_D_GROUP_ORDER, 0, 0),
		ckpt_rank_of(CKPT_D_BETA_POWER_STEP, 0, 0),
	};
	const size_t n = sizeof ranks / sizeof ranks[0];

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			assert_int_equal(
				ckpt_rank_compare(&ranks[i], &ranks[k]),
				(i > k) - (i < k));
}

static void
test_diag_primary_is_the_lowest_in_any_order(void **state)
{
	static const enum ckpt_code codes[] = { CKPT_D_STEP, CKPT_D_ROLE,
		CKPT_D_CHECKSUM, CKPT_D_OFFSET, CKPT_D_BETA_POWER_STEP };

	(void)state;
	for (size_t first = 0; first < 5; first++)
		for (size_t step = 1; step < 5; step++) {
			struct ckpt_run *run = ckpt_run_new(NULL);
			const struct ckpt_diag *d;

			for (size_t i = 0; i < 5; i++)
				add(run, codes[(first + i * step) % 5], 9);
			ckpt_diags_close(&run->diags);
			assert_string_equal(
				ckpt_run_primary(run)->rule->id, "CK1006");
			assert_int_equal(ckpt_run_finding_count(run), 5);
			d = ckpt_run_finding(run, 0);
			for (size_t i = 1; i < 5; i++)
				assert_true(ckpt_rank_compare(&d[i - 1].rank,
						    &d[i].rank) < 0);
			assert_null(ckpt_run_finding(run, 5));
			assert_int_equal(run->diags.errors, 4);
			assert_int_equal(run->diags.warnings, 1);
			ckpt_run_free(run);
		}
}

static void
test_diag_warnings_never_decide(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);

	(void)state;
	add(run, CKPT_D_BETA_POWER_STEP, 0);
	add(run, CKPT_D_RNG_STATE_ZERO, 0);
	assert_null(ckpt_run_primary(run));
	assert_int_equal(ckpt_diags_verdict(&run->diags), CKPT_VALID);
	add(run, CKPT_D_STEP, 0);
	assert_int_equal(ckpt_diags_verdict(&run->diags), CKPT_INVALID);
	add(run, CKPT_D_RNG_ALGORITHM, 42);
	assert_int_equal(ckpt_diags_verdict(&run->diags), CKPT_UNSUPPORTED);
	add(run, CKPT_D_CHECKSUM, 0);
	assert_int_equal(ckpt_diags_verdict(&run->diags), CKPT_INVALID);
	add(run, CKPT_D_MEMORY_LIMIT, 0);
	assert_int_equal(ckpt_diags_verdict(&run->diags), CKPT_NOT_VERIFIED);
	ckpt_run_free(run);
}

/* The better one comes after the bound of its rule; and a flood in which each
 * is better than the one before takes no memory. */
static void
test_diag_bound_does_not_lose_the_primary(void **state)
{
	enum { FLOOD = 300000 };
	struct ckpt_run *run = ckpt_run_new(NULL);
	uint64_t used = 0;

	(void)state;
	for (uint64_t i = FLOOD; i-- > 0;) {
		char path[64], note[200];
		struct ckpt_diag diag = finding(CKPT_D_ROLE, 100 + i);

		snprintf(path, sizeof path, "records[%llu].role",
			(unsigned long long)i);
		snprintf(note, sizeof note, "%0150d", (int)i);
		diag.path = path;
		diag.note = note;
		diag.found = ckpt_v_bytes(note, 100);
		ckpt_diags_add(&run->diags, &diag);
		if (i == FLOOD - 1001)
			used = run->words.used;
	}
	assert_int_equal(run->words.used, used);
	assert_true(run->diags.apart.used <= 64 * 1024);
	assert_false(run->diags.lost);
	assert_int_equal(ckpt_run_finding_count(run), CKPT_DIAGS_PER_RULE);
	assert_int_equal(run->diags.suppressed, FLOOD - CKPT_DIAGS_PER_RULE);
	assert_int_equal(run->diags.errors, FLOOD);
	assert_string_equal(ckpt_run_primary(run)->path, "records[0].role");
	assert_int_equal(ckpt_run_primary(run)->rank.unit, 100);
	assert_int_equal(strlen(ckpt_run_primary(run)->note), 150);
	/* Another rule has its own bound. */
	add(run, CKPT_D_CHECKSUM, 0);
	assert_int_equal(ckpt_run_finding_count(run), CKPT_DIAGS_PER_RULE + 1);
	assert_string_equal(ckpt_run_primary(run)->rule->id, "CK1006");
	ckpt_run_free(run);
}

static void
test_diag_copies_what_it_keeps(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	char path[] = "a.b", note[] = "why", bytes[] = "x\0y", text[] = "t";
	struct ckpt_diag diag = finding(CKPT_D_ROLE, 3);
	const struct ckpt_diag *d;

	(void)state;
	diag.path = path;
	diag.note = note;
	diag.expected = ckpt_v_text(text);
	diag.found = ckpt_v_bytes(bytes, 3);
	ckpt_diags_add(&run->diags, &diag);
	memset(path, 'z', 3);
	memset(note, 'z', 3);
	memset(bytes, 'z', 3);
	text[0] = 'z';
	d = ckpt_run_finding(run, 0);
	assert_string_equal(d->path, "a.b");
	assert_string_equal(d->note, "why");
	assert_string_equal(d->expected.p, "t");
	assert_int_equal(d->found.n, 3);
	assert_memory_equal(d->found.p, "x\0y", 3);
	ckpt_run_free(run);
}

static void
test_diag_rules_that_ran_or_not(void **state)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_diags *diags = &run->diags;

	(void)state;
	assert_int_equal(diags->ran[CKPT_D_STEP], CKPT_NOT_RUN);
	assert_null(diags->reason[CKPT_D_STEP]);
	ckpt_diags_ran(diags, "G2");
	ckpt_diags_ran(diags, "A2");
	ckpt_diags_skipped(diags, "G1", "no reason");
	add(run, CKPT_D_OFFSET, 1);
	ckpt_diags_skipped(diags, "C4", "it has a finding");
	assert_int_equal(diags->ran[CKPT_D_STEP], CKPT_RAN);
	assert_int_equal(diags->ran[CKPT_D_VOCABULARY], CKPT_NOT_RUN);
	assert_string_equal(diags->reason[CKPT_D_VOCABULARY], "no reason");
	assert_int_equal(diags->ran[CKPT_D_OFFSET], CKPT_RAN);
	/* From phase B on, and not where there is a finding. */
	ckpt_diags_unverified(diags, "doubt");
	assert_int_equal(diags->ran[CKPT_D_STEP], CKPT_NOT_RUN);
	assert_string_equal(diags->reason[CKPT_D_STEP], "doubt");
	assert_int_equal(diags->ran[CKPT_D_OFFSET], CKPT_RAN);
	assert_int_equal(diags->ran[CKPT_D_MAGIC], CKPT_RAN);
	ckpt_run_free(run);
}

static void
test_diag_verdicts_have_names_and_exits(void **state)
{
	(void)state;
	assert_string_equal(ckpt_verdict_name(CKPT_VALID), "valid");
	assert_string_equal(ckpt_verdict_name(CKPT_INVALID), "invalid");
	assert_string_equal(ckpt_verdict_name(CKPT_UNSUPPORTED), "unsupported");
	assert_string_equal(
		ckpt_verdict_name(CKPT_NOT_VERIFIED), "not-verified");
	assert_int_equal(ckpt_verdict_exit(CKPT_VALID), 0);
	assert_int_equal(ckpt_verdict_exit(CKPT_INVALID), 1);
	assert_int_equal(ckpt_verdict_exit(CKPT_UNSUPPORTED), 3);
	assert_int_equal(ckpt_verdict_exit(CKPT_NOT_VERIFIED), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diag_table_is_sound),
		cmocka_unit_test(test_diag_rank_order),
		cmocka_unit_test(test_diag_primary_is_the_lowest_in_any_order),
		cmocka_unit_test(test_diag_warnings_never_decide),
		cmocka_unit_test(test_diag_bound_does_not_lose_the_primary),
		cmocka_unit_test(test_diag_copies_what_it_keeps),
		cmocka_unit_test(test_diag_rules_that_ran_or_not),
		cmocka_unit_test(test_diag_verdicts_have_names_and_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
