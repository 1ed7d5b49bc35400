/* SPDX-License-Identifier: MIT */
/*
 * Token selection (tokenizer and generation, section 3). Weights are summed in
 * rank order with compensation; the intervals of the draw are plain sums in
 * ascending order of ids. Exactly keep tokens are kept, ties or not.
 */
#include "num/select.h"

#include <math.h>
#include <stdlib.h>

#include "base/fmath.h"

struct kahan {
	double s, c;
};

static void
kahan_add(struct kahan *k, double x)
{
	double y = x - k->c;
	double t = k->s + y;

	k->c = (t - k->s) - y;
	k->s = t;
}

uint32_t
ckpt_select_greedy(const double *logits, size_t vocab)
{
	size_t best = 0;

	for (size_t v = 1; v < vocab; v++)
		if (logits[v] > logits[best])
			best = v;
	return (uint32_t)best;
}

static int
by_rank(const void *pa, const void *pb)
{
	const struct ckpt_candidate *a = pa, *b = pb;

	if (a->logit != b->logit)
		return a->logit > b->logit ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int
by_id(const void *pa, const void *pb)
{
	const struct ckpt_candidate *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

/* p of the first keep candidates, which are in rank order. */
static void
weigh(struct ckpt_candidate *c, size_t keep, double temperature)
{
	struct kahan total = { 0.0, 0.0 };
	double max = c[0].logit;

	c[0].p = 1.0;
	kahan_add(&total, 1.0);
	for (size_t i = 1; i < keep; i++) {
		double gap = temperature < 1.0
				     ? (c[i].logit - max) / temperature
				     : (c[i].logit / temperature) -
					       (max / temperature);

		c[i].p = ckpt_exp(gap);
		kahan_add(&total, c[i].p);
	}
	for (size_t i = 0; i < keep; i++)
		c[i].p = c[i].p / total.s;
}

/* The candidate whose interval holds u; the last with p > 0 ends at 1. */
static uint32_t
pick(const struct ckpt_candidate *c, size_t keep, double u)
{
	size_t last = 0;
	double start = 0.0;

	for (size_t i = 0; i < keep; i++)
		if (c[i].p > 0.0)
			last = i;
	for (size_t i = 0; i < last; i++) {
		double end = start + c[i].p;

		if (!(c[i].p > 0.0))
			continue;
		if (u < (end < 1.0 ? end : 1.0))
			return c[i].id;
		start = end < 1.0 ? end : 1.0;
	}
	return c[last].id;
}

bool
ckpt_select_sample(const double *logits, size_t vocab, double temperature,
	size_t keep, double u, struct ckpt_candidate *space, uint32_t *id,
	double *sum)
{
	struct kahan check = { 0.0, 0.0 };

	for (size_t v = 0; v < vocab; v++)
		space[v] =
			(struct ckpt_candidate){ logits[v], 0.0, (uint32_t)v };
	qsort(space, vocab, sizeof *space, by_rank);
	weigh(space, keep, temperature);
	qsort(space, keep, sizeof *space, by_id);
	/* Tokens that were not kept would add +0.0 here, which changes
	 * nothing but the compensation of a sum that has none. */
	for (size_t i = 0; i < keep; i++)
		kahan_add(&check, space[i].p);
	*sum = check.s;
	if (!(fabs(check.s - 1.0) <= 1e-12))
		return false;
	*id = pick(space, keep, u);
	return true;
}
