/* SPDX-License-Identifier: MIT */
/*
 * The decoder's backward pass (numerics section 4; archives sections 3 and
 * 5). Every sum of adjoints is written out in the order in which the
 * contributions arrive: residual path first, then up before gate, then value,
 * key, query.
 *
 * Gradients either take the place of what was there, and must be finite, or
 * are added to it. A matrix's gradient is one sum over the tokens, so adding
 * that to what is there is the same as making it first and adding it later;
 * where a gradient has several parts, those are put together first.
 */
#include <math.h>
#include <string.h>

#include "num/decoder_parts.h"
#include "num/loss.h"
#include "num/mat.h"
#include "num/swiglu.h"
#include "num/zero.h"

/* ---- gradients of parameters -------------------------------------------- */

static void
outer(const struct ckpt_decoding *s, double *g, const double *x,
	const double *d, size_t in, size_t out)
{
	if (s->add)
		ckpt_mat_outer_add(s->m->team, g, x, d, s->n, in, out);
	else
		ckpt_mat_outer(s->m->team, g, x, d, s->batch->batch,
			s->batch->tokens, in, out);
}

/* dx takes the three contributions of RMSBACK. */
static void
norm_backward(const struct ckpt_decoding *s, double *g, const double *dy,
	const struct ckpt_norm *norm, const double *gain)
{
	size_t D = s->m->width;
	double *to = s->add ? s->gain : g;

	ckpt_norm_backward(s->dx, to, dy, norm, gain, s->n, D);
	for (size_t j = 0; s->add && j < D; j++)
		g[j] = g[j] + to[j];
}

/* ---- attention ---------------------------------------------------------- */

/* One head's dk and dv become part of those of its key/value head: the first
 * of a group in place, the others added in their order. */
static bool
head_backward(const struct ckpt_decoding *s, const struct ckpt_head *head,
	size_t at, double *dk, double *dv, bool first)
{
	size_t d = head->width, kd = head->kv_stride;
	bool finite;

	if (first)
		return ckpt_head_backward(
			head, s->dm + at, s->t1 + at, dk, dv, kd, s->scores);
	finite = ckpt_head_backward(
		head, s->dm + at, s->t1 + at, s->dk1, s->dv1, d, s->scores);
	for (size_t t = 0; t < head->tokens; t++)
		for (size_t f = 0; f < d; f++) {
			dk[t * kd + f] = dk[t * kd + f] + s->dk1[t * d + f];
			dv[t * kd + f] = dv[t * kd + f] + s->dv1[t * d + f];
		}
	return finite;
}

/* dmerged is in dm; dq, dk and dv end in t1, t2 and t3. */
static bool
heads_backward(
	const struct ckpt_decoding *s, const struct ckpt_kept *k, size_t layer)
{
	size_t T = s->batch->tokens, D = s->m->width, d = D / s->m->heads;
	size_t kd = ckpt_dims_kv_width(s->m), group = D / kd;

	for (size_t b = 0; b < s->batch->batch; b++)
		for (size_t h = 0; h < s->m->heads; h++) {
			struct ckpt_head head =
				ckpt_decoding_head(s, k, layer, b, h);
			size_t kv = b * T * kd + h / group * d;

			if (!head_backward(s, &head, b * T * D + h * d,
				    s->t2 + kv, s->t3 + kv, h % group == 0) &&
				!s->add)
				return ckpt_decoding_broken(s,
					"attention weight gradient", layer,
					b * s->m->heads + h);
		}
	ckpt_decoding_rotate(s, s->t1, s->m->heads, true);
	ckpt_decoding_rotate(s, s->t2, kd / d, true);
	return true;
}

