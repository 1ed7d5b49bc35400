/* SPDX-License-Identifier: MIT */
/*
 * Option rows: a tool with every kind of option and a tool with subcommands,
 * whole command lines against what the options become or the exact message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ckpt.h"

#include "cli/opt.h"
#include "cli/sandbox.h"

#define WORDS_MOST 16

enum format { TEXT, JSON, JSONL };
enum { SET, DELETE };

struct options {
	enum format format;
	bool quiet, verbose, rules, fix;
	uint64_t memory, jobs, seed;
	int batch;
	const char *output;
};

#define SLOT(member) offsetof(struct options, member)

static const char *const formats[] = { "text", "json", "jsonl", NULL };
static const char *const sections[] = { "overview", "hex", NULL };

static const struct ckpt_opt rows[] = {
	{ .kind = CKPT_OPT_HEADING, .help = "Output" },
	{ .name = "format",
		.kind = CKPT_OPT_CHOICE,
		.words = formats,
		.preset = "text",
		.slot = SLOT(format),
		.help = "how to print the verdict" },
	{ .name = "batch",
		.kind = CKPT_OPT_CHOICE,
		.optional = true,
		.tag = -1,
		.arg = "SECTION",
		.words = sections,
		.slot = SLOT(batch),
		.help = "print SECTION, or all, and exit" },
	{ .name = "output",
		.letter = 'o',
		.kind = CKPT_OPT_TEXT,
		.arg = "FILE",
		.slot = SLOT(output),
		.help = "write to FILE. Not over \"inputs\"" },
	{ .name = "quiet",
		.letter = 'q',
		.kind = CKPT_OPT_FLAG,
		.slot = SLOT(quiet),
		.help = "print nothing" },
	{ .letter = 'v',
		.kind = CKPT_OPT_FLAG,
		.slot = SLOT(verbose),
		.help = "print more" },
	{ .kind = CKPT_OPT_HEADING, .help = "Limits" },
	{ .name = "max-memory",
		.kind = CKPT_OPT_SIZE,
		.arg = "SIZE",
		.preset = "1G",
		.least = 1024,
		.slot = SLOT(memory),
		.help = "stop when more than SIZE bytes are needed, and say "
			"so with a verdict of its own" },
	{ .letter = 'j',
		.kind = CKPT_OPT_U64,
		.arg = "N",
		.preset = "1",
		.least = 1,
		.most = 64,
		.slot = SLOT(jobs),
		.help = "use N threads" },
	{ .name = "seed",
		.kind = CKPT_OPT_U64,
		.arg = "N",
		.hidden = true,
		.slot = SLOT(seed),
		.help = "not shown" },
	{ .name = "list-rules",
		.kind = CKPT_OPT_FLAG,
		.alone = true,
		.slot = SLOT(rules),
		.help = ".Sh is no macro here; see `ckx --format=json`" },
	{ 0 },
};

static const char *const use[] = { "[options] FILE|- ...", "--list-rules",
	NULL };
static const char *const about[] = { "Reads FILE. Then 'says' so.", NULL };
static const char *const closing[] = { "Report bugs to the author.", NULL };
static const char *const see[] = { "ckinspect(1)", "ckpt-rules(7)", NULL };
static const struct ckpt_entry examples[] = {
	{ "ckx -v .hidden", "Everything about one file:" },
	{ 0 },
};

static const struct ckpt_command tool = {
	.name = "ckx",
	.title = "verify checkpoints",
	.use = use,
	.about = about,
	.opts = rows,
	.operand = "FILE",
	.least = 1,
	.most = 2,
	.closing = closing,
	.examples = examples,
	.see = see,
	.date = "November 29, 2025",
};

static const struct ckpt_opt mutate_rows[] = {
	{ .name = "set",
		.letter = 's',
		.kind = CKPT_OPT_LIST,
		.tag = SET,
		.arg = "PATH=VALUE",
		.help = "set a field" },
	{ .name = "delete",
		.kind = CKPT_OPT_LIST,
		.tag = DELETE,
		.arg = "PATH",
		.help = "delete a record" },
	{ .name = "fix-checksum",
		.kind = CKPT_OPT_FLAG,
		.slot = SLOT(fix),
		.help = "store the right checksum" },
	{ 0 },
};

static const struct ckpt_opt common_rows[] = {
	{ .name = "output",
		.letter = 'o',
		.kind = CKPT_OPT_TEXT,
		.arg = "FILE",
		.slot = SLOT(output),
		.help = "write to FILE" },
	{ 0 },
};

static const char *const mutate_use[] = { "FILE [--set PATH=VALUE] -o OUT",
	NULL };
static const char *const corpus_use[] = { "DIR", NULL };
static const char *const many_use[] = { "SUBCOMMAND [options]", NULL };

static const struct ckpt_command subs[] = {
	{ .name = "mutate",
		.title = "change fields of a file",
		.use = mutate_use,
		.opts = mutate_rows,
		.operand = "FILE",
		.least = 1,
		.most = 1 },
	{ .name = "corpus",
		.title = "make every recipe",
		.use = corpus_use,
		.operand = "DIR",
		.least = 1,
		.most = 1 },
	{ 0 },
};

static const struct ckpt_command many = {
	.name = "ckmany",
	.title = "make files",
	.use = many_use,
	.opts = common_rows,
	.subs = subs,
	.date = "November 29, 2025",
};

/* Splits line at spaces ("~" stands for an empty word) and parses it. The
 * words live until the next call. */
