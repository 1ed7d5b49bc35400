/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 by libcrypto. A digest that could not be made is a state of NULL,
 * which everything passes over, so that callers look once, at the end.
 */
#include "base/sha256.h"

#include <openssl/evp.h>

#include "base/bytes.h"

static void
give_up(struct ckpt_sha256 *hash)
{
	EVP_MD_CTX_free(hash->state);
	hash->state = NULL;
}

void
ckpt_sha256_begin(struct ckpt_sha256 *hash)
{
	hash->state = EVP_MD_CTX_new();
	if (hash->state && !EVP_DigestInit_ex(hash->state, EVP_sha256(), NULL))
		give_up(hash);
}

void
ckpt_sha256_add(struct ckpt_sha256 *hash, const void *bytes, size_t n)
{
	if (hash->state && n > 0 && !EVP_DigestUpdate(hash->state, bytes, n))
		give_up(hash);
}

void
ckpt_sha256_u64(struct ckpt_sha256 *hash, uint64_t value)
{
	uint8_t bytes[8];

	ckpt_store_u64(bytes, value);
	ckpt_sha256_add(hash, bytes, sizeof bytes);
}

bool
ckpt_sha256_end(struct ckpt_sha256 *hash, char out[CKPT_SHA256_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	out[0] = '\0';
	if (hash->state && EVP_DigestFinal_ex(hash->state, bytes, &n))
		for (unsigned i = 0; i < n; i++) {
			*out++ = digits[bytes[i] >> 4];
			*out++ = digits[bytes[i] & 15];
			*out = '\0';
		}
	give_up(hash);
	return n > 0;
}

bool
ckpt_sha256_is_text(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		if (!(p[i] >= '0' && p[i] <= '9') &&
			!(p[i] >= 'a' && p[i] <= 'f'))
			return false;
	return n == CKPT_SHA256_TEXT - 1;
}
