/* SPDX-License-Identifier: MIT */
/*
 * ckinspect: shows a checkpoint. This file makes sense of the options and
 * opens the file; each section stands in a file of its own (cli/inspect.h).
 * The exit status says whether the file could be shown, not what it is worth.
 */
#include "cli/inspect.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/progress.h"
#include "wire/value.h"

static bool
report_progress(void *ctx, uint64_t done, uint64_t total)
{
	ckpt_progress_update(ctx, done, total ? total : CKPT_PROGRESS_UNKNOWN);
	return true;
}

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

/* What options mean together; false with the usage error noted. */
static bool
settle(struct inspect *in, struct ckpt_args *args,
	const struct inspect_options *o)
{
	bool at = ckpt_args_find(args, "at") != NULL;

	in->path = args->operands[0];
	in->section = at ? INSPECT_AT : (enum inspect_section_id)o->batch;
	in->json = o->format == 1;
	in->verbose = o->verbose;
	in->offset = o->at;
	in->max_memory = o->max_memory;
	if (at && ckpt_args_find(args, "batch"))
		return ckpt_args_fail(args,
			"--at and --batch cannot be given together", NULL, "");
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

static int
complain(const struct inspect *in, const char *what)
{
	struct ckpt_buf name;

	ckpt_buf_init(&name);
	ckpt_buf_escape(&name, in->path, strlen(in->path), 0);
	fprintf(stderr, "ckinspect: %s: %s\n", name.p ? name.p : "", what);
	ckpt_buf_release(&name);
	return CKPT_EXIT_TROUBLE;
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
show(struct inspect *in, struct ckpt_args *args, struct ckpt_progress *progress)
{
	struct ckpt_source *source = ckpt_source_open(in->path);
	int status;
	bool loaded;

	if (!source)
		return complain(in, strerror(errno));
	ckpt_progress_begin(progress, in->path);
	loaded = inspect_load(in, source);
	ckpt_progress_end(progress);
	if (!loaded)
		return complain(in, "not enough memory");
	status = trouble(in);
	if (status == CKPT_EXIT_OK && !reaches(in, args))
		return ckpt_args_report(args);
	if (!inspect_show(in))
		return complain(in, "not enough memory");
	return in->write_failed ? complain(in, "standard output failed")
				: status;
}

int
main(int argc, char **argv)
{
	struct inspect in = { .stream = stdout };
	struct inspect_options options = { 0 };
	struct ckpt_progress progress;
	struct ckpt_args args;
	int status;

	if (!ckpt_args_parse(&args, &inspect_command, &options, argc, argv) ||
		!settle(&in, &args, &options)) {
		status = ckpt_args_report(&args);
		ckpt_args_release(&args);
		return status;
	}
	ckpt_screen_init(&in.screen, (enum ckpt_when)options.color, 1);
	ckpt_progress_init(&progress, (enum ckpt_when)options.progress, stderr);
	in.progress = report_progress;
	in.progress_ctx = &progress;
	status = show(&in, &args, &progress);
	ckpt_progress_release(&progress);
	inspect_release(&in);
	ckpt_args_release(&args);
	return status;
}
