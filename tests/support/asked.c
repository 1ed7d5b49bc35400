/* SPDX-License-Identifier: MIT */
/*
 * Running a verification over bytes in memory and asking what may have
 * happened to them. Whatever is said has to be well-formed.
 */
#include "support/asked.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sink/words.h"

static void
check(const struct asked *a)
{
	for (uint64_t i = 0; i < a->hints.n; i++) {
		const struct ckpt_hint *h = &a->hints.list[i];

		assert(h->slug && h->title && h->reason && h->path);
		assert(h->nevidence > 0 && h->evidence[0][0]);
		assert(i == 0 ||
			a->hints.list[i - 1].likelihood <= h->likelihood);
	}
}

void
asked_source(struct asked *a, struct ckpt_source *source,
	const struct ckpt_options *options)
{
	memset(a, 0, sizeof *a);
	a->run = ckpt_run_new(options);
	assert(a->run && source);
	ckpt_spans_init(&a->spans, CKPT_MAX_MEMORY, false);
	ckpt_run_listen(a->run, &a->spans.sink);
	a->verdict = ckpt_verify(a->run, source);
	a->spans.format = a->run->format;
	a->spans.records = ckpt_records_name(a->run->format);
	a->status = ckpt_classify(&a->hints, a->run, &a->spans, source);
	check(a);
	ckpt_source_close(source);
}

void
asked_bytes(struct asked *a, const void *p, size_t n, const char *name)
{
	uint8_t *alone = malloc(n ? n : 1);
	struct ckpt_source *source;

	assert(alone);
	if (n)
		memcpy(alone, p, n);
	source = ckpt_source_memory(alone, n);
	assert(source);
	source->name = name;
	asked_source(a, source, NULL);
	assert(a->status == CKPT_OK);
	free(alone);
}

void
asked_release(struct asked *a)
{
	ckpt_hints_release(&a->hints);
	ckpt_spans_release(&a->spans);
	ckpt_run_free(a->run);
}

const char *
asked_top(const struct asked *a)
{
	return a->hints.n > 0 ? a->hints.list[0].slug : "";
}

const struct ckpt_hint *
asked_find(const struct asked *a, const char *slug)
{
	for (uint64_t i = 0; i < a->hints.n; i++)
		if (strcmp(a->hints.list[i].slug, slug) == 0)
			return &a->hints.list[i];
	return NULL;
}

size_t
asked_count(const struct asked *a, enum ckpt_likelihood likelihood)
{
	size_t n = 0;

	for (uint64_t i = 0; i < a->hints.n; i++)
		n += a->hints.list[i].likelihood <= likelihood;
	return n;
}
