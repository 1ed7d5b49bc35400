/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35 values: first places and counts over tensors that are larger than
 * the reader's buffer, at all eight phases; what decides when several values
 * are at fault; shapes that must not cost time; warnings.
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
#include <time.h>

#include "support/build35.h"
#include "support/judged.h"

#define NAN_BITS 0x7ff8000000000001u
#define INF_BITS 0xfff0000000000000u

/* A parameter of more than 256 KiB behind a token of phase + 1 bytes. */
static void
large(struct b35 *b, unsigned phase)
{
	static const uint8_t text[16] = "0123456789abcdef";

	b35_init(b);
	b35_literal(b, 2);
	b->vocabulary = 2;
	b35_payload(&b->records[0], text, phase + 1);
	b->records[0].dims[0] = phase + 1;
	b35_model(b, 20000, 2, 6, 0);
	b35_moments(b, 1);
}

static uint32_t
random_number(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void
check_first(const struct judged *j, const char *id, const struct b35_record *r,
	uint64_t first, uint64_t count)
{
	const struct ckpt_diag *d = judged_find(j, id);

	assert_non_null(d);
	assert_int_equal(d->count, count);
	assert_int_equal(d->off, r->data_at + 8 * first);
	assert_int_equal(d->len, 8);
}

struct count {
	uint64_t n, first;
};

/* Called downwards: the values at fault are told apart by their last byte. */
static void
count(struct count *c, const struct b35_record *r, uint64_t i, uint8_t last)
{
	if (r->payload[8 * i + 7] != last)
		return;
	c->n++;
	c->first = i;
}

/* Records: 2 embedding [2, 20000], 3 norm, 4/5 norm's and 6/7 embedding's
 * moments. */
static void
test_llmcp35_values_first_and_count_at_every_phase(void **state)
{
	uint32_t seed = 99;

	(void)state;
	for (unsigned phase = 0; phase < 8; phase++) {
		struct count nan = { 0 }, infinite = { 0 }, minus = { 0 };
		struct judged j;
		struct b35 b;

		large(&b, phase);
		for (int i = 0; i < 6; i++) {
			uint64_t at = random_number(&seed) % 40000;

			b35_f64_bits(
				&b.records[2], at, i % 2 ? NAN_BITS : INF_BITS);
			b35_f64_bits(
				&b.records[7], at, i % 2 ? NAN_BITS : INF_BITS);
			at = random_number(&seed) % 40000;
			b35_f64_bits(&b.records[7], at, 0x8000000000000001u);
		}
		for (uint64_t i = 40000; i-- > 0;) {
			count(&nan, &b.records[2], i, 0x7f);
			count(&nan, &b.records[2], i, 0xff);
			count(&infinite, &b.records[7], i, 0x7f);
			count(&infinite, &b.records[7], i, 0xff);
			count(&minus, &b.records[7], i, 0x80);
		}
		b35_build(&b);
		judged_slowly(&j, b.bytes, b.n, phase % 2 ? 4093 : SIZE_MAX,
			phase % 3 == 0, UINT64_MAX);
		assert_string_equal(judged_primary(&j), "CK4001");
		check_first(&j, "CK4001", &b.records[2], nan.first, nan.n);
		check_first(&j, "CK4002", &b.records[7], infinite.first,
			infinite.n);
		check_first(&j, "CK4003", &b.records[7], minus.first, minus.n);
		assert_int_equal(judged_faults(&j), 3);
		judged_free(&j);
		b35_free(&b);
	}
}

static void
test_llmcp35_values_paths_and_words(void **state)
{
	const struct ckpt_diag *d;
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_f64_bits(&b.records[10], 6 * 2 + 5, NAN_BITS); /* gate [4, 6] */
	b35_f64(&b.records[10], 23, (double)INFINITY);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	d = ckpt_run_primary(j.run);
	assert_string_equal(d->path, "records[10].data[2,5]");
	assert_int_equal(d->off, b.records[10].data_at + 8 * 17);
	assert_int_equal(d->count, 2);
	assert_string_equal(
		judged_value(&j, &d->found), "NaN (bits 7ff8000000000001)");
	assert_non_null(strstr(d->note, "blocks.0.ffn.gate.weight"));
	assert_non_null(strstr(d->note, "flat index 17"));
	judged_free(&j);
	b35_f64(&b.records[10], 17, 0.0);
	b35_f64(&b.records[10], 23, 5e-324); /* denormals are numbers */
	b35_f64(&b.records[4], 1, -0.0);
	b35_f64(&b.records[15], 1, -0.0); /* and -0.0 is not negative */
	b35_f64(&b.records[4], 3, (double)INFINITY);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	d = ckpt_run_primary(j.run);
	assert_string_equal(d->path, "records[4].data[3]");
	assert_int_equal(judged_faults(&j), 1);
	judged_free(&j);
	b35_free(&b);
}

/* What decides: pair by pair, first moments before second ones, in these not
 * finite before negative wherever they stand; parameters before moments. */
static void
test_llmcp35_values_ranks(void **state)
{
	static const struct {
		uint32_t record;
		uint64_t at;
		double x;
		const char *id, *path;
	} steps[] = {
		{ 17, 3, -1.0, "CK4003", "records[17].data[0,3]" },
		{ 17, 9, (double)INFINITY, "CK4002", "records[17].data[2,1]" },
		{ 16, 12, (double)INFINITY, "CK4002", "records[16].data[3,0]" },
		{ 15, 2, -5e-324, "CK4003", "records[15].data[0,2]" },
		{ 13, 0, (double)INFINITY, "CK4001", "records[13].data[0]" },
		{ 3, 0, (double)INFINITY, "CK4001", "records[3].data[0,0]" },
	};
	struct b35 b;

	(void)state;
	b35_small(&b);
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		struct judged j;

		b35_f64(&b.records[steps[i].record], steps[i].at, steps[i].x);
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		assert_string_equal(judged_primary(&j), steps[i].id);
		assert_string_equal(
			ckpt_run_primary(j.run)->path, steps[i].path);
		judged_free(&j);
	}
	b35_free(&b);
}

