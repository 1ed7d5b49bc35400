/* SPDX-License-Identifier: MIT */
/*
 * The weights of a state as plain safetensors: a valid file of the length that
 * was said, with every parameter once and its bytes as they are. And settings
 * of attention that no checkpoint can have, in words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "format/safetensors.h"
#include "format/safetensors_dtype.h"
#include "model/config.h"
#include "model/synth.h"
#include "sink/save.h"
#include "support/judged.h"

static const struct ckpt_synth small = {
	.config = { 5, 4, 2, 3, 1, 4, 500.0, 1e-5, 0, 0 },
	.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
	.seed = 3,
};

static void
value_bytes(const struct ckpt_tensor *tensor, uint8_t *out)
{
	if (tensor->data)
		memcpy(out, tensor->data, (size_t)tensor->len);
	else
		tensor->fill(
			tensor->fill_ctx, tensor, 0, out, (size_t)tensor->len);
}

/* The tensor of this name in a decoded file, or NULL. */
static const struct safetensors_tensor *
find(const struct safetensors_file *file, const struct ckpt_name *name)
{
	for (uint32_t i = 0; i < file->tensors.n; i++) {
		const struct safetensors_tensor *t =
			&SAFETENSORS_TENSORS(file)[i];

		if (t->name.n == name->n &&
			memcmp(t->name.p, name->p, name->n) == 0)
			return t;
	}
	return NULL;
}

static void
test_weights_are_written_as_they_are(void **state)
{
	struct ckpt_buf bytes = { 0 };
	struct ckpt_arena arena;
	struct ckpt_state made;
	struct judged judged;
	const struct safetensors_file *file;
	uint64_t said;
	uint8_t want[4096];

	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	assert_int_equal(ckpt_synth_state(&arena, &small, &made), CKPT_OK);
	assert_int_equal(safetensors_measure(&made, &said), CKPT_OK);
	assert_int_equal(
		ckpt_encode(&bytes, &ckpt_format_safetensors, &made, NULL),
		CKPT_OK);
	assert_int_equal(bytes.n, said);
	judged_named(&judged, "x.safetensors", bytes.p, bytes.n);
	assert_int_equal(judged.verdict, CKPT_VALID);
	assert_ptr_equal(judged.run->format, &ckpt_format_safetensors);
	file = judged.run->decoded;
	assert_int_equal(file->tensors.n, made.nparameters);
	for (uint32_t i = 0; i < made.nparameters; i++) {
		const struct ckpt_tensor *t = &made.parameters[i];
		const struct safetensors_tensor *found = find(file, &t->name);

		assert_non_null(found);
		if (!found)
			return;
		assert_string_equal(found->dtype->name, "F64");
		assert_int_equal(found->end - found->begin, t->len);
		assert_true(t->len <= sizeof want);
		value_bytes(t, want);
		assert_memory_equal(
			bytes.p + file->data_at + found->begin, want, t->len);
	}
	judged_free(&judged);
	ckpt_buf_release(&bytes);
	ckpt_arena_release(&arena);
}

/* Lengths that do not add up to a file's. */
static void
test_what_does_not_fit_is_not_measured(void **state)
{
	static const uint64_t dims[] = { UINT64_MAX / 8, 1 };
	const struct ckpt_tensor huge = {
		.name = { (const uint8_t *)"w", 1 },
		.rank = 2,
		.dims = dims,
		.len = UINT64_MAX - 7,
	};
	const struct ckpt_state made = { .parameters = &huge,
		.nparameters = 1 };
	uint64_t bytes;

	(void)state;
	assert_int_equal(safetensors_measure(&made, &bytes), CKPT_REJECTED);
}

static void
test_settings_of_attention_have_bounds(void **state)
{
	struct ckpt_config config = small.config;
	struct ckpt_buf why = { 0 };

	(void)state;
	config.context_window = 4;
	assert_true(ckpt_config_check(&config, &why));
	config.context_window = 5;
	assert_false(ckpt_config_check(&config, &why));
	assert_string_equal(why.p, "context window 5 is more than positions 4");
	ckpt_buf_clear(&why);
	config.context_window = 0;
	config.kv_heads = 3;
	assert_false(ckpt_config_check(&config, &why));
	assert_string_equal(why.p, "heads 2 is not a multiple of kv heads 3");
	ckpt_buf_release(&why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights_are_written_as_they_are),
		cmocka_unit_test(test_what_does_not_fit_is_not_measured),
		cmocka_unit_test(test_settings_of_attention_have_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
