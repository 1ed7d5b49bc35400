/* SPDX-License-Identifier: MIT */
/*
 * Rules explained without a file: everything that the findings table says.
 * Used by --explain and --list-rules.
 */
#include "sink/text.h"

#include <ctype.h>

/* A phrase of the table as a sentence. */
static void
sentence(struct ckpt_buf *buf, const char *before, const char *phrase)
{
	char first = phrase[0];

	if (!before[0])
		first = (char)toupper((unsigned char)first);
	ckpt_buf_printf(buf, "  %s%c%s.\n", before, first, phrase + 1);
}

void
ckpt_text_rule(struct ckpt_buf *buf, const struct ckpt_rule *rule)
{
	ckpt_buf_printf(buf, "%s %s\n", rule->id, rule->slug);
	sentence(buf, "", rule->text);
	sentence(buf, "Likely cause: ", rule->why);
	if (rule->next)
		sentence(buf, "Next: ", rule->next);
	ckpt_buf_printf(buf, "  severity: %s\n  class: %s\n",
		ckpt_severity_name(rule->severity),
		ckpt_class_name(rule->class_));
	if (rule->seed_kind)
		ckpt_buf_printf(buf, "  kind of the reference loader: %s\n",
			rule->seed_kind);
	ckpt_buf_printf(buf, "  check: %s\n", rule->check);
}

void
ckpt_text_rule_line(struct ckpt_buf *buf, const struct ckpt_rule *rule)
{
	ckpt_buf_printf(buf, "%s %-7s %-30s %s\n", rule->id,
		ckpt_severity_name(rule->severity), rule->slug, rule->text);
}
