/* SPDX-License-Identifier: MIT */
/*
 * What a command line said: to ask for it, to complain about it and to report
 * the end of it. All output of a command line goes through ckpt_args_report:
 * answers to standard output, complaints to standard error, never both.
 */
#include "cli/opt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt.h"

#define SHOWN 120 /* bytes of a word in a message */

bool
ckpt_args_fail(struct ckpt_args *args, const char *before, const char *word,
	const char *after)
{
	struct ckpt_buf *err = &args->err;

	ckpt_command_spell(err, args->command, args->sub);
	ckpt_buf_printf(err, ": %s", before);
	if (word) {
		ckpt_buf_puts(err, "'");
		ckpt_buf_escape(err, word, strlen(word), SHOWN);
		ckpt_buf_puts(err, "'");
	}
	ckpt_buf_printf(err, "%s\nTry '", after);
	ckpt_command_spell(err, args->command, args->sub);
	ckpt_buf_puts(err, " --help'.\n");
	args->status = CKPT_EXIT_USAGE;
	return false;
}

void
ckpt_args_release(struct ckpt_args *args)
{
	free(args->given);
	free(args->operands);
	ckpt_buf_release(&args->out);
	ckpt_buf_release(&args->err);
	memset(args, 0, sizeof *args);
}

const struct ckpt_given *
ckpt_args_find(const struct ckpt_args *args, const char *name)
{
	bool letter = name[0] && !name[1];

	for (size_t i = args->given_count; i-- > 0;) {
		const struct ckpt_opt *opt = args->given[i].opt;

		if (opt->name && strcmp(opt->name, name) == 0)
			return &args->given[i];
		if (letter && opt->letter == name[0])
			return &args->given[i];
	}
	return NULL;
}

int
ckpt_args_report(struct ckpt_args *args)
{
	const char *name = args->command->name;

	if (args->out.failed || args->err.failed) {
		fprintf(stderr, "%s: out of memory\n", name);
		return CKPT_EXIT_TROUBLE;
	}
	if (args->err.n)
		fwrite(args->err.p, 1, args->err.n, stderr);
	if (args->out.n)
		fwrite(args->out.p, 1, args->out.n, stdout);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "%s: standard output: %s\n", name,
			strerror(errno));
		return CKPT_EXIT_TROUBLE;
	}
	return args->status;
}
