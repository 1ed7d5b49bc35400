/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_CONTENT_H
#define CKPT_TESTS_CONTENT_H

/*
 * Safetensors files built in memory, and all findings about their values. A
 * test names every finding that it expects, so that nothing speaks that should
 * not.
 */

#include "base/buf.h"
#include "base/bytes.h"
#include "support/judged.h"

#define ONE 0x3f800000u

struct content {
	struct ckpt_buf header, data;
	enum ckpt_values values;
};

void content_begin(struct content *f);

/* A tensor of n bytes, zeros if p is NULL. */
void content_add(struct content *f, const char *name, const char *dtype,
	const char *shape, const void *p, size_t n);

/* The bytes of the file, for free(). */
uint8_t *content_whole(struct content *f, size_t *n);

/* Judges and frees the file, which must be valid; what is found stays in the
 * judgement. */
void content_judge(struct judged *j, struct content *f);

/* Asserts the ids of all findings, sorted, with spaces between; expect judges
 * first. */
void content_check(const struct judged *j, const char *want);
void content_expect(struct content *f, const char *want);

/* One finding, and what it says. */
void content_expect_one(struct content *f, const char *id, const char *path,
	uint64_t count, const char *words);

/* Data, borrowed until the next call: n elements of width bytes with the same
 * bits; n F32 that are all x, but at at y; n bytes of which the first k come
 * from p and the others are 0. */
const uint8_t *content_same(uint64_t bits, unsigned width, size_t n);
uint32_t content_single(float x);
const uint8_t *content_but_one(float x, size_t n, size_t at, float y);
const uint8_t *content_headed(const void *p, size_t k, size_t n);

void content_add_ones(struct content *f);

#endif
