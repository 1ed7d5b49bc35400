/* SPDX-License-Identifier: MIT */
/*
 * What a set keeps of a shard: the tensors as its run tells them. Each shard
 * has an arena of its own, so that shards can be verified at the same time.
 */
#include "sets/set_parts.h"

#include <string.h>

#include "base/sort.h"

static enum ckpt_status
keep(struct ckpt_shard *shard, const struct ckpt_span *span)
{
	struct ckpt_arena *arena = &shard->arena;
	const char *name =
		ckpt_arena_strndup(arena, span->name, span->name_len);
	struct ckpt_set_tensor *t =
		ckpt_arena_push(arena, shard->tensors, shard->n, sizeof *t);

	if (!name || !t || span->name_len > UINT32_MAX)
		return name && t ? CKPT_ELIMIT : ckpt_arena_status(arena);
	shard->tensors = t;
	t[shard->n++] = (struct ckpt_set_tensor){
		.name = name,
		.name_n = (uint32_t)span->name_len,
		.rank = span->rank,
		.dtype = span->dtype,
		.rows = span->rank == 2 ? span->dims[0] : 0,
		.columns = span->rank == 2 ? span->dims[1] : 0,
		.len = span->len,
	};
	return CKPT_OK;
}

static enum ckpt_status
listen(struct ckpt_sink *sink, const struct ckpt_event *event)
{
	struct ckpt_shard *shard = (struct ckpt_shard *)sink;

	if (event->kind != CKPT_EV_SPAN ||
		event->span->class_ == CKPT_TENSOR_TOKENIZER ||
		event->span->class_ == CKPT_TENSOR_MOMENT)
		return CKPT_OK;
	return keep(shard, event->span);
}

static int
by_name(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ckpt_set_tensor *t = ctx;

	return ckpt_bytes_compare(
		t[a].name, t[a].name_n, t[b].name, t[b].name_n);
}

void
ckpt_shard_judged(struct ckpt_shard *shard, enum ckpt_verdict verdict)
{
	shard->judged = true;
	shard->verdict = verdict;
	shard->sorted =
		ckpt_sorted(&shard->arena, shard->n, by_name, shard->tensors);
}

bool
ckpt_shard_told(const struct ckpt_shard *shard)
{
	return shard->sorted && (shard->verdict == CKPT_VALID ||
					shard->verdict == CKPT_UNSUPPORTED);
}

const struct ckpt_set_tensor *
ckpt_shard_find(const struct ckpt_shard *shard, const char *name, size_t n)
{
	uint64_t from = 0, to = shard->sorted ? shard->n : 0;

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;
		const struct ckpt_set_tensor *t =
			&shard->tensors[shard->sorted[middle]];
		int c = ckpt_bytes_compare(name, n, t->name, t->name_n);

		if (c == 0)
			return t;
		if (c < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}

/* Where the name is, or would be, among the shards. */
static uint64_t
position(const struct ckpt_set *set, const char *name)
{
	uint64_t from = 0, to = set->nshards;

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;

		if (strcmp(set->shards[middle]->name, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

const struct ckpt_shard *
ckpt_set_find_shard(const struct ckpt_set *set, const char *name)
{
	uint64_t at = position(set, name);

	return at < set->nshards && strcmp(set->shards[at]->name, name) == 0
		       ? set->shards[at]
		       : NULL;
}

struct ckpt_shard *
ckpt_set_add_shard(struct ckpt_set *set, const char *name, enum ckpt_role role)
{
	struct ckpt_shard *shard, **list;
	uint64_t at = position(set, name);

	if (at < set->nshards && strcmp(set->shards[at]->name, name) == 0)
		return set->shards[at];
	shard = ckpt_arena_zalloc(&set->arena, sizeof *shard);
	list = ckpt_arena_push(
		&set->arena, set->shards, set->nshards, sizeof *list);
	if (!shard || !list)
		return NULL;
	set->shards = list;
	shard->name = ckpt_arena_strndup(&set->arena, name, strlen(name));
	shard->path = ckpt_set_path(set, name);
	if (!shard->name || !shard->path)
		return NULL;
	shard->sink.event = listen;
	shard->role = role;
	ckpt_arena_init(&shard->arena, set->max_memory);
	memmove(list + at + 1, list + at,
		(size_t)(set->nshards - at) * sizeof *list);
	list[at] = shard;
	set->nshards++;
	return shard;
}
