/* SPDX-License-Identifier: MIT */
/*
 * Archives: writing a state. What a state means is put together as metadata
 * and tensors, in any order; the writer of safetensors sorts both, so that the
 * file's bytes follow from the meaning.
 */
#include "format/archive.h"

#include "base/buf.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "format/safetensors_write.h"
#include "model/config.h"
#include "model/identity.h"

enum { SMALL_BYTES = 8 * ARCHIVE_WORDS };

/* A file in the making. */
struct maker {
	const struct ckpt_state *state;
	struct ckpt_arena arena;
	struct safetensors_pair metadata[ARCHIVE_KEYS];
	uint32_t nmetadata;
	struct safetensors_part *parts; /* room for all */
	uint32_t nparts;
	struct ckpt_setting settings[CKPT_SETTINGS_MOST];
	bool failed; /* for want of memory */
};

static struct ckpt_name
name_of(const char *text)
{
	return (struct ckpt_name){ (const uint8_t *)text,
		(uint32_t)strlen(text) };
}

/* ---- Metadata ----------------------------------------------------------- */

static void
add_name(struct maker *m, const char *key, struct ckpt_name value)
{
	m->metadata[m->nmetadata++] =
		(struct safetensors_pair){ name_of(key), value };
}

static void
add_text(struct maker *m, const char *key, const char *value)
{
	add_name(m, key, name_of(value));
}

/* Names one a line. */
static void
add_lines(struct maker *m, const char *key, const struct ckpt_name *names,
	uint32_t n)
{
	struct ckpt_buf buf;
	char *text;

	ckpt_buf_init(&buf);
	for (uint32_t i = 0; i < n; i++) {
		ckpt_buf_puts(&buf, i ? "\n" : "");
		ckpt_buf_add(&buf, names[i].p, names[i].n);
	}
	text = buf.failed ? NULL
			  : ckpt_arena_strndup(
				    &m->arena, buf.p ? buf.p : "", buf.n);
	m->failed |= !text || buf.n > UINT32_MAX;
	add_name(m, key,
		(struct ckpt_name){ (const uint8_t *)text, (uint32_t)buf.n });
	ckpt_buf_release(&buf);
}

static void
add_metadata(struct maker *m)
{
	const struct ckpt_state *s = m->state;
	const struct ckpt_training *t = s->training;
	size_t n = ckpt_archive_settings(s, m->settings);

	add_text(m, archive_keys[ARCHIVE_KIND].name,
		t ? "training-checkpoint" : "portable-model");
	add_text(m, archive_keys[ARCHIVE_VERSION].name, "1");
	for (size_t i = 0; i < n; i++)
		add_text(m, m->settings[i].key, m->settings[i].value);
	if (!t)
		return;
	add_text(m, archive_keys[ARCHIVE_DATA].name, t->data_sha256);
	add_name(m, archive_keys[ARCHIVE_ARITHMETIC].name,
		t->envelope.arithmetic);
	add_text(m, archive_keys[ARCHIVE_EXECUTABLE].name,
		t->envelope.executable);
	if (t->envelope.noverrides > 0)
		add_lines(m, archive_keys[ARCHIVE_OVERRIDES].name,
			t->envelope.overrides, t->envelope.noverrides);
	add_text(m, archive_keys[ARCHIVE_SEMANTICS].name,
		CKPT_ENVELOPE_SEMANTICS);
	if (s->groups) {
		add_lines(m, archive_keys[ARCHIVE_DECAY].name, s->decay,
			s->ndecay);
		add_lines(m, archive_keys[ARCHIVE_NO_DECAY].name, s->no_decay,
			s->nno_decay);
	}
	add_text(m, archive_keys[ARCHIVE_RECOMPUTE].name,
		t->recompute_blocks ? "1" : "0");
}

/* ---- Tensors ------------------------------------------------------------ */

static void
add_part(struct maker *m, const struct ckpt_tensor *tensor, const char *dtype)
{
	m->parts[m->nparts++] = (struct safetensors_part){ *tensor,
		safetensors_dtype_find(dtype, strlen(dtype)) };
}