/* Gradients of query, key and value weights; dh ends in t1. */
static bool
attention_backward(const struct ckpt_decoding *s, const struct ckpt_block *w,
	const struct ckpt_block *g, const struct ckpt_kept *k, size_t layer)
{
	size_t D = s->m->width, kd = ckpt_dims_kv_width(s->m), nd = s->n * D;
	double *dq = s->t1, *dk = s->t2, *dv = s->t3;
	double *dh = s->dm, *t = s->dm + nd;

	if (!heads_backward(s, k, layer))
		return false;
	/* dh = (P0(t_v) + t_k) + t_q; dm was read for the last time. */
	ckpt_mat_mul_transposed(s->m->team, dh, dv, w->value, s->n, kd, D);
	outer(s, g->value, k->h, dv, D, kd);
	ckpt_mat_mul_transposed(s->m->team, t, dk, w->key, s->n, kd, D);
	outer(s, g->key, k->h, dk, D, kd);
	for (size_t i = 0; i < nd; i++)
		dh[i] = ckpt_p0(dh[i]) + t[i];
	ckpt_mat_mul_transposed(s->m->team, t, dq, w->query, s->n, D, D);
	outer(s, g->query, k->h, dq, D, D);
	for (size_t i = 0; i < nd; i++)
		s->t1[i] = dh[i] + t[i];
	return true;
}

/* ---- one block ---------------------------------------------------------- */

/* The gradient of what dropout was given, at a site whose result has gradient
 * dx: dx itself if there is none, else in t2. */
static const double *
undropped(const struct ckpt_decoding *s, size_t layer, unsigned site)
{
	if (!s->drop)
		return s->dx;
	ckpt_dropout_backward(s->t2, s->dx, s->n * s->m->width, s->drop,
		ckpt_decoding_word(s, layer, site));
	return s->t2;
}

/* dx holds the gradient of the block's output and becomes that of its
 * input. */
static bool
block_backward(struct ckpt_decoding *s, double *gradients, size_t layer)
{
	struct ckpt_block w = ckpt_dims_block(s->m, s->parameters, layer);
	struct ckpt_block g = ckpt_dims_block(s->m, gradients, layer);
	struct ckpt_kept k = ckpt_decoding_kept(s, layer);
	size_t D = s->m->width, F = s->m->hidden, nd = s->n * D;
	const double *d = undropped(s, layer, 1);

	/* dU = dX, and dDn = dX as well */
	ckpt_mat_mul_transposed(s->m->team, s->dp, d, w.down, s->n, D, F);
	outer(s, g.down, k.p, d, F, D);
	ckpt_swiglu_backward(
		s->dp, s->du, s->dp, k.gate, k.up, k.sig, k.s, s->n * F);
	/* dh2 = P0(t_up) + t_gate */
	ckpt_mat_mul_transposed(s->m->team, s->t1, s->du, w.up, s->n, F, D);
	outer(s, g.up, k.h2, s->du, D, F);
	ckpt_mat_mul_transposed(s->m->team, s->t2, s->dp, w.gate, s->n, F, D);
	outer(s, g.gate, k.h2, s->dp, D, F);
	for (size_t i = 0; i < nd; i++)
		s->t1[i] = ckpt_p0(s->t1[i]) + s->t2[i];
	norm_backward(s, g.ffn_norm, s->t1, &k.norm2, w.ffn_norm);
	/* dX = dU, and dA = dU as well */
	d = undropped(s, layer, 0);
	ckpt_mat_mul_transposed(s->m->team, s->dm, d, w.output, s->n, D, D);
	outer(s, g.output, k.merged, d, D, D);
	if (!attention_backward(s, &w, &g, &k, layer))
		return false;
	norm_backward(s, g.attention_norm, s->t1, &k.norm, w.attention_norm);
	if (s->add)
		return true;
	return ckpt_decoding_finite(s, "block gradient", layer, s->dx, nd) &&
	       ckpt_decoding_finite(s, "parameter gradient", layer,
		       g.attention_norm, ckpt_dims_block_scalars(s->m));
}

/* ---- the embedding ------------------------------------------------------ */

/* Whether no row before r looks up the same token. */
static bool
is_first(const struct ckpt_decoding *s, size_t r)
{
	for (size_t q = 0; q < r; q++)
		if (s->batch->ids[q] == s->batch->ids[r])
			return false;
	return true;
}

/* Puts aside the rows to which more than the head will contribute. */
static void
put_aside(const struct ckpt_decoding *s, double *g)
{
	size_t D = s->m->width, bytes = D * sizeof *g;

	for (size_t r = 0; r < s->n; r++)
		if (is_first(s, r)) {
			double *row = g + s->batch->ids[r] * D;

			memcpy(s->rows + r * D, row, bytes);
			memset(row, 0, bytes);
		}
}