static bool
parse(struct ckpt_args *args, const struct ckpt_command *command,
	struct options *options, const char *line)
{
	static char copy[512];
	char *argv[WORDS_MOST + 1], *save = NULL;
	int argc = 0;

	snprintf(copy, sizeof copy, "%s %s", command->name, line);
	for (char *w = strtok_r(copy, " ", &save); w && argc < WORDS_MOST;
		w = strtok_r(NULL, " ", &save))
		argv[argc++] = strcmp(w, "~") == 0 ? w + 1 : w;
	argv[argc] = NULL;
	memset(options, 0, sizeof *options);
	return ckpt_args_parse(args, command, options, argc, argv);
}

static void
test_opt_tables_are_well_made(void **state)
{
	struct ckpt_buf why;

	(void)state;
	ckpt_buf_init(&why);
	if (!ckpt_command_check(&tool, &why) ||
		!ckpt_command_check(&many, &why))
		fail_msg("%s", why.p);
	ckpt_buf_release(&why);
}

static void
test_opt_check_finds_faults(void **state)
{
	static const struct ckpt_opt bad[][3] = {
		{ { .name = "a", .kind = CKPT_OPT_FLAG } },
		{ { .kind = CKPT_OPT_FLAG, .help = "x" } },
		{ { .name = "a", .kind = CKPT_OPT_CHOICE, .help = "x" } },
		{ { .name = "a", .kind = CKPT_OPT_TEXT, .help = "x" } },
		{ { .letter = 'h', .kind = CKPT_OPT_FLAG, .help = "x" } },
		{ { .name = "man", .kind = CKPT_OPT_FLAG, .help = "x" } },
		{ { .letter = 'a', .kind = CKPT_OPT_FLAG, .help = "x" },
			{ .letter = 'a', .kind = CKPT_OPT_FLAG, .help = "x" } },
		{ { .name = "a",
			.kind = CKPT_OPT_SIZE,
			.arg = "N",
			.preset = "1T",
			.help = "x" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct ckpt_command command = tool;
		struct ckpt_buf why;

		command.opts = bad[i];
		ckpt_buf_init(&why);
		if (ckpt_command_check(&command, &why))
			fail_msg("case %zu is taken for good", i);
		assert_true(why.n > 0);
		ckpt_buf_release(&why);
	}
}

static const struct {
	const char *line;
	struct options want;
	size_t operands;
} good_lines[] = {
	{ "a", { .memory = 1 << 30, .jobs = 1 }, 1 },
	{ "--format=json a", { .format = JSON, .memory = 1 << 30, .jobs = 1 },
		1 },
	{ "--format jsonl --format json a b",
		{ .format = JSON, .memory = 1 << 30, .jobs = 1 }, 2 },
	{ "--batch a", { .batch = -1, .memory = 1 << 30, .jobs = 1 }, 1 },
	{ "--batch=hex a", { .batch = 1, .memory = 1 << 30, .jobs = 1 }, 1 },
	{ "-qv a",
		{ .quiet = true,
			.verbose = true,
			.memory = 1 << 30,
			.jobs = 1 },
		1 },
	{ "a -qj64 b -v",
		{ .quiet = true,
			.verbose = true,
			.memory = 1 << 30,
			.jobs = 64 },
		2 },
	{ "-qj 0x10 -", { .quiet = true, .memory = 1 << 30, .jobs = 16 }, 1 },
	{ "--max-memory=1k -- -q", { .memory = 1024, .jobs = 1 }, 1 },
	{ "--max-memory 3M --max-memory 4096 -- --",
		{ .memory = 4096, .jobs = 1 }, 1 },
	{ "--seed=18446744073709551615 ~",
		{ .seed = UINT64_MAX, .memory = 1 << 30, .jobs = 1 }, 1 },
	{ "--seed 0xffffffffffffffff a",
		{ .seed = UINT64_MAX, .memory = 1 << 30, .jobs = 1 }, 1 },
	{ "--max-memory=17179869183G --list-rules",
		{ .rules = true,
			.memory = UINT64_C(17179869183) << 30,
			.jobs = 1 },
		0 },
};

static void
test_opt_reads_every_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good_lines / sizeof good_lines[0]; i++) {
		const struct options *want = &good_lines[i].want;
		struct options o;
		struct ckpt_args args;

		if (!parse(&args, &tool, &o, good_lines[i].line))
			fail_msg("%s: %s", good_lines[i].line, args.err.p);
		assert_int_equal(o.format, want->format);
		assert_int_equal(o.quiet, want->quiet);
		assert_int_equal(o.verbose, want->verbose);
		assert_int_equal(o.rules, want->rules);
		assert_int_equal(o.batch, want->batch);
		assert_true(o.memory == want->memory);
		assert_true(o.jobs == want->jobs);
		assert_true(o.seed == want->seed);
		assert_int_equal(args.operand_count, good_lines[i].operands);
		assert_int_equal(args.out.n + args.err.n, 0);
		ckpt_args_release(&args);
	}
}

