/* SPDX-License-Identifier: MIT */
/*
 * The overview: what the file is, whether it holds, what it holds in groups,
 * and what a file of its format does and does not carry.
 */
#include "cli/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "sink/text.h"
#include "wire/value.h"

static const char *
verdict_color(enum ckpt_verdict verdict)
{
	return verdict == CKPT_VALID ? "\033[32m" : INSPECT_RED;
}

static void
write_count(
	struct ckpt_buf *buf, uint64_t n, const char *what, const char *after)
{
	ckpt_buf_printf(
		buf, " %" PRIu64 " %s%s%s", n, what, n == 1 ? "" : "s", after);
}

static void
write_verdict(struct inspect *in, struct ckpt_buf *buf)
{
	const struct ckpt_diag *d = ckpt_run_primary(in->run);
	const struct ckpt_diags *diags = &in->run->diags;

	ckpt_buf_printf(buf, "%s%s%s",
		inspect_color(in, verdict_color(in->verdict)),
		ckpt_verdict_name(in->verdict), inspect_color(in, INSPECT_OFF));
	if (d && in->verdict != CKPT_VALID) {
		ckpt_buf_printf(buf, ": %s %s at ", d->rule->id, d->rule->slug);
		ckpt_offset_write(buf, d->off);
		if (d->path[0])
			ckpt_buf_printf(buf, ", %s", d->path);
	} else {
		ckpt_buf_puts(buf, " (integrity, not authenticity)");
	}
	if (diags->n == 0)
		return;
	ckpt_buf_printf(buf, "\n%-20s", "findings");
	write_count(buf, diags->errors, "error", ",");
	write_count(buf, diags->warnings, "warning", ",");
	write_count(buf, diags->notes, "note", " (see --batch=findings)");
}

void
inspect_overview_text(struct inspect *in)
{
	struct ckpt_buf *out = &in->out;
	const struct ckpt_run *run = in->run;

	ckpt_buf_printf(out, "%-20s ", "file");
	ckpt_buf_escape(out, in->path, strlen(in->path), 0);
	ckpt_buf_printf(out, "\n%-20s ", "format");
	inspect_format_write(out, in);
	ckpt_buf_printf(out, "\n%-20s %s%" PRIu64 " bytes\n", "size",
		run->size_known ? "" : "at least ", run->size);
	ckpt_buf_printf(out, "%-20s ", "verdict");
	write_verdict(in, out);
	ckpt_buf_puts(out, "\n");
	for (size_t i = 0; i < run->nfacts; i++) {
		ckpt_buf_printf(out, "%-20s ", run->facts[i].name);
		ckpt_value_write(out, &run->facts[i].value);
		ckpt_buf_puts(out, "\n");
	}
	if (in->spans.ntensors > 0) {
		ckpt_buf_puts(out, "\n");
		inspect_groups_text(in);
	}
	if (!ckpt_run_scope(run))
		return;
	ckpt_buf_puts(out, "\n");
	ckpt_text_scope(out, ckpt_run_scope(run), "");
}

json_t *
inspect_overview_json(struct inspect *in)
{
	struct ckpt_result result;
	json_t *object, *all, *groups = inspect_groups_json(in);
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	inspect_format_write(&words, in);
	ckpt_result_init(&result, in->path, in->run, in->verdict, false);
	all = ckpt_json_result(&result, true, true);
	object = json_pack("{s:o, s:O, s:O, s:O?}", "format_text",
		ckpt_json_take(&words), "primary",
		json_object_get(all, "primary"), "summary",
		json_object_get(all, "summary"), "scope",
		json_object_get(all, "scope"));
	ckpt_buf_release(&words);
	json_decref(all);
	if (object && groups && json_object_update(object, groups) != 0) {
		json_decref(object);
		object = NULL;
	}
	json_decref(groups);
	return object;
}
