/* SPDX-License-Identifier: MIT */
/*
 * What the options of ckinspect mean together. An option that cannot apply is
 * an error, never ignored.
 */
#include "cli/inspect.h"

#include <string.h>

static bool
read_number(const char *text, size_t n, uint64_t *number)
{
	static const struct ckpt_opt row = { .kind = CKPT_OPT_U64 };
	struct ckpt_buf why;
	char word[32];
	bool ok;

	if (n >= sizeof word)
		return false;
	memcpy(word, text, n);
	word[n] = '\0';
	ckpt_buf_init(&why);
	ok = ckpt_opt_store(&row, word, number, &why);
	ckpt_buf_release(&why);
	return ok;
}

/* OFFSET:LENGTH */
static bool
read_range(const char *text, struct inspect_range *range)
{
	size_t n = strcspn(text, ":");

	return text[n] == ':' && read_number(text, n, &range->off) &&
	       read_number(text + n + 1, strlen(text + n + 1), &range->len) &&
	       range->len > 0;
}

bool
inspect_prints(const struct ckpt_args *args)
{
	static const char *const names[] = { "batch", "at", "hex-range",
		"format", "verbose", "html" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (ckpt_args_find(args, names[i]))
			return true;
	return false;
}

/* The page shows everything, in one form. */
static bool
settle_html(struct inspect *in, struct ckpt_args *args, const char *path)
{
	static const char *const others[] = { "batch", "at", "hex-range",
		"format", "verbose" };

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (ckpt_args_find(args, others[i]))
			return ckpt_args_fail(args,
				"--html cannot be given together with ",
				others[i], "");
	in->section = INSPECT_HTML;
	return inspect_html_apart(args, in->path, path);
}

bool
inspect_settle(struct inspect *in, struct ckpt_args *args,
	const struct inspect_options *o)
{
	bool at = ckpt_args_find(args, "at") != NULL;

	in->path = args->operands[0];
	in->other = args->operand_count > 1 ? args->operands[1] : NULL;
	in->section = at ? INSPECT_AT : (enum inspect_section_id)o->batch;
	in->json = o->format == 1;
	in->verbose = o->verbose;
	in->offset = o->at;
	in->max_memory = o->max_memory;
	if (in->other && inspect_prints(args))
		return ckpt_args_fail(args,
			"two files are compared in the viewer only", NULL, "");
	if (at && ckpt_args_find(args, "batch"))
		return ckpt_args_fail(args,
			"--at and --batch cannot be given together", NULL, "");
	if (o->no_mouse && inspect_prints(args))
		return ckpt_args_fail(args,
			"--no-mouse applies to the viewer only", NULL, "");
	if (o->html)
		return settle_html(in, args, o->html);
	if (!o->hex_range)
		return true;
	if (in->section != INSPECT_HEX)
		return ckpt_args_fail(args,
			"--hex-range applies to --batch=hex only", NULL, "");
	in->has_range = true;
	if (read_range(o->hex_range, &in->range))
		return true;
	return ckpt_args_fail(
		args, "--hex-range: ", o->hex_range, " is not OFFSET:LENGTH");
}
