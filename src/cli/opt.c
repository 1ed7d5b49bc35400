/* SPDX-License-Identifier: MIT */
/*
 * The parser of command lines. It walks argv once; each word is an option, the
 * value of one, the name of the subcommand, or an operand. The first fault
 * ends the walk: args then holds the message and exit status 2. Nothing is
 * printed before ckpt_args_report, so that a usage error leaves standard
 * output empty. Called by every tool's main.
 */
#include "cli/opt.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ckpt.h"

#include "base/utf8.h"
#include "cli/nearest.h"
#include "cli/sandbox.h"

enum builtin { HELP, VERSION, MAN, NO_SANDBOX };

const struct ckpt_opt ckpt_opt_builtin[] = {
	{ .name = "no-sandbox",
		.kind = CKPT_OPT_FLAG,
		.tag = NO_SANDBOX,
		.help = "run without confinement" },
	{ .name = "help",
		.letter = 'h',
		.kind = CKPT_OPT_FLAG,
		.tag = HELP,
		.help = "print this text and exit" },
	{ .name = "version",
		.letter = 'V',
		.kind = CKPT_OPT_FLAG,
		.tag = VERSION,
		.help = "print name and version and exit" },
	{ .name = "man",
		.kind = CKPT_OPT_FLAG,
		.tag = MAN,
		.hidden = true,
		.help = "print the manual page and exit" },
	{ 0 },
};

/* The state of one parse. */
struct walk {
	struct ckpt_args *args;
	void *options;
	char *const *argv;
	int argc;
	int i;      /* the next word */
	bool ended; /* "--" was seen */
};

static bool
fail_memory(struct ckpt_args *args)
{
	args->err.failed = true;
	args->status = CKPT_EXIT_TROUBLE;
	return false;
}

/* The tables an option is looked up in, the nearest first. */
static const struct ckpt_opt *
table(const struct ckpt_args *args, int i)
{
	static const struct ckpt_opt none[] = { { 0 } };
	const struct ckpt_opt *opts = ckpt_opt_builtin;

	if (i == 0)
		opts = args->sub ? args->sub->opts : NULL;
	else if (i == 1)
		opts = args->command->opts;
	return opts ? opts : none;
}

/* By name of n bytes, or by letter if name is NULL. */
static const struct ckpt_opt *
find(const struct ckpt_args *args, const char *name, size_t n, char letter)
{
	for (int i = 0; i < 3; i++) {
		const struct ckpt_opt *opt = table(args, i);

		for (; opt->kind; opt++) {
			if (!name && opt->letter && opt->letter == letter)
				return opt;
			if (name && opt->name && strlen(opt->name) == n &&
				memcmp(opt->name, name, n) == 0)
				return opt;
		}
	}
	return NULL;
}

static bool
unrecognised_long(struct ckpt_args *args, const char *word, size_t n)
{
	struct ckpt_nearest nearest;
	struct ckpt_buf name;
	char after[64] = "";

	ckpt_nearest_init(&nearest, word, n);
	for (int i = 0; i < 3; i++)
		for (const struct ckpt_opt *o = table(args, i); o->kind; o++)
			if (o->name && !o->hidden)
				ckpt_nearest_offer(&nearest, o->name);
	if (nearest.best)
		snprintf(after, sizeof after, "; did you mean '--%s'?",
			nearest.best);
	ckpt_buf_init(&name);
	ckpt_buf_puts(&name, "--");
	ckpt_buf_add(&name, word, n ? n : strlen(word));
	if (name.failed)
		fail_memory(args);
	else
		ckpt_args_fail(args, "unrecognised option ", name.p, after);
	ckpt_buf_release(&name);
	return false;
}