/* A value in record k beats a name in record k + 1 and the settings. */
static void
test_llmcp35_values_rank_among_records(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b35_rename(&b.records[6], "Key", 3);
	b.positions = 0;
	b35_f64(&b.records[5], 15, (double)NAN);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_string_equal(judged_primary(&j), "CK4001");
	assert_non_null(judged_find(&j, "CK5204"));
	assert_non_null(judged_find(&j, "CK5307"));
	judged_free(&j);
	b35_f64(&b.records[5], 15, 0.0);
	b35_f64(&b.records[6], 15, (double)NAN);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_string_equal(judged_primary(&j), "CK5204");
	assert_non_null(judged_find(&j, "CK4001"));
	judged_free(&j);
	b35_free(&b);
}

static void
test_llmcp35_values_are_judged_when_counts_are_wrong(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b.parameters = 9;
	b35_f64(&b.records[5], 15, (double)NAN);
	b35_f64(&b.records[17], 1, -1.0);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_string_equal(judged_primary(&j), "CK3007");
	check_first(&j, "CK4001", &b.records[5], 15, 1);
	/* They rank by the number among those of their role. */
	assert_int_equal(judged_find(&j, "CK4001")->rank.unit, 2);
	assert_int_equal(judged_find(&j, "CK4003")->rank.unit, 1);
	check_first(&j, "CK4003", &b.records[17], 1, 1);
	judged_free(&j);
	b35_free(&b);
}

static double
seconds_of(struct judged *j, struct b35 *b)
{
	struct timespec a, c;

	b35_build(b);
	clock_gettime(CLOCK_MONOTONIC, &a);
	judged_bytes(j, b->bytes, b->n);
	clock_gettime(CLOCK_MONOTONIC, &c);
	return (double)(c.tv_sec - a.tv_sec) +
	       1e-9 * (double)(c.tv_nsec - a.tv_nsec);
}

