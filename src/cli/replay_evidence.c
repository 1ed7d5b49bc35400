/* SPDX-License-Identifier: MIT */
/*
 * ckreplay evidence: what one file proves, a line each. The file is read into
 * memory as a whole, once, so that every line speaks of the same bytes.
 */
#include "cli/replay_update.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/evidence.h"
#include "sink/json.h"

enum { READ_STEP = 64 * 1024 };

#define SLOT(member) .slot = offsetof(struct replay_evidence_options, member)

static const char *const formats[] = { "text", "json", NULL };

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .name = "inputs", .kind = CKPT_OPT_TEXT, .arg = "IDS", SLOT(inputs),
		.help = "token ids with commas, rows of a batch with "
			"semicolons between them; needed" },
	{ .name = "targets", .kind = CKPT_OPT_TEXT, .arg = "IDS",
		SLOT(targets), .help = "as many ids as inputs; needed" },
	{ .name = "lr", .kind = CKPT_OPT_TEXT, .arg = "REAL", SLOT(rate),
		.help = "learning rate of the update, decimal or "
			"hexadecimal; needed" },
	{ .name = "format", .kind = CKPT_OPT_CHOICE, .words = formats,
		.preset = "text", SLOT(format),
		.help = "how to print the report" },
	{ .name = "max-memory", .kind = CKPT_OPT_SIZE, .arg = "SIZE",
		.preset = "64G", SLOT(max_memory),
		.help = "memory for the file, and for the contents of one "
			"checkpoint" },
	{ 0 },
};
/* clang-format on */

static const char *const use[] = {
	"[options] --inputs=IDS --targets=IDS --lr=REAL FILE", NULL
};

static const char *const about[] = {
	"prints what the file holds and what it proves: the round trip "
	"through bytes, the one supplied update made twice, controls that "
	"must come out different, damage that must be rejected for the right "
	"reason, and an atomic save. Every claim is tried while the report is "
	"made; one that cannot be tried on this file says `not-applicable`.",
	"The changed batch has ids + 1 modulo the vocabulary, the changed "
	"rate is twice the supplied one. Files are saved in a new folder in "
	"TMPDIR, which is removed. Several copies of the file are in memory "
	"at the same time.",
	NULL,
};

const struct ckpt_command replay_evidence_command = {
	.name = "evidence",
	.title = "try every claim about a checkpoint and print the report",
	.use = use,
	.about = about,
	.opts = opts,
	.operand = "FILE",
	.least = 1,
	.most = 1,
};

/* ---- output ------------------------------------------------------------- */

static json_t *
item_value(const struct ckpt_evidence_item *item)
{
	struct ckpt_evidence_item bare = *item;
	struct ckpt_buf text = { 0 };
	json_t *json;

	if (item->kind == CKPT_EVIDENCE_NUMBER)
		return ckpt_json_u64(item->number);
	if (item->kind == CKPT_EVIDENCE_CLAIM)
		return json_boolean(item->number != 0);
	if (item->kind == CKPT_EVIDENCE_NEVER)
		return json_false();
	bare.key = NULL;
	ckpt_evidence_item_write(&text, &bare);
	json = text.failed ? NULL : json_string(text.p ? text.p : "");
	ckpt_buf_release(&text);
	return json;
}

static json_t *
line_json(const struct ckpt_evidence *e, size_t line)
{
	json_t *object = json_object();

	for (size_t i = 0; i < e->lines[line].n; i++) {
		const struct ckpt_evidence_item *item =
			&e->lines[line].items[i];

		if (!item->key) {
			json_decref(object);
			return item_value(item);
		}
		json_object_set_new(object, item->key, item_value(item));
	}
	return object;
}

static void
write_json(struct ckpt_buf *out, const struct ckpt_evidence *e, int status)
{
	json_t *lines = json_object();

	for (size_t i = 0; i < CKPT_EVIDENCE_LINES; i++)
		json_object_set_new(lines,
			ckpt_evidence_line_name((enum ckpt_evidence_line)i),
			line_json(e, i));
	ckpt_json_write(
		out, json_pack("{s:s, s:s, s:i, s:o}", "schema", "ckreplay/1",
			     "verdict", status ? "mismatch" : "bit-equal",
			     "exit_code", status, "evidence", lines));
	ckpt_buf_puts(out, "\n");
}

