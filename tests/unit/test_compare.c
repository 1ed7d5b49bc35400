/* SPDX-License-Identifier: MIT */
/*
 * Comparison of states and distances between doubles; and the outline of a
 * state, which must be the state itself to whoever compares it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "forensics/compare.h"
#include "model/synth.h"
#include "replay/outline.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
ulps(double a, double b)
{
	uint64_t forth = ckpt_ulps(ckpt_f64_bits(a), ckpt_f64_bits(b));

	assert_int_equal(forth, ckpt_ulps(ckpt_f64_bits(b), ckpt_f64_bits(a)));
	return forth;
}

static void
test_compare_ulps(void **state)
{
	(void)state;
	assert_int_equal(ulps(1.0, 1.0), 0);
	assert_int_equal(ulps(1.0, 1.0 + DBL_EPSILON), 1);
	assert_int_equal(ulps(1.0, 1.0 - DBL_EPSILON / 2), 1);
	assert_int_equal(ulps(-1.0, -1.0 - DBL_EPSILON), 1);
	assert_int_equal(ulps(0.0, -0.0), 0);
	assert_int_equal(ulps(0x1p-1074, -0x1p-1074), 2);
	assert_int_equal(ulps(0.0, DBL_MIN), (uint64_t)1 << 52);
	assert_int_equal(ulps(1.0, 2.0), (uint64_t)1 << 52);
	assert_int_equal(ulps(DBL_MAX, (double)INFINITY), 1);
	assert_int_equal(
		ulps(-DBL_MAX, DBL_MAX), 2 * (uint64_t)0x7fefffffffffffff);
	assert_int_equal(ulps((double)NAN, 1.0), UINT64_MAX);
	assert_int_equal(ulps(-(double)NAN, (double)NAN), UINT64_MAX);
}

struct fixture {
	struct ckpt_arena arena;
	struct ckpt_state a, b;
};

/* The values of a tensor, in memory that can be changed. */
static uint8_t *
settle(struct ckpt_arena *arena, struct ckpt_tensor *t)
{
	uint8_t *p = ckpt_arena_alloc(arena, (size_t)t->len);

	assert_non_null(p);
	if (t->data)
		memcpy(p, t->data, (size_t)t->len);
	else
		t->fill(t->fill_ctx, t, 0, p, (size_t)t->len);
	t->data = p;
	return p;
}

static const struct ckpt_tensor *
settle_all(struct ckpt_arena *arena, const struct ckpt_tensor *from, uint64_t n)
{
	struct ckpt_tensor *to =
		ckpt_arena_alloc(arena, (size_t)n * sizeof *to);

	assert_non_null(to);
	if (n)
		memcpy(to, from, (size_t)n * sizeof *to);
	for (uint64_t i = 0; i < n; i++)
		(void)settle(arena, &to[i]);
	return to;
}

static void
settle_state(struct ckpt_arena *arena, struct ckpt_state *s)
{
	s->tokenizer.pieces =
		settle_all(arena, s->tokenizer.pieces, s->tokenizer.npieces);
	s->parameters = settle_all(arena, s->parameters, s->nparameters);
	s->first = settle_all(arena, s->first, s->nmoments);
	s->second = settle_all(arena, s->second, s->nmoments);
}

/* a is made as it is read, b lies in memory. */
static struct fixture *
fixture(uint64_t step)
{
	struct fixture *f = calloc(1, sizeof *f);
	/* A weight of more than one piece: [1200, 4]. */
	struct ckpt_synth synth = { .config = { 1200, 4, 2, 3, 1, 2, 10000.0,
					    1e-6, 0, 0 },
		.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
		.step = step,
		.gain_groups = true,
		.seed = 5,
		.sampling_rng_state = 9 };

	assert_non_null(f);
	ckpt_arena_init(&f->arena, UINT64_MAX);
	assert_int_equal(ckpt_synth_state(&f->arena, &synth, &f->a), CKPT_OK);
	f->b = f->a;
	settle_state(&f->arena, &f->b);
	return f;
}

static void
release(struct fixture *f)
{
	ckpt_arena_release(&f->arena);
	free(f);
}