/* One of the small tensors, of n words. */
static void
add_words(struct maker *m, enum archive_small row, const uint64_t *words,
	uint64_t n)
{
	size_t bytes;
	uint8_t *data = NULL;
	uint64_t *dims = ckpt_arena_alloc(&m->arena, sizeof *dims);

	if (ckpt_mul_u64(n, 8, &(uint64_t){ 0 }) && ckpt_to_size(8 * n, &bytes))
		data = ckpt_arena_alloc(&m->arena, bytes);
	m->failed |= !data || !dims;
	if (m->failed)
		return;
	*dims = n;
	for (uint64_t i = 0; i < n; i++)
		ckpt_store_u64(data + 8 * i, words[i]);
	add_part(m,
		&(struct ckpt_tensor){ .name = name_of(archive_small[row].name),
			.rank = 1,
			.dims = dims,
			.len = 8 * n,
			.data = data },
		archive_small[row].dtype);
}

static void
add_reals(struct maker *m, enum archive_small row, const double *x, uint64_t n)
{
	uint64_t words[ARCHIVE_WORDS];

	for (uint64_t i = 0; i < n; i++)
		words[i] = ckpt_f64_bits(x[i]);
	add_words(m, row, words, n);
}

static void
add_moments(
	struct maker *m, const struct ckpt_tensor *moments, const char *prefix)
{
	size_t before = strlen(prefix);

	for (uint32_t i = 0; i < m->state->nmoments; i++) {
		struct ckpt_tensor t = moments[i];
		uint8_t *name =
			ckpt_arena_bytes(&m->arena, before + moments[i].name.n);

		m->failed |= !name;
		if (!name)
			return;
		memcpy(name, prefix, before);
		memcpy(name + before, t.name.p, t.name.n);
		t.name.p = name;
		t.name.n += (uint32_t)before;
		add_part(m, &t, "F64");
	}
}

static void
add_optimizer(struct maker *m)
{
	const struct ckpt_state *s = m->state;
	const struct ckpt_adamw *a = &s->adamw;

	add_reals(m, ARCHIVE_SETTINGS,
		(const double[]){ a->learning_rate, a->beta1, a->beta2,
			a->epsilon, a->weight_decay },
		5);
	add_reals(m, ARCHIVE_POWERS,
		(const double[]){ s->beta1_power, s->beta2_power }, 2);
	add_words(m, ARCHIVE_STEP, &s->optimizer_step, 1);
	add_moments(m, s->first, ARCHIVE_FIRST);
	add_moments(m, s->second, ARCHIVE_SECOND);
}

static void
add_training(struct maker *m)
{
	const struct ckpt_training *t = m->state->training;
	const struct ckpt_schedule *plan = &t->schedule;
	const struct ckpt_scaler *scaler = &t->scaler;

	add_reals(m, ARCHIVE_RATES, (const double[]){ plan->peak, plan->final },
		2);
	add_words(m, ARCHIVE_STEPS,
		(const uint64_t[]){ plan->updates, plan->warmup }, 2);
	add_reals(m, ARCHIVE_CLIP, &t->clip, 1);
	add_words(m, ARCHIVE_ORDER, t->order, t->documents);
	add_words(m, ARCHIVE_CURSOR, &t->cursor, 1);
	add_words(m, ARCHIVE_TRAVERSALS, &t->traversals, 1);
	add_reals(m, ARCHIVE_PROBABILITY, &t->dropout_probability, 1);
	add_words(m, ARCHIVE_SEED, &t->dropout_seed, 1);
	add_words(m, ARCHIVE_COUNTER,
		(const uint64_t[]){ t->dropout_seed, t->dropout_counter }, 2);
	add_words(m, ARCHIVE_SAMPLING, &m->state->sampling_rng_state, 1);
	add_reals(m, ARCHIVE_BOUNDS,
		(const double[]){ scaler->scale, scaler->min, scaler->max }, 3);
	add_words(m, ARCHIVE_PROGRESS,
		(const uint64_t[]){ scaler->interval, scaler->progress }, 2);
	add_words(m, ARCHIVE_MICROBATCHES,
		(const uint64_t[]){ t->microbatches, 0 }, 2);
}

