/* SPDX-License-Identifier: MIT */
/*
 * The base `safetensors HEADER DATA` of a recipe: a file as its JSON text is
 * written, right or wrong, with the length in front that the text has. No
 * writer could make most of these.
 */
#include "cli/recipes.h"

#include <stdlib.h>
#include <string.h>

#include "ckpt.h"

#include "base/bytes.h"

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Two hexadecimal digits. */
static bool
hex(const char *p, uint8_t *byte)
{
	int high = digit(p[0]), low = high < 0 ? -1 : digit(p[1]);

	if (low < 0)
		return false;
	*byte = (uint8_t)(high * 16 + low);
	return true;
}

/* The header's text, in which \xHH is one byte and nothing else is special;
 * JSON has no such escape. */
static void
add_text(struct ckpt_buf *bytes, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t byte = (uint8_t)p[i];

		if (i + 3 < n && p[i] == '\\' && p[i + 1] == 'x' &&
			hex(p + i + 2, &byte))
			i += 3;
		ckpt_buf_add(bytes, &byte, 1);
	}
}

/* "0000803f*16,00*4" */
static bool
add_data(struct ckpt_buf *bytes, const char *p)
{
	while (*p) {
		size_t from = bytes->n, len;
		unsigned long times = 1;
		uint8_t byte;

		for (; hex(p, &byte); p += 2)
			ckpt_buf_add(bytes, &byte, 1);
		len = bytes->n - from;
		if (*p == '*') {
			char *end;

			times = strtoul(p + 1, &end, 10);
			p = end;
		}
		if (bytes->failed || len == 0 || (*p && *p != ','))
			return false;
		for (; times > 1 && !bytes->failed; times--) {
			uint8_t copy[64];

			if (len > sizeof copy)
				return false;
			memcpy(copy, bytes->p + from, len);
			ckpt_buf_add(bytes, copy, len);
		}
		p += *p == ',';
	}
	return true;
}

int
forge_recipe_safetensors(
	const char *words, struct ckpt_buf *bytes, struct ckpt_buf *why)
{
	size_t n = strcspn(words, " ");
	uint8_t length[8] = { 0 };

	ckpt_buf_add(bytes, length, sizeof length);
	add_text(bytes, words, n);
	if (bytes->failed)
		return CKPT_EXIT_TROUBLE;
	ckpt_store_u64(length, bytes->n - sizeof length);
	memcpy(bytes->p, length, sizeof length);
	if (words[n] && !add_data(bytes, words + n + 1)) {
		ckpt_buf_printf(why, "no data: '%s'", words + n + 1);
		return CKPT_EXIT_NEGATIVE;
	}
	return bytes->failed ? CKPT_EXIT_TROUBLE : CKPT_EXIT_OK;
}
