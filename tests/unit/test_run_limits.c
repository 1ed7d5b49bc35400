/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out: every allocation of a run fails once, and budgets of
 * all sizes. The verdict is then "not verified" or the one that the file gets
 * anyway, never a crash, a leak, or a good word for a bad file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/build35.h"
#include "support/judged.h"

enum memory { DECODED, WORDS, TEXTS, APART };

static struct ckpt_arena *
arena_of(struct ckpt_run *run, enum memory memory)
{
	switch (memory) {
	case DECODED: return &run->arena;
	case WORDS: return &run->words;
	case TEXTS: return &run->texts;
	case APART: break;
	}
	return &run->diags.apart;
}

/* True if the n-th allocation was reached. */
static bool
fail_once(const struct b35 *b, enum memory memory, uint64_t n,
	enum ckpt_verdict verdict)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_source *source = ckpt_source_memory(b->bytes, b->n);
	struct ckpt_arena *arena = arena_of(run, memory);
	enum ckpt_verdict got;
	bool reached;

	arena->fail_at = n;
	got = ckpt_verify(run, source);
	reached = arena->count >= n;
	if (reached) {
		assert_int_equal(got, CKPT_NOT_VERIFIED);
		assert_string_equal(ckpt_run_primary(run)->rule->id, "CK9004");
	} else {
		assert_int_equal(got, verdict);
	}
	ckpt_source_close(source);
	ckpt_run_free(run);
	return reached;
}

static uint64_t
fail_all(struct b35 *b, enum memory memory, enum ckpt_verdict verdict)
{
	uint64_t n = 1;

	b35_build(b);
	while (fail_once(b, memory, n, verdict))
		n++;
	return n - 1;
}

/* Long names, groups, many records: blocks of all kinds. */
static void
rich(struct b35 *b, bool bad)
{
	static char name[40000];

	b35_init(b);
	b35_literal(b, 1500);
	b35_model(b, 4, 2, 6, 1);
	b35_moments(b, 2);
	memset(name, bad ? 0xff : 'a', sizeof name);
	b->groups_flag = 1;
	b->ndecay = 11;
	b->decay = calloc(12, sizeof *b->decay);
	for (uint32_t i = 0; i < 11; i++) {
		const struct b35_record *r = &b->records[1511 + 2 * i];

		b->decay[i] = (struct b35_str){ r->name, r->name_len, { 0 } };
	}
	if (!bad)
		return;
	b->decay[b->ndecay++] = (struct b35_str){ name, sizeof name, { 0 } };
	for (uint32_t i = 0; i < 1500; i++)
		b->records[i].dtype = 4;
	b->selected_step = 9;
}

static void
test_run_limits_each_allocation_of_a_good_file(void **state)
{
	struct b35 b;

	(void)state;
	rich(&b, false);
	assert_true(fail_all(&b, DECODED, CKPT_VALID) > 5);
	assert_int_equal(fail_all(&b, WORDS, CKPT_VALID), 0);
	assert_int_equal(fail_all(&b, APART, CKPT_VALID), 0);
	b35_free(&b);
	b35_init(&b);
	b35_bpe(&b, 5000);
	b35_model(&b, 2, 1, 1, 0);
	assert_true(fail_all(&b, DECODED, CKPT_VALID) > 5);
	b35_free(&b);
}

static void
test_run_limits_each_allocation_of_a_bad_file(void **state)
{
	struct b35 b;

	(void)state;
	rich(&b, true);
	assert_true(fail_all(&b, DECODED, CKPT_INVALID) > 5);
	assert_true(fail_all(&b, WORDS, CKPT_INVALID) > 5);
	assert_true(fail_all(&b, TEXTS, CKPT_INVALID) > 0);
	b35_free(&b);
}

