/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_NORM_H
#define CKPT_NUM_NORM_H

#include <stdbool.h>
#include <stddef.h>

/* What RMS keeps for the backward pass; the caller's arrays. x is the input
 * itself, which must still be there. */
struct ckpt_norm {
	const double *x; /* [rows][width] */
	double *a;       /* [rows] */
	double *inv;     /* [rows] */
	double *n;       /* [rows][width] */
};

/* y = RMS(norm->x, gain). False: mean square and epsilon of row *row are both
 * zero, which has no logarithm, or their sum is not finite. */
bool ckpt_norm_forward(double *y, struct ckpt_norm *norm, const double *gain,
	double epsilon, size_t rows, size_t width, size_t *row);

/* dx += the three contributions of RMSBACK, in their order; dgain is
 * overwritten. dx holds prev. */
void ckpt_norm_backward(double *dx, double *dgain, const double *dy,
	const struct ckpt_norm *norm, const double *gain, size_t rows,
	size_t width);

#endif
