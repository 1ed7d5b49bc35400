/* SPDX-License-Identifier: MIT */
/*
 * Checks that the tables of a tool are well made. A mistake in a row is a bug
 * of ours that no user input can bring about, so this runs in the unit tests
 * of each tool and costs the tools nothing.
 */
#include "cli/opt.h"

#include <string.h>

static bool
ascii(const char *text)
{
	for (; text && *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static const char *
row_fault(const struct ckpt_opt *opt)
{
	uint64_t room[2] = { 0 };
	struct ckpt_opt at_zero = *opt;
	struct ckpt_buf why;
	bool ok;

	if (!opt->help || !opt->help[0] || !ascii(opt->help))
		return "help is missing, or is not ASCII";
	if (opt->kind == CKPT_OPT_HEADING)
		return NULL;
	if (!opt->name && !opt->letter)
		return "neither name nor letter";
	if (opt->name && strlen(opt->name) > 40)
		return "the name is longer than 40 bytes";
	if (opt->kind == CKPT_OPT_CHOICE && !opt->words)
		return "a choice without words";
	if (ckpt_opt_valued(opt) && !opt->arg && !opt->words)
		return "the metavariable is missing";
	if (!ckpt_opt_valued(opt) && (opt->arg || opt->optional || opt->preset))
		return "a flag with a value";
	if (opt->optional && opt->kind != CKPT_OPT_CHOICE &&
		opt->kind != CKPT_OPT_LIST)
		return "only a choice or a list can have an optional value";
	if (!opt->preset)
		return NULL;
	at_zero.slot = 0;
	ckpt_buf_init(&why);
	ok = ckpt_opt_store(&at_zero, opt->preset, room, &why);
	ckpt_buf_release(&why);
	return ok ? NULL : "the preset is not a legal value";
}

/* Is opt's name or letter taken by a row of opts before the row end? */
static bool
taken(const struct ckpt_opt *opts, const struct ckpt_opt *end,
	const struct ckpt_opt *opt)
{
	for (; opts && opts->kind && opts != end; opts++) {
		if (opts->kind == CKPT_OPT_HEADING)
			continue;
		if (opt->letter && opts->letter == opt->letter)
			return true;
		if (opt->name && opts->name &&
			strcmp(opts->name, opt->name) == 0)
			return true;
	}
	return false;
}

static bool
check_rows(const struct ckpt_opt *opts, const struct ckpt_opt *common,
	struct ckpt_buf *why)
{
	for (const struct ckpt_opt *opt = opts; opt && opt->kind; opt++) {
		const char *fault = row_fault(opt);

		if (!fault && opt->kind != CKPT_OPT_HEADING &&
			(taken(opts, opt, opt) || taken(common, NULL, opt) ||
				taken(ckpt_opt_builtin, NULL, opt)))
			fault = "name or letter are taken";
		if (!fault)
			continue;
		ckpt_buf_printf(why, "row %zu", (size_t)(opt - opts));
		if (opt->name)
			ckpt_buf_printf(why, " (--%s)", opt->name);
		ckpt_buf_printf(why, ": %s", fault);
		return false;
	}
	return true;
}

bool
ckpt_command_check(const struct ckpt_command *command, struct ckpt_buf *why)
{
	const struct ckpt_command *sub = command->subs;

	if (!command->name || !command->title || !command->title[0] ||
		!command->use || !command->date) {
		ckpt_buf_puts(why, "name, title, use or date are missing");
		return false;
	}
	if (!check_rows(command->opts, NULL, why))
		return false;
	for (; sub && sub->name; sub++) {
		if (!sub->title || !sub->title[0] || !sub->use ||
			strlen(sub->name) > 40) {
			ckpt_buf_printf(why,
				"subcommand %s: title or use are "
				"missing, or the name is long",
				sub->name);
			return false;
		}
		if (!check_rows(sub->opts, command->opts, why))
			return false;
	}
	return true;
}
