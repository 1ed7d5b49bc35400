/* SPDX-License-Identifier: MIT */
/*
 * The options of ckverify, and which of them go together. An option that
 * cannot apply is a usage error and never ignored. What depends on the files
 * is refused later, by ckpt_verify_preview or by the run itself.
 */
#include "cli/verify.h"

#include <string.h>

#include <stdio.h>

#include "cli/verify_locate.h"

static const char *const format_words[] = { "text", "json", "jsonl", NULL };
static const char *const fail_words[] = { "error", "warning", NULL };
static const char *const value_words[] = { "stats", "finite", "off", NULL };
static const char *const profile_words[] = { "strict", "reference", NULL };

#define SLOT(member) .slot = offsetof(struct ckpt_verify_options, member)

static const struct ckpt_opt rows[] = {
	{ .kind = CKPT_OPT_HEADING, .help = "What is checked" },
	{ .name = "recursive",
		.letter = 'r',
		.kind = CKPT_OPT_FLAG,
		SLOT(recursive),
		.help = "verify every checkpoint below a folder, each on its "
			"own. Symbolic links to folders are not followed" },
	{ .name = "latest",
		.kind = CKPT_OPT_TEXT,
		.arg = "DIR",
		.alone = true,
		SLOT(latest),
		.help = "verify the newest checkpoint of a folder: the folder "
			"in it with the highest number in its name, by number "
			"and not by text; or the folder itself, if it is a "
			"checkpoint; or else the file with the highest "
			"number" },
	{ .name = "jobs",
		.letter = 'j',
		.kind = CKPT_OPT_U64,
		.arg = "N",
		.least = 1,
		.most = 256,
		.preset = "1",
		SLOT(jobs),
		.help = "verify up to N files at the same time. What is "
			"printed, and in which order, does not depend on it" },
	{ .name = "values",
		.kind = CKPT_OPT_CHOICE,
		.words = value_words,
		.preset = "stats",
		SLOT(values),
		.help = "what is done with the values of tensors. off cannot "
			"apply to a format whose values decide whether a file "
			"is valid" },
	{ .name = "profile",
		.kind = CKPT_OPT_CHOICE,
		.words = profile_words,
		.preset = "strict",
		SLOT(profile),
		.help = "reference accepts exactly what the reference loader "
			"of the format accepts; strict may find more, but "
			"never accepts what the loader rejects" },
	{ .name = "max-header",
		.kind = CKPT_OPT_SIZE,
		.arg = "SIZE",
		.least = 1,
		SLOT(max_header),
		.help = "reject longer headers, of a format that bounds them. "
			"Cannot apply to other formats, nor to "
			"--profile=reference" },
	{ .name = "align",
		.kind = CKPT_OPT_U64,
		.arg = "N",
		.least = 1,
		SLOT(align),
		.help = "warn about tensors that do not begin at a multiple of "
			"N bytes, in a format that need not align them. Cannot "
			"apply to other formats, nor to --profile=reference" },
	{ .name = "max-memory",
		.kind = CKPT_OPT_SIZE,
		.arg = "SIZE",
		.least = 1,
		.preset = "1G",
		SLOT(max_memory),
		.help = "do not verify a file that needs more memory" },
	{ .name = "fail-on",
		.kind = CKPT_OPT_CHOICE,
		.words = fail_words,
		.preset = "error",
		SLOT(fail_on),
		.help = "warning makes the exit status 1 where it would be 0 "
			"but there are warnings. The verdict stays" },

	{ .kind = CKPT_OPT_HEADING, .help = "Where a file is damaged" },
	{ .name = "locate",
		.kind = CKPT_OPT_FLAG,
		SLOT(locate),
		.help = "search for the damage that explains why the checksum "
			"does not hold: one byte, two bytes side by side, or "
			"the stored checksum itself; say whose bytes they are, "
			"what they were, whether the file is valid with them, "
			"and how likely chance explains as much. Changes "
			"nothing. Cannot apply to formats without a checksum, "
			"nor to a pipe" },
	{ .name = "propose-repair",
		.kind = CKPT_OPT_TEXT,
		.arg = "OUT",
		SLOT(repair),
		.help = "search as --locate does, and if there is exactly one "
			"explanation and the file is valid with it, write such "
			"a copy to OUT, atomically and never over the file "
			"itself. A checksum without a key proposes, it does "
			"not prove. The exit status stays that of the file; 3 "
			"if OUT cannot be written" },

	{ .kind = CKPT_OPT_HEADING, .help = "What is printed" },
	{ .name = "format",
		.kind = CKPT_OPT_CHOICE,
		.words = format_words,
		.preset = "text",
		SLOT(format),
		.help = "text for people, json for one object in all, jsonl "
			"for one object a line and file" },
	{ .name = "first",
		.kind = CKPT_OPT_FLAG,
		SLOT(first),
		.help = "of the findings, print only the primary one: the one "
			"that decides" },
	{ .name = "digests",
		.kind = CKPT_OPT_FLAG,
		SLOT(digests),
		.help = "also print SHA-256 of the whole file, as sha256sum "
			"does, and of the bytes of each tensor or record. A "
			"digest of less than all of it is not given, but why "
			"not. Of a pipe at most 1 MiB more is read than the "
			"format says there is" },
	{ .name = "what-happened",
		.kind = CKPT_OPT_FLAG,
		SLOT(what_happened),
		.help = "read each file once more and print what may have "
			"happened to it: causes whose traces were found, "
			"ranked strong, likely or possible, with their "
			"evidence. These are hints; verdict and exit status "
			"stay. Cannot apply to a pipe" },
	{ .name = "quiet",
		.letter = 'q',
		.kind = CKPT_OPT_FLAG,
		SLOT(quiet),
		.help = "print no results; the exit status says it all. Why a "
			"file could not be verified still goes to standard "
			"error" },
	{ .name = "verbose",
		.letter = 'v',
		.kind = CKPT_OPT_FLAG,
		SLOT(verbose),
		.help = "also print notes, the rules that passed, those that "
			"were "
			"not evaluated and why, facts of the file, and what "
			"it stores, what the caller has to supply, what is "
			"still required and what lies outside" },
	{ .name = "color",
		.kind = CKPT_OPT_CHOICE,
		.words = ckpt_when_words,
		.preset = "auto",
		SLOT(color),
		.help = "whether text has colours" },
	{ .name = "progress",
		.kind = CKPT_OPT_CHOICE,
		.words = ckpt_when_words,
		.preset = "auto",
		SLOT(progress),
		.help = "whether progress is shown on standard error; auto if "
			"that is a terminal" },

	{ .kind = CKPT_OPT_HEADING, .help = "Instead of files" },
	{ .name = "explain",
		.kind = CKPT_OPT_TEXT,
		.arg = "RULE",
		.alone = true,
		SLOT(explain),
		.help = "explain a rule, by its id or its name" },
	{ .name = "list-rules",
		.kind = CKPT_OPT_FLAG,
		.alone = true,
		SLOT(list_rules),
		.help = "list all rules, one a line" },
	{ 0 },
};

