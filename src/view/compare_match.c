/* SPDX-License-Identifier: MIT */
/*
 * Which record and which field of one file is which of the other. Files of one
 * model have theirs in the same order, which is tried first; else both are
 * sorted. Fields of the records are matched for the bytes on the screen, but a
 * difference of theirs is told as one of the record.
 */
#include "view/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

static int
compare_spans(const struct ckpt_span *a, const struct ckpt_span *b)
{
	int by_role = strcmp(a->role, b->role);

	return by_role ? by_role
		       : ckpt_bytes_compare(
				 a->name, a->name_len, b->name, b->name_len);
}

static int
by_name(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_spans *s = ctx;

	return compare_spans(&s->tensors[a], &s->tensors[b]);
}

static int
by_path(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_spans *s = ctx;

	return strcmp(s->fields[a].path, s->fields[b].path);
}

/* The two kinds of things that are matched. */
struct kind {
	uint64_t (*count)(const struct ckpt_spans *spans);
	int (*order)(const void *spans, uint32_t a, uint32_t b);
	int (*between)(const struct ckpt_spans *a, uint32_t i,
		const struct ckpt_spans *b, uint32_t k);
};

static uint64_t
count_tensors(const struct ckpt_spans *spans)
{
	return spans->ntensors;
}

static uint64_t
count_fields(const struct ckpt_spans *spans)
{
	return spans->nfields;
}

static int
between_tensors(const struct ckpt_spans *a, uint32_t i,
	const struct ckpt_spans *b, uint32_t k)
{
	return compare_spans(&a->tensors[i], &b->tensors[k]);
}

static int
between_fields(const struct ckpt_spans *a, uint32_t i,
	const struct ckpt_spans *b, uint32_t k)
{
	return strcmp(a->fields[i].path, b->fields[k].path);
}

static const struct kind tensors = { count_tensors, by_name, between_tensors };
static const struct kind fields = { count_fields, by_path, between_fields };

/* to[i] becomes the number in b of number i of a. */
static bool
match(const struct kind *kind, const struct ckpt_spans *a,
	const struct ckpt_spans *b, uint32_t *to)
{
	uint64_t na = kind->count(a), nb = kind->count(b), i = 0, k = 0;
	struct ckpt_arena arena;
	uint32_t *x, *y;

	while (i < na && i < nb &&
		kind->between(a, (uint32_t)i, b, (uint32_t)i) == 0) {
		to[i] = (uint32_t)i;
		i++;
	}
	if (i == na)
		return true;
	ckpt_arena_init(&arena, UINT64_MAX);
	x = ckpt_sorted(&arena, na, kind->order, a);
	y = ckpt_sorted(&arena, nb, kind->order, b);
	for (i = 0; x && y && i < na;) {
		int order = k < nb ? kind->between(a, x[i], b, y[k]) : -1;

		if (order <= 0)
			to[x[i++]] = order == 0 ? y[k] : VIEW_NO_MATCH;
		if (order >= 0)
			k++;
	}
	ckpt_arena_release(&arena);
	return x && y;
}

/* What of b nothing in a is matched with, in the order of b. */
static bool
left_over(const uint32_t *to, uint64_t na, uint64_t nb, uint32_t **list,
	uint64_t *n)
{
	bool *taken = calloc(nb + 1, sizeof *taken);

	*n = 0;
	*list = calloc(nb + 1, sizeof **list);
	if (taken && *list) {
		for (uint64_t i = 0; i < na; i++)
			if (to[i] != VIEW_NO_MATCH)
				taken[to[i]] = true;
		for (uint64_t k = 0; k < nb; k++)
			if (!taken[k])
				(*list)[(*n)++] = (uint32_t)k;
	}
	free(taken);
	return taken && *list;
}

/* ---- Records ------------------------------------------------------------ */

static bool
same_shape(const struct ckpt_span *a, const struct ckpt_span *b)
{
	return a->len == b->len && a->width == b->width &&
	       strcmp(a->dtype, b->dtype) == 0 && a->rank == b->rank &&
	       (a->rank == 0 || memcmp(a->dims, b->dims,
					a->rank * sizeof *a->dims) == 0);
}

static void
fill_pair(struct view_pair *p, const struct ckpt_span *a,
	const struct ckpt_span *b, uint32_t other)
{
	enum view_sameness s = VIEW_NOT_COMPARED;

	p->other = other;
	p->off[0] = a->off;
	p->len = a->len;
	/* Elements of no known width are compared as bytes. */
	p->width =
		a->width == 2 || a->width == 4 || a->width == 8 ? a->width : 1;
	if (!b) {
		s = VIEW_ABSENT;
	} else {
		p->off[1] = b->off;
		if (!same_shape(a, b))
			s = VIEW_SHAPE;
		/* As far as both go, for bytes on the screen. */
		if (b->len < p->len)
			p->len = b->len;
	}
	atomic_store(&p->sameness, s);
}

