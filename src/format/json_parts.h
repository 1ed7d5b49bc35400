/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_JSON_PARTS_H
#define CKPT_FORMAT_JSON_PARTS_H

/* What the files of the tokenizer share. */

#include "format/json.h"

static inline bool
ckpt_scan_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Ends the scan: len bytes at at are at fault. */
enum ckpt_scan_kind ckpt_scan_fail(struct ckpt_scan *scan,
	struct ckpt_token *token, enum ckpt_scan_fault what, size_t at,
	size_t len);

/* The string whose quote is at scan->at. */
enum ckpt_scan_kind ckpt_scan_string(struct ckpt_scan *scan,
	struct ckpt_token *token, enum ckpt_scan_kind kind);

/* The number that begins at text[token->at]: fills the token, whose end is
 * behind the last byte that can belong to it. */
enum ckpt_scan_fault ckpt_scan_number(
	const uint8_t *text, size_t n, struct ckpt_token *token);

#endif
