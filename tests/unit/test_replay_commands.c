/* SPDX-License-Identifier: MIT */
/* The tables of ckreplay's subcommands about jobs are well made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "cli/replay_job.h"

static void
test_replay_command_tables(void **state)
{
	struct ckpt_command subs[9] = { replay_train_command,
		replay_resume_command, replay_demo_command,
		replay_backbone_command, replay_audit_command,
		replay_infer_command, replay_step_command, replay_env_command };
	static const char *const use[] = { "SUBCOMMAND", NULL };
	static const char *const about[] = { "is tested.", NULL };
	struct ckpt_command tool = { .name = "ckreplay",
		.title = "a tool",
		.use = use,
		.about = about,
		.subs = subs,
		.date = "May 1, 2025" };
	struct ckpt_buf why = { 0 };

	(void)state;
	if (!ckpt_command_check(&tool, &why))
		fail_msg("%s", why.p ? why.p : "?");
	ckpt_buf_release(&why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_command_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
