/* SPDX-License-Identifier: MIT */
/*
 * Values that something was odd about, from nearer: NaN, infinities, the
 * dtype's lowest value, magnitudes whose squares single precision does not
 * hold, and blocks in which one value outweighs all others, so that
 * subtracting its square from the sum would leave noise. Blocks of what is an
 * F32 or fits one are counted all values at once, others one by one.
 */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "format/safetensors_content.h"

#define F32_INFINITY 0x7f800000u

/* Numbers below are squared after they were multiplied by this. */
#define TINY  0x1p-400
#define SCALE 0x1p+600

/* ---- Value by value ----------------------------------------------------- */

static void
note_place(struct safetensors_places *places, uint64_t at, uint64_t bits)
{
	if (places->count++ > 0)
		return;
	places->at = at;
	places->bits = bits;
}

static void
add_square(struct safetensors_spread *spread, double x)
{
	if (x < TINY)
		spread->tiny += x * SCALE * (x * SCALE);
	else
		spread->rest += x * x;
}

/* One more magnitude: the highest stays apart from the squares. */
bool
safetensors_spread_add(struct safetensors_spread *spread, double x)
{
	bool higher = x > spread->max;

	add_square(spread, higher ? spread->max : x);
	if (higher)
		spread->max = x;
	return higher;
}

static void
note_infinity(
	struct safetensors_scan *s, uint64_t at, uint64_t bits, bool minus)
{
	note_place(&s->infinite, at, bits);
	if (minus)
		s->negative++;
	s->mask =
		s->mask && minus && at % s->square > at / s->square % s->square;
}

static void
look_at_value(struct safetensors_scan *s, uint64_t at, uint64_t bits)
{
	double x = safetensors_dtype_value(s->dtype, bits);
	double a = fabs(x);

	if (isnan(x)) {
		note_place(&s->nan, at, bits);
		return;
	}
	if (isinf(x)) {
		note_infinity(s, at, bits, x < 0.0);
		return;
	}
	if (!s->squares || bits == (s->odd | safetensors_lane_sign(s)))
		return;
	s->spread.n++;
	if (a > 0.0 && a < s->spread.min)
		s->spread.min = a;
	if (safetensors_spread_add(&s->spread, a))
		s->spread.max_at = at;
}

void
safetensors_scan_values(struct safetensors_scan *s, const uint8_t *p, size_t n)
{
	uint64_t at = s->at / s->width;

	for (size_t i = 0; i < n; i += s->width, at++)
		if (s->is_bool) {
			if (p[i] > 1)
				note_place(&s->not_bool, at, p[i]);
		} else {
			look_at_value(s, at, safetensors_lane_bits(s, p + i));
		}
}

/* ---- All values of a block at once -------------------------------------- */

/* The lane of the first value that what finds. */
static uint64_t
find_lane(const struct safetensors_scan *s, const uint32_t *bits,
	bool (*what)(uint32_t bits, uint32_t top), uint32_t top)
{
	uint64_t at = s->at / s->width;

	while (!what(*bits, top)) {
		bits++;
		at++;
	}
	return at;
}

static bool
is_nan(uint32_t bits, uint32_t top)
{
	(void)top;
	return (bits & INT32_MAX) > F32_INFINITY;
}

static bool
is_infinite(uint32_t bits, uint32_t top)
{
	(void)top;
	return (bits & INT32_MAX) == F32_INFINITY;
}

static bool
is_top(uint32_t bits, uint32_t top)
{
	return (bits & INT32_MAX) == top;
}

static void
add_places(const struct safetensors_scan *s, struct safetensors_places *places,
	uint64_t n, const uint8_t *p, const uint32_t *bits,
	bool (*what)(uint32_t bits, uint32_t top))
{
	if (n > 0 && places->count == 0) {
		places->at = find_lane(s, bits, what, 0);
		places->bits = safetensors_lane_bits(
			s, p + places->at * s->width - s->at);
	}
	places->count += n;
}

/* While a tensor may be a mask the place of each infinity counts. */
static void
add_infinities(struct safetensors_scan *s, const struct safetensors_tally *t,
	const uint8_t *p, const uint32_t *bits, size_t lanes)
{
	if (!s->mask) {
		add_places(s, &s->infinite, t->infinite, p, bits, is_infinite);
		s->negative += t->negative;
		return;
	}
	for (size_t i = 0; t->infinite > 0 && i < lanes; i++)
		if (is_infinite(bits[i], 0))
			note_infinity(s, s->at / s->width + i,
				safetensors_lane_bits(s, p + i * s->width),
				bits[i] >> 31 != 0);
}

/* A block of n bytes of F16, BF16 or F32 with something odd in it, from
 * nearer, but all values at once. */
void
safetensors_scan_tally(struct safetensors_scan *s, const uint8_t *p, size_t n)
{
	uint32_t bits[SAFETENSORS_HALVES + 8];
	struct safetensors_tally t;
	size_t lanes = n / s->width;
	float lowest = (float)-safetensors_dtype_value(s->dtype, s->odd), f;
	uint32_t low;
	double high;

	s->widen(p, bits);
	memcpy(&low, &lowest, sizeof low);
	for (size_t i = lanes; i < lanes + 8; i++)
		bits[i] = low; /* does not count */
	s->kernels->tally(bits, (lanes + 7) & ~(size_t)7, low, &t);
	add_places(s, &s->nan, t.nan, p, bits, is_nan);
	add_infinities(s, &t, p, bits, lanes);
	if (!s->squares)
		return;
	s->spread.n += t.n;
	if (t.top == 0)
		return;
	memcpy(&f, &t.top, sizeof f);
	high = (double)f;
	if (safetensors_spread_add(&s->spread, high))
		s->spread.max_at = find_lane(s, bits, is_top, t.top);
	s->spread.rest += t.rest;
	t.low++;
	memcpy(&f, &t.low, sizeof f);
	if ((double)f < s->spread.min)
		s->spread.min = (double)f;
}

double
safetensors_spread_rms(const struct safetensors_spread *spread)
{
	double others = (double)(spread->n - 1);

	if (spread->n < 2)
		return 0.0;
	if (spread->rest > 0.0)
		return sqrt(spread->rest / others);
	return sqrt(spread->tiny / others) / SCALE;
}
