/* SPDX-License-Identifier: MIT */
/*
 * The reader is one loop over values with a stack of the open arrays and
 * objects, so that no text can exhaust the machine's own stack. Text without
 * escapes is borrowed; what is kept of a value is a constant number of bytes,
 * so memory is bounded by the text.
 */
#include "sets/document.h"

#include <string.h>

#include "base/checked.h"
#include "base/sort.h"
#include "base/utf8.h"

struct level {
	struct ckpt_doc_value *box;
	struct ckpt_doc_value *last; /* NULL while it is empty */
};

struct scanner {
	struct ckpt_doc *doc;
	struct ckpt_arena *arena;
	const uint8_t *p;
	size_t n, at;
	bool unique;
	unsigned depth;
	struct level levels[CKPT_DOC_DEPTH];
	/* The key in front of the next value. */
	const char *key;
	uint64_t key_n;
	size_t key_at;
};

/* Faults of the text and of memory end the reading alike; the arena knows
 * which it was. */
static bool
fault(struct scanner *s, const char *what)
{
	if (!s->doc->fault) {
		s->doc->fault = what;
		s->doc->fault_at = s->at;
	}
	return false;
}

static void
skip_space(struct scanner *s)
{
	while (s->at < s->n &&
		(s->p[s->at] == ' ' || s->p[s->at] == '\t' ||
			s->p[s->at] == '\n' || s->p[s->at] == '\r'))
		s->at++;
}

static bool
take(struct scanner *s, char c)
{
	skip_space(s);
	if (s->at >= s->n || s->p[s->at] != (uint8_t)c)
		return false;
	s->at++;
	return true;
}

static bool
take_word(struct scanner *s, const char *word)
{
	size_t n = strlen(word);

	if (s->n - s->at < n || memcmp(s->p + s->at, word, n) != 0)
		return false;
	s->at += n;
	return true;
}

/* ---- Strings ------------------------------------------------------------ */

