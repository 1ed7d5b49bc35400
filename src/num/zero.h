/* SPDX-License-Identifier: MIT */
#ifndef CKPT_NUM_ZERO_H
#define CKPT_NUM_ZERO_H

/* The two ways in which the numerics get rid of -0.0 (section 0). */

/* Z(x): -0.0 becomes +0.0. */
static inline double
ckpt_z(double x)
{
	return x == 0.0 ? 0.0 : x;
}

/* P0(x): what adding to a fresh +0.0 does. */
static inline double
ckpt_p0(double x)
{
	return 0.0 + x;
}

#endif
