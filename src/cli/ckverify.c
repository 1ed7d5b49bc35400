/* SPDX-License-Identifier: MIT */
/*
 * ckverify: says whether checkpoint files are valid. The parts: verify_opts.c
 * has the options, verify_run.c the session, verify_set.c sets and folders,
 * verify_batch.c threads, verify_hints.c --what-happened, verify_out.c the
 * output, verify_rules.c --explain. Here they are put together and become an
 * exit status.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/verify.h"

/* Written by the handler only. */
static volatile sig_atomic_t stop;

static void
on_interrupt(int signal)
{
	(void)signal;
	stop = 1;
}

static bool
interrupted(void)
{
	return stop != 0;
}

/* No SA_RESTART: a read that waits for a pipe has to come back. The second
 * signal ends the program at once. A caller that ignores it is obeyed. */
static void
catch_interrupt(void)
{
	struct sigaction now, action = { .sa_handler = on_interrupt };

	sigemptyset(&action.sa_mask);
	action.sa_flags = (int)SA_RESETHAND;
	if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

static int
fail_usage(struct ckpt_args *args, const struct ckpt_verify_session *s)
{
	struct ckpt_buf before;
	char after[64];

	if (s->refused_format)
		snprintf(after, sizeof after, ", which is of the format %s",
			s->refused_format);
	else
		strcpy(after, s->refused_set ? ", which is a set of files"
					     : ", which can be read only once");
	ckpt_buf_init(&before);
	ckpt_buf_printf(&before, "option %s cannot apply to ", s->refused);
	if (before.failed || s->refused_path.failed)
		args->err.failed = true;
	else
		ckpt_args_fail(args, before.p, s->refused_path.p, after);
	ckpt_buf_release(&before);
	return ckpt_args_report(args);
}

static int
verify(struct ckpt_args *args, const struct ckpt_verify_options *options)
{
	struct ckpt_verify_session session;
	struct ckpt_verify_session *s = &session;
	const char *name = args->command->name;
	int status;

	catch_interrupt();
	ckpt_verify_session_init(s, options, interrupted);
	if (!options->latest)
		ckpt_verify_confine(
			s, args, args->operands, args->operand_count);
	for (size_t i = 0; i < args->operand_count && ckpt_verify_going(s); i++)
		ckpt_verify_preview(s, args->operands[i]);
	if (options->latest)
		ckpt_verify_latest(s, args, options->latest);
	else if (ckpt_verify_going(s))
		ckpt_verify_operands(s, args->operands, args->operand_count);
	if (!s->refused)
		ckpt_verify_close(s);
	status = s->exit_code;
	if (s->refused) {
		status = fail_usage(args, s);
	} else if (s->memory) {
		fprintf(stderr, "%s: out of memory\n", name);
		status = CKPT_EXIT_TROUBLE;
	} else if (s->output_error) {
		fprintf(stderr, "%s: standard output: %s\n", name,
			strerror(s->output_error));
		status = CKPT_EXIT_TROUBLE;
	}
	ckpt_verify_session_release(s);
	return status;
}

int
main(int argc, char **argv)
{
	struct ckpt_verify_options options = { 0 };
	struct ckpt_args args;
	int status;

	if (!ckpt_verify_parse(&args, &options, argc, argv)) {
		status = ckpt_args_report(&args);
	} else if (options.explain || options.list_rules) {
		ckpt_verify_rules(&args, &options);
		status = ckpt_args_report(&args);
	} else {
		status = verify(&args, &options);
	}
	ckpt_args_release(&args);
	return status;
}
