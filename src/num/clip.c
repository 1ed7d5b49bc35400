/* SPDX-License-Identifier: MIT */
/*
 * Clipping by global norm (training fixture section 5). The sum of squares is
 * kept relative to the largest magnitude so far, so that it neither overflows
 * nor underflows.
 */
#include "num/clip.h"

#include <math.h>

void
ckpt_norm_add(struct ckpt_norm_sum *norm, const double *g, size_t n)
{
	double sc = norm->scale, ss = norm->sum;

	for (size_t i = 0; i < n; i++) {
		double a = fabs(g[i]), t;

		if (a == 0.0)
			continue;
		if (sc < a) {
			t = sc / a;
			ss = 1.0 + ((ss * t) * t);
			sc = a;
		} else {
			t = a / sc;
			ss = ss + (t * t);
		}
	}
	norm->scale = sc;
	norm->sum = ss;
}

bool
ckpt_clip_factor(
	const struct ckpt_norm_sum *norm, double maximum, double *factor)
{
	double root = sqrt(norm->sum);

	/* Compared as quotients: the product could overflow. */
	if (norm->scale == 0.0 || norm->scale <= maximum / root)
		return false;
	*factor = (maximum / norm->scale) / root;
	return true;
}
