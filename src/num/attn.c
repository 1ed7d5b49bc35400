/* SPDX-License-Identifier: MIT */
/*
 * Causal attention of one head (numerics sections 2 and 4, archives section
 * 3). Masked weights are exactly +0.0, so leaving their products out of sums
 * changes no bit. Scores of masked cells are computed all the same where one
 * that is not finite ends the run wherever it stands.
 */
#include "num/attn.h"

#include <math.h>

#include "num/softmax.h"
#include "num/zero.h"

/* Cells from..to of a row. */
struct span {
	size_t from, to;
};

/* What query i sees. */
static struct span
seen(const struct ckpt_head *h, size_t i)
{
	size_t to = h->before + i + 1;

	return (struct span){ h->window && to > h->window ? to - h->window : 0,
		to };
}

/* What is computed of it. */
static struct span
computed(const struct ckpt_head *h, size_t i)
{
	return h->only_seen ? seen(h, i)
			    : (struct span){ 0, h->before + h->tokens };
}

/* s[j] = (SUM(f) q[f] k[j][f]) scale */
static bool
scores(const struct ckpt_head *h, const double *q, struct span cells, double *s)
{
	double scale = 1.0 / sqrt((double)h->width);

	for (size_t j = cells.from; j < cells.to; j++) {
		const double *k = h->k + j * h->kv_stride;
		double raw = 0.0;

		for (size_t f = 0; f < h->width; f++)
			raw = raw + q[f] * k[f];
		s[j] = raw * scale;
		if (!isfinite(raw) || !isfinite(s[j]))
			return false;
	}
	return true;
}

bool
ckpt_head_forward(const struct ckpt_head *h, double *o)
{
	size_t all = h->before + h->tokens, d = h->width;

	for (size_t i = 0; i < h->tokens; i++) {
		struct span in = seen(h, i);
		double *w = h->w + i * all, *to = o + i * h->stride;
		struct ckpt_row_stats stats;

		if (!scores(h, h->q + i * h->stride, computed(h, i), w))
			return false;
		stats = ckpt_row_stats(w + in.from, in.to - in.from);
		ckpt_softmax(w + in.from, w + in.from, in.to - in.from, &stats);
		for (size_t j = 0; j < in.from; j++)
			w[j] = 0.0;
		for (size_t j = in.to; j < all; j++)
			w[j] = 0.0;
		/* o[i][f] = SUM(j) w[i][j] v[j][f] */
		for (size_t f = 0; f < d; f++)
			to[f] = 0.0;
		for (size_t j = in.from; j < in.to; j++)
			for (size_t f = 0; f < d; f++)
				to[f] = to[f] +
					w[j] * h->v[j * h->kv_stride + f];
	}
	return true;
}

/* dr[i][j]: the gradient of the unscaled scores, where they are seen. */
static bool
score_gradients(
	const struct ckpt_head *h, const double *d_o, double *dw, double *dr)
{
	size_t T = h->tokens, d = h->width;
	double scale = 1.0 / sqrt((double)d);
	bool finite = true;

	for (size_t i = 0; i < T; i++) {
		const double *w = h->w + i * T;
		struct span in = seen(h, i), all = computed(h, i);
		double m = 0.0;

		/* dw[i][j] = SUM(f) dO[i][f] v[j][f] */
		for (size_t j = all.from; j < all.to; j++) {
			double s = 0.0;

			for (size_t f = 0; f < d; f++)
				s = s + d_o[i * h->stride + f] *
						h->v[j * h->kv_stride + f];
			dw[i * T + j] = s;
			finite &= isfinite(s) != 0;
		}
		/* m_i = SUM(j) dw[i][j] w[i][j] */
		for (size_t j = in.from; j < in.to; j++)
			m = m + dw[i * T + j] * w[j];
		/* ds = Z(w (dw - m));  dr = P0(ds scale) */
		for (size_t j = in.from; j < in.to; j++)
			dr[i * T + j] = ckpt_p0(
				ckpt_z(w[j] * (dw[i * T + j] - m)) * scale);
	}
	return finite;
}

bool
ckpt_head_backward(const struct ckpt_head *h, const double *d_o, double *dq,
	double *dk, double *dv, size_t dkv, double *scratch)
{
	size_t T = h->tokens, d = h->width, n = h->stride, kv = h->kv_stride;
	double *dr = scratch + T * T;
	bool finite = score_gradients(h, d_o, scratch, dr);

	for (size_t j = 0; j < T; j++)
		for (size_t f = 0; f < d; f++) {
			dq[j * n + f] = 0.0;
			dk[j * dkv + f] = dv[j * dkv + f] = 0.0;
		}
	/* dv[j][f] = SUM(i) w[i][j] dO[i][f];  dk[j][f] = SUM(i) q[i][f]
	 * dr[i][j];  dq[i][f] = SUM(j) dr[i][j] k[j][f] */
	for (size_t i = 0; i < T; i++) {
		struct span in = seen(h, i);

		for (size_t j = in.from; j < in.to; j++)
			for (size_t f = 0; f < d; f++) {
				dv[j * dkv + f] =
					dv[j * dkv + f] +
					h->w[i * T + j] * d_o[i * n + f];
				dk[j * dkv + f] =
					dk[j * dkv + f] +
					h->q[i * n + f] * dr[i * T + j];
				dq[i * n + f] =
					dq[i * n + f] +
					dr[i * T + j] * h->k[j * kv + f];
			}
	}
	return finite;
}
