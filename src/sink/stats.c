/* SPDX-License-Identifier: MIT */
/*
 * Statistics of one tensor's elements, block by block.
 */
#include "sink/stats.h"

#include <math.h>
#include <string.h>

#include "sink/number.h"

static void
add(struct ckpt_stats *s, const struct safetensors_dtype *dtype, double x)
{
	uint64_t at = s->count++;

	if (isnan(x)) {
		s->nan++;
		return;
	}
	if (isinf(x)) {
		s->inf++;
		return;
	}
	if (s->finite == 0 || x < s->min) {
		s->min = x;
		s->min_at = at;
	}
	if (s->finite == 0 || x > s->max) {
		s->max = x;
		s->max_at = at;
	}
	s->finite++;
	s->sum += x;
	s->squares += x * x;
	if (x == 0.0)
		s->zeros++;
	else if (fabs(x) < safetensors_dtype_normal(dtype))
		s->denormals++;
}

static void
add_group(struct ckpt_stats *s, const struct ckpt_number_group *g,
	const uint8_t *p)
{
	for (unsigned i = 0; i < g->count; i++)
		add(s, g->dtype,
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

	if (!g->dtype)
		return;
	while (n > 0 && s->carried > 0) {
		s->carry[s->carried++] = *p++;
		n--;
		if (s->carried == g->bytes) {
			s->carried = 0;
			add_group(s, g, s->carry);
		}
	}
	for (; n >= g->bytes; p += g->bytes, n -= g->bytes)
		add_group(s, g, p);
	if (n > 0)
		memcpy(s->carry, p, (size_t)n);
	s->carried += (unsigned)n;
}
