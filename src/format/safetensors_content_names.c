/* SPDX-License-Identifier: MIT */
/*
 * What a tensor is for, as far as its name, dtype and shape tell. Names are
 * split at dots; nothing else of them is understood.
 */
#include <string.h>

#include "base/checked.h"
#include "format/safetensors_content.h"

static bool
ends_in(const uint8_t *p, size_t n, const char *end)
{
	size_t k = strlen(end);

	return n >= k && memcmp(p + n - k, end, k) == 0;
}

bool
safetensors_is_weight(const struct safetensors_tensor *t)
{
	if (safetensors_dtype_floating(t->dtype))
		return true;
	if (t->dtype->kind == SAFETENSORS_BOOL || t->name.n == 0)
		return false;
	return ends_in(t->name.p, t->name.n, "weight") ||
	       ends_in(t->name.p, t->name.n, "weight_packed") ||
	       ends_in(t->name.p, t->name.n, "_blocks");
}

bool
safetensors_is_bias(const struct safetensors_tensor *t)
{
	return (t->name.n == 4 && ends_in(t->name.p, 4, "bias")) ||
	       (t->name.n > 4 && ends_in(t->name.p, t->name.n, ".bias"));
}

static bool
is(const uint8_t *p, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(p, word, n) == 0;
}

bool
safetensors_is_adapter_up(const struct safetensors_tensor *t)
{
	const uint8_t *p = t->name.p;
	size_t left = t->name.n;
	bool after_lora = false;

	while (left > 0) {
		const uint8_t *dot = memchr(p, '.', left);
		size_t n = dot ? (size_t)(dot - p) : left;

		if (is(p, n, "lora_B") || is(p, n, "lora_up") ||
			(after_lora && is(p, n, "up")))
			return true;
		after_lora = ends_in(p, n, "lora");
		if (!dot)
			break;
		p = dot + 1;
		left -= n + 1;
	}
	return false;
}

uint64_t
safetensors_elements(const struct safetensors_tensor *t)
{
	uint64_t n = 1;

	/* The size was found to fit; only with a zero dimension may a product
	 * of the others not. */
	for (uint32_t i = 0; i < t->shape.n; i++)
		if (!ckpt_mul_u64(n, SAFETENSORS_SHAPE(t)[i], &n))
			return 0;
	return n;
}
