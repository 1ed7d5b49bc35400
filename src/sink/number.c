/* SPDX-License-Identifier: MIT */
/*
 * Elements of tensors as numbers. The names of dtypes say what they are by
 * their first letter ("f64", "u8"), the width says the rest; what is neither
 * is shown as its bytes.
 */
#include "sink/number.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/value.h"

enum ckpt_number
ckpt_number_of(const struct ckpt_span *span)
{
	unsigned w = span->width;

	if (span->dtype[0] == 'f' && (w == 4 || w == 8))
		return CKPT_NUMBER_FLOAT;
	if (span->dtype[0] == 'u' && (w == 1 || w == 2 || w == 4 || w == 8))
		return CKPT_NUMBER_UNSIGNED;
	return CKPT_NUMBER_OPAQUE;
}

double
ckpt_number_value(const struct ckpt_span *span, uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float narrow;

	if (ckpt_number_of(span) == CKPT_NUMBER_UNSIGNED)
		return (double)bits;
	if (span->width == 8)
		return ckpt_f64_from_bits(bits);
	memcpy(&narrow, &low, sizeof narrow);
	return (double)narrow;
}

void
ckpt_number_write(
	struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t bits)
{
	switch (ckpt_number_of(span)) {
	case CKPT_NUMBER_FLOAT:
		ckpt_f64_write(
			buf, ckpt_f64_bits(ckpt_number_value(span, bits)));
		break;
	case CKPT_NUMBER_UNSIGNED:
		ckpt_buf_printf(buf, "%" PRIu64, bits);
		if (span->width == 1 && bits >= ' ' && bits <= '~')
			ckpt_buf_printf(buf, " '%c'", (char)bits);
		break;
	case CKPT_NUMBER_OPAQUE:
		ckpt_buf_printf(buf, "0x%" PRIx64, bits);
		break;
	}
}
