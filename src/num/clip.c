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

/* g / scale; whether all are finite. */
static bool
unscale(double *g, size_t n, double scale)
{
	enum { LANES = 8 };
	double probe[LANES] = { 0.0 }, sum = 0.0;
	size_t i = 0;

	/* What is not finite gives NaN when multiplied by zero. */
	for (; i + LANES <= n; i += LANES)
		for (size_t k = 0; k < LANES; k++) {
			g[i + k] = g[i + k] / scale;
			probe[k] += g[i + k] * 0.0;
		}
	for (; i < n; i++) {
		g[i] = g[i] / scale;
		probe[0] += g[i] * 0.0;
	}
	for (size_t k = 0; k < LANES; k++)
		sum += probe[k];
	return sum == 0.0;
}

bool
ckpt_norm_unscale(struct ckpt_norm_sum *norm, double *g, size_t n, double scale)
{
	enum { BLOCK = 2048 }; /* of the first cache */

	for (size_t at = 0; at < n; at += BLOCK) {
		size_t k = n - at < BLOCK ? n - at : BLOCK;

		if (!unscale(g + at, k, scale))
			return false;
		ckpt_norm_add(norm, g + at, k);
	}
	return true;
}

bool
ckpt_clip_plan(const struct ckpt_norm_sum *norm, double maximum,
	struct ckpt_clip *clip)
{
	double root = sqrt(norm->sum);

	*clip = (struct ckpt_clip){ false, 1.0, 1.0 };
	/* Compared as quotients: the product could overflow. */
	if (norm->scale == 0.0 || norm->scale <= maximum / root)
		return true;
	clip->needed = true;
	clip->factor = (maximum / norm->scale) / root;
	if (clip->factor > 0.0)
		return true;
	/* One factor is too small for a double, the two parts may not be. */
	clip->divisor = norm->scale;
	clip->factor = maximum / root;
	return clip->factor > 0.0;
}

void
ckpt_clip_apply(double *g, size_t n, const struct ckpt_clip *clip)
{
	double divisor = clip->divisor, factor = clip->factor;

	if (divisor == 1.0)
		for (size_t i = 0; i < n; i++)
			g[i] = g[i] * factor;
	else
		for (size_t i = 0; i < n; i++)
			g[i] = (g[i] / divisor) * factor;
}
