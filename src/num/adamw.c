/* SPDX-License-Identifier: MIT */
/*
 * AdamW (numerics section 5). Elements are independent, so they are updated a
 * block at a time in straight loops; a block in which something is not finite
 * is gone through once more to find the first stage of the first element.
 */
#include "num/adamw.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 };

struct stages {
	double m[BLOCK], g2[BLOCK], u[BLOCK], mh[BLOCK], uh[BLOCK], dir[BLOCK],
		ad[BLOCK], dec[BLOCK], x[BLOCK];
};

static void
compute(struct stages *s, const double *x, const double *m, const double *u,
	const double *g, size_t n, double decay,
	const struct ckpt_adamw_update *k)
{
	double keep1 = 1.0 - k->beta1, keep2 = 1.0 - k->beta2;
	double rate_decay = k->learning_rate * decay;

	for (size_t i = 0; i < n; i++) {
		s->m[i] = (k->beta1 * m[i]) + (keep1 * g[i]);
		s->g2[i] = g[i] * g[i];
		s->u[i] = (k->beta2 * u[i]) + (keep2 * s->g2[i]);
		s->mh[i] = s->m[i] / k->correction1;
		s->uh[i] = s->u[i] / k->correction2;
		s->dir[i] = s->mh[i] / (sqrt(s->uh[i]) + k->epsilon);
		s->ad[i] = k->learning_rate * s->dir[i];
		s->dec[i] = rate_decay * x[i];
		s->x[i] = (x[i] - s->ad[i]) - s->dec[i];
	}
}

static bool
all_finite(const struct stages *s, size_t n)
{
	bool good = true;

	/* What is not finite stays so up to x, except g2 and uh, whose
	 * infinity a division turns into zero. */
	for (size_t i = 0; i < n; i++)
		good &= isfinite(s->x[i]) && isfinite(s->g2[i]) &&
			isfinite(s->u[i]) && isfinite(s->uh[i]) &&
			isfinite(s->m[i]);
	return good;
}

static void
find_fault(const struct stages *s, size_t n, struct ckpt_adamw_fault *fault)
{
	for (size_t i = 0; i < n; i++) {
		const struct {
			const char *name;
			double value;
		} stages[] = {
			{ "first moment", s->m[i] },
			{ "squared gradient", s->g2[i] },
			{ "second moment", s->u[i] },
			{ "corrected first moment", s->mh[i] },
			{ "corrected second moment", s->uh[i] },
			{ "direction", s->dir[i] },
			{ "adaptive part", s->ad[i] },
			{ "decay", s->dec[i] },
			{ "parameter", s->x[i] },
		};

		for (size_t k = 0; k < sizeof stages / sizeof stages[0]; k++)
			if (!isfinite(stages[k].value)) {
				fault->index += i;
				fault->stage = stages[k].name;
				fault->value = stages[k].value;
				return;
			}
	}
}

bool
ckpt_adamw_try(const double *x, const double *m, const double *u,
	const double *g, size_t n, double decay,
	const struct ckpt_adamw_update *update, struct ckpt_adamw_fault *fault)
{
	struct stages s;

	for (size_t at = 0; at < n; at += BLOCK) {
		size_t k = n - at < BLOCK ? n - at : BLOCK;

		compute(&s, x + at, m + at, u + at, g + at, k, decay, update);
		if (!all_finite(&s, k)) {
			fault->index = at;
			find_fault(&s, k, fault);
			return false;
		}
	}
	return true;
}

void
ckpt_adamw(double *restrict x, double *restrict m, double *restrict u,
	const double *restrict g, size_t n, double decay,
	const struct ckpt_adamw_update *update)
{
	struct stages s;

	for (size_t at = 0; at < n; at += BLOCK) {
		size_t k = n - at < BLOCK ? n - at : BLOCK;

		compute(&s, x + at, m + at, u + at, g + at, k, decay, update);
		memcpy(m + at, s.m, k * sizeof *m);
		memcpy(u + at, s.u, k * sizeof *u);
		memcpy(x + at, s.x, k * sizeof *x);
	}
}

/* The largest magnitude of n finite values, LANES side by side. */
static double
magnitude(const double *p, size_t n)
{
	enum { LANES = 8 };
	double most[LANES] = { 0.0 };
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (size_t k = 0; k < LANES; k++) {
			double a = fabs(p[i + k]);

			most[k] = a > most[k] ? a : most[k];
		}
	for (; i < n; i++)
		most[0] = fmax(most[0], fabs(p[i]));
	for (size_t k = 1; k < LANES; k++)
		most[0] = fmax(most[0], most[k]);
	return most[0];
}

/* With all values up to 2^400: g2 <= 2^800, u' <= 2^801, m' <= 2^401, mh <=
 * 2^461, uh <= 2^861, direction <= 2^861, adaptive part <= 2^961. */
bool
ckpt_adamw_stays_finite(const double *x, const double *m, const double *u,
	const double *g, size_t n, const struct ckpt_adamw_update *k)
{
	const double most = 0x1p400;

	return k->epsilon >= 0x1p-400 && k->learning_rate <= 0x1p100 &&
	       k->correction1 >= 0x1p-60 && k->correction2 >= 0x1p-60 &&
	       magnitude(x, n) <= most && magnitude(m, n) <= most &&
	       magnitude(u, n) <= most && magnitude(g, n) <= most;
}
