/* SPDX-License-Identifier: MIT */
/*
 * The tokenizer. Its whole memory of what it is inside of is one bit a level,
 * object or array, so that no input makes it recurse or allocate. A fault is
 * given once and again for every further call.
 */
#include "format/json.h"

#include <string.h>

#include "format/json_parts.h"

void
ckpt_scan_init(
	struct ckpt_scan *scan, const void *text, size_t n, unsigned most)
{
	memset(scan, 0, sizeof *scan);
	scan->p = text;
	scan->n = n;
	scan->most = most < CKPT_SCAN_DEPTH_MOST ? most : CKPT_SCAN_DEPTH_MOST;
	scan->next = CKPT_SCAN_VALUE;
}

enum ckpt_scan_kind
ckpt_scan_fail(struct ckpt_scan *scan, struct ckpt_token *token,
	enum ckpt_scan_fault what, size_t at, size_t len)
{
	scan->fault = what;
	scan->at = at;
	scan->fault_end = at + len < scan->n ? at + len : scan->n;
	token->kind = CKPT_SCAN_FAULT;
	token->at = at;
	token->end = scan->fault_end;
	return CKPT_SCAN_FAULT;
}

/* At a character that cannot stand where it is, or at the end. */
static enum ckpt_scan_kind
unexpected(struct ckpt_scan *scan, struct ckpt_token *token)
{
	if (scan->at >= scan->n)
		return ckpt_scan_fail(scan, token, CKPT_FAULT_ENDS, scan->n, 0);
	return ckpt_scan_fail(scan, token, CKPT_FAULT_SYNTAX, scan->at, 1);
}

