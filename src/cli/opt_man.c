/* SPDX-License-Identifier: MIT */
/*
 * The manual page of a tool, made from its command and option rows. The pages
 * in man/ are this output, committed; the build compares them, so a row and
 * its page cannot disagree. Output must be clean under mandoc -T lint.
 */
#include "cli/opt.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "cli/sandbox.h"
#include "sink/mdoc.h"

static void
macro(struct ckpt_buf *buf, const char *name, const char *words)
{
	ckpt_buf_printf(buf, ".%s", name);
	for (words += strspn(words, " "); *words;) {
		size_t n = strcspn(words, " ");

		ckpt_mdoc_arg(buf, words, n);
		words += n + strspn(words + n, " ");
	}
	ckpt_buf_puts(buf, "\n");
}

/* The arguments " Ar SIZE", or the words of a choice. */
static void
write_value(struct ckpt_buf *buf, const struct ckpt_opt *opt)
{
	if (opt->arg) {
		ckpt_buf_puts(buf, " Ar");
		ckpt_mdoc_arg(buf, opt->arg, strlen(opt->arg));
		return;
	}
	for (size_t i = 0; opt->words[i]; i++) {
		ckpt_buf_puts(buf, i ? " Ns | Ns Cm" : " Cm");
		ckpt_mdoc_arg(buf, opt->words[i], strlen(opt->words[i]));
	}
}

static void
write_item(struct ckpt_buf *buf, const struct ckpt_opt *opt)
{
	ckpt_buf_puts(buf, ".It");
	if (opt->letter) {
		char letter[2] = { opt->letter, '\0' };

		ckpt_buf_puts(buf, " Fl");
		ckpt_mdoc_arg(buf, letter, 1);
		if (opt->name)
			ckpt_buf_puts(buf, " ,");
	}
	if (opt->name) {
		ckpt_buf_puts(buf, " Fl Fl");
		ckpt_mdoc_arg(buf, opt->name, strlen(opt->name));
	}
	if (ckpt_opt_valued(opt)) {
		if (opt->optional)
			ckpt_buf_puts(buf, " Ns Oo");
		if (opt->name)
			ckpt_buf_puts(
				buf, opt->optional ? " = Ns" : " Ns = Ns");
		write_value(buf, opt);
		if (opt->optional)
			ckpt_buf_puts(buf, " Oc");
	}
	ckpt_buf_puts(buf, "\n");
}

/* help is a sentence without capital and full stop; a page has both. */
static void
write_help(struct ckpt_buf *buf, const struct ckpt_opt *opt)
{
	struct ckpt_buf text;

	ckpt_buf_init(&text);
	ckpt_buf_printf(&text, "%c", toupper((unsigned char)opt->help[0]));
	ckpt_buf_printf(&text, "%s.", opt->help + 1);
	if (opt->kind == CKPT_OPT_CHOICE && opt->arg) {
		ckpt_buf_printf(&text, " %s is one of", opt->arg);
		for (size_t i = 0; opt->words[i]; i++)
			ckpt_buf_printf(
				&text, "%s `%s`", i ? "," : "", opt->words[i]);
		ckpt_buf_puts(&text, ".");
	}
	if (opt->preset)
		ckpt_buf_printf(&text, " The default is `%s`.", opt->preset);
	if (text.failed)
		buf->failed = true;
	else
		ckpt_mdoc_text(buf, text.p, opt->arg);
	ckpt_buf_release(&text);
}

void
ckpt_man_options(struct ckpt_buf *buf, const struct ckpt_opt *opts)
{
	bool open = false;

	for (; opts && opts->kind; opts++) {
		if (opts->hidden)
			continue;
		if (opts->kind == CKPT_OPT_HEADING) {
			if (open)
				ckpt_buf_puts(buf, ".El\n");
			open = false;
			macro(buf, "Ss", opts->help);
			continue;
		}
		if (!open)
			ckpt_buf_puts(buf, ".Bl -tag -width Ds\n");
		open = true;
		write_item(buf, opts);
		write_help(buf, opts);
	}
	if (open)
		ckpt_buf_puts(buf, ".El\n");
}

/* Each part of a synopsis by its look: [ ] are printed as they are, -x and
 * --name in bold, CAPITALS and the word options in italics. */
static void
write_use(struct ckpt_buf *buf, const char *use)
{
	while (*use) {
		size_t n = strcspn(use, "[]|=. ");
		bool meta = n == 7 && memcmp(use, "options", n) == 0;

		if (n == 0) {
			if (*use == '.' && use[1] == '.' && use[2] == '.') {
				ckpt_buf_puts(buf, "...");
				use += 2;
			} else {
				ckpt_mdoc_chars(buf, use, 1);
			}
			use++;
			continue;
		}
		meta = meta || isupper((unsigned char)use[0]);
		ckpt_buf_puts(buf, meta ? "\\fI" : "\\fB");
		ckpt_mdoc_literal(buf, use, n);
		ckpt_buf_puts(buf, "\\fP");
		use += n;
	}
	ckpt_buf_puts(buf, "\n");
}

static void
write_synopsis(struct ckpt_buf *buf, const struct ckpt_command *command)
{
	ckpt_buf_puts(buf, ".Sh SYNOPSIS\n");
	for (size_t i = 0; command->use[i]; i++) {
		macro(buf, "Nm", command->name);
		write_use(buf, command->use[i]);
	}
	for (const struct ckpt_command *s = command->subs; s && s->name; s++) {
		for (size_t i = 0; s->use[i]; i++) {
			macro(buf, "Nm", command->name);
			macro(buf, "Cm", s->name);
			write_use(buf, s->use[i]);
		}
	}
}

