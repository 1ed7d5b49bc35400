/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_STATE_H
#define CKPT_MODEL_STATE_H

/*
 * A checkpoint without its format: what a driver binds from a decoded file
 * and what an encoder writes. Whoever works on states never names a format.
 */

#include <ckpt.h>

/* Bytes go out front to back; patch goes back once for a checksum. What the
 * format calls the file by (its checksum, or NONE) is left in label. */
struct ckpt_writer {
	enum ckpt_status (*write)(
		struct ckpt_writer *writer, const void *bytes, size_t n);
	enum ckpt_status (*patch)(struct ckpt_writer *writer, uint64_t off,
		const void *bytes, size_t n);
	struct ckpt_value label;
};

/* A name and its length; not NUL-terminated, may hold any bytes. */
struct ckpt_name {
	const uint8_t *p;
	uint32_t n;
};

/* Values of one tensor, as little-endian bytes: at data, or, when data is
 * NULL and fill is not, made piece by piece (len bytes at offset off of the
 * tensor; off and n are multiples of the element width). */
struct ckpt_tensor {
	struct ckpt_name name;
	uint32_t rank;
	const uint64_t *dims;
	uint64_t len;
	const uint8_t *data;
	void (*fill)(void *ctx, const struct ckpt_tensor *tensor, uint64_t off,
		uint8_t *bytes, size_t n);
	void *fill_ctx;
};

enum ckpt_tokenizer_kind { CKPT_LITERAL, CKPT_BYTE_BPE };

/* Byte-BPE ids. Training-space: the bytes, then one for each merge; those of
 * the finished tokenizer are larger by 2, for begin and end of a text. */
enum { CKPT_BPE_BYTES = 256, CKPT_BPE_BASE_IDS = CKPT_BPE_BYTES + 2 };

/* The highest id fits 32 bits. */
#define CKPT_BPE_MOST_MERGES ((uint64_t)UINT32_MAX + 1 - CKPT_BPE_BASE_IDS)

struct ckpt_tokenizer {
	enum ckpt_tokenizer_kind kind;
	uint64_t vocabulary;
	/* LITERAL: vocabulary pieces; BYTE_BPE: one tensor [merges, 2] of
	 * u32 pairs in training-space ids. */
	const struct ckpt_tensor *pieces;
	uint64_t npieces;
};

/* What kind of file a state is of. */
enum ckpt_archive {
	CKPT_ARCHIVE_NONE, /* of a format that has but one kind */
	CKPT_ARCHIVE_TEXT, /* a portable text model: no optimizer */
	/* The same without tokenizer and embedding: vocabulary 0, no pieces,
	 * and the first parameter in model order is that of the first block,
	 * or the final norm. */
	CKPT_ARCHIVE_BACKBONE,
	CKPT_ARCHIVE_TRAINING, /* a training checkpoint: everything */
};

struct ckpt_training; /* model/training.h */

/* Everything points into memory of whoever made the state. */
struct ckpt_state {
	enum ckpt_archive archive;
	const struct ckpt_training *training; /* ARCHIVE_TRAINING, else NULL */
	struct ckpt_config config;
	struct ckpt_adamw adamw;
	struct ckpt_tokenizer tokenizer;
	uint64_t selected_step;
	uint64_t sampling_rng_state;
	bool groups;
	const struct ckpt_name *decay, *no_decay;
	uint32_t ndecay, nno_decay;
	uint64_t optimizer_step;
	double beta1_power, beta2_power;
	const struct ckpt_tensor *parameters; /* model order */
	uint32_t nparameters;
	/* Moments, in the order in which they are stored. */
	const struct ckpt_tensor *first, *second;
	uint32_t nmoments;
};

#endif
