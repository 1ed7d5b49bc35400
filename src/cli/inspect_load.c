/* SPDX-License-Identifier: MIT */
/*
 * Reads a file as far as a section needs it. Findings, statistics and the
 * overview come from a whole verification. The other sections show what the
 * header says, and read no more than the first megabytes of the payload: the
 * run of a larger file is ended, and then there is no verdict, said so.
 * How far is read depends on the bytes alone, so pipes and files look alike.
 */
#include "cli/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"
#include "format/alias.h"
#include "replay/known_job.h"

enum { PAYLOAD_READ = 16 * 1024 * 1024 };

static bool
reads_all(enum inspect_section_id section)
{
	return section == INSPECT_OVERVIEW || section == INSPECT_FINDINGS ||
	       section == INSPECT_HEX || section == INSPECT_STATS ||
	       section == INSPECT_HTML;
}

/* Whether everything is known once done bytes were read. */
static bool
enough(const struct inspect *in, uint64_t done)
{
	uint64_t most, window;

	if (reads_all(in->section) || in->run->header_end == 0)
		return false;
	if (!ckpt_add_u64(in->run->header_end, PAYLOAD_READ, &most))
		return false;
	/* A pipe passes once: what is to be shown must have passed. */
	if (!in->bytes.inner->read_at &&
		ckpt_add_u64(
			in->bytes.window_off, in->bytes.window_len, &window) &&
		most < window)
		most = window;
	return done >= most;
}

static enum ckpt_status
stop_event(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct inspect *in =
		(struct inspect *)(void *)((char *)sink -
					   offsetof(struct inspect, stop));

	if (event->kind != CKPT_EV_DATA || !enough(in, event->off))
		return CKPT_OK;
	in->partial = true;
	return CKPT_STOP;
}

/* Payload that no tensor claims gives no events, but it gives progress. */
static bool
go_on(void *ctx, uint64_t done, uint64_t total)
{
	struct inspect *in = ctx;

	if (enough(in, done)) {
		in->partial = true;
		return false;
	}
	return !in->progress || in->progress(in->progress_ctx, done, total);
}

bool
inspect_record_of(const struct inspect *in, const char *path, uint64_t *record)
{
	size_t n = strlen(in->spans.records);
	char *end;

	if (strncmp(path, in->spans.records, n) != 0 || path[n] != '[')
		return false;
	*record = strtoull(path + n + 1, &end, 10);
	return *end == ']';
}

static int
marks_compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct inspect_mark *marks = ctx;

	return (marks[a].record > marks[b].record) -
	       (marks[a].record < marks[b].record);
}

/* The ids of rules that a record broke, to be found by its number. */
static bool
mark(struct inspect *in)
{
	struct ckpt_arena *arena = &in->spans.arena;
	const struct ckpt_diags *diags = &in->run->diags;
	struct inspect_mark *marks, *sorted;
	uint32_t *order;
	uint64_t n = 0;

	marks = ckpt_arena_zalloc(arena, (size_t)diags->n * sizeof *marks);
	sorted = ckpt_arena_zalloc(arena, (size_t)diags->n * sizeof *marks);
	if (!marks || !sorted)
		return false;
	for (uint64_t i = 0; i < diags->n; i++) {
		if (!inspect_record_of(
			    in, diags->list[i].path, &marks[n].record))
			continue;
		marks[n++].finding = i;
	}
	order = ckpt_sorted(arena, n, marks_compare, marks);
	if (!order)
		return false;
	for (uint64_t i = 0; i < n; i++)
		sorted[i] = marks[order[i]];
	in->marks = sorted;
	in->nmarks = n;
	return true;
}

const struct inspect_mark *
inspect_marks_of(const struct inspect *in, uint64_t record)
{
	uint64_t low = 0, high = in->nmarks;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (in->marks[mid].record < record)
			low = mid + 1;
		else
			high = mid;
	}
	return low < in->nmarks && in->marks[low].record == record
		       ? &in->marks[low]
		       : NULL;
}

bool
inspect_finding_placed(const struct ckpt_diag *diag)
{
	return diag->path[0] || diag->off > 0 || diag->len > 0;
}

