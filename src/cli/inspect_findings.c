/* SPDX-License-Identifier: MIT */
/* The findings, in the words of ckverify. */
#include "cli/inspect.h"

#include "sink/text.h"

void
inspect_findings_text(struct inspect *in)
{
	struct ckpt_text_style style = { .color = in->screen.color,
		.verbose = in->verbose };
	struct ckpt_result result;

	ckpt_result_init(&result, in->path, in->run, in->verdict, false);
	ckpt_text_result(&in->out, &result, &style);
}

json_t *
inspect_findings_json(struct inspect *in)
{
	static const char *const members[] = { "primary", "findings", "rules",
		"suppressed" };
	struct ckpt_result result;
	json_t *object = json_object(), *all;
	bool ok;

	ckpt_result_init(&result, in->path, in->run, in->verdict, false);
	all = ckpt_json_result(&result, false, false);
	ok = object && all;
	for (size_t i = 0; ok && i < sizeof members / sizeof members[0]; i++) {
		json_t *member = json_object_get(all, members[i]);

		if (member)
			ok = json_object_set(object, members[i], member) == 0;
	}
	json_decref(all);
	if (!ok)
		json_decref(object);
	return ok ? object : NULL;
}
