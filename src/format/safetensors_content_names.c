/* SPDX-License-Identifier: MIT */
/*
 * What a tensor is for, as far as its name, dtype and shape tell. Names are
 * split at dots; nothing else of them is understood.
 */
#include <string.h>

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
	if (t->dtype->kind == SAFETENSORS_BOOL)
		return false;
	return ends_in(t->name.p, t->name.n, "weight") ||
	       ends_in(t->name.p, t->name.n, "weight_packed") ||
	       ends_in(t->name.p, t->name.n, "_blocks");
}

static bool
is(const uint8_t *p, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(p, word, n) == 0;
}

bool
safetensors_is_bias(const struct safetensors_tensor *t)
{
	return is(t->name.p, t->name.n, "bias") ||
	       ends_in(t->name.p, t->name.n, ".bias");
}

bool
safetensors_is_adapter_up(const struct safetensors_tensor *t)
{
	const uint8_t *p = t->name.p;
	size_t left = t->name.n;
	bool after_lora = false;

	for (;;) {
		const uint8_t *dot = memchr(p, '.', left);
		size_t n = dot ? (size_t)(dot - p) : left;

		if (is(p, n, "lora_B") || is(p, n, "lora_up") ||
			(after_lora && is(p, n, "up")))
			return true;
		after_lora = ends_in(p, n, "lora");
		if (!dot)
			return false;
		p = dot + 1;
		left -= n + 1;
	}
}