/* cluster is the whole word after its dash, at the place of the fault. */
static bool
unrecognised_letter(struct ckpt_args *args, const char *cluster, const char *at)
{
	const struct ckpt_opt *opt = find(args, cluster, strlen(cluster), 0);
	char shown[8] = "-", after[64] = "";
	uint32_t point;
	size_t k = ckpt_utf8_decode((const uint8_t *)at, strlen(at), &point);

	memcpy(shown + 1, at, k ? k : 1);
	if (opt && !opt->hidden)
		snprintf(after, sizeof after, "; did you mean '--%s'?",
			opt->name);
	return ckpt_args_fail(args, "unrecognised option ", shown, after);
}

/* "option '--name'" and what is wrong with it. */
static bool
fail_option(struct ckpt_args *args, const struct ckpt_opt *opt, const char *why)
{
	struct ckpt_buf name;

	ckpt_buf_init(&name);
	ckpt_opt_spell(&name, opt);
	if (name.failed)
		fail_memory(args);
	else
		ckpt_args_fail(args, "option ", name.p, why);
	ckpt_buf_release(&name);
	return false;
}

/* Carries out --help and the like; the walk ends here. */
static bool
answer(struct ckpt_args *args, const struct ckpt_opt *opt)
{
	args->status = CKPT_EXIT_OK;
	switch ((enum builtin)opt->tag) {
	case HELP: ckpt_help_write(&args->out, args->command, args->sub); break;
	case VERSION:
		ckpt_buf_printf(&args->out, "%s (ckpt) %s\nsandbox: %s\n",
			args->command->name, CKPT_VERSION,
			ckpt_sandbox_built());
		break;
	case MAN: ckpt_man_write(&args->out, args->command); break;
	case NO_SANDBOX: break;
	}
	return false;
}

bool
ckpt_opt_is_builtin(const struct ckpt_opt *opt)
{
	for (size_t i = 0; ckpt_opt_builtin[i].kind; i++)
		if (opt == &ckpt_opt_builtin[i])
			return true;
	return false;
}

static bool
store(struct walk *w, const struct ckpt_opt *opt, const char *value)
{
	struct ckpt_args *args = w->args;
	struct ckpt_buf why;
	bool ok;

	ckpt_buf_init(&why);
	ckpt_buf_puts(&why, ": ");
	ok = ckpt_opt_store(opt, value, w->options, &why);
	if (!ok)
		ok = why.failed ? fail_memory(args)
				: fail_option(args, opt, why.p);
	ckpt_buf_release(&why);
	return ok;
}

static bool
give(struct walk *w, const struct ckpt_opt *opt, const char *value)
{
	struct ckpt_args *args = w->args;
	struct ckpt_given *grown;

	if (ckpt_opt_is_builtin(opt) && opt->tag != NO_SANDBOX)
		return answer(args, opt);
	if (!ckpt_opt_is_builtin(opt) && !store(w, opt, value))
		return false;
	grown = reallocarray(
		args->given, args->given_count + 1, sizeof *args->given);
	if (!grown)
		return fail_memory(args);
	args->given = grown;
	args->given[args->given_count].opt = opt;
	args->given[args->given_count].value = value;
	args->given_count++;
	return true;
}

/* The value that stands in a word of its own. */
static bool
give_next(struct walk *w, const struct ckpt_opt *opt)
{
	if (opt->optional)
		return give(w, opt, NULL);
	if (w->i >= w->argc)
		return fail_option(w->args, opt, " needs a value");
	return give(w, opt, w->argv[w->i++]);
}

static bool
take_long(struct walk *w, const char *word)
{
	size_t n = strcspn(word, "=");
	const struct ckpt_opt *opt = find(w->args, word, n, 0);

	if (!opt)
		return unrecognised_long(w->args, word, n);
	if (word[n] && !ckpt_opt_valued(opt))
		return fail_option(w->args, opt, " takes no value");
	if (word[n])
		return give(w, opt, word + n + 1);
	return ckpt_opt_valued(opt) ? give_next(w, opt) : give(w, opt, NULL);
}

