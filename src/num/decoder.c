/* SPDX-License-Identifier: MIT */
/*
 * The whole decoder (numerics sections 2 to 4). Forward and backward of a
 * block stand together; every sum of adjoints is written out in the order in
 * which the contributions arrive: residual path first, then up before gate,
 * then value, key, query.
 */
#include "num/decoder.h"

#include <math.h>
#include <string.h>

#include "num/attn.h"
#include "num/loss.h"
#include "num/mat.h"
#include "num/norm.h"
#include "num/rope.h"
#include "num/swiglu.h"
#include "num/zero.h"

/* ---- parameters --------------------------------------------------------- */

static size_t
block_scalars(const struct ckpt_dims *m)
{
	return 2 * m->width + 4 * m->width * m->width +
	       3 * m->width * m->hidden;
}

size_t
ckpt_dims_scalars(const struct ckpt_dims *m)
{
	return m->vocab * m->width + m->layers * block_scalars(m) + m->width;
}

struct ckpt_block
ckpt_dims_block(const struct ckpt_dims *m, double *p, size_t layer)
{
	size_t dd = m->width * m->width, df = m->width * m->hidden;
	struct ckpt_block b;

	p += m->vocab * m->width + layer * block_scalars(m);
	b.attention_norm = p;
	b.query = b.attention_norm + m->width;
	b.key = b.query + dd;
	b.value = b.key + dd;
	b.output = b.value + dd;
	b.ffn_norm = b.output + dd;
	b.gate = b.ffn_norm + m->width;
	b.up = b.gate + df;
	b.down = b.up + df;
	return b;
}

double *
ckpt_dims_final(const struct ckpt_dims *m, double *p)
{
	return p + m->vocab * m->width + m->layers * block_scalars(m);
}

/* ---- work space --------------------------------------------------------- */

/* What one block keeps for the backward pass; [N][D] unless said. */
struct kept {
	double *x; /* input of the block */
	struct ckpt_norm norm;
	double *h, *q, *k, *v;
	double *w; /* [B][H][T][T] */
	double *merged, *u;
	struct ckpt_norm norm2;
	double *h2;
	double *gate, *up, *sig, *s, *p; /* [N][F] */
};

/* Everything of one pass, carved from the caller's space. */
struct pass {
	const struct ckpt_dims *m;
	double *parameters;
	const struct ckpt_batch *batch;
	size_t n;        /* rows: B x T */
	double *sn, *cs; /* [T][pairs] */
	double *base;    /* of the blocks' space */
	size_t stride;   /* doubles of a block; 0: all share one */
	double *x;       /* [N][D] */
	struct ckpt_norm final;
	double *y;                      /* [N][D] */
	double *dx, *t1, *t2, *t3, *dm; /* [N][D], backward only */
	double *dp, *du;                /* [N][F] */
	double *scores;                 /* [2][T][T] */
	struct ckpt_not_finite *fault;
};

static double *
carve(double **at, size_t n)
{
	double *p = *at;

	*at += n;
	return p;
}

static struct ckpt_norm
carve_norm(double **at, size_t n, size_t width)
{
	struct ckpt_norm norm = { 0 };

	norm.a = carve(at, n);
	norm.inv = carve(at, n);
	norm.n = carve(at, n * width);
	return norm;
}

static struct kept
kept_of(const struct pass *s, size_t layer)
{
	double *at = s->base + layer * s->stride;
	size_t nd = s->n * s->m->width, nf = s->n * s->m->hidden;
	struct kept k;

	k.x = carve(&at, nd);
	k.norm = carve_norm(&at, s->n, s->m->width);
	k.h = carve(&at, nd);
	k.q = carve(&at, nd);
	k.k = carve(&at, nd);
	k.v = carve(&at, nd);
	k.w = carve(&at, s->n * s->batch->tokens * s->m->heads);
	k.merged = carve(&at, nd);
	k.u = carve(&at, nd);
	k.norm2 = carve_norm(&at, s->n, s->m->width);
	k.h2 = carve(&at, nd);
	k.gate = carve(&at, nf);
	k.up = carve(&at, nf);
	k.sig = carve(&at, nf);
	k.s = carve(&at, nf);
	k.p = carve(&at, nf);
	k.norm.x = k.x;
	k.norm2.x = k.u;
	return k;
}

