/* SPDX-License-Identifier: MIT */
/*
 * The text of --help, made from the option rows, and how options are spelt in
 * messages. The rows are ASCII (ckpt_command_check), so that bytes count as
 * columns; lines have at most 79 of them.
 */
#include "cli/opt.h"

#include <string.h>

#include "ckpt.h"

#define COLUMNS   79
#define LEFT_MOST 30 /* longer options get a line of their own */

const struct ckpt_entry ckpt_exit_entries[] = {
	{ "0", "The verdict is good: every check that applies ran and "
	       "passed." },
	{ "1", "The verdict on the content is negative." },
	{ "2", "Wrong options or operands; nothing was done." },
	{ "3", "There is no verdict: a read error, a limit, a feature that "
	       "is not implemented. This never means that a file is good." },
	{ "130", "Interrupted." },
	{ 0 },
};

_Static_assert(CKPT_EXIT_OK == 0 && CKPT_EXIT_NEGATIVE == 1 &&
		       CKPT_EXIT_USAGE == 2 && CKPT_EXIT_TROUBLE == 3 &&
		       CKPT_EXIT_INTERRUPTED == 130,
	"ckpt_exit_entries names every exit status");

void
ckpt_command_spell(struct ckpt_buf *buf, const struct ckpt_command *command,
	const struct ckpt_command *sub)
{
	ckpt_buf_puts(buf, command->name);
	if (sub)
		ckpt_buf_printf(buf, " %s", sub->name);
}

void
ckpt_opt_spell(struct ckpt_buf *buf, const struct ckpt_opt *opt)
{
	if (opt->name)
		ckpt_buf_printf(buf, "--%s", opt->name);
	else
		ckpt_buf_printf(buf, "-%c", opt->letter);
}

void
ckpt_opt_spell_value(struct ckpt_buf *buf, const struct ckpt_opt *opt)
{
	if (opt->arg) {
		ckpt_buf_puts(buf, opt->arg);
		return;
	}
	for (size_t i = 0; opt->words && opt->words[i]; i++)
		ckpt_buf_printf(buf, "%s%s", i ? "|" : "", opt->words[i]);
}

/* "-o, --output=FILE", with room for the letter that a long name lacks. */
static void
spell_left(struct ckpt_buf *buf, const struct ckpt_opt *opt)
{
	if (opt->letter)
		ckpt_buf_printf(buf, "  -%c", opt->letter);
	if (opt->name)
		ckpt_buf_printf(buf, "%s--%s", opt->letter ? ", " : "      ",
			opt->name);
	if (!ckpt_opt_valued(opt))
		return;
	if (opt->optional)
		ckpt_buf_puts(buf, opt->name ? "[=" : "[");
	else
		ckpt_buf_puts(buf, opt->name ? "=" : " ");
	ckpt_opt_spell_value(buf, opt);
	if (opt->optional)
		ckpt_buf_puts(buf, "]");
}

/* Adds the words of text from the given column on; lines that follow start
 * at indent. */
