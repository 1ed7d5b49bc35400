/* SPDX-License-Identifier: MIT */
/*
 * Strings of JSON: scanned, unescaped, compared. Scanning proves every escape
 * and the closing quote, so what reads a string afterwards finds both.
 */
#include "format/json_parts.h"

#include <string.h>

#include "base/hash.h"

/* Four hexadecimal digits from at <= n on. */
static bool
hex4(const uint8_t *p, size_t n, size_t at, uint32_t *unit)
{
	*unit = 0;
	if (n - at < 4)
		return false;
	for (size_t i = at; i < at + 4; i++) {
		uint32_t c = p[i], letter = (c | 0x20u) - 'a';

		if (c - '0' > 9 && letter > 5)
			return false;
		*unit = *unit << 4 | (c - '0' <= 9 ? c - '0' : letter + 10);
	}
	return true;
}

/* The escape at the backslash at at: its length, or 0 and what is wrong. */
static size_t
escape(const uint8_t *p, size_t n, size_t at, uint32_t *point,
	enum ckpt_scan_fault *what)
{
	static const char letters[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	const char *letter;
	uint32_t low;

	*what = CKPT_FAULT_ESCAPE;
	if (at + 1 >= n)
		return 0;
	letter = memchr(letters, p[at + 1], sizeof letters - 1);
	if (letter) {
		*point = (uint8_t)plain[letter - letters];
		return 2;
	}
	if (p[at + 1] != 'u' || !hex4(p, n, at + 2, point))
		return 0;
	if (*point < 0xd800 || *point > 0xdfff)
		return 6;
	*what = CKPT_FAULT_SURROGATE;
	if (*point > 0xdbff || at + 7 >= n || p[at + 6] != '\\' ||
		p[at + 7] != 'u' || !hex4(p, n, at + 8, &low) || low < 0xdc00 ||
		low > 0xdfff)
		return 0;
	*point = 0x10000 + ((*point - 0xd800) << 10) + (low - 0xdc00);
	return 12;
}

/* The first byte from at on that is not plain text. */
static inline size_t
plain_end(const uint8_t *p, size_t n, size_t at)
{
	while (at < n && p[at] >= ' ' && p[at] != '"' && p[at] != '\\')
		at++;
	return at;
}

enum ckpt_scan_kind
ckpt_scan_string(struct ckpt_scan *scan, struct ckpt_token *token,
	enum ckpt_scan_kind kind)
{
	const uint8_t *p = scan->p;
	size_t i = scan->at + 1, n = scan->n;

	token->kind = kind;
	token->at = scan->at;
	token->escaped = false;
	for (;;) {
		enum ckpt_scan_fault what;
		uint32_t point;
		size_t len;

		i = plain_end(p, n, i);
		if (i >= n)
			return ckpt_scan_fail(
				scan, token, CKPT_FAULT_ENDS, n, 0);
		if (p[i] == '"')
			break;
		if (p[i] != '\\')
			return ckpt_scan_fail(
				scan, token, CKPT_FAULT_CONTROL, i, 1);
		token->escaped = true;
		len = escape(p, n, i, &point, &what);
		if (len == 0)
			return ckpt_scan_fail(scan, token, what, i,
				i + 1 < n && p[i + 1] == 'u' ? 6 : 2);
		i += len;
	}
	scan->at = token->end = i + 1;
	return kind;
}

static size_t
put_utf8(uint8_t *out, uint32_t c)
{
	static const uint8_t leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--) {
		out[i] = (uint8_t)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	out[0] = (uint8_t)(leads[n] | c);
	return n;
}

/* A string that was scanned, piece by piece. */
struct pieces {
	const uint8_t *p;
	size_t n, at;
	uint8_t escaped[4];
};

/* The next unescaped bytes; 0 at the closing quote. */
static size_t
next_piece(struct pieces *s, const uint8_t **bytes)
{
	size_t at = s->at;
	enum ckpt_scan_fault what;
	uint32_t point;

	if (s->p[at] == '\\') {
		s->at += escape(s->p, s->n, at, &point, &what);
		*bytes = s->escaped;
		return put_utf8(s->escaped, point);
	}
	s->at = plain_end(s->p, s->n, at);
	*bytes = s->p + at;
	return s->at - at;
}

bool
ckpt_scan_text(const struct ckpt_scan *scan, const struct ckpt_token *token,
	struct ckpt_arena *arena, struct ckpt_str *text)
{
	struct pieces s = { .p = scan->p, .n = scan->n, .at = token->at + 1 };
	const uint8_t *bytes;
	size_t n = 0, k;
	uint8_t *out;

	text->p = scan->p + s.at;
	text->n = text->declared = (uint32_t)(token->end - 1 - s.at);
	if (!token->escaped)
		return true;
	/* No escape is shorter than what it stands for. */
	out = ckpt_arena_bytes(arena, text->n);
	if (!out)
		return false;
	while ((k = next_piece(&s, &bytes)) > 0) {
		memcpy(out + n, bytes, k);
		n += k;
	}
	text->p = out;
	text->n = text->declared = (uint32_t)n;
	return true;
}

uint32_t
ckpt_scan_hash(const uint8_t *text, size_t n, size_t at)
{
	struct pieces s = { .p = text, .n = n, .at = at + 1 };
	uint64_t hash = CKPT_FNV1A64_START;
	const uint8_t *bytes;
	size_t k;

	while ((k = next_piece(&s, &bytes)) > 0)
		hash = ckpt_fnv1a64(hash, bytes, k);
	return (uint32_t)(hash ^ hash >> 32);
}

int
ckpt_scan_compare(const uint8_t *text, size_t n, size_t at, size_t other)
{
	struct pieces a = { .p = text, .n = n, .at = at + 1 };
	struct pieces b = { .p = text, .n = n, .at = other + 1 };
	const uint8_t *pa = NULL, *pb = NULL;
	size_t na = 0, nb = 0;

	for (;;) {
		size_t k;
		int c;

		if (na == 0)
			na = next_piece(&a, &pa);
		if (nb == 0)
			nb = next_piece(&b, &pb);
		k = na < nb ? na : nb;
		if (k == 0)
			return (na > 0) - (nb > 0);
		c = memcmp(pa, pb, k);
		if (c != 0)
			return c;
		pa += k;
		pb += k;
		na -= k;
		nb -= k;
	}
}