static bool
match_records(struct view_compare *c, const struct ckpt_spans *a,
	const struct ckpt_spans *b)
{
	uint32_t *to = calloc(a->ntensors + 1, sizeof *to);
	bool good;

	c->pairs = calloc(a->ntensors + 1, sizeof *c->pairs);
	good = to && c->pairs && match(&tensors, a, b, to) &&
	       left_over(to, a->ntensors, b->ntensors, &c->only, &c->nonly);
	for (uint64_t i = 0; good && i < a->ntensors; i++)
		fill_pair(&c->pairs[i], &a->tensors[i],
			to[i] == VIEW_NO_MATCH ? NULL : &b->tensors[to[i]],
			to[i]);
	c->npairs = good ? a->ntensors : 0;
	free(to);
	return good;
}

/* Both files as they are. */
static bool
match_bytes(struct view_compare *c)
{
	c->pairs = calloc(1, sizeof *c->pairs);
	if (!c->pairs)
		return false;
	c->npairs = 1;
	c->pairs[0].width = 1;
	c->pairs[0].len = c->size[0] < c->size[1] ? c->size[0] : c->size[1];
	return true;
}

/* ---- Fields ------------------------------------------------------------- */

static bool
is_of_record(const struct ckpt_spans *spans, const struct ckpt_span_field *f)
{
	size_t n = spans->records ? strlen(spans->records) : 0;

	return n > 0 && strncmp(f->path, spans->records, n) == 0 &&
	       f->path[n] == '[';
}

static bool
same_value(const struct ckpt_span_field *a, const struct ckpt_span_field *b)
{
	const struct ckpt_value *x = &a->value, *y = &b->value;

	if (x->kind != y->kind || a->len != b->len)
		return false;
	if (x->kind == CKPT_V_BYTES)
		return x->n == y->n &&
		       (x->n == 0 || memcmp(x->p, y->p, x->n) == 0);
	return x->u64 == y->u64;
}

static void
add_unlike(struct view_compare *c, uint32_t first, uint32_t second)
{
	c->unlike[c->nunlike++] = (struct view_field_pair){ first, second };
}

static bool
match_fields(struct view_compare *c, const struct ckpt_spans *a,
	const struct ckpt_spans *b)
{
	uint32_t *only = NULL;
	uint64_t nonly = 0;
	bool good;

	c->fields = calloc(a->nfields + 1, sizeof *c->fields);
	c->unlike = calloc(a->nfields + b->nfields + 1, sizeof *c->unlike);
	good = c->fields && c->unlike && match(&fields, a, b, c->fields) &&
	       left_over(c->fields, a->nfields, b->nfields, &only, &nonly);
	c->nfields = good ? a->nfields : 0;
	c->fields_cut = a->fields_cut || b->fields_cut;
	for (uint64_t i = 0; i < c->nfields; i++) {
		uint32_t k = c->fields[i];

		if (is_of_record(a, &a->fields[i]))
			continue;
		if (k != VIEW_NO_MATCH
				? !same_value(&a->fields[i], &b->fields[k])
				: !b->fields_cut)
			add_unlike(c, (uint32_t)i, k);
	}
	for (uint64_t i = 0; good && i < nonly && !a->fields_cut; i++)
		if (!is_of_record(b, &b->fields[only[i]]))
			add_unlike(c, VIEW_NO_MATCH, only[i]);
	free(only);
	return good;
}

/* ---- All of it ---------------------------------------------------------- */

void
view_compare_forget(struct view_compare *c)
{
	view_job_stop(&c->job);
	free(c->pairs);
	free(c->only);
	free(c->fields);
	free(c->unlike);
	c->pairs = NULL;
	c->only = c->fields = NULL;
	c->unlike = NULL;
	c->npairs = c->nonly = c->nfields = c->nunlike = 0;
	c->matched[0].there = c->matched[1].there = false;
	c->plain = c->no_memory = c->begun = false;
}

/* Whether a file's index is another one than that of the matching. */
static bool
is_new(struct view_matched *m, const struct view_doc *doc)
{
	const struct ckpt_spans *s = doc->spans;

	if (!s || (m->there && m->spans == s))
		return false;
	if (m->there && m->ntensors == s->ntensors &&
		m->nfields == s->nfields && m->size == doc->size) {
		m->spans = s;
		return false;
	}
	return true;
}

static void
note(struct view_matched *m, const struct view_doc *doc)
{
	*m = (struct view_matched){ doc->spans, doc->spans->ntensors,
		doc->spans->nfields, doc->size, true };
}

bool
view_compare_match(struct view *view)
{
	struct view_compare *c = view->compare;
	const struct view_doc *a = view->doc, *b = &c->other;
	bool fresh = is_new(&c->matched[0], a);

	fresh = is_new(&c->matched[1], b) || fresh;
	if (!fresh || !a->spans || !b->spans)
		return false;
	view_compare_forget(c);
	c->matchings++;
	note(&c->matched[0], a);
	note(&c->matched[1], b);
	c->plain = a->spans->ntensors == 0 || b->spans->ntensors == 0;
	if (!(c->plain ? match_bytes(c)
		       : match_records(c, a->spans, b->spans) &&
				    match_fields(c, a->spans, b->spans))) {
		view_compare_forget(c);
		note(&c->matched[0], a);
		note(&c->matched[1], b);
		c->no_memory = true;
		return true;
	}
	if (c->wanted ||
		(a->size <= VIEW_AUTOMATIC && b->size <= VIEW_AUTOMATIC))
		view_compare_start(view);
	return true;
}