static void
write_text(struct ckpt_buf *out, const struct ckpt_evidence *e)
{
	for (size_t i = 0; i < CKPT_EVIDENCE_LINES; i++) {
		ckpt_buf_printf(out, "%s=",
			ckpt_evidence_line_name((enum ckpt_evidence_line)i));
		for (size_t k = 0; k < e->lines[i].n; k++) {
			ckpt_buf_puts(out, k > 0 ? " " : "");
			ckpt_evidence_item_write(out, &e->lines[i].items[k]);
		}
		ckpt_buf_puts(out, "\n");
	}
}

static int
report(const struct ckpt_evidence *e, int format)
{
	int status = e->failed ? CKPT_EXIT_NEGATIVE : CKPT_EXIT_OK;
	struct ckpt_buf out = { 0 };

	if (format == REPLAY_JSON)
		write_json(&out, e, status);
	else
		write_text(&out, e);
	return replay_print(&out, status);
}

/* ---- input -------------------------------------------------------------- */

/* The whole file, and the file that was opened. */
static enum ckpt_status
read_all(struct ckpt_buf *bytes, const char *path, uint64_t most)
{
	struct ckpt_source *source = ckpt_source_open(path);
	char *piece = malloc(READ_STEP);
	enum ckpt_status status = CKPT_OK;
	const char *what;

	if (!source || !piece)
		status = source ? CKPT_ENOMEM : CKPT_EIO;
	while (status == CKPT_OK) {
		ptrdiff_t n = source->read(source, piece, READ_STEP);

		if (n == 0)
			break;
		if (n > 0)
			ckpt_buf_add(bytes, piece, (size_t)n);
		else if (errno != EINTR)
			status = CKPT_EIO;
		if (bytes->failed)
			status = CKPT_ENOMEM;
		else if (bytes->n > most)
			status = CKPT_ELIMIT;
	}
	if (status == CKPT_OK && source->unchanged &&
		source->unchanged(source, &what) != CKPT_OK) {
		errno = ESTALE;
		status = CKPT_EIO;
	}
	free(piece);
	if (source) {
		int error = errno;

		ckpt_source_close(source);
		errno = error;
	}
	return status;
}

/* What is wrong with the file, if that is what it is. */
static enum ckpt_status
refuse_file(struct ckpt_evidence *e, enum ckpt_status status)
{
	const struct ckpt_diag *primary =
		e->checkpoint
			? ckpt_run_primary(ckpt_checkpoint_run(e->checkpoint))
			: NULL;

	if (e->refusal.kind ||
		(status != CKPT_REJECTED && status != CKPT_EUNSUPPORTED) ||
		!primary)
		return status;
	e->refusal.kind =
		status == CKPT_REJECTED ? "InvalidFile" : "UnsupportedFile";
	ckpt_buf_printf(&e->refusal.text, "%s %s: %s", primary->rule->id,
		primary->rule->slug, primary->rule->text);
	return status;
}

static int
run(struct ckpt_args *args, const struct replay_evidence_options *o,
	struct ckpt_supplied *update)
{
	const char *path = args->operands[0];
	struct ckpt_evidence e = { .batch = &update->batch,
		.rate = update->rate,
		.max_memory = o->max_memory };
	struct ckpt_buf bytes = { 0 };
	enum ckpt_status s = read_all(&bytes, path, o->max_memory);
	static char nothing[1];
	int status;

	e.bytes = (uint8_t *)(bytes.p ? bytes.p : nothing);
	e.n = bytes.n;
	if (s == CKPT_OK)
		s = refuse_file(&e, ckpt_evidence_run(&e));
	status = s == CKPT_OK
			 ? report(&e, o->format)
			 : replay_refused(args, path, o->format, s, &e.refusal);
	ckpt_evidence_release(&e);
	ckpt_buf_release(&bytes);
	return status;
}

int
replay_evidence(struct ckpt_args *args, const void *options)
{
	const struct replay_evidence_options *o = options;
	struct ckpt_supplied update;
	int status;

	if (replay_update_parse(args, o->inputs, o->targets, o->rate, &update))
		status = run(args, o, &update);
	else
		status = ckpt_args_report(args);
	ckpt_supplied_release(&update);
	return status;
}