static void
skip_space(struct ckpt_scan *scan)
{
	const uint8_t *p = scan->p;
	size_t i = scan->at;

	while (i < scan->n &&
		(p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t'))
		i++;
	scan->at = i;
}

/* ---- Structure ---------------------------------------------------------- */

static bool
in_object(const struct ckpt_scan *scan)
{
	unsigned level = scan->depth - 1;

	return scan->objects[level / 64] >> level % 64 & 1;
}

static void
value_done(struct ckpt_scan *scan)
{
	scan->next = scan->depth ? CKPT_SCAN_COMMA_OR_END : CKPT_SCAN_NOTHING;
}

static enum ckpt_scan_kind
single(struct ckpt_scan *scan, struct ckpt_token *token,
	enum ckpt_scan_kind kind)
{
	token->kind = kind;
	token->at = scan->at;
	token->end = ++scan->at;
	return kind;
}

static enum ckpt_scan_kind
open_level(struct ckpt_scan *scan, struct ckpt_token *token, bool object)
{
	uint64_t bit = (uint64_t)1 << scan->depth % 64;
	uint64_t *word;

	if (scan->depth == scan->most)
		return ckpt_scan_fail(
			scan, token, CKPT_FAULT_DEPTH, scan->at, 1);
	/* guards: depth < most <= CKPT_SCAN_DEPTH_MOST */
	word = &scan->objects[scan->depth / 64];
	*word = object ? *word | bit : *word & ~bit;
	scan->depth++;
	scan->next = object ? CKPT_SCAN_NAME_OR_END : CKPT_SCAN_VALUE_OR_END;
	return single(scan, token, object ? CKPT_SCAN_OBJECT : CKPT_SCAN_ARRAY);
}

static enum ckpt_scan_kind
close_level(struct ckpt_scan *scan, struct ckpt_token *token)
{
	bool object = in_object(scan);

	if (scan->p[scan->at] != (object ? '}' : ']'))
		return unexpected(scan, token);
	scan->depth--;
	value_done(scan);
	return single(scan, token,
		object ? CKPT_SCAN_OBJECT_END : CKPT_SCAN_ARRAY_END);
}

/* true, false, null; whatever else is spelled like a word is none. */
static enum ckpt_scan_kind
word(struct ckpt_scan *scan, struct ckpt_token *token)
{
	static const struct {
		const char *text;
		size_t n;
		enum ckpt_scan_kind kind;
	} words[] = { { "true", 4, CKPT_SCAN_TRUE },
		{ "false", 5, CKPT_SCAN_FALSE }, { "null", 4, CKPT_SCAN_NULL },
		{ NULL, 0, CKPT_SCAN_FAULT } };
	size_t at = scan->at, end = at + (scan->p[at] == '-');

	while (end < scan->n && ckpt_scan_letter(scan->p[end]))
		end++;
	if (end == at)
		return unexpected(scan, token);
	for (size_t i = 0; words[i].n > 0; i++) {
		if (words[i].n != end - at ||
			memcmp(words[i].text, scan->p + at, end - at) != 0)
			continue;
		token->kind = words[i].kind;
		token->at = at;
		token->end = scan->at = end;
		value_done(scan);
		return words[i].kind;
	}
	return ckpt_scan_fail(scan, token, CKPT_FAULT_LITERAL, at, end - at);
}

static enum ckpt_scan_kind
number(struct ckpt_scan *scan, struct ckpt_token *token)
{
	enum ckpt_scan_fault what;
	size_t at = scan->at;

	token->kind = CKPT_SCAN_NUMBER;
	token->at = at;
	token->whole = token->fits = false;
	token->u64 = 0;
	if (scan->p[at] == '-' && at + 1 < scan->n &&
		ckpt_scan_letter(scan->p[at + 1]))
		return word(scan, token); /* -Infinity */
	what = ckpt_scan_number(scan->p, scan->n, token);
	if (what != CKPT_FAULT_NONE)
		return ckpt_scan_fail(scan, token, what, at, token->end - at);
	scan->at = token->end;
	value_done(scan);
	return CKPT_SCAN_NUMBER;
}

static enum ckpt_scan_kind
value(struct ckpt_scan *scan, struct ckpt_token *token)
{
	enum ckpt_scan_kind kind;

	if (scan->at >= scan->n)
		return unexpected(scan, token);
	switch (scan->p[scan->at]) {
	case '{': return open_level(scan, token, true);
	case '[': return open_level(scan, token, false);
	case '"':
		kind = ckpt_scan_string(scan, token, CKPT_SCAN_STRING);
		value_done(scan); /* a fault stays one */
		return kind;
	case '-':
	case '+':
	case '.':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9': return number(scan, token);
	}
	return word(scan, token);
}

/* A key and its colon. */
static enum ckpt_scan_kind
name(struct ckpt_scan *scan, struct ckpt_token *token)
{
	if (scan->at >= scan->n || scan->p[scan->at] != '"')
		return unexpected(scan, token);
	if (ckpt_scan_string(scan, token, CKPT_SCAN_KEY) == CKPT_SCAN_FAULT)
		return CKPT_SCAN_FAULT;
	skip_space(scan);
	if (scan->at >= scan->n || scan->p[scan->at] != ':')
		return unexpected(scan, token);
	scan->at++;
	scan->next = CKPT_SCAN_VALUE;
	return CKPT_SCAN_KEY;
}

/* Behind a value inside of something. */
static enum ckpt_scan_kind
after_value(struct ckpt_scan *scan, struct ckpt_token *token)
{
	size_t comma = scan->at;

	if (comma >= scan->n)
		return unexpected(scan, token);
	if (scan->p[comma] == '}' || scan->p[comma] == ']')
		return close_level(scan, token);
	if (scan->p[comma] != ',')
		return unexpected(scan, token);
	scan->at++;
	skip_space(scan);
	if (scan->at < scan->n &&
		(scan->p[scan->at] == '}' || scan->p[scan->at] == ']'))
		return ckpt_scan_fail(scan, token, CKPT_FAULT_COMMA, comma, 1);
	return in_object(scan) ? name(scan, token) : value(scan, token);
}

enum ckpt_scan_kind
ckpt_scan_next(struct ckpt_scan *scan, struct ckpt_token *token)
{
	if (scan->fault != CKPT_FAULT_NONE)
		return ckpt_scan_fail(scan, token, scan->fault, scan->at,
			scan->fault_end - scan->at);
	skip_space(scan);
	switch (scan->next) {
	case CKPT_SCAN_VALUE: return value(scan, token);
	case CKPT_SCAN_VALUE_OR_END:
		if (scan->at < scan->n && scan->p[scan->at] == ']')
			return close_level(scan, token);
		return value(scan, token);
	case CKPT_SCAN_NAME_OR_END:
		if (scan->at < scan->n && scan->p[scan->at] == '}')
			return close_level(scan, token);
		return name(scan, token);
	case CKPT_SCAN_COMMA_OR_END: return after_value(scan, token);
	case CKPT_SCAN_NOTHING: break;
	}
	if (scan->at < scan->n)
		return ckpt_scan_fail(scan, token, CKPT_FAULT_TRAILING,
			scan->at, scan->n - scan->at);
	token->kind = CKPT_SCAN_DONE;
	token->at = token->end = scan->n;
	return CKPT_SCAN_DONE;
}

bool
ckpt_scan_pass(struct ckpt_scan *scan, struct ckpt_token *token)
{
	unsigned outside = scan->depth;

	if (token->kind == CKPT_SCAN_FAULT)
		return false;
	if (token->kind != CKPT_SCAN_OBJECT && token->kind != CKPT_SCAN_ARRAY)
		return true;
	outside--;
	while (scan->depth > outside)
		if (ckpt_scan_next(scan, token) == CKPT_SCAN_FAULT)
			return false;
	return true;
}
