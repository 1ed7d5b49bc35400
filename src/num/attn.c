/* SPDX-License-Identifier: MIT */
/*
 * Causal attention of one head (numerics sections 2 and 4). Scores are
 * computed for masked cells as well, because a score that is not finite ends
 * the run wherever it stands; masked weights are exactly +0.0, so leaving
 * their products out of sums changes no bit.
 */
#include "num/attn.h"

#include <math.h>

#include "num/softmax.h"
#include "num/zero.h"

bool
ckpt_head_forward(const struct ckpt_head *h, double *o)
{
	size_t T = h->tokens, d = h->width;
	double scale = 1.0 / sqrt((double)d);

	for (size_t i = 0; i < T; i++) {
		const double *q = h->q + i * h->stride;
		double *w = h->w + i * T;
		struct ckpt_row_stats stats;

		/* s[i][j] = (SUM(f) q[i][f] k[j][f]) scale */
		for (size_t j = 0; j < T; j++) {
			const double *k = h->k + j * h->stride;
			double raw = 0.0;

			for (size_t f = 0; f < d; f++)
				raw = raw + q[f] * k[f];
			w[j] = raw * scale;
			if (!isfinite(raw) || !isfinite(w[j]))
				return false;
		}
		stats = ckpt_row_stats(w, i + 1);
		ckpt_softmax(w, w, i + 1, &stats);
		for (size_t j = i + 1; j < T; j++)
			w[j] = 0.0;
		/* o[i][f] = SUM(j) w[i][j] v[j][f] */
		for (size_t f = 0; f < d; f++)
			o[i * h->stride + f] = 0.0;
		for (size_t j = 0; j <= i; j++)
			for (size_t f = 0; f < d; f++)
				o[i * h->stride + f] =
					o[i * h->stride + f] +
					w[j] * h->v[j * h->stride + f];
	}
	return true;
}

/* dr[i][j]: the gradient of the unscaled scores. */
static bool
score_gradients(
	const struct ckpt_head *h, const double *d_o, double *dw, double *dr)
{
	size_t T = h->tokens, d = h->width;
	double scale = 1.0 / sqrt((double)d);
	bool finite = true;

	for (size_t i = 0; i < T; i++) {
		const double *w = h->w + i * T;
		double m = 0.0;

		/* dw[i][j] = SUM(f) dO[i][f] v[j][f] */
		for (size_t j = 0; j < T; j++) {
			double s = 0.0;

			for (size_t f = 0; f < d; f++)
				s = s + d_o[i * h->stride + f] *
						h->v[j * h->stride + f];
			dw[i * T + j] = s;
			finite &= isfinite(s) != 0;
		}
		/* m_i = SUM(j <= i) dw[i][j] w[i][j] */
		for (size_t j = 0; j <= i; j++)
			m = m + dw[i * T + j] * w[j];
		/* ds = Z(w (dw - m)), +0.0 behind the mask;  dr = P0(ds
		 * scale) */
		for (size_t j = 0; j < T; j++) {
			double ds = j <= i ? ckpt_z(w[j] * (dw[i * T + j] - m))
					   : 0.0;

			dr[i * T + j] = ckpt_p0(ds * scale);
		}
	}
	return finite;
}

bool
ckpt_head_backward(const struct ckpt_head *h, const double *d_o, double *dq,
	double *dk, double *dv, double *scratch)
{
	size_t T = h->tokens, d = h->width, n = h->stride;
	double *dr = scratch + T * T;

	bool finite = score_gradients(h, d_o, scratch, dr);

	for (size_t j = 0; j < T; j++)
		for (size_t f = 0; f < d; f++)
			dq[j * n + f] = dk[j * n + f] = dv[j * n + f] = 0.0;
	/* dv[j][f] = SUM(i) w[i][j] dO[i][f];  dk[j][f] = SUM(i) q[i][f]
	 * dr[i][j];  dq[i][f] = SUM(j) dr[i][j] k[j][f] */
	for (size_t i = 0; i < T; i++)
		for (size_t j = 0; j <= i; j++)
			for (size_t f = 0; f < d; f++) {
				dv[j * n + f] =
					dv[j * n + f] +
					h->w[i * T + j] * d_o[i * n + f];
				dk[j * n + f] = dk[j * n + f] +
						h->q[i * n + f] * dr[i * T + j];
				dq[i * n + f] = dq[i * n + f] +
						dr[i * T + j] * h->k[j * n + f];
			}
	return finite;
}
