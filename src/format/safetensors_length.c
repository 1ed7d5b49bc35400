/* SPDX-License-Identifier: MIT */
/*
 * The length of a header and its bytes. A length is bounded, by what the file
 * has and by what is allowed, before anything is allocated for it; of a pipe,
 * which may end any time, the header grows as it arrives.
 */
#include "format/safetensors.h"

#include <inttypes.h>

#include "base/checked.h"

enum { STEP = 64 * 1024 }; /* header bytes of a pipe, at first */

static void
report_length(struct safetensors_judge *j, enum ckpt_code code,
	const char *expected, const char *found)
{
	SAFETENSORS_REPORT(j, .code = code, .path = "header_bytes",
		.len = SAFETENSORS_LENGTH_BYTES,
		.expected = ckpt_v_text(expected), .found = ckpt_v_text(found),
		.note = j->run->foreign);
}

static void
report_beyond(struct safetensors_judge *j, uint64_t len, uint64_t have)
{
	report_length(j, CKPT_D_ST_HEADER_BEYOND,
		ckpt_walk_text(&j->walk,
			have == 1 ? "at most the %" PRIu64 " byte that follows"
				  : "at most the %" PRIu64 " bytes that follow",
			have),
		ckpt_walk_text(&j->walk, "%s (0x%016" PRIx64 ")",
			safetensors_count(j, len, "byte"), len));
}

/* The bound; 32-bit offsets into the header are enough below it. */
static uint64_t
header_most(const struct safetensors_judge *j)
{
	uint64_t most = j->run->options.max_header;

	if (most == 0 || j->reference)
		most = SAFETENSORS_HEADER_MOST;
	return most < UINT32_MAX ? most : UINT32_MAX - 1;
}

/* A header within the file, but beyond the bound. */
static void
report_bound(struct safetensors_judge *j, uint64_t len)
{
	enum ckpt_code code =
		j->reference ? CKPT_D_ST_HEADER_CAP : CKPT_D_ST_HEADER_LIMIT;

	if (j->run->foreign)
		code = CKPT_D_ST_NOT_SAFETENSORS;
	report_length(j, code,
		ckpt_walk_text(&j->walk, "at most %" PRIu64 " bytes of header",
			header_most(j)),
		safetensors_count(j, len, "byte"));
}

/* Whether the length can be that of a header of this file. A pipe has to be
 * read to know. */
static enum ckpt_status
judge_length(struct safetensors_judge *j, uint64_t len, bool *good)
{
	struct ckpt_reader *reader = j->reader;
	bool sized = reader->source->has_size;
	uint64_t have;

	*good = false;
	if (len == 0) {
		report_length(j, CKPT_D_ST_HEADER_EMPTY, "at least 2 bytes",
			"0 bytes");
	} else if (sized && !ckpt_within(SAFETENSORS_LENGTH_BYTES, len,
				    reader->source->size)) {
		if (!ckpt_sub_u64(reader->source->size,
			    SAFETENSORS_LENGTH_BYTES, &have))
			have = 0; /* the file grew meanwhile */
		report_beyond(j, len, have);
	} else if (len > header_most(j)) {
		have = sized ? len : ckpt_reader_drop(reader, len);
		if (reader->status != CKPT_OK)
			return reader->status;
		if (have < len)
			report_beyond(j, len, have);
		else
			report_bound(j, len);
	} else {
		*good = true;
	}
	return CKPT_OK;
}

enum ckpt_status
safetensors_read_header(struct safetensors_judge *j, bool *ready)
{
	struct ckpt_reader *reader = j->reader;
	struct ckpt_arena *arena = &j->run->arena;
	bool sized = reader->source->has_size;
	uint64_t len = j->file->header_bytes, have = 0, room = STEP;
	enum ckpt_status status;
	bool good;
	uint8_t *p;

	status = judge_length(j, len, &good);
	if (status != CKPT_OK || !good)
		return status;
	room = sized || len < room ? len : room;
	p = ckpt_arena_alloc(arena, (size_t)room);
	while (p) {
		have += ckpt_reader_read(
			reader, p + have, (size_t)(room - have));
		if (have < room || have == len)
			break;
		room = len - have < have ? len : 2 * have;
		p = ckpt_arena_grow(arena, p, (size_t)have, (size_t)room);
	}
	if (!p)
		return ckpt_run_memory(j->run);
	if (reader->status != CKPT_OK)
		return reader->status;
	if (have < len) {
		report_beyond(j, len, have);
		return CKPT_OK;
	}
	j->file->json = p;
	*ready = true;
	return CKPT_OK;
}
