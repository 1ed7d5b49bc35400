/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_SOFTMAX_H
#define CKPT_NUM_SOFTMAX_H

#include <stddef.h>

/* Row statistics (numerics section 1) of n >= 1 values. */
struct ckpt_row_stats {
	double max;
	double tail; /* SUM of exp(z - max), the first maximum left out */
	double den;  /* 1 + tail */
};

struct ckpt_row_stats ckpt_row_stats(const double *z, size_t n);

/* w[j] = Z(exp(z[j] - max) / den); w may be z. */
void ckpt_softmax(double *w, const double *z, size_t n,
	const struct ckpt_row_stats *stats);

#endif
