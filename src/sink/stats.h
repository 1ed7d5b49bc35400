/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_STATS_H
#define CKPT_SINK_STATS_H

/*
 * Statistics of one tensor, of which a C64 is two numbers. Minimum, maximum,
 * mean and L2 are those of the finite elements, the others count in nan and
 * inf only. Doubles hold integers of u32 and narrower exactly.
 *
 * Elements are added up in the order of the file, in doubles alone, so the
 * result is the same bits everywhere. No element is too large or too small:
 *
 * The sum is compensated: what each addition rounds off is exact (TwoSum, as
 * in Kahan-Babuska summation) and is added up beside it. {1e16, 1, -1e16} has
 * the mean 1/3.
 *
 * Squares are added up in three places by the size of the element, scaled by
 * powers of two, as LAPACK's dnrm2 does (Blue's algorithm): below 2^-511 by
 * 2^537, above 2^486 by 2^-538, unscaled between. The large ones have a sum
 * of their own too, scaled alike. So {1.7e308, 1.7e308} has the mean 1.7e308
 * and {1e-200, 1e-200} the L2 1.41421e-200. An L2 beyond doubles is infinite,
 * and is written as ">1.79769e+308".
 */

#include "base/buf.h"
#include "diag/run.h"

/* A sum, and what was rounded off. */
struct ckpt_sum {
	double sum, rest;
};

/* All zero is a good start. */
struct ckpt_stats {
	uint64_t count; /* elements seen */
	uint64_t finite, zeros, denormals, nan, inf;
	double min, max;
	struct ckpt_sum sum, sum_large;
	double squares, squares_large, squares_small;
	uint64_t min_at, max_at; /* numbers of the first of these elements */
	uint8_t carry[8];        /* an element cut by the end of a block */
	unsigned carried;
};

/* The next n bytes of the tensor, which is not opaque (sink/number.h). An
 * element may be cut by the ends of blocks. */
void ckpt_stats_add(struct ckpt_stats *stats, const struct ckpt_span *span,
	const uint8_t *bytes, uint64_t n);

/* Of the finite elements; 0 if there are none. */
double ckpt_stats_mean(const struct ckpt_stats *stats);
double ckpt_stats_l2(const struct ckpt_stats *stats);

/* One of these, or the least or greatest element, in six digits. */
void ckpt_stats_write(struct ckpt_buf *buf, double value);

#endif