static void
test_opt_keeps_text_values(void **state)
{
	static const struct {
		const char *line, *value;
	} cases[] = {
		{ "-oF a", "F" },
		{ "-o F a", "F" },
		{ "-qoF a", "F" },
		{ "-o=F a", "=F" },
		{ "--output=F=G a", "F=G" },
		{ "--output F a", "F" },
		{ "--output= a", "" },
		{ "-o -- a", "--" },
		{ "-o -q a", "-q" },
		{ "-oF -oG a", "G" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct options o;
		struct ckpt_args args;

		assert_true(parse(&args, &tool, &o, cases[i].line));
		assert_string_equal(o.output, cases[i].value);
		assert_string_equal(args.operands[0], "a");
		assert_string_equal(
			ckpt_args_find(&args, "output")->value, cases[i].value);
		assert_null(ckpt_args_find(&args, "format"));
		ckpt_args_release(&args);
	}
}

static void
test_opt_list_keeps_order(void **state)
{
	struct options o;
	struct ckpt_args args;
	const struct ckpt_given *g;

	(void)state;
	assert_true(parse(&args, &many, &o,
		"mutate --set a=1 f --delete b -oOUT -sc=2 --fix-checksum"));
	assert_string_equal(args.sub->name, "mutate");
	assert_int_equal(args.given_count, 5);
	g = args.given;
	assert_int_equal(g[0].opt->tag, SET);
	assert_string_equal(g[0].value, "a=1");
	assert_int_equal(g[1].opt->tag, DELETE);
	assert_string_equal(g[1].value, "b");
	assert_int_equal(g[3].opt->tag, SET);
	assert_string_equal(g[3].value, "c=2");
	assert_null(g[4].value);
	assert_true(o.fix);
	assert_string_equal(o.output, "OUT");
	assert_string_equal(args.operands[0], "f");
	ckpt_args_release(&args);
}

static const struct {
	const struct ckpt_command *command;
	const char *line, *message;
} bad_lines[] = {
	{ &tool, "--frobnicate", "unrecognised option '--frobnicate'" },
	{ &tool, "--form=x a",
		"unrecognised option '--form'; did you "
		"mean '--format'?" },
	{ &tool, "--fromat a",
		"unrecognised option '--fromat'; did "
		"you mean '--format'?" },
	{ &tool, "--sead a", "unrecognised option '--sead'" },
	{ &tool, "--=x a", "unrecognised option '--=x'" },
	{ &tool, "--a\033[2J\xff",
		"unrecognised option "
		"'--a\\x1b[2J\\xff'" },
	{ &tool, "-qz a", "unrecognised option '-z'" },
	{ &tool, "-q\xc3\xa9 a", "unrecognised option '-\xc3\xa9'" },
	{ &tool, "-q\xff a", "unrecognised option '-\\xff'" },
	{ &tool, "-format a",
		"unrecognised option '-f'; did you mean "
		"'--format'?" },
	{ &tool, "--quiet=1 a", "option '--quiet' takes no value" },
	{ &tool, "--help=1", "option '--help' takes no value" },
	{ &tool, "a --format", "option '--format' needs a value" },
	{ &tool, "a -qj", "option '-j' needs a value" },
	{ &tool, "--format=xml a",
		"option '--format': 'xml' is not "
		"one of text, json, jsonl" },
	{ &tool, "--format=jsn a",
		"option '--format': 'jsn' is not one of text, json, "
		"jsonl; did you mean 'json'?" },
	{ &tool, "--format= a",
		"option '--format': '' is not one of "
		"text, json, jsonl" },
	{ &tool, "--max-memory=12x a",
		"option '--max-memory': '12x' is not a size (a number, "
		"or one followed by k, M or G for powers of 1024)" },
	{ &tool, "--max-memory=17179869184G a",
		"option '--max-memory': '17179869184G' is too large, "
		"at most 18446744073709551615" },
	{ &tool, "--max-memory=18446744073709551616 a",
		"option '--max-memory': '18446744073709551616' is too "
		"large, at most 18446744073709551615" },
	{ &tool, "--max-memory=1023 a",
		"option '--max-memory': '1023' is too small, at least "
		"1024" },
	{ &tool, "-j0 a", "option '-j': '0' is too small, at least 1" },
	{ &tool, "-j65 a", "option '-j': '65' is too large, at most 64" },
	{ &tool, "-j+1 a", "option '-j': '+1' is not a whole number" },
	{ &tool, "-j -1 a", "option '-j': '-1' is not a whole number" },
	{ &tool, "-j0x a", "option '-j': '0x' is not a whole number" },
	{ &tool, "-j1k a", "option '-j': '1k' is not a whole number" },
	{ &tool, "-j ~ a", "option '-j': '' is not a whole number" },
	{ &tool, "", "FILE is missing" },
	{ &tool, "a b c\n d", "one operand too many: 'c\\n'" },
	{ &tool, "--list-rules a",
		"option '--list-rules' stands alone, without "
		"operands" },
	{ &many, "", "a subcommand is missing" },
	{ &many, "mutat f",
		"unknown subcommand 'mutat'; did you mean "
		"'mutate'?" },
	{ &many, "--set a=1 mutate", "unrecognised option '--set'" },
};

static void
test_opt_usage_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++) {
		const char *name = bad_lines[i].command->name;
		struct options o;
		struct ckpt_args args;
		char want[512];

		if (parse(&args, bad_lines[i].command, &o, bad_lines[i].line))
			fail_msg("accepted: %s", bad_lines[i].line);
		snprintf(want, sizeof want, "%s: %s\nTry '%s --help'.\n", name,
			bad_lines[i].message, name);
		assert_string_equal(args.err.p, want);
		assert_int_equal(args.out.n, 0);
		assert_int_equal(args.status, CKPT_EXIT_USAGE);
		ckpt_args_release(&args);
	}
}

