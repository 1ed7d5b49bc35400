/* SPDX-License-Identifier: MIT */
/*
 * Values as people write them: on a command line, in a recipe. Nothing is
 * rounded or cut to fit silently, and every bit pattern of a double and every
 * byte of a string can be written, since wrong files are made with them.
 */
#include "wire/literal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

static bool
whole(const char *text, int base, uint64_t *value)
{
	char *end;

	/* strtoull takes blanks and signs, which no field has. */
	if (!strchr("0123456789abcdefABCDEF", text[0]) || text[0] == '\0')
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return errno == 0 && *end == '\0';
}

static bool
read_f64(const char *text, uint64_t *bits)
{
	char *end;
	double x;

	if (strncmp(text, "bits:", 5) == 0)
		return strlen(text) <= 5 + 16 && whole(text + 5, 16, bits);
	x = strtod(text, &end);
	*bits = ckpt_f64_bits(x);
	return end != text && *end == '\0';
}

bool
ckpt_number_read(enum ckpt_type type, const struct ckpt_want *want,
	const char *text, uint64_t *bits)
{
	unsigned width = ckpt_type_width(type);
	bool hex = strncmp(text, "0x", 2) == 0;

	if (type == CKPT_F64)
		return read_f64(text, bits);
	if (want && want->kind == CKPT_WANT_TAGS)
		for (size_t i = 0; i < want->ntags; i++)
			if (strcmp(want->tags[i].name, text) == 0) {
				*bits = want->tags[i].value;
				return true;
			}
	if (type == CKPT_MAGIC || width == 0)
		return false;
	return whole(hex ? text + 2 : text, hex ? 16 : 10, bits) &&
	       (width == 8 || *bits >> (8 * width) == 0);
}

static int
nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool
hex_byte(const char *text, uint8_t *byte)
{
	int high = nibble(text[0]);
	int low = high < 0 ? -1 : nibble(text[1]);

	if (low < 0)
		return false;
	*byte = (uint8_t)(high << 4 | low);
	return true;
}

/* One character of a text; false if an escape is not one of ours. */
static bool
text_byte(const char **text, uint8_t *byte)
{
	const char *s = *text;

	if (s[0] != '\\') {
		*byte = (uint8_t)s[0];
		*text = s + 1;
		return true;
	}
	if (s[1] == 'x' && hex_byte(s + 2, byte)) {
		*text = s + 4;
		return true;
	}
	*byte = '\\';
	*text = s + 2;
	return s[1] == '\\';
}

bool
ckpt_bytes_read(
	struct ckpt_arena *arena, const char *text, struct ckpt_str *bytes)
{
	bool hex = strncmp(text, "hex:", 4) == 0;
	uint8_t *p = ckpt_arena_bytes(arena, strlen(text) + 1);
	uint32_t n = 0;
	bool good = true;

	*bytes = (struct ckpt_str){ .p = p };
	if (hex)
		text += 4;
	while (p && good && *text) {
		if (hex) {
			good = hex_byte(text, &p[n]);
			text += 2;
		} else {
			good = text_byte(&text, &p[n]);
		}
		n++;
	}
	bytes->n = bytes->declared = n;
	return good;
}
