/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_VERIFICATION_H
#define CKPT_VIEW_VERIFICATION_H

/*
 * One run over a file in the background. It reads the header, gives the index
 * away, and goes on to verify the payload. What it gives away is complete and
 * never touched by it again: the index, and copies of the list of findings,
 * whose words live as long as the run.
 */

#include "sink/spans.h"
#include "view/job.h"

/* Members are of the job until it gives them away. */
struct view_verification {
	struct view_job job;
	struct ckpt_source source; /* reads doc's from its start */
	struct ckpt_source *inner;
	uint64_t at;
	struct ckpt_run *run;
	struct ckpt_spans spans;
	struct ckpt_sink stop;
	bool whole;    /* read the payload to its end */
	bool indexed;  /* spans are complete */
	bool stopped;  /* by us, so there is no verdict */
	bool no_index; /* out of memory */
	enum ckpt_verdict verdict;
	pthread_mutex_t mutex;
	/* Under the mutex: given away. */
	bool ready;
	bool taken; /* by the drawing thread */
	uint64_t header_end;
	const struct ckpt_format *format;
	struct ckpt_diag *list;
	size_t n;
};

/* Begins: the header, and if whole the payload too. NULL if out of memory.
 * inner is borrowed; max_memory 0 is the usual limit. */
struct view_verification *view_verification_new(
	struct ckpt_source *inner, bool whole, uint64_t max_memory, int bell);

/* Stops it. NULL is allowed. */
void view_verification_free(struct view_verification *verification);

#endif
