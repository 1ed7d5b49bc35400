/* SPDX-License-Identifier: MIT */
#ifndef CKPT_IO_READER_H
#define CKPT_IO_READER_H

/*
 * One pass over a source through one fixed buffer. Every byte goes through
 * the checksum tap exactly once, also the bytes that were only peeked at; and
 * through the digest of the whole file (run->whole), if there is one, as soon
 * as it was read.
 *
 * status is sticky: CKPT_OK until the source fails or the run is cancelled.
 * The end of the file is not a failure: reads give fewer bytes, eof is set.
 */

#include "diag/run.h"
#include "io/ahead.h"

enum { CKPT_READER_BUFFER = 256 * 1024 };

struct ckpt_reader {
	struct ckpt_run *run;
	struct ckpt_source *source; /* borrowed */
	struct ckpt_ahead *ahead;   /* owned; NULL: nobody reads ahead */
	uint8_t *buf;               /* from the run's arena, or a block */
	size_t at, fill;            /* unread bytes are buf[at, fill) */
	size_t tapped;              /* bytes of buf that were hashed */
	uint64_t base;              /* file offset of buf[0] */
	bool eof;
	enum ckpt_status status;
	int error; /* errno of CKPT_EIO */
	bool cancelled;
	/* The tap: FNV-1a 64 with the bytes of [zero_off, zero_off+zero_len)
	 * taken as zero. Set the range before the first byte is consumed. */
	bool hashing;
	uint64_t hash;
	uint64_t zero_off, zero_len;
};

CKPT_MUST_USE enum ckpt_status ckpt_reader_init(struct ckpt_reader *reader,
	struct ckpt_run *run, struct ckpt_source *source);

void ckpt_reader_release(struct ckpt_reader *reader);

/* From now on another thread reads ahead, if the source allows that and n more
 * bytes are worth it. */
void ckpt_reader_ahead(struct ckpt_reader *reader, uint64_t n);

/* Offset of the next byte. */
static inline uint64_t
ckpt_reader_offset(const struct ckpt_reader *reader)
{
	return reader->base + reader->at;
}

/* Points *p at unread bytes, at least want of them unless the file ends or
 * fails before (want <= CKPT_READER_BUFFER / 2); returns how many there are.
 * They stay unread. */
size_t ckpt_reader_peek(
	struct ckpt_reader *reader, size_t want, const uint8_t **p);

/* Marks n peeked bytes as read. */
void ckpt_reader_skip(struct ckpt_reader *reader, size_t n);

/* Reads n bytes; returns fewer only at the end or on failure. */
size_t ckpt_reader_read(struct ckpt_reader *reader, void *bytes, size_t n);

/* Reads and drops up to n bytes; returns how many there were. */
uint64_t ckpt_reader_drop(struct ckpt_reader *reader, uint64_t n);

/* Reads what is left, so that the whole file was read; of a source that does
 * not know its size at most 1 MiB. False if that is not all of it. */
CKPT_MUST_USE bool ckpt_reader_finish(struct ckpt_reader *reader);

/* The hash of all bytes up to the offset of the next one. */
uint64_t ckpt_reader_hash(struct ckpt_reader *reader);

#endif
