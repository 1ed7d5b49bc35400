/* SPDX-License-Identifier: MIT */
/*
 * Looking at values of a document. Whatever is absent, null or of another type
 * than asked for is not found, so that callers compare only what was said.
 */
#include "sets/document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

const struct ckpt_doc_value *
ckpt_doc_member(const struct ckpt_doc_value *object, const char *key)
{
	const struct ckpt_doc_value *found = NULL;
	size_t n = strlen(key);

	if (!object || object->kind != CKPT_DOC_OBJECT)
		return NULL;
	for (const struct ckpt_doc_value *v = object->first; v; v = v->next)
		if (v->key_n == n && memcmp(v->key, key, n) == 0)
			found = v;
	return found;
}

const struct ckpt_doc_value *
ckpt_doc_get(const struct ckpt_doc_value *object, const char *key)
{
	const struct ckpt_doc_value *found = ckpt_doc_member(object, key);

	return found && found->kind != CKPT_DOC_NULL ? found : NULL;
}

const struct ckpt_doc_value *
ckpt_doc_number(const struct ckpt_doc_value *object, const char *key)
{
	const struct ckpt_doc_value *found = ckpt_doc_member(object, key);

	return found && found->kind == CKPT_DOC_NUMBER ? found : NULL;
}

bool
ckpt_doc_is(const struct ckpt_doc_value *value, const char *text)
{
	return value && value->kind == CKPT_DOC_STRING &&
	       value->n == strlen(text) &&
	       memcmp(value->p, text, value->n) == 0;
}

/* Plain decimal digits. */
static bool
integer(const struct ckpt_doc_value *value, uint64_t *out)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < value->n; i++) {
		uint64_t digit = (uint64_t)(value->p[i] - '0');

		if (digit > 9 || !ckpt_mul_u64(sum, 10, &sum) ||
			!ckpt_add_u64(sum, digit, &sum))
			return false;
	}
	*out = sum;
	return true;
}

bool
ckpt_doc_f64(const struct ckpt_doc_value *value, double *out)
{
	char text[512];

	if (!value || value->kind != CKPT_DOC_NUMBER)
		return false;
	/* No number that means anything is longer; the point stays inside. */
	if (value->n >= sizeof text)
		return false;
	memcpy(text, value->p, (size_t)value->n);
	text[value->n] = '\0';
	*out = strtod(text, NULL);
	return true;
}

bool
ckpt_doc_u64(const struct ckpt_doc_value *value, uint64_t *out)
{
	double x = 0;

	if (!value || value->kind != CKPT_DOC_NUMBER)
		return false;
	if (integer(value, out))
		return true;
	if (!ckpt_doc_f64(value, &x) || !(x >= 0) || x >= 0x1p64 ||
		trunc(x) != x)
		return false;
	*out = (uint64_t)x;
	return true;
}
