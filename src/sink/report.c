/* SPDX-License-Identifier: MIT */
/*
 * The verdict of a result and the fate of each rule. Verdict, exit status and
 * lists of rules are functions of the run alone; text and JSON take them from
 * here, so that they cannot disagree.
 */
#include "sink/report.h"

#include <string.h>

void
ckpt_result_init(struct ckpt_result *result, const char *path,
	const struct ckpt_run *run, enum ckpt_verdict verdict,
	bool fail_on_warning)
{
	*result = (struct ckpt_result){
		.path = path,
		.run = run,
		.brief = run->format ? run->format->brief : NULL,
		.verdict = verdict,
		.exit_code = ckpt_verdict_exit(verdict),
	};
	if (fail_on_warning && result->exit_code == CKPT_EXIT_OK &&
		run->diags.warnings > 0) {
		result->failed_on_warning = true;
		result->exit_code = CKPT_EXIT_NEGATIVE;
	}
}

void
ckpt_result_add(struct ckpt_result *set, const struct ckpt_result *member)
{
	set->verdict = ckpt_verdict_worse(set->verdict, member->verdict);
	set->exit_code = ckpt_exit_worse(set->exit_code, member->exit_code);
	/* Only where nothing worse explains the exit status. */
	set->failed_on_warning =
		(set->failed_on_warning || member->failed_on_warning) &&
		set->verdict == CKPT_VALID;
}

enum ckpt_verdict
ckpt_verdict_worse(enum ckpt_verdict a, enum ckpt_verdict b)
{
	/* The verdicts are declared from good to bad. */
	return a > b ? a : b;
}

int
ckpt_exit_worse(int a, int b)
{
	return a > b ? a : b;
}

static bool
applies(const struct ckpt_result *result, const struct ckpt_rule *rule)
{
	const struct ckpt_format *format = result->run->format;

	if (result->kind)
		return result->sets && strcmp(rule->check, "set") == 0;
	if (!format)
		return false;
	for (const char *const *check = format->checks; *check; check++)
		if (strcmp(*check, rule->check) == 0)
			return true;
	return false;
}

enum ckpt_ruling
ckpt_result_rule(
	const struct ckpt_result *result, size_t rule, const char **reason)
{
	const struct ckpt_diags *diags = &result->run->diags;

	/* A note is no fault. */
	if (diags->per_rule[rule] > 0 &&
		ckpt_rule_at(rule)->severity != CKPT_NOTE)
		return CKPT_RULE_FAILED;
	if (!applies(result, ckpt_rule_at(rule)))
		return CKPT_RULE_NOT_APPLICABLE;
	if (diags->ran[rule] == CKPT_RAN)
		return CKPT_RULE_PASSED;
	*reason = diags->reason[rule];
	if (!*reason)
		*reason = "the evaluation ended before this rule";
	return CKPT_RULE_NOT_EVALUATED;
}

const char *
ckpt_severity_name(enum ckpt_severity severity)
{
	switch (severity) {
	case CKPT_NOTE: return "note";
	case CKPT_WARNING: return "warning";
	case CKPT_ERROR: return "error";
	}
	return "";
}

const char *
ckpt_class_name(enum ckpt_class class_)
{
	switch (class_) {
	case CKPT_SUSPICIOUS: return "suspicious";
	case CKPT_CORRUPT: return "corrupt";
	case CKPT_CLASS_UNSUPPORTED: return "unsupported";
	case CKPT_LIMIT: return "limit";
	case CKPT_IO: return "io";
	}
	return "";
}

void
ckpt_diag_message(struct ckpt_buf *buf, const struct ckpt_diag *diag)
{
	ckpt_buf_puts(buf, diag->rule->text);
	if (diag->note)
		ckpt_buf_printf(buf, ": %s", diag->note);
}
