/* SPDX-License-Identifier: MIT */
/*
 * The loss and its gradient (numerics sections 3 and 4).
 */
#include "num/loss.h"

#include <math.h>
#include <stdbool.h>

#include "base/fmath.h"
#include "num/softmax.h"
#include "num/zero.h"

/* One row's share when the plain total is not finite: every part is divided
 * by the number of rows before it is added. */
static double
row_share(double gap, double max, double logit, double tail, double n)
{
	double sg = isfinite(gap) ? gap / n : (max / n) - (logit / n);

	return sg + (ckpt_log1p(tail) / n);
}

double
ckpt_loss_forward(double *prob, const double *logits, const uint32_t *targets,
	size_t rows, size_t vocab)
{
	double n = (double)rows, total = 0.0, fallback = 0.0;
	bool overflow = false;

	for (size_t r = 0; r < rows; r++) {
		const double *z = logits + r * vocab;
		struct ckpt_row_stats s = ckpt_row_stats(z, vocab);
		double logit = z[targets[r]];
		double gap = s.max - logit;
		double loss = gap + ckpt_log1p(s.tail);

		total = total + loss;
		overflow |= !isfinite(loss) || !isfinite(total);
		fallback = fallback + row_share(gap, s.max, logit, s.tail, n);
		ckpt_softmax(prob + r * vocab, z, vocab, &s);
	}
	return overflow ? fallback : ckpt_z(total / n);
}

void
ckpt_loss_terms(double *prob, const double *logits, const uint32_t *targets,
	size_t rows, size_t vocab, double *total)
{
	for (size_t r = 0; r < rows; r++) {
		const double *z = logits + r * vocab;
		double logit = z[targets[r]];
		struct ckpt_row_stats s = ckpt_row_stats(z, vocab);

		*total = *total + ((s.max - logit) + ckpt_log1p(s.tail));
		ckpt_softmax(prob + r * vocab, z, vocab, &s);
	}
}

void
ckpt_loss_backward(double *dz, const double *prob, const uint32_t *targets,
	size_t rows, size_t vocab, double factor)
{
	for (size_t r = 0; r < rows; r++)
		for (size_t v = 0; v < vocab; v++) {
			double p = prob[r * vocab + v];

			dz[r * vocab + v] = ckpt_z(
				(v == targets[r] ? p - 1.0 : p) * factor);
		}
}
