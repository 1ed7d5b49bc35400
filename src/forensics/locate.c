/* SPDX-License-Identifier: MIT */
/*
 * From a checksum that does not hold to proposals. The search of search.c says
 * which bytes would explain it; here each explanation is tried: the file is
 * verified as it would be with them, from its first byte to its last, which
 * also tells whose bytes they are even where the damage hid that. Nothing is
 * written.
 */
#include "forensics/locate.h"

#include <errno.h>
#include <string.h>

#include "base/try.h"
#include "forensics/search.h"
#include "format/format.h"
#include "io/source_patch.h"
#include "io/source_read.h"

/* ---- One explanation ---------------------------------------------------- */

static enum ckpt_status
look(struct ckpt_locate_case *c, struct ckpt_source *damaged,
	struct ckpt_source *patched, uint64_t off)
{
	struct ckpt_locate_place *place = &c->places[c->nplaces];
	struct ckpt_spot *spot = &place->spot;

	/* Behind the end there is nothing, not even an owner. */
	if (!ckpt_spot_at(spot, &c->spans, off))
		return CKPT_OK;
	place->off = off;
	place->n = spot->len < sizeof place->found ? (size_t)spot->len
						   : sizeof place->found;
	CKPT_TRY(ckpt_source_read_all(
		damaged, spot->off, place->found, place->n));
	CKPT_TRY(ckpt_source_read_all(
		patched, spot->off, place->original, place->n));
	c->nplaces++;
	return CKPT_OK;
}

static enum ckpt_status
look_all(struct ckpt_locate_case *c, struct ckpt_source *damaged,
	struct ckpt_source *patched)
{
	const struct ckpt_damage *d = &c->damage;
	uint64_t last = d->off + d->len - 1;
	const struct ckpt_spot *first = &c->places[0].spot;

	CKPT_TRY(look(c, damaged, patched, d->off));
	if (c->nplaces == 1 && last - first->off >= first->len)
		CKPT_TRY(look(c, damaged, patched, last));
	return CKPT_OK;
}

static enum ckpt_status
judge(struct ckpt_locate_case *c, const struct ckpt_run *run)
{
	const struct ckpt_diag *primary = ckpt_run_primary(run);

	c->primary = primary ? primary->rule : NULL;
	c->more = run->diags.errors > 0 ? run->diags.errors - 1 : 0;
	return c->primary == ckpt_rule_row(CKPT_D_CANCELLED) ? CKPT_STOP
							     : CKPT_OK;
}

/* Verifies the file with the original bytes in place. */
static enum ckpt_status
check(struct ckpt_locate_case *c, const struct ckpt_locate_task *task)
{
	const struct ckpt_damage *d = &c->damage;
	struct ckpt_source *patched =
		ckpt_source_patched(task->source, d->off, d->original, d->len);
	struct ckpt_run *run = ckpt_run_new(task->options);
	enum ckpt_status status = CKPT_ENOMEM;
	int error;
	uint64_t budget = task->options && task->options->max_memory
				  ? task->options->max_memory
				  : CKPT_MAX_MEMORY;

	ckpt_spans_init(&c->spans, budget, true);
	ckpt_spans_window(&c->spans, d->off, d->off + d->len);
	if (patched && run) {
		ckpt_run_listen(run, &c->spans.sink);
		c->damage.verdict = ckpt_verify(run, patched);
		c->spans.format = run->format;
		c->spans.records = ckpt_records_name(run->format);
		status = judge(c, run);
	}
	if (status == CKPT_OK)
		status =
			ckpt_spans_close(&c->spans, run->header_end, run->size);
	if (status == CKPT_OK)
		status = look_all(c, task->source, patched);
	error = errno;
	ckpt_run_free(run);
	ckpt_source_close(patched);
	errno = error; /* of the read that failed, for the caller */
	return status;
}

/* ---- The file ----------------------------------------------------------- */

static const struct ckpt_format *
guess(struct ckpt_source *source)
{
	uint8_t head[CKPT_SNIFF];
	size_t n =
		source->size < sizeof head ? (size_t)source->size : sizeof head;

	if (ckpt_source_read_all(source, 0, head, n) != CKPT_OK)
		return NULL;
	return ckpt_format_guess(head, n, source->name);
}

/* By the extents that the file declares, if they were understood. */
static void
compare_length(struct ckpt_located *l, const struct ckpt_run *run)
{
	l->resized = run && run->decoded && run->header_end > 0 &&
		     ckpt_format_declared_end(
			     l->format, run->decoded, &l->declared) &&
		     l->declared != l->length;
}

static enum ckpt_status
search(struct ckpt_located *l, const struct ckpt_locate_task *task)
{
	struct ckpt_source *source = task->source;
	struct ckpt_damage_search s = { .source = source };

	if (!source->read_at || !source->has_size)
		return CKPT_EUNSUPPORTED;
	l->length = s.length = source->size;
	l->format = task->run && task->run->format ? task->run->format
						   : guess(source);
	if (!l->format || !ckpt_format_checksum(l->format, &s.field))
		return CKPT_EUNSUPPORTED;
	compare_length(l, task->run);
	if (task->options) {
		s.progress = task->options->progress;
		s.progress_ctx = task->options->progress_ctx;
	}
	return ckpt_search_damage(&s, &l->location);
}

static enum ckpt_locate_outcome
outcome_of(const struct ckpt_located *l)
{
	if (l->status != CKPT_OK)
		return CKPT_LOCATE_IMPOSSIBLE;
	if (l->location.stored == l->location.computed)
		return CKPT_LOCATE_HOLDS;
	if (l->location.count == 0)
		return CKPT_LOCATE_NOTHING;
	return l->location.count == 1 ? CKPT_LOCATE_FOUND
				      : CKPT_LOCATE_AMBIGUOUS;
}

void
ckpt_located_init(struct ckpt_located *l, const struct ckpt_locate_task *task)
{
	memset(l, 0, sizeof *l);
	l->status = search(l, task);
	if (l->status == CKPT_EIO)
		l->error = errno;
	for (size_t i = 0; i < l->location.n; i++) {
		struct ckpt_locate_case *c = &l->cases[i];

		c->damage = l->location.damages[i];
		if (l->status != CKPT_OK)
			continue;
		l->status = check(c, task);
		if (l->status == CKPT_EIO)
			l->error = errno;
		l->location.damages[i].verdict = c->damage.verdict;
	}
	l->outcome = outcome_of(l);
}

void
ckpt_located_release(struct ckpt_located *l)
{
	for (size_t i = 0; i < l->location.n; i++)
		ckpt_spans_release(&l->cases[i].spans);
	memset(l, 0, sizeof *l);
}

enum ckpt_status
ckpt_locate(struct ckpt_source *source, const struct ckpt_options *options,
	struct ckpt_location *location)
{
	const struct ckpt_locate_task task = { .source = source,
		.options = options };
	struct ckpt_located located;
	enum ckpt_status status;

	ckpt_located_init(&located, &task);
	*location = located.location;
	status = located.status;
	if (located.status == CKPT_EIO)
		errno = located.error;
	ckpt_located_release(&located);
	return status;
}
