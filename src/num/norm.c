/* SPDX-License-Identifier: MIT */
/*
 * RMS normalisation (numerics sections 1 and 4: RMS, RMSBACK). The root is
 * taken as exp(-log/2), because that is what the recorded bits were made with;
 * 1/sqrt has others.
 */
#include "num/norm.h"

#include <math.h>

#include "base/fmath.h"
#include "num/zero.h"

bool
ckpt_norm_forward(double *y, struct ckpt_norm *norm, const double *gain,
	double epsilon, size_t rows, size_t width, size_t *row)
{
	for (size_t r = 0; r < rows; r++) {
		const double *x = norm->x + r * width;
		double *n = norm->n + r * width;
		double s = 0.0, m, a, inv;

		/* m = SUM(j) x_j x_j / D */
		for (size_t j = 0; j < width; j++)
			s = s + x[j] * x[j];
		m = s / (double)width;
		a = m + epsilon;
		/* An infinite a would make inv zero and hide itself. */
		if ((epsilon == 0.0 && m == 0.0) || !isfinite(a)) {
			*row = r;
			return false;
		}
		inv = ckpt_exp(ckpt_log(a) * -0.5);
		/* n_j = x_j inv;  y_j = n_j g_j */
		for (size_t j = 0; j < width; j++) {
			n[j] = x[j] * inv;
			y[r * width + j] = n[j] * gain[j];
		}
		norm->a[r] = a;
		norm->inv[r] = inv;
	}
	return true;
}

void
ckpt_norm_backward(double *dx, double *dgain, const double *dy,
	const struct ckpt_norm *norm, const double *gain, size_t rows,
	size_t width)
{
	for (size_t j = 0; j < width; j++)
		dgain[j] = 0.0;
	for (size_t r = 0; r < rows; r++) {
		const double *x = norm->x + r * width;
		const double *n = norm->n + r * width;
		const double *d = dy + r * width;
		double inv = norm->inv[r], dinv = 0.0, dp, dl, da, dq;

		/* dg_j = SUM(r) dy_j n_j, one level over all rows */
		for (size_t j = 0; j < width; j++)
			dgain[j] = dgain[j] + d[j] * n[j];
		/* dinv = SUM(j) dn_j x_j, with dn_j = dy_j g_j */
		for (size_t j = 0; j < width; j++)
			dinv = dinv + ckpt_p0(d[j] * gain[j]) * x[j];
		dp = ckpt_p0(dinv * inv);
		dl = ckpt_p0(dp * -0.5);
		da = ckpt_p0(dl / norm->a[r]);
		dq = ckpt_p0(da / (double)width);
		/* dx_j = ((prev + c1) + c2) + c2: the square has x twice */
		for (size_t j = 0; j < width; j++) {
			double c1 = ckpt_p0(d[j] * gain[j]) * inv;
			double c2 = dq * x[j];
			double *p = &dx[r * width + j];

			*p = ((*p + c1) + c2) + c2;
		}
	}
}
