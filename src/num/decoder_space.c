/* SPDX-License-Identifier: MIT */
/*
 * The work space of the decoder: how much there is to be, and where in it
 * everything stands. The two say the same things in the same order.
 */
#include "num/decoder_parts.h"

#include <math.h>
#include <string.h>

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

/* With a cache, the rows behind those that are there. */
static void
place_keys(const struct ckpt_decoding *s, size_t layer, struct ckpt_kept *k,
	double **at)
{
	size_t kd = ckpt_dims_kv_width(s->m);

	k->k = carve(at, s->n * kd);
	k->v = carve(at, s->n * kd);
	if (s->cache) {
		size_t row = layer * s->cache->room + s->first;

		k->k = s->cache->k + row * kd;
		k->v = s->cache->v + row * kd;
	}
}

struct ckpt_kept
ckpt_decoding_kept(const struct ckpt_decoding *s, size_t layer)
{
	double *at = s->base + layer * s->stride;
	size_t nd = s->n * s->m->width, nf = s->n * s->m->hidden;
	struct ckpt_kept k;

	k.x = carve(&at, nd);
	k.norm = carve_norm(&at, s->n, s->m->width);
	k.h = carve(&at, nd);
	k.q = carve(&at, nd);
	place_keys(s, layer, &k, &at);
	k.w = carve(&at, s->n * (s->first + s->batch->tokens) * s->m->heads);
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
block_space(const struct ckpt_dims *m, size_t n, size_t span, bool *fits)
{
	size_t nd = sized(n, m->width, 0, fits);
	size_t nf = sized(n, m->hidden, 0, fits);
	size_t w = sized(sized(n, span, 0, fits), m->heads, 0, fits);
	size_t all = sized(8, nd, 0, fits);

	all = sized(2, sized(n, ckpt_dims_kv_width(m), 0, fits), all, fits);
	all = sized(5, nf, all, fits);
	all = sized(4, n, all, fits);
	return sized(1, w, all, fits);
}

/* Of a pass over rows of tokens whose last one sees span tokens. */
static bool
space_of(const struct ckpt_dims *m, size_t batch, size_t tokens, size_t span,
	enum ckpt_pass pass, size_t *doubles)
{
	bool fits = true;
	size_t n = sized(batch, tokens, 0, &fits);
	size_t blocks =
		pass == CKPT_PASS_BACKWARD ? m->layers : (m->layers ? 1 : 0);
	size_t nd = sized(n, m->width, 0, &fits);
	size_t all = sized(blocks, block_space(m, n, span, &fits), 0, &fits);

	all = sized(tokens, m->width / m->heads, all, &fits);
	all = sized(4, nd, all, &fits); /* x, y, final.n, t1 */
	all = sized(2, n, all, &fits);
	if (pass != CKPT_PASS_FORWARD) {
		all = sized(6, nd, all, &fits);
		all = sized(2, sized(n, m->hidden, 0, &fits), all, &fits);
		all = sized(2, sized(tokens, tokens, 0, &fits), all, &fits);
		all = sized(2 * (m->width / m->heads), tokens, all, &fits);
		all = sized(1, m->width, all, &fits);
	}
	if (pass == CKPT_PASS_RECOMPUTED)
		all = sized(m->layers, nd, all, &fits);
	*doubles = all;
	return fits && all <= SIZE_MAX / sizeof(double);
}

bool
ckpt_decoder_space(const struct ckpt_dims *m, size_t batch, size_t tokens,
	enum ckpt_pass pass, size_t *doubles)
{
	return space_of(m, batch, tokens, tokens, pass, doubles);
}

bool
ckpt_cache_work(
	const struct ckpt_dims *m, size_t before, size_t n, size_t *doubles)
{
	bool fits = true;
	size_t span = sized(1, before, n, &fits);

	return space_of(m, 1, n, span, CKPT_PASS_FORWARD, doubles) && fits;
}

void
ckpt_decoding_carve(struct ckpt_decoding *s, double *space, enum ckpt_pass pass)
{
	const struct ckpt_dims *m = s->m;
	size_t T = s->batch->tokens, d = m->width / m->heads, nd, nf;
	bool fits = true;

	s->n = s->batch->batch * T;
	nd = s->n * m->width;
	nf = s->n * m->hidden;
	s->sn = carve(&space, T * (d / 2));
	s->cs = carve(&space, T * (d / 2));
	s->x = carve(&space, nd);
	s->y = carve(&space, nd);
	s->final = carve_norm(&space, s->n, m->width);
	s->final.x = s->x;
	s->t1 = carve(&space, nd);
	if (pass != CKPT_PASS_FORWARD) {
		s->dx = carve(&space, nd);
		s->t2 = carve(&space, nd);
		s->t3 = carve(&space, nd);
		s->dm = carve(&space, 2 * nd);
		s->rows = carve(&space, nd);
		s->dp = carve(&space, nf);
		s->du = carve(&space, nf);
		s->scores = carve(&space, 2 * T * T);
		s->dk1 = carve(&space, T * d);
		s->dv1 = carve(&space, T * d);
		s->gain = carve(&space, m->width);
	}
	if (pass == CKPT_PASS_RECOMPUTED)
		s->inputs = carve(&space, m->layers * nd);
	s->stride =
		pass == CKPT_PASS_BACKWARD ? block_space(m, s->n, T, &fits) : 0;
	s->base = space;
}

bool
ckpt_cache_space(const struct ckpt_dims *m, size_t room, size_t *doubles)
{
	bool fits = true;

	*doubles = sized(sized(m->layers, room, 0, &fits),
		ckpt_dims_kv_width(m), 0, &fits);
	return fits && *doubles <= SIZE_MAX / sizeof(double);
}

bool
ckpt_decoder_words(const struct ckpt_dims *m, size_t tokens, uint64_t *words)
{
	uint64_t sites = 0;

	return !__builtin_mul_overflow((uint64_t)m->layers, 2, &sites) &&
	       !__builtin_mul_overflow(sites, m->width, &sites) &&
	       !__builtin_mul_overflow(sites, tokens, words);
}

/* Infinities and NaNs survive being multiplied by zero as NaN, so one sum
 * tells whether a closer look is needed. */
bool
ckpt_decoding_finite(const struct ckpt_decoding *s, const char *operation,
	size_t layer, const double *p, size_t n)
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

bool
ckpt_decoding_broken(const struct ckpt_decoding *s, const char *operation,
	size_t layer, size_t at)
{
	*s->fault =
		(struct ckpt_not_finite){ operation, layer, at, (double)NAN };
	return false;
}
