/* SPDX-License-Identifier: MIT */
/*
 * A run over the header alone: it ends with the first tensor that is told,
 * since by then the header was read.
 */
#include "view/window.h"

#include <stddef.h>
#include <stdlib.h>

enum { AROUND = 256 * 1024 };

#define OWNER(pointer, member)                                                 \
	((struct view_window *)(void *)((char *)(pointer)-offsetof(            \
		struct view_window, member)))

static ptrdiff_t
read_on(struct ckpt_source *source, void *bytes, size_t n)
{
	struct view_window *w = OWNER(source, source);
	ptrdiff_t got = w->inner->read_at(w->inner, bytes, n, w->at);

	if (got > 0)
		w->at += (uint64_t)got;
	return got;
}

static bool
go_on(void *ctx, uint64_t done, uint64_t total)
{
	struct view_window *w = ctx;

	(void)done;
	(void)total;
	return !view_job_cancelled(&w->job);
}

/* Keeps fields of the window, and ends the run behind the header. */
static enum ckpt_status
listen(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct view_window *w = OWNER(sink, spans.sink);

	if (event->kind == CKPT_EV_SPAN || event->kind == CKPT_EV_DATA)
		return CKPT_STOP;
	return ckpt_spans_keep(&w->spans, event);
}

static void
work(struct view_job *job)
{
	struct view_window *w = (struct view_window *)job;
	struct ckpt_options options = { .max_memory = w->max_memory,
		.progress = go_on,
		.progress_ctx = w };
	struct ckpt_run *run = ckpt_run_new(&options);

	if (!run)
		return;
	ckpt_run_listen(run, &w->spans.sink);
	ckpt_verify(run, &w->source);
	w->whole = !view_job_cancelled(job);
	ckpt_run_free(run);
	w->spans.format = w->format;
	w->spans.records = w->records;
	if (ckpt_spans_close(&w->spans, w->header_end, w->inner->size) !=
		CKPT_OK)
		w->whole = false;
}

struct view_window *
view_window_new(struct ckpt_source *inner, const struct ckpt_spans *index,
	uint64_t header_end, uint64_t off, uint64_t max_memory, int bell)
{
	struct view_window *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->inner = inner;
	w->source = (struct ckpt_source){
		.read = read_on, .has_size = true, .size = inner->size
	};
	w->format = index->format;
	w->records = index->records;
	w->header_end = header_end;
	w->max_memory = max_memory;
	w->from = off < AROUND ? 0 : off - AROUND;
	w->end = off < UINT64_MAX - AROUND ? off + AROUND : UINT64_MAX;
	ckpt_spans_init(&w->spans, CKPT_MAX_MEMORY, true);
	ckpt_spans_window(&w->spans, w->from, w->end);
	w->spans.sink.event = listen;
	view_job_start(&w->job, bell, work);
	return w;
}

void
view_window_free(struct view_window *window)
{
	if (!window)
		return;
	view_job_stop(&window->job);
	ckpt_spans_release(&window->spans);
	free(window);
}