static void
wrap(struct ckpt_buf *buf, const char *text, size_t column, size_t indent)
{
	bool first = true;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (!first && column + 1 + n > COLUMNS) {
			ckpt_buf_printf(buf, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		if (!first)
			ckpt_buf_puts(buf, " ");
		ckpt_buf_add(buf, text, n);
		column += n + (first ? 0 : 1);
		first = false;
		text += n + strspn(text + n, " ");
	}
	ckpt_buf_puts(buf, "\n");
}

/* One line of a list in two columns. */
static void
write_pair(struct ckpt_buf *buf, const char *left, const char *text, size_t at)
{
	size_t n = strlen(left);

	ckpt_buf_puts(buf, left);
	if (n + 2 > at)
		ckpt_buf_printf(buf, "\n%*s", (int)at, "");
	else
		ckpt_buf_printf(buf, "%*s", (int)(at - n), "");
	wrap(buf, text, at, at);
}

static void
write_row(struct ckpt_buf *buf, const struct ckpt_opt *opt, size_t at)
{
	struct ckpt_buf left, text;

	ckpt_buf_init(&left);
	ckpt_buf_init(&text);
	spell_left(&left, opt);
	ckpt_buf_puts(&text, opt->help);
	if (opt->kind == CKPT_OPT_CHOICE && opt->arg) {
		ckpt_buf_printf(&text, "; %s is one of", opt->arg);
		for (size_t i = 0; opt->words[i]; i++)
			ckpt_buf_printf(
				&text, "%s %s", i ? "," : "", opt->words[i]);
	}
	if (opt->preset)
		ckpt_buf_printf(&text, " (default: %s)", opt->preset);
	if (left.failed || text.failed)
		buf->failed = true;
	else
		write_pair(buf, left.p, text.p, at);
	ckpt_buf_release(&left);
	ckpt_buf_release(&text);
}

/* Where the right column of these rows starts, at least as far as at. */
static size_t
right_column(const struct ckpt_opt *opts, size_t at)
{
	for (; opts && opts->kind; opts++) {
		struct ckpt_buf left;

		if (opts->hidden || opts->kind == CKPT_OPT_HEADING)
			continue;
		ckpt_buf_init(&left);
		spell_left(&left, opts);
		if (left.n + 2 > at && left.n + 2 <= LEFT_MOST)
			at = left.n + 2;
		ckpt_buf_release(&left);
	}
	return at;
}

static void
write_rows(struct ckpt_buf *buf, const struct ckpt_opt *opts, size_t at)
{
	for (; opts && opts->kind; opts++) {
		if (opts->kind == CKPT_OPT_HEADING)
			ckpt_buf_printf(buf, "\n%s:\n", opts->help);
		else if (!opts->hidden)
			write_row(buf, opts, at);
	}
}

static void
write_options(struct ckpt_buf *buf, const struct ckpt_command *command,
	const struct ckpt_command *sub)
{
	const struct ckpt_opt *own = sub ? sub->opts : NULL;
	const struct ckpt_opt *common = command->opts;
	size_t at = right_column(ckpt_opt_builtin, 0);

	at = right_column(common, right_column(own, at));
	if (own && own->kind) {
		if (own->kind != CKPT_OPT_HEADING)
			ckpt_buf_puts(buf, "\nOptions:\n");
		write_rows(buf, own, at);
		ckpt_buf_puts(buf, "\nOptions of every subcommand:\n");
	} else if (!common || common->kind != CKPT_OPT_HEADING) {
		ckpt_buf_puts(buf, "\nOptions:\n");
	}
	write_rows(buf, common, at);
	if (common && common->kind == CKPT_OPT_HEADING)
		ckpt_buf_puts(buf, "\nGeneral:\n");
	write_rows(buf, ckpt_opt_builtin, at);
}

static void
write_use(struct ckpt_buf *buf, const struct ckpt_command *command,
	const struct ckpt_command *sub)
{
	const char *const *use = sub ? sub->use : command->use;

	for (size_t i = 0; use && use[i]; i++) {
		size_t indent = strlen("Usage: ") + strlen(command->name) + 1;

		ckpt_buf_puts(buf, i ? "       " : "Usage: ");
		ckpt_command_spell(buf, command, sub);
		if (sub)
			indent += strlen(sub->name) + 1;
		ckpt_buf_puts(buf, " ");
		wrap(buf, use[i], indent, indent);
	}
}

static void
write_entries(struct ckpt_buf *buf, const char *title,
	const struct ckpt_entry *entries)
{
	ckpt_buf_printf(buf, "\n%s:\n", title);
	for (; entries->name; entries++) {
		ckpt_buf_printf(buf, "  %-5s", entries->name);
		wrap(buf, entries->text, 7, 7);
	}
}

static void
write_subs(struct ckpt_buf *buf, const struct ckpt_command *command)
{
	ckpt_buf_puts(buf, "\nSubcommands:\n");
	for (const struct ckpt_command *s = command->subs; s->name; s++) {
		struct ckpt_buf left;

		ckpt_buf_init(&left);
		ckpt_buf_printf(&left, "  %s", s->name);
		if (left.failed)
			buf->failed = true;
		else
			write_pair(buf, left.p, s->title, 16);
		ckpt_buf_release(&left);
	}
	ckpt_buf_puts(buf, "\n");
	ckpt_buf_printf(buf, "'%s SUBCOMMAND --help' says more of each.\n",
		command->name);
}

void
ckpt_help_write(struct ckpt_buf *buf, const struct ckpt_command *command,
	const struct ckpt_command *sub)
{
	const struct ckpt_command *c = sub ? sub : command;
	char first = c->title[0];

	write_use(buf, command, sub);
	if (first >= 'a' && first <= 'z')
		first = (char)(first - 'a' + 'A');
	ckpt_buf_printf(buf, "%c", first);
	ckpt_buf_puts(buf, c->title + 1);
	ckpt_buf_puts(buf, ".\n");
	if (!sub && command->subs)
		write_subs(buf, command);
	write_options(buf, command, sub);
	for (size_t i = 0; c->closing && c->closing[i]; i++) {
		ckpt_buf_puts(buf, "\n");
		wrap(buf, c->closing[i], 0, 0);
	}
	write_entries(buf, "Exit status",
		command->exits ? command->exits : ckpt_exit_entries);
}
