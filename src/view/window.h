/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_WINDOW_H
#define CKPT_VIEW_WINDOW_H

/*
 * The header fields around one byte, of a header that has more than an index
 * keeps. They are had by reading the header again, in the background.
 */

#include "sink/spans.h"
#include "view/job.h"

struct view_window {
	struct view_job job;
	struct ckpt_source source; /* reads inner from its start */
	struct ckpt_source *inner; /* borrowed */
	uint64_t at;
	uint64_t from, end; /* of the bytes whose fields are here */
	uint64_t max_memory;
	/* What the index knows of the header. */
	const struct ckpt_format *format;
	const char *records;
	uint64_t header_end;
	struct ckpt_spans spans; /* once the job was taken; no tensors */
	bool whole;              /* they are complete */
};

/* Begins to read the fields around off. */
struct view_window *view_window_new(struct ckpt_source *inner,
	const struct ckpt_spans *index, uint64_t header_end, uint64_t off,
	uint64_t max_memory, int bell);

/* Stops reading. NULL is allowed. */
void view_window_free(struct view_window *window);

static inline bool
view_window_has(const struct view_window *window, uint64_t off)
{
	return window && off >= window->from && off < window->end;
}

#endif
