/* SPDX-License-Identifier: MIT */
/*
 * Archives: what the driver of safetensors calls, and the registry row. A file
 * is known to be an archive only by a key of its metadata, which may stand
 * anywhere in the header; so nothing is sniffed, and the driver hands a file
 * over to this row once its header was read.
 */
#include "format/archive.h"

#include "base/try.h"

#define MODEL_CHECKS "tensors merges weights"
#define TRAINING_CHECKS                                                        \
	"moments optimizer groups plan data dropout scaler "                   \
	"accumulation envelope"

static void
skip(struct safetensors_judge *j, const char *checks, const char *reason)
{
	ckpt_diags_skipped(&j->run->diags, checks, reason);
}

/* ---- The header --------------------------------------------------------- */

static enum ckpt_status
judge_header(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;

	CKPT_TRY(archive_judge_keys(j));
	if (!a->settled)
		return CKPT_OK;
	CKPT_TRY(archive_judge_tensors(j));
	if (!a->fits)
		return CKPT_OK;
	if (a->kind == CKPT_ARCHIVE_TRAINING) {
		const struct safetensors_tensor *order =
			archive_tensor(j->file, ARCHIVE_ORDER);

		a->training.documents = SAFETENSORS_SHAPE(order)[0];
		if (a->training.documents == 0) {
			archive_report_empty(j);
			return CKPT_OK;
		}
		CKPT_TRY(archive_judge_groups(j));
	}
	return archive_hash_begin(j);
}

/* The option that cannot apply, now that it is known what the file is. */
static bool
refused(struct safetensors_judge *j)
{
	const char *option =
		ckpt_format_refuses(j->run->format, &j->run->options);

	if (option)
		ckpt_run_add(j->run, CKPT_D_OPTION, 0,
			&(struct ckpt_diag){ .found = ckpt_v_text(option) });
	return option != NULL;
}

enum ckpt_status
archive_begin(struct safetensors_judge *j, bool sound)
{
	struct archive *a;
	bool found;

	if (j->reference || j->file->metadata.n == 0)
		return CKPT_OK;
	a = ckpt_arena_zalloc(&j->run->arena, sizeof *a);
	if (!a)
		return ckpt_run_memory(j->run);
	CKPT_TRY(archive_take_keys(j, a, &found));
	if (!found)
		return CKPT_OK;
	j->run->format = &ckpt_format_archive;
	if (refused(j))
		return CKPT_REJECTED;
	j->file->archive = a;
	return sound ? judge_header(j) : CKPT_OK;
}

/* ---- The end ------------------------------------------------------------ */

static void
judge_weights(struct safetensors_judge *j)
{
	const struct archive_fault *f = &j->file->archive->weights;

	if (f->count > 0)
		archive_report_value(j, CKPT_D_ARCHIVE_WEIGHT, f->tensor, f->at,
			"finite weights", ckpt_v_f64(f->bits), f->count);
}

enum ckpt_status
archive_end(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	struct ckpt_diags *diags = &j->run->diags;

	archive_judge_constants(j);
	judge_weights(j);
	CKPT_TRY(archive_judge_merges(j));
	ckpt_diags_ran(diags, MODEL_CHECKS);
	if (a->kind == CKPT_ARCHIVE_TRAINING) {
		CKPT_TRY(archive_judge_order(j));
		archive_judge_training(j);
		ckpt_diags_ran(diags, TRAINING_CHECKS);
	}
	if (diags->errors > 0)
		return CKPT_OK;
	a->whole = true;
	for (uint64_t k = 0; k < a->nparameters; k++)
		a->scalars += safetensors_len(&SAFETENSORS_TENSORS(
				      j->file)[a->parameters[k] - 1]) /
			      8;
	archive_take_training(a);
	return archive_hash_end(j);
}

/* Rules that there was nothing for. */
static void
skip_rest(struct safetensors_judge *j)
{
	static const char before[] =
		"the faults before leave nothing to judge this by";
	const struct archive *a = j->file->archive;

	if (j->run->diags.errors > 0)
		skip(j, "archive settings " MODEL_CHECKS " " TRAINING_CHECKS,
			before);
	if (!a->understood)
		return;
	if (a->kind != CKPT_ARCHIVE_TRAINING)
		skip(j, TRAINING_CHECKS, "the archive is a portable model");
	else if (!a->keys[ARCHIVE_DECAY].there)
		skip(j, "groups", "there are no parameter groups");
	if (a->kind == CKPT_ARCHIVE_BACKBONE)
		skip(j, "merges", "a backbone has no tokenizer");
}

void
archive_close(struct safetensors_judge *j)
{
	if (!j->file || !j->file->archive)
		return;
	skip_rest(j);
	archive_tell_facts(j);
	archive_hash_release(j);
}

/* ---- The row ------------------------------------------------------------ */

static bool
sniff(const uint8_t *head, size_t n)
{
	(void)head;
	(void)n;
	return false;
}

/* Never called: the driver of safetensors has the file. */
static enum ckpt_status
parse(struct ckpt_run *run, struct ckpt_reader *reader)
{
	return ckpt_format_safetensors.parse(run, reader);
}

static const char *const suffixes[] = { ".safetensors", NULL };

/* Those of the container, then those of archives. */
static const char *const checks[] = { "length", "json", "keys", "records",
	"dtype", "sizes", "tiling", "end", "style", "names", "shapes", "align",
	"archive", "settings", "tensors", "merges", "weights", "moments",
	"optimizer", "groups", "plan", "data", "dropout", "scaler",
	"accumulation", "envelope", NULL };

static const char *const brief[] = { "kind", "tensors", NULL };

static const struct ckpt_alias aliases[] = {
	{ "tensor:", 0, CKPT_ALIAS_BY_NAME },
};

const struct ckpt_format ckpt_format_archive = {
	.name = "ckpt-archive",
	.title = "portable model or training checkpoint",
	.suffixes = suffixes,
	.checks = checks,
	.brief = brief,
	.named = true,
	.values_decide = true,
	.bounds_headers = true,
	.sniff = sniff,
	.parse = parse,
	.root = &safetensors_file_rec,
	.aliases = aliases,
	.naliases = sizeof aliases / sizeof aliases[0],
	.manual = &archive_manual,
	.text = &safetensors_text_rules,
	.bind = archive_bind,
	.encode = archive_encode,
	.measure = archive_measure,
};
