/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_JOB_FIELDS_H
#define CKPT_REPLAY_JOB_FIELDS_H

/*
 * Objects of a strict JSON file: each has exactly the keys that it has to
 * have, and whatever is wrong is said with the path of the field. Every
 * function returns false after it has said so, and does nothing when something
 * was said before; so a caller takes all it needs and looks once.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct ckpt_fields {
	struct ckpt_buf *why; /* borrowed; empty while all is well */
	const json_t *object; /* NULL after a refusal */
	char path[64];        /* "plan", "documents[3]"; "" for the root */
};

/* value has to be an object with exactly these keys, NULL-terminated. */
bool ckpt_fields_open(struct ckpt_fields *fields, struct ckpt_buf *why,
	const json_t *value, const char *path, const char *const *keys);

/* Says that a field is wrong; key NULL: the object itself. False, always. */
__attribute__((format(printf, 3, 4))) bool ckpt_fields_refuse(
	struct ckpt_fields *fields, const char *key, const char *format, ...);

/* A whole number from least to most. */
bool ckpt_fields_count(struct ckpt_fields *fields, const char *key,
	uint64_t least, uint64_t most, uint64_t *out);
/* A number of 64 bits as canonical decimal text. */
bool ckpt_fields_wide(
	struct ckpt_fields *fields, const char *key, uint64_t *out);
bool ckpt_fields_real(struct ckpt_fields *fields, const char *key, double *out);
bool ckpt_fields_flag(struct ckpt_fields *fields, const char *key, bool *out);
/* Text; *out is borrowed from the JSON and may hold NULs. */
bool ckpt_fields_text(struct ckpt_fields *fields, const char *key,
	const char **out, size_t *n);
/* An array; *out is borrowed, n its length. */
bool ckpt_fields_list(struct ckpt_fields *fields, const char *key,
	const json_t **out, size_t *n);

#endif
