/* SPDX-License-Identifier: MIT */
/*
 * The number of layers, as names count them: "model.layers.17.mlp.up.weight"
 * belongs to the group "model.layers" with the number 17. A group is complete
 * when it has exactly the numbers from 0 on that the settings ask for.
 */
#include "sets/set_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"

struct place {
	const char *group; /* group_n bytes */
	uint32_t group_n;
	uint64_t number;
};

static size_t
part_length(const char *p, size_t n)
{
	const char *dot = n ? memchr(p, '.', n) : NULL;

	return dot ? (size_t)(dot - p) : n;
}

static bool
is_layer_word(const char *p, size_t n)
{
	static const char *const words[] = { "layers", "layer", "h", "blocks",
		"block", NULL };

	for (const char *const *word = words; *word; word++)
		if (n == strlen(*word) && memcmp(p, *word, n) == 0)
			return true;
	return false;
}

/* What is beyond 64 bits is the highest of them: no model has that layer. */
static bool
number_at(const char *p, size_t n, uint64_t *out)
{
	bool fits = true;

	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		fits = fits && ckpt_mul_u64(*out, 10, out) &&
		       ckpt_add_u64(*out, (uint64_t)(p[i] - '0'), out);
	}
	if (!fits)
		*out = UINT64_MAX;
	return n > 0;
}

/* The first such place in a name; false if it has none. */
static bool
place_in(const struct ckpt_set_tensor *t, struct place *place)
{
	for (size_t at = 0; at < t->name_n;) {
		size_t n = part_length(t->name + at, t->name_n - at);
		size_t next = at + n + 1;

		if (next < t->name_n && is_layer_word(t->name + at, n) &&
			number_at(t->name + next,
				part_length(t->name + next, t->name_n - next),
				&place->number)) {
			place->group = t->name;
			place->group_n = (uint32_t)(at + n);
			return true;
		}
		at = next;
	}
	return false;
}

struct places {
	struct place *list;
	uint64_t n;
};

static enum ckpt_status
collect(struct ckpt_set *set, struct places *places)
{
	for (uint64_t i = 0; i < set->nshards; i++) {
		const struct ckpt_shard *shard = set->shards[i];
		uint64_t n = ckpt_role_resumes(shard->role) ? 0 : shard->n;

		for (uint64_t k = 0; k < n; k++) {
			struct place place, *list;

			if (!place_in(&shard->tensors[k], &place))
				continue;
			list = ckpt_arena_push(&set->arena, places->list,
				places->n, sizeof *list);
			if (!list)
				return ckpt_arena_status(&set->arena);
			places->list = list;
			list[places->n++] = place;
		}
	}
	return places->n > UINT32_MAX ? CKPT_ELIMIT : CKPT_OK;
}

static int
by_group(const struct place *a, const struct place *b)
{
	return ckpt_bytes_compare(a->group, a->group_n, b->group, b->group_n);
}

static int
by_place(const void *ctx, uint32_t ia, uint32_t ib)
{
	const struct place *a = (const struct place *)ctx + ia;
	const struct place *b = (const struct place *)ctx + ib;
	int c = by_group(a, b);

	return c ? c : (a->number > b->number) - (a->number < b->number);
}

/* Calls nobody back: *count becomes the different numbers of the group that
 * starts at order[i], *last the highest; returns where the next one starts. */
static uint64_t
group_at(const struct places *p, const uint32_t *order, uint64_t i,
	uint64_t *count, uint64_t *last)
{
	const struct place *first = &p->list[order[i]];

	*count = 1;
	*last = first->number;
	for (i++; i < p->n; i++) {
		const struct place *next = &p->list[order[i]];

		if (by_group(first, next) != 0)
			break;
		*count += next->number != *last;
		*last = next->number;
	}
	return i;
}

/* count numbers of which the highest is last are 0 to n - 1. */
static bool
complete(uint64_t count, uint64_t last, uint64_t n)
{
	return count == n && last == n - 1;
}

static const char not_said[] =
	"config.json does not say, or no tensor is in a numbered layer";

/* The number of layers by the settings; NULL if they do not say. */
static const struct ckpt_doc_value *
layers_said(const struct ckpt_doc_value *settings)
{
	const char *key = ckpt_doc_get(settings, "num_hidden_layers")
				  ? "num_hidden_layers"
				  : "n_layer";

	if (ckpt_doc_get(settings, "num_hidden_groups"))
		return NULL;
	return ckpt_doc_number(settings, key);
}

enum ckpt_status
ckpt_layers_judge(struct ckpt_set *set, const struct ckpt_doc_value *settings)
{
	const struct ckpt_doc_value *said = layers_said(settings);
	uint64_t n = 0, more = 0, all, count = 0, last = 0, most = 0;
	bool possible = ckpt_doc_u64(said, &n);
	struct places places = { 0 };
	uint32_t *order;
	enum ckpt_status status = CKPT_OK;

	if (said)
		status = collect(set, &places);
	if (status != CKPT_OK)
		return status;
	if (places.n == 0) {
		ckpt_diags_not_ran(
			&set->run->diags, CKPT_D_CONFIG_LAYERS, not_said);
		return CKPT_OK;
	}
	(void)ckpt_doc_u64(
		ckpt_doc_get(settings, "num_nextn_predict_layers"), &more);
	if (!possible || !ckpt_add_u64(n, more, &all))
		all = n;
	order = ckpt_sorted(&set->arena, places.n, by_place, places.list);
	if (!order)
		return ckpt_arena_status(&set->arena);
	for (uint64_t i = 0; i < places.n;) {
		i = group_at(&places, order, i, &count, &last);
		if (complete(count, last, n) || complete(count, last, all))
			return CKPT_OK;
		if (count > most)
			most = count;
	}
	ckpt_set_report(set, CKPT_D_CONFIG_LAYERS, "config.json",
		&(struct ckpt_diag){
			.expected =
				ckpt_set_text(set, "%s layers, numbered from 0",
					ckpt_set_number(set, said)),
			.found = ckpt_set_text(set,
				"at most %" PRIu64 " different numbers", most),
		});
	return CKPT_OK;
}
