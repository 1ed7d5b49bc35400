/* SPDX-License-Identifier: MIT */
/*
 * Copies of what a state says, without what it weighs. The names, shapes and
 * lists of a state live in memory of whoever made it, and that memory is to be
 * freed before another checkpoint is loaded.
 */
#include "replay/outline.h"

#include <string.h>

#include "base/try.h"

/* Where one tensor's values are. */
struct place {
	struct ckpt_outline *outline;
	uint64_t off;
};

static void
fill(void *ctx, const struct ckpt_tensor *tensor, uint64_t off, uint8_t *bytes,
	size_t n)
{
	const struct place *place = ctx;
	struct ckpt_outline *o = place->outline;

	(void)tensor;
	if (ckpt_spool_read(o->spool, place->off + off, bytes, n) == CKPT_OK)
		return;
	o->failed = true;
	memset(bytes, 0, n);
}

static enum ckpt_status
copy(struct ckpt_arena *arena, const void *from, size_t n, void *to)
{
	void *p = ckpt_arena_alloc(arena, n);

	if (!p)
		return CKPT_ENOMEM;
	if (n)
		memcpy(p, from, n);
	memcpy(to, &p, sizeof p);
	return CKPT_OK;
}

static enum ckpt_status
copy_name(struct ckpt_arena *arena, struct ckpt_name *name)
{
	return copy(arena, name->p, name->n, &name->p);
}

static enum ckpt_status
copy_names(struct ckpt_arena *arena, const struct ckpt_name **names, uint32_t n)
{
	struct ckpt_name *list;

	CKPT_TRY(copy(arena, *names, n * sizeof *list, &list));
	for (uint32_t i = 0; i < n; i++)
		CKPT_TRY(copy_name(arena, &list[i]));
	*names = list;
	return CKPT_OK;
}

/* Tensors whose offsets are every stride-th of where. */
static enum ckpt_status
copy_tensors(struct ckpt_outline *o, const struct ckpt_tensor **tensors,
	uint64_t n, const uint64_t *where, size_t stride)
{
	struct ckpt_arena *arena = &o->arena;
	struct ckpt_tensor *list;
	struct place *places = ckpt_arena_alloc(arena, n * sizeof *places);

	if (!places)
		return CKPT_ENOMEM;
	CKPT_TRY(copy(arena, *tensors, n * sizeof *list, &list));
	for (uint64_t i = 0; i < n; i++) {
		struct ckpt_tensor *t = &list[i];

		CKPT_TRY(copy_name(arena, &t->name));
		CKPT_TRY(copy(
			arena, t->dims, t->rank * sizeof *t->dims, &t->dims));
		places[i] = (struct place){ o, where[i * stride] };
		t->data = NULL;
		t->fill = fill;
		t->fill_ctx = &places[i];
	}
	*tensors = list;
	return CKPT_OK;
}

enum ckpt_status
ckpt_outline_make(struct ckpt_outline *o, const struct ckpt_state *state,
	const struct ckpt_spool *spool, const uint64_t *where)
{
	struct ckpt_state *s = &o->state;
	size_t tokens = (size_t)state->tokenizer.npieces;
	const uint64_t *moments = where + tokens + state->nparameters;

	ckpt_arena_init(&o->arena, UINT64_MAX);
	o->spool = spool;
	o->failed = false;
	*s = *state;
	CKPT_TRY(copy_names(&o->arena, &s->decay, s->ndecay));
	CKPT_TRY(copy_names(&o->arena, &s->no_decay, s->nno_decay));
	CKPT_TRY(copy_tensors(o, &s->tokenizer.pieces, tokens, where, 1));
	CKPT_TRY(copy_tensors(
		o, &s->parameters, s->nparameters, where + tokens, 1));
	CKPT_TRY(copy_tensors(o, &s->first, s->nmoments, moments, 2));
	return copy_tensors(o, &s->second, s->nmoments, moments + 1, 2);
}

void
ckpt_outline_release(struct ckpt_outline *o)
{
	ckpt_arena_release(&o->arena);
	memset(o, 0, sizeof *o);
}
