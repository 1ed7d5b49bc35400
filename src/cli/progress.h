/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_PROGRESS_H
#define CKPT_CLI_PROGRESS_H

/*
 * How far the work on a file has come, on standard error. On a terminal one
 * line is rewritten and in the end cleared; elsewhere, if asked for, plain
 * lines are printed now and then.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "cli/screen.h"

#define CKPT_PROGRESS_UNKNOWN UINT64_MAX /* a total that is not known */

struct ckpt_progress {
	bool on;
	bool terminal;           /* rewrite one line */
	FILE *out;               /* borrowed */
	size_t columns;          /* of the terminal */
	uint64_t (*clock)(void); /* nanoseconds; tests put in their own */
	const char *name;        /* borrowed from begin to end */
	uint64_t began, next;    /* nanoseconds; next: not drawn before */
	size_t drawn;            /* columns now on the terminal's line */
	struct ckpt_buf line;
};

/* out is stderr, but for tests. */
void ckpt_progress_init(
	struct ckpt_progress *progress, enum ckpt_when when, FILE *out);
void ckpt_progress_release(struct ckpt_progress *progress);

/* A file begins, of the name in the bytes of its path. Cheap when off, and
 * update is cheap at any rate: call it once a block. end clears the line; call
 * it before anything else is printed, or clear, if the work goes on. */
void ckpt_progress_begin(struct ckpt_progress *progress, const char *name);
void ckpt_progress_update(
	struct ckpt_progress *progress, uint64_t done, uint64_t total);
void ckpt_progress_clear(struct ckpt_progress *progress);
void ckpt_progress_end(struct ckpt_progress *progress);

/* The text of one report, at most columns wide, after elapsed nanoseconds. */
void ckpt_progress_line(struct ckpt_buf *buf, const char *name, uint64_t done,
	uint64_t total, uint64_t elapsed, size_t columns);

/* Columns that text (UTF-8) takes on a terminal. */
size_t ckpt_progress_width(const char *text, size_t n);

#endif
