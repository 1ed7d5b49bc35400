/* SPDX-License-Identifier: MIT */
/*
 * ckpt-rules(7): what a verdict means, and every row of the findings table.
 */
#include "cli/describe.h"

#include <ctype.h>
#include <string.h>

#include "cli/opt.h"
#include "sink/mdoc.h"
#include "sink/report.h"

/* The families, by the thousands of their ids. */
static const struct {
	char digit;
	const char *title;
} families[] = {
	{ '1', "Container and extent" },
	{ '2', "Header syntax" },
	{ '3', "Records and layout" },
	{ '4', "Values" },
	{ '5', "Tokenizer, model and optimizer" },
	{ '6', "Sets of files" },
	{ '7', "Replay" },
	{ '8', "Provenance" },
	{ '9', "Reading and limits" },
};

static const char *const about[] = {
	"Whatever the tools find wrong with a file is a finding, and every "
	"finding belongs to one of the rules below. A rule has an identifier, "
	"which is never given to another rule, and a name. "
	"`ckverify --explain=CK1006` says the same as this page about one "
	"rule.",
	"The severity of a finding is error, warning or note. Only errors "
	"decide about a file; warnings and notes leave the verdict as it is. "
	"Of several errors the primary one decides alone, whatever else is "
	"wrong: it is the error of lowest rank, the one that a loader which "
	"checks one thing after the other meets first. All the others are "
	"reported too. A finding that may well follow from another one says "
	"so.",
	"The class of a finding says what it means for the file: corrupt, its "
	"content breaks a rule; unsupported, it is recognised but needs "
	"something that is not implemented; limit and io, it could not be "
	"checked to the end; suspicious, it is legal and unlikely.",
	"The check is its place in the list of checks of the file's format. "
	"The kind, if there is one, is the name that the format's reference "
	"loader gives to this error.",
	NULL,
};

static const struct {
	enum ckpt_verdict verdict;
	const char *text;
} verdicts[] = {
	{ CKPT_VALID,
		"Every rule that applies was evaluated, and there is no "
		"error. The file is intact; that does not mean that it is "
		"authentic." },
	{ CKPT_INVALID, "The primary finding is of class corrupt." },
	{ CKPT_UNSUPPORTED, "The primary finding is of class unsupported." },
	{ CKPT_NOT_VERIFIED,
		"The primary finding is of class limit or io: the file could "
		"not be checked. It may be good or bad." },
};

void
ckpt_describe_sentence(struct ckpt_buf *buf, const char *phrase)
{
	struct ckpt_buf text;
	size_t n = strlen(phrase);

	ckpt_buf_init(&text);
	ckpt_buf_printf(&text, "%c%s%s", toupper((unsigned char)phrase[0]),
		phrase + 1, phrase[n - 1] == '.' ? "" : ".");
	if (text.failed)
		buf->failed = true;
	else
		ckpt_mdoc_text(buf, text.p, NULL);
	ckpt_buf_release(&text);
}

static void
write_verdicts(struct ckpt_buf *buf)
{
	ckpt_buf_puts(buf, ".Ss Verdicts\n.Bl -tag -width Ds\n");
	for (size_t i = 0; i < sizeof verdicts / sizeof verdicts[0]; i++) {
		const char *name = ckpt_verdict_name(verdicts[i].verdict);

		ckpt_buf_puts(buf, ".It Sy");
		ckpt_mdoc_arg(buf, name, strlen(name));
		ckpt_buf_printf(buf, " Pq exit status %d\n",
			ckpt_verdict_exit(verdicts[i].verdict));
		ckpt_mdoc_text(buf, verdicts[i].text, NULL);
	}
	ckpt_buf_puts(buf, ".El\n");
}

static void
write_rule(struct ckpt_buf *buf, const struct ckpt_rule *rule)
{
	const char *severity = ckpt_severity_name(rule->severity);
	const char *class_ = ckpt_class_name(rule->class_);

	ckpt_buf_printf(buf, ".It Sy %s", rule->id);
	ckpt_mdoc_arg(buf, rule->slug, strlen(rule->slug));
	ckpt_buf_puts(buf, "\n");
	ckpt_describe_sentence(buf, rule->text);
	ckpt_buf_printf(buf, ".br\n%c%s, %s; check %s",
		toupper((unsigned char)severity[0]), severity + 1, class_,
		rule->check);
	if (rule->seed_kind)
		ckpt_buf_printf(buf, "; kind %s", rule->seed_kind);
	ckpt_buf_puts(buf, ".\n.br\nLikely cause:\n");
	ckpt_mdoc_text(buf, rule->why, NULL);
	if (rule->next) {
		ckpt_buf_puts(buf, ".br\nNext:\n");
		ckpt_mdoc_text(buf, rule->next, NULL);
	}
}

static void
write_family(struct ckpt_buf *buf, char digit, const char *title)
{
	bool open = false;

	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const struct ckpt_rule *rule = ckpt_rule_at(i);

		if (rule->id[2] != digit)
			continue;
		if (!open)
			ckpt_buf_printf(
				buf, ".Ss %s\n.Bl -tag -width Ds\n", title);
		open = true;
		write_rule(buf, rule);
	}
	if (open)
		ckpt_buf_puts(buf, ".El\n");
}

/* The name that comes behind another in the order of manuals, or NULL. */
static const char *
next_format(const char *last)
{
	const char *next = NULL;

	for (size_t i = 0; ckpt_format_at(i); i++) {
		const char *name = ckpt_format_at(i)->name;

		if (strcmp(name, last) > 0 && (!next || strcmp(name, next) < 0))
			next = name;
	}
	return next;
}

void
ckpt_describe_rules(struct ckpt_buf *buf)
{
	ckpt_buf_puts(buf, ".\\\" Made by ckforge describe --as=rules; do not "
			   "edit.\n"
			   ".Dd November 29, 2026\n"
			   ".Dt CKPT-RULES 7\n.Os\n.Sh NAME\n"
			   ".Nm ckpt-rules\n"
			   ".Nd what can be wrong with a checkpoint file\n"
			   ".Sh DESCRIPTION\n");
	for (size_t i = 0; about[i]; i++) {
		if (i)
			ckpt_buf_puts(buf, ".Pp\n");
		ckpt_mdoc_text(buf, about[i], NULL);
	}
	write_verdicts(buf);
	ckpt_buf_puts(buf, ".Sh RULES\n");
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		write_family(buf, families[i].digit, families[i].title);
	ckpt_buf_puts(buf, ".Sh EXIT STATUS\n"
			   "Of several files, 3 beats 1 beats 0.\n"
			   ".Bl -tag -width Ds\n");
	for (const struct ckpt_entry *e = ckpt_exit_entries; e->name; e++) {
		ckpt_buf_printf(buf, ".It %s\n", e->name);
		ckpt_mdoc_text(buf, e->text, NULL);
	}
	ckpt_buf_puts(buf, ".El\n.Sh SEE ALSO\n"
			   ".Xr ckforge 1 ,\n.Xr ckinspect 1 ,\n"
			   ".Xr ckverify 1");
	for (const char *last = ""; (last = next_format(last));)
		ckpt_buf_printf(buf, " ,\n.Xr %s 5", last);
	ckpt_buf_puts(buf, "\n");
}
