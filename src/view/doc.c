/* SPDX-License-Identifier: MIT */
/*
 * The file being looked at: what the background gave away, and bytes, owners
 * and findings by their place.
 */
#include "view/doc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/checked.h"
#include "view/verification.h"

/* Verifies in the background. What is shown now is of the run before, until
 * there is more. */
static bool
begin(struct view_doc *doc, bool whole)
{
	struct view_verification *v = view_verification_new(
		doc->source, whole, doc->max_memory, doc->bell);

	if (!v)
		return false;
	if (doc->now && !doc->now->taken) {
		view_verification_free(doc->now);
	} else {
		if (doc->now)
			view_job_stop(&doc->now->job);
		view_verification_free(doc->before);
		doc->before = doc->now;
	}
	doc->now = v;
	doc->run = NULL;
	doc->stage = doc->spans ? VIEW_VERIFYING : VIEW_READING;
	return true;
}

int
view_doc_open(
	struct view_doc *doc, const char *path, uint64_t max_memory, int bell)
{
	memset(doc, 0, sizeof *doc);
	doc->bell = bell;
	doc->max_memory = max_memory;
	doc->path = strdup(path);
	if (!doc->path)
		return -1;
	doc->source = ckpt_source_open(path);
	if (!doc->source)
		return -1;
	if (!doc->source->read_at || !doc->source->has_size) {
		errno = ESPIPE;
		return -1;
	}
	doc->size = doc->source->size;
	if (begin(doc, doc->size <= VIEW_AUTOMATIC))
		return 0;
	errno = ENOMEM;
	return -1;
}

void
view_doc_release(struct view_doc *doc)
{
	view_verification_free(doc->now);
	view_verification_free(doc->before);
	view_window_free(doc->window);
	view_window_free(doc->coming);
	free((void *)(uintptr_t)doc->findings);
	ckpt_source_close(doc->source);
	free(doc->by_offset);
	free(doc->path);
	memset(doc, 0, sizeof *doc);
}

void
view_doc_verify(struct view_doc *doc)
{
	if (doc->stage == VIEW_PAUSED || doc->stage == VIEW_VERIFIED)
		if (!begin(doc, true))
			return;
}

void
view_doc_pause(struct view_doc *doc)
{
	if (doc->now)
		atomic_store(&doc->now->job.cancel, true);
}

void
view_doc_progress(const struct view_doc *doc, uint64_t *done, uint64_t *total)
{
	*done = atomic_load(&doc->now->job.done);
	*total = atomic_load(&doc->now->job.total);
}

bool
view_finding_placed(const struct ckpt_diag *diag)
{
	return diag->path[0] || diag->off > 0 || diag->len > 0;
}

static int
by_offset(const void *a, const void *b, void *ctx)
{
	const struct ckpt_diag *list = ctx;
	const uint32_t *x = a, *y = b;
	uint64_t p = list[*x].off, q = list[*y].off;

	return p != q ? (p > q) - (p < q) : (*x > *y) - (*x < *y);
}

/* The findings that were given away, and the places among them. */
static void
take_findings(struct view_doc *doc, struct view_verification *v)
{
	free(doc->by_offset);
	doc->findings = v->list;
	doc->nfindings = v->list ? v->n : 0;
	doc->by_offset = calloc(doc->nfindings + 1, sizeof *doc->by_offset);
	if (!doc->by_offset)
		doc->nfindings = 0;
	for (size_t i = 0; i < doc->nfindings; i++)
		doc->by_offset[i] = (uint32_t)i;
	if (doc->nfindings > 0)
		qsort_r(doc->by_offset, doc->nfindings, sizeof *doc->by_offset,
			by_offset, v->list);
	doc->primary = NULL;
	for (size_t i = 0; i < doc->nfindings && !doc->primary; i++)
		if (doc->findings[i].rule->severity == CKPT_ERROR)
			doc->primary = &doc->findings[i];
}

static bool
take(struct view_doc *doc, struct view_verification *v)
{
	bool fresh;

	pthread_mutex_lock(&v->mutex);
	fresh = v->ready;
	v->ready = false;
	if (fresh) {
		v->taken = true;
		doc->format = v->format;
		doc->header_end = v->header_end;
		doc->spans = v->no_index ? NULL : &v->spans;
		take_findings(doc, v);
		/* The list is ours now; the next one is a new one. */
		v->list = NULL;
	}
	pthread_mutex_unlock(&v->mutex);
	return fresh;
}

/* The window that has off; begins to read it if there is none. */
static const struct ckpt_spans *
window_of(struct view_doc *doc, uint64_t off)
{
	if (view_window_has(doc->window, off))
		return doc->window->whole ? &doc->window->spans : NULL;
	if (!view_window_has(doc->coming, off)) {
		view_window_free(doc->coming);
		doc->coming = view_window_new(doc->source, doc->spans,
			doc->header_end, off, doc->max_memory, doc->bell);
	}
	return NULL;
}

/* Takes over the window that was read. */
static bool
take_window(struct view_doc *doc)
{
	if (!doc->coming || !view_job_take(&doc->coming->job))
		return false;
	view_window_free(doc->window);
	doc->window = doc->coming;
	doc->coming = NULL;
	return true;
}