static const char *const use[] = { "[options] FILE|DIR|- ...",
	"[options] --latest DIR", "--explain RULE", "--list-rules", NULL };

static const char *const about[] = {
	"Reads each checkpoint once, front to back, in bounded memory, and "
	"says whether it is valid. Every fault of a file is reported, with "
	"its rule, its place in the file, what was expected and what was "
	"found. The primary finding is the one that the format's own loader "
	"would stop at; it alone decides the verdict: `valid`, `invalid`, "
	"`unsupported` or `not-verified`.",
	"Valid means intact, not authentic: the checksums of these formats "
	"have no key, and anybody can compute them.",
	"The operand - is standard input; a pipe will do. A folder is one "
	"set, and so is an index, a JSON file that maps tensors to shards: "
	"each checkpoint of it is verified, in bytewise order of their names, "
	"and the set itself follows with the worst verdict of all and with "
	"findings of its own: shards and tensors that are missing, unfinished "
	"files that a killed save left behind, files without which training "
	"cannot go on, settings that do not fit the tensors. Checkpoints are "
	"the regular files whose name has a suffix of a known format or whose "
	"first bytes are of one; files that cannot be opened count as well. Of "
	"weights in other formats only presence and length are looked at.",
	"Several files: the exit status 3 beats 1, and 1 beats 0.",
	NULL,
};

static const struct ckpt_entry examples[] = {
	{ "ckverify model.llmcp35", "Verify one checkpoint:" },
	{ "ckverify -r --format=jsonl runs | jq -r "
	  "'select(.exit_code != 0) | .file.path'",
		"Name the bad checkpoints below a folder:" },
	{ "ckverify -j 4 model.safetensors.index.json",
		"Verify an index and its shards, four at a time:" },
	{ "ckverify --digests --format=jsonl model.llmcp35 | jq .digests",
		"SHA-256 of a file and of each of its tensors:" },
	{ "ckverify --latest runs/7",
		"Verify the checkpoint from which training would go on:" },
	{ "curl -s https://example.org/model.llmcp35 | ckverify -",
		"Verify what comes through a pipe:" },
	{ "ckverify --locate damaged.ckpt",
		"Find the byte that changed since a file was written:" },
	{ "ckverify --what-happened damaged.llmcp35",
		"Say what may have damaged a file:" },
	{ "ckverify --explain CK1006", "Say what a rule is about:" },
	{ 0 },
};

