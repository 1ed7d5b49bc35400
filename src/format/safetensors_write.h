/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORMAT_SAFETENSORS_WRITE_H
#define CKPT_FORMAT_SAFETENSORS_WRITE_H

/*
 * Writing safetensors so that a file's bytes follow from its meaning: JSON
 * without white space, __metadata__ first with its keys in bytewise order,
 * then the tensors in bytewise order of their names, each with dtype, shape
 * and data_offsets in that order; strings escape only '"', '\' and bytes
 * below 0x20; the fewest blanks let the data begin at a multiple of 8; the
 * data lie in the same order.
 */

#include "base/arena.h"
#include "format/safetensors_dtype.h"
#include "model/state.h"

struct safetensors_pair {
	struct ckpt_name key, value; /* UTF-8 */
};

/* A tensor: its name, shape and values, and what the values are. */
struct safetensors_part {
	struct ckpt_tensor tensor;
	const struct safetensors_dtype *dtype;
};

/* What a file means. Keys are unique, so are names; lengths are those of
 * shapes and dtypes. */
struct safetensors_meaning {
	const struct safetensors_pair *metadata;
	uint32_t nmetadata; /* 0: no __metadata__ at all */
	const struct safetensors_part *parts;
	uint32_t nparts;
};

/* Writes it, front to back. CKPT_REJECTED if the lengths add up beyond 64
 * bits; else what the writer said, or the arena's status. */
CKPT_MUST_USE enum ckpt_status safetensors_write(
	const struct safetensors_meaning *meaning, struct ckpt_arena *arena,
	struct ckpt_writer *writer);

#endif