static void
write_paragraphs(struct ckpt_buf *buf, const char *const *about)
{
	for (size_t i = 0; about && about[i]; i++) {
		if (i)
			ckpt_buf_puts(buf, ".Pp\n");
		ckpt_mdoc_text(buf, about[i], NULL);
	}
}

static void
write_subs(struct ckpt_buf *buf, const struct ckpt_command *command)
{
	ckpt_buf_puts(buf, ".Sh SUBCOMMANDS\n");
	for (const struct ckpt_command *s = command->subs; s->name; s++) {
		struct ckpt_buf title;

		macro(buf, "Ss", s->name);
		ckpt_buf_init(&title);
		ckpt_buf_printf(&title, "%c%s.",
			toupper((unsigned char)s->title[0]), s->title + 1);
		if (title.failed)
			buf->failed = true;
		else
			ckpt_mdoc_text(buf, title.p, NULL);
		ckpt_buf_release(&title);
		if (s->about && s->about[0])
			ckpt_buf_puts(buf, ".Pp\n");
		write_paragraphs(buf, s->about);
		ckpt_man_options(buf, s->opts);
	}
}

static void
write_entries(struct ckpt_buf *buf, const char *title, const char *item,
	const struct ckpt_entry *entries)
{
	if (!entries || !entries->name)
		return;
	ckpt_buf_printf(buf, ".Sh %s\n.Bl -tag -width Ds\n", title);
	for (; entries->name; entries++) {
		ckpt_buf_printf(buf, ".It%s", item);
		ckpt_mdoc_arg(buf, entries->name, strlen(entries->name));
		ckpt_buf_puts(buf, "\n");
		ckpt_mdoc_text(buf, entries->text, NULL);
	}
	ckpt_buf_puts(buf, ".El\n");
}

static void
write_examples(struct ckpt_buf *buf, const struct ckpt_entry *examples)
{
	if (!examples || !examples->name)
		return;
	ckpt_buf_puts(buf, ".Sh EXAMPLES\n");
	for (size_t i = 0; examples[i].name; i++) {
		if (i)
			ckpt_buf_puts(buf, ".Pp\n");
		ckpt_mdoc_text(buf, examples[i].text, NULL);
		ckpt_buf_puts(buf, ".Bd -literal -offset indent\n");
		ckpt_mdoc_line(buf, examples[i].name);
		ckpt_buf_puts(buf, ".Ed\n");
	}
}

static void
write_see(struct ckpt_buf *buf, const char *const *see)
{
	if (!see || !see[0])
		return;
	ckpt_buf_puts(buf, ".Sh SEE ALSO\n");
	for (size_t i = 0; see[i]; i++) {
		size_t n = strcspn(see[i], "(");

		ckpt_buf_puts(buf, ".Xr");
		ckpt_mdoc_arg(buf, see[i], n);
		ckpt_buf_printf(buf, " %c%s\n", see[i][n] ? see[i][n + 1] : '1',
			see[i + 1] ? " ," : "");
	}
}

static void
write_confined(struct ckpt_buf *buf, const char *const *confined)
{
	if (!confined)
		return;
	ckpt_buf_puts(buf, ".Sh SECURITY CONSIDERATIONS\n");
	write_paragraphs(buf, confined);
	ckpt_buf_puts(buf, ".Pp\n");
	write_paragraphs(buf, ckpt_sandbox_about);
}

void
ckpt_man_write(struct ckpt_buf *buf, const struct ckpt_command *command)
{
	assert(command->date && command->use);
	ckpt_buf_printf(buf,
		".\\\" Made by %s --man; do not edit.\n.Dd %s\n.Dt ",
		command->name, command->date);
	for (const char *p = command->name; *p; p++)
		ckpt_buf_printf(buf, "%c", toupper((unsigned char)*p));
	ckpt_buf_puts(buf, " 1\n.Os\n.Sh NAME\n");
	macro(buf, "Nm", command->name);
	macro(buf, "Nd", command->title);
	write_synopsis(buf, command);
	ckpt_buf_puts(buf, ".Sh DESCRIPTION\n");
	/* A description that begins in lower case is said of the tool. */
	if (!command->about || !command->about[0] ||
		(command->about[0][0] >= 'a' && command->about[0][0] <= 'z'))
		ckpt_buf_puts(buf, ".Nm\n");
	if (command->about && command->about[0])
		write_paragraphs(buf, command->about);
	if (command->subs)
		write_subs(buf, command);
	ckpt_buf_puts(buf, ".Sh OPTIONS\n");
	ckpt_man_options(buf, command->opts);
	if (command->opts && command->opts->kind == CKPT_OPT_HEADING)
		macro(buf, "Ss", "General");
	ckpt_man_options(buf, ckpt_opt_builtin);
	if (command->keys) {
		ckpt_buf_puts(buf, ".Sh KEYS\n");
		command->keys(buf);
	}
	write_entries(buf, "ENVIRONMENT", " Ev", command->environment);
	write_entries(buf, "EXIT STATUS", "",
		command->exits ? command->exits : ckpt_exit_entries);
	write_examples(buf, command->examples);
	write_see(buf, command->see);
	write_confined(buf, command->confined);
}
