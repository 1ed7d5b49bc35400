/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_ROPE_H
#define CKPT_NUM_ROPE_H

#include <stdbool.h>
#include <stddef.h>

/* Rotary tables for tokens positions from first on, of heads of width 2 x
 * pairs: sn and cs are [tokens][pairs]. False if an entry is not finite. */
bool ckpt_rope_tables(double *sn, double *cs, double base, size_t first,
	size_t tokens, size_t pairs);

/* Rotates a head vector at one position (y may be x), and back. */
void ckpt_rope(double *y, const double *x, const double *sn, const double *cs,
	size_t pairs);
void ckpt_rope_inverse(double *y, const double *u, const double *sn,
	const double *cs, size_t pairs);

#endif