/* ---- The file ----------------------------------------------------------- */

/* What no archive may be, whoever makes it. */
static bool
can_be(const struct ckpt_state *s)
{
	struct ckpt_config config = s->config;
	struct ckpt_buf why;
	bool good;

	if ((s->archive == CKPT_ARCHIVE_TRAINING) != (s->training != NULL))
		return false;
	if (s->archive == CKPT_ARCHIVE_BACKBONE)
		config.vocabulary = 1;
	else if (s->tokenizer.kind != CKPT_BYTE_BPE ||
		 s->tokenizer.npieces != 1 ||
		 config.vocabulary !=
			 CKPT_BPE_BASE_IDS + s->tokenizer.pieces[0].len / 8)
		return false;
	ckpt_buf_init(&why);
	good = ckpt_config_check(&config, &why);
	ckpt_buf_release(&why);
	return good;
}

static enum ckpt_status
make(struct maker *m, const struct ckpt_state *state)
{
	struct ckpt_tensor *tensors;
	uint32_t n = 0;

	*m = (struct maker){ .state = state };
	ckpt_arena_init(&m->arena, UINT64_MAX);
	if (!can_be(state))
		return CKPT_REJECTED;
	tensors = ckpt_archive_tensors(&m->arena, state, &n);
	m->parts = ckpt_arena_alloc(&m->arena,
		((size_t)n + 2 * (size_t)state->nmoments + ARCHIVE_SMALL) *
			sizeof *m->parts);
	if (!tensors || !m->parts)
		return ckpt_arena_status(&m->arena);
	for (uint32_t i = 0; i < n; i++) {
		bool pairs = tensors[i].name.n == strlen(CKPT_TENSOR_PAIRS) &&
			     memcmp(tensors[i].name.p, CKPT_TENSOR_PAIRS,
				     tensors[i].name.n) == 0;

		add_part(m, &tensors[i], pairs ? "U32" : "F64");
	}
	add_metadata(m);
	if (state->training) {
		add_optimizer(m);
		add_training(m);
	}
	return m->failed ? CKPT_ENOMEM : CKPT_OK;
}

static enum ckpt_status
write_made(struct maker *m, struct ckpt_writer *writer)
{
	const struct safetensors_meaning meaning = {
		.metadata = m->metadata,
		.nmetadata = m->nmetadata,
		.parts = m->parts,
		.nparts = m->nparts,
	};

	return safetensors_write(&meaning, &m->arena, writer);
}

enum ckpt_status
archive_encode(const struct ckpt_state *state, struct ckpt_writer *writer)
{
	struct maker m;
	enum ckpt_status status = make(&m, state);

	if (status == CKPT_OK)
		status = write_made(&m, writer);
	ckpt_arena_release(&m.arena);
	return status;
}

/* Ends the writing behind the header. */
struct counter {
	struct ckpt_writer writer;
	uint64_t n;
};

static enum ckpt_status
count(struct ckpt_writer *writer, const void *bytes, size_t n)
{
	(void)bytes;
	((struct counter *)writer)->n = n;
	return CKPT_STOP;
}

enum ckpt_status
archive_measure(const struct ckpt_state *state, uint64_t *bytes)
{
	struct counter counter = { .writer = { .write = count } };
	struct maker m;
	enum ckpt_status status = make(&m, state);

	if (status == CKPT_OK)
		status = write_made(&m, &counter.writer);
	if (status == CKPT_STOP)
		status = CKPT_OK;
	*bytes = counter.n;
	for (uint32_t i = 0; i < m.nparts && status == CKPT_OK; i++)
		if (!ckpt_add_u64(*bytes, m.parts[i].tensor.len, bytes))
			status = CKPT_REJECTED;
	ckpt_arena_release(&m.arena);
	return status;
}
