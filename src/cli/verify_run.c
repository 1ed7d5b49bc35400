/* SPDX-License-Identifier: MIT */
/*
 * The session of ckverify: each operand is a file, or a folder whose files
 * are verified one by one. Whatever goes wrong with an operand is a finding of
 * its result, so that no output format loses it; the session itself fails only
 * for want of memory or because standard output does.
 */
#include "cli/verify.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/verify_walk.h"
#include "io/temporary_name.h"

void
ckpt_verify_session_init(struct ckpt_verify_session *s,
	const struct ckpt_verify_options *options, bool (*interrupted)(void))
{
	memset(s, 0, sizeof *s);
	s->options = options;
	s->interrupted = interrupted;
	s->held =
		options->values == CKPT_VALUES_OFF || options->max_header != 0;
	ckpt_screen_init(&s->screen, options->color, 1);
	ckpt_progress_init(&s->progress, options->progress, stderr);
	ckpt_buf_init(&s->out);
	ckpt_buf_init(&s->refused_path);
}

void
ckpt_verify_session_release(struct ckpt_verify_session *s)
{
	ckpt_progress_release(&s->progress);
	ckpt_buf_release(&s->out);
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

/* The progress of a run, which is also where it can be cancelled. */
static bool
on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct ckpt_verify_session *s = ctx;

	ckpt_progress_update(
		&s->progress, done, total ? total : CKPT_PROGRESS_UNKNOWN);
	return !s->interrupted();
}

static struct ckpt_options
run_options(struct ckpt_verify_session *s)
{
	return (struct ckpt_options){
		.max_memory = s->options->max_memory,
		.max_header = s->options->max_header,
		.values = s->options->values,
		.profile = s->options->profile,
		.progress = on_progress,
		.progress_ctx = s,
	};
}

static bool
preview_file(struct ckpt_verify_session *s, const char *path)
{
	struct ckpt_options options = run_options(s);
	bool opened;
	const struct ckpt_format *format = ckpt_verify_peek(path, &opened);
	const char *refused =
		format ? ckpt_format_refuses(format, &options) : NULL;

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

	if (!s->held || strcmp(operand, "-") == 0 || stat(operand, &st) != 0)
		return;
	if (S_ISREG(st.st_mode))
		preview_file(s, operand);
	else if (S_ISDIR(st.st_mode) &&
		 ckpt_verify_walk(operand, s->options->recursive, preview_found,
			 s) != CKPT_OK)
		return; /* said when the folder is walked in earnest */
}

static bool
was(const struct ckpt_run *run, enum ckpt_code code)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);

	return primary && primary->rule == ckpt_rule_row(code);
}

/* Verifies one file; set is that of its folder, or NULL. */
static void
verify_file(struct ckpt_verify_session *s, const char *path,
	struct ckpt_result *set, size_t *verdicts)
{
	struct ckpt_options options = run_options(s);
	struct ckpt_run *run = ckpt_run_new(&options);
	struct ckpt_source *source;
	struct ckpt_result result;
	enum ckpt_verdict verdict;

	if (!run) {
		s->memory = true;
		return;
	}
	ckpt_progress_begin(&s->progress, path);
	source = ckpt_source_open(path);
	verdict = source ? ckpt_verify(run, source)
			 : ckpt_run_trouble(run, errno);
	ckpt_source_close(source);
	ckpt_progress_end(&s->progress);
	ckpt_result_init(&result, path, run, verdict,
		s->options->fail_on == CKPT_FAIL_ON_WARNING);
	if (was(run, CKPT_D_OPTION)) {
		ckpt_verify_refuse(s,
			ckpt_format_refuses(run->format, &options), path,
			run->format->name);
	} else {
		s->cut = s->cut || was(run, CKPT_D_CANCELLED);
		ckpt_verify_say(s, &result);
		if (set) {
			ckpt_result_add(set, &result);
			verdicts[verdict]++;
		}
	}
	ckpt_run_free(run);
}

/* A folder that is being verified. */
struct folder {
	struct ckpt_verify_session *session;
	struct ckpt_run *run; /* of the findings about the folder */
	struct ckpt_result members;
	size_t verdicts[CKPT_NOT_VERIFIED + 1];
	uint64_t finds; /* findings so far: their order */
};

/* A finding about the file called name in the folder. */
static void
add(struct folder *f, enum ckpt_code code, const char *name, const char *found)
{
	struct ckpt_buf path;

	ckpt_buf_init(&path);
	ckpt_buf_escape(&path, name, strlen(name), 0);
	if (path.failed)
		f->session->memory = true;
	else
		ckpt_run_add(f->run, code, f->finds++,
			&(struct ckpt_diag){
				.path = path.p ? path.p : "",
				.found = found ? ckpt_v_text(found)
					       : ckpt_v_none(),
			});
	ckpt_buf_release(&path);
}

