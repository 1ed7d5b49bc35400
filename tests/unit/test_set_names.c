/* SPDX-License-Identifier: MIT */
/* What files are for by their names, and the order of checkpoints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sets/names.h"

static void
test_set_names_have_roles(void **state)
{
	static const struct {
		const char *name;
		enum ckpt_role role;
	} cases[] = {
		{ "model.safetensors", CKPT_ROLE_WEIGHTS },
		{ "anything.safetensors", CKPT_ROLE_WEIGHTS },
		{ "optimizer.safetensors", CKPT_ROLE_OPTIMIZER },
		{ "optimizer_3.safetensors", CKPT_ROLE_OPTIMIZER },
		{ "optimizer_x.safetensors", CKPT_ROLE_WEIGHTS },
		{ "optimizer_.safetensors", CKPT_ROLE_WEIGHTS },
		{ "optimizer.pt", CKPT_ROLE_OPTIMIZER },
		{ "optimizer.pth", CKPT_ROLE_OPTIMIZER },
		{ "optimizer.bin", CKPT_ROLE_OPTIMIZER },
		{ "optimizer_12.bin", CKPT_ROLE_OPTIMIZER },
		{ "optimizer.pkl", CKPT_ROLE_NONE },
		{ "my_optimizer.pt", CKPT_ROLE_NONE },
		{ "scheduler.pt", CKPT_ROLE_SCHEDULER },
		{ "scheduler_1.bin", CKPT_ROLE_SCHEDULER },
		{ "scheduler.safetensors", CKPT_ROLE_WEIGHTS },
		{ "rng_state.pth", CKPT_ROLE_RNG },
		{ "rng_state_0.pth", CKPT_ROLE_RNG },
		{ "rng_state.pt", CKPT_ROLE_NONE },
		{ "random_states_0.pkl", CKPT_ROLE_RNG },
		{ "random_states.pkl", CKPT_ROLE_NONE },
		{ "pytorch_model.bin", CKPT_ROLE_OTHER },
		{ "pytorch_model-00001-of-00002.bin", CKPT_ROLE_OTHER },
		{ "model.pt", CKPT_ROLE_OTHER },
		{ "adapter_model.bin", CKPT_ROLE_OTHER },
		{ "consolidated.00.pth", CKPT_ROLE_OTHER },
		{ "model.ckpt", CKPT_ROLE_NONE },
		{ "x_model.bin", CKPT_ROLE_NONE },
		{ "model.safetensors.index.json", CKPT_ROLE_INDEX },
		{ "pytorch_model.bin.index.json", CKPT_ROLE_INDEX },
		{ "index.json", CKPT_ROLE_NONE },
		{ "config.json", CKPT_ROLE_SIDE },
		{ "trainer_state.json", CKPT_ROLE_SIDE },
		{ "my_config.json", CKPT_ROLE_NONE },
		{ "README.md", CKPT_ROLE_NONE },
		{ ".safetensors", CKPT_ROLE_NONE },
		{ "", CKPT_ROLE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (ckpt_role_of(cases[i].name, strlen(cases[i].name)) !=
			cases[i].role)
			fail_msg("%s", cases[i].name);
}

static void
test_set_names_of_unfinished_files(void **state)
{
	static const struct {
		const char *name;
		size_t whole; /* 0: none */
	} cases[] = {
		{ "model.safetensors.tmp", 17 },
		{ "model.safetensors.part", 17 },
		{ "model.safetensors.partial", 17 },
		{ "model.safetensors.incomplete", 17 },
		{ "model.safetensors.tmp.1234", 17 },
		{ "model.safetensors.tmp.a.tmp", 17 },
		{ "optimizer.pt.tmp", 12 },
		{ "trainer_state.json.tmp", 18 },
		{ "x.index.json.partial", 12 },
		{ "model.safetensors.tmp.", 0 },
		{ "model.safetensors.tmpx", 0 },
		{ "model.safetensors.bak", 0 },
		{ "model.safetensors", 0 },
		{ "notes.txt.tmp", 0 },
		{ ".tmp", 0 },
		{ "model.tmp.safetensors", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (ckpt_name_unfinished(cases[i].name) != cases[i].whole)
			fail_msg("%s", cases[i].name);
}

static void
test_set_names_of_resume_sets(void **state)
{
	static const enum ckpt_role others[] = { CKPT_ROLE_NONE,
		CKPT_ROLE_WEIGHTS, CKPT_ROLE_OTHER, CKPT_ROLE_INDEX,
		CKPT_ROLE_SIDE };

	(void)state;
	assert_true(ckpt_role_resumes(CKPT_ROLE_OPTIMIZER));
	assert_true(ckpt_role_resumes(CKPT_ROLE_SCHEDULER));
	assert_true(ckpt_role_resumes(CKPT_ROLE_RNG));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_false(ckpt_role_resumes(others[i]));
}

/* Each before the next. */
static void
test_set_names_by_number(void **state)
{
	static const char *const order[] = { "", "best", "handpicked",
		"epoch-0", "checkpoint-9", "0010", "checkpoint-10",
		"global_step11", "step_12-loss-0.5", "epoch=99-step=13",
		"00000000000000000014", "100000", "0900000",
		"ckpt-123456789012345678901234567890",
		"ckpt-123456789012345678901234567891" };

	(void)state;
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
		for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
			int c = ckpt_name_by_number(order[i], order[k]);

			if ((c > 0) - (c < 0) != (i > k) - (i < k))
				fail_msg("%s and %s", order[i], order[k]);
		}
	assert_false(ckpt_name_numbered("best"));
	assert_true(ckpt_name_numbered("step"
				       "1"));
}

static void
test_set_names_of_distributed_state(void **state)
{
	(void)state;
	assert_true(ckpt_name_distributed("global_step500"));
	assert_true(ckpt_name_distributed("optimizer_0"));
	assert_true(ckpt_name_distributed("pytorch_model_fsdp_0"));
	assert_false(ckpt_name_distributed("global_step"));
	assert_false(ckpt_name_distributed("global_step5x"));
	assert_false(ckpt_name_distributed("optimizer"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_names_have_roles),
		cmocka_unit_test(test_set_names_of_unfinished_files),
		cmocka_unit_test(test_set_names_of_resume_sets),
		cmocka_unit_test(test_set_names_by_number),
		cmocka_unit_test(test_set_names_of_distributed_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
