/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_SELECT_H
#define CKPT_NUM_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The best token: highest logit, ties to the lower id. */
uint32_t ckpt_select_greedy(const double *logits, size_t vocab);

/* Work space of one entry a token. */
struct ckpt_candidate {
	double logit;
	double p;
	uint32_t id;
};

/* The token that unit draw u in [0, 1) picks among the keep best at a
 * temperature (> 0, finite; 1 <= keep <= vocab; logits finite). False when the
 * probabilities do not add up to one within 1e-12; *sum is what they do. */
bool ckpt_select_sample(const double *logits, size_t vocab, double temperature,
	size_t keep, double u, struct ckpt_candidate *space, uint32_t *id,
	double *sum);

#endif
