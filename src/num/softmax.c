/* SPDX-License-Identifier: MIT */
/*
 * Softmax whose denominator is 1 + tail: the first maximum contributes exactly
 * one and is left out of the sum; later entries equal to it each add exp(0).
 */
#include "num/softmax.h"

#include <math.h>
#include <stdbool.h>

#include "base/fmath.h"
#include "num/zero.h"

struct ckpt_row_stats
ckpt_row_stats(const double *z, size_t n)
{
	struct ckpt_row_stats s = { -(double)INFINITY, 0.0, 1.0 };
	bool left_out = false;

	for (size_t j = 0; j < n; j++)
		s.max = z[j] > s.max ? z[j] : s.max;
	for (size_t j = 0; j < n; j++) {
		double gap = z[j] - s.max;

		if (gap == 0.0 && !left_out)
			left_out = true;
		else
			s.tail = s.tail + ckpt_exp(gap);
	}
	s.den = 1.0 + s.tail;
	return s;
}

void
ckpt_softmax(double *w, const double *z, size_t n,
	const struct ckpt_row_stats *stats)
{
	for (size_t j = 0; j < n; j++)
		w[j] = ckpt_z(ckpt_exp(z[j] - stats->max) / stats->den);
}
