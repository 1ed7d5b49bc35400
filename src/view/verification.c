/* SPDX-License-Identifier: MIT */
/*
 * The run in the background. A file that is not to be verified whole ends
 * with the first payload bytes; so does one whose job is cancelled.
 */
#include "view/verification.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/checked.h"
#include "replay/known_job.h"
#include "sink/words.h"

enum {
	FIELDS_KEPT = 65536,
	/* Bytes behind the header after which it is surely known. */
	PAYLOAD_SEEN = 1024 * 1024,
};

/* ---- The thread that verifies ------------------------------------------- */

static ptrdiff_t
source_read(struct ckpt_source *source, void *bytes, size_t n)
{
	struct view_verification *v = (struct view_verification *)(void
			*)((char *)source -
			   offsetof(struct view_verification, source));
	ptrdiff_t got = v->inner->read_at(v->inner, bytes, n, v->at);

	if (got > 0)
		v->at += (uint64_t)got;
	return got;
}

static enum ckpt_status
source_unchanged(struct ckpt_source *source, const char **what)
{
	struct view_verification *v = (struct view_verification *)(void
			*)((char *)source -
			   offsetof(struct view_verification, source));

	return v->inner->unchanged(v->inner, what);
}

/* Our own stop is no finding about the file. */
static bool
is_stop(const struct view_verification *v, const struct ckpt_diag *diag)
{
	return v->stopped && ckpt_rule_code(diag->rule) == CKPT_D_CANCELLED;
}

/* The findings so far, for the thread that draws. */
static void
give_findings(struct view_verification *v)
{
	const struct ckpt_diags *diags = &v->run->diags;
	struct ckpt_diag *copy = calloc((size_t)diags->n + 1, sizeof *copy);
	size_t n = 0;

	for (uint64_t i = 0; copy && i < diags->n; i++)
		if (!is_stop(v, &diags->list[i]))
			copy[n++] = diags->list[i];
	pthread_mutex_lock(&v->mutex);
	free(v->list);
	v->list = copy;
	v->n = n;
	v->ready = true;
	v->format = v->run->format;
	v->header_end = v->run->header_end;
	pthread_mutex_unlock(&v->mutex);
	view_job_wake(&v->job);
}

/* The header was read: the index is complete. */
static void
give_index(struct view_verification *v)
{
	if (v->indexed)
		return;
	v->indexed = true;
	v->spans.format = v->run->format;
	v->spans.records = ckpt_records_name(v->run->format);
	if (ckpt_spans_close(&v->spans, v->run->header_end, v->inner->size) !=
		CKPT_OK)
		v->no_index = true;
	give_findings(v);
}

static enum ckpt_status
stop_event(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct view_verification *v = (struct view_verification *)(void
			*)((char *)sink -
			   offsetof(struct view_verification, stop));

	if (event->kind != CKPT_EV_DATA)
		return CKPT_OK;
	give_index(v);
	if (v->whole && !view_job_cancelled(&v->job))
		return CKPT_OK;
	v->stopped = true;
	return CKPT_STOP;
}

static bool
go_on(void *ctx, uint64_t done, uint64_t total)
{
	struct view_verification *v = ctx;
	uint64_t seen;
	bool in_payload =
		v->run->header_end > 0 &&
		ckpt_add_u64(v->run->header_end, PAYLOAD_SEEN, &seen) &&
		done >= seen;

	atomic_store(&v->job.done, done);
	atomic_store(&v->job.total, total);
	/* Payload that no tensor claims gives no events. */
	if (in_payload)
		give_index(v);
	if (!view_job_cancelled(&v->job) && (v->whole || !in_payload))
		return true;
	v->stopped = true;
	return false;
}

static void
verify(struct view_job *job)
{
	struct view_verification *v = (struct view_verification *)job;
	struct ckpt_sink *sinks[] = { &v->stop, &v->spans.sink };

	for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++)
		ckpt_run_listen(v->run, sinks[i]);
	v->verdict = ckpt_verify(v->run, &v->source);
	ckpt_run_name_documents(v->run);
	give_index(v);
	give_findings(v);
}

/* ---- The thread that draws ---------------------------------------------- */

struct view_verification *
view_verification_new(
	struct ckpt_source *inner, bool whole, uint64_t max_memory, int bell)
{
	struct view_verification *v = calloc(1, sizeof *v);
	struct ckpt_options options = {
		.max_memory = max_memory, .progress = go_on, .progress_ctx = v
	};

	if (!v)
		return NULL;
	v->run = ckpt_run_new(&options);
	if (!v->run) {
		free(v);
		return NULL;
	}
	pthread_mutex_init(&v->mutex, NULL);
	v->inner = inner;
	v->source = (struct ckpt_source){ .read = source_read,
		.unchanged = inner->unchanged ? source_unchanged : NULL,
		.has_size = true,
		.size = inner->size };
	v->whole = whole;
	v->stop.event = stop_event;
	ckpt_spans_init(
		&v->spans, max_memory ? max_memory : CKPT_MAX_MEMORY, true);
	v->spans.fields_most = FIELDS_KEPT;
	view_job_start(&v->job, bell, verify);
	return v;
}

void
view_verification_free(struct view_verification *v)
{
	if (!v)
		return;
	view_job_stop(&v->job);
	ckpt_spans_release(&v->spans);
	ckpt_run_free(v->run);
	free(v->list);
	pthread_mutex_destroy(&v->mutex);
	free(v);
}
