/* SPDX-License-Identifier: MIT */
/*
 * The dtypes of safetensors. One decoder reads every floating layout from its
 * row: value = (-1)^sign * 2^(exponent - bias) * 1.mantissa, without the
 * leading one and with the exponent 1 where the exponent field is 0. Doubles
 * have room for all of it, so nothing is rounded.
 *
 * F8_E8M0 has no sign and no mantissa: it holds powers of two only, 0 cannot
 * be written, and its lowest exponent is no denormal.
 */
#include "format/safetensors_dtype.h"

#include <string.h>

#include "base/bytes.h"

#define NOT_FINITE 0x7ff0000000000000u
#define QUIET      0x0008000000000000u

#define WHOLE(name, bits, kind)                                                \
	{                                                                      \
		name, bits, kind, 0, 0, 0, 0, SAFETENSORS_NONE                 \
	}
#define REAL(name, sign, exponent, mantissa, bias, specials)                   \
	{                                                                      \
		name, (sign) + (exponent) + (mantissa), SAFETENSORS_FLOAT,     \
			sign, exponent, mantissa, bias, specials               \
	}

static const struct safetensors_dtype dtypes[] = {
	REAL("F4", 1, 2, 1, 1, SAFETENSORS_NONE),
	REAL("F6_E2M3", 1, 2, 3, 1, SAFETENSORS_NONE),
	REAL("F6_E3M2", 1, 3, 2, 3, SAFETENSORS_NONE),
	WHOLE("BOOL", 8, SAFETENSORS_BOOL),
	WHOLE("U8", 8, SAFETENSORS_UNSIGNED),
	WHOLE("I8", 8, SAFETENSORS_SIGNED),
	REAL("F8_E5M2", 1, 5, 2, 15, SAFETENSORS_IEEE),
	REAL("F8_E4M3", 1, 4, 3, 7, SAFETENSORS_NAN_ONES),
	REAL("F8_E8M0", 0, 8, 0, 127, SAFETENSORS_NAN_ONES),
	REAL("F8_E4M3FNUZ", 1, 4, 3, 8, SAFETENSORS_NAN_SIGN),
	REAL("F8_E5M2FNUZ", 1, 5, 2, 16, SAFETENSORS_NAN_SIGN),
	WHOLE("I16", 16, SAFETENSORS_SIGNED),
	WHOLE("U16", 16, SAFETENSORS_UNSIGNED),
	REAL("F16", 1, 5, 10, 15, SAFETENSORS_IEEE),
	REAL("BF16", 1, 8, 7, 127, SAFETENSORS_IEEE),
	WHOLE("I32", 32, SAFETENSORS_SIGNED),
	WHOLE("U32", 32, SAFETENSORS_UNSIGNED),
	REAL("F32", 1, 8, 23, 127, SAFETENSORS_IEEE),
	{ "C64", 64, SAFETENSORS_COMPLEX, 1, 8, 23, 127, SAFETENSORS_IEEE },
	REAL("F64", 1, 11, 52, 1023, SAFETENSORS_IEEE),
	WHOLE("I64", 64, SAFETENSORS_SIGNED),
	WHOLE("U64", 64, SAFETENSORS_UNSIGNED),
};

const struct safetensors_dtype *
safetensors_dtype_at(size_t i)
{
	return i < sizeof dtypes / sizeof dtypes[0] ? &dtypes[i] : NULL;
}

const struct safetensors_dtype *
safetensors_dtype_find(const void *name, size_t n)
{
	for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
		if (strlen(dtypes[i].name) == n &&
			memcmp(dtypes[i].name, name, n) == 0)
			return &dtypes[i];
	return NULL;
}

uint64_t
safetensors_dtype_load(
	const struct safetensors_dtype *dtype, const uint8_t *p, uint64_t i)
{
	unsigned width = safetensors_dtype_width(dtype);
	uint8_t wide[8] = { 0 };
	uint64_t bit;
	unsigned shift;

	if (width > 0) {
		memcpy(wide, p + i * width, width);
		return ckpt_load_u64(wide);
	}
	bit = i * dtype->bits;
	shift = (unsigned)(bit % 8);
	memcpy(wide, p + bit / 8, (shift + dtype->bits + 7) / 8);
	return ckpt_load_u64(wide) >> shift &
	       (((uint64_t)1 << dtype->bits) - 1);
}

/* NaN and infinity, or not (false). The payload of a NaN is kept. */
static bool
special(const struct safetensors_dtype *d, uint64_t bits, uint64_t *wide)
{
	uint64_t low = ((uint64_t)1 << (d->exponent + d->mantissa)) - 1;
	uint64_t mantissa = bits & (((uint64_t)1 << d->mantissa) - 1);
	uint64_t exponent = (bits & low) >> d->mantissa;

	*wide = NOT_FINITE | mantissa << (52 - d->mantissa);
	switch (d->specials) {
	case SAFETENSORS_NONE: return false;
	case SAFETENSORS_IEEE: return exponent == low >> d->mantissa;
	case SAFETENSORS_NAN_ONES: *wide |= QUIET; return (bits & low) == low;
	case SAFETENSORS_NAN_SIGN: *wide |= QUIET; return bits == low + 1;
	}
	return false;
}

static double
number(const struct safetensors_dtype *d, uint64_t bits)
{
	uint64_t sign = d->sign ? bits >> (d->exponent + d->mantissa) & 1 : 0;
	uint64_t exponent =
		bits >> d->mantissa & (((uint64_t)1 << d->exponent) - 1);
	uint64_t mantissa = bits & (((uint64_t)1 << d->mantissa) - 1);
	int e = (int)exponent - d->bias;
	uint64_t wide;
	double x;

	if (special(d, bits, &wide))
		return ckpt_f64_from_bits(wide | sign << 63);
	if (exponent > 0 || d->mantissa == 0)
		mantissa |= (uint64_t)1 << d->mantissa;
	else
		e++;
	/* 2^(e - mantissa): at least 2^-149, so a double that is not denormal;
	 * F64 does not come here. */
	x = (double)mantissa *
	    ckpt_f64_from_bits((uint64_t)(e - (int)d->mantissa + 1023) << 52);
	return sign ? -x : x;
}

double
safetensors_dtype_value(const struct safetensors_dtype *dtype, uint64_t bits)
{
	unsigned unused = 64 - dtype->bits;

	switch (dtype->kind) {
	case SAFETENSORS_BOOL:
	case SAFETENSORS_UNSIGNED: return (double)bits;
	case SAFETENSORS_SIGNED:
		if (bits >> (dtype->bits - 1) == 0)
			return (double)bits;
		/* Two's complement, without a cast that may change it. */
		return -(double)((~bits << unused >> unused) + 1);
	case SAFETENSORS_COMPLEX: return number(dtype, bits & UINT32_MAX);
	case SAFETENSORS_FLOAT: break;
	}
	if (dtype->bits == 64)
		return ckpt_f64_from_bits(bits);
	return number(dtype, bits);
}

double
safetensors_dtype_normal(const struct safetensors_dtype *dtype)
{
	if (!safetensors_dtype_floating(dtype))
		return 0.0;
	if (dtype->mantissa == 0)
		return number(dtype, 0);
	return ckpt_f64_from_bits((uint64_t)(1 - dtype->bias + 1023) << 52);
}