static bool
take_letters(struct walk *w, const char *cluster)
{
	for (const char *p = cluster; *p; p++) {
		const struct ckpt_opt *opt = find(w->args, NULL, 0, *p);

		if (!opt)
			return unrecognised_letter(w->args, cluster, p);
		if (ckpt_opt_valued(opt))
			return p[1] ? give(w, opt, p + 1) : give_next(w, opt);
		if (!give(w, opt, NULL))
			return false;
	}
	return true;
}

static bool
set_presets(struct walk *w, const struct ckpt_opt *opts)
{
	struct ckpt_buf why;
	bool ok = true;

	ckpt_buf_init(&why);
	for (; ok && opts && opts->kind; opts++)
		if (opts->preset)
			ok = ckpt_opt_store(
				opts, opts->preset, w->options, &why);
	ckpt_buf_release(&why);
	return ok ? ok : fail_option(w->args, opts - 1, " has a bad preset");
}

static bool
take_subcommand(struct walk *w, const char *word)
{
	const struct ckpt_command *sub = w->args->command->subs;
	struct ckpt_nearest nearest;
	char after[64] = "";

	ckpt_nearest_init(&nearest, word, strlen(word));
	for (; sub->name; sub++) {
		ckpt_nearest_offer(&nearest, sub->name);
		if (strcmp(sub->name, word) == 0) {
			w->args->sub = sub;
			return set_presets(w, sub->opts);
		}
	}
	if (nearest.best)
		snprintf(after, sizeof after, "; did you mean '%s'?",
			nearest.best);
	return ckpt_args_fail(w->args, "unknown subcommand ", word, after);
}

static bool
take_word(struct walk *w, const char *word)
{
	struct ckpt_args *args = w->args;

	if (!w->ended && strcmp(word, "--") == 0) {
		w->ended = true;
		return true;
	}
	if (!w->ended && word[0] == '-' && word[1] == '-')
		return take_long(w, word + 2);
	if (!w->ended && word[0] == '-' && word[1])
		return take_letters(w, word + 1);
	if (args->command->subs && !args->sub)
		return take_subcommand(w, word);
	args->operands[args->operand_count++] = word;
	return true;
}

/* After the walk: is everything there, and nothing too much? */
static bool
check_operands(struct ckpt_args *args)
{
	const struct ckpt_command *c = args->sub ? args->sub : args->command;
	size_t least = c->least, most = c->most;

	if (args->command->subs && !args->sub)
		return ckpt_args_fail(
			args, "a subcommand is missing", NULL, "");
	for (size_t i = 0; i < args->given_count; i++) {
		if (!args->given[i].opt->alone)
			continue;
		if (args->operand_count)
			return fail_option(args, args->given[i].opt,
				" stands alone, without operands");
		least = 0;
	}
	if (args->operand_count > most)
		return ckpt_args_fail(args,
			"one operand too many: ", args->operands[most], "");
	if (args->operand_count < least)
		return ckpt_args_fail(args, c->operand ? c->operand : "operand",
			NULL, " is missing");
	return true;
}

/* A standard stream that the caller closed would become the next file that is
 * opened, and results be written into it. What stands here instead fails as a
 * closed one does. */
static void
hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
			open("/dev/null",
				fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return;
}

bool
ckpt_args_parse(struct ckpt_args *args, const struct ckpt_command *command,
	void *options, int argc, char *const *argv)
{
	struct walk w = { args, options, argv, argc, 1, false };

	hold_standard_streams();
	memset(args, 0, sizeof *args);
	args->command = command;
	ckpt_buf_init(&args->out);
	ckpt_buf_init(&args->err);
	args->operands =
		calloc((size_t)(argc > 0 ? argc : 1), sizeof *args->operands);
	if (!args->operands)
		return fail_memory(args);
	if (!set_presets(&w, command->opts))
		return false;
	while (w.i < argc)
		if (!take_word(&w, argv[w.i++]))
			return false;
	return check_operands(args);
}
