/* SPDX-License-Identifier: MIT */
/*
 * ckreplay: recomputes what a checkpoint must lead to. Each subcommand stands
 * in a file of its own; a row below makes it known.
 */
#include "cli/replay_job.h"

#include <stddef.h>
#include <string.h>

#include "ckpt.h"

#include "cli/sandbox.h"

/* Options that name files: inputs, and outputs that are saved atomically. */
static const char *const step_in[] = { "expect", NULL };
static const char *const to_output[] = { "output", NULL };
static const char *const infer_in[] = { "model", NULL };
static const char *const train_in[] = { "job", "from", NULL };
static const char *const train_out[] = { "model", "checkpoint", NULL };
static const char *const resume_in[] = { "job", "checkpoint", NULL };
static const char *const resume_out[] = { "model", "save", NULL };
static const char *const job_in[] = { "job", NULL };
static const char *const backbone_in[] = { "embeddings", NULL };

static const struct {
	const struct ckpt_command *command;
	replay_function *run;
	const char *const *in, *const *out;
	bool temporary; /* temporary files */
} rows[] = {
	{ &replay_step_command, replay_step, step_in, to_output, true },
	{ &replay_infer_command, replay_infer, infer_in, NULL, false },
	{ &replay_env_command, replay_env, NULL, NULL, false },
	{ &replay_evidence_command, replay_evidence, NULL, NULL, true },
	{ &replay_train_command, replay_train, train_in, train_out, false },
	{ &replay_resume_command, replay_resume, resume_in, resume_out, false },
	{ &replay_demo_command, replay_demo, job_in, NULL, false },
	{ &replay_backbone_command, replay_backbone, backbone_in, to_output,
		false },
	{ &replay_audit_command, replay_audit, job_in, NULL, false },
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

static const char *const confined[] = {
	"Files that the command line names are read one after the other, so "
	"they can be read until the end, and nothing else but the program "
	"itself. The subcommands that save can make, rename and remove files "
	"in the folders of their outputs; "
	"step and evidence also in that of temporary files, TMPDIR or /tmp, "
	"where they can read as well.",
	NULL,
};

static const char *const see[] = { "ckinspect(1)", "ckverify(1)", NULL };

/* Files are read one after the other, so they stay readable until the end. The
 * program itself is read, as jobs are told which one it was. */
static void
confine(const struct ckpt_args *args, size_t row)
{
	const unsigned open = CKPT_SANDBOX_OPEN, save = CKPT_SANDBOX_SAVE;
	bool saves = rows[row].out || rows[row].temporary;
	struct ckpt_sandbox box;

	ckpt_sandbox_begin(&box, args, saves ? open | save : open);
	for (size_t i = 0; i < args->operand_count; i++)
		ckpt_sandbox_grant(&box, args->operands[i], CKPT_SANDBOX_READ);
	ckpt_sandbox_grant(&box, "/proc/self/exe", CKPT_SANDBOX_READ);
	ckpt_sandbox_grant_options(&box, args, rows[row].in, false);
	ckpt_sandbox_grant_options(&box, args, rows[row].out, true);
	if (rows[row].temporary)
		ckpt_sandbox_grant_temporary(&box);
	ckpt_sandbox_enter(&box);
}

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
		.confined = confined,
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
	confine(&args, (size_t)(args.sub - subs));
	status = rows[args.sub - subs].run(&args, &options);
	ckpt_args_release(&args);
	return status;
}
