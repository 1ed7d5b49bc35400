/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_MAT_H
#define CKPT_NUM_MAT_H

/*
 * The three products of a linear layer. Every output element is one sum over
 * ascending indices that starts at +0.0 (SUM in numerics section 0); outputs
 * are independent, and only across them is anything vectorised or shared out
 * to a team (NULL: the caller alone). Arrays are row-major and do not overlap.
 */

#include <stddef.h>

#include "base/team.h"

/* y[rows][out] = x[rows][in] w[in][out] */
void ckpt_mat_mul(struct ckpt_team *team, double *y, const double *x,
	const double *w, size_t rows, size_t in, size_t out);

/* y[rows][out] = x[rows][in] w[out][in] transposed */
void ckpt_mat_mul_transposed(struct ckpt_team *team, double *y, const double *x,
	const double *w, size_t rows, size_t in, size_t out);

/* g[in][out] = SUM(b) (SUM(t) x[b,t][in] d[b,t][out]): the inner sum over the
 * tokens of a batch row is finished before it is added to the outer one. */
void ckpt_mat_outer(struct ckpt_team *team, double *g, const double *x,
	const double *d, size_t batch, size_t tokens, size_t in, size_t out);

/* The same sum over the tokens of one row, added to what g holds. */
void ckpt_mat_outer_add(struct ckpt_team *team, double *g, const double *x,
	const double *d, size_t tokens, size_t in, size_t out);

#endif
