/* SPDX-License-Identifier: MIT */
/*
 * What ckpt-archive(5) says beyond the rows of the container: the keys and
 * tensors by the tables that judge them, and what only words can say.
 */
#include "format/archive.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/params.h"

static const char *const about[] = {
	"An archive is a safetensors file, see safetensors(5), in whose "
	"metadata some key begins `ckpt.`. There are portable models, which "
	"are all that inference needs, and training checkpoints, which hold "
	"in addition everything that decides the next update but the "
	"documents. A portable model is a text model or a backbone, which "
	"has neither tokenizer nor embedding.",
	"All values of metadata are strings. Integers are decimal, without "
	"leading zeros. Numbers that have to keep their bits are tensors and "
	"never text. There is no checksum; what a model is called by, and "
	"what makes damage to it known, is its identity.",
	NULL,
};

/* ---- Lists -------------------------------------------------------------- */

static const char *
kinds_text(unsigned kinds)
{
	return kinds == ARCHIVE_IN_ALL      ? "every archive"
	       : kinds == ARCHIVE_WITH_TEXT ? "text model and training "
					      "checkpoint"
					    : "training checkpoint";
}

static bool
key_item(size_t i, struct ckpt_listed *item)
{
	const struct archive_key_row *row = &archive_keys[i];

	if (i == ARCHIVE_KEYS)
		return false;
	snprintf(item->name, sizeof item->name, "%s", row->name);
	snprintf(item->type, sizeof item->type, "In: %s%s%s%s%s.",
		kinds_text(row->kinds), row->optional ? ", not always" : "",
		row->word ? "; always `" : "", row->word ? row->word : "",
		row->word ? "`" : "");
	item->doc = row->doc;
	return true;
}

/* Dimensions by their letters. */
static void
parameter_item(
	const struct ckpt_param *row, bool in_layer, struct ckpt_listed *item)
{
	static const char letters[] = { [CKPT_EXTENT_VOCABULARY] = 'V',
		[CKPT_EXTENT_WIDTH] = 'D',
		[CKPT_EXTENT_FEED_FORWARD] = 'F',
		[CKPT_EXTENT_KEY_VALUE] = 'K' };

	snprintf(item->name, sizeof item->name, "%s%s",
		in_layer ? "blocks.l." : "", row->name);
	if (row->rank == 1)
		snprintf(item->type, sizeof item->type, "F64 [%c].",
			letters[row->dims[0]]);
	else
		snprintf(item->type, sizeof item->type, "F64 [%c, %c].",
			letters[row->dims[0]], letters[row->dims[1]]);
	item->doc = row == ckpt_param_row(CKPT_SLOT_EMBEDDING)
			    ? "a parameter; no backbone has it"
			    : "a parameter";
}

static void
moment_item(bool second, struct ckpt_listed *item)
{
	snprintf(item->name, sizeof item->name, "%sNAME",
		second ? ARCHIVE_SECOND : ARCHIVE_FIRST);
	snprintf(item->type, sizeof item->type, "F64, in: %s.",
		kinds_text(ARCHIVE_IN_TRAINING));
	item->doc = second ? "second moments of the parameter NAME, none below "
			     "0; absent at step 0"
			   : "first moments of the parameter NAME, in its "
			     "shape; absent at step 0";
}

static bool
tensor_item(size_t i, struct ckpt_listed *item)
{
	const struct archive_small_row *row;
	char rows[24] = "n";

	if (i < CKPT_SLOTS) {
		parameter_item(ckpt_param_row((enum ckpt_slot)i),
			i > CKPT_SLOT_EMBEDDING && i < CKPT_SLOT_FINAL_NORM,
			item);
		return true;
	}
	i -= CKPT_SLOTS;
	if (i < 2) {
		moment_item(i == 1, item);
		return true;
	}
	i -= 2;
	if (i >= ARCHIVE_SMALL)
		return false;
	row = &archive_small[i];
	if (row->dims[0])
		snprintf(rows, sizeof rows, "%" PRIu64, row->dims[0]);
	snprintf(item->name, sizeof item->name, "%s", row->name);
	snprintf(item->type, sizeof item->type, "%s [%s%s], in: %s.",
		row->dtype, rows, row->rank == 2 ? ", 2" : "",
		kinds_text(row->kinds));
	item->doc = row->doc;
	return true;
}

/* ---- Words -------------------------------------------------------------- */

static const char *const keys[] = {
	"These keys there are. Others that begin `backbone.`, `ckpt.`, "
	"`encoder.` or `head.` are errors, in a training checkpoint also those "
	"that begin `data.`, `envelope.`, `optimizer.` or `plan.`. All others "
	"are allowed and mean nothing.",
	NULL,
};

static const char *const tensors[] = {
	"There are exactly these tensors. V is the vocabulary, D the width, K "
	"the width of all key and value heads, F the feed-forward width, l a "
	"layer from 0 on, n any number.",
	NULL,
};

static const char *const identities[] = {
	"The identity of a model is the SHA-256 of its settings, "
	"`composition` and those that begin `backbone.`, `encoder.` and "
	"`head.`, as `key=value` lines in bytewise order of the keys; an "
	"empty line; then of each tensor of the model, constants and merges "
	"among them, in bytewise order of the names: length of the name, "
	"name, length of the dtype, dtype, rank and dimensions, all numbers "
	"as little-endian u64, and the bytes of the values. Nothing else "
	"counts: a training checkpoint and the model that was saved with it "
	"have the same.",
	"The digest of an optimizer is the SHA-256 of settings, powers, step, "
	"and of each parameter, in bytewise order of the names, the first and "
	"the second moment. It is not known of a file that comes through a "
	"pipe; nor is the identity, if the data of the tensors are not in the "
	"order of their names.",
	NULL,
};

static const char *const judging[] = {
	"The rules of the container come first, and all of them apply. What "
	"its metadata and tensors mean is judged only in a sound container, "
	"and values only if the header is without fault. In the reference "
	"profile an archive is judged as any other safetensors file.",
	NULL,
};

enum { METADATA, TENSORS };

static const struct ckpt_chapter chapters[] = {
	[METADATA] = { "METADATA", keys },
	[TENSORS] = { "TENSORS", tensors },
	{ "IDENTITY", identities },
	{ "JUDGING", judging },
	{ 0 },
};

static bool
item(size_t chapter, size_t i, struct ckpt_listed *listed)
{
	switch (chapter) {
	case METADATA: return key_item(i, listed);
	case TENSORS: return tensor_item(i, listed);
	}
	return false;
}

static const char *const words[] = { "ckpt.kind", "ckpt.version", "composition",
	"portable-model", "training-checkpoint", "text-decoder-v1",
	"backbone-v1", "backbone.width", "encoder.vocabulary", "head.alias",
	"token_embedding.weight", "blocks.0.", "final_norm.gain",
	"model.constants", "tokenizer.merges", "optimizer.first.",
	"optimizer.second.", "data.order", "U64", "U32", "F64", NULL };

const struct ckpt_manual archive_manual = {
	.date = "November 30, 2026",
	.about = about,
	.chapters = chapters,
	.item = item,
	.words = words,
};
