/* SPDX-License-Identifier: MIT */
/*
 * From an offset to the value: a header field, of a string its length or its
 * bytes, or one element of a tensor. What the bytes of the value are is up to
 * the caller, so that one spot can be shown as it is and as it might be.
 */
#include "sink/spot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "sink/json.h"
#include "sink/number.h"
#include "wire/value.h"

enum { WIDEST = 8, LENGTH = 4 };

bool
ckpt_spot_at(
	struct ckpt_spot *spot, const struct ckpt_spans *spans, uint64_t off)
{
	const struct ckpt_span_field *f;
	const struct ckpt_owner *owner = ckpt_spans_at(spans, off);

	*spot = (struct ckpt_spot){ .owner = owner, .off = off, .len = 1 };
	if (!owner)
		return false;
	if (owner->kind == CKPT_OWNER_TENSOR) {
		spot->span = &spans->tensors[owner->index];
		spot->has_element = ckpt_span_element(
			spot->span, off, &spot->element, &spot->off);
		if (spot->has_element)
			spot->len = spot->span->width;
	} else if (owner->kind == CKPT_OWNER_FIELD) {
		f = spot->field = &spans->fields[owner->index];
		spot->off = f->off;
		spot->len = f->len;
		if (strcmp(ckpt_field_part(f, off), ".length") == 0) {
			spot->len = LENGTH;
		} else if (*ckpt_field_part(f, off)) {
			spot->off += LENGTH;
			spot->len -= LENGTH;
		}
	}
	return true;
}

/* Little-endian; false if there are not as many bytes as there should be. */
static bool
number(const struct ckpt_spot *spot, const uint8_t *bytes, size_t n,
	uint64_t *bits)
{
	uint8_t wide[WIDEST] = { 0 };

	if (spot->len > sizeof wide || n < spot->len)
		return false;
	memcpy(wide, bytes, (size_t)spot->len);
	*bits = ckpt_load_u64(wide);
	return true;
}

static struct ckpt_value
field_value(const struct ckpt_spot *spot, const uint8_t *bytes, size_t n)
{
	const struct ckpt_span_field *f = spot->field;
	bool length = f->type == CKPT_STR && spot->off == f->off;
	uint64_t bits;

	if (f->flags & CKPT_IS_JSON)
		return f->value; /* only a parser knows others */
	if ((f->type == CKPT_STR && !length) || f->type == CKPT_MAGIC)
		return ckpt_v_bytes(bytes, n);
	if (!number(spot, bytes, n, &bits))
		return (struct ckpt_value){ .kind = CKPT_V_NONE };
	if (f->type == CKPT_F64)
		return ckpt_v_f64(bits);
	return f->flags & CKPT_HASH_AS_ZERO ? ckpt_v_hash(bits)
					    : ckpt_v_u64(bits);
}

void
ckpt_spot_write(struct ckpt_buf *buf, const struct ckpt_spot *spot,
	const uint8_t *bytes, size_t n)
{
	struct ckpt_span_field field;
	uint64_t bits;

	if (spot->field) {
		field = *spot->field;
		field.value = field_value(spot, bytes, n);
		if (field.value.kind != CKPT_V_NONE)
			ckpt_span_field_write(buf, &field);
	} else if (spot->has_element && number(spot, bytes, n, &bits)) {
		ckpt_number_write(buf, spot->span, bits);
	}
}

json_t *
ckpt_spot_json(const struct ckpt_spot *spot, const uint8_t *bytes, size_t n)
{
	struct ckpt_value value;
	uint64_t bits;

	if (spot->field) {
		value = field_value(spot, bytes, n);
		return ckpt_json_value(&value);
	}
	if (!spot->has_element || !number(spot, bytes, n, &bits))
		return json_null();
	return ckpt_number_json(spot->span, bits);
}

/* As ckpt_json_value() says a double, but with the bits of the file. */
static json_t *
float_json(double x, uint64_t bits, unsigned width)
{
	return json_pack("{s:o, s:o}", "value",
		isfinite(x) ? json_real(x) : json_null(), "bits",
		json_sprintf("%0*" PRIx64, (int)((width + 3) / 4), bits));
}

json_t *
ckpt_number_json(const struct ckpt_span *span, uint64_t bits)
{
	const struct safetensors_dtype *d = ckpt_number_dtype(span);

	if (!d)
		return json_null();
	switch (d->kind) {
	case SAFETENSORS_FLOAT:
		return float_json(
			safetensors_dtype_value(d, bits), bits, d->bits);
	case SAFETENSORS_COMPLEX:
		return json_pack("[o, o]",
			float_json(safetensors_dtype_value(d, bits),
				bits & UINT32_MAX, 32),
			float_json(safetensors_dtype_value(d, bits >> 32),
				bits >> 32, 32));
	case SAFETENSORS_SIGNED:
		/* The lowest of all has no positive twin. */
		if (ckpt_number_negative(d, bits))
			return json_integer(
				-(json_int_t)(ckpt_number_magnitude(d, bits) -
					      1) -
				1);
		return json_integer((json_int_t)bits);
	case SAFETENSORS_BOOL:
	case SAFETENSORS_UNSIGNED: return ckpt_json_u64(bits);
	}
	return json_null();
}
