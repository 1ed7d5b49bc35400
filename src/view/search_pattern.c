/* SPDX-License-Identifier: MIT */
/*
 * Patterns. Bytes are compared under a mask, so that ? may stand for half a
 * byte; a byte without ? is looked for first, one that is not zero if there
 * is one, because zeros are what files are full of.
 */
#include "view/search_pattern.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/literal.h"

/* ---- Reading ------------------------------------------------------------ */

static bool
refuse(struct ckpt_buf *why, const char *words)
{
	ckpt_buf_puts(why, words);
	return false;
}

static bool
hex_digit(char c, unsigned *value)
{
	if (c >= '0' && c <= '9')
		*value = (unsigned)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*value = (unsigned)(c - 'a' + 10);
	else if (c >= 'A' && c <= 'F')
		*value = (unsigned)(c - 'A' + 10);
	else
		return false;
	return true;
}

/* Half a byte of the pattern. */
static bool
read_half(struct view_pattern *p, char c, unsigned shift)
{
	unsigned value = 0;

	if (c != '?') {
		if (!hex_digit(c, &value))
			return false;
		p->mask[p->n] |= (uint8_t)(0xfu << shift);
	}
	p->bytes[p->n] |= (uint8_t)(value << shift);
	return true;
}

static void
set_anchor(struct view_pattern *p)
{
	p->anchor = p->n;
	for (size_t i = p->n; i > 0; i--)
		if (p->mask[i - 1] == 0xff &&
			(p->anchor == p->n || p->bytes[i - 1] != 0))
			p->anchor = i - 1;
}

/* The two digits of a byte. */
static bool
read_byte(struct view_pattern *p, const char *text, struct ckpt_buf *why)
{
	for (unsigned i = 0; i < 2; i++) {
		if (text[i] == ' ' || text[i] == '\0')
			return refuse(why, "a byte has two digits: 0a, a?, ??");
		if (read_half(p, text[i], i == 0 ? 4 : 0))
			continue;
		ckpt_buf_puts(why, "neither a hexadecimal digit nor ?: ");
		ckpt_buf_escape(why, text + i, strlen(text + i), 16);
		return false;
	}
	p->n++;
	return true;
}

static bool
read_hex(struct view_pattern *p, const char *text, struct ckpt_buf *why)
{
	bool fixed = false;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		if (p->n == VIEW_PATTERN_MOST)
			return refuse(why, "at most 1024 bytes");
		if (!read_byte(p, text, why))
			return false;
		fixed = fixed || p->mask[p->n - 1] != 0;
		text += 2;
	}
	if (p->n == 0)
		return refuse(why, "which bytes? as in: x 0a ?? ff");
	if (!fixed)
		return refuse(why, "?? alone is everywhere");
	set_anchor(p);
	return true;
}

static bool
read_text(struct view_pattern *p, const char *text, struct ckpt_buf *why)
{
	size_t n = strlen(text);

	if (n == 0)
		return refuse(why, "which text? as in: t hello");
	if (n > VIEW_PATTERN_MOST)
		return refuse(why, "at most 1024 bytes");
	memcpy(p->bytes, text, n);
	memset(p->mask, 0xff, n);
	p->n = n;
	set_anchor(p);
	return true;
}

static bool
read_value(struct view_pattern *p, const char *text, struct ckpt_buf *why)
{
	char number[64];
	uint64_t bits;
	size_t n;

	text += strspn(text, " ");
	n = strlen(text);
	while (n > 0 && text[n - 1] == ' ')
		n--;
	if (n == 0)
		return refuse(why, "which value? as in: f 0.5, f nan, f -inf");
	if (n < sizeof number) {
		memcpy(number, text, n);
		number[n] = '\0';
		if (ckpt_number_read(CKPT_F64, NULL, number, &bits)) {
			p->value = ckpt_f64_from_bits(bits);
			return true;
		}
	}
	ckpt_buf_puts(why, "not a number: ");
	ckpt_buf_escape(why, text, n, 40);
	return false;
}

bool
view_pattern_parse(
	struct view_pattern *pattern, const char *text, struct ckpt_buf *why)
{
	const char *rest = text[0] == '/' ? text + 1 : text;
	char kind =
		rest[0] && (rest[1] == ' ' || rest[1] == '\0') ? rest[0] : '\0';

	memset(pattern, 0, sizeof *pattern);
	/* A single letter is a part of a name unless a '/' says otherwise. */
	if (kind && rest[1] == '\0' && rest == text)
		kind = '\0';
	switch (kind) {
	case 'x':
		pattern->kind = VIEW_SEARCH_BYTES;
		return read_hex(pattern, rest + 1, why);
	case 't':
		pattern->kind = VIEW_SEARCH_BYTES;
		return read_text(pattern, rest[1] ? rest + 2 : rest + 1, why);
	case 'f':
		pattern->kind = VIEW_SEARCH_VALUE;
		return read_value(pattern, rest + 1, why);
	}
	pattern->kind = VIEW_SEARCH_NAME;
	pattern->name = rest;
	return rest[0] ? true : refuse(why, "nothing to search for");
}

/* ---- Finding ------------------------------------------------------------ */

static bool
stands_at(const struct view_pattern *p, const uint8_t *bytes)
{
	for (size_t i = 0; i < p->n; i++)
		if ((bytes[i] & p->mask[i]) != p->bytes[i])
			return false;
	return true;
}

static bool
find_first(const struct view_pattern *p, const uint8_t *bytes, size_t starts,
	size_t *at)
{
	for (size_t i = 0; i < starts; i++) {
		const uint8_t *next = bytes + i;

		if (p->anchor < p->n) {
			next = memchr(next + p->anchor, p->bytes[p->anchor],
				starts - i);
			if (!next)
				return false;
			next -= p->anchor;
		}
		i = (size_t)(next - bytes);
		if (stands_at(p, next)) {
			*at = i;
			return true;
		}
	}
	return false;
}

static bool
find_last(const struct view_pattern *p, const uint8_t *bytes, size_t starts,
	size_t *at)
{
	for (size_t i = starts; i > 0; i--) {
		const uint8_t *next = bytes + i - 1;

		if (p->anchor < p->n) {
			next = memrchr(
				bytes + p->anchor, p->bytes[p->anchor], i);
			if (!next)
				return false;
			next -= p->anchor;
		}
		i = (size_t)(next - bytes) + 1;
		if (stands_at(p, next)) {
			*at = i - 1;
			return true;
		}
	}
	return false;
}

bool
view_pattern_find(const struct view_pattern *pattern, const uint8_t *bytes,
	size_t n, size_t starts, bool last, size_t *at)
{
	if (n < pattern->n)
		return false;
	if (starts > n - pattern->n + 1)
		starts = n - pattern->n + 1;
	return last ? find_last(pattern, bytes, starts, at)
		    : find_first(pattern, bytes, starts, at);
}

bool
view_pattern_equals(const struct view_pattern *pattern, double value)
{
	return isnan(pattern->value) ? isnan(value) : value == pattern->value;
}