static void
test_run_limits_budgets(void **state)
{
	bool enough = false;
	struct b35 b;

	(void)state;
	rich(&b, true);
	b35_build(&b);
	for (uint64_t budget = 1; budget < 4u << 20; budget += 30011) {
		struct ckpt_options options = { .max_memory = budget };
		struct ckpt_run *run = ckpt_run_new(&options);
		struct ckpt_source *source = ckpt_source_memory(b.bytes, b.n);
		enum ckpt_verdict verdict = ckpt_verify(run, source);

		assert_true(run->arena.used <= budget);
		if (verdict == CKPT_NOT_VERIFIED) {
			assert_false(enough);
			assert_string_equal(
				ckpt_run_primary(run)->rule->id, "CK9003");
		} else {
			assert_int_equal(verdict, CKPT_INVALID);
			enough = true;
		}
		ckpt_source_close(source);
		ckpt_run_free(run);
	}
	assert_true(enough);
	b35_free(&b);
}

/* Declared counts of 4 G with no bytes behind them take no memory, and are
 * refused as what they are. */
static void
test_run_limits_hostile_counts(void **state)
{
	static const char *const paths[] = { "records[0].role",
		"header.groups.decay[0]", "header.groups.no_decay[0]",
		"header.groups.decay[0]", "records[0].name",
		"records[0].dims[0]" };

	(void)state;
	for (size_t kind = 0; kind < 6; kind++) {
		struct b35_lie lie = B35_TELL(UINT32_MAX);
		struct judged j;
		struct b35 b;
		uint64_t header;

		b35_init(&b);
		b35_literal(&b, 1);
		b.groups_flag = 1;
		b.decay = calloc(1, sizeof *b.decay);
		b.decay[0] = (struct b35_str){ "x", 1, { 0 } };
		b.ndecay = kind != 1;
		b35_build(&b);
		if (kind == 0)
			b.descriptors = lie;
		if (kind == 1)
			b.decay_count = lie;
		if (kind == 2)
			b.no_decay_count = lie;
		if (kind == 3)
			b.decay[0].declared = lie;
		if (kind == 4)
			b.records[0].name_declared = lie;
		if (kind == 5)
			b.records[0].rank = lie;
		b35_build(&b);
		/* The header ends right behind the lie. */
		header = kind == 0   ? b.optimizer_at + 36
			 : kind == 1 ? b.groups_at + 4
			 : kind == 2 ? b.no_decay_at + 4
			 : kind == 3 ? b.groups_at + 8
			 : kind == 4 ? b35_at_name(&b.records[0]) + 4
				     : b35_at_rank(&b.records[0]) + 4;
		b.header_bytes = B35_TELL(header);
		b.payload_bytes = B35_TELL(b.n - header);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		assert_string_equal(judged_primary(&j), "CK2004");
		assert_string_equal(ckpt_run_primary(j.run)->path, paths[kind]);
		assert_true(j.run->arena.used < 512 * 1024);
		judged_free(&j);
		b35_free(&b);
	}
}

/* A name of megabytes in a finding neither uses up the memory for findings
 * nor changes the verdict. */
static void
test_run_limits_gigantic_names_in_findings(void **state)
{
	enum { HUGE = 70 * 1024 * 1024 };
	char *name = malloc(HUGE);
	const struct ckpt_diag *d;
	struct judged j;
	struct b35 b;

	(void)state;
	memset(name, 'a', HUGE);
	name[5] = '\xff';
	b35_small(&b);
	b.groups_flag = 1;
	b.decay = calloc(1, sizeof *b.decay);
	b.ndecay = 1;
	b.decay[0] = (struct b35_str){ name, HUGE, { 0 } };
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_int_equal(j.verdict, CKPT_INVALID);
	d = judged_find(&j, "CK2006");
	assert_non_null(d);
	assert_non_null(strstr(judged_value(&j, &d->found), "aaaaa\\xffaaa"));
	assert_non_null(strstr(j.text.p, "..."));
	assert_non_null(strstr(j.text.p, "(73400320 bytes)"));
	assert_true(j.text.n < 200);
	assert_true(j.run->words.used < 1024 * 1024);
	judged_free(&j);
	b35_free(&b);
	free(name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_run_limits_each_allocation_of_a_good_file),
		cmocka_unit_test(test_run_limits_each_allocation_of_a_bad_file),
		cmocka_unit_test(test_run_limits_budgets),
		cmocka_unit_test(test_run_limits_hostile_counts),
		cmocka_unit_test(test_run_limits_gigantic_names_in_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
