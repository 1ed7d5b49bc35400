/* SPDX-License-Identifier: MIT */
/*
 * Dropout (archives section 5). What is kept is multiplied by 1 / (1 - p),
 * also when p is 0 and nothing is dropped.
 */
#include "num/dropout.h"

#include "model/rng.h"
#include "num/zero.h"

uint64_t
ckpt_dropout_key(uint64_t seed)
{
	struct ckpt_rng rng = { seed };

	return ckpt_rng_draw(&rng);
}

uint64_t
ckpt_dropout_word(uint64_t key, uint64_t i)
{
	struct ckpt_rng rng = { key };

	ckpt_rng_skip(&rng, i);
	return ckpt_rng_draw(&rng);
}

static struct ckpt_rng
stream(const struct ckpt_dropout *d, uint64_t first)
{
	struct ckpt_rng rng = { d->key };

	ckpt_rng_skip(&rng, d->counter);
	ckpt_rng_skip(&rng, first);
	return rng;
}

void
ckpt_dropout_forward(double *y, const double *x, size_t n,
	const struct ckpt_dropout *d, uint64_t first)
{
	struct ckpt_rng rng = stream(d, first);
	double inv_keep = 1.0 / (1.0 - d->probability);

	for (size_t i = 0; i < n; i++)
		y[i] = ckpt_rng_unit(&rng) < d->probability ? 0.0
							    : x[i] * inv_keep;
}

void
ckpt_dropout_backward(double *dx, const double *dy, size_t n,
	const struct ckpt_dropout *d, uint64_t first)
{
	struct ckpt_rng rng = stream(d, first);
	double inv_keep = 1.0 / (1.0 - d->probability);

	for (size_t i = 0; i < n; i++)
		dx[i] = ckpt_rng_unit(&rng) < d->probability
				? 0.0
				: ckpt_p0(dy[i] * inv_keep);
}
