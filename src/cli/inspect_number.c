/* SPDX-License-Identifier: MIT */
/*
 * Elements of tensors as numbers. The names of dtypes say what they are by
 * their first letter ("f64", "u8"), the width says the rest; what is neither
 * is shown as its bytes.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/value.h"

enum inspect_number
inspect_number_of(const struct ckpt_span *span)
{
	unsigned w = span->width;

	if (span->dtype[0] == 'f' && (w == 4 || w == 8))
		return INSPECT_FLOAT;
	if (span->dtype[0] == 'u' && (w == 1 || w == 2 || w == 4 || w == 8))
		return INSPECT_UNSIGNED;
	return INSPECT_OPAQUE;
}

double
inspect_number_value(const struct ckpt_span *span, uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float narrow;

	if (inspect_number_of(span) == INSPECT_UNSIGNED)
		return (double)bits;
	if (span->width == 8)
		return ckpt_f64_from_bits(bits);
	memcpy(&narrow, &low, sizeof narrow);
	return (double)narrow;
}

void
inspect_element_value_write(
	struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t bits)
{
	switch (inspect_number_of(span)) {
	case INSPECT_FLOAT:
		ckpt_f64_write(
			buf, ckpt_f64_bits(inspect_number_value(span, bits)));
		break;
	case INSPECT_UNSIGNED:
		ckpt_buf_printf(buf, "%" PRIu64, bits);
		if (span->width == 1 && bits >= ' ' && bits <= '~')
			ckpt_buf_printf(buf, " '%c'", (char)bits);
		break;
	case INSPECT_OPAQUE: ckpt_buf_printf(buf, "0x%" PRIx64, bits); break;
	}
}

json_t *
inspect_json_f64(double value)
{
	struct ckpt_value v = ckpt_v_f64(ckpt_f64_bits(value));

	return ckpt_json_value(&v);
}