static const char *const confined[] = {
	"One file, or standard input, is opened, and then nothing can be "
	"opened any more. Of several files, of folders and of sets, all can "
	"be read until the end that is in and below the folders of the "
	"operands; symbolic links that were in a set at the start may lead "
	"out of it. "
	"Nothing can be written but to standard output and standard error, and "
	"with --propose-repair in the folder of the copy, where files can then "
	"be made, renamed and removed.",
	NULL,
};

static const char *const see[] = { "ckforge(1)", "ckinspect(1)",
	"ckpt-rules(7)", NULL };

const struct ckpt_command ckpt_verify_command = {
	.name = "ckverify",
	.title = "verify checkpoint files",
	.use = use,
	.about = about,
	.opts = rows,
	.operand = "FILE",
	.least = 1,
	.most = CKPT_OPERANDS_ANY,
	.environment = ckpt_screen_environment,
	.examples = examples,
	.see = see,
	.confined = confined,
	.date = "November 29, 2026",
};

/* Fails because the option cannot apply beside another one. */
static bool
clash(struct ckpt_args *args, const struct ckpt_opt *opt, const char *with)
{
	struct ckpt_buf before;

	ckpt_buf_init(&before);
	ckpt_buf_puts(&before, "option ");
	ckpt_opt_spell(&before, opt);
	ckpt_buf_puts(&before, " cannot apply with ");
	if (before.failed)
		args->status = CKPT_EXIT_TROUBLE;
	else
		ckpt_args_fail(args, before.p, NULL, with);
	ckpt_buf_release(&before);
	return false;
}

static bool
clash_if_given(struct ckpt_args *args, const char *name, const char *with)
{
	const struct ckpt_given *given = ckpt_args_find(args, name);

	return given ? clash(args, given->opt, with) : true;
}

static bool
stands_alone(struct ckpt_args *args, const struct ckpt_verify_options *options)
{
	const char *name = options->explain ? "--explain" : "--list-rules";
	const struct ckpt_given *self = ckpt_args_find(args, name + 2);

	for (size_t i = 0; i < args->given_count; i++)
		if (args->given[i].opt != self->opt &&
			!ckpt_opt_is_builtin(args->given[i].opt))
			return clash(args, args->given[i].opt, name);
	return true;
}

/* The second time there would be nothing left to read, which is no fault of
 * the file. */
static bool
reads_once(struct ckpt_args *args)
{
	size_t n = 0;

	for (size_t i = 0; i < args->operand_count; i++)
		n += strcmp(args->operands[i], "-") == 0;
	return n < 2 ||
	       ckpt_args_fail(
		       args, "standard input can be read only once", NULL, "");
}

/* A repair needs a search, and a place where one is said. */
static bool
settle_location(struct ckpt_args *args, struct ckpt_verify_options *options)
{
	if (options->quiet &&
		(!clash_if_given(args, "locate", "--quiet") ||
			!clash_if_given(args, "propose-repair", "--quiet")))
		return false;
	if (!options->repair)
		return true;
	options->locate = true;
	if (options->recursive)
		return clash_if_given(args, "propose-repair", "--recursive");
	if (options->latest)
		return clash_if_given(args, "propose-repair", "--latest");
	return ckpt_verify_repair_settle(args, options);
}

bool
ckpt_verify_parse(struct ckpt_args *args, struct ckpt_verify_options *options,
	int argc, char *const *argv)
{
	if (!ckpt_args_parse(args, &ckpt_verify_command, options, argc, argv))
		return false;
	if (options->explain || options->list_rules)
		return stands_alone(args, options);
	if (options->profile == CKPT_PROFILE_REFERENCE &&
		(!clash_if_given(args, "max-header", "--profile=reference") ||
			!clash_if_given(args, "align", "--profile=reference")))
		return false;
	if (options->latest && !clash_if_given(args, "recursive", "--latest"))
		return false;
	if (options->quiet && options->format != CKPT_VERIFY_TEXT)
		return clash_if_given(args, "quiet", "--format=json or jsonl");
	if (options->quiet && options->digests)
		return clash_if_given(args, "quiet", "--digests");
	if (options->quiet && options->verbose)
		return clash_if_given(args, "quiet", "--verbose");
	if (options->quiet && options->what_happened)
		return clash_if_given(args, "quiet", "--what-happened");
	if (options->quiet && options->first)
		return clash_if_given(args, "quiet", "--first");
	return settle_location(args, options) && reads_once(args);
}
