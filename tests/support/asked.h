/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_ASKED_H
#define CKPT_TESTS_ASKED_H

/*
 * One verification, and what may have happened to the file. Each assertion
 * fails the cmocka test that makes it.
 */

#include "forensics/classify.h"

struct asked {
	struct ckpt_run *run;
	struct ckpt_spans spans;
	struct ckpt_hints hints;
	enum ckpt_verdict verdict;
	enum ckpt_status status; /* of the question */
};

/* Of n bytes that stand alone in memory, so that a sanitiser sees a read past
 * their end. name may be NULL. */
void asked_bytes(
	struct asked *asked, const void *p, size_t n, const char *name);

/* The same of any source, which is closed; options may be NULL. */
void asked_source(struct asked *asked, struct ckpt_source *source,
	const struct ckpt_options *options);
void asked_release(struct asked *asked);

/* The best cause, "" if there is none; one of a name, or NULL. */
const char *asked_top(const struct asked *asked);
const struct ckpt_hint *asked_find(const struct asked *asked, const char *slug);

/* How many causes are so likely, or more. */
size_t asked_count(const struct asked *asked, enum ckpt_likelihood likelihood);

#endif
