/* SPDX-License-Identifier: MIT */
/*
 * An index against its shards, once these were verified. Only the list of
 * tensors of a shard whose structure holds is believed; of any other there is
 * nothing to compare, and the set is rejected for it anyway.
 */
#include "sets/set_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/sort.h"

static const struct ckpt_named *
place_of(const struct ckpt_index *index, uint64_t entry)
{
	return &index->named[index->places[entry]];
}

/* The position of a tensor in the index; n if it is not there. */
static uint64_t
find_entry(const struct ckpt_index *index, const char *name, size_t n)
{
	uint64_t from = 0, to = index->n;

	while (from < to) {
		uint64_t middle = from + (to - from) / 2;
		const struct ckpt_doc_value *v = index->entries[middle];
		int c = ckpt_bytes_compare(name, n, v->key, v->key_n);

		if (c == 0)
			return middle;
		if (c < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return index->n;
}

bool
ckpt_index_names(const struct ckpt_set *set, const char *name)
{
	for (uint64_t i = 0; i < set->nindexes; i++)
		if (ckpt_index_has(&set->indexes[i], name))
			return true;
	return false;
}

static void
judge_shards(struct ckpt_set *set, const struct ckpt_index *index)
{
	for (uint64_t i = 0; i < index->nnamed; i++) {
		const struct ckpt_shard *shard = index->named[i].shard;

		if (shard && shard->verdict == CKPT_INVALID)
			ckpt_set_add(set, CKPT_D_SHARD_BAD, shard->name, NULL);
	}
}

static const struct ckpt_shard *
who_has(const struct ckpt_set *set, const char *name, size_t n)
{
	for (uint64_t i = 0; i < set->nshards; i++)
		if (ckpt_shard_told(set->shards[i]) &&
			ckpt_shard_find(set->shards[i], name, n))
			return set->shards[i];
	return NULL;
}

static void
report_absent(struct ckpt_set *set, const struct ckpt_index *index,
	const struct ckpt_doc_value *entry, const struct ckpt_shard *named)
{
	/* Of findings that nobody will see, nothing is looked for. */
	bool listed = set->run->diags.per_rule[CKPT_D_TENSOR_MISSING] <
		      CKPT_DIAGS_PER_RULE;
	const struct ckpt_shard *other =
		listed ? who_has(set, entry->key, entry->key_n) : NULL;
	struct ckpt_value found = ckpt_v_text("in no file of the set");

	if (other)
		found = ckpt_set_text(set, "in %s",
			ckpt_set_quoted(set, other->name, strlen(other->name)));
	ckpt_set_report(set, CKPT_D_TENSOR_MISSING, index->name,
		&(struct ckpt_diag){
			.off = entry->key_at,
			.expected = ckpt_set_text(set, "%s in %s",
				ckpt_set_quoted(set, entry->key, entry->key_n),
				ckpt_set_quoted(
					set, named->name, strlen(named->name))),
			.found = found,
		});
}

/* Each tensor of the index has to be where it says; adds up their bytes.
 * False if not all could be looked at, or if they add up beyond 64 bits. */
static bool
judge_entries(
	struct ckpt_set *set, const struct ckpt_index *index, uint64_t *bytes)
{
	bool all = true;

	*bytes = 0;
	for (uint64_t i = 0; i < index->n; i++) {
		const struct ckpt_doc_value *entry = index->entries[i];
		const struct ckpt_shard *shard = place_of(index, i)->shard;
		const struct ckpt_set_tensor *t;

		if (!shard || !ckpt_shard_told(shard)) {
			all = false;
			continue;
		}
		t = ckpt_shard_find(shard, entry->key, entry->key_n);
		if (!t)
			report_absent(set, index, entry, shard);
		else
			all = ckpt_add_u64(*bytes, t->len, bytes) && all;
	}
	return all;
}

/* Each tensor of a named shard has to be in the index, with that shard; adds
 * up the bytes of all. */
static bool
judge_shard(struct ckpt_set *set, const struct ckpt_index *index,
	const struct ckpt_named *named, uint64_t *bytes)
{
	const struct ckpt_shard *shard = named->shard;
	bool all = true;

	for (uint64_t i = 0; i < shard->n; i++) {
		const struct ckpt_set_tensor *t = &shard->tensors[i];
		uint64_t k = find_entry(index, t->name, t->name_n);

		all = ckpt_add_u64(*bytes, t->len, bytes) && all;
		if (k < index->n && place_of(index, k)->shard == shard)
			continue;
		ckpt_set_report(set, CKPT_D_TENSOR_UNPLACED, shard->name,
			&(struct ckpt_diag){
				.found = ckpt_set_text(set, "%s",
					ckpt_set_quoted(
						set, t->name, t->name_n)),
				.note = k < index->n ? "it names another shard"
						     : "it does not know it",
			});
	}
	return all;
}

/* Of shards that all told their tensors. The same file under two names ("a"
 * and "x/../a" are not; links may be) counts twice, as the index does. */
static bool
all_valid(const struct ckpt_index *index)
{
	for (uint64_t i = 0; i < index->nnamed; i++)
		if (index->named[i].shard->verdict != CKPT_VALID)
			return false;
	return true;
}

static bool
equals(const struct ckpt_doc_value *size, uint64_t bytes)
{
	uint64_t u = 0;

	return ckpt_doc_u64(size, &u) && u == bytes;
}

static void
judge_size(struct ckpt_set *set, const struct ckpt_index *index,
	uint64_t indexed, uint64_t all)
{
	const struct ckpt_doc_value *size = ckpt_doc_member(
		ckpt_doc_member(index->doc.root, "metadata"), "total_size");
	struct ckpt_value found = ckpt_v_text("no number");

	if (!size || equals(size, indexed) || equals(size, all))
		return;
	if (size->kind == CKPT_DOC_NUMBER)
		found = ckpt_v_text(ckpt_set_number(set, size));
	ckpt_set_report(set, CKPT_D_TOTAL_SIZE, index->name,
		&(struct ckpt_diag){
			.off = size->key_at,
			.caused_by =
				set->run->diags.per_rule[CKPT_D_TENSOR_MISSING] >
						0
					? ckpt_rule_row(CKPT_D_TENSOR_MISSING)
					: NULL,
			.expected = ckpt_set_text(set,
				indexed == all ? "%" PRIu64 " bytes"
					       : "%" PRIu64
						 " bytes (all in the "
						 "shards: %" PRIu64 ")",
				indexed, all),
			.found = found,
		});
}

static void
skip(struct ckpt_diags *diags, const char *why)
{
	ckpt_diags_not_ran(diags, CKPT_D_TENSOR_MISSING, why);
	ckpt_diags_not_ran(diags, CKPT_D_TENSOR_UNPLACED, why);
	ckpt_diags_not_ran(diags, CKPT_D_TOTAL_SIZE, why);
}

void
ckpt_index_judge(struct ckpt_set *set, struct ckpt_index *index)
{
	static const char not_valid[] = "not every shard is valid";
	struct ckpt_diags *diags = &set->run->diags;
	uint64_t indexed, all = 0;
	bool known;

	if (index->n == 0) {
		skip(diags, "an index cannot be read");
		return;
	}
	judge_shards(set, index);
	known = judge_entries(set, index, &indexed);
	for (uint64_t i = 0; i < index->nnamed; i++) {
		const struct ckpt_named *named = &index->named[i];

		if (named->shard && ckpt_shard_told(named->shard))
			known = judge_shard(set, index, named, &all) && known;
	}
	if (!known)
		skip(diags, not_valid);
	if (known && all_valid(index))
		judge_size(set, index, indexed, all);
	else
		ckpt_diags_not_ran(diags, CKPT_D_TOTAL_SIZE, not_valid);
}
