/* SPDX-License-Identifier: MIT */
/*
 * ckforge mutate: edits a file by field path and writes the result beside it,
 * never over it. The edits themselves are in forge_edit.c and below.
 */
#include "cli/forge_edit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt.h"

#include "io/destination.h"

#define SLOT(m) .slot = offsetof(struct forge_mutate_options, m)

static const char *const use[] = { "[options] -o OUT FILE", NULL };

static const char *const about[] = {
	"edits FILE and writes the result to OUT. Fields are named by the "
	"paths "
	"that the other tools print; a record may also be written by role and "
	"name, as `param:final_norm.gain` or `token[0]`. Edits of fields are "
	"made in the order given, then edits of bytes.",
	"An edit changes what it names and nothing else: counts, lengths, "
	"offsets, extents and the checksum go on saying what they said, so "
	"that a wrong file is as easily made as a right one.",
	"Numbers are decimal or 0x and hexadecimal digits, or the names of "
	"values as `role=ModelParameter`; floating-point numbers are decimal, "
	"hexadecimal (0x1p-3), nan, inf, or bits: and 16 digits. Strings are "
	"text with \\xHH for any byte, or hex: and digits.",
	NULL,
};

static const struct ckpt_opt opts[] = {
	{ .kind = CKPT_OPT_HEADING, .help = "Edits of fields" },
	{ .name = "set",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_SET,
		.arg = "PATH=VALUE",
		.help = "give a field a value. A string gets its length too; "
			"PATH.length and PATH.count set only the number in "
			"front, PATH.bytes only what stands behind it. "
			"records[i].data[j] and records[i].data[a,b] are "
			"elements of a payload, records[i].data all of it" },
	{ .name = "delete",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_DELETE,
		.arg = "PATH[i]",
		.help = "remove an element of an array. Of a record the "
			"payload stays where it is unless --relayout follows" },
	{ .name = "duplicate",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_DUPLICATE,
		.arg = "PATH[i]",
		.help = "insert a copy of an element behind it" },
	{ .name = "insert",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_INSERT,
		.arg = "PATH[i]=VALUE",
		.help = "insert a string or number before element i" },
	{ .name = "swap",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_SWAP,
		.arg = "PATH[i],PATH[j]",
		.help = "exchange two elements of an array" },
	{ .name = "relayout",
		.kind = CKPT_OPT_FLAG,
		.tag = CKPT_DRAFT_RELAYOUT,
		SLOT(relayout),
		.help = "let the payload be that of the records as they stand "
			"now, one behind the other. Sets the number of "
			"records, their byte lengths and offsets, both "
			"extents, and the first dimension of records whose "
			"payload was replaced; no other count" },
	{ .kind = CKPT_OPT_HEADING, .help = "Edits of bytes" },
	{ .name = "bytes",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_BYTES,
		.arg = "OFF=HEX",
		.help = "overwrite bytes" },
	{ .name = "flip",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_FLIP,
		.arg = "OFF.BIT",
		.help = "flip one bit; bit 0 is the lowest" },
	{ .name = "truncate",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_TRUNCATE,
		.arg = "N",
		.help = "keep the first N bytes" },
	{ .name = "append",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_APPEND,
		.arg = "HEX",
		.help = "add bytes at the end" },
	{ .name = "append-text",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_APPEND_TEXT,
		.arg = "TEXT",
		.help = "add text at the end; \\xHH is any byte" },
	{ .name = "mangle",
		.kind = CKPT_OPT_LIST,
		.tag = CKPT_DRAFT_MANGLE,
		.arg = "crlf|utf8",
		.help = "do what a transfer as text does: a carriage return "
			"before each line feed, or U+FFFD for each byte that "
			"is not UTF-8" },
	{ .kind = CKPT_OPT_HEADING,
		.help = "Repairs, made last of all: extents, then checksum" },
	{ .name = "fix-extents",
		.kind = CKPT_OPT_FLAG,
		.tag = CKPT_DRAFT_FIX_EXTENTS,
		SLOT(fix_extents),
		.help = "let the extents be those of the bytes that are there: "
			"the header ends where its last field does" },
	{ .name = "fix-checksum",
		.kind = CKPT_OPT_FLAG,
		.tag = CKPT_DRAFT_FIX_CHECKSUM,
		SLOT(fix_checksum),
		.help = "compute the checksum anew" },
	{ .kind = CKPT_OPT_HEADING, .help = "Output" },
	{ .name = "output",
		.letter = 'o',
		.kind = CKPT_OPT_TEXT,
		.arg = "OUT",
		SLOT(output),
		.help = "the file to write, or standard output if it is "
			"-; never FILE itself" },
	{ 0 },
};

