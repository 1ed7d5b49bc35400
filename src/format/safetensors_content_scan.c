/* SPDX-License-Identifier: MIT */
/*
 * The scan of one tensor. Blocks are first looked at from a distance
 * (safetensors_block.h); only where something is odd each value is decoded:
 * NaN, infinities, the dtype's lowest value, magnitudes whose squares do not
 * fit single precision, and a block in which one value outweighs all others,
 * so that subtracting its square from the sum would leave noise.
 *
 * Numbers are those of lanes; a C64 has two, all others one an element.
 */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "format/safetensors_content.h"

enum {
	BLOCK = SAFETENSORS_BLOCK,
	FEW = 256, /* bytes that are not worth a block */
};

/* ---- How a dtype is looked at ------------------------------------------- */

static void
look_at_bytes(struct safetensors_scan *s, const struct safetensors_dtype *d)
{
	s->test = (struct safetensors_byte_test){ 0, 0xff, 0xff };
	s->odd = UINT64_MAX;
	s->is_bool = d->kind == SAFETENSORS_BOOL;
	if (s->is_bool)
		s->odd = 2;
	if (d->kind != SAFETENSORS_FLOAT || d->bits != 8)
		return;
	s->dtype = d;
	switch (d->specials) {
	case SAFETENSORS_NONE: return;
	case SAFETENSORS_IEEE:
		s->test = (struct safetensors_byte_test){ 0, 0x7f, 0x7f };
		s->odd = (0x7fu >> d->mantissa) << d->mantissa;
		return;
	case SAFETENSORS_NAN_ONES:
		s->never_zero = d->sign == 0;
		s->odd = s->never_zero ? 0xff : 0x7f;
		s->test.mask = s->test.nonzero = (uint8_t)s->odd;
		return;
	case SAFETENSORS_NAN_SIGN:
		/* 80 is the only byte that 7f turns into ff. */
		s->test.flip = 0x7f;
		s->odd = 0xff;
		return;
	}
}

static void
look_at_floats(struct safetensors_scan *s, const struct safetensors_dtype *d,
	bool stats)
{
	const struct safetensors_kernels *k = s->kernels;

	s->dtype = d->kind == SAFETENSORS_COMPLEX
			   ? safetensors_dtype_find("F32", 3)
			   : d;
	s->width = s->dtype->bits / 8;
	/* The highest finite magnitude may be the lowest value. */
	s->odd = safetensors_lane_sign(s) - 1 -
		 (((uint64_t)1 << s->dtype->mantissa) - 1) - 1;
	s->lane = s->width == 2 ? LANE_16 : s->width == 4 ? LANE_32 : LANE_64;
	if (s->lane == LANE_16)
		s->widen = d->exponent == 8 ? k->widen_bf16 : k->widen_f16;
	else if (s->lane == LANE_32)
		s->widen = k->widen_f32;
	if (!stats)
		return;
	switch (s->lane) {
	case LANE_8: break;
	case LANE_16:
		s->squares =
			d->exponent == 8 ? k->squares_bf16 : k->squares_f16;
		break;
	case LANE_32: s->squares = k->squares_f32; break;
	case LANE_64: s->squares = k->squares_f64; break;
	}
}

void
safetensors_scan_begin(struct safetensors_scan *s,
	const struct safetensors_tensor *t,
	const struct safetensors_kernels *kernels, bool stats)
{
	const struct safetensors_dtype *d = t->dtype;
	const uint64_t *dims = SAFETENSORS_SHAPE(t);
	uint32_t rank = t->shape.n;

	memset(s, 0, sizeof *s);
	s->kernels = kernels;
	s->width = 1;
	s->element = safetensors_dtype_width(d);
	s->constant = stats;
	s->narrow = stats && d->kind == SAFETENSORS_FLOAT && d->bits == 32;
	s->spread.min = (double)INFINITY;
	if (safetensors_dtype_floating(d) && d->bits >= 16)
		look_at_floats(s, d, stats && rank >= 2);
	else
		look_at_bytes(s, d);
	s->mask = rank >= 2 && dims[rank - 1] == dims[rank - 2] &&
		  d->kind == SAFETENSORS_FLOAT;
	if (s->mask)
		s->square = dims[rank - 1];
}

/* ---- Block by block ----------------------------------------------------- */

static uint64_t
find_magnitude(const struct safetensors_scan *s, const uint8_t *p, uint64_t top)
{
	uint64_t at = s->at / s->width;

	while ((safetensors_lane_bits(s, p) & (safetensors_lane_sign(s) - 1)) !=
		top) {
		p += s->width;
		at++;
	}
	return at;
}

/* The spread of a block of n real bytes, the rest zeros. False: look from
 * nearer. */
static bool
spread_block(struct safetensors_scan *s, const uint8_t *p, size_t n,
	struct safetensors_magnitudes m)
{
	double edge = s->width == 8 ? 0x1p300 : 0x1p50;
	double high, low, squares;