/* Flips one bit of a value that b holds. */
static void
flip(const struct ckpt_tensor *t, uint64_t element, unsigned bit)
{
	uint8_t *p = (uint8_t *)(uintptr_t)t->data + 8 * element;

	ckpt_store_u64(p, ckpt_load_u64(p) ^ (uint64_t)1 << bit);
}

static void
test_compare_finds_nothing_in_equal_states(void **state)
{
	(void)state;
	for (uint64_t step = 0; step < 2; step++) {
		struct fixture *f = fixture(step);
		struct ckpt_comparison c;

		ckpt_compare(&f->a, &f->b, &c);
		assert_true(ckpt_comparison_equal(&c));
		ckpt_compare(&f->b, &f->b, &c);
		assert_true(ckpt_comparison_equal(&c));
		release(f);
	}
}

/* First, in the order of tensors and not of sizes; counted to the end. */
static void
test_compare_names_the_first_element(void **state)
{
	struct fixture *f = fixture(3);
	struct ckpt_comparison c;

	(void)state;
	flip(&f->b.second[2], 1, 0);
	flip(&f->b.parameters[0], 4799, 4);
	flip(&f->b.parameters[0], 513, 1);
	ckpt_compare(&f->a, &f->b, &c);
	assert_false(ckpt_comparison_equal(&c));
	assert_int_equal(c.nsettings, 0);
	assert_int_equal(c.tensors, 2);
	assert_int_equal(c.elements, 3);
	assert_int_equal(c.most_ulps, 16);
	assert_int_equal(c.first.fault, CKPT_TENSOR_VALUES);
	assert_string_equal(c.first.role, "parameter");
	assert_int_equal(c.first.name.n, strlen("token_embedding.weight"));
	assert_memory_equal(
		c.first.name.p, "token_embedding.weight", c.first.name.n);
	assert_int_equal(c.first.element, 513);
	assert_int_equal(c.first.bits[0] ^ c.first.bits[1], 2);
	assert_int_equal(c.first.ulps, 2);
	flip(&f->b.parameters[0], 4799, 4);
	flip(&f->b.parameters[0], 513, 1);
	ckpt_compare(&f->a, &f->b, &c);
	assert_int_equal(c.tensors, 1);
	assert_string_equal(c.first.role, "second moment");
	assert_int_equal(c.first.index, 2);
	assert_int_equal(c.first.element, 1);
	release(f);
}

/* Zeros of either sign have other bits but no distance. */
static void
test_compare_sees_the_sign_of_zero(void **state)
{
	struct fixture *f = fixture(1);
	struct ckpt_comparison c;
	struct ckpt_state zero = f->b;

	(void)state;
	settle_state(&f->arena, &zero);
	for (int i = 0; i < 2; i++) {
		const struct ckpt_state *s = i ? &f->b : &zero;

		ckpt_store_u64((uint8_t *)(uintptr_t)s->first[0].data,
			i ? (uint64_t)1 << 63 : 0);
	}
	ckpt_compare(&zero, &f->b, &c);
	assert_false(ckpt_comparison_equal(&c));
	assert_int_equal(c.elements, 1);
	assert_int_equal(c.most_ulps, 0);
	assert_string_equal(c.first.role, "first moment");
	release(f);
}

static void
test_compare_lists_settings(void **state)
{
	struct fixture *f = fixture(3);
	struct ckpt_comparison c;

	(void)state;
	f->b.sampling_rng_state++;
	f->b.optimizer_step++;
	f->b.beta2_power = -f->b.beta2_power;
	f->b.adamw.weight_decay = 0.0;
	f->b.nno_decay--;
	ckpt_compare(&f->a, &f->b, &c);
	assert_int_equal(c.tensors, 0);
	assert_int_equal(c.nsettings, 5);
	assert_string_equal(c.settings[0].name, "optimizer_step");
	assert_int_equal(c.settings[0].a.u64, 3);
	assert_int_equal(c.settings[0].b.u64, 4);
	assert_string_equal(c.settings[1].name, "beta2_power");
	assert_int_equal(c.settings[1].a.kind, CKPT_V_F64);
	assert_string_equal(c.settings[2].name, "sampling_rng_state");
	assert_string_equal(c.settings[3].name, "weight_decay");
	assert_string_equal(c.settings[4].name, "parameter_groups");
	assert_false(ckpt_comparison_equal(&c));
	release(f);
}

