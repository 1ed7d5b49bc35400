/* SPDX-License-Identifier: MIT */
/*
 * Tensors with the same bytes. Those that may have a twin (same dtype and
 * size, and large) are found before the first byte; only of these a digest is
 * made while they pass by. Equal digests are taken for equal bytes: at most a
 * note comes of it.
 */
#include "base/sort.h"
#include "base/try.h"
#include "format/safetensors_content.h"

enum { TWIN_LEAST = 4096 };

static const struct safetensors_tensor *
tensor_of(const struct safetensors_judge *j, uint64_t i)
{
	return &SAFETENSORS_TENSORS(j->file)[i];
}

static bool
may_have_twin(const struct safetensors_tensor *t)
{
	return t->shape.n >= 2 && safetensors_dtype_floating(t->dtype) &&
	       t->dtype->bits >= 8 && safetensors_len(t) >= TWIN_LEAST;
}

struct twins {
	const struct safetensors_judge *judge;
	const struct safetensors_twin *twins;
};

static int
by_size(const void *ctx, uint32_t a, uint32_t b)
{
	const struct twins *c = ctx;
	const struct safetensors_tensor *x =
		tensor_of(c->judge, c->twins[a].tensor);
	const struct safetensors_tensor *y =
		tensor_of(c->judge, c->twins[b].tensor);

	if (safetensors_len(x) != safetensors_len(y))
		return safetensors_len(x) < safetensors_len(y) ? -1 : 1;
	if (x->dtype != y->dtype)
		return x->dtype < y->dtype ? -1 : 1;
	return 0;
}

/* Drops the candidates that no other one is like; the order stays. */
static enum ckpt_status
drop_single(struct safetensors_judge *j, struct safetensors_content *c)
{
	const struct twins all = { j, c->twins };
	uint32_t *sorted =
		ckpt_sorted(&j->run->arena, c->ntwins, by_size, &all);
	uint32_t kept = 0;

	if (!sorted)
		return ckpt_run_memory(j->run);
	for (uint32_t i = 0; i < c->ntwins; i++) {
		bool like = (i > 0 && by_size(&all, sorted[i - 1], sorted[i]) ==
					      0) ||
			    (i + 1 < c->ntwins && by_size(&all, sorted[i],
							  sorted[i + 1]) == 0);

		c->twins[sorted[i]].kept = like;
	}
	for (uint32_t i = 0; i < c->ntwins; i++)
		if (c->twins[i].kept)
			c->twins[kept++] = c->twins[i];
	c->ntwins = kept;
	return CKPT_OK;
}

enum ckpt_status
safetensors_find_twins(struct safetensors_judge *j)
{
	struct safetensors_content *c = j->content;
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->file->norder; i++)
		n += may_have_twin(tensor_of(j, j->file->order[i]));
	if (n < 2)
		return CKPT_OK;
	c->twins = ckpt_arena_zalloc(&j->run->arena, n * sizeof *c->twins);
	if (!c->twins)
		return ckpt_run_memory(j->run);
	for (uint32_t i = 0; i < j->file->norder; i++)
		if (may_have_twin(tensor_of(j, j->file->order[i])))
			c->twins[c->ntwins++].tensor = j->file->order[i];
	CKPT_TRY(drop_single(j, c));
	if (c->ntwins == 0)
		return CKPT_OK;
	c->digest = XXH3_createState();
	return c->digest ? CKPT_OK : CKPT_ENOMEM;
}

static int
by_bytes(const void *ctx, uint32_t a, uint32_t b)
{
	const struct twins *c = ctx;
	const struct safetensors_twin *x = &c->twins[a], *y = &c->twins[b];

	if (x->digest != y->digest)
		return x->digest < y->digest ? -1 : 1;
	return by_size(ctx, a, b);
}

/* Equal ones stand together, the first of the file before the others. */
enum ckpt_status
safetensors_each_twin(struct safetensors_judge *j,
	void (*say)(struct safetensors_judge *judge, uint32_t first,
		uint32_t again))
{
	const struct safetensors_content *c = j->content;
	const struct twins all = { j, c->twins };
	const uint32_t *sorted;
	uint32_t first = 0;

	if (c->ntwins == 0)
		return CKPT_OK;
	sorted = ckpt_sorted(&j->run->arena, c->ntwins, by_bytes, &all);
	if (!sorted)
		return ckpt_run_memory(j->run);
	for (uint32_t i = 1; i < c->ntwins; i++) {
		if (by_bytes(&all, sorted[first], sorted[i]) != 0)
			first = i;
		else if (!c->twins[sorted[i]].constant)
			say(j, c->twins[sorted[first]].tensor,
				c->twins[sorted[i]].tensor);
	}
	return CKPT_OK;
}
