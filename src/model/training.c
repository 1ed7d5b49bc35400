/* SPDX-License-Identifier: MIT */
/*
 * The clocks of a training job: learning rate and loss scale (archives section
 * 5). Scales are powers of two within bounds that are powers of two, so halves
 * and doubles are exact.
 */
#include "model/training.h"

#include "base/fmath.h"

#define PI 0x1.921fb54442d18p+1

double
ckpt_schedule_rate(const struct ckpt_schedule *s, uint64_t t)
{
	double after;

	if (t <= s->warmup)
		return s->peak * ((double)t / (double)s->warmup);
	after = (double)(t - s->warmup) / (double)(s->updates - s->warmup);
	return s->final +
	       ((0.5 * (s->peak - s->final)) * (1.0 + ckpt_cos(PI * after)));
}

void
ckpt_scaler_succeed(struct ckpt_scaler *s)
{
	double twice = s->scale * 2.0;

	if (++s->progress < s->interval)
		return;
	s->progress = 0;
	s->scale = twice < s->max ? twice : s->max;
}

bool
ckpt_scaler_retreat(struct ckpt_scaler *s)
{
	double half = s->scale / 2.0;

	if (s->scale == s->min)
		return false;
	s->progress = 0;
	s->scale = half > s->min ? half : s->min;
	return true;
}
