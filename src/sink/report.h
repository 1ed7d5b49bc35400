/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_REPORT_H
#define CKPT_SINK_REPORT_H

/*
 * What there is to say about one verification, before anybody says it: the
 * outputs differ in form only, so whatever they share is decided here.
 */

#include <ckpt.h>

#include "base/buf.h"
#include "diag/hint.h"
#include "diag/run.h"
#include "format/format.h"
#include "sink/digest.h"

/* One file, or one set of files, and what became of it. */
struct ckpt_result {
	const char *path; /* as it was given, any bytes: escape */
	const struct ckpt_run *run;
	const char *kind; /* "folder" for a set; NULL: run->format's name */
	bool sets;        /* the rules of sets were asked */
	const char *const *brief; /* names of facts for one line, or NULL */
	const struct ckpt_hints *causes; /* NULL: not asked for */
	enum ckpt_verdict verdict;
	bool failed_on_warning; /* the verdict is good, the exit status not */
	int exit_code;
	const struct ckpt_digest *digest; /* NULL: not asked for */
};

/* The result of a run that is over; all is borrowed. */
void ckpt_result_init(struct ckpt_result *result, const char *path,
	const struct ckpt_run *run, enum ckpt_verdict verdict,
	bool fail_on_warning);

/* Takes a member of a set into account: the worst decides. */
void ckpt_result_add(struct ckpt_result *set, const struct ckpt_result *member);

/* The worse of two: what was not verified, then what is invalid. */
enum ckpt_verdict ckpt_verdict_worse(enum ckpt_verdict a, enum ckpt_verdict b);
int ckpt_exit_worse(int a, int b);

/* How one rule fared. A rule of another format does not apply, and nothing is
 * said about it. */
enum ckpt_ruling {
	CKPT_RULE_NOT_APPLICABLE,
	CKPT_RULE_PASSED,
	CKPT_RULE_FAILED,
	CKPT_RULE_NOT_EVALUATED,
};

/* rule is a position in the findings table; *reason is set for a rule that was
 * not evaluated. */
enum ckpt_ruling ckpt_result_rule(
	const struct ckpt_result *result, size_t rule, const char **reason);

const char *ckpt_severity_name(enum ckpt_severity severity);
const char *ckpt_class_name(enum ckpt_class class_);

/* What is wrong, and the facts of this case behind it. */
void ckpt_diag_message(struct ckpt_buf *buf, const struct ckpt_diag *diag);

#endif
