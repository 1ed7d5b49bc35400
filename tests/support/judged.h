/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_JUDGED_H
#define CKPT_TESTS_JUDGED_H

/*
 * One verification and what tests ask of it. Each assertion fails the cmocka
 * test that makes it.
 */

#include "base/buf.h"
#include "diag/run.h"

struct judged {
	struct ckpt_run *run;
	enum ckpt_verdict verdict;
	struct ckpt_buf text; /* of judged_value() */
};

/* Verifies n bytes that stand alone in memory, so that a sanitiser sees a
 * read past their end. options may be NULL. */
void judged_bytes(struct judged *judged, const void *bytes, size_t n);

/* The same under a name. */
void judged_named(
	struct judged *judged, const char *name, const void *bytes, size_t n);

/* The same in pieces of at most most bytes, as a pipe or not, with a read
 * error at fail_at unless that is UINT64_MAX. */
void judged_slowly(struct judged *judged, const void *bytes, size_t n,
	size_t most, bool pipe, uint64_t fail_at);
void judged_free(struct judged *judged);

/* The first finding of a rule, or NULL; how many there are of it. */
const struct ckpt_diag *judged_find(
	const struct judged *judged, const char *id);
size_t judged_count(const struct judged *judged, const char *id);

/* Errors and warnings on the list, notes left out. */
size_t judged_faults(const struct judged *judged);

/* "" if there is none. */
const char *judged_primary(const struct judged *judged);

/* A value as it is shown. */
const char *judged_value(struct judged *judged, const struct ckpt_value *value);

/* All findings, one a line, for comparing two runs; owned by the caller. */
char *judged_log(struct judged *judged);

#endif
