/* SPDX-License-Identifier: MIT */
/*
 * ckforge fixture: known checkpoints that are trained here, from nothing, by
 * the arithmetic that replays them. The bytes are the same on every machine
 * whose mathematical functions give the same bits.
 */
#include "cli/forge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ckpt.h"

#include "cli/forge_edit.h"
#include "replay/fixture.h"
#include "wire/value.h"

static const struct {
	const char *name;
	enum ckpt_status (*train)(const struct ckpt_format *format,
		const struct ckpt_fixture_watch *watch, struct ckpt_buf *bytes,
		struct ckpt_value *label);
} fixtures[] = {
	{ "selected-step8", ckpt_fixture_selected_step8 },
};

enum { FIXTURES = sizeof fixtures / sizeof fixtures[0] };

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .letter = 'o', .name = "output", .kind = CKPT_OPT_TEXT,
		.arg = "FILE",
		.slot = offsetof(struct forge_fixture_options, output),
		.help = "write to FILE, atomically, or to standard output if "
			"it is -; needed" },
	{ 0 },
};
/* clang-format on */

static const char *const use[] = { "NAME -o FILE", NULL };

static const char *const about[] = {
	"trains a known checkpoint from nothing. NAME is `selected-step8`: a "
	"vocabulary of five digits, one layer, width 4; eight updates over "
	"two short documents, with a schedule and clipping; the step with "
	"the smallest validation loss is kept, which is the eighth.",
	NULL,
};

const struct ckpt_command forge_fixture_command = {
	.name = "fixture",
	.title = "train a known checkpoint from nothing",
	.use = use,
	.about = about,
	.opts = opts,
	.operand = "NAME",
	.least = 1,
	.most = 1,
};

static bool
find(const char *name, size_t *i)
{
	for (*i = 0; *i < FIXTURES; ++*i)
		if (strcmp(fixtures[*i].name, name) == 0)
			return true;
	return false;
}

/* What there is instead of name. */
static void
say_names(struct ckpt_buf *why, const char *name)
{
	ckpt_buf_puts(why, "no fixture '");
	ckpt_buf_escape(why, name, strlen(name), 120);
	ckpt_buf_puts(why, "'; there is");
	for (size_t i = 0; i < FIXTURES; i++)
		ckpt_buf_printf(
			why, "%s %s", i > 0 ? "," : "", fixtures[i].name);
}

int
forge_fixture_bytes(const char *name, struct ckpt_buf *bytes,
	struct ckpt_value *label, struct ckpt_buf *why)
{
	enum ckpt_status status;
	size_t i;

	if (!find(name, &i)) {
		say_names(why, name);
		return CKPT_EXIT_USAGE;
	}
	status = fixtures[i].train(ckpt_format_at(0), NULL, bytes, label);
	if (status == CKPT_OK)
		return CKPT_EXIT_OK;
	ckpt_buf_puts(why, status == CKPT_ENOMEM
				   ? "out of memory"
				   : "the arithmetic of this machine does "
				     "not carry the training through");
	return CKPT_EXIT_TROUBLE;
}

/* "FILE: trained from nothing (selected-step8, llmcp35, 6330 bytes, ...)". */
static void
say_made(struct ckpt_buf *out, const char *path, const char *name, size_t n,
	const struct ckpt_value *label)
{
	ckpt_buf_escape(out, path, strlen(path), 0);
	ckpt_buf_printf(out, ": trained from nothing (%s, %s, %zu bytes, ",
		name, ckpt_format_at(0)->name, n);
	ckpt_value_write(out, label);
	ckpt_buf_puts(out, ")\n");
}

static int
put(struct ckpt_args *args, const char *path, const struct ckpt_buf *bytes,
	const struct ckpt_value *label, struct ckpt_buf *why)
{
	bool to_stdout = strcmp(path, "-") == 0;

	if (to_stdout && (fwrite(bytes->p, 1, bytes->n, stdout) != bytes->n ||
				 fflush(stdout) != 0))
		return forge_failed(args, strerror(errno));
	if (!to_stdout && forge_write(path, bytes, why) != CKPT_EXIT_OK)
		return forge_failed(args, why->p ? why->p : "out of memory");
	say_made(to_stdout ? &args->err : &args->out, path, args->operands[0],
		bytes->n, label);
	args->status = CKPT_EXIT_OK;
	return ckpt_args_report(args);
}

int
forge_fixture(struct ckpt_args *args, const void *options)
{
	const struct forge_fixture_options *o = options;
	const char *name = args->operands[0];
	struct ckpt_buf bytes = { 0 }, why = { 0 };
	struct ckpt_value label;
	int status;

	if (!o->output) {
		ckpt_args_fail(args, "option ", "--output", " is missing");
		return ckpt_args_report(args);
	}
	if (strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO)) {
		ckpt_args_fail(args, "standard output is a terminal", NULL, "");
		return ckpt_args_report(args);
	}
	status = forge_fixture_bytes(name, &bytes, &label, &why);
	if (status == CKPT_EXIT_OK) {
		status = put(args, o->output, &bytes, &label, &why);
	} else if (status == CKPT_EXIT_USAGE) {
		ckpt_args_fail(
			args, why.p ? why.p : "no such fixture", NULL, "");
		status = ckpt_args_report(args);
	} else {
		status = forge_failed(args, why.p ? why.p : "out of memory");
	}
	ckpt_buf_release(&bytes);
	ckpt_buf_release(&why);
	return status;
}
