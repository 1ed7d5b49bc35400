/* SPDX-License-Identifier: MIT */
/*
 * The digests of a file. Records come one after the other, so one hash at a
 * time is open; the file's own hash is fed by the reader, which alone sees
 * every byte. Invariant: a record has a digest if and only if as many bytes
 * came as its descriptor declares.
 */
#include "sink/digest.h"

#include <inttypes.h>
#include <string.h>

#include "sink/words.h"

static void
close_record(struct ckpt_digest *d)
{
	struct ckpt_record_digest *r = d->open;
	char text[CKPT_SHA256_TEXT];

	if (!r)
		return;
	d->open = NULL;
	if (ckpt_sha256_end(&d->part, text) && r->seen == r->len)
		memcpy(r->sha256, text, sizeof text);
}

static void
open_record(struct ckpt_digest *d, struct ckpt_record_digest *r)
{
	close_record(d);
	ckpt_sha256_begin(&d->part);
	d->open = r;
	if (r->seen == r->len)
		close_record(d);
}

static enum ckpt_status
keep(struct ckpt_digest *d, const struct ckpt_span *span)
{
	struct ckpt_record_digest *grown, *r;
	size_t label = strlen(span->label);
	char *name = ckpt_arena_bytes(&d->arena, label + span->name_len + 1);

	grown = ckpt_arena_push(
		&d->arena, d->records, d->nrecords, sizeof *grown);
	if (!name || !grown)
		return ckpt_arena_status(&d->arena);
	memcpy(name, span->label, label);
	if (span->name_len > 0)
		memcpy(name + label, span->name, span->name_len);
	d->records = grown;
	r = &grown[d->nrecords++];
	*r = (struct ckpt_record_digest){ .index = span->index,
		.name = name,
		.name_len = label + span->name_len,
		.len = span->len };
	if (r->len == 0)
		open_record(d, r); /* no bytes of it will come */
	return CKPT_OK;
}

/* Records are told in ascending order, though not every number is. */
static struct ckpt_record_digest *
find(const struct ckpt_digest *d, uint64_t index)
{
	uint64_t low = 0, high = d->nrecords;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (d->records[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low < d->nrecords && d->records[low].index == index
		       ? &d->records[low]
		       : NULL;
}

static void
add(struct ckpt_digest *d, const struct ckpt_event *event)
{
	struct ckpt_record_digest *r = d->open;

	if (!r || r->index != event->index) {
		r = find(d, event->index);
		if (!r || r->seen > 0)
			return;
		open_record(d, r);
	}
	ckpt_sha256_add(&d->part, event->data, (size_t)event->len);
	r->seen += event->len;
	if (r->seen == r->len)
		close_record(d);
}

static enum ckpt_status
on_event(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct ckpt_digest *d = (struct ckpt_digest *)sink;

	switch (event->kind) {
	case CKPT_EV_SPAN: return keep(d, event->span);
	case CKPT_EV_DATA: add(d, event); break;
	case CKPT_EV_BEGIN:
	case CKPT_EV_FIELD:
	case CKPT_EV_END: break;
	}
	return CKPT_OK;
}

void
ckpt_digest_init(struct ckpt_digest *d, struct ckpt_run *run, uint64_t budget)
{
	memset(d, 0, sizeof *d);
	d->sink.event = on_event;
	d->run = run;
	ckpt_arena_init(&d->arena, budget);
	ckpt_sha256_begin(&d->whole);
	run->whole = &d->whole;
	run->not_whole = "it could not be opened";
	ckpt_run_listen(run, &d->sink);
}

void
ckpt_digest_close(struct ckpt_digest *d)
{
	close_record(d);
	d->run->whole = NULL;
	if (!ckpt_sha256_end(&d->whole, d->sha256))
		d->missing = "memory ran out";
	if (d->run->not_whole) {
		d->missing = d->run->not_whole;
		d->sha256[0] = '\0';
	}
}

void
ckpt_digest_release(struct ckpt_digest *d)
{
	char text[CKPT_SHA256_TEXT];

	if (d->open)
		(void)ckpt_sha256_end(&d->part, text);
	if (d->whole.state)
		(void)ckpt_sha256_end(&d->whole, text);
	ckpt_arena_release(&d->arena);
}

void
ckpt_digest_path_write(struct ckpt_buf *buf, const struct ckpt_digest *d,
	const struct ckpt_record_digest *record)
{
	ckpt_buf_printf(buf, "%s[%" PRIu64 "]",
		ckpt_records_name(d->run->format), record->index);
}
