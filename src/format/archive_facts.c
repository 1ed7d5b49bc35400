/* SPDX-License-Identifier: MIT */
/*
 * Archives: what is said of one in summaries, and what it does and does not
 * hold.
 */
#include "format/archive.h"

#include <inttypes.h>

#include "model/next.h"

/* ---- Scope -------------------------------------------------------------- */

static const char *const model_stored[] = { "model settings", "tokenizer",
	"model parameters, the embedding being the head as well",
	"RoPE base and RMS epsilon", NULL };
static const char *const backbone_stored[] = { "backbone settings",
	"backbone parameters", "RoPE base and RMS epsilon", NULL };
static const char *const fresh_supplied[] = { "a job: documents, plan, "
					      "optimizer, streams",
	NULL };
static const char *const bare_supplied[] = { "embeddings", "a loss", NULL };
static const char *const model_required[] = {
	"a training checkpoint, to go on where training stopped", NULL
};
static const char *const backbone_required[] = { "an encoder and a head",
	"a training checkpoint, to go on where training stopped", NULL };
static const char *const model_outside[] = { "optimizer state", "progress",
	"gradients", "documents", "device", NULL };
static const char *const backbone_outside[] = { "tokenizer", "embedding",
	"optimizer state", "progress", "gradients", "documents", "device",
	NULL };

static const char *const training_stored[] = { "everything of a text model",
	"AdamW settings, moments, powers, step and groups",
	"learning rate schedule", "clipping and recomputation policy",
	"data order and position", "dropout and sampling streams",
	"loss scaling", "number of microbatches",
	"executable and arithmetic that the bits belong to", NULL };
static const char *const training_supplied[] = { "the documents", NULL };
static const char *const training_required[] = {
	"the documents, by their identity", "the same executable",
	"the same arithmetic", NULL
};
static const char *const training_outside[] = { "documents", "gradients",
	"device", "threads", "history of losses", NULL };

static const struct ckpt_scope scopes[] = {
	[CKPT_ARCHIVE_TEXT] = { model_stored, fresh_supplied, model_required,
		model_outside },
	[CKPT_ARCHIVE_BACKBONE] = { backbone_stored, bare_supplied,
		backbone_required, backbone_outside },
	[CKPT_ARCHIVE_TRAINING] = { training_stored, training_supplied,
		training_required, training_outside },
};

/* ---- Spans -------------------------------------------------------------- */

void
archive_describe(const struct archive *a, uint32_t i, struct ckpt_span *span)
{
	const struct archive_part *part = a->parts ? &a->parts[i] : NULL;

	switch (part ? (enum archive_what)part->what : ARCHIVE_NOTHING) {
	case ARCHIVE_PARAMETER:
		span->class_ = CKPT_TENSOR_PARAMETER;
		span->role = "parameter";
		break;
	case ARCHIVE_MOMENT_1:
		span->class_ = CKPT_TENSOR_MOMENT;
		span->role = "first moment";
		break;
	case ARCHIVE_MOMENT_2:
		span->class_ = CKPT_TENSOR_MOMENT;
		span->role = "second moment";
		break;
	case ARCHIVE_VALUES:
		if (part->k == ARCHIVE_MERGES)
			span->class_ = CKPT_TENSOR_TOKENIZER;
		span->role = part->k == ARCHIVE_MERGES      ? "merges"
			     : part->k == ARCHIVE_CONSTANTS ? "constants"
							    : "training state";
		break;
	case ARCHIVE_NOTHING: break;
	}
}

/* ---- Facts -------------------------------------------------------------- */

static void
say(struct safetensors_judge *j, const char *name, const struct ckpt_buf *text)
{
	const char *kept =
		text->failed || !text->p
			? NULL
			: ckpt_arena_strndup(&j->run->arena, text->p, text->n);

	if (kept)
		ckpt_run_fact(j->run, name, ckpt_v_text(kept));
}

static void
say_text(struct safetensors_judge *j, const char *name, const void *p, size_t n)
{
	struct ckpt_buf buf;

	ckpt_buf_init(&buf);
	ckpt_buf_escape(&buf, p, n, CKPT_BUF_SHOWN);
	say(j, name, &buf);
	ckpt_buf_release(&buf);
}

static void
say_key(struct safetensors_judge *j, const char *name, enum archive_key key)
{
	const struct archive_text *t = &j->file->archive->keys[key];

	if (t->there)
		say_text(j, name, t->text.p, t->text.n);
}