static void
test_opt_subcommand_errors_name_it(void **state)
{
	struct options o;
	struct ckpt_args args;

	(void)state;
	assert_false(parse(&args, &many, &o, "corpus --fix-checksum d"));
	assert_string_equal(args.err.p,
		"ckmany corpus: unrecognised option '--fix-checksum'\n"
		"Try 'ckmany corpus --help'.\n");
	ckpt_args_release(&args);
	assert_true(parse(&args, &many, &o, "corpus d"));
	assert_false(ckpt_args_fail(
		&args, "cannot use ", args.operands[0], " here"));
	assert_string_equal(args.err.p, "ckmany corpus: cannot use 'd' here\n"
					"Try 'ckmany corpus --help'.\n");
	assert_int_equal(args.status, CKPT_EXIT_USAGE);
	ckpt_args_release(&args);
}

/* The command line is answered with this text, exit status 0. */
static void
assert_answer(
	const struct ckpt_command *command, const char *line, const char *text)
{
	struct options o;
	struct ckpt_args args;

	assert_false(parse(&args, command, &o, line));
	assert_int_equal(args.status, CKPT_EXIT_OK);
	assert_int_equal(args.err.n, 0);
	assert_string_equal(args.out.p, text);
	ckpt_args_release(&args);
}

static void
test_opt_version(void **state)
{
	const char *b = ckpt_sandbox_built();
	char text[128];

	(void)state;
	snprintf(text, 128, "ckx (ckpt) %s\nsandbox: %s\n", CKPT_VERSION, b);
	assert_answer(&tool, "--version", text);
}