	if (m.top > 0) {
		high = safetensors_dtype_value(s->dtype, m.top);
		low = safetensors_dtype_value(s->dtype, m.low + 1);
		if (high > edge || low < 1.0 / edge)
			return false;
		squares = s->squares(p);
		if (high * high > 0.5 * squares)
			return false;
		if (low < s->spread.min)
			s->spread.min = low;
		if (safetensors_spread_add(&s->spread, high))
			s->spread.max_at = find_magnitude(s, p, m.top);
		s->spread.rest += squares - high * high;
	}
	s->spread.n += n / s->width;
	return true;
}

/* From a distance. False: look from nearer. */
static bool
pass_block(
	struct safetensors_scan *s, const uint8_t *p, size_t n, bool *nonzero)
{
	struct safetensors_magnitudes m = { 0, 0 };
	struct safetensors_bytes b;

	switch (s->lane) {
	case LANE_8:
		b = s->kernels->bytes(p, s->test);
		*nonzero = b.any != 0;
		return b.top < s->odd;
	case LANE_16: m = s->kernels->u16(p); break;
	case LANE_32: m = s->kernels->u32(p); break;
	case LANE_64: m = s->kernels->u64(p); break;
	}
	*nonzero = m.top != 0;
	return m.top < s->odd && (!s->squares || spread_block(s, p, n, m));
}

/* Behind the last lane that is not zero, from the end; 0 if there is none. */
static size_t
end_of_nonzero(const struct safetensors_scan *s, const uint8_t *p, size_t n)
{
	uint64_t used = s->lane == LANE_8 ? s->test.nonzero
					  : safetensors_lane_sign(s) - 1;

	while (n > 0 &&
		(safetensors_lane_bits(s, p + n - s->width) & used) == 0)
		n -= s->width;
	return n;
}

/* F32 whose low halves are all zero, and not all of them integers. */
static void
look_at_narrow(struct safetensors_scan *s, const uint8_t *p, size_t n)
{
	uint32_t any = 0;

	for (size_t i = 0; i < n; i += 4)
		any |= ckpt_load_u32(p + i);
	s->narrow = (any & 0xffff) == 0;
	if (any == 0 || !s->narrow)
		return;
	for (size_t i = 0; i < n && !s->fraction; i += 4) {
		double x = safetensors_dtype_value(
			s->dtype, safetensors_lane_bits(s, p + i));

		s->fraction = !(x == floor(x));
	}
}

static void
look_at_constant(struct safetensors_scan *s, const uint8_t *p, size_t n)
{
	size_t width = s->element;

	if (width == 0 || n < width) {
		s->constant = false;
		return;
	}
	if (s->at == 0)
		memcpy(s->first, p, width);
	s->constant = memcmp(s->first, p, width) == 0 &&
		      memcmp(p, p + width, n - width) == 0;
}

/* At most a block. Returns whether a value is not zero. */
static bool
scan_block(struct safetensors_scan *s, const uint8_t *p, size_t n)
{
	uint8_t padded[BLOCK];
	const uint8_t *q = p;
	bool nonzero = false, passed = false;

	if (n >= FEW && n < BLOCK) {
		memcpy(padded, p, n);
		memset(padded + n, 0, BLOCK - n);
		q = padded;
	}
	if (n >= FEW)
		passed = pass_block(s, q, n, &nonzero);
	else
		nonzero = end_of_nonzero(s, p, n) > 0;
	if (!passed && n >= FEW && s->widen)
		safetensors_scan_tally(s, q, n);
	else if (!passed && (s->dtype || s->is_bool))
		safetensors_scan_values(s, p, n);
	if (s->narrow)
		look_at_narrow(s, p, n);
	if (s->constant)
		look_at_constant(s, p, n);
	return nonzero || s->never_zero;
}

void
safetensors_scan_data(struct safetensors_scan *s, const uint8_t *p, size_t n)
{
	const uint8_t *last = NULL;
	size_t nlast = 0;
	uint64_t last_at = 0;

	while (n > 0) {
		size_t k = n < BLOCK ? n : BLOCK;

		if (scan_block(s, p, k)) {
			last = p;
			nlast = k;
			last_at = s->at;
		}
		s->at += k;
		p += k;
		n -= k;
	}
	if (s->never_zero)
		s->nonzero_end = s->at;
	else if (last)
		s->nonzero_end = last_at + end_of_nonzero(s, last, nlast);
}

uint64_t
safetensors_scan_zero_tail(const struct safetensors_scan *s,
	const struct safetensors_tensor *t, uint64_t len)
{
	uint64_t zeros = len - s->nonzero_end;
	uint64_t bits = t->dtype->bits;

	if (s->element > 0)
		return zeros - zeros % s->element;
	/* Whole elements of less than a byte; len is far below 2^60. */
	return zeros * 8 / bits * bits / 8;
}
