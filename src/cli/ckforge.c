/* SPDX-License-Identifier: MIT */
/*
 * ckforge: makes checkpoints for tests, fuzzing and demonstrations. No file
 * that it makes was trained but the fixtures, and its reports say which. Each
 * subcommand stands in a file of its own; a row below makes it known.
 */
#include "cli/forge.h"

#include <stddef.h>
#include <string.h>

#include "ckpt.h"

#include "cli/sandbox.h"

static const struct {
	const struct ckpt_command *command;
	forge_function *run;
} rows[] = {
	{ &forge_synth_command, forge_synth },
	{ &forge_big_command, forge_big },
	{ &forge_fixture_command, forge_fixture },
	{ &forge_mutate_command, forge_mutate },
	{ &forge_corpus_command, forge_corpus },
	{ &forge_describe_command, forge_describe },
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const char *const use[] = { "SUBCOMMAND [options]", NULL };

static const char *const about[] = {
	"makes checkpoint files that no training made: for tests, for fuzzing "
	"and for demonstrations. Every report says so in the words `forged: no "
	"training lineage`; the files themselves cannot. Only `fixture` "
	"trains what it makes, and says `trained from nothing`.",
	"The same options give the same bytes. A file is written beside its "
	"destination and put in place when it is complete, so the destination "
	"is always wholly old or wholly new.",
	NULL,
};

static const struct ckpt_entry exits[] = {
	{ "0", "The file was made." },
	{ "1", "The operand is not what the subcommand needs; nothing was "
	       "made." },
	{ "2", "Wrong options or operands, or settings that no valid file can "
	       "have; nothing was made." },
	{ "3", "The file could not be made: a write error, a limit. The "
	       "message says whether the destination has changed." },
	{ "130", "Interrupted; the destination is what it was." },
	{ 0 },
};

static const struct ckpt_entry examples[] = {
	{ "ckforge synth --layers=2 --step=3 -o small.ckpt",
		"A small checkpoint with two layers and moments:" },
	{ "ckforge big --size=1G -o big.ckpt",
		"A valid checkpoint of one gibibyte:" },
	{ "ckforge fixture selected-step8 -o fixture.ckpt",
		"The known checkpoint after eight updates:" },
	{ 0 },
};

static const char *const confined[] = {
	"Files can be made, renamed and removed in the folder of the output, "
	"and below that of a corpus. Of other files, mutate can read the one "
	"that it edits.",
	NULL,
};

static const char *const see[] = { "ckinspect(1)", "ckverify(1)", NULL };

/* A corpus is read and made in one folder; mutate reads its operand. */
static void
confine(const struct ckpt_args *args)
{
	static const char *const outputs[] = { "output", NULL };
	const unsigned read = CKPT_SANDBOX_READ;
	bool corpus = strcmp(args->sub->name, forge_corpus_command.name) == 0;
	bool mutate = strcmp(args->sub->name, forge_mutate_command.name) == 0;
	struct ckpt_sandbox box;

	ckpt_sandbox_begin(&box, args, CKPT_SANDBOX_SAVE);
	ckpt_sandbox_grant_options(&box, args, outputs, true);
	if (corpus)
		ckpt_sandbox_grant(&box, args->operands[0],
			read | CKPT_SANDBOX_PUBLISH | CKPT_SANDBOX_FOLDERS);
	if (mutate)
		ckpt_sandbox_grant(&box, args->operands[0], read);
	ckpt_sandbox_enter(&box);
}

int
main(int argc, char **argv)
{
	struct ckpt_command subs[ROWS + 1] = { 0 };
	struct ckpt_command tool = {
		.name = "ckforge",
		.title = "make checkpoint files for tests and demonstrations",
		.use = use,
		.about = about,
		.subs = subs,
		.exits = exits,
		.examples = examples,
		.see = see,
		.confined = confined,
		.date = "November 29, 2026",
	};
	union forge_options options;
	struct ckpt_args args;
	int status;

	memset(&options, 0, sizeof options);
	for (size_t i = 0; i < ROWS; i++)
		subs[i] = *rows[i].command;
	if (!ckpt_args_parse(&args, &tool, &options, argc, argv)) {
		status = ckpt_args_report(&args);
		ckpt_args_release(&args);
		return status;
	}
	forge_catch_signals();
	confine(&args);
	status = rows[args.sub - subs].run(&args, &options);
	ckpt_args_release(&args);
	return status;
}
