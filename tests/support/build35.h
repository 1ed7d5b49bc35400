/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_BUILD35_H
#define CKPT_TESTS_BUILD35_H

/*
 * LLMCP35 files for tests, put together byte by byte from the specification
 * and from nothing else, so that a test compares two readings of it. Change
 * any member between the calls that fill a file and b35_build(): the builder
 * writes what it is told, lies included.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What to do about a number that the builder would compute itself. */
struct b35_lie {
	bool told; /* write v instead */
	uint64_t v;
};

struct b35_str {
	const void *p; /* borrowed */
	uint32_t n;
	struct b35_lie declared;
};

struct b35_record {
	unsigned role, dtype;
	char name[48];
	uint32_t name_len;
	struct b35_lie name_declared;
	unsigned ndims; /* dimensions written */
	struct b35_lie rank;
	uint64_t dims[3];
	uint8_t *payload; /* owned; NULL: n zero bytes */
	uint64_t n;
	struct b35_lie offset, byte_length;
	/* Set by b35_build(). */
	uint64_t at; /* file offset of the descriptor */
	uint64_t data_at;
};

struct b35 {
	uint8_t magic[8];
	unsigned version;
	uint32_t endian;
	struct b35_lie header_bytes, payload_bytes, checksum;
	unsigned tokenizer_layout, rng_algorithm;
	uint64_t selected_step, rng_state;
	unsigned tokenizer_kind;
	uint64_t tokenizer_vocabulary;
	uint64_t vocabulary, width, heads, feed_forward, layers, positions;
	double rope_base, rms_epsilon;
	double learning_rate, beta1, beta2, epsilon, weight_decay;
	unsigned groups_flag;
	struct b35_str *decay, *no_decay; /* owned arrays */
	uint32_t ndecay, nno_decay;
	struct b35_lie decay_count, no_decay_count;
	uint64_t optimizer_step;
	double beta1_power, beta2_power;
	uint32_t parameters, optimizer;
	struct b35_lie descriptors;
	struct b35_record *records; /* owned */
	uint32_t nrecords, room;
	size_t extra_header; /* zero bytes behind the last descriptor */
	/* Set by b35_build(). */
	uint8_t *bytes;
	size_t n, cap;
	uint64_t header_end;
	uint64_t groups_at, no_decay_at, optimizer_at; /* file offsets */
};

/* Everything legal, no record yet. */
void b35_init(struct b35 *b);
void b35_free(struct b35 *b);

/* Appends records, in the order of the calls. */
void b35_literal(struct b35 *b, uint32_t tokens);
void b35_bpe(struct b35 *b, uint32_t merges);
void b35_model(struct b35 *b, uint64_t width, uint64_t heads,
	uint64_t feed_forward, uint64_t layers);
void b35_moments(struct b35 *b, uint64_t step);

/* Three tokens, one layer of width 4 with two heads, two steps of training:
 * records 0..2 tokens, 3..13 parameters, 14..35 moments. */
void b35_small(struct b35 *b);

struct b35_record *b35_add(struct b35 *b, unsigned role, const char *name,
	unsigned dtype, unsigned ndims, uint64_t d0, uint64_t d1, uint64_t n);
void b35_drop(struct b35 *b, uint32_t i);
void b35_f64(struct b35_record *r, uint64_t i, double x);
void b35_f64_bits(struct b35_record *r, uint64_t i, uint64_t bits);
void b35_payload(struct b35_record *r, const void *p, uint64_t n);
void b35_rename(struct b35_record *r, const void *name, uint32_t n);

/* The file; b->bytes and b->n until the next call. */
void b35_build(struct b35 *b);

/* Writes the checksum of the bytes as they are. */
void b35_seal(uint8_t *bytes, size_t n);

/* Offsets of a descriptor's fields, from section 2. */
uint64_t b35_at_name(const struct b35_record *r);
uint64_t b35_at_dtype(const struct b35_record *r);
uint64_t b35_at_rank(const struct b35_record *r);
uint64_t b35_at_dim(const struct b35_record *r, unsigned i);
uint64_t b35_at_offset(const struct b35_record *r);
uint64_t b35_at_length(const struct b35_record *r);

#define B35_TELL(x) ((struct b35_lie){ true, (x) })

#endif
