/* SPDX-License-Identifier: MIT */
/*
 * Life of a run and the fan-out of its events. The findings have an arena of
 * their own, so that a run which hits its memory limit can still say so.
 */
#include "diag/run.h"

#include <stdlib.h>
#include <string.h>

/* Findings are bounded by count, but their words come from the file; this
 * bounds the words. */
enum { WORDS_BUDGET = 64 * 1024 * 1024 };

struct ckpt_run *
ckpt_run_new(const struct ckpt_options *options)
{
	struct ckpt_run *run = calloc(1, sizeof *run);

	if (!run)
		return NULL;
	if (options)
		run->options = *options;
	if (run->options.max_memory == 0)
		run->options.max_memory = CKPT_MAX_MEMORY;
	ckpt_arena_init(&run->arena, run->options.max_memory);
	ckpt_arena_init(&run->words, WORDS_BUDGET);
	ckpt_arena_init(&run->texts, WORDS_BUDGET);
	ckpt_diags_init(&run->diags, &run->words);
	return run;
}

void
ckpt_run_free(struct ckpt_run *run)
{
	if (!run)
		return;
	ckpt_arena_release(&run->arena);
	ckpt_arena_release(&run->words);
	ckpt_arena_release(&run->texts);
	ckpt_diags_release(&run->diags);
	free(run);
}

void
ckpt_run_listen(struct ckpt_run *run, struct ckpt_sink *sink)
{
	uint64_t end = sink->fields_end ? sink->fields_end : UINT64_MAX;

	sink->next = run->sinks;
	run->sinks = sink;
	if (!sink->wants_fields)
		return;
	if (!run->wants_fields || sink->fields_from < run->fields_from)
		run->fields_from = sink->fields_from;
	if (!run->wants_fields || end > run->fields_end)
		run->fields_end = end;
	run->wants_fields = true;
}

bool
ckpt_run_wants_field(const struct ckpt_run *run, uint64_t off, uint64_t len)
{
	return run->wants_fields && off < run->fields_end &&
	       (off >= run->fields_from || run->fields_from - off < len);
}

enum ckpt_status
ckpt_run_event(struct ckpt_run *run, const struct ckpt_event *event)
{
	for (struct ckpt_sink *s = run->sinks; s; s = s->next) {
		enum ckpt_status status = s->event(s, event);

		if (status != CKPT_OK)
			return status;
	}
	return CKPT_OK;
}

void
ckpt_run_fact(struct ckpt_run *run, const char *name, struct ckpt_value value)
{
	if (run->nfacts < CKPT_FACTS)
		run->facts[run->nfacts++] = (struct ckpt_fact){ name, value };
}

void
ckpt_run_add(struct ckpt_run *run, enum ckpt_code code, uint64_t unit,
	const struct ckpt_diag *given)
{
	struct ckpt_diag diag = *given;

	diag.rule = ckpt_rule_row(code);
	diag.rank = ckpt_rank_of(code, unit, 0);
	diag.count = 1;
	if (!diag.path)
		diag.path = "";
	ckpt_diags_add(&run->diags, &diag);
}

enum ckpt_verdict
ckpt_run_trouble(struct ckpt_run *run, int error)
{
	ckpt_run_add(run, CKPT_D_IO, 0,
		&(struct ckpt_diag){
			.found = ckpt_v_text(strerror(error)),
			.note = "it could not be opened",
		});
	ckpt_diags_close(&run->diags);
	return ckpt_diags_verdict(&run->diags);
}

enum ckpt_status
ckpt_run_memory(const struct ckpt_run *run)
{
	return ckpt_arena_status(&run->arena);
}

const struct ckpt_diag *
ckpt_run_primary(const struct ckpt_run *run)
{
	return run->diags.primary.rule ? &run->diags.primary : NULL;
}

const struct ckpt_diag *
ckpt_run_finding(const struct ckpt_run *run, size_t i)
{
	return i < run->diags.n ? &run->diags.list[i] : NULL;
}

size_t
ckpt_run_finding_count(const struct ckpt_run *run)
{
	return (size_t)run->diags.n;
}