const struct ckpt_command forge_mutate_command = {
	.name = "mutate",
	.title = "edit a file by field path",
	.use = use,
	.about = about,
	.opts = opts,
	.operand = "FILE",
	.least = 1,
	.most = 1,
};

static int
trouble(const char *path, const char *what)
{
	struct ckpt_buf line = { 0 };

	ckpt_buf_puts(&line, "ckforge: ");
	ckpt_buf_escape(&line, path, strlen(path), 0);
	fprintf(stderr, "%s: %s\n", line.p ? line.p : "ckforge", what);
	ckpt_buf_release(&line);
	return CKPT_EXIT_TROUBLE;
}

static int
failed(const struct ckpt_buf *why, int status)
{
	fprintf(stderr, "ckforge: %s\n", why->p ? why->p : strerror(ENOMEM));
	return status;
}

static int
report(const char *path, const struct ckpt_draft *draft,
	const struct ckpt_buf *edits)
{
	/* Where the bytes went to standard output, words would be in the way. */
	FILE *out = strcmp(path, "-") == 0 ? stderr : stdout;
	struct ckpt_buf name = { 0 };
	bool good;

	ckpt_buf_escape(&name, path, strlen(path), 0);
	good = fprintf(out, "forged: no training lineage\n%s%s: %zu bytes\n",
		       edits->p ? edits->p : "", name.p ? name.p : "",
		       draft->bytes.n) >= 0 &&
	       fflush(out) == 0;
	ckpt_buf_release(&name);
	return good ? CKPT_EXIT_OK
		    : trouble("standard output", strerror(errno));
}

static int
put(const char *out, const struct ckpt_buf *bytes, struct ckpt_buf *why)
{
	if (strcmp(out, "-") != 0)
		return forge_write(out, bytes, why);
	if (fwrite(bytes->p, 1, bytes->n, stdout) == bytes->n &&
		fflush(stdout) == 0)
		return CKPT_EXIT_OK;
	ckpt_buf_printf(why, "standard output: %s", strerror(errno));
	return CKPT_EXIT_TROUBLE;
}

static int
mutate(const struct ckpt_args *args, const char *out, struct ckpt_buf *file,
	struct ckpt_draft *draft)
{
	struct ckpt_buf edits = { 0 }, why = { 0 };
	int status;

	if (ckpt_draft_open(draft, file->p ? file->p : "", file->n) !=
		CKPT_EDIT_OK)
		return trouble(args->operands[0], strerror(ENOMEM));
	status = forge_edit(args, draft, &edits, &why);
	if (status == CKPT_EXIT_OK)
		status = put(out, &draft->bytes, &why);
	if (status != CKPT_EXIT_OK)
		failed(&why, status);
	else
		status = report(out, draft, &edits);
	ckpt_buf_release(&edits);
	ckpt_buf_release(&why);
	return status;
}

int
forge_mutate(struct ckpt_args *args, const void *given)
{
	const struct forge_mutate_options *options = given;
	const char *path = args->operands[0];
	struct ckpt_draft draft = { 0 };
	struct ckpt_buf file = { 0 };
	struct stat st;
	int status;

	if (!options->output) {
		ckpt_args_fail(args, "-o OUT is missing", NULL, "");
		return ckpt_args_report(args);
	}
	if (forge_read(path, &file, &st) != CKPT_EXIT_OK) {
		status = trouble(path, strerror(errno));
		if (forge_interrupted())
			status = CKPT_EXIT_INTERRUPTED;
	} else if (st.st_ino &&
		   !ckpt_destination_is_apart(&ckpt_file_ops_posix,
			   options->output, st.st_dev, st.st_ino)) {
		ckpt_args_fail(args, "output ", options->output,
			" is the file to be edited");
		status = ckpt_args_report(args);
	} else {
		status = mutate(args, options->output, &file, &draft);
	}
	ckpt_draft_release(&draft);
	ckpt_buf_release(&file);
	return status;
}