static void
test_compare_reports_structure(void **state)
{
	struct fixture *f = fixture(3);
	struct ckpt_comparison c;
	uint64_t dims[] = { 4, 1200 };
	struct ckpt_tensor *p =
		(struct ckpt_tensor *)(uintptr_t)f->b.parameters;

	(void)state;
	f->b.nmoments = 0;
	ckpt_compare(&f->a, &f->b, &c);
	assert_int_equal(c.tensors, 2 * f->a.nmoments);
	assert_int_equal(c.first.fault, CKPT_TENSOR_ABSENT);
	assert_string_equal(c.first.role, "first moment");
	ckpt_compare(&f->b, &f->a, &c);
	assert_int_equal(c.first.fault, CKPT_TENSOR_ABSENT);
	f->b.nmoments = f->a.nmoments;
	p[0].dims = dims;
	ckpt_compare(&f->a, &f->b, &c);
	assert_int_equal(c.tensors, 1);
	assert_int_equal(c.first.fault, CKPT_TENSOR_SHAPE);
	p[0].dims = f->a.parameters[0].dims;
	p[1].name = p[2].name;
	ckpt_compare(&f->a, &f->b, &c);
	assert_int_equal(c.first.fault, CKPT_TENSOR_NAME);
	assert_int_equal(c.first.index, 1);
	p[1].name = f->a.parameters[1].name;
	((uint8_t *)(uintptr_t)f->b.tokenizer.pieces[7].data)[1] ^= 1;
	ckpt_compare(&f->a, &f->b, &c);
	assert_string_equal(c.first.role, "token");
	assert_int_equal(c.first.index, 7);
	assert_int_equal(c.first.element, 1);
	assert_false(c.first.f64);
	release(f);
}

/* An outline says the same when the state it was made of is gone. */
static void
test_compare_takes_an_outline(void **state)
{
	struct fixture *f = fixture(3), *other = fixture(3);
	struct ckpt_spool spool;
	struct ckpt_outline outline;
	struct ckpt_comparison c;
	uint64_t where[1200 + 33], n = 0;

	(void)state;
	assert_int_equal(ckpt_spool_open(&spool), CKPT_OK);
	for (uint32_t k = 0; k < 1200 + 33; k++) {
		uint32_t moment = k - 1211;
		const struct ckpt_tensor *t =
			k < 1200     ? &f->b.tokenizer.pieces[k]
			: k < 1211   ? &f->b.parameters[k - 1200]
			: moment % 2 ? &f->b.second[moment / 2]
				     : &f->b.first[moment / 2];

		where[n++] = spool.n;
		assert_int_equal(
			ckpt_spool_write(&spool, t->data, (size_t)t->len),
			CKPT_OK);
	}
	assert_int_equal(f->b.nparameters, 11);
	assert_int_equal(f->b.tokenizer.npieces, 1200);
	assert_int_equal(
		ckpt_outline_make(&outline, &f->b, &spool, where), CKPT_OK);
	release(f);
	ckpt_compare(&outline.state, &other->b, &c);
	assert_true(ckpt_comparison_equal(&c));
	flip(&other->b.first[10], 3, 7);
	ckpt_compare(&outline.state, &other->b, &c);
	assert_int_equal(c.tensors, 1);
	assert_int_equal(c.first.element, 3);
	assert_false(outline.failed);
	/* A spool that cannot be read is not a difference to believe in. */
	ckpt_spool_close(&spool);
	ckpt_compare(&outline.state, &other->b, &c);
	assert_true(outline.failed);
	ckpt_outline_release(&outline);
	release(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare_ulps),
		cmocka_unit_test(test_compare_finds_nothing_in_equal_states),
		cmocka_unit_test(test_compare_names_the_first_element),
		cmocka_unit_test(test_compare_sees_the_sign_of_zero),
		cmocka_unit_test(test_compare_lists_settings),
		cmocka_unit_test(test_compare_reports_structure),
		cmocka_unit_test(test_compare_takes_an_outline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
