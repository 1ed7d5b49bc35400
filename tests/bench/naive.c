/* SPDX-License-Identifier: MIT */
/*
 * The three products as their definitions say them: three nested loops, no
 * blocking, no team. Linked in front of the library they take the place of
 * num/mat.c, so that the same program can be timed with both; they also show
 * that blocking changes no bit.
 */
#include "num/mat.h"

void
ckpt_mat_mul(struct ckpt_team *team, double *y, const double *x,
	const double *w, size_t rows, size_t in, size_t out)
{
	(void)team;
	for (size_t r = 0; r < rows; r++)
		for (size_t o = 0; o < out; o++) {
			double s = 0.0;

			for (size_t k = 0; k < in; k++)
				s = s + x[r * in + k] * w[k * out + o];
			y[r * out + o] = s;
		}
}

void
ckpt_mat_mul_transposed(struct ckpt_team *team, double *y, const double *x,
	const double *w, size_t rows, size_t in, size_t out)
{
	(void)team;
	for (size_t r = 0; r < rows; r++)
		for (size_t k = 0; k < out; k++) {
			double s = 0.0;

			for (size_t o = 0; o < in; o++)
				s = s + x[r * in + o] * w[k * in + o];
			y[r * out + k] = s;
		}
}

void
ckpt_mat_outer(struct ckpt_team *team, double *g, const double *x,
	const double *d, size_t batch, size_t tokens, size_t in, size_t out)
{
	(void)team;
	for (size_t k = 0; k < in; k++)
		for (size_t o = 0; o < out; o++) {
			double all = 0.0;

			for (size_t b = 0; b < batch; b++) {
				double s = 0.0;

				for (size_t t = 0; t < tokens; t++) {
					size_t r = b * tokens + t;

					s = s + x[r * in + k] * d[r * out + o];
				}
				all = all + s;
			}
			g[k * out + o] = all;
		}
}

void
ckpt_mat_outer_add(struct ckpt_team *team, double *g, const double *x,
	const double *d, size_t tokens, size_t in, size_t out)
{
	(void)team;
	for (size_t k = 0; k < in; k++)
		for (size_t o = 0; o < out; o++) {
			double s = 0.0;

			for (size_t t = 0; t < tokens; t++)
				s = s + x[t * in + k] * d[t * out + o];
			g[k * out + o] = g[k * out + o] + s;
		}
}
