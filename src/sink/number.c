/* SPDX-License-Identifier: MIT */
/*
 * Elements of tensors as numbers, by the name of their dtype: all formats use
 * the same names but for the case of letters ("f64", "F64"). What has no such
 * name is shown as its bytes.
 */
#include "sink/number.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "wire/value.h"

const struct safetensors_dtype *
ckpt_number_dtype(const struct ckpt_span *span)
{
	char name[16];
	size_t n = strlen(span->dtype);

	if (n >= sizeof name)
		return NULL;
	for (size_t i = 0; i < n; i++)
		name[i] = (char)toupper((unsigned char)span->dtype[i]);
	return safetensors_dtype_find(name, n);
}

static const struct safetensors_dtype *
single(void)
{
	return safetensors_dtype_find("F32", 3);
}

struct ckpt_number_group
ckpt_number_group_of(const struct ckpt_span *span)
{
	const struct safetensors_dtype *d = ckpt_number_dtype(span);
	struct ckpt_number_group group = { .dtype = d, .bytes = 1, .count = 1 };

	if (!d || (d->bits % 8 == 0 && d->bits / 8 != span->width)) {
		group.dtype = NULL;
	} else if (d->kind == SAFETENSORS_COMPLEX) {
		group = (struct ckpt_number_group){ single(), 8, 2 };
	} else if (d->bits % 8 == 0) {
		group.bytes = span->width;
	} else {
		/* As many as fill whole bytes: two F4, four F6. */
		while (group.count * d->bits % 8 != 0)
			group.count *= 2;
		group.bytes = group.count * d->bits / 8;
	}
	return group;
}

/* The number below 0 that has these bits, without its sign. */
uint64_t
ckpt_number_magnitude(const struct safetensors_dtype *d, uint64_t bits)
{
	unsigned unused = 64 - d->bits;

	return (~bits << unused >> unused) + 1;
}

bool
ckpt_number_negative(const struct safetensors_dtype *d, uint64_t bits)
{
	return bits >> (d->bits - 1) != 0;
}

static void
write_float(
	struct ckpt_buf *buf, const struct safetensors_dtype *d, uint64_t bits)
{
	ckpt_float_write(buf, safetensors_dtype_value(d, bits), bits, d->bits);
}

enum ckpt_number
ckpt_number_of(const struct ckpt_span *span)
{
	const struct safetensors_dtype *d = ckpt_number_dtype(span);

	if (!d || d->bits % 8 != 0 || d->bits / 8 != span->width)
		return CKPT_NUMBER_OPAQUE;
	switch (d->kind) {
	case SAFETENSORS_FLOAT: return CKPT_NUMBER_FLOAT;
	case SAFETENSORS_SIGNED: return CKPT_NUMBER_SIGNED;
	case SAFETENSORS_BOOL:
	case SAFETENSORS_UNSIGNED: return CKPT_NUMBER_UNSIGNED;
	case SAFETENSORS_COMPLEX: break;
	}
	return CKPT_NUMBER_OPAQUE;
}

double
ckpt_number_value(const struct ckpt_span *span, uint64_t bits)
{
	return safetensors_dtype_value(ckpt_number_dtype(span), bits);
}

void
ckpt_number_write(
	struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t bits)
{
	const struct safetensors_dtype *d = ckpt_number_dtype(span);

	if (!d) {
		ckpt_buf_printf(buf, "0x%" PRIx64, bits);
		return;
	}
	switch (d->kind) {
	case SAFETENSORS_FLOAT: write_float(buf, d, bits); break;
	case SAFETENSORS_COMPLEX:
		write_float(buf, single(), bits & UINT32_MAX);
		ckpt_buf_puts(buf, ", imaginary ");
		write_float(buf, single(), bits >> 32);
		break;
	case SAFETENSORS_SIGNED:
		if (ckpt_number_negative(d, bits))
			ckpt_buf_printf(buf, "-%" PRIu64,
				ckpt_number_magnitude(d, bits));
		else
			ckpt_buf_printf(buf, "%" PRIu64, bits);
		break;
	case SAFETENSORS_BOOL:
	case SAFETENSORS_UNSIGNED:
		ckpt_buf_printf(buf, "%" PRIu64, bits);
		if (d->kind == SAFETENSORS_UNSIGNED && d->bits == 8 &&
			bits >= ' ' && bits <= '~')
			ckpt_buf_printf(buf, " '%c'", (char)bits);
		break;
	}
}
