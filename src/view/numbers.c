/* SPDX-License-Identifier: MIT */
/*
 * Numbers are taken apart by their bits, never by arithmetic on them, so that
 * every pattern is shown as what it is. Text of a floating-point number reads
 * back to the same one in its own type.
 */
#include "view/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/value.h"

#define SIGN     ((uint64_t)1 << 63)
#define INFINITE ((uint64_t)0x7ff << 52)
#define MANTISSA (((uint64_t)1 << 52) - 1)
#define QUIET    ((uint64_t)1 << 51)

static const struct {
	const char *names;
	size_t width;
} pairs[] = {
	{ "u8 i8", 1 },
	{ "u16 i16", 2 },
	{ "f16 bf16", 2 },
	{ "u32 i32", 4 },
	{ "f32", 4 },
	{ "u64 i64", 8 },
	{ "f64", 8 },
};

enum { PAIRS = sizeof pairs / sizeof pairs[0] };

const char *
view_number_pair(size_t i)
{
	return i < PAIRS ? pairs[i].names : NULL;
}

/* Every number of the type is told apart by so many digits. */
static void
write_rounded(struct ckpt_buf *buf, double x, int digits)
{
	if (isnan(x))
		ckpt_buf_puts(buf, "NaN");
	else
		ckpt_buf_printf(buf, "%.*g", digits, x);
}

static void
write_f16(struct ckpt_buf *buf, uint16_t bits)
{
	uint64_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
	uint64_t sign = (uint64_t)(bits >> 15) << 63, wide;

	if (exponent == 0x1f)
		wide = INFINITE | mantissa << 42;
	else if (exponent == 0)
		wide = ckpt_f64_bits((double)mantissa * 0x1p-24);
	else
		wide = (exponent + 1023 - 15) << 52 | mantissa << 42;
	write_rounded(buf, ckpt_f64_from_bits(sign | wide), 5);
}

static float
f32_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static void
write_f32(struct ckpt_buf *buf, uint32_t bits)
{
	double x = (double)f32_of(bits);
	char text[40];
	int digits = 1;

	for (; digits < 9; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, x);
		if ((double)strtof(text, NULL) >= x &&
			(double)strtof(text, NULL) <= x)
			break;
	}
	write_rounded(buf, x, digits);
}

void
view_number_pair_write(
	struct ckpt_buf *buf, size_t i, const uint8_t *bytes, size_t n)
{
	uint8_t wide[8] = { 0 };
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	if (i >= PAIRS || n < pairs[i].width)
		return;
	memcpy(wide, bytes, n < sizeof wide ? n : sizeof wide);
	u64 = ckpt_load_u64(wide);
	u32 = ckpt_load_u32(wide);
	u16 = ckpt_load_u16(wide);
	switch (i) {
	case 0: ckpt_buf_printf(buf, "%u  %d", wide[0], (int8_t)wide[0]); break;
	case 1: ckpt_buf_printf(buf, "%u  %d", u16, (int16_t)u16); break;
	case 2:
		write_f16(buf, u16);
		ckpt_buf_puts(buf, "  ");
		write_rounded(buf, (double)f32_of((uint32_t)u16 << 16), 4);
		break;
	case 3:
		ckpt_buf_printf(
			buf, "%" PRIu32 "  %" PRId32, u32, (int32_t)u32);
		break;
	case 4: write_f32(buf, u32); break;
	case 5:
		ckpt_buf_printf(
			buf, "%" PRIu64 "  %" PRId64, u64, (int64_t)u64);
		break;
	case 6: ckpt_f64_write(buf, u64); break;
	}
}

void
view_f64_write(struct ckpt_buf *buf, double x)
{
	struct ckpt_buf text = { 0 };

	ckpt_f64_write(&text, ckpt_f64_bits(x));
	if (text.failed)
		buf->failed = true;
	else
		ckpt_buf_add(buf, text.p, strcspn(text.p, " "));
	ckpt_buf_release(&text);
}

void
view_f64_parts_write(struct ckpt_buf *buf, uint64_t bits)
{
	uint64_t mantissa = bits & MANTISSA;
	int raw = (int)(bits >> 52 & 0x7ff);

	ckpt_buf_printf(buf,
		"sign %c, exponent %d, mantissa 0x%013" PRIx64 ", ",
		bits & SIGN ? '-' : '+', (raw ? raw : 1) - 1023, mantissa);
	if (raw == 0)
		ckpt_buf_puts(buf, mantissa ? "subnormal" : "zero");
	else if (raw < 0x7ff)
		ckpt_buf_puts(buf, "normal");
	else if (mantissa == 0)
		ckpt_buf_puts(buf, "infinite");
	else
		ckpt_buf_printf(buf, "%s NaN, payload 0x%" PRIx64,
			mantissa & QUIET ? "quiet" : "signalling",
			mantissa & ~QUIET);
}

bool
view_f64_above(uint64_t bits, uint64_t *above)
{
	if ((bits & ~SIGN) > INFINITE || bits == INFINITE)
		return false;
	if (bits == SIGN)
		*above = 1;
	else
		*above = bits & SIGN ? bits - 1 : bits + 1;
	return true;
}

bool
view_f64_below(uint64_t bits, uint64_t *below)
{
	if (!view_f64_above(bits ^ SIGN, below))
		return false;
	*below ^= SIGN;
	return true;
}