#define EXITS                                                                  \
	"\nExit status:\n"                                                     \
	"  0    The verdict is good: every check that applies ran and "        \
	"passed.\n"                                                            \
	"  1    The verdict on the content is negative.\n"                     \
	"  2    Wrong options or operands; nothing was done.\n"                \
	"  3    There is no verdict: a read error, a limit, a feature that "   \
	"is not\n"                                                             \
	"       implemented. This never means that a file is good.\n"          \
	"  130  Interrupted.\n"

static void
test_opt_help_text(void **state)
{
	(void)state;
	assert_answer(&tool, "a --help --frobnicate",
		"Usage: ckx [options] FILE|- ...\n"
		"       ckx --list-rules\n"
		"Verify checkpoints.\n"
		"\nOutput:\n"
		"      --format=text|json|jsonl\n"
		"                         how to print the verdict (default: "
		"text)\n"
		"      --batch[=SECTION]  print SECTION, or all, and exit; "
		"SECTION is one of\n"
		"                         overview, hex\n"
		"  -o, --output=FILE      write to FILE. Not over \"inputs\"\n"
		"  -q, --quiet            print nothing\n"
		"  -v                     print more\n"
		"\nLimits:\n"
		"      --max-memory=SIZE  stop when more than SIZE bytes are "
		"needed, and say so\n"
		"                         with a verdict of its own (default: "
		"1G)\n"
		"  -j N                   use N threads (default: 1)\n"
		"      --list-rules       .Sh is no macro here; see `ckx "
		"--format=json`\n"
		"\nGeneral:\n"
		"      --no-sandbox       run without confinement\n"
		"  -h, --help             print this text and exit\n"
		"  -V, --version          print name and version and exit\n"
		"\nReport bugs to the author.\n" EXITS);
}

static void
test_opt_help_of_subcommands(void **state)
{
	(void)state;
	assert_answer(&many, "-h",
		"Usage: ckmany SUBCOMMAND [options]\n"
		"Make files.\n"
		"\nSubcommands:\n"
		"  mutate        change fields of a file\n"
		"  corpus        make every recipe\n"
		"\n'ckmany SUBCOMMAND --help' says more of each.\n"
		"\nOptions:\n"
		"  -o, --output=FILE  write to FILE\n"
		"      --no-sandbox   run without confinement\n"
		"  -h, --help         print this text and exit\n"
		"  -V, --version      print name and version and exit\n" EXITS);
	assert_answer(&many, "mutate -h",
		"Usage: ckmany mutate FILE [--set PATH=VALUE] -o OUT\n"
		"Change fields of a file.\n"
		"\nOptions:\n"
		"  -s, --set=PATH=VALUE  set a field\n"
		"      --delete=PATH     delete a record\n"
		"      --fix-checksum    store the right checksum\n"
		"\nOptions of every subcommand:\n"
		"  -o, --output=FILE     write to FILE\n"
		"      --no-sandbox      run without confinement\n"
		"  -h, --help            print this text and exit\n"
		"  -V, --version         print name and version and "
		"exit\n" EXITS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opt_tables_are_well_made),
		cmocka_unit_test(test_opt_check_finds_faults),
		cmocka_unit_test(test_opt_reads_every_kind),
		cmocka_unit_test(test_opt_keeps_text_values),
		cmocka_unit_test(test_opt_list_keeps_order),
		cmocka_unit_test(test_opt_usage_errors),
		cmocka_unit_test(test_opt_subcommand_errors_name_it),
		cmocka_unit_test(test_opt_version),
		cmocka_unit_test(test_opt_help_text),
		cmocka_unit_test(test_opt_help_of_subcommands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
