/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_DIGEST_H
#define CKPT_SINK_DIGEST_H

/*
 * SHA-256 of the whole file and of the payload of each record, made while the
 * file is verified. A digest of anything less than all its bytes is not given.
 */

#include "base/buf.h"
#include "base/sha256.h"
#include "diag/run.h"

/* Of one record: all of it once sha256 is not "". */
struct ckpt_record_digest {
	uint64_t index;
	const char *name; /* readable, but not escaped */
	size_t name_len;
	uint64_t len, seen; /* bytes */
	char sha256[CKPT_SHA256_TEXT];
};

/* Do not move it while a run listens. */
struct ckpt_digest {
	struct ckpt_sink sink;
	struct ckpt_run *run; /* borrowed */
	struct ckpt_arena arena;
	struct ckpt_sha256 whole, part;
	struct ckpt_record_digest *records; /* as they were told */
	uint64_t nrecords;
	struct ckpt_record_digest *open; /* whose bytes part has, or NULL */
	char sha256[CKPT_SHA256_TEXT];   /* of the file, or "" ... */
	const char *missing;             /* ... and then why */
};

/* Before the run, which must stay until close; budget bounds the memory. */
void ckpt_digest_init(
	struct ckpt_digest *digest, struct ckpt_run *run, uint64_t budget);
/* After the run. Only now sha256 and missing say something. */
void ckpt_digest_close(struct ckpt_digest *digest);
void ckpt_digest_release(struct ckpt_digest *digest);

/* "records[5]" */
void ckpt_digest_path_write(struct ckpt_buf *buf,
	const struct ckpt_digest *digest,
	const struct ckpt_record_digest *record);

#endif
