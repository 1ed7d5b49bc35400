/* SPDX-License-Identifier: MIT */
/*
 * The session of ckverify: each operand is a file, or a set of files. Whatever
 * goes wrong with an operand is a finding of its result, so that no output
 * format loses it; the session itself fails only for want of memory or because
 * standard output does.
 */
#include "cli/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/verify_locate.h"
#include "cli/verify_walk.h"
#include "sets/set.h"

void
ckpt_verify_session_init(struct ckpt_verify_session *s,
	const struct ckpt_verify_options *options, bool (*interrupted)(void))
{
	memset(s, 0, sizeof *s);
	s->options = options;
	s->interrupted = interrupted;
	s->held = options->values == CKPT_VALUES_OFF ||
		  options->max_header != 0 || options->align != 0 ||
		  options->locate;
	ckpt_screen_init(&s->screen, options->color, 1);
	ckpt_progress_init(&s->progress, options->progress, stderr);
	ckpt_buf_init(&s->out);
	ckpt_buf_init(&s->members);
	ckpt_buf_init(&s->refused_path);
}

void
ckpt_verify_session_release(struct ckpt_verify_session *s)
{
	ckpt_progress_release(&s->progress);
	ckpt_buf_release(&s->out);
	ckpt_buf_release(&s->members);
	ckpt_buf_release(&s->refused_path);
}

bool
ckpt_verify_going(const struct ckpt_verify_session *s)
{
	return !s->cut && !s->memory && !s->output_error && !s->refused;
}

void
ckpt_verify_refuse(struct ckpt_verify_session *s, const char *option,
	const char *path, const char *format)
{
	if (s->refused)
		return;
	s->refused = option;
	s->refused_format = format;
	ckpt_buf_puts(&s->refused_path, path);
}

static bool
preview_file(struct ckpt_verify_session *s, const char *path)
{
	const struct ckpt_options options = {
		.max_header = s->options->max_header,
		.align = s->options->align,
		.values = s->options->values,
	};
	bool opened;
	const struct ckpt_format *format = ckpt_entry_peek(path, &opened);
	const char *refused =
		format ? ckpt_format_refuses(format, &options) : NULL;

	if (!refused && s->options->locate && ckpt_verify_no_checksum(format))
		refused = "--locate";
	if (refused)
		ckpt_verify_refuse(s, refused, path, format->name);
	return refused == NULL && !s->interrupted();
}

static bool
preview_found(void *ctx, const struct ckpt_found *found)
{
	return found->kind != CKPT_FOUND_MEMBER ||
	       preview_file(ctx, found->path);
}

void
ckpt_verify_preview(struct ckpt_verify_session *s, const char *operand)
{
	struct stat st;

	if (s->options->locate && ckpt_verify_reads_once(operand))
		ckpt_verify_refuse(s, "--locate", operand, NULL);
	if (s->options->what_happened && ckpt_verify_reads_once(operand))
		ckpt_verify_refuse(s, "--what-happened", operand, NULL);
	if (!s->held || strcmp(operand, "-") == 0 || stat(operand, &st) != 0)
		return;
	if (s->options->repair && S_ISREG(st.st_mode) &&
		ckpt_set_is_index(operand, s->options->max_memory)) {
		s->refused_set = true;
		ckpt_verify_refuse(s, "--propose-repair", operand, NULL);
	} else if (S_ISREG(st.st_mode))
		preview_file(s, operand);
	else if (S_ISDIR(st.st_mode) &&
		 ckpt_verify_walk(operand, s->options->recursive, preview_found,
			 s) != CKPT_OK)
		return; /* said when the folder is walked in earnest */
}

/* A pipe is read on the thread that signals interrupt. */
enum operand_kind { PLAIN, PIPE, FOLDER, INDEX };

static enum operand_kind
kind_of(const struct ckpt_verify_session *s, const char *operand)
{
	struct stat st;

	if (strcmp(operand, "-") == 0)
		return PIPE;
	if (stat(operand, &st) != 0)
		return PLAIN;
	if (S_ISDIR(st.st_mode))
		return FOLDER;
	if (!S_ISREG(st.st_mode))
		return PIPE;
	return ckpt_set_is_index(operand, s->options->max_memory) ? INDEX
								  : PLAIN;
}

static void
hear(void *ctx, size_t job, const struct ckpt_result *result)
{
	(void)job;
	ckpt_verify_pair_hear(ctx, result);
}

static void
verify_operand(struct ckpt_verify_session *s, const char *operand,
	enum operand_kind kind, struct ckpt_verify_pair *pair)
{
	const struct ckpt_verify_job job = { .path = operand };
	const struct ckpt_verify_heard heard = { hear, pair };

	pair->others |= kind == INDEX || kind == FOLDER;
	switch (kind) {
	case PLAIN:
	case PIPE: ckpt_verify_batch(s, &job, 1, &heard); break;
	case INDEX: ckpt_verify_set(s, operand, true); break;
	case FOLDER:
		if (s->options->recursive)
			ckpt_verify_tree(s, operand);
		else
			ckpt_verify_set(s, operand, false);
		break;
	}
}

/* Neighbouring files share the threads. */
void
ckpt_verify_operands(
	struct ckpt_verify_session *s, const char *const *operands, size_t n)
{
	struct ckpt_verify_job *jobs = calloc(n, sizeof *jobs);
	struct ckpt_verify_pair pair = { 0 };
	const struct ckpt_verify_heard heard = { hear, &pair };
	size_t plain = 0;

	s->memory |= !jobs;
	for (size_t i = 0; jobs && i < n && ckpt_verify_going(s); i++) {
		enum operand_kind kind = kind_of(s, operands[i]);

		if (s->interrupted()) {
			s->cut = true;
			break;
		}
		if (kind == PLAIN && s->options->jobs > 1)
			jobs[plain++].path = operands[i];
		if (plain > 0 && (kind != PLAIN || i + 1 == n)) {
			ckpt_verify_batch(s, jobs, plain, &heard);
			plain = 0;
		}
		if ((kind != PLAIN || s->options->jobs <= 1) &&
			ckpt_verify_going(s))
			verify_operand(s, operands[i], kind, &pair);
	}
	if (ckpt_verify_going(s))
		ckpt_verify_pair_say(s, &pair);
	free(jobs);
}

static void
say_no_latest(struct ckpt_verify_session *s, const char *folder, int error)
{
	struct ckpt_run *run = ckpt_run_new(NULL);
	struct ckpt_result result;

	if (!run) {
		s->memory = true;
		return;
	}
	if (error)
		(void)ckpt_run_trouble(run, error);
	else
		ckpt_run_add(run, CKPT_D_NOTHING_TO_VERIFY, 0,
			&(struct ckpt_diag){
				.expected = ckpt_v_text("a checkpoint with a "
							"number in its name"),
			});
	ckpt_diags_close(&run->diags);
	ckpt_result_init(
		&result, folder, run, ckpt_diags_verdict(&run->diags), false);
	result.kind = "folder";
	ckpt_verify_say(s, &result);
	ckpt_run_free(run);
}

void
ckpt_verify_latest(struct ckpt_verify_session *s, const struct ckpt_args *args,
	const char *folder)
{
	char *newest = ckpt_set_latest(folder);
	struct ckpt_verify_pair pair = { 0 };

	if (newest) {
		ckpt_verify_confine(s, args, (const char *[]){ newest }, 1);
		ckpt_verify_preview(s, newest);
		if (ckpt_verify_going(s))
			verify_operand(s, newest, kind_of(s, newest), &pair);
	} else {
		say_no_latest(s, folder, errno);
	}
	free(newest);
}
