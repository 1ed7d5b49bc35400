/* SPDX-License-Identifier: MIT */
/*
 * Identity and optimizer digest (archives sections 2 and 4). Settings and
 * tensors are listed once, here; whoever writes an archive takes them from the
 * same two functions, so that what is written and what is identified agree.
 */
#include "model/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "model/params.h"

enum { PIECE = 4096 };

static void
add_text(struct ckpt_setting **to, const char *key, const char *value)
{
	struct ckpt_setting *s = (*to)++;

	s->key = key;
	snprintf(s->value, sizeof s->value, "%s", value);
}

static void
add_u64(struct ckpt_setting **to, const char *key, uint64_t value)
{
	struct ckpt_setting *s = (*to)++;

	s->key = key;
	snprintf(s->value, sizeof s->value, "%" PRIu64, value);
}

/* A format that says nothing of these means the plain values. */
static uint64_t
or_else(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

size_t
ckpt_archive_settings(const struct ckpt_state *state,
	struct ckpt_setting settings[CKPT_SETTINGS_MOST])
{
	const struct ckpt_config *c = &state->config;
	bool text = state->archive != CKPT_ARCHIVE_BACKBONE;
	struct ckpt_setting *to = settings;

	add_u64(&to, "backbone.context_window",
		or_else(c->context_window, c->positions));
	add_u64(&to, "backbone.feed_forward_width", c->feed_forward_width);
	add_u64(&to, "backbone.heads", c->heads);
	add_u64(&to, "backbone.kv_heads", or_else(c->kv_heads, c->heads));
	add_u64(&to, "backbone.layers", c->layers);
	add_u64(&to, "backbone.max_positions", c->positions);
	add_u64(&to, "backbone.width", c->width);
	add_text(&to, "composition", text ? "text-decoder-v1" : "backbone-v1");
	if (!text)
		return (size_t)(to - settings);
	add_text(&to, "encoder.kind", "byte-bpe-embedding-v1");
	add_text(&to, "encoder.tokenizer_layout", "1");
	add_u64(&to, "encoder.vocabulary", c->vocabulary);
	add_text(&to, "head.alias", ckpt_param_row(CKPT_SLOT_EMBEDDING)->name);
	add_text(&to, "head.kind", "tied-embedding-transpose-v1");
	return (size_t)(to - settings);
}

/* ---- tensors ------------------------------------------------------------ */

static struct ckpt_name
name_of(const char *text)
{
	return (struct ckpt_name){ (const uint8_t *)text,
		(uint32_t)strlen(text) };
}

static bool
make_constants(struct ckpt_arena *arena, const struct ckpt_state *state,
	struct ckpt_tensor *tensor)
{
	static const uint64_t dims[] = { 2 };
	uint8_t *bytes = ckpt_arena_alloc(arena, 16);

	if (!bytes)
		return false;
	ckpt_store_u64(bytes, ckpt_f64_bits(state->config.rope_base));
	ckpt_store_u64(bytes + 8, ckpt_f64_bits(state->config.rms_epsilon));
	*tensor = (struct ckpt_tensor){ .name = name_of(CKPT_TENSOR_CONSTANTS),
		.rank = 1,
		.dims = dims,
		.len = 16,
		.data = bytes };
	return true;
}

struct ckpt_tensor *
ckpt_archive_tensors(
	struct ckpt_arena *arena, const struct ckpt_state *state, uint32_t *n)
{
	uint32_t all = state->nparameters;
	struct ckpt_tensor *from =
		ckpt_arena_alloc(arena, ((size_t)all + 2) * sizeof *from);
	struct ckpt_tensor *to =
		ckpt_arena_alloc(arena, ((size_t)all + 2) * sizeof *to);
	uint32_t *order;

	if (!from || !to)
		return NULL;
	for (uint32_t i = 0; i < all; i++)
		from[i] = state->parameters[i];
	if (!make_constants(arena, state, &from[all++]))
		return NULL;
	if (state->archive != CKPT_ARCHIVE_BACKBONE &&
		state->tokenizer.kind == CKPT_BYTE_BPE) {
		from[all] = state->tokenizer.pieces[0];
		from[all++].name = name_of(CKPT_TENSOR_PAIRS);
	}
	order = ckpt_param_bytewise(arena, from, all);
	for (uint32_t i = 0; order && i < all; i++)
		to[i] = from[order[i]];
	*n = all;
	return order ? to : NULL;
}

static void
add_values(struct ckpt_sha256 *hash, const struct ckpt_tensor *t)
{
	uint8_t piece[PIECE];

	if (t->data) {
		ckpt_sha256_add(hash, t->data, (size_t)t->len);
		return;
	}
	for (uint64_t at = 0; t->fill && at < t->len; at += PIECE) {
		size_t n = t->len - at < PIECE ? (size_t)(t->len - at) : PIECE;

		t->fill(t->fill_ctx, t, at, piece, n);
		ckpt_sha256_add(hash, piece, n);
	}
}

static void
add_name(struct ckpt_sha256 *hash, const struct ckpt_name *name)
{
	ckpt_sha256_u64(hash, name->n);
	ckpt_sha256_add(hash, name->p, name->n);
}

/* Of the tensors that identity is about only the merges are no doubles. */
static void
add_tensor(struct ckpt_sha256 *hash, const struct ckpt_tensor *t)
{
	struct ckpt_name pairs = name_of(CKPT_TENSOR_PAIRS), dtype;
	bool is_pairs = t->name.n == pairs.n &&
			memcmp(t->name.p, pairs.p, pairs.n) == 0;

	dtype = name_of(is_pairs ? "U32" : "F64");
	add_name(hash, &t->name);
	add_name(hash, &dtype);
	ckpt_sha256_u64(hash, t->rank);
	for (uint32_t i = 0; i < t->rank; i++)
		ckpt_sha256_u64(hash, t->dims[i]);
	add_values(hash, t);
}

bool
ckpt_model_identity(const struct ckpt_state *state, char out[CKPT_SHA256_TEXT])
{
	struct ckpt_setting settings[CKPT_SETTINGS_MOST];
	size_t nsettings = ckpt_archive_settings(state, settings);
	struct ckpt_arena arena;
	struct ckpt_sha256 hash;
	struct ckpt_tensor *tensors;
	uint32_t n = 0;
	bool done;

	ckpt_arena_init(&arena, UINT64_MAX);
	tensors = ckpt_archive_tensors(&arena, state, &n);
	ckpt_sha256_begin(&hash);
	for (size_t i = 0; i < nsettings; i++) {
		const struct ckpt_setting *s = &settings[i];

		ckpt_sha256_add(&hash, s->key, strlen(s->key));
		ckpt_sha256_add(&hash, "=", 1);
		ckpt_sha256_add(&hash, s->value, strlen(s->value));
		ckpt_sha256_add(&hash, "\n", 1);
	}
	ckpt_sha256_add(&hash, "\n", 1);
	for (uint32_t i = 0; tensors && i < n; i++)
		add_tensor(&hash, &tensors[i]);
	done = ckpt_sha256_end(&hash, out) && tensors;
	ckpt_arena_release(&arena);
	return done;
}

bool
ckpt_optimizer_digest(
	const struct ckpt_state *state, char out[CKPT_SHA256_TEXT])
{
	const struct ckpt_adamw *a = &state->adamw;
	const double reals[] = { a->learning_rate, a->beta1, a->beta2,
		a->epsilon, a->weight_decay, state->beta1_power,
		state->beta2_power };
	struct ckpt_arena arena;
	struct ckpt_sha256 hash;
	uint32_t *order;
	bool done;

	ckpt_arena_init(&arena, UINT64_MAX);
	order = ckpt_param_bytewise(&arena, state->first, state->nmoments);
	ckpt_sha256_begin(&hash);
	for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
		ckpt_sha256_u64(&hash, ckpt_f64_bits(reals[i]));
	ckpt_sha256_u64(&hash, state->optimizer_step);
	for (uint32_t i = 0; order && i < state->nmoments; i++) {
		add_values(&hash, &state->first[order[i]]);
		add_values(&hash, &state->second[order[i]]);
	}
	done = ckpt_sha256_end(&hash, out) && order;
	ckpt_arena_release(&arena);
	return done;
}
