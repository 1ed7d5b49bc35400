/* SPDX-License-Identifier: MIT */
/*
 * Statistics of one tensor's elements, block by block.
 */
#include "sink/stats.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "sink/number.h"

static void
add(struct ckpt_stats *s, const struct ckpt_span *span, const uint8_t *p)
{
	uint8_t wide[8] = { 0 };
	double x;

	memcpy(wide, p, span->width);
	x = ckpt_number_value(span, ckpt_load_u64(wide));
	s->count++;
	if (isnan(x)) {
		s->nan++;
		return;
	}
	if (isinf(x)) {
		s->inf++;
		return;
	}
	if (s->finite == 0 || x < s->min)
		s->min = x;
	if (s->finite == 0 || x > s->max)
		s->max = x;
	s->finite++;
	s->sum += x;
	s->squares += x * x;
	if (x == 0.0)
		s->zeros++;
	else if (span->width == 8 ? !isnormal(x) : !isnormal((float)x))
		s->denormals++;
}

/* A block of bytes; an element may be cut by its ends. */
void
ckpt_stats_add(struct ckpt_stats *s, const struct ckpt_span *span,
	const uint8_t *p, uint64_t n)
{
	while (n > 0 && s->carried > 0) {
		s->carry[s->carried++] = *p++;
		n--;
		if (s->carried == span->width) {
			s->carried = 0;
			add(s, span, s->carry);
		}
	}
	for (; n >= span->width; p += span->width, n -= span->width)
		add(s, span, p);
	if (n > 0)
		memcpy(s->carry, p, (size_t)n);
	s->carried += (unsigned)n;
}
