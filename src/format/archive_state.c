/* SPDX-License-Identifier: MIT */
/*
 * Archives: a file that was judged, as the neutral state. Parameters come in
 * model order, moments in the bytewise order of their names; values stay where
 * they are in the payload.
 */
#include "format/archive.h"

#include "base/sort.h"
#include "base/try.h"
#include "model/params.h"

/* ---- What decides the next update --------------------------------------- */

static void
take_words(struct archive *a)
{
	struct ckpt_training *t = &a->training;

	t->schedule = (struct ckpt_schedule){
		.peak = archive_f64(a, ARCHIVE_RATES, 0),
		.final = archive_f64(a, ARCHIVE_RATES, 1),
		.updates = a->words[ARCHIVE_STEPS][0],
		.warmup = a->words[ARCHIVE_STEPS][1],
	};
	t->clip = archive_f64(a, ARCHIVE_CLIP, 0);
	t->microbatches = a->words[ARCHIVE_MICROBATCHES][0];
	t->order = a->order;
	t->cursor = a->words[ARCHIVE_CURSOR][0];
	t->traversals = a->words[ARCHIVE_TRAVERSALS][0];
	t->dropout_probability = archive_f64(a, ARCHIVE_PROBABILITY, 0);
	t->dropout_seed = a->words[ARCHIVE_SEED][0];
	t->dropout_counter = a->words[ARCHIVE_COUNTER][1];
	t->scaler = (struct ckpt_scaler){
		.scale = archive_f64(a, ARCHIVE_BOUNDS, 0),
		.min = archive_f64(a, ARCHIVE_BOUNDS, 1),
		.max = archive_f64(a, ARCHIVE_BOUNDS, 2),
		.interval = a->words[ARCHIVE_PROGRESS][0],
		.progress = a->words[ARCHIVE_PROGRESS][1],
	};
}

static void
copy_digest(char out[CKPT_SHA256_TEXT], const struct ckpt_str *text)
{
	memcpy(out, text->p, CKPT_SHA256_TEXT - 1);
	out[CKPT_SHA256_TEXT - 1] = '\0';
}

void
archive_take_training(struct archive *a)
{
	const struct archive_text *k = a->keys;
	struct ckpt_envelope *envelope = &a->training.envelope;

	if (a->kind != CKPT_ARCHIVE_TRAINING)
		return;
	take_words(a);
	a->training.recompute_blocks = k[ARCHIVE_RECOMPUTE].text.p[0] == '1';
	copy_digest(a->training.data_sha256, &k[ARCHIVE_DATA].text);
	copy_digest(envelope->executable, &k[ARCHIVE_EXECUTABLE].text);
	envelope->arithmetic = (struct ckpt_name){ k[ARCHIVE_ARITHMETIC].text.p,
		k[ARCHIVE_ARITHMETIC].text.n };
	envelope->overrides = a->overrides;
	envelope->noverrides = a->noverrides;
}

/* ---- Tensors ------------------------------------------------------------ */

struct binder {
	struct ckpt_run *run;
	const struct safetensors_file *file;
	const uint8_t *payload;
	uint64_t len;
};

/* Tensor number i - 1 of the file, without a prefix of its name. */
static struct ckpt_tensor
tensor_of(const struct binder *b, uint32_t i, const char *prefix)
{
	const struct safetensors_tensor *t =
		&SAFETENSORS_TENSORS(b->file)[i - 1];
	size_t n = strlen(prefix);

	return (struct ckpt_tensor){
		.name = { t->name.p + n, t->name.n - (uint32_t)n },
		.rank = t->shape.n,
		.dims = SAFETENSORS_SHAPE(t),
		.len = safetensors_len(t),
		.data = b->payload + t->begin,
	};
}

/* n tensors of a list; sorted: in the bytewise order of their names. NULL:
 * memory. */
