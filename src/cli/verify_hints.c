/* SPDX-License-Identifier: MIT */
/*
 * --what-happened: keeps who owns which bytes while a file is verified, and
 * asks the classifier afterwards. Whatever fails here fails alone: no verdict
 * and no exit status may depend on a hint, so want of memory, too, only means
 * that nothing can be said.
 */
#include "cli/verify.h"

#include <stdlib.h>
#include <string.h>

#include "forensics/classify.h"
#include "sink/words.h"

struct ckpt_verify_witness {
	struct ckpt_sink sink;
	struct ckpt_spans spans;
	bool lost; /* records that could not be kept */
	struct ckpt_hints causes;
};

static enum ckpt_status
listen(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct ckpt_verify_witness *w = (struct ckpt_verify_witness *)sink;

	if (!w->lost)
		w->lost = ckpt_spans_keep(&w->spans, event) != CKPT_OK;
	return CKPT_OK;
}

struct ckpt_verify_witness *
ckpt_verify_witness_new(struct ckpt_run *run)
{
	struct ckpt_verify_witness *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	ckpt_spans_init(&w->spans, run->options.max_memory, false);
	w->sink.event = listen;
	ckpt_run_listen(run, &w->sink);
	return w;
}

static const char *
limit_of(enum ckpt_status status)
{
	switch (status) {
	case CKPT_EIO: return "it could not be read again";
	case CKPT_STOP: return "cancelled";
	case CKPT_ENOMEM:
	case CKPT_ELIMIT: return "that needs more memory";
	case CKPT_OK:
	case CKPT_REJECTED:
	case CKPT_EUNSUPPORTED:
	case CKPT_EDESTINATION:
	case CKPT_ENOATOMIC:
	case CKPT_ENOTSYNCED: break;
	}
	return NULL;
}

bool
ckpt_verify_witness_ask(struct ckpt_verify_witness *w,
	const struct ckpt_run *run, struct ckpt_source *source)
{
	enum ckpt_status status = CKPT_OK;

	if (!source) {
		w->causes.limit = "it could not be opened";
	} else if (w->lost) {
		w->causes.limit = limit_of(CKPT_ENOMEM);
	} else {
		w->spans.format = run->format;
		w->spans.records = ckpt_records_name(run->format);
		status = ckpt_classify(&w->causes, run, &w->spans, source);
	}
	if (status != CKPT_OK)
		w->causes.limit = limit_of(status);
	return status != CKPT_STOP;
}

const struct ckpt_hints *
ckpt_verify_witness_hints(const struct ckpt_verify_witness *w)
{
	static const struct ckpt_hints lost = {
		.limit = "that needs more memory"
	};

	return w ? &w->causes : &lost;
}

void
ckpt_verify_witness_free(struct ckpt_verify_witness *w)
{
	if (!w)
		return;
	ckpt_hints_release(&w->causes);
	ckpt_spans_release(&w->spans);
	free(w);
}
