/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_SHA256_H
#define CKPT_BASE_SHA256_H

/* SHA-256, shown as 64 lower-case hexadecimal digits. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CKPT_SHA256_TEXT = 65 }; /* digits and a NUL */

struct ckpt_sha256 {
	void *state; /* NULL once it failed */
};

/* Failure, for want of memory, is sticky and said by the end. */
void ckpt_sha256_begin(struct ckpt_sha256 *hash);
void ckpt_sha256_add(struct ckpt_sha256 *hash, const void *bytes, size_t n);
void ckpt_sha256_u64(struct ckpt_sha256 *hash, uint64_t value); /* LE */
/* Releases it, too. False: out is "". */
bool ckpt_sha256_end(struct ckpt_sha256 *hash, char out[CKPT_SHA256_TEXT]);

/* Whether n bytes are 64 lower-case hexadecimal digits. */
bool ckpt_sha256_is_text(const void *bytes, size_t n);

#endif
