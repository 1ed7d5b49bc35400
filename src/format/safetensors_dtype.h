/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_SAFETENSORS_DTYPE_H
#define CKPT_FORMAT_SAFETENSORS_DTYPE_H

/*
 * The 22 dtypes of safetensors: names, sizes, and what the bits of an element
 * mean. Every floating value of at most 64 bits is a double exactly.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum safetensors_kind {
	SAFETENSORS_BOOL,
	SAFETENSORS_UNSIGNED,
	SAFETENSORS_SIGNED,
	SAFETENSORS_FLOAT,
	SAFETENSORS_COMPLEX, /* two F32: real, imaginary */
};

/* What the highest exponents of a floating dtype mean. */
enum safetensors_specials {
	SAFETENSORS_NONE,     /* numbers like the others */
	SAFETENSORS_IEEE,     /* infinities and NaN */
	SAFETENSORS_NAN_ONES, /* NaN if all bits but the sign are set */
	SAFETENSORS_NAN_SIGN, /* NaN instead of -0 */
};

/* One row. Fields of floats from the highest bit: sign (1 bit, or none),
 * exponent, mantissa. */
struct safetensors_dtype {
	const char *name;
	unsigned bits; /* of one element */
	enum safetensors_kind kind;
	unsigned sign, exponent, mantissa; /* bits */
	int bias;
	enum safetensors_specials specials;
};

/* The row of a name, compared exactly; NULL: unknown. */
const struct safetensors_dtype *safetensors_dtype_find(
	const void *name, size_t n);

/* By position, in the order of sizes; NULL behind the last. */
const struct safetensors_dtype *safetensors_dtype_at(size_t i);

/* Floating, C64 too. */
static inline bool
safetensors_dtype_floating(const struct safetensors_dtype *dtype)
{
	return dtype->kind == SAFETENSORS_FLOAT ||
	       dtype->kind == SAFETENSORS_COMPLEX;
}

/* Whole bytes of an element, 0 if it is less than one. */
static inline unsigned
safetensors_dtype_width(const struct safetensors_dtype *dtype)
{
	return dtype->bits % 8 == 0 ? dtype->bits / 8 : 0;
}

/* Bits of element i of consecutive elements at p, the first in the lowest
 * bits of the first byte. */
uint64_t safetensors_dtype_load(
	const struct safetensors_dtype *dtype, const uint8_t *p, uint64_t i);

/* The value of an element's bits; of BOOL and integers rounded if it has more
 * than 53 bits, of C64 the real part. */
double safetensors_dtype_value(
	const struct safetensors_dtype *dtype, uint64_t bits);

/* The smallest positive value that is not denormal; 0 for integers. */
double safetensors_dtype_normal(const struct safetensors_dtype *dtype);

#endif
