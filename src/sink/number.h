/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_NUMBER_H
#define CKPT_SINK_NUMBER_H

/* Elements of tensors as numbers, by the name of their dtype. bits is an
 * element's bytes as a little-endian number. */

#include "base/buf.h"
#include "diag/run.h"
#include "format/safetensors_dtype.h"

enum ckpt_number {
	CKPT_NUMBER_FLOAT,
	CKPT_NUMBER_UNSIGNED,
	CKPT_NUMBER_SIGNED,
	CKPT_NUMBER_OPAQUE, /* not one number in whole bytes */
};

/* What the elements are; NULL if their dtype has no known name. */
const struct safetensors_dtype *ckpt_number_dtype(const struct ckpt_span *span);

/* The numbers that fill whole bytes: one as a rule, the two of a C64, two F4,
 * four F6. dtype is NULL if the bytes cannot be read as numbers. */
struct ckpt_number_group {
	const struct safetensors_dtype *dtype; /* of one number */
	unsigned bytes, count;
};
struct ckpt_number_group ckpt_number_group_of(const struct ckpt_span *span);

enum ckpt_number ckpt_number_of(const struct ckpt_span *span);
/* Of what is not opaque. */
double ckpt_number_value(const struct ckpt_span *span, uint64_t bits);
/* As text, whatever it is; of floats with their own bits. */
void ckpt_number_write(
	struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t bits);

/* Of a signed dtype: whether it is below 0, and then the number without its
 * sign. */
bool ckpt_number_negative(const struct safetensors_dtype *d, uint64_t bits);
uint64_t ckpt_number_magnitude(
	const struct safetensors_dtype *d, uint64_t bits);

#endif
