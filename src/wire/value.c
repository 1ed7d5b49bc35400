/* SPDX-License-Identifier: MIT */
/*
 * Showing values, and judging a single one against its row. Numbers are
 * decimal; doubles are given with enough digits to read back and with their
 * bits, because bits are what is compared.
 */
#include "wire/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"

static void
shortest(double x, char *out, size_t n)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(out, n, "%.*g", digits, x);
		if (ckpt_f64_bits(strtod(out, NULL)) == ckpt_f64_bits(x))
			return;
	}
}

void
ckpt_float_write(struct ckpt_buf *buf, double x, uint64_t bits, unsigned width)
{
	char text[40] = "NaN";

	if (!isnan(x))
		shortest(x, text, sizeof text);
	ckpt_buf_printf(buf, "%s (bits %0*" PRIx64 ")", text,
		(int)((width + 3) / 4), bits);
}

void
ckpt_f64_write(struct ckpt_buf *buf, uint64_t bits)
{
	ckpt_float_write(buf, ckpt_f64_from_bits(bits), bits, 64);
}

void
ckpt_value_write(struct ckpt_buf *buf, const struct ckpt_value *value)
{
	switch (value->kind) {
	case CKPT_V_NONE: break;
	case CKPT_V_U64: ckpt_buf_printf(buf, "%" PRIu64, value->u64); break;
	case CKPT_V_HASH:
		ckpt_buf_printf(buf, "fnv1a64:%016" PRIx64, value->u64);
		break;
	case CKPT_V_F64: ckpt_f64_write(buf, value->u64); break;
	case CKPT_V_TEXT: ckpt_buf_puts(buf, value->p); break;
	case CKPT_V_BYTES: ckpt_buf_quote(buf, value->p, value->n); break;
	}
}

const char *
ckpt_tag_name(const struct ckpt_want *want, uint64_t value)
{
	if (!want)
		return NULL;
	for (size_t i = 0; i < want->ntags; i++)
		if (want->tags[i].value == value)
			return want->tags[i].name;
	return NULL;
}

void
ckpt_field_value_write(struct ckpt_buf *buf, const struct ckpt_field *field,
	const struct ckpt_value *value)
{
	const char *tag = value->kind == CKPT_V_U64
				  ? ckpt_tag_name(field->want, value->u64)
				  : NULL;

	if (value->kind == CKPT_V_U64 && field->flags & CKPT_SHOW_HEX)
		ckpt_buf_printf(buf, "0x%0*" PRIx64,
			(int)(2 * ckpt_type_width(field->type)), value->u64);
	else if (value->kind == CKPT_V_U64 && field->flags & CKPT_HASH_AS_ZERO)
		ckpt_buf_printf(buf, "fnv1a64:%016" PRIx64, value->u64);
	else
		ckpt_value_write(buf, value);
	if (tag)
		ckpt_buf_printf(buf, " %s", tag);
}

static void
write_tags(struct ckpt_buf *buf, const struct ckpt_want *want)
{
	for (size_t i = 0; i < want->ntags; i++)
		ckpt_buf_printf(buf, "%s%" PRIu64 " %s", i ? ", " : "",
			want->tags[i].value, want->tags[i].name);
}

static void
write_range(struct ckpt_buf *buf, const struct ckpt_want *want)
{
	if (want->min == want->max)
		ckpt_buf_printf(buf, "%" PRIu64, want->min);
	else if (want->max == UINT64_MAX)
		ckpt_buf_printf(buf, "at least %" PRIu64, want->min);
	else
		ckpt_buf_printf(
			buf, "%" PRIu64 " to %" PRIu64, want->min, want->max);
}

void
ckpt_want_write(struct ckpt_buf *buf, const struct ckpt_want *want)
{
	if (!want)
		return;
	switch (want->kind) {
	case CKPT_WANT_ANY: break;
	case CKPT_WANT_BYTES:
		for (size_t i = 0; i < 8; i++)
			ckpt_buf_printf(
				buf, "%s%02x", i ? " " : "", want->bytes[i]);
		break;
	case CKPT_WANT_TAGS: write_tags(buf, want); break;
	case CKPT_WANT_RANGE: write_range(buf, want); break;
	case CKPT_WANT_F64_POSITIVE: ckpt_buf_puts(buf, "finite, > 0"); break;
	case CKPT_WANT_F64_NOT_NEGATIVE:
		ckpt_buf_puts(buf, "finite, >= 0");
		break;
	case CKPT_WANT_F64_BELOW_ONE:
		ckpt_buf_puts(buf, "finite, >= 0, < 1");
		break;
	case CKPT_WANT_UTF8:
		ckpt_buf_puts(buf, want->min ? "UTF-8, not empty" : "UTF-8");
		break;
	}
}

bool
ckpt_want_holds(const struct ckpt_want *want, const struct ckpt_value *value)
{
	double x = ckpt_f64_from_bits(value->u64);

	switch (want->kind) {
	case CKPT_WANT_ANY: return true;
	case CKPT_WANT_BYTES: return memcmp(value->p, want->bytes, 8) == 0;
	case CKPT_WANT_TAGS: return ckpt_tag_name(want, value->u64) != NULL;
	case CKPT_WANT_RANGE:
		return value->u64 >= want->min && value->u64 <= want->max;
	case CKPT_WANT_F64_POSITIVE: return isfinite(x) && x > 0.0;
	case CKPT_WANT_F64_NOT_NEGATIVE: return isfinite(x) && x >= 0.0;
	case CKPT_WANT_F64_BELOW_ONE: return x >= 0.0 && x < 1.0;
	case CKPT_WANT_UTF8: return ckpt_utf8_valid(value->p, value->n, NULL);
	}
	return false;
}
