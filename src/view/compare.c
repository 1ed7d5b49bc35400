/* SPDX-License-Identifier: MIT */
/*
 * The second file: opening it, and what is known of records and bytes so far.
 * Only the thread that draws calls this; the job writes the result of a pair
 * before it says that there is one.
 */
#include "view/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

struct view_compare *
view_compare_new(const char *path, uint64_t max_memory, int bell)
{
	struct view_compare *c = calloc(1, sizeof *c);
	int error;

	if (!c) {
		errno = ENOMEM;
		return NULL;
	}
	if (view_doc_open(&c->other, path, max_memory, bell) == 0)
		return c;
	error = errno;
	view_doc_release(&c->other);
	free(c);
	errno = error;
	return NULL;
}

void
view_compare_with(struct view *view, struct view_compare *c)
{
	c->source[0] = view->doc->source;
	c->source[1] = c->other.source;
	c->size[0] = view->doc->size;
	c->size[1] = c->other.size;
	/* The page must not take one file's records for another's. */
	if (view->compare)
		c->matchings = view->compare->matchings + 1;
	view_compare_free(view->compare);
	view->compare = c;
}

int
view_compare_open(struct view *view, const char *path)
{
	struct view_compare *c =
		view_compare_new(path, view->doc->max_memory, view->bell);

	if (!c)
		return -1;
	view_compare_with(view, c);
	return 0;
}

void
view_compare_free(struct view_compare *c)
{
	if (!c)
		return;
	view_compare_forget(c);
	view_doc_release(&c->other);
	free(c);
}

void
view_compare_start(struct view *view)
{
	struct view_compare *c = view->compare;

	if (!c || view_job_running(&c->job) || c->npairs == 0)
		return;
	c->begun = true;
	view_job_start(&c->job, view->bell, view_compare_work);
}

const char *
view_sameness_name(enum view_sameness sameness)
{
	switch (sameness) {
	case VIEW_NOT_COMPARED: return "not compared";
	case VIEW_SAME: return "same";
	case VIEW_DIFFERENT: return "different";
	case VIEW_SHAPE: return "other shape";
	case VIEW_UNREADABLE: return "unreadable";
	case VIEW_ABSENT: return "only in A";
	}
	return "";
}

enum view_sameness
view_compare_record(
	const struct view *view, uint64_t record, struct view_difference *d)
{
	const struct view_compare *c = view->compare;
	struct view_pair *p;

	*d = (struct view_difference){ .other = VIEW_NO_MATCH };
	if (!c || record >= c->npairs)
		return VIEW_NOT_COMPARED;
	p = &c->pairs[record];
	d->sameness = (enum view_sameness)atomic_load(&p->sameness);
	d->width = p->width;
	d->other = p->other;
	d->n = p->len / p->width;
	d->off[0] = p->off[0];
	d->off[1] = p->off[1];
	if (d->sameness != VIEW_DIFFERENT)
		return d->sameness;
	d->differing = p->differing;
	d->first = p->first;
	/* Fit: the bytes there were read. */
	for (int i = 0; i < 2; i++) {
		d->bits[i] = p->bits[i];
		d->off[i] += d->first * p->width;
	}
	return d->sameness;
}

/* ---- Bytes -------------------------------------------------------------- */

/* Place of off in a piece that begins at from[0] and from[1], len long. */
static bool
place_in(const struct view_compare *c, const uint64_t from[2], uint64_t len,
	uint64_t off, uint64_t *other, uint64_t *end)
{
	uint64_t at = off - from[0], stop;

	if (off < from[0] || at >= len)
		return false;
	if (!ckpt_add_u64(from[1], at, other) || *other >= c->size[1])
		return false;
	/* The piece may end before what owns the byte does. */
	if (ckpt_add_u64(from[0], len, &stop) && stop < *end)
		*end = stop;
	return true;
}

static bool
place_of_field(struct view *view, const struct view_owner *owner, uint64_t off,
	uint64_t *other, uint64_t *end)
{
	struct view_compare *c = view->compare;
	const struct ckpt_spans *b = c->other.spans;
	uint64_t i = owner->owner.index, from[2], len;
	const struct ckpt_span_field *f;

	/* Fields that the index could not keep were not matched. */
	if (owner->spans != view->doc->spans || i >= c->nfields || !b ||
		c->fields[i] >= b->nfields)
		return false;
	f = &b->fields[c->fields[i]];
	from[0] = owner->field->off;
	from[1] = f->off;
	len = owner->field->len < f->len ? owner->field->len : f->len;
	return place_in(c, from, len, off, other, end);
}

bool
view_compare_place(
	struct view *view, uint64_t off, uint64_t *other, uint64_t *end)
{
	struct view_compare *c = view->compare;
	struct view_pair *p;
	struct view_owner owner;
	uint64_t from[2] = { 0 };
	uint64_t record;

	*end = view->doc->size;
	if (!c || !view->doc->spans || off >= view->doc->size)
		return false;
	if (c->plain)
		return place_in(c, from, c->size[1], off, other, end);
	if (!view_doc_owner(view->doc, off, &owner))
		return false;
	*end = owner.end;
	if (owner.kind == CKPT_OWNER_FIELD)
		return place_of_field(view, &owner, off, other, end);
	if (owner.kind != CKPT_OWNER_TENSOR)
		return false;
	record = owner.owner.index;
	if (record >= c->npairs || c->pairs[record].other == VIEW_NO_MATCH)
		return false;
	p = &c->pairs[record];
	return place_in(c, p->off, p->len, off, other, end);
}

/* n bytes of both at their places. */
static void
compare_piece(struct view *view, uint64_t off, uint64_t other, size_t n,
	uint8_t *differs)
{
	uint8_t a[256], b[256];

	while (n > 0) {
		size_t want = n < sizeof a ? n : sizeof a;
		size_t x = view_doc_read(view->doc, off, a, want);
		size_t y = view_doc_read(&view->compare->other, other, b, want);

		for (size_t i = 0; i < want; i++)
			differs[i] = i >= x || i >= y ? 2 : a[i] != b[i];
		off += want;
		other += want;
		differs += want;
		n -= want;
	}
}

bool
view_compare_bytes(struct view *view, uint64_t off, size_t n, uint8_t *differs)
{
	struct view_compare *c = view->compare;

	memset(differs, 2, n);
	if (!c || !c->matched[0].there || !c->matched[1].there || c->no_memory)
		return false;
	while (n > 0 && off < view->doc->size) {
		uint64_t other, end;
		bool there = view_compare_place(view, off, &other, &end);
		size_t k = end - off < n ? (size_t)(end - off) : n;

		if (k == 0)
			break;
		if (there)
			compare_piece(view, off, other, k, differs);
		off += k;
		differs += k;
		n -= k;
	}
	return true;
}
