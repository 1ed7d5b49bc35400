/* SPDX-License-Identifier: MIT */
/*
 * ckreplay: recomputes what a checkpoint must lead to. Each subcommand stands
 * in a file of its own; a row below makes it known.
 */
#include "cli/replay_job.h"

#include <stddef.h>
#include <string.h>

#include "ckpt.h"

static const struct {
	const struct ckpt_command *command;
	replay_function *run;
} rows[] = {
	{ &replay_step_command, replay_step },
	{ &replay_infer_command, replay_infer },
	{ &replay_env_command, replay_env },
	{ &replay_evidence_command, replay_evidence },
	{ &replay_train_command, replay_train },
	{ &replay_resume_command, replay_resume },
	{ &replay_demo_command, replay_demo },
	{ &replay_backbone_command, replay_backbone },
	{ &replay_audit_command, replay_audit },
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const char *const use[] = { "SUBCOMMAND [options]", NULL };

static const char *const about[] = {
	"rebuilds the decoder from a checkpoint alone and recomputes what the "
	"checkpoint must lead to.",
	NULL,
};

static const struct ckpt_entry examples[] = {
	{ "ckreplay step FILE --inputs 0,1 --targets 1,2 --lr 0.006",
		"Run one update and compare:" },
	{ "ckreplay infer FILE --ids 0,1 --tokens 8",
		"Let the model continue two tokens:" },
	{ "ckreplay evidence FILE --inputs 0,1 --targets 1,2 --lr 0.006",
		"Try every claim about a file:" },
	{ 0 },
};

static const char *const see[] = { "ckinspect(1)", "ckverify(1)", NULL };

int
main(int argc, char **argv)
{
	struct ckpt_command subs[ROWS + 1] = { 0 };
	struct ckpt_command tool = {
		.name = "ckreplay",
		.title = "prove a checkpoint by recomputing its next step",
		.use = use,
		.about = about,
		.subs = subs,
		.examples = examples,
		.see = see,
		.date = "November 29, 2026",
	};
	union {
		union replay_options of_checkpoint;
		struct replay_train_options train;
		struct replay_resume_options resume;
		struct replay_demo_options demo;
		struct replay_backbone_options backbone;
		struct replay_audit_options audit;
	} options;
	struct ckpt_args args;
	int status = CKPT_EXIT_TROUBLE;

	memset(&options, 0, sizeof options);
	for (size_t i = 0; i < ROWS; i++)
		subs[i] = *rows[i].command;
	if (!ckpt_args_parse(&args, &tool, &options, argc, argv)) {
		status = ckpt_args_report(&args);
		ckpt_args_release(&args);
		return status;
	}
	status = rows[args.sub - subs].run(&args, &options);
	ckpt_args_release(&args);
	return status;
}
