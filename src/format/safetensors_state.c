/* SPDX-License-Identifier: MIT */
/*
 * A state as plain safetensors: the model's weights, F64, by their names. What
 * else a state holds has no place in such a file; so it is written for tests
 * and demonstrations, and never read back into a state. A state that came from
 * an archive, or is to become one, is written as an archive.
 */
#include "format/safetensors.h"

#include "base/checked.h"
#include "format/archive.h"
#include "format/safetensors_write.h"

static enum ckpt_status
write_state(const struct ckpt_state *state, struct ckpt_writer *writer)
{
	static const struct safetensors_pair format = {
		{ (const uint8_t *)"format", 6 }, { (const uint8_t *)"pt", 2 }
	};
	struct safetensors_meaning meaning = { .metadata = &format,
		.nmetadata = 1,
		.nparts = state->nparameters };
	struct safetensors_part *parts;
	struct ckpt_arena arena;
	enum ckpt_status status = CKPT_ENOMEM;

	ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
	parts = ckpt_arena_alloc(&arena, state->nparameters * sizeof *parts);
	for (uint32_t i = 0; parts && i < state->nparameters; i++)
		parts[i] = (struct safetensors_part){ state->parameters[i],
			safetensors_dtype_find("F64", 3) };
	meaning.parts = parts;
	if (parts)
		status = safetensors_write(&meaning, &arena, writer);
	ckpt_arena_release(&arena);
	return status;
}

enum ckpt_status
safetensors_encode(const struct ckpt_state *state, struct ckpt_writer *writer)
{
	if (state->archive != CKPT_ARCHIVE_NONE)
		return archive_encode(state, writer);
	return write_state(state, writer);
}

/* Ends the writing behind the header. */
struct counter {
	struct ckpt_writer writer;
	uint64_t n;
};

static enum ckpt_status
count(struct ckpt_writer *writer, const void *bytes, size_t n)
{
	struct counter *counter = (struct counter *)writer;

	(void)bytes;
	counter->n = n;
	return CKPT_STOP;
}

enum ckpt_status
safetensors_measure(const struct ckpt_state *state, uint64_t *bytes)
{
	struct counter counter = { .writer = { .write = count } };
	enum ckpt_status status;

	if (state->archive != CKPT_ARCHIVE_NONE)
		return archive_measure(state, bytes);
	status = write_state(state, &counter.writer);
	if (status != CKPT_STOP && status != CKPT_OK)
		return status;
	*bytes = counter.n;
	for (uint32_t i = 0; i < state->nparameters; i++)
		if (!ckpt_add_u64(*bytes, state->parameters[i].len, bytes))
			return CKPT_REJECTED;
	return CKPT_OK;
}