/* Shapes that claim 2^60 elements and have no bytes cost nothing. */
static void
test_llmcp35_values_absurd_shapes_do_not_hang(void **state)
{
	static const uint64_t shapes[][2] = { { (uint64_t)1 << 60, 0 },
		{ 0, (uint64_t)1 << 60 },
		{ (uint64_t)1 << 30, (uint64_t)1 << 30 },
		{ (uint64_t)1 << 40, (uint64_t)1 << 40 },
		{ UINT64_MAX, UINT64_MAX }, { UINT64_MAX - 1, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		for (int small = 0; small < 2; small++) {
			struct judged j;
			struct b35 b;

			b35_small(&b);
			b.rope_base = small ? 5e-324 : 10000.0;
			b.positions = 8;
			for (uint32_t k = 3; k <= 12; k++)
				for (unsigned d = 0; d < 2; d++)
					b.records[k].dims[d] = shapes[i][d];
			assert_true(seconds_of(&j, &b) < 2.0);
			assert_int_equal(j.verdict, CKPT_INVALID);
			judged_free(&j);
			b35_free(&b);
		}
}

/* Section 6.6: positions x pairs up to (2^63 - 1) / 8, no table is built. */
static void
test_llmcp35_values_astronomic_positions(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b.positions = ((uint64_t)1 << 60) - 1;
	assert_true(seconds_of(&j, &b) < 2.0);
	assert_int_equal(j.verdict, CKPT_VALID);
	judged_free(&j);
	b.positions++;
	assert_true(seconds_of(&j, &b) < 2.0);
	assert_string_equal(judged_primary(&j), "CK5317");
	judged_free(&j);
	b35_free(&b);
}

/* The rotary angle that is named, against trying all of them in order. */
static void
test_llmcp35_values_first_bad_angle(void **state)
{
	static const double bases[] = { 5e-324, 1e-320, 1e-315, 1e-310 };
	enum { WIDTH = 2048, POSITIONS = 40 };

	(void)state;
	for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
		uint64_t position = UINT64_MAX, pair = 0;
		char want[80] = "";
		struct judged j;
		struct b35 b;

		for (uint64_t m = 0; m < POSITIONS && !*want; m++)
			for (uint64_t p = 0; p < WIDTH / 2 && !*want; p++) {
				double f = pow(bases[i],
					(-2.0 * (double)p) / (double)WIDTH);

				if (isfinite(f) && isfinite((double)m * f))
					continue;
				position = m;
				pair = p;
				snprintf(want, sizeof want,
					"not finite at position %llu, pair "
					"%llu",
					(unsigned long long)position,
					(unsigned long long)pair);
			}
		b35_init(&b);
		b35_literal(&b, 1);
		b35_model(&b, WIDTH, 1, 1, 1);
		b.positions = POSITIONS;
		b.rope_base = bases[i];
		b35_build(&b);
		judged_bytes(&j, b.bytes, b.n);
		if (*want) {
			assert_string_equal(judged_primary(&j), "CK5318");
			assert_string_equal(
				ckpt_run_primary(j.run)->found.p, want);
		} else {
			assert_int_equal(j.verdict, CKPT_VALID);
		}
		judged_free(&j);
		b35_free(&b);
	}
}

static void
check_warning(struct b35 *b, const char *id, const char *path,
	const char *expected, enum ckpt_severity severity)
{
	const struct ckpt_diag *d;
	struct judged j;

	b35_build(b);
	judged_bytes(&j, b->bytes, b->n);
	assert_int_equal(j.verdict, CKPT_VALID);
	assert_int_equal(ckpt_run_finding_count(j.run), 1);
	d = judged_find(&j, id);
	assert_non_null(d);
	assert_int_equal(d->rule->severity, severity);
	assert_string_equal(d->path, path);
	if (expected)
		assert_string_equal(judged_value(&j, &d->expected), expected);
	judged_free(&j);
	b35_free(b);
}

static void
test_llmcp35_values_warnings(void **state)
{
	struct b35 b;

	(void)state;
	b35_small(&b); /* 0.5 * 0.5 */
	b.beta1_power = 0.5;
	check_warning(&b, "CK4101", "header.optimizer.beta1_power",
		"0.25 (bits 3fd0000000000000)", CKPT_WARNING);
	b35_small(&b);
	b.beta2_power = nextafter(0.5625, 1.0);
	check_warning(&b, "CK4101", "header.optimizer.beta2_power",
		"0.5625 (bits 3fe2000000000000)", CKPT_WARNING);
	b35_small(&b);
	for (uint32_t i = 15; i < b.nrecords; i += 2)
		b35_payload(&b.records[i], NULL, b.records[i].n);
	b35_f64(&b.records[15], 0, -0.0);
	check_warning(
		&b, "CK4102", "header.counts.optimizer", NULL, CKPT_WARNING);
	b35_small(&b);
	b.rng_state = 0;
	check_warning(
		&b, "CK4103", "header.sampling_rng_state", NULL, CKPT_NOTE);
	b35_small(&b);
	b.weight_decay = -0.0;
	check_warning(
		&b, "CK4104", "header.adamw.weight_decay", "0", CKPT_WARNING);
	b35_small(&b);
	b.rms_epsilon = -0.0;
	check_warning(
		&b, "CK4104", "header.decoder.rms_epsilon", "0", CKPT_WARNING);
	b35_init(&b);
	b35_literal(&b, 2);
	b35_model(&b, 4, 2, 6, 0);
	b.groups_flag = 1;
	b.decay = calloc(2, sizeof *b.decay);
	b.ndecay = 2;
	b.decay[0] = (struct b35_str){ "final_norm.gain", 15, { 0 } };
	b.decay[1] = (struct b35_str){ "unknown", 7, { 0 } };
	check_warning(
		&b, "CK5601", "header.groups.decay[1]", NULL, CKPT_WARNING);
}

/* The power is compared up to a number of steps that is affordable, and
 * beyond it where it does not move any more. */
static void
test_llmcp35_values_powers_of_huge_steps(void **state)
{
	struct judged j;
	struct b35 b;

	(void)state;
	b35_small(&b);
	b.selected_step = b.optimizer_step = UINT64_MAX;
	b.beta1_power = b.beta2_power = 0.0;
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_int_equal(j.verdict, CKPT_VALID);
	assert_int_equal(ckpt_run_finding_count(j.run), 1);
	/* 0.75 rounds up to the smallest denormal for ever. */
	assert_string_equal(judged_find(&j, "CK4101")->path,
		"header.optimizer.beta2_power");
	judged_free(&j);
	b.beta2 = nextafter(1.0, 0.0);
	b.beta2_power = 0.5;
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_int_equal(ckpt_run_finding_count(j.run), 0);
	assert_int_equal(
		j.run->diags.ran[CKPT_D_BETA_POWER_STEP], CKPT_NOT_RUN);
	judged_free(&j);
	b35_free(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_llmcp35_values_first_and_count_at_every_phase),
		cmocka_unit_test(test_llmcp35_values_paths_and_words),
		cmocka_unit_test(test_llmcp35_values_ranks),
		cmocka_unit_test(test_llmcp35_values_rank_among_records),
		cmocka_unit_test(
			test_llmcp35_values_are_judged_when_counts_are_wrong),
		cmocka_unit_test(test_llmcp35_values_absurd_shapes_do_not_hang),
		cmocka_unit_test(test_llmcp35_values_astronomic_positions),
		cmocka_unit_test(test_llmcp35_values_first_bad_angle),
		cmocka_unit_test(test_llmcp35_values_warnings),
		cmocka_unit_test(test_llmcp35_values_powers_of_huge_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
