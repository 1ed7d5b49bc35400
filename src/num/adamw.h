/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_ADAMW_H
#define CKPT_NUM_ADAMW_H

#include <stdbool.h>
#include <stddef.h>

/* One update's constants. */
struct ckpt_adamw_update {
	double learning_rate, beta1, beta2, epsilon;
	double correction1, correction2; /* 1 - power after this update */
};

/* Where an update was not finite. */
struct ckpt_adamw_fault {
	size_t index;
	const char *stage; /* static */
	double value;
};

/* Whether an update of these finite values can only give finite ones, judged
 * by their magnitudes alone; false means that it has to be tried. */
bool ckpt_adamw_stays_finite(const double *x, const double *m, const double *u,
	const double *g, size_t n, const struct ckpt_adamw_update *update);

/* Goes through an update without making it; false at the first value that is
 * not finite. decay is the weight decay that applies (+0.0 for none). */
bool ckpt_adamw_try(const double *x, const double *m, const double *u,
	const double *g, size_t n, double decay,
	const struct ckpt_adamw_update *update, struct ckpt_adamw_fault *fault);

/* Updates n values x with their moments m and u from gradients g. */
void ckpt_adamw(double *restrict x, double *restrict m, double *restrict u,
	const double *restrict g, size_t n, double decay,
	const struct ckpt_adamw_update *update);

#endif