/* gather[v][j] is summed over the rows that look v up, then added to what the
 * head gave: dE = P0(dEhead) + gather. */
static void
embedding_gradient(const struct ckpt_decoding *s, double *g, double *gather)
{
	size_t D = s->m->width;
	const uint32_t *ids = s->batch->ids;

	for (size_t r = 0; r < s->n; r++) {
		double *row = g + ids[r] * D;

		if (!is_first(s, r))
			continue;
		memset(gather, 0, D * sizeof *gather);
		for (size_t q = r; q < s->n; q++)
			for (size_t j = 0; ids[q] == ids[r] && j < D; j++)
				gather[j] = gather[j] + s->dx[q * D + j];
		for (size_t j = 0; j < D; j++)
			row[j] = ckpt_p0(row[j]) + gather[j];
		for (size_t j = 0; s->add && j < D; j++)
			row[j] = s->rows[r * D + j] + row[j];
	}
}

/* ---- the whole ---------------------------------------------------------- */

/* From dZ, which is in logits. */
static bool
backward(struct ckpt_decoding *s, const double *dz, double *gradients)
{
	const struct ckpt_dims *m = s->m;
	size_t V = m->vocab, D = m->width;
	double *final = ckpt_dims_final(m, gradients);

	if (s->add)
		put_aside(s, gradients);
	/* head: dY[r][j] = SUM(v) dZ[r][v] E[v][j] */
	ckpt_mat_mul(m->team, s->t1, dz, s->parameters, s->n, V, D);
	outer(s, gradients, dz, s->y, V, D);
	memset(s->dx, 0, s->n * D * sizeof *s->dx);
	norm_backward(
		s, final, s->t1, &s->final, ckpt_dims_final(m, s->parameters));
	if (!s->add &&
		!ckpt_decoding_finite(s, "head gradient", 0, s->dx, s->n * D))
		return false;
	for (size_t layer = m->layers; layer-- > 0;) {
		/* What the last block keeps is still there. */
		if (s->inputs && layer + 1 < m->layers)
			ckpt_decoding_again(s, layer);
		if (!block_backward(s, gradients, layer))
			return false;
	}
	embedding_gradient(s, gradients, s->t1);
	if (s->add)
		return true;
	return ckpt_decoding_finite(
		       s, "embedding gradient", 0, gradients, V * D) &&
	       ckpt_decoding_finite(s, "final norm gradient", 0, final, D);
}

bool
ckpt_decoder_gradients(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, double *space, double *logits,
	double *gradients, double *loss, struct ckpt_not_finite *fault)
{
	struct ckpt_decoding s = { .m = dims,
		.parameters = parameters,
		.batch = batch,
		.fault = fault };

	ckpt_decoding_carve(&s, space, CKPT_PASS_BACKWARD);
	ckpt_decoding_embed(&s);
	if (!ckpt_decoding_features(&s) || !ckpt_decoding_logits(&s, logits))
		return false;
	*loss = ckpt_loss_forward(
		logits, logits, batch->targets, s.n, dims->vocab);
	if (!isfinite(*loss))
		return ckpt_decoding_broken(&s, "loss", 0, 0);
	ckpt_loss_backward(logits, logits, batch->targets, s.n, dims->vocab,
		1.0 / (double)s.n);
	return backward(&s, logits, gradients);
}

bool
ckpt_decoder_accumulate(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_microbatch *microbatch, double *space, double *logits,
	double *gradients, double *total, struct ckpt_not_finite *fault)
{
	const struct ckpt_batch *batch = &microbatch->batch;
	struct ckpt_decoding s = { .m = dims,
		.parameters = parameters,
		.batch = batch,
		.drop = &microbatch->dropout,
		.add = true,
		.fault = fault };

	ckpt_decoding_carve(&s, space,
		microbatch->recompute ? CKPT_PASS_RECOMPUTED
				      : CKPT_PASS_BACKWARD);
	ckpt_decoding_embed(&s);
	if (!ckpt_decoding_features(&s) || !ckpt_decoding_logits(&s, logits))
		return false;
	ckpt_loss_terms(
		logits, logits, batch->targets, s.n, dims->vocab, total);
	ckpt_loss_backward(logits, logits, batch->targets, s.n, dims->vocab,
		microbatch->factor);
	return backward(&s, logits, gradients);
}
