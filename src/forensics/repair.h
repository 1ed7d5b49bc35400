/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORENSICS_REPAIR_H
#define CKPT_FORENSICS_REPAIR_H

/*
 * A copy of a damaged file with the one proposal that makes it valid. The
 * damaged file itself is never written to.
 */

#include "forensics/locate.h"
#include "io/publish.h"

/* Why no copy was written, or CKPT_OK. */
struct ckpt_repair {
	enum ckpt_status status;
	/* CKPT_REJECTED: there is no such proposal, or the file is another one
	 * by now; CKPT_STOP: it was cancelled. Static. */
	const char *doubt;
	/* Every other failure: what could not be done, and why. */
	const char *action, *reason;
	int error;
};

/* Publishes the copy at path, atomically, and only if located has exactly one
 * explanation with which the file is valid. That path is not the file itself
 * is up to the caller. Of the options, which may be NULL, only the progress
 * counts. */
void ckpt_repair_publish(struct ckpt_repair *repair,
	const struct ckpt_located *located, struct ckpt_source *damaged,
	const struct ckpt_options *options, const char *path);

#endif
