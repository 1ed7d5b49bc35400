/* SPDX-License-Identifier: MIT */
/*
 * The gated activation (numerics sections 2 and 4). The sigmoid is taken on
 * the side where its exponential cannot overflow.
 */
#include "num/swiglu.h"

#include "base/fmath.h"
#include "num/zero.h"

static double
sigmoid(double g)
{
	double e;

	if (g >= 0.0)
		return 1.0 / (1.0 + ckpt_exp(-g));
	e = ckpt_exp(g);
	return e / (1.0 + e);
}

void
ckpt_swiglu_forward(double *p, double *sig, double *s, const double *gate,
	const double *up, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sig[i] = sigmoid(gate[i]);
	for (size_t i = 0; i < n; i++) {
		s[i] = gate[i] * sig[i];
		p[i] = s[i] * up[i];
	}
}

void
ckpt_swiglu_backward(double *dgate, double *dup, const double *dp,
	const double *gate, const double *up, const double *sig,
	const double *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double ds = ckpt_p0(dp[i] * up[i]);

		dup[i] = ckpt_p0(dp[i] * s[i]);
		/* dG = dS (sig (1 + G (1 - sig))) */
		dgate[i] = ckpt_p0(
			ds * (sig[i] * (1.0 + (gate[i] * (1.0 - sig[i])))));
	}
}
