/* SPDX-License-Identifier: MIT */
/*
 * Strict objects over jansson, which has refused duplicate keys, lone
 * surrogates and text that is not UTF-8 before anything comes here. It tells
 * whole numbers from others: one with a fraction or an exponent is a real.
 */
#include "replay/job_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *
kind_text(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT: return "an object";
	case JSON_ARRAY: return "an array";
	case JSON_STRING: return "a string";
	case JSON_INTEGER: return "an integer";
	case JSON_REAL: return "a number with a fraction or an exponent";
	case JSON_TRUE: return "true";
	case JSON_FALSE: return "false";
	case JSON_NULL: return "null";
	}
	return "";
}

bool
ckpt_fields_refuse(
	struct ckpt_fields *f, const char *key, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	ckpt_buf_puts(f->why, f->path);
	if (f->path[0] && key)
		ckpt_buf_puts(f->why, ".");
	if (key)
		ckpt_buf_escape(f->why, key, strlen(key), 80);
	if (f->path[0] || key)
		ckpt_buf_puts(f->why, ": ");
	ckpt_buf_puts(f->why, text);
	f->object = NULL;
	return false;
}

static bool
is_known(const char *key, const char *const *keys)
{
	for (; *keys; keys++)
		if (strcmp(key, *keys) == 0)
			return true;
	return false;
}

bool
ckpt_fields_open(struct ckpt_fields *f, struct ckpt_buf *why,
	const json_t *value, const char *path, const char *const *keys)
{
	*f = (struct ckpt_fields){ .why = why };
	snprintf(f->path, sizeof f->path, "%s", path);
	if (why->n > 0 || !value)
		return false;
	if (!json_is_object(value))
		return ckpt_fields_refuse(f, NULL,
			"%s where an object has to be", kind_text(value));
	f->object = value;
	/* Not const: iterators do not change what they go over. */
	for (void *i = json_object_iter((json_t *)(uintptr_t)value); i;
		i = json_object_iter_next((json_t *)(uintptr_t)value, i))
		if (!is_known(json_object_iter_key(i), keys))
			return ckpt_fields_refuse(f, json_object_iter_key(i),
				"there is no such key");
	for (; *keys; keys++)
		if (!json_object_get(value, *keys))
			return ckpt_fields_refuse(f, *keys, "it is missing");
	return true;
}

/* The value of a key that is there, or NULL after a refusal. */
static const json_t *
take(struct ckpt_fields *f, const char *key)
{
	return f->object && f->why->n == 0 ? json_object_get(f->object, key)
					   : NULL;
}

static bool
wrong(struct ckpt_fields *f, const char *key, const json_t *value,
	const char *what)
{
	return ckpt_fields_refuse(
		f, key, "%s where %s has to be", kind_text(value), what);
}

bool
ckpt_fields_count(struct ckpt_fields *f, const char *key, uint64_t least,
	uint64_t most, uint64_t *out)
{
	const json_t *value = take(f, key);
	json_int_t x;

	if (!value)
		return false;
	/* Beyond 63 bits jansson knows only reals. */
	if (fabs(json_real_value(value)) >= 0x1p63)
		return ckpt_fields_refuse(f, key,
			"%.17g is not from %" PRIu64 " to %" PRIu64,
			json_real_value(value), least, most);
	if (!json_is_integer(value))
		return wrong(f, key, value, "an integer");
	x = json_integer_value(value);
	if (x < 0 || (uint64_t)x < least)
		return ckpt_fields_refuse(f, key,
			"%" JSON_INTEGER_FORMAT " is not at least %" PRIu64, x,
			least);
	if ((uint64_t)x > most)
		return ckpt_fields_refuse(f, key,
			"%" JSON_INTEGER_FORMAT " is more than %" PRIu64, x,
			most);
	*out = (uint64_t)x;
	return true;
}

/* Canonical decimal below 2^64. */
static bool
parse_wide(const char *text, size_t n, uint64_t *out)
{
	uint64_t x = 0;

	if (n == 0 || (n > 1 && text[0] == '0'))
		return false;
	for (size_t i = 0; i < n; i++)
		if (text[i] < '0' || text[i] > '9' ||
			__builtin_mul_overflow(x, 10u, &x) ||
			__builtin_add_overflow(
				x, (uint64_t)(text[i] - '0'), &x))
			return false;
	*out = x;
	return true;
}

bool
ckpt_fields_wide(struct ckpt_fields *f, const char *key, uint64_t *out)
{
	const char *text;
	size_t n;

	if (!ckpt_fields_text(f, key, &text, &n))
		return false;
	return parse_wide(text, n, out) ||
	       ckpt_fields_refuse(f, key,
		       "not a decimal number from 0 to 18446744073709551615 "
		       "without leading zeros");
}

bool
ckpt_fields_real(struct ckpt_fields *f, const char *key, double *out)
{
	const json_t *value = take(f, key);

	if (!value)
		return false;
	if (!json_is_number(value))
		return wrong(f, key, value, "a number");
	*out = json_number_value(value);
	return isfinite(*out) || ckpt_fields_refuse(f, key, "not finite");
}

bool
ckpt_fields_flag(struct ckpt_fields *f, const char *key, bool *out)
{
	const json_t *value = take(f, key);

	if (!value)
		return false;
	if (!json_is_boolean(value))
		return wrong(f, key, value, "true or false");
	*out = json_is_true(value);
	return true;
}

bool
ckpt_fields_text(
	struct ckpt_fields *f, const char *key, const char **out, size_t *n)
{
	const json_t *value = take(f, key);

	if (!value)
		return false;
	if (!json_is_string(value))
		return wrong(f, key, value, "a string");
	*out = json_string_value(value);
	*n = json_string_length(value);
	return true;
}

bool
ckpt_fields_list(
	struct ckpt_fields *f, const char *key, const json_t **out, size_t *n)
{
	const json_t *value = take(f, key);

	if (!value)
		return false;
	if (!json_is_array(value))
		return wrong(f, key, value, "an array");
	*out = value;
	*n = json_array_size(value);
	return true;
}
