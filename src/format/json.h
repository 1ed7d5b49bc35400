/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_JSON_H
#define CKPT_FORMAT_JSON_H

/*
 * A strict pull tokenizer for JSON (RFC 8259) with the place of everything: no
 * tree, no recursion, no allocation. Each call gives the next token; a fault
 * is the last one. The text is UTF-8 already.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "wire/schema.h"

enum ckpt_scan_kind {
	CKPT_SCAN_OBJECT,     /* { */
	CKPT_SCAN_OBJECT_END, /* } */
	CKPT_SCAN_ARRAY,
	CKPT_SCAN_ARRAY_END,
	CKPT_SCAN_KEY, /* with the colon behind it consumed */
	CKPT_SCAN_STRING,
	CKPT_SCAN_NUMBER,
	CKPT_SCAN_TRUE,
	CKPT_SCAN_FALSE,
	CKPT_SCAN_NULL,
	CKPT_SCAN_DONE,  /* one value, and nothing but white space behind it */
	CKPT_SCAN_FAULT, /* scan->fault, at the token's place */
};

enum ckpt_scan_fault {
	CKPT_FAULT_NONE,
	CKPT_FAULT_ENDS,      /* the text ends too early */
	CKPT_FAULT_SYNTAX,    /* a character that cannot stand here */
	CKPT_FAULT_CONTROL,   /* a raw control character in a string */
	CKPT_FAULT_ESCAPE,    /* an unknown or incomplete escape */
	CKPT_FAULT_SURROGATE, /* half of a surrogate pair */
	CKPT_FAULT_NUMBER,    /* no number of JSON, as 01 or .5 */
	CKPT_FAULT_RANGE,     /* a number that no double holds */
	CKPT_FAULT_COMMA,     /* a comma and nothing behind it */
	CKPT_FAULT_LITERAL,   /* a word that JSON does not have, as NaN */
	CKPT_FAULT_DEPTH,     /* nested deeper than allowed */
	CKPT_FAULT_TRAILING,  /* something behind the value */
};

struct ckpt_token {
	enum ckpt_scan_kind kind;
	size_t at, end; /* in the text; strings with their quotes */
	bool escaped;   /* KEY, STRING: has escapes */
	/* NUMBER: written as an integer, without sign; and u64 holds it. */
	bool whole, fits;
	uint64_t u64;
};

enum { CKPT_SCAN_DEPTH_MOST = 128 };

struct ckpt_scan {
	const uint8_t *p;
	size_t n, at;
	unsigned depth, most;
	uint64_t objects[CKPT_SCAN_DEPTH_MOST / 64]; /* a bit for a level */
	enum {
		CKPT_SCAN_VALUE, /* what may come next */
		CKPT_SCAN_VALUE_OR_END,
		CKPT_SCAN_NAME_OR_END,
		CKPT_SCAN_COMMA_OR_END,
		CKPT_SCAN_NOTHING
	} next;
	enum ckpt_scan_fault fault; /* at at */
	size_t fault_end;
};

/* n bytes at text, borrowed; at most most levels, the outermost is 1. */
void ckpt_scan_init(
	struct ckpt_scan *scan, const void *text, size_t n, unsigned most);

/* The token's kind. */
enum ckpt_scan_kind ckpt_scan_next(
	struct ckpt_scan *scan, struct ckpt_token *token);

/* Passes over a whole value whose first token was just given. False, and
 * token is the fault, if it does not end well. */
bool ckpt_scan_pass(struct ckpt_scan *scan, struct ckpt_token *token);

/* The text of a KEY or STRING: borrowed where there are no escapes, else from
 * the arena. False if memory is used up. Less than 4 GiB. */
CKPT_MUST_USE bool ckpt_scan_text(const struct ckpt_scan *scan,
	const struct ckpt_token *token, struct ckpt_arena *arena,
	struct ckpt_str *text);

/* Of strings that were scanned, by the offset of their quote: a hash of the
 * unescaped text, and the order of two of them. */
uint32_t ckpt_scan_hash(const uint8_t *text, size_t n, size_t at);
int ckpt_scan_compare(const uint8_t *text, size_t n, size_t at, size_t other);

#endif
