/* SPDX-License-Identifier: MIT */
/*
 * Statistics of one tensor's elements, block by block. Almost all elements are
 * of a size whose square is a double too; of those nothing is scaled.
 */
#include "sink/stats.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "sink/number.h"

/* Squares of what lies between are neither rounded for want of exponents nor
 * infinite, nor is their sum; the scaled ones neither. */
#define LARGE       0x1p486
#define SMALL       0x1p-511
#define SCALE_LARGE 0x1p-538
#define SCALE_SMALL 0x1p537

/* rest takes exactly what the addition rounds off. */
static void
sum_add(struct ckpt_sum *s, double x)
{
	double sum = s->sum + x, part = sum - s->sum;

	s->rest += (s->sum - (sum - part)) + (x - part);
	s->sum = sum;
}

/* What is too large or too small to be squared as it is. */
static void
add_scaled(struct ckpt_stats *s, double x)
{
	if (fabs(x) > LARGE) {
		x *= SCALE_LARGE;
		sum_add(&s->sum_large, x);
		s->squares_large += x * x;
	} else {
		sum_add(&s->sum, x);
		x *= SCALE_SMALL;
		s->squares_small += x * x;
	}
}

static void
add_finite(struct ckpt_stats *s, double normal, double x, uint64_t at)
{
	double size = fabs(x);

	if (s->finite == 0 || x < s->min) {
		s->min = x;
		s->min_at = at;
	}
	if (s->finite == 0 || x > s->max) {
		s->max = x;
		s->max_at = at;
	}
	s->finite++;
	if (x == 0.0) {
		s->zeros++;
		return;
	}
	if (size < normal)
		s->denormals++;
	if (size >= SMALL && size <= LARGE) {
		sum_add(&s->sum, x);
		s->squares += x * x;
	} else {
		add_scaled(s, x);
	}
}

static void
add(struct ckpt_stats *s, double normal, double x)
{
	uint64_t at = s->count++;

	if (isnan(x))
		s->nan++;
	else if (isinf(x))
		s->inf++;
	else
		add_finite(s, normal, x, at);
}

static void
add_group(struct ckpt_stats *s, const struct ckpt_number_group *g,
	double normal, const uint8_t *p)
{
	for (unsigned i = 0; i < g->count; i++)
		add(s, normal,
			safetensors_dtype_value(g->dtype,
				safetensors_dtype_load(g->dtype, p, i)));
}

/* A block of bytes; a group may be cut by its ends. */
void
ckpt_stats_add(struct ckpt_stats *s, const struct ckpt_span *span,
	const uint8_t *p, uint64_t n)
{
	const struct ckpt_number_group group = ckpt_number_group_of(span),
				       *g = &group;
	double normal;

	if (!g->dtype)
		return;
	normal = safetensors_dtype_normal(g->dtype);
	while (n > 0 && s->carried > 0) {
		s->carry[s->carried++] = *p++;
		n--;
		if (s->carried == g->bytes) {
			s->carried = 0;
			add_group(s, g, normal, s->carry);
		}
	}
	for (; n >= g->bytes; p += g->bytes, n -= g->bytes)
		add_group(s, g, normal, p);
	if (n > 0)
		memcpy(s->carry, p, (size_t)n);
	s->carried += (unsigned)n;
}

/* ---- What they come to -------------------------------------------------- */

double
ckpt_stats_mean(const struct ckpt_stats *s)
{
	double large = s->sum_large.sum + s->sum_large.rest;
	double sum = s->sum.sum + s->sum.rest, mean;

	if (s->finite == 0)
		return 0.0;
	if (large == 0.0)
		mean = sum / (double)s->finite;
	else
		mean = (large + sum * SCALE_LARGE) / (double)s->finite /
		       SCALE_LARGE;
	/* Which lies between them but for rounding, which may be infinite. */
	return mean < s->min ? s->min : mean > s->max ? s->max : mean;
}

double
ckpt_stats_l2(const struct ckpt_stats *s)
{
	double high, low;

	/* Beside large ones the small ones are nothing. */
	if (s->squares_large > 0)
		return sqrt(s->squares_large +
			       s->squares * SCALE_LARGE * SCALE_LARGE) /
		       SCALE_LARGE;
	if (!(s->squares_small > 0))
		return sqrt(s->squares);
	if (!(s->squares > 0))
		return sqrt(s->squares_small) / SCALE_SMALL;
	high = sqrt(s->squares);
	low = sqrt(s->squares_small) / SCALE_SMALL;
	if (low > high) {
		double swap = low;

		low = high;
		high = swap;
	}
	return high * sqrt(1 + low / high * (low / high));
}

void
ckpt_stats_write(struct ckpt_buf *buf, double value)
{
	if (isinf(value))
		ckpt_buf_printf(buf, ">%.6g", DBL_MAX);
	else
		ckpt_buf_printf(buf, "%.6g", value);
}
