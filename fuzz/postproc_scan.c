/* SPDX-License-Identifier: MIT */
/*
 * Where the fields of a file are: what a parse tells its listeners, kept in
 * the order of the file.
 */
#include "postproc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* Shape and width give the length; what does not fit, and elements that are
 * not of whole bytes, count as declared. */
static uint64_t
required(const struct ckpt_span *span)
{
	uint64_t n = span->width;

	if (n == 0)
		return span->len;
	for (uint32_t i = 0; i < span->rank; i++)
		if (!ckpt_mul_u64(n, span->dims[i], &n))
			return span->len;
	return n;
}

static enum ckpt_status
listen(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct fuzz_scan *s = (struct fuzz_scan *)sink;
	const struct ckpt_span *span = event->span;

	if (event->kind == CKPT_EV_FIELD && s->nfields < FUZZ_FIELDS)
		s->fields[s->nfields++] =
			(struct fuzz_place){ event->field->type,
				event->field->flags, event->field->want,
				event->off, event->len };
	if (event->kind == CKPT_EV_FIELD)
		s->end = event->off + event->len;
	if (event->kind == CKPT_EV_SPAN && s->ntensors < FUZZ_TENSORS)
		s->tensors[s->ntensors++] =
			(struct fuzz_tensor){ required(span), span->width,
				span->off, span->record_at, span->record_len };
	return CKPT_OK;
}

/* Records are told in the order of their payload, or of nothing. */
static int
by_record(const void *va, const void *vb)
{
	const struct fuzz_tensor *a = va, *b = vb;

	return (a->record_at > b->record_at) - (a->record_at < b->record_at);
}

/* A format with text rules whose header would begin like this. */
static const struct ckpt_format *
text_format(const uint8_t *bytes, size_t size)
{
	const struct ckpt_format *f = ckpt_format_sniff(bytes, size);

	for (size_t i = 0; !f && ckpt_format_at(i); i++) {
		const struct ckpt_text_rules *text = ckpt_format_at(i)->text;

		if (text && text->length_off + 9 < size &&
			bytes[text->length_off + 8] == '{')
			f = ckpt_format_at(i);
	}
	return f && f->text ? f : NULL;
}

const struct ckpt_text_rules *
fuzz_text_rules(const uint8_t *bytes, size_t size)
{
	const struct ckpt_format *f = text_format(bytes, size);

	return f ? f->text : NULL;
}

void
fuzz_scan(struct fuzz_scan *s, const uint8_t *bytes, size_t size)
{
	struct ckpt_options options = { .max_memory = (uint64_t)64 << 20 };
	struct ckpt_run *run = ckpt_run_new(&options);
	struct ckpt_source *source = ckpt_source_memory(bytes, size);
	const struct ckpt_format *text = text_format(bytes, size);
	char name[64];

	s->nfields = s->ntensors = 0;
	s->end = 0;
	s->complete = false;
	s->text = text ? text->text : NULL;
	s->sink = (struct ckpt_sink){ .event = listen, .wants_fields = true };
	if (run && source) {
		/* Some are known by their name alone. */
		if (text && text->suffixes[0]) {
			snprintf(
				name, sizeof name, "fuzz%s", text->suffixes[0]);
			source->name = name;
		}
		ckpt_run_listen(run, &s->sink);
		(void)ckpt_verify(run, source);
		/* Damaged heads are known by what resembles them. */
		if (!s->text && run->format)
			s->text = run->format->text;
		s->complete =
			run->diags.per_rule[CKPT_D_HEADER_TRUNCATED] == 0 &&
			s->nfields < FUZZ_FIELDS && s->ntensors > 0 &&
			s->ntensors < FUZZ_TENSORS;
	}
	if (s->ntensors > 0)
		qsort(s->tensors, s->ntensors, sizeof s->tensors[0], by_record);
	ckpt_source_close(source);
	ckpt_run_free(run);
}
