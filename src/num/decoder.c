/* SPDX-License-Identifier: MIT */
/*
 * The decoder's forward pass (numerics section 2; archives sections 3 and 5).
 * Every row depends on itself and on keys and values of rows before it, so a
 * row has the same bits whether the others are computed with it or came
 * earlier.
 */
#include "num/decoder.h"

#include <assert.h>
#include <string.h>

#include "num/decoder_parts.h"
#include "num/mat.h"
#include "num/rope.h"
#include "num/swiglu.h"

/* ---- attention ---------------------------------------------------------- */

void
ckpt_decoding_rotate(
	const struct ckpt_decoding *s, double *x, size_t heads, bool inverse)
{
	size_t d = s->m->width / s->m->heads, pairs = d / 2;

	for (size_t r = 0; r < s->n; r++) {
		size_t t = r % s->batch->tokens;

		for (size_t h = 0; h < heads; h++) {
			double *p = x + (r * heads + h) * d;

			(inverse ? ckpt_rope_inverse : ckpt_rope)(p, p,
				s->sn + t * pairs, s->cs + t * pairs, pairs);
		}
	}
}

struct ckpt_head
ckpt_decoding_head(const struct ckpt_decoding *s, const struct ckpt_kept *k,
	size_t layer, size_t b, size_t h)
{
	const struct ckpt_dims *m = s->m;
	size_t T = s->batch->tokens, d = m->width / m->heads;
	size_t kd = ckpt_dims_kv_width(m), group = m->width / kd;
	size_t column = h / group * d;
	struct ckpt_head head = {
		.tokens = T,
		.before = s->first,
		.width = d,
		.stride = m->width,
		.kv_stride = kd,
		.window = m->window,
		.only_seen = m->only_seen,
		.q = k->q + b * T * m->width + h * d,
		.k = k->k + b * T * kd + column,
		.v = k->v + b * T * kd + column,
		.w = k->w + (b * m->heads + h) * T * (s->first + T),
	};

	if (s->cache) {
		size_t at = layer * s->cache->room * kd + column;

		head.k = s->cache->k + at;
		head.v = s->cache->v + at;
	}
	return head;
}

static bool
attention_forward(const struct ckpt_decoding *s, const struct ckpt_block *w,
	struct ckpt_kept *k, size_t layer)
{
	size_t D = s->m->width, T = s->batch->tokens, d = D / s->m->heads;
	size_t kd = ckpt_dims_kv_width(s->m);

	ckpt_mat_mul(s->m->team, k->q, k->h, w->query, s->n, D, D);
	ckpt_mat_mul(s->m->team, k->k, k->h, w->key, s->n, D, kd);
	ckpt_mat_mul(s->m->team, k->v, k->h, w->value, s->n, D, kd);
	ckpt_decoding_rotate(s, k->q, s->m->heads, false);
	ckpt_decoding_rotate(s, k->k, kd / d, false);
	if (!ckpt_decoding_finite(s, "query", layer, k->q, s->n * D) ||
		!ckpt_decoding_finite(s, "key", layer, k->k, s->n * kd) ||
		!ckpt_decoding_finite(s, "value", layer, k->v, s->n * kd))
		return false;
	for (size_t b = 0; b < s->batch->batch; b++)
		for (size_t h = 0; h < s->m->heads; h++) {
			struct ckpt_head head =
				ckpt_decoding_head(s, k, layer, b, h);

			if (!ckpt_head_forward(
				    &head, k->merged + b * T * D + h * d))
				return ckpt_decoding_broken(s,
					"attention score", layer,
					b * s->m->heads + h);
		}
	return ckpt_decoding_finite(s, "attention", layer, k->merged, s->n * D);
}

/* ---- one block ---------------------------------------------------------- */

/* All that is kept, from k->x. */
static bool
block_inside(struct ckpt_decoding *s, const struct ckpt_block *w,
	struct ckpt_kept *k, size_t layer)
{
	size_t D = s->m->width, F = s->m->hidden, nd = s->n * D, row;

	if (!ckpt_norm_forward(k->h, &k->norm, w->attention_norm, s->m->epsilon,
		    s->n, D, &row))
		return ckpt_decoding_broken(s, "attention norm", layer, row);
	if (!ckpt_decoding_finite(s, "attention norm", layer, k->h, nd) ||
		!attention_forward(s, w, k, layer))
		return false;
	ckpt_mat_mul(s->m->team, s->t1, k->merged, w->output, s->n, D, D);
	if (s->drop)
		ckpt_dropout_forward(s->t1, s->t1, nd, s->drop,
			ckpt_decoding_word(s, layer, 0));
	for (size_t i = 0; i < nd; i++)
		k->u[i] = k->x[i] + s->t1[i];
	if (!ckpt_decoding_finite(s, "attention residual", layer, k->u, nd))
		return false;
	if (!ckpt_norm_forward(k->h2, &k->norm2, w->ffn_norm, s->m->epsilon,
		    s->n, D, &row))
		return ckpt_decoding_broken(s, "ffn norm", layer, row);
	ckpt_mat_mul(s->m->team, k->gate, k->h2, w->gate, s->n, D, F);
	ckpt_mat_mul(s->m->team, k->up, k->h2, w->up, s->n, D, F);
	if (!ckpt_decoding_finite(s, "ffn norm", layer, k->h2, nd) ||
		!ckpt_decoding_finite(s, "gate", layer, k->gate, s->n * F) ||
		!ckpt_decoding_finite(s, "up", layer, k->up, s->n * F))
		return false;
	ckpt_swiglu_forward(k->p, k->sig, k->s, k->gate, k->up, s->n * F);
	return ckpt_decoding_finite(s, "swiglu", layer, k->p, s->n * F);
}