static void
add_temporary(struct folder *f, const char *name)
{
	const char *slash = strrchr(name, '/');
	struct ckpt_temporary_name parts;
	struct ckpt_buf found;

	if (!ckpt_temporary_name_parse(slash ? slash + 1 : name, &parts))
		return;
	ckpt_buf_init(&found);
	ckpt_buf_puts(&found, "an unfinished copy of ");
	ckpt_buf_escape(&found, parts.name, parts.n, 0);
	ckpt_buf_printf(&found, "%s by process %llu", parts.whole ? "" : "...",
		(unsigned long long)parts.pid);
	if (found.failed)
		f->session->memory = true;
	else
		add(f, CKPT_D_ORPHAN_TEMPORARY, name, found.p);
	ckpt_buf_release(&found);
}

static bool
visit(void *ctx, const struct ckpt_found *found)
{
	struct folder *f = ctx;
	struct ckpt_verify_session *s = f->session;

	if (s->interrupted()) {
		s->cut = true;
		return false;
	}
	switch (found->kind) {
	case CKPT_FOUND_MEMBER:
		verify_file(s, found->path, &f->members, f->verdicts);
		break;
	case CKPT_FOUND_TEMPORARY: add_temporary(f, found->name); break;
	case CKPT_FOUND_TROUBLE:
		add(f, CKPT_D_IO, found->name, strerror(found->error));
		break;
	}
	return ckpt_verify_going(s);
}

static uint64_t
add_counts(struct folder *f)
{
	const size_t *n = f->verdicts;
	uint64_t all = n[CKPT_VALID] + n[CKPT_INVALID] + n[CKPT_UNSUPPORTED] +
		       n[CKPT_NOT_VERIFIED];

	ckpt_run_fact(f->run, "checkpoints", ckpt_v_u64(all));
	ckpt_run_fact(f->run, "valid", ckpt_v_u64(n[CKPT_VALID]));
	ckpt_run_fact(f->run, "invalid", ckpt_v_u64(n[CKPT_INVALID]));
	ckpt_run_fact(f->run, "unsupported", ckpt_v_u64(n[CKPT_UNSUPPORTED]));
	ckpt_run_fact(f->run, "not_verified", ckpt_v_u64(n[CKPT_NOT_VERIFIED]));
	return all;
}

/* The result of the folder, after those of its members. With -r each file
 * stands on its own, and the folder is only said if it has findings. */
static void
say_folder(struct folder *f, const char *path, enum ckpt_status walked)
{
	static const char *const brief[] = { "checkpoints", "invalid",
		"unsupported", "not_verified", NULL };
	struct ckpt_verify_session *s = f->session;
	struct ckpt_result result;
	enum ckpt_verdict verdict;

	if (walked != CKPT_OK)
		add(f, CKPT_D_IO, "", strerror(errno));
	if (s->cut)
		add(f, CKPT_D_CANCELLED, "", NULL);
	if (add_counts(f) == 0 && !ckpt_run_primary(f->run))
		add(f, CKPT_D_NOTHING_TO_VERIFY, "", NULL);
	ckpt_diags_close(&f->run->diags);
	if (s->options->recursive && ckpt_run_finding_count(f->run) == 0)
		return;
	verdict = ckpt_diags_verdict(&f->run->diags);
	ckpt_result_init(&result, path, f->run, verdict,
		s->options->fail_on == CKPT_FAIL_ON_WARNING);
	result.kind = "folder";
	result.brief = brief;
	ckpt_result_add(&result, &f->members);
	ckpt_verify_say(s, &result);
}

static void
verify_folder(struct ckpt_verify_session *s, const char *path)
{
	struct folder f = { .session = s };
	enum ckpt_status walked;

	f.run = ckpt_run_new(NULL);
	if (!f.run) {
		s->memory = true;
		return;
	}
	walked = ckpt_verify_walk(path, s->options->recursive, visit, &f);
	if (!s->memory && !s->output_error && !s->refused)
		say_folder(&f, path, walked);
	ckpt_run_free(f.run);
}

void
ckpt_verify_operand(struct ckpt_verify_session *s, const char *operand)
{
	struct stat st;

	if (s->interrupted()) {
		s->cut = true;
		return;
	}
	if (strcmp(operand, "-") != 0 && stat(operand, &st) == 0 &&
		S_ISDIR(st.st_mode))
		verify_folder(s, operand);
	else
		verify_file(s, operand, NULL, NULL);
}