static int
hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of \u at i, or -1. */
static int32_t
hex4(const struct scanner *s, size_t i)
{
	int32_t value = 0;

	if (i > s->n || s->n - i < 4)
		return -1;
	for (size_t k = 0; k < 4; k++) {
		int digit = hex_digit(s->p[i + k]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* At most four bytes; half a surrogate pair takes three. */
static size_t
put_point(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Writes what the escape at *i means, *i on its backslash and then behind it;
 * the string was found to be well formed. No escape is shorter than what it
 * means. */
static size_t
unescape(const struct scanner *s, size_t *i, char *out)
{
	static const char letters[] = "\"\\/bfnrt";
	static const char means[] = "\"\\/\b\f\n\r\t";
	uint8_t c = s->p[*i + 1];
	uint32_t point;

	if (c != 'u') {
		out[0] = means[strchr(letters, c) - letters];
		*i += 2;
		return 1;
	}
	point = (uint32_t)hex4(s, *i + 2);
	*i += 6;
	if (point >= 0xd800 && point < 0xdc00 && *i + 1 < s->n &&
		s->p[*i] == '\\' && s->p[*i + 1] == 'u') {
		int32_t low = hex4(s, *i + 2);

		if (low >= 0xdc00 && low < 0xe000) {
			point = 0x10000 + ((point - 0xd800) << 10) +
				((uint32_t)low - 0xdc00);
			*i += 6;
		}
	}
	return put_point(out, point);
}

static bool
decode(struct scanner *s, size_t from, size_t to, const char **text,
	uint64_t *n)
{
	char *out = ckpt_arena_bytes(s->arena, to - from);
	size_t used = 0;

	if (!out)
		return fault(s, "memory");
	for (size_t i = from; i < to;) {
		if (s->p[i] == '\\')
			used += unescape(s, &i, out + used);
		else
			out[used++] = (char)s->p[i++];
	}
	*text = out;
	*n = used;
	return true;
}

/* at is behind the opening quote, then behind the closing one. */
static bool
read_string(struct scanner *s, const char **text, uint64_t *n)
{
	size_t from = s->at;
	bool escaped = false;

	for (;; s->at++) {
		if (s->at >= s->n)
			return fault(s, "it ends inside a string");
		if (s->p[s->at] == '"')
			break;
		if (s->p[s->at] < 0x20)
			return fault(s, "a raw control character in a string");
		if (s->p[s->at] != '\\')
			continue;
		escaped = true;
		s->at++;
		if (s->at >= s->n)
			return fault(s, "it ends inside a string");
		if (s->p[s->at] == 'u' ? hex4(s, s->at + 1) < 0
				       : !memchr("\"\\/bfnrt", s->p[s->at], 8))
			return fault(s, "an unknown escape");
	}
	s->at++;
	if (escaped)
		return decode(s, from, s->at - 1, text, n);
	*text = (const char *)s->p + from;
	*n = s->at - 1 - from;
	return true;
}

/* ---- Values ------------------------------------------------------------- */

static size_t
digits(const struct scanner *s, size_t i)
{
	size_t from = i;

	while (i < s->n && s->p[i] >= '0' && s->p[i] <= '9')
		i++;
	return i - from;
}

static bool
read_number(struct scanner *s, struct ckpt_doc_value *v)
{
	size_t i = s->at, k;

	v->kind = CKPT_DOC_NUMBER;
	v->p = (const char *)s->p + s->at;
	if (take_word(s, "NaN") || take_word(s, "Infinity") ||
		take_word(s, "-Infinity")) {
		v->n = s->at - i;
		return true;
	}
	i += s->p[i] == '-';
	k = digits(s, i);
	if (k == 0)
		return fault(s, i < s->n ? "an unexpected character"
					 : "it ends inside a number");
	i += s->p[i] == '0' ? 1 : k;
	if (i < s->n && s->p[i] == '.' && (k = digits(s, i + 1)) > 0)
		i += 1 + k;
	if (i < s->n && (s->p[i] | 0x20) == 'e') {
		size_t sign = i + 1 < s->n &&
			      (s->p[i + 1] == '+' || s->p[i + 1] == '-');

		k = digits(s, i + 1 + sign);
		if (k > 0)
			i += 1 + sign + k;
	}
	v->n = i - s->at;
	s->at = i;
	return true;
}

/* A new value, in the box that is open. */
static struct ckpt_doc_value *
add_value(struct scanner *s)
{
	struct ckpt_doc_value *v = ckpt_arena_zalloc(s->arena, sizeof *v);
	struct level *level = s->depth ? &s->levels[s->depth - 1] : NULL;

	if (!v) {
		(void)fault(s, "memory");
		return NULL;
	}
	v->key_at = s->at;
	if (!level) {
		s->doc->root = v;
		return v;
	}
	if (level->box->kind == CKPT_DOC_OBJECT) {
		v->key = s->key;
		v->key_n = (uint32_t)s->key_n;
		v->key_at = s->key_at;
	}
	if (level->last)
		level->last->next = v;
	else
		level->box->first = v;
	level->last = v;
	level->box->n++;
	return v;
}

static bool
open_box(struct scanner *s, struct ckpt_doc_value *v, enum ckpt_doc_kind kind)
{
	if (s->depth == CKPT_DOC_DEPTH)
		return fault(s, "it is nested deeper than 512 levels");
	v->kind = kind;
	s->at++;
	s->levels[s->depth++] = (struct level){ v, NULL };
	return true;
}

static bool
read_value(struct scanner *s)
{
	struct ckpt_doc_value *v;

	skip_space(s);
	if (s->at >= s->n)
		return fault(s, "it ends before a value");
	v = add_value(s);
	if (!v)
		return false;
	switch (s->p[s->at]) {
	case '{': return open_box(s, v, CKPT_DOC_OBJECT);
	case '[': return open_box(s, v, CKPT_DOC_ARRAY);
	case '"':
		s->at++;
		v->kind = CKPT_DOC_STRING;
		return read_string(s, &v->p, &v->n);
	default: break;
	}
	if (take_word(s, "null"))
		return true;
	if (take_word(s, "true"))
		v->kind = CKPT_DOC_TRUE;
	else if (take_word(s, "false"))
		v->kind = CKPT_DOC_FALSE;
	else
		return read_number(s, v);
	return true;
}

static bool
read_key(struct scanner *s)
{
	skip_space(s);
	s->key_at = s->at;
	if (!take(s, '"'))
		return fault(s, s->at < s->n ? "an unexpected character, where "
					       "a key has to be"
					     : "it ends inside an object");
	if (!read_string(s, &s->key, &s->key_n))
		return false;
	if (s->key_n > UINT32_MAX)
		return fault(s, "a key of 4 GiB or more");
	return take(s, ':') ||
	       fault(s, s->at < s->n ? "no colon behind a key"
				     : "it ends inside an object");
}

static int
by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_doc_value *const *list = ctx;

	return ckpt_bytes_compare(
		list[a]->key, list[a]->key_n, list[b]->key, list[b]->key_n);
}

/* Looks for a key that stands twice in an object that was just closed. */
static bool
check_keys(struct scanner *s, const struct ckpt_doc_value *object)
{
	const struct ckpt_doc_value **list;
	uint32_t *order;
	uint64_t bytes, n = object->n;
	size_t size, i = 0;

	if (s->doc->once || n < 2 || n > UINT32_MAX)
		return true;
	if (!ckpt_mul_u64(n, sizeof(void *), &bytes) ||
		!ckpt_to_size(bytes, &size))
		return fault(s, "memory");
	list = ckpt_arena_alloc(s->arena, size);
	if (!list)
		return fault(s, "memory");
	for (const struct ckpt_doc_value *v = object->first; v; v = v->next)
		list[i++] = v;
	order = ckpt_sorted(s->arena, n, by_key, list);
	if (!order)
		return fault(s, "memory");
	for (i = 1; i < n; i++)
		if (by_key(list, order[i - 1], order[i]) == 0) {
			s->doc->once = list[order[i - 1]];
			s->doc->twice = list[order[i]];
			break;
		}
	return true;
}

/* Goes on behind a value, or in a box just opened: true if a value follows or
 * all are closed; *more tells which. */
static bool
advance(struct scanner *s, bool fresh, bool *more)
{
	while (s->depth > 0) {
		const struct ckpt_doc_value *box = s->levels[s->depth - 1].box;
		bool object = box->kind == CKPT_DOC_OBJECT;

		*more = true;
		if (take(s, object ? '}' : ']')) {
			s->depth--;
			fresh = false;
			if (object && s->unique && !check_keys(s, box))
				return false;
			continue;
		}
		if (!fresh && !take(s, ','))
			return fault(s, s->at < s->n ? "an unexpected character"
						     : "it ends inside an "
						       "array or object");
		return !object || read_key(s);
	}
	*more = false;
	return true;
}

static void
read_all(struct scanner *s)
{
	bool more = true;

	while (more) {
		unsigned depth = s->depth;

		if (!read_value(s) || !advance(s, s->depth > depth, &more))
			return;
	}
	skip_space(s);
	if (s->at < s->n)
		(void)fault(s, "something behind the value");
}

enum ckpt_status
ckpt_doc_read(struct ckpt_doc *doc, struct ckpt_arena *arena, const void *text,
	size_t n, bool unique)
{
	struct scanner *s = ckpt_arena_alloc(arena, sizeof *s);
	size_t valid;

	memset(doc, 0, sizeof *doc);
	if (!s)
		return ckpt_arena_status(arena);
	*s = (struct scanner){ .doc = doc, .arena = arena, .unique = unique };
	s->p = text;
	s->n = n;
	if (!ckpt_utf8_valid(text, n, &valid)) {
		s->at = valid;
		(void)fault(s, "bytes that are not UTF-8");
	} else {
		read_all(s);
	}
	if (doc->fault)
		doc->root = NULL;
	return arena->failure == CKPT_ARENA_OK ? CKPT_OK
					       : ckpt_arena_status(arena);
}
