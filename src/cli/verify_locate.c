/* SPDX-License-Identifier: MIT */
/*
 * --locate and --propose-repair. The search runs on the thread that verified
 * the file, while it is open; what was found is said behind the findings. The
 * verdict and its exit status stay those of the file as it is, also when a
 * copy was written: a caller that looks at them must not take the damaged file
 * for a good one.
 */
#include "cli/verify_locate.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/destination.h"
#include "sink/json.h"

/* ---- What goes together ------------------------------------------------- */

bool
ckpt_verify_reads_once(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return fstat(STDIN_FILENO, &st) == 0 &&
		       (!S_ISREG(st.st_mode) ||
			       lseek(STDIN_FILENO, 0, SEEK_CUR) != 0);
	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
	       !S_ISDIR(st.st_mode);
}

bool
ckpt_verify_no_checksum(const struct ckpt_format *format)
{
	uint64_t off;

	return format && !ckpt_format_checksum(format, &off);
}

bool
ckpt_verify_repair_settle(
	struct ckpt_args *args, const struct ckpt_verify_options *o)
{
	const char *input = args->operands[0];
	bool standard = strcmp(input, "-") == 0;
	struct stat st;

	if (args->operand_count != 1)
		return ckpt_args_fail(args,
			"option --propose-repair needs exactly one file", NULL,
			"");
	if (strcmp(o->repair, "-") == 0)
		return ckpt_args_fail(args,
			"option --propose-repair needs the name of a file, "
			"not ",
			o->repair, "");
	/* An input that is not there is said when it is opened. */
	if ((standard ? fstat(STDIN_FILENO, &st) : stat(input, &st)) != 0)
		return true;
	/* An index is refused when it may be read, behind the walls. */
	if (S_ISDIR(st.st_mode))
		return ckpt_args_fail(args,
			"option --propose-repair needs one file, not a set: ",
			input, "");
	return ckpt_destination_is_apart(
		       &ckpt_file_ops_posix, o->repair, st.st_dev, st.st_ino) ||
	       ckpt_args_fail(args,
		       "the copy would replace an input: ", o->repair, "");
}

/* ---- Work --------------------------------------------------------------- */

struct ckpt_verify_location *
ckpt_verify_location_new(const struct ckpt_verify_options *wanted,
	struct ckpt_source *source, const struct ckpt_options *options,
	const struct ckpt_run *run)
{
	const struct ckpt_locate_task task = { source, options, run };
	struct ckpt_verify_location *l = calloc(1, sizeof *l);

	if (!l)
		return NULL;
	ckpt_located_init(&l->located, &task);
	l->copy = wanted->repair;
	if (l->copy)
		ckpt_repair_publish(
			&l->repair, &l->located, source, options, l->copy);
	return l;
}

void
ckpt_verify_location_free(struct ckpt_verify_location *l)
{
	if (l)
		ckpt_located_release(&l->located);
	free(l);
}

/* ---- Words -------------------------------------------------------------- */

static bool
written(const struct ckpt_repair *r)
{
	return r->status == CKPT_OK || r->status == CKPT_ENOTSYNCED;
}

static const char *
reason(const struct ckpt_repair *r)
{
	if (r->doubt)
		return r->doubt;
	return r->reason ? r->reason : strerror(r->error);
}

bool
ckpt_verify_location_trouble(
	struct ckpt_buf *buf, const struct ckpt_verify_location *l)
{
	const struct ckpt_repair *r = &l->repair;

	if (!l->copy || r->status == CKPT_OK || r->status == CKPT_REJECTED ||
		r->status == CKPT_STOP)
		return false;
	ckpt_buf_printf(
		buf, "cannot write the copy: %s: %s", r->action, reason(r));
	return true;
}

void
ckpt_verify_location_write(struct ckpt_buf *buf,
	const struct ckpt_verify_location *l, const char *path)
{
	const struct ckpt_repair *r = &l->repair;

	ckpt_located_write(buf, &l->located, l->copy ? NULL : path);
	if (!l->copy)
		return;
	if (!written(r)) {
		ckpt_buf_printf(buf, "  no copy was written: %s%s%s\n",
			r->action ? r->action : "", r->action ? ": " : "",
			reason(r));
		return;
	}
	ckpt_buf_puts(buf, "  a copy with the original bytes was written to ");
	ckpt_buf_escape(buf, l->copy, strlen(l->copy), 0);
	ckpt_buf_puts(buf, ": a proposal, verified, by a checksum without a "
			   "key\n");
}

json_t *
ckpt_verify_location_json(const struct ckpt_verify_location *l)
{
	json_t *object = ckpt_located_json(&l->located);
	json_t *repair;

	if (!object || !l->copy)
		return object;
	repair = json_pack("{s:o, s:b, s:s?}", "path",
		ckpt_json_escaped(l->copy, strlen(l->copy)), "written",
		written(&l->repair), "reason",
		l->repair.status == CKPT_OK ? NULL : reason(&l->repair));
	if (json_object_set_new(object, "repair", repair) != 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}