void
view_doc_fields(struct view_doc *doc, uint64_t off)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };

	if (!doc->spans || !doc->spans->fields_cut || off >= doc->header_end)
		return;
	while (!window_of(doc, off) && doc->coming) {
		nanosleep(&pause, NULL);
		take_window(doc);
	}
}

bool
view_doc_poll(struct view_doc *doc)
{
	const struct ckpt_diag *old = doc->findings;
	const char *changed = NULL, *said = doc->changed;
	struct view_verification *v = doc->now;
	bool ended = v && view_job_take(&v->job);
	bool fresh = v && take(doc, v);
	bool fields = take_window(doc);

	if (fresh) {
		free((void *)(uintptr_t)old);
		view_verification_free(doc->before);
		doc->before = NULL;
		if (doc->stage == VIEW_READING)
			doc->stage = VIEW_VERIFYING;
	}
	if (ended) {
		doc->stage = v->stopped ? VIEW_PAUSED : VIEW_VERIFIED;
		doc->verdict = v->verdict;
		doc->run = v->run;
	}
	if (doc->source->unchanged &&
		doc->source->unchanged(doc->source, &changed) != CKPT_OK)
		doc->changed = changed ? changed : "it cannot be read any more";
	return fresh || ended || fields || doc->changed != said;
}

bool
view_doc_busy(const struct view_doc *doc)
{
	return (doc->now && view_job_running(&doc->now->job)) || doc->coming;
}

void
view_doc_settle(struct view_doc *doc)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };

	while (view_doc_busy(doc)) {
		view_doc_poll(doc);
		nanosleep(&pause, NULL);
	}
	view_doc_poll(doc);
}

size_t
view_doc_read(const struct view_doc *doc, uint64_t off, void *bytes, size_t n)
{
	uint8_t *to = bytes;
	size_t got = 0;

	while (got < n) {
		uint64_t at;
		ptrdiff_t k;

		if (!ckpt_add_u64(off, got, &at))
			break;
		k = doc->source->read_at(doc->source, to + got, n - got, at);
		if (k <= 0)
			break;
		got += (size_t)k;
	}
	return got;
}

/* ---- Owners ------------------------------------------------------------- */

bool
view_doc_owner(struct view_doc *doc, uint64_t off, struct view_owner *owner)
{
	const struct ckpt_spans *spans = doc->spans;
	const struct ckpt_owner *o;

	*owner = (struct view_owner){ .kind = CKPT_OWNER_NONE,
		.end = doc->size };
	owner->owner = (struct ckpt_owner){ .kind = CKPT_OWNER_NONE,
		.end = doc->size };
	if (off >= doc->size)
		return false;
	if (!spans)
		return true;
	o = ckpt_spans_at(spans, off);
	if (o && o->kind == CKPT_OWNER_HEADER && spans->fields_cut) {
		const struct ckpt_spans *window = window_of(doc, off);

		spans = window ? window : spans;
		o = ckpt_spans_at(spans, off);
	}
	if (!o)
		return false;
	*owner = (struct view_owner){ .kind = o->kind,
		.off = o->off,
		.end = o->end,
		.owner = *o,
		.spans = spans };
	if (o->kind == CKPT_OWNER_FIELD)
		owner->field = &spans->fields[o->index];
	else if (o->kind == CKPT_OWNER_TENSOR)
		owner->span = &spans->tensors[o->index];
	return true;
}

const struct ckpt_span *
view_doc_tensor(struct view_doc *doc, uint64_t off)
{
	const struct ckpt_spans *spans = doc->spans;
	const struct ckpt_owner *o = spans ? ckpt_spans_at(spans, off) : NULL;
	uint64_t low = 0, high;

	if (!o)
		return NULL;
	if (o->kind == CKPT_OWNER_TENSOR)
		return &spans->tensors[o->index];
	if (off >= doc->header_end)
		return NULL;
	/* Records stand in the header in their order. */
	for (high = spans->ntensors; low < high;) {
		uint64_t mid = low + (high - low) / 2;
		const struct ckpt_span *s = &spans->tensors[mid];

		if (s->record_at <= off && off - s->record_at < s->record_len)
			return s;
		if (s->record_at < off)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* ---- Findings ----------------------------------------------------------- */

/* The first place in by_offset whose finding is not before off. */
static size_t
first_not_before(const struct view_doc *doc, uint64_t off)
{
	size_t low = 0, high = doc->nfindings;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (doc->findings[doc->by_offset[mid]].off < off)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct ckpt_diag *
view_doc_finding_in(const struct view_doc *doc, uint64_t off, uint64_t len)
{
	for (size_t i = first_not_before(doc, off); i < doc->nfindings; i++) {
		const struct ckpt_diag *d = &doc->findings[doc->by_offset[i]];

		if (d->off - off >= len)
			return NULL;
		if (view_finding_placed(d))
			return d;
	}
	return NULL;
}

const struct ckpt_diag *
view_doc_finding_after(const struct view_doc *doc, uint64_t off)
{
	return off == UINT64_MAX
		       ? NULL
		       : view_doc_finding_in(doc, off + 1, UINT64_MAX - off);
}

const struct ckpt_diag *
view_doc_finding_before(const struct view_doc *doc, uint64_t off)
{
	for (size_t i = first_not_before(doc, off); i > 0; i--) {
		const struct ckpt_diag *d =
			&doc->findings[doc->by_offset[i - 1]];

		if (view_finding_placed(d))
			return d;
	}
	return NULL;
}
