/* SPDX-License-Identifier: MIT */
/*
 * The table of parameters: names in model order, shapes, and the other order,
 * in which blocks.10 comes before blocks.2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/params.h"

#include <string.h>

static void
test_params_count(void **state)
{
	uint64_t count;

	(void)state;
	assert_true(ckpt_param_count(0, &count));
	assert_int_equal(count, 2);
	assert_true(ckpt_param_count(11, &count));
	assert_int_equal(count, 101);
	assert_true(ckpt_param_count((UINT64_MAX - 2) / 9, &count));
	assert_false(ckpt_param_count((UINT64_MAX - 2) / 9 + 1, &count));
	assert_false(ckpt_param_count(UINT64_MAX, &count));
}

static void
test_params_names_in_model_order(void **state)
{
	static const char *const names[] = {
		"token_embedding.weight",
		"blocks.0.attention_norm.gain",
		"blocks.0.attention.query.weight",
		"blocks.0.attention.key.weight",
		"blocks.0.attention.value.weight",
		"blocks.0.attention.output.weight",
		"blocks.0.ffn_norm.gain",
		"blocks.0.ffn.gate.weight",
		"blocks.0.ffn.up.weight",
		"blocks.0.ffn.down.weight",
		"blocks.1.attention_norm.gain",
	};
	char name[CKPT_PARAM_NAME];

	(void)state;
	for (uint64_t k = 0; k < sizeof names / sizeof names[0]; k++) {
		assert_int_equal(
			ckpt_param_name(k, 20, name), strlen(names[k]));
		assert_string_equal(name, names[k]);
	}
	ckpt_param_name(19, 20, name);
	assert_string_equal(name, "final_norm.gain");
	ckpt_param_name(1, 2, name);
	assert_string_equal(name, "final_norm.gain");
}

static void
test_params_longest_name_fits(void **state)
{
	const uint64_t layers = (UINT64_MAX - 2) / 9;
	char name[CKPT_PARAM_NAME];
	uint64_t count;

	(void)state;
	assert_true(ckpt_param_count(layers, &count));
	for (uint64_t k = count - 10; k < count; k++)
		assert_true(ckpt_param_name(k, count, name) < sizeof name);
	ckpt_param_name(count - 2, count, name);
	assert_string_equal(name, "blocks.2049638230412172400.ffn.down.weight");
}

/* Rank 0 stands for a dimension that is not there. */
static void
test_params_shapes(void **state)
{
	static const uint64_t dims[CKPT_SLOTS][2] = { { 5, 4 }, { 4 }, { 4, 4 },
		{ 4, 4 }, { 4, 4 }, { 4, 4 }, { 4 }, { 4, 7 }, { 4, 7 },
		{ 7, 4 }, { 4 } };
	const struct ckpt_config config = {
		.vocabulary = 5, .width = 4, .feed_forward_width = 7
	};

	(void)state;
	for (unsigned slot = 0; slot < CKPT_SLOTS; slot++) {
		const struct ckpt_param *row =
			ckpt_param_row((enum ckpt_slot)slot);

		assert_int_equal(row->rank, dims[slot][1] ? 2 : 1);
		for (uint32_t i = 0; i < row->rank; i++)
			assert_int_equal(
				ckpt_param_dim(row, i, &config), dims[slot][i]);
	}
}

static void
test_params_slots_and_layers(void **state)
{
	uint64_t layer = 77;

	(void)state;
	assert_int_equal(ckpt_param_slot(0, 20, &layer), CKPT_SLOT_EMBEDDING);
	assert_int_equal(ckpt_param_slot(19, 20, &layer), CKPT_SLOT_FINAL_NORM);
	assert_int_equal(layer, 77);
	assert_int_equal(ckpt_param_slot(9, 20, &layer), CKPT_SLOT_DOWN);
	assert_int_equal(layer, 0);
	assert_int_equal(
		ckpt_param_slot(10, 20, &layer), CKPT_SLOT_ATTENTION_NORM);
	assert_int_equal(layer, 1);
	assert_int_equal(ckpt_param_slot(18, 20, NULL), CKPT_SLOT_DOWN);
}

enum { LAYERS = 11, COUNT = 9 * LAYERS + 2 };

static uint32_t
place_of(const uint32_t *order, const struct ckpt_tensor *tensors,
	const char *name)
{
	for (uint32_t i = 0; i < COUNT; i++)
		if (strcmp((const char *)tensors[order[i]].name.p, name) == 0)
			return i;
	fail_msg("%s is not there", name);
	return 0;
}

static void
test_params_bytewise_order(void **state)
{
	/* Each before the next. */
	static const char *const ascending[] = { "blocks.0.ffn_norm.gain",
		"blocks.1.attention.key.weight",
		"blocks.1.attention.output.weight",
		"blocks.1.attention.query.weight",
		"blocks.1.attention.value.weight",
		"blocks.1.attention_norm.gain", "blocks.1.ffn.down.weight",
		"blocks.1.ffn.gate.weight", "blocks.1.ffn.up.weight",
		"blocks.1.ffn_norm.gain", "blocks.10.attention.key.weight",
		"blocks.10.ffn_norm.gain", "blocks.2.attention.key.weight",
		"blocks.9.ffn_norm.gain", "final_norm.gain",
		"token_embedding.weight" };
	static char names[COUNT][CKPT_PARAM_NAME];
	struct ckpt_tensor tensors[COUNT] = { 0 };
	struct ckpt_arena arena;
	uint32_t *order;

	(void)state;
	for (uint32_t k = 0; k < COUNT; k++) {
		size_t n = ckpt_param_name(k, COUNT, names[k]);

		tensors[k].name = (struct ckpt_name){ (const uint8_t *)names[k],
			(uint32_t)n };
	}
	ckpt_arena_init(&arena, 1 << 20);
	order = ckpt_param_bytewise(&arena, tensors, COUNT);
	assert_non_null(order);
	for (size_t i = 1; i < sizeof ascending / sizeof ascending[0]; i++)
		assert_true(place_of(order, tensors, ascending[i - 1]) <
			    place_of(order, tensors, ascending[i]));
	for (uint32_t i = 1; i < COUNT; i++)
		assert_true(strcmp(names[order[i - 1]], names[order[i]]) < 0);
	ckpt_arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_params_count),
		cmocka_unit_test(test_params_names_in_model_order),
		cmocka_unit_test(test_params_longest_name_fits),
		cmocka_unit_test(test_params_shapes),
		cmocka_unit_test(test_params_slots_and_layers),
		cmocka_unit_test(test_params_bytewise_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
