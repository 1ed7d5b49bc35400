/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SETS_DOCUMENT_H
#define CKPT_SETS_DOCUMENT_H

/*
 * JSON as Python's json module reads and writes it: the files beside the
 * weights. Beyond the standard it has NaN, Infinity, -Infinity, numbers of any
 * size and halves of surrogate pairs, which become the three bytes that UTF-8
 * would give them. Strictly JSON, it would reject what trainers write.
 */

#include <ckpt.h>

#include "base/arena.h"

enum ckpt_doc_kind {
	CKPT_DOC_NULL,
	CKPT_DOC_FALSE,
	CKPT_DOC_TRUE,
	CKPT_DOC_NUMBER,
	CKPT_DOC_STRING,
	CKPT_DOC_ARRAY,
	CKPT_DOC_OBJECT,
};

/* A value, in an object with its key. */
struct ckpt_doc_value {
	enum ckpt_doc_kind kind;
	uint32_t key_n;
	const char *key; /* key_n bytes, no NUL behind; NULL in an array */
	uint64_t key_at; /* offset of the key in the text, or of the value */
	const char *p;   /* STRING: unescaped; NUMBER: as it is written */
	uint64_t n;      /* bytes of p; members of ARRAY and OBJECT */
	struct ckpt_doc_value *first; /* member */
	struct ckpt_doc_value *next;  /* in the same array or object */
};

enum { CKPT_DOC_DEPTH = 512 };

struct ckpt_doc {
	const struct ckpt_doc_value *root; /* NULL: not JSON */
	const char *fault;                 /* what is wrong then; static */
	uint64_t fault_at;
	/* The first key that stands twice in one object, if that was to be
	 * looked for. */
	const struct ckpt_doc_value *once, *twice;
};

/* Reads n bytes of text, which have to live as long as the document. CKPT_OK
 * also if it is no JSON; else the arena's status. unique: look for keys that
 * stand twice. */
CKPT_MUST_USE enum ckpt_status ckpt_doc_read(struct ckpt_doc *doc,
	struct ckpt_arena *arena, const void *text, size_t n, bool unique);

/* A member by its key; of several the last, as Python takes it. NULL if there
 * is none, if it is null, or if object is NULL or no object. */
const struct ckpt_doc_value *ckpt_doc_get(
	const struct ckpt_doc_value *object, const char *key);
/* The same, but null is a value. */
const struct ckpt_doc_value *ckpt_doc_member(
	const struct ckpt_doc_value *object, const char *key);

/* The same, but only if it is a number, of whatever size. */
const struct ckpt_doc_value *ckpt_doc_number(
	const struct ckpt_doc_value *object, const char *key);

/* Whether value is this string. NULL is not. */
bool ckpt_doc_is(const struct ckpt_doc_value *value, const char *text);

/* A number that is integral and fits; false for anything else. 2.0 is 2. */
bool ckpt_doc_u64(const struct ckpt_doc_value *value, uint64_t *out);

/* A number as a double, rounded; false for anything else. */
bool ckpt_doc_f64(const struct ckpt_doc_value *value, double *out);

#endif