static const struct ckpt_tensor *
bind_list(const struct binder *b, const uint32_t *list, const char *prefix,
	bool sorted)
{
	struct ckpt_arena *arena = &b->run->arena;
	size_t n = (size_t)b->file->archive->nparameters;
	struct ckpt_tensor *from = ckpt_arena_alloc(arena, n * sizeof *from);
	struct ckpt_tensor *to;
	uint32_t *order;

	for (size_t k = 0; from && k < n; k++)
		from[k] = tensor_of(b, list[k], prefix);
	if (!sorted || !from)
		return from;
	to = ckpt_arena_alloc(arena, n * sizeof *to);
	order = ckpt_param_bytewise(arena, from, (uint32_t)n);
	for (size_t k = 0; to && order && k < n; k++)
		to[k] = from[order[k]];
	return order ? to : NULL;
}

static bool
bind_tokenizer(const struct binder *b, struct ckpt_state *state)
{
	const struct archive *a = b->file->archive;
	struct ckpt_tensor *pieces =
		ckpt_arena_alloc(&b->run->arena, sizeof *pieces);

	if (!pieces)
		return false;
	*pieces = tensor_of(b, a->small[ARCHIVE_MERGES], "");
	state->tokenizer = (struct ckpt_tokenizer){
		.kind = CKPT_BYTE_BPE,
		.vocabulary = a->config.vocabulary,
		.pieces = pieces,
		.npieces = 1,
	};
	return true;
}

/* The order as numbers, where it was too long to be kept on the way. */
static bool
bind_order(const struct binder *b, struct archive *a)
{
	const struct ckpt_tensor t = tensor_of(b, a->small[ARCHIVE_ORDER], "");
	uint64_t n = a->training.documents;
	uint64_t *order;

	if (a->training.order)
		return true;
	order = ckpt_arena_alloc(&b->run->arena, (size_t)n * sizeof *order);
	for (uint64_t i = 0; order && i < n; i++)
		order[i] = ckpt_load_u64(t.data + 8 * i);
	a->training.order = order;
	return order != NULL;
}

static bool
bind_training(
	const struct binder *b, struct archive *a, struct ckpt_state *state)
{
	state->training = &a->training;
	state->adamw = (struct ckpt_adamw){
		.learning_rate = archive_f64(a, ARCHIVE_SETTINGS, 0),
		.beta1 = archive_f64(a, ARCHIVE_SETTINGS, 1),
		.beta2 = archive_f64(a, ARCHIVE_SETTINGS, 2),
		.epsilon = archive_f64(a, ARCHIVE_SETTINGS, 3),
		.weight_decay = archive_f64(a, ARCHIVE_SETTINGS, 4),
	};
	state->optimizer_step = state->selected_step =
		a->words[ARCHIVE_STEP][0];
	state->beta1_power = archive_f64(a, ARCHIVE_POWERS, 0);
	state->beta2_power = archive_f64(a, ARCHIVE_POWERS, 1);
	state->sampling_rng_state = a->words[ARCHIVE_SAMPLING][0];
	state->groups = a->groups[0] != NULL;
	state->decay = a->groups[0];
	state->ndecay = a->ngroups[0];
	state->no_decay = a->groups[1];
	state->nno_decay = a->ngroups[1];
	if (a->nfirst > 0) {
		state->nmoments = (uint32_t)a->nparameters;
		state->first = bind_list(b, a->first, ARCHIVE_FIRST, true);
		state->second = bind_list(b, a->second, ARCHIVE_SECOND, true);
		if (!state->first || !state->second)
			return false;
	}
	return bind_order(b, a);
}

enum ckpt_status
archive_bind(struct ckpt_run *run, const uint8_t *payload, uint64_t payload_len,
	struct ckpt_state *state)
{
	const struct safetensors_file *file = run->decoded;
	struct archive *a = file->archive;
	const struct binder b = { run, file, payload, payload_len };
	bool good;

	if (!a || !a->fits || payload_len < safetensors_data_end(file))
		return CKPT_EUNSUPPORTED;
	*state = (struct ckpt_state){
		.archive = a->kind,
		.config = a->config,
		.nparameters = (uint32_t)a->nparameters,
		.parameters = bind_list(&b, a->parameters, "", false),
	};
	good = state->parameters != NULL;
	if (good && a->kind != CKPT_ARCHIVE_BACKBONE)
		good = bind_tokenizer(&b, state);
	if (good && a->kind == CKPT_ARCHIVE_TRAINING)
		good = bind_training(&b, a, state);
	return good ? CKPT_OK : ckpt_run_memory(run);
}
