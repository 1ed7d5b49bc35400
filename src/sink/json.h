/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_JSON_H
#define CKPT_SINK_JSON_H

/*
 * Results as JSON. Whole numbers from 2^53 on are decimal strings, checksums
 * are strings, doubles come with their bits; text is what the sanitiser makes
 * of it, so that any file gives valid JSON.
 */

#include <jansson.h>

#include "sink/report.h"

#define CKPT_JSON_SCHEMA_VERIFY "ckverify/1"

/* The object of one result; first: of the findings only the primary one;
 * scope: with the format's four lists. NULL if out of memory. */
json_t *ckpt_json_result(
	const struct ckpt_result *result, bool first, bool scope);

/* Text that buf holds, which is emptied; NULL if it failed. */
json_t *ckpt_json_take(struct ckpt_buf *buf);
json_t *ckpt_json_u64(uint64_t value);
json_t *ckpt_json_escaped(const void *bytes, size_t n);
json_t *ckpt_json_value(const struct ckpt_value *value);

/* Adds the text of an object in one line, without a line feed, and gives the
 * object up. NULL, as what could not be made, makes buf fail. */
void ckpt_json_write(struct ckpt_buf *buf, json_t *object);

#endif