/* a x b + c, or "too large" for good. */
static size_t
sized(size_t a, size_t b, size_t c, bool *fits)
{
	size_t n = 0;

	*fits &= !__builtin_mul_overflow(a, b, &n) &&
		 !__builtin_add_overflow(n, c, &n);
	return n;
}

static size_t
block_space(const struct ckpt_dims *m, size_t n, size_t tokens, bool *fits)
{
	size_t nd = sized(n, m->width, 0, fits);
	size_t nf = sized(n, m->hidden, 0, fits);
	size_t w = sized(sized(n, tokens, 0, fits), m->heads, 0, fits);
	size_t all = sized(10, nd, 0, fits);

	all = sized(5, nf, all, fits);
	all = sized(4, n, all, fits);
	return sized(1, w, all, fits);
}

bool
ckpt_decoder_space(const struct ckpt_dims *m, size_t batch, size_t tokens,
	bool backward, size_t *doubles)
{
	bool fits = true;
	size_t n = sized(batch, tokens, 0, &fits);
	size_t blocks = backward ? m->layers : (m->layers ? 1 : 0);
	size_t nd = sized(n, m->width, 0, &fits);
	size_t all = sized(blocks, block_space(m, n, tokens, &fits), 0, &fits);

	all = sized(tokens, m->width / m->heads, all, &fits);
	all = sized(3, nd, all, &fits); /* x, y, final.n */
	all = sized(2, n, all, &fits);
	if (backward) {
		all = sized(6, nd, all, &fits);
		all = sized(2, sized(n, m->hidden, 0, &fits), all, &fits);
		all = sized(2, sized(tokens, tokens, 0, &fits), all, &fits);
	} else {
		all = sized(1, nd, all, &fits);
	}
	*doubles = all;
	return fits && all <= SIZE_MAX / sizeof(double);
}

static void
pass_init(struct pass *s, const struct ckpt_dims *m, double *parameters,
	const struct ckpt_batch *batch, double *space, bool backward)
{
	size_t pairs = m->width / m->heads / 2, nd, nf;
	bool fits = true;

	memset(s, 0, sizeof *s);
	s->m = m;
	s->parameters = parameters;
	s->batch = batch;
	s->n = batch->batch * batch->tokens;
	nd = s->n * m->width;
	nf = s->n * m->hidden;
	s->sn = carve(&space, batch->tokens * pairs);
	s->cs = carve(&space, batch->tokens * pairs);
	s->x = carve(&space, nd);
	s->y = carve(&space, nd);
	s->final = carve_norm(&space, s->n, m->width);
	s->final.x = s->x;
	s->t1 = carve(&space, nd);
	if (backward) {
		s->dx = carve(&space, nd);
		s->t2 = carve(&space, nd);
		s->t3 = carve(&space, nd);
		s->dm = carve(&space, 2 * nd);
		s->dp = carve(&space, nf);
		s->du = carve(&space, nf);
		s->scores = carve(&space, 2 * batch->tokens * batch->tokens);
		s->stride = block_space(m, s->n, batch->tokens, &fits);
	}
	s->base = space;
}

/* ---- finite or not ------------------------------------------------------ */

/* Infinities and NaNs survive being multiplied by zero as NaN, so one sum
 * tells whether a closer look is needed. */
