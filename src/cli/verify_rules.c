/* SPDX-License-Identifier: MIT */
/* --explain and --list-rules: the findings table without a file. */
#include "cli/verify.h"

#include <stdio.h>
#include <string.h>

#include "cli/nearest.h"
#include "sink/text.h"

static bool
unknown(struct ckpt_args *args, const char *typed)
{
	struct ckpt_nearest nearest;
	char after[96] = "; --list-rules lists them all";

	ckpt_nearest_init(&nearest, typed, strlen(typed));
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		ckpt_nearest_offer(&nearest, ckpt_rule_at(i)->id);
		ckpt_nearest_offer(&nearest, ckpt_rule_at(i)->slug);
	}
	if (nearest.best)
		snprintf(after, sizeof after, "; did you mean '%s'?",
			nearest.best);
	return ckpt_args_fail(args, "there is no rule ", typed, after);
}

bool
ckpt_verify_rules(
	struct ckpt_args *args, const struct ckpt_verify_options *options)
{
	const struct ckpt_rule *rule;

	if (!options->explain) {
		for (size_t i = 0; i < ckpt_rule_count(); i++)
			ckpt_text_rule_line(&args->out, ckpt_rule_at(i));
		return true;
	}
	rule = ckpt_rule_find(options->explain);
	if (!rule)
		return unknown(args, options->explain);
	ckpt_text_rule(&args->out, rule);
	return true;
}