static bool
block_forward(struct ckpt_decoding *s, size_t layer)
{
	struct ckpt_block w = ckpt_dims_block(s->m, s->parameters, layer);
	struct ckpt_kept k = ckpt_decoding_kept(s, layer);
	size_t D = s->m->width, nd = s->n * D;

	memcpy(k.x, s->x, nd * sizeof *k.x);
	if (s->inputs)
		memcpy(s->inputs + layer * nd, s->x, nd * sizeof *k.x);
	if (!block_inside(s, &w, &k, layer))
		return false;
	ckpt_mat_mul(s->m->team, s->t1, k.p, w.down, s->n, s->m->hidden, D);
	if (s->drop)
		ckpt_dropout_forward(s->t1, s->t1, nd, s->drop,
			ckpt_decoding_word(s, layer, 1));
	for (size_t i = 0; i < nd; i++)
		s->x[i] = k.u[i] + s->t1[i];
	return ckpt_decoding_finite(s, "ffn residual", layer, s->x, nd);
}

void
ckpt_decoding_again(struct ckpt_decoding *s, size_t layer)
{
	struct ckpt_block w = ckpt_dims_block(s->m, s->parameters, layer);
	struct ckpt_kept k = ckpt_decoding_kept(s, layer);
	size_t nd = s->n * s->m->width;
	bool finite;

	memcpy(k.x, s->inputs + layer * nd, nd * sizeof *k.x);
	finite = block_inside(s, &w, &k, layer);
	/* It was the first time. */
	assert(finite);
	(void)finite;
}

/* ---- the whole ---------------------------------------------------------- */

void
ckpt_decoding_embed(struct ckpt_decoding *s)
{
	size_t D = s->m->width;

	for (size_t r = 0; r < s->n; r++)
		memcpy(s->x + r * D, s->parameters + s->batch->ids[r] * D,
			D * sizeof(double));
}

bool
ckpt_decoding_features(struct ckpt_decoding *s)
{
	const struct ckpt_dims *m = s->m;
	size_t row;

	if (!ckpt_rope_tables(s->sn, s->cs, m->rope_base, s->first,
		    s->batch->tokens, m->width / m->heads / 2))
		return ckpt_decoding_broken(s, "rotary angle", 0, 0);
	for (size_t layer = 0; layer < m->layers; layer++)
		if (!block_forward(s, layer))
			return false;
	if (!ckpt_norm_forward(s->y, &s->final,
		    ckpt_dims_final(m, s->parameters), m->epsilon, s->n,
		    m->width, &row))
		return ckpt_decoding_broken(s, "final norm", 0, row);
	return ckpt_decoding_finite(s, "final norm", 0, s->y, s->n * m->width);
}

bool
ckpt_decoding_logits(const struct ckpt_decoding *s, double *logits)
{
	/* logits[r][v] = SUM(j) Y[r][j] E[v][j] */
	ckpt_mat_mul_transposed(s->m->team, logits, s->y, s->parameters, s->n,
		s->m->width, s->m->vocab);
	return ckpt_decoding_finite(s, "logits", 0, logits, s->n * s->m->vocab);
}

bool
ckpt_decoder_forward(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, double *space, double *logits,
	struct ckpt_not_finite *fault)
{
	struct ckpt_decoding s = { .m = dims,
		.parameters = parameters,
		.batch = batch,
		.fault = fault };

	ckpt_decoding_carve(&s, space, CKPT_PASS_FORWARD);
	ckpt_decoding_embed(&s);
	return ckpt_decoding_features(&s) && ckpt_decoding_logits(&s, logits);
}

bool
ckpt_decoder_hidden(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, const double *embeddings, double *space,
	double *hidden, struct ckpt_not_finite *fault)
{
	struct ckpt_decoding s = { .m = dims,
		.parameters = parameters,
		.batch = batch,
		.fault = fault };
	size_t bytes;

	ckpt_decoding_carve(&s, space, CKPT_PASS_FORWARD);
	bytes = s.n * dims->width * sizeof *hidden;
	memcpy(s.x, embeddings, bytes);
	if (!ckpt_decoding_finite(
		    &s, "embeddings", 0, s.x, s.n * dims->width) ||
		!ckpt_decoding_features(&s))
		return false;
	memcpy(hidden, s.y, bytes);
	return true;
}

bool
ckpt_decoder_extend(const struct ckpt_dims *dims, double *parameters,
	const uint32_t *ids, size_t n, struct ckpt_cache *cache, double *space,
	double *logits, struct ckpt_not_finite *fault)
{
	const struct ckpt_batch batch = { 1, n, ids, NULL };
	struct ckpt_decoding s = { .m = dims,
		.parameters = parameters,
		.batch = &batch,
		.first = cache->tokens,
		.cache = cache,
		.fault = fault };

	assert(dims->only_seen && n <= cache->room - cache->tokens);
	ckpt_decoding_carve(&s, space, CKPT_PASS_FORWARD);
	ckpt_decoding_embed(&s);
	if (!ckpt_decoding_features(&s) || !ckpt_decoding_logits(&s, logits))
		return false;
	cache->tokens += n;
	return true;
}