static void
say_settings(struct safetensors_judge *j)
{
	static const struct {
		const char *name;
		enum archive_key key;
	} facts[] = {
		{ "vocabulary", ARCHIVE_VOCABULARY },
		{ "width", ARCHIVE_WIDTH },
		{ "heads", ARCHIVE_HEADS },
		{ "kv_heads", ARCHIVE_KV_HEADS },
		{ "feed_forward_width", ARCHIVE_FEED_FORWARD },
		{ "layers", ARCHIVE_LAYERS },
		{ "max_positions", ARCHIVE_POSITIONS },
		{ "context_window", ARCHIVE_WINDOW },
	};
	const struct archive *a = j->file->archive;

	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if (a->keys[facts[i].key].there)
			ckpt_run_fact(j->run, facts[i].name,
				ckpt_v_u64(a->keys[facts[i].key].value));
}

/* "31 = 29 learned + constants + merges; the rest training state (74)" */
static void
say_entries(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	uint64_t model = a->nparameters + 1;
	struct ckpt_buf buf;

	model += a->kind != CKPT_ARCHIVE_BACKBONE;
	ckpt_buf_init(&buf);
	ckpt_buf_printf(&buf, "%" PRIu64 " = %" PRIu64 " learned + constants",
		model, a->nparameters);
	if (a->kind != CKPT_ARCHIVE_BACKBONE)
		ckpt_buf_puts(&buf, " + merges");
	if (a->kind == CKPT_ARCHIVE_TRAINING)
		ckpt_buf_printf(&buf, "; the rest training state (%" PRIu64 ")",
			j->file->tensors.n - model);
	say(j, "entries", &buf);
	ckpt_buf_release(&buf);
}

/* "cursor 1 of 3 documents, 1 traversal" */
static void
say_data(struct safetensors_judge *j)
{
	const struct ckpt_training *t = &j->file->archive->training;
	struct ckpt_buf buf;

	ckpt_buf_init(&buf);
	ckpt_buf_printf(&buf,
		"cursor %" PRIu64 " of %" PRIu64 " document%s, %" PRIu64
		" traversal%s completed",
		t->cursor, t->documents, t->documents == 1 ? "" : "s",
		t->traversals, t->traversals == 1 ? "" : "s");
	say(j, "data_position", &buf);
	ckpt_buf_release(&buf);
}

static void
say_training(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	uint64_t step = a->words[ARCHIVE_STEP][0];
	struct ckpt_buf buf;

	if (a->optimizer_digest[0])
		ckpt_run_fact(j->run, "optimizer_digest",
			ckpt_v_text(a->optimizer_digest));
	ckpt_run_fact(j->run, "step", ckpt_v_u64(step));
	ckpt_run_fact(
		j->run, "updates", ckpt_v_u64(a->training.schedule.updates));
	say_key(j, "data_sha256", ARCHIVE_DATA);
	say_data(j);
	say_key(j, "executable_sha256", ARCHIVE_EXECUTABLE);
	say_key(j, "arithmetic", ARCHIVE_ARITHMETIC);
	if (a->noverrides > 0)
		ckpt_run_fact(j->run, "overrides", ckpt_v_u64(a->noverrides));
	ckpt_buf_init(&buf);
	ckpt_next_write(&buf, &a->training, step, NULL, NULL);
	say(j, "next", &buf);
	ckpt_buf_release(&buf);
}

void
archive_tell_facts(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;

	say_key(j, "kind", ARCHIVE_KIND);
	say_key(j, "composition", ARCHIVE_COMPOSITION);
	if (!a->understood)
		return;
	j->run->scope = &scopes[a->kind];
	say_settings(j);
	if (a->fits)
		say_entries(j);
	if (!a->whole)
		return;
	ckpt_run_fact(j->run, "parameter_scalars", ckpt_v_u64(a->scalars));
	ckpt_run_fact(j->run, "rope_base",
		ckpt_v_f64(a->words[ARCHIVE_CONSTANTS][0]));
	ckpt_run_fact(j->run, "rms_epsilon",
		ckpt_v_f64(a->words[ARCHIVE_CONSTANTS][1]));
	if (a->model_id[0])
		ckpt_run_fact(j->run, "model_id", ckpt_v_text(a->model_id));
	if (a->kind == CKPT_ARCHIVE_TRAINING) {
		j->run->training = &a->training;
		j->run->step = a->words[ARCHIVE_STEP][0];
		say_training(j);
	}
}