static bool
all_finite(const struct pass *s, const char *operation, size_t layer,
	const double *p, size_t n)
{
	double probe = 0.0;

	for (size_t i = 0; i < n; i++)
		probe += p[i] * 0.0;
	if (probe == 0.0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (!isfinite(p[i])) {
			*s->fault = (struct ckpt_not_finite){ operation, layer,
				i, p[i] };
			return false;
		}
	return true;
}

static bool
broken(const struct pass *s, const char *operation, size_t layer, size_t at)
{
	*s->fault =
		(struct ckpt_not_finite){ operation, layer, at, (double)NAN };
	return false;
}

/* ---- attention ---------------------------------------------------------- */

static void
rotate(const struct pass *s, double *x, bool inverse)
{
	size_t d = s->m->width / s->m->heads, pairs = d / 2;

	for (size_t r = 0; r < s->n; r++) {
		size_t t = r % s->batch->tokens;

		for (size_t h = 0; h < s->m->heads; h++) {
			double *p = x + r * s->m->width + h * d;

			(inverse ? ckpt_rope_inverse : ckpt_rope)(p, p,
				s->sn + t * pairs, s->cs + t * pairs, pairs);
		}
	}
}

static struct ckpt_head
head_of(const struct pass *s, const struct kept *k, size_t b, size_t h)
{
	size_t T = s->batch->tokens, d = s->m->width / s->m->heads;
	size_t at = b * T * s->m->width + h * d;

	return (struct ckpt_head){ T, d, s->m->width, k->q + at, k->k + at,
		k->v + at, k->w + (b * s->m->heads + h) * T * T };
}

static bool
attention_forward(const struct pass *s, const struct ckpt_block *w,
	struct kept *k, size_t layer)
{
	size_t D = s->m->width, T = s->batch->tokens, d = D / s->m->heads;

	ckpt_mat_mul(s->m->team, k->q, k->h, w->query, s->n, D, D);
	ckpt_mat_mul(s->m->team, k->k, k->h, w->key, s->n, D, D);
	ckpt_mat_mul(s->m->team, k->v, k->h, w->value, s->n, D, D);
	rotate(s, k->q, false);
	rotate(s, k->k, false);
	if (!all_finite(s, "query", layer, k->q, s->n * D) ||
		!all_finite(s, "key", layer, k->k, s->n * D) ||
		!all_finite(s, "value", layer, k->v, s->n * D))
		return false;
	for (size_t b = 0; b < s->batch->batch; b++)
		for (size_t h = 0; h < s->m->heads; h++) {
			struct ckpt_head head = head_of(s, k, b, h);

			if (!ckpt_head_forward(
				    &head, k->merged + b * T * D + h * d))
				return broken(s, "attention score", layer,
					b * s->m->heads + h);
		}
	return all_finite(s, "attention", layer, k->merged, s->n * D);
}

/* Gradients of query, key and value weights; dh ends in t1. */
static bool
attention_backward(const struct pass *s, const struct ckpt_block *w,
	const struct ckpt_block *g, const struct kept *k, size_t layer)
{
	size_t B = s->batch->batch, T = s->batch->tokens, D = s->m->width;
	size_t d = D / s->m->heads, nd = s->n * D;
	double *dq = s->t1, *dk = s->t2, *dv = s->t3;
	double *dh = s->dm, *t = s->dm + nd;

	/* dmerged is in dm; it is read for the last time here. */
	for (size_t b = 0; b < B; b++)
		for (size_t h = 0; h < s->m->heads; h++) {
			struct ckpt_head head = head_of(s, k, b, h);
			size_t at = b * T * D + h * d;

			if (!ckpt_head_backward(&head, s->dm + at, dq + at,
				    dk + at, dv + at, s->scores))
				return broken(s, "attention weight gradient",
					layer, b * s->m->heads + h);
		}
	rotate(s, dq, true);
	rotate(s, dk, true);
	/* dh = (P0(t_v) + t_k) + t_q */
	ckpt_mat_mul_transposed(s->m->team, dh, dv, w->value, s->n, D, D);
	ckpt_mat_outer(s->m->team, g->value, k->h, dv, B, T, D, D);
	ckpt_mat_mul_transposed(s->m->team, t, dk, w->key, s->n, D, D);
	ckpt_mat_outer(s->m->team, g->key, k->h, dk, B, T, D, D);
	for (size_t i = 0; i < nd; i++)
		dh[i] = ckpt_p0(dh[i]) + t[i];
	ckpt_mat_mul_transposed(s->m->team, t, dq, w->query, s->n, D, D);
	ckpt_mat_outer(s->m->team, g->query, k->h, dq, B, T, D, D);
	for (size_t i = 0; i < nd; i++)
		s->t1[i] = dh[i] + t[i];
	return true;
}

/* ---- one block ---------------------------------------------------------- */

static bool
block_forward(struct pass *s, size_t layer)
{
	struct ckpt_block w = ckpt_dims_block(s->m, s->parameters, layer);
	struct kept k = kept_of(s, layer);
	size_t D = s->m->width, F = s->m->hidden, nd = s->n * D, row;

	memcpy(k.x, s->x, nd * sizeof *k.x);
	if (!ckpt_norm_forward(k.h, &k.norm, w.attention_norm, s->m->epsilon,
		    s->n, D, &row))
		return broken(s, "attention norm", layer, row);
	if (!all_finite(s, "attention norm", layer, k.h, nd) ||
		!attention_forward(s, &w, &k, layer))
		return false;
	ckpt_mat_mul(s->m->team, s->t1, k.merged, w.output, s->n, D, D);
	for (size_t i = 0; i < nd; i++)
		k.u[i] = k.x[i] + s->t1[i];
	if (!all_finite(s, "attention residual", layer, k.u, nd))
		return false;
	if (!ckpt_norm_forward(
		    k.h2, &k.norm2, w.ffn_norm, s->m->epsilon, s->n, D, &row))
		return broken(s, "ffn norm", layer, row);
	ckpt_mat_mul(s->m->team, k.gate, k.h2, w.gate, s->n, D, F);
	ckpt_mat_mul(s->m->team, k.up, k.h2, w.up, s->n, D, F);
	if (!all_finite(s, "ffn norm", layer, k.h2, nd) ||
		!all_finite(s, "gate", layer, k.gate, s->n * F) ||
		!all_finite(s, "up", layer, k.up, s->n * F))
		return false;
	ckpt_swiglu_forward(k.p, k.sig, k.s, k.gate, k.up, s->n * F);
	if (!all_finite(s, "swiglu", layer, k.p, s->n * F))
		return false;
	ckpt_mat_mul(s->m->team, s->t1, k.p, w.down, s->n, F, D);
	for (size_t i = 0; i < nd; i++)
		s->x[i] = k.u[i] + s->t1[i];
	return all_finite(s, "ffn residual", layer, s->x, nd);
}

/* dx holds the gradient of the block's output and becomes that of its
 * input. */
static bool
block_backward(struct pass *s, double *gradients, size_t layer)
{
	struct ckpt_block w = ckpt_dims_block(s->m, s->parameters, layer);
	struct ckpt_block g = ckpt_dims_block(s->m, gradients, layer);
	struct kept k = kept_of(s, layer);
	size_t B = s->batch->batch, T = s->batch->tokens;
	size_t D = s->m->width, F = s->m->hidden, nd = s->n * D;

	/* dU = dX, and dDn = dX as well */
	ckpt_mat_mul_transposed(s->m->team, s->dp, s->dx, w.down, s->n, D, F);
	ckpt_mat_outer(s->m->team, g.down, k.p, s->dx, B, T, F, D);
	ckpt_swiglu_backward(
		s->dp, s->du, s->dp, k.gate, k.up, k.sig, k.s, s->n * F);
	/* dh2 = P0(t_up) + t_gate */
	ckpt_mat_mul_transposed(s->m->team, s->t1, s->du, w.up, s->n, F, D);
	ckpt_mat_outer(s->m->team, g.up, k.h2, s->du, B, T, D, F);
	ckpt_mat_mul_transposed(s->m->team, s->t2, s->dp, w.gate, s->n, F, D);
	ckpt_mat_outer(s->m->team, g.gate, k.h2, s->dp, B, T, D, F);
	for (size_t i = 0; i < nd; i++)
		s->t1[i] = ckpt_p0(s->t1[i]) + s->t2[i];
	ckpt_norm_backward(
		s->dx, g.ffn_norm, s->t1, &k.norm2, w.ffn_norm, s->n, D);
	/* dX = dU, and dA = dU as well */
	ckpt_mat_mul_transposed(s->m->team, s->dm, s->dx, w.output, s->n, D, D);
	ckpt_mat_outer(s->m->team, g.output, k.merged, s->dx, B, T, D, D);
	if (!attention_backward(s, &w, &g, &k, layer))
		return false;
	ckpt_norm_backward(s->dx, g.attention_norm, s->t1, &k.norm,
		w.attention_norm, s->n, D);
	return all_finite(s, "block gradient", layer, s->dx, nd) &&
	       all_finite(s, "parameter gradient", layer, g.attention_norm,
		       block_scalars(s->m));
}

/* ---- the whole ---------------------------------------------------------- */

static bool
forward(struct pass *s, double *logits)
{
	const struct ckpt_dims *m = s->m;
	size_t row;

	if (!ckpt_rope_tables(s->sn, s->cs, m->rope_base, s->batch->tokens,
		    m->width / m->heads / 2))
		return broken(s, "rotary angle", 0, 0);
	for (size_t r = 0; r < s->n; r++)
		memcpy(s->x + r * m->width,
			s->parameters + s->batch->ids[r] * m->width,
			m->width * sizeof(double));
	for (size_t layer = 0; layer < m->layers; layer++)
		if (!block_forward(s, layer))
			return false;
	if (!ckpt_norm_forward(s->y, &s->final,
		    ckpt_dims_final(m, s->parameters), m->epsilon, s->n,
		    m->width, &row))
		return broken(s, "final norm", 0, row);
	if (!all_finite(s, "final norm", 0, s->y, s->n * m->width))
		return false;
	/* logits[r][v] = SUM(j) Y[r][j] E[v][j] */
	ckpt_mat_mul_transposed(s->m->team, logits, s->y, s->parameters, s->n,
		m->width, m->vocab);
	return all_finite(s, "logits", 0, logits, s->n * m->vocab);
}

bool
ckpt_decoder_forward(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, double *space, double *logits,
	struct ckpt_not_finite *fault)
{
	struct pass s;

	pass_init(&s, dims, parameters, batch, space, false);
	s.fault = fault;
	return forward(&s, logits);
}

/* gather[v][j] is summed over the rows that look v up, then added to what the
 * head gave: dE = P0(dEhead) + gather. */
static void
embedding_gradient(struct pass *s, double *g, double *gather)
{
	size_t D = s->m->width;

	for (size_t r = 0; r < s->n; r++) {
		const uint32_t *ids = s->batch->ids;
		bool seen = false;

		for (size_t q = 0; q < r; q++)
			seen |= ids[q] == ids[r];
		if (seen)
			continue;
		memset(gather, 0, D * sizeof *gather);
		for (size_t q = r; q < s->n; q++)
			for (size_t j = 0; ids[q] == ids[r] && j < D; j++)
				gather[j] = gather[j] + s->dx[q * D + j];
		for (size_t j = 0; j < D; j++)
			g[ids[r] * D + j] =
				ckpt_p0(g[ids[r] * D + j]) + gather[j];
	}
}

bool
ckpt_decoder_gradients(const struct ckpt_dims *dims, double *parameters,
	const struct ckpt_batch *batch, double *space, double *logits,
	double *gradients, double *loss, struct ckpt_not_finite *fault)
{
	struct pass s;
	size_t V = dims->vocab, D = dims->width;
	double *final;

	pass_init(&s, dims, parameters, batch, space, true);
	s.fault = fault;
	if (!forward(&s, logits))
		return false;
	*loss = ckpt_loss_forward(logits, logits, batch->targets, s.n, V);
	if (!isfinite(*loss))
		return broken(&s, "loss", 0, 0);
	ckpt_loss_backward(logits, logits, batch->targets, s.n, V);
	/* head: dY[r][j] = SUM(v) dZ[r][v] E[v][j] */
	ckpt_mat_mul(dims->team, s.t1, logits, parameters, s.n, V, D);
	ckpt_mat_outer(dims->team, gradients, logits, s.y, batch->batch,
		batch->tokens, V, D);
	final = ckpt_dims_final(dims, gradients);
	memset(s.dx, 0, s.n * D * sizeof *s.dx);
	ckpt_norm_backward(s.dx, final, s.t1, &s.final,
		ckpt_dims_final(dims, parameters), s.n, D);
	if (!all_finite(&s, "head gradient", 0, s.dx, s.n * D))
		return false;
	for (size_t layer = dims->layers; layer-- > 0;)
		if (!block_backward(&s, gradients, layer))
			return false;
	embedding_gradient(&s, gradients, s.t1);
	return all_finite(&s, "embedding gradient", 0, gradients, V * D) &&
	       all_finite(&s, "final norm gradient", 0, final, D);
}
