/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_UTF8_H
#define CKPT_BASE_UTF8_H

/*
 * Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF, no
 * cut sequences. NUL is a character like any other.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the sequence at p (n bytes there). Returns its length and the code
 * point, or 0 when the bytes are not UTF-8. */
size_t ckpt_utf8_decode(const uint8_t *p, size_t n, uint32_t *point);

/* True if all n bytes are UTF-8; *valid is the number of leading bytes that
 * are (n then). valid may be NULL. */
bool ckpt_utf8_valid(const void *bytes, size_t n, size_t *valid);

#endif
