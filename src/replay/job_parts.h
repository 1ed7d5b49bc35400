/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_JOB_PARTS_H
#define CKPT_REPLAY_JOB_PARTS_H

/* What reading a job consists of; for job*.c only. */

#include "replay/job.h"
#include "replay/job_fields.h"

/* A job that is being read. */
struct ckpt_job_reader {
	struct ckpt_job *job;
	/* Borrowed; empty while all is well. Empty, too, when something is
	 * false for want of memory. */
	struct ckpt_buf *why;
};

/* tokenizer, documents and order, in this order. False: refused, or memory. */
bool ckpt_job_read_merges(struct ckpt_job_reader *reader, const json_t *root);
bool ckpt_job_read_documents(
	struct ckpt_job_reader *reader, const json_t *root);
bool ckpt_job_read_order(struct ckpt_job_reader *reader, const json_t *root);

#endif
