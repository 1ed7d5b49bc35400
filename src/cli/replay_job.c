/* SPDX-License-Identifier: MIT */
/*
 * Jobs and archives of the command line: reading, refusing, saving.
 */
#include "cli/replay_job.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "io/destination.h"
#include "replay/request.h"
#include "sink/json.h"
#include "sink/save.h"

/* Jobs are read whole; an endless one is not. */
enum { JOB_PIECE = 65536, JOB_MOST = 256 << 20 };

/* ---- jobs --------------------------------------------------------------- */

static enum ckpt_status
read_file(
	const char *path, struct ckpt_buf *bytes, struct ckpt_refusal *refusal)
{
	struct ckpt_source *source = ckpt_source_open(path);
	char piece[JOB_PIECE];
	ptrdiff_t n = -1;
	int error;

	if (!source)
		return CKPT_EIO;
	do {
		n = source->read(source, piece, sizeof piece);
		if (n > 0)
			ckpt_buf_add(bytes, piece, (size_t)n);
	} while ((n > 0 && !bytes->failed && bytes->n <= JOB_MOST) ||
		 (n < 0 && errno == EINTR));
	error = errno;
	ckpt_source_close(source);
	errno = error;
	if (n < 0)
		return CKPT_EIO;
	if (bytes->failed)
		return CKPT_ENOMEM;
	if (bytes->n <= JOB_MOST)
		return CKPT_OK;
	refusal->kind = "TooLarge";
	ckpt_buf_puts(&refusal->text, "a job file has at most 256 MiB");
	return CKPT_ELIMIT;
}

bool
replay_job_read(struct ckpt_args *args, const char *path, int format,
	struct ckpt_job *job, int *status)
{
	struct ckpt_refusal refusal = { .kind = "InvalidJob" };
	struct ckpt_buf text = { 0 };
	enum ckpt_status s;

	*job = (struct ckpt_job){ 0 };
	if (!path) {
		s = ckpt_job_published(job);
	} else {
		s = read_file(path, &text, &refusal);
		if (s == CKPT_OK)
			s = ckpt_job_read(job, text.p ? text.p : "", text.n,
				&refusal.text);
	}
	if (s != CKPT_OK)
		*status = replay_refused(args,
			path ? path : "the published job", format, s, &refusal);
	ckpt_buf_release(&text);
	ckpt_buf_release(&refusal.text);
	return s == CKPT_OK;
}

/* ---- archives ----------------------------------------------------------- */

struct ckpt_checkpoint *
replay_archive_load(struct ckpt_args *args, const char *path,
	enum ckpt_archive kind, uint64_t max_memory, int format, int *status)
{
	struct ckpt_options options = { .max_memory = max_memory };
	struct ckpt_source *source = ckpt_source_open(path);
	struct ckpt_checkpoint *c = NULL;
	struct ckpt_refusal refusal = { 0 };
	enum ckpt_status s = CKPT_EIO;

	if (source)
		s = ckpt_archive_load(source, &options, kind, &c, &refusal);
	ckpt_source_close(source);
	if (s == CKPT_OK)
		return c;
	*status = replay_refused(args, path, format, s, &refusal);
	ckpt_buf_release(&refusal.text);
	return NULL;
}

bool
replay_archive_save(struct ckpt_args *args, const char *path,
	const struct ckpt_state *state)
{
	const struct ckpt_format *format = ckpt_format_find("safetensors");
	struct ckpt_save save = { .path = path };
	struct ckpt_buf shown = { 0 };
	enum ckpt_status status = CKPT_EUNSUPPORTED;

	save.fault.action = "write an archive";
	save.fault.reason = "this build has no safetensors";
	if (format)
		status = ckpt_save(&save, format, state);
	if (status == CKPT_OK)
		return true;
	ckpt_buf_escape(&shown, path, strlen(path), 0);
	fprintf(stderr, "%s: %s: %s: %s\n", args->command->name,
		shown.p ? shown.p : "",
		save.fault.action ? save.fault.action : "save",
		save.fault.reason  ? save.fault.reason
		: save.fault.error ? strerror(save.fault.error)
				   : "out of memory");
	ckpt_buf_release(&shown);
	return false;
}

/* ---- outputs ------------------------------------------------------------ */

static bool
is_input(const char *output, const char *input)
{
	struct stat st;

	return input &&
	       (strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &st)
					: stat(input, &st)) == 0 &&
	       !ckpt_destination_is_apart(
		       &ckpt_file_ops_posix, output, st.st_dev, st.st_ino);
}

/* The folder that a file is in. */
static bool
folder_of(const char *path, struct stat *st)
{
	char *copy = strdup(path);
	bool found = copy && stat(dirname(copy), st) == 0;

	free(copy);
	return found;
}

/* Two names of one place. */
static bool
is_same_place(const char *a, const char *b)
{
	const char *x = ckpt_destination_name(a), *y = ckpt_destination_name(b);
	struct stat s, t;

	if (strcmp(a, b) == 0)
		return true;
	return x && y && strcmp(x, y) == 0 && folder_of(a, &s) &&
	       folder_of(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

bool
replay_outputs_apart(struct ckpt_args *args, const char *const *outputs,
	size_t noutputs, const char *const *inputs, size_t ninputs)
{
	for (size_t i = 0; i < noutputs; i++) {
		if (strcmp(outputs[i], "-") == 0)
			return ckpt_args_fail(args,
				"an archive needs a file to replace, not "
				"standard output",
				NULL, "");
		for (size_t k = 0; k < ninputs; k++)
			if (is_input(outputs[i], inputs[k]))
				return ckpt_args_fail(args,
					"the output would replace an input: ",
					outputs[i], "");
		for (size_t k = 0; k < i; k++)
			if (is_same_place(outputs[i], outputs[k]))
				return ckpt_args_fail(args,
					"two outputs in one place: ",
					outputs[i], "");
	}
	return true;
}

bool
replay_needs(struct ckpt_args *args, const char *option, const char *value)
{
	return value || ckpt_args_fail(args, "needed: ", option, "");
}
