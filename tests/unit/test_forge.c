/* SPDX-License-Identifier: MIT */
/*
 * ckforge below its command line: the tables of its options are well made,
 * real numbers are read as they should be, and the shapes of big files have
 * exactly the size that was asked for, up to a pebibyte, without a byte
 * written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/real.h"
#include "cli/forge.h"

#include <float.h>
#include <stdlib.h>

static void
test_forge_tables_are_well_made(void **state)
{
	const struct ckpt_command subs[] = { forge_synth_command,
		forge_big_command, forge_mutate_command, forge_corpus_command,
		forge_fixture_command, { 0 } };
	const struct ckpt_command tool = {
		.name = "ckforge",
		.title = "test",
		.use = subs[0].use,
		.subs = subs,
		.date = "November 29, 2026",
	};
	struct ckpt_buf why;

	(void)state;
	ckpt_buf_init(&why);
	if (!ckpt_command_check(&tool, &why))
		fail_msg("%s", why.p);
	ckpt_buf_release(&why);
}

/* ---- Real numbers ------------------------------------------------------- */

static void
test_real_reads_numbers(void **state)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{ "0", 0.0 },
		{ "-0.0", -0.0 },
		{ "0x0p9", 0.0 },
		{ "0e99999", 0.0 },
		{ "1", 1.0 },
		{ "+1.5", 1.5 },
		{ ".5", 0.5 },
		{ "5.", 5.0 },
		{ "1e-5", 1e-5 },
		{ "0.1", 0.1 },
		{ "0x1p-3", 0.125 },
		{ "-0X1.8P1", -3.0 },
		{ "0xep0", 14.0 },
		{ "1.7976931348623157e308", DBL_MAX },
		{ "4.9406564584124654e-324", 0x1p-1074 },
		{ "0x1p-1074", 0x1p-1074 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		double x = 77.0;

		assert_true(ckpt_real_parse(rows[i].text, &x));
		assert_int_equal(
			ckpt_f64_bits(x), ckpt_f64_bits(rows[i].value));
	}
}

static void
test_real_refuses_the_rest(void **state)
{
	static const char *const texts[] = { "", " 1", "1 ", "-", "+-1", "nan",
		"-nan", "inf", "infinity", "1e999", "1e-999", "0x1p-9999",
		"1,5", "1.5x", "0x", "0xg", "e5", "1e", "--1", "." };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		double x = 77.0;

		if (ckpt_real_parse(texts[i], &x))
			fail_msg("\"%s\" is read as %g", texts[i], x);
		assert_true(x == 77.0);
	}
}

/* ---- Sizes of big files ------------------------------------------------- */

/* What forge_big would write; 0 if that would not be a valid file. */
static uint64_t
size_of(const struct ckpt_synth *synth)
{
	struct ckpt_arena arena;
	struct ckpt_state made;
	struct ckpt_buf why;
	uint64_t bytes = 0;

	ckpt_buf_init(&why);
	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	if (!ckpt_synth_check(synth, &why) ||
		ckpt_synth_state(&arena, synth, &made) != CKPT_OK ||
		ckpt_format_at(0)->measure(&made, &bytes) != CKPT_OK)
		bytes = 0;
	/* A few megabytes of names at most, whatever the size. */
	assert_true(arena.used < 8 << 20);
	ckpt_arena_release(&arena);
	ckpt_buf_release(&why);
	return bytes;
}

static void
test_forge_big_has_exactly_its_size(void **state)
{
	static const uint64_t sizes[] = { 6000, 10000, 65536, 99999, 1000000,
		1 << 20, (1 << 20) + 1, 123456789, 1 << 30, 5000000001,
		(uint64_t)1 << 40, ((uint64_t)1 << 45) - 1, (uint64_t)1 << 50 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct ckpt_synth synth;
		uint64_t least;

		assert_true(forge_big_shape(sizes[i], i, &synth, &least));
		assert_int_equal(size_of(&synth), sizes[i]);
		/* The odd bytes stay few. */
		if (sizes[i] >= 1000000)
			assert_true(synth.last_token_bytes < sizes[i] / 100);
	}
}

static void
test_forge_big_every_size_from_the_smallest(void **state)
{
	struct ckpt_synth synth;
	uint64_t least;

	(void)state;
	assert_false(forge_big_shape(0, 1, &synth, &least));
	assert_in_range(least, 1, 9999);
	assert_false(forge_big_shape(least - 1, 1, &synth, &least));
	for (uint64_t size = least; size < least + 1000; size++) {
		assert_true(forge_big_shape(size, 1, &synth, &least));
		assert_int_equal(size_of(&synth), size);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forge_tables_are_well_made),
		cmocka_unit_test(test_real_reads_numbers),
		cmocka_unit_test(test_real_refuses_the_rest),
		cmocka_unit_test(test_forge_big_has_exactly_its_size),
		cmocka_unit_test(test_forge_big_every_size_from_the_smallest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
