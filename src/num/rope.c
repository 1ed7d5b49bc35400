/* SPDX-License-Identifier: MIT */
/*
 * Rotary position embedding on adjacent pairs (numerics section 1: ROPE).
 */
#include "num/rope.h"

#include <math.h>

#include "base/fmath.h"
#include "num/zero.h"

bool
ckpt_rope_tables(double *sn, double *cs, double base, size_t first,
	size_t tokens, size_t pairs)
{
	double width = (double)(2 * pairs);

	for (size_t p = 0; p < pairs; p++) {
		/* freq_p = pow(c, (-2 p) / d) */
		double freq = ckpt_pow(base, (-2.0 * (double)p) / width);

		if (!isfinite(freq))
			return false;
		for (size_t t = 0; t < tokens; t++) {
			double angle = (double)(first + t) * freq;
			double s = ckpt_z(ckpt_sin(angle));
			double c = ckpt_z(ckpt_cos(angle));

			if (!isfinite(angle) || !isfinite(s) || !isfinite(c))
				return false;
			sn[t * pairs + p] = s;
			cs[t * pairs + p] = c;
		}
	}
	return true;
}

void
ckpt_rope(double *y, const double *x, const double *sn, const double *cs,
	size_t pairs)
{
	for (size_t p = 0; p < pairs; p++) {
		double a = x[2 * p], b = x[2 * p + 1];

		y[2 * p] = ckpt_z((a * cs[p]) - (b * sn[p]));
		y[2 * p + 1] = ckpt_z((a * sn[p]) + (b * cs[p]));
	}
}

void
ckpt_rope_inverse(double *y, const double *u, const double *sn,
	const double *cs, size_t pairs)
{
	for (size_t p = 0; p < pairs; p++) {
		double a = u[2 * p], b = u[2 * p + 1];

		y[2 * p] = ckpt_z((a * cs[p]) + (b * sn[p]));
		y[2 * p + 1] = ckpt_z(((-a) * sn[p]) + (b * cs[p]));
	}
}
