/* SPDX-License-Identifier: MIT */
/*
 * What the subcommands of ckforge share: giving up when they are asked to,
 * and saying what came of a save. The result goes to standard output, or to
 * standard error when the file itself went there.
 */
#include "cli/forge.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "wire/value.h"

static volatile sig_atomic_t caught;

static void
on_signal(int number)
{
	caught = number;
}

void
forge_catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool
forge_interrupted(void)
{
	return caught != 0;
}

/* ---- Reports ------------------------------------------------------------ */

void
forge_made(struct ckpt_buf *out, const char *path,
	const struct ckpt_format *format, uint64_t size,
	const struct ckpt_value *label)
{
	ckpt_buf_escape(out, path, strlen(path), 0);
	ckpt_buf_printf(out, ": forged: no training lineage (%s, %llu bytes",
		format->name, (unsigned long long)size);
	if (label->kind != CKPT_V_NONE) {
		ckpt_buf_puts(out, ", ");
		ckpt_value_write(out, label);
	}
	ckpt_buf_puts(out, ")\n");
}

static void
say_cause(struct ckpt_buf *err, const struct ckpt_save_fault *fault)
{
	ckpt_buf_printf(err, "%s: %s", fault->action ? fault->action : "save",
		fault->reason ? fault->reason : strerror(fault->error));
}

static void
say_leftover(struct ckpt_buf *err, const struct ckpt_save_fault *fault)
{
	if (!fault->leftover)
		return;
	ckpt_buf_puts(err, "; the temporary file ");
	ckpt_buf_escape(err, fault->temporary, strlen(fault->temporary), 0);
	ckpt_buf_printf(err, " is still there: %s", strerror(fault->leftover));
}

int
forge_saved(struct ckpt_args *args, const struct ckpt_save *save,
	const struct ckpt_format *format, enum ckpt_status status)
{
	struct ckpt_buf *err = &args->err;

	if (status == CKPT_OK) {
		forge_made(&args->out, save->path, format, save->size,
			&save->label);
		args->status = CKPT_EXIT_OK;
		return ckpt_args_report(args);
	}
	ckpt_command_spell(err, args->command, args->sub);
	ckpt_buf_puts(err, ": ");
	ckpt_buf_escape(err, save->path, strlen(save->path), 0);
	ckpt_buf_puts(err, ": ");
	if (status == CKPT_ENOTSYNCED)
		ckpt_buf_puts(err, "replaced but not synced: the new file is "
				   "in place and complete, a power cut may "
				   "bring the old one back; ");
	else if (status == CKPT_ENOATOMIC)
		ckpt_buf_puts(err, "no atomic replacement here, and nothing "
				   "was changed; ");
	else
		ckpt_buf_puts(err, "nothing was changed; ");
	say_cause(err, &save->fault);
	say_leftover(err, &save->fault);
	ckpt_buf_puts(err, "\n");
	args->status =
		forge_interrupted() ? CKPT_EXIT_INTERRUPTED : CKPT_EXIT_TROUBLE;
	return ckpt_args_report(args);
}

int
forge_failed(struct ckpt_args *args, const char *what)
{
	ckpt_command_spell(&args->err, args->command, args->sub);
	ckpt_buf_printf(&args->err, ": %s\n", what);
	args->status = CKPT_EXIT_TROUBLE;
	return ckpt_args_report(args);
}