static int
findings_compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_diag *list = ctx;

	return (list[a].off > list[b].off) - (list[a].off < list[b].off);
}

const struct ckpt_diag *
inspect_finding_in(const struct inspect *in, uint64_t off, uint64_t len)
{
	const struct ckpt_diags *diags = &in->run->diags;
	uint64_t low = 0, high = diags->n;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (diags->list[in->by_offset[mid]].off < off)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < diags->n; low++) {
		const struct ckpt_diag *d = &diags->list[in->by_offset[low]];

		if (d->off - off >= len)
			return NULL;
		if (inspect_finding_placed(d))
			return d;
	}
	return NULL;
}

/* Our own stop is no finding about the file. */
static void
forget_stop(struct inspect *in)
{
	struct ckpt_diags *diags = &in->run->diags;

	if (!in->partial || diags->n == 0)
		return;
	if (ckpt_rule_code(diags->list[0].rule) != CKPT_D_CANCELLED)
		return;
	diags->list++;
	diags->n--;
	diags->errors--;
	if (diags->n > 0 && diags->list[0].rule->severity == CKPT_ERROR)
		diags->primary = diags->list[0];
	else
		diags->primary.rule = NULL;
}

static bool
needs_fields(const struct inspect *in)
{
	return in->section != INSPECT_OVERVIEW &&
	       in->section != INSPECT_RECORDS &&
	       in->section != INSPECT_GROUPS && in->section != INSPECT_STATS &&
	       in->section != INSPECT_FINDINGS;
}

/* One byte, or a range of them, needs no more fields than its own. */
static void
narrow(struct inspect *in)
{
	uint64_t end = UINT64_MAX;

	if (in->section == INSPECT_AT)
		ckpt_spans_window(&in->spans, in->offset, in->offset + 1);
	if (in->section != INSPECT_HEX || !in->has_range)
		return;
	if (!ckpt_add_u64(in->range.off, in->range.len, &end))
		end = UINT64_MAX;
	ckpt_spans_window(&in->spans, in->range.off, end);
}

bool
inspect_load(struct inspect *in, struct ckpt_source *source)
{
	struct ckpt_options options = { .max_memory = in->max_memory,
		.progress = go_on,
		.progress_ctx = in };
	enum ckpt_status status;

	if (in->section == INSPECT_AT)
		in->range = (struct inspect_range){
			in->offset < 64 ? 0 : in->offset - 64, 128
		};
	in->bytes.window_off = in->range.off;
	in->bytes.window_len = in->range.len;
	inspect_bytes_init(&in->bytes, source);
	ckpt_spans_init(&in->spans,
		in->max_memory ? in->max_memory : CKPT_MAX_MEMORY,
		needs_fields(in));
	narrow(in);
	in->run = ckpt_run_new(&options);
	if (!in->run)
		return false;
	/* The last to be added is the first to hear: spans, then the others. */
	in->stop.event = stop_event;
	ckpt_run_listen(in->run, &in->stop);
	in->stats_sink.event = inspect_stats_event;
	if (in->section == INSPECT_STATS || in->section == INSPECT_HTML)
		ckpt_run_listen(in->run, &in->stats_sink);
	ckpt_run_listen(in->run, &in->spans.sink);
	in->verdict = ckpt_verify(in->run, &in->bytes.source);
	ckpt_run_name_documents(in->run);
	forget_stop(in);
	in->spans.format = in->run->format;
	in->spans.records = ckpt_records_name(in->run->format);
	status = ckpt_spans_close(
		&in->spans, in->run->header_end, in->run->size);
	in->by_offset = ckpt_sorted(&in->spans.arena, in->run->diags.n,
		findings_compare, in->run->diags.list);
	return status == CKPT_OK && in->by_offset && mark(in);
}

void
inspect_release(struct inspect *in)
{
	ckpt_spans_release(&in->spans);
	ckpt_run_free(in->run);
	inspect_bytes_release(&in->bytes);
	ckpt_buf_release(&in->out);
	in->run = NULL;
}
