/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_STATS_H
#define CKPT_SINK_STATS_H

/*
 * Statistics of one tensor, of which a C64 is two numbers. Elements are added up in the order of the file, in
 * doubles; minimum, maximum, mean and L2 are those of the finite elements,
 * the others count in nan and inf only. Doubles hold integers of u32 and
 * narrower exactly.
 */

#include "diag/run.h"

/* All zero is a good start. */
struct ckpt_stats {
	uint64_t count; /* elements seen */
	uint64_t finite, zeros, denormals, nan, inf;
	double min, max, sum, squares;
	uint64_t min_at, max_at; /* numbers of the first of these elements */
	uint8_t carry[8];        /* an element cut by the end of a block */
	unsigned carried;
};

/* The next n bytes of the tensor, which is not opaque (sink/number.h). An
 * element may be cut by the ends of blocks. */
void ckpt_stats_add(struct ckpt_stats *stats, const struct ckpt_span *span,
	const uint8_t *bytes, uint64_t n);

#endif
