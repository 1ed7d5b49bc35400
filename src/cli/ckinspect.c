/* SPDX-License-Identifier: MIT */
/*
 * ckinspect: shows a checkpoint, in the viewer (view/loop.h) or printed, each
 * section by a file of its own (cli/inspect.h). The exit status says whether
 * the file could be shown, not what it is worth. Only this tool is linked with
 * the library of the terminal, so only this file may call the viewer.
 */
#include "cli/inspect.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>

#include "cli/progress.h"
#include "view/loop.h"
#include "wire/value.h"

static bool
report_progress(void *ctx, uint64_t done, uint64_t total)
{
	ckpt_progress_update(ctx, done, total ? total : CKPT_PROGRESS_UNKNOWN);
	return true;
}

static int
complain_of(const char *path, const char *what)
{
	struct ckpt_buf name;

	ckpt_buf_init(&name);
	ckpt_buf_escape(&name, path, strlen(path), 0);
	fprintf(stderr, "ckinspect: %s: %s\n", name.p ? name.p : "", what);
	ckpt_buf_release(&name);
	return CKPT_EXIT_TROUBLE;
}

static int
complain(const struct inspect *in, const char *what)
{
	return complain_of(in->path, what);
}

/* Whether the offset that was asked for is in the file. */
static bool
reaches(const struct inspect *in, struct ckpt_args *args)
{
	uint64_t off = in->section == INSPECT_AT ? in->offset : in->range.off;
	char text[128];

	if ((in->section != INSPECT_AT && !in->has_range) ||
		off < in->run->size)
		return true;
	snprintf(text, sizeof text,
		": offset %" PRIu64 " is behind the end, the file has %" PRIu64
		" bytes",
		off, in->run->size);
	return ckpt_args_fail(args, "", in->path, text);
}

/* What kept the file from being read to where it had to be. */
static int
trouble(const struct inspect *in)
{
	const struct ckpt_diag *d = ckpt_run_finding(in->run, 0);
	struct ckpt_buf text;

	if (!d || d->rank.phase != '0')
		return CKPT_EXIT_OK;
	ckpt_buf_init(&text);
	ckpt_buf_printf(&text, "%s %s: ", d->rule->id, d->rule->slug);
	ckpt_diag_message(&text, d);
	ckpt_buf_puts(&text, ": ");
	ckpt_value_write(&text, &d->found);
	complain(in, text.p ? text.p : "");
	ckpt_buf_release(&text);
	return CKPT_EXIT_TROUBLE;
}

static int
show(struct inspect *in, struct ckpt_args *args,
	const struct inspect_options *options, struct ckpt_progress *progress)
{
	struct ckpt_source *source = ckpt_source_open(in->path);
	int status, saved;
	bool loaded;

	if (!source)
		return complain(in, strerror(errno));
	inspect_confine(args, options->html);
	ckpt_progress_begin(progress, in->path);
	loaded = inspect_load(in, source);
	ckpt_progress_end(progress);
	if (!loaded)
		return complain(in, "not enough memory");
	status = trouble(in);
	if (status == CKPT_EXIT_OK && !reaches(in, args))
		return ckpt_args_report(args);
	if (in->section == INSPECT_HTML) {
		saved = inspect_html_save(in, options->html);
		return saved == CKPT_EXIT_OK ? status : saved;
	}
	if (!inspect_show(in))
		return complain(in, "not enough memory");
	return in->write_failed ? complain(in, "standard output failed")
				: status;
}

/* Why two files are not compared. */
static int
complain_of_two(const struct inspect *in)
{
	const char *path = inspect_missing(in);

	if (path)
		return complain_of(path, strerror(errno));
	return complain(in,
		"two files are compared in a terminal only, both of them "
		"files that can be read at any place");
}

static int
browse(const struct inspect *in, const struct ckpt_args *args,
	const struct inspect_options *options)
{
	struct view_loop_options loop = {
		.path = in->path,
		.other = in->other,
		.max_memory = options->max_memory,
		.term = { .color = in->screen.color,
			.utf8 = in->screen.utf8,
			.mouse = !options->no_mouse },
	};
	int status;

	setlocale(LC_CTYPE, "");
	inspect_confine_viewer(args, in->path, in->other);
	status = view_loop_run(&loop);
	setlocale(LC_CTYPE, "C");
	return status;
}

int
main(int argc, char **argv)
{
	struct inspect in = { .stream = stdout };
	struct inspect_options options = { 0 };
	struct ckpt_progress progress;
	struct ckpt_args args;
	int status = VIEW_REFUSED;

	if (!ckpt_args_parse(&args, &inspect_command, &options, argc, argv) ||
		!inspect_settle(&in, &args, &options)) {
		status = ckpt_args_report(&args);
		ckpt_args_release(&args);
		return status;
	}
	ckpt_screen_init(&in.screen, (enum ckpt_when)options.color, 1);
	ckpt_progress_init(&progress, (enum ckpt_when)options.progress, stderr);
	in.progress = report_progress;
	in.progress_ctx = &progress;
	if (!inspect_prints(&args) && inspect_can_browse(&in))
		status = browse(&in, &args, &options);
	if (status == VIEW_REFUSED && in.other)
		status = complain_of_two(&in);
	if (status == VIEW_REFUSED)
		status = show(&in, &args, &options, &progress);
	ckpt_progress_release(&progress);
	inspect_release(&in);
	ckpt_args_release(&args);
	return status;
}
