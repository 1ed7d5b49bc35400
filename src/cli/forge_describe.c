/* SPDX-License-Identifier: MIT */
/*
 * ckforge describe: prints what is generated from the tables, so that the
 * build can compare it with what is committed.
 */
#include "cli/forge.h"

#include <stddef.h>

#include "cli/describe.h"

enum { MANUAL, DICTIONARY, RULES, NAMES };

static const char *const words[] = { "manual", "dictionary", "rules", "names",
	NULL };

static const struct ckpt_opt opts[] = {
	{ .name = "as",
		.kind = CKPT_OPT_CHOICE,
		.arg = "WHAT",
		.words = words,
		.preset = "manual",
		.slot = offsetof(struct forge_describe_options, as),
		.help = "manual and dictionary describe FORMAT; rules are "
			"those "
			"of all formats, names the formats that there are" },
	{ 0 },
};

static const char *const use[] = { "[--as=WHAT] [FORMAT]", NULL };

static const char *const about[] = {
	"Prints what the tables of this program say: the manual page of a "
	"format, the dictionary for fuzzing it, or the manual page of all "
	"rules. Nothing is forged.",
	NULL,
};

const struct ckpt_command forge_describe_command = {
	.name = "describe",
	.title = "print what is generated from the tables",
	.use = use,
	.about = about,
	.opts = opts,
	.operand = "FORMAT",
	.most = 1,
};

int
forge_describe(struct ckpt_args *args, const void *options)
{
	const struct forge_describe_options *o = options;
	bool needs = o->as == MANUAL || o->as == DICTIONARY;
	const struct ckpt_format *format = NULL;
	struct ckpt_buf *out = &args->out;

	if (needs != (args->operand_count == 1)) {
		ckpt_args_fail(args, needs ? "which format?" : "no format here",
			NULL, "");
		return ckpt_args_report(args);
	}
	if (needs)
		format = ckpt_format_find(args->operands[0]);
	if (needs && !format) {
		ckpt_args_fail(
			args, "there is no format ", args->operands[0], "");
		return ckpt_args_report(args);
	}
	if (o->as == MANUAL)
		ckpt_describe_manual(out, format);
	else if (o->as == DICTIONARY)
		ckpt_describe_dictionary(out, format);
	else if (o->as == RULES)
		ckpt_describe_rules(out);
	for (size_t i = 0; o->as == NAMES && ckpt_format_at(i); i++)
		ckpt_buf_printf(out, "%s\n", ckpt_format_at(i)->name);
	return ckpt_args_report(args);
}
