/* SPDX-License-Identifier: MIT */
/*
 * Names and keys that stand twice. They are found by sorting hashes and, where
 * these are equal, the unescaped texts; so no choice of names makes it slow.
 */
#include "format/safetensors.h"

#include "base/sort.h"
#include "format/safetensors_dtype.h"

#define U(x) ((unsigned long long)(x))

/* The hashes stand side by side: most comparisons look no further. */
struct names {
	const uint32_t *hashes;
	const struct safetensors_tensor *tensors;
};

static int
by_name(const void *ctx, uint32_t a, uint32_t b)
{
	const struct names *names = ctx;
	const struct ckpt_str *na, *nb;

	if (names->hashes[a] != names->hashes[b])
		return names->hashes[a] < names->hashes[b] ? -1 : 1;
	na = &names->tensors[a].name;
	nb = &names->tensors[b].name;
	return ckpt_bytes_compare(na->p, na->n, nb->p, nb->n);
}

static const char *
text_of(struct safetensors_judge *j, const struct safetensors_tensor *t)
{
	return ckpt_walk_text(&j->walk, "%s %s at %llu..%llu",
		t->dtype ? t->dtype->name : "an unknown dtype",
		safetensors_shape_text(j, t), U(t->begin), U(t->end));
}

static void
report_name(struct safetensors_judge *j, const struct safetensors_tensor *first,
	const struct safetensors_tensor *last)
{
	SAFETENSORS_REPORT(j, .code = CKPT_D_ST_NAME_REPEATED,
		.unit = last->number,
		.path = safetensors_path(j, last->number, ".name"),
		.off = safetensors_at(last->at), .len = last->name.n + 2,
		.expected = ckpt_v_text("a name of its own"),
		.found = ckpt_v_text(ckpt_walk_text(&j->walk,
			"%s, which tensors[%u] at offset %llu has",
			safetensors_quote(j, &last->name), first->number,
			U(safetensors_at(first->at)))),
		.note = ckpt_walk_text(&j->walk,
			"readers that keep the first load %s, readers that "
			"keep the last load %s",
			text_of(j, first), text_of(j, last)));
}

static bool
judge_tensors(struct safetensors_judge *j)
{
	struct safetensors_tensor *t = SAFETENSORS_TENSORS(j->file);
	uint32_t n = j->file->tensors.n;
	uint32_t *hashes =
		ckpt_arena_alloc(&j->run->arena, (size_t)n * sizeof *hashes);
	const struct names names = { hashes, t };
	uint32_t *order;

	if (!hashes)
		return false;
	for (uint32_t i = 0; i < n; i++)
		hashes[i] = t[i].hash;
	order = ckpt_sorted(&j->run->arena, n, by_name, &names);
	for (uint32_t i = 1; order && i < n; i++) {
		if (by_name(&names, order[i - 1], order[i]) != 0)
			continue;
		t[order[i - 1]].replaced = true;
		if (!j->reference)
			report_name(j, &t[order[i - 1]], &t[order[i]]);
	}
	return order != NULL;
}

static int
entries_compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct safetensors_file *file = ctx;
	const struct safetensors_entry *ea = SAFETENSORS_ENTRIES(file) + a;
	const struct safetensors_entry *eb = SAFETENSORS_ENTRIES(file) + b;

	if (ea->hash != eb->hash)
		return ea->hash < eb->hash ? -1 : 1;
	return ckpt_scan_compare(
		file->json, (size_t)file->header_bytes, ea->at, eb->at);
}

static void
report_entry(struct safetensors_judge *j, const struct safetensors_entry *first,
	const struct safetensors_entry *last, uint32_t number)
{
	SAFETENSORS_REPORT(j, .code = CKPT_D_ST_KEY_REPEATED, .unit = number,
		.path = ckpt_walk_text(&j->walk, "metadata[%u].key", number),
		.off = safetensors_at(last->at), .len = last->after - last->at,
		.expected = ckpt_v_text("a key of its own"),
		.found = ckpt_v_text(ckpt_walk_text(&j->walk,
			"a key that is at offset %llu, too",
			U(safetensors_at(first->at)))),
		.note = ckpt_walk_text(&j->walk,
			"readers that keep the first load %s, readers that "
			"keep the last load %s",
			safetensors_raw(j, first->at, first->after),
			safetensors_raw(j, last->at, last->after)));
}

static bool
judge_entries(struct safetensors_judge *j)
{
	const struct safetensors_entry *list = SAFETENSORS_ENTRIES(j->file);
	uint32_t n = j->file->metadata.n;
	uint32_t *order =
		ckpt_sorted(&j->run->arena, n, entries_compare, j->file);

	for (uint32_t i = 1; order && i < n; i++)
		if (entries_compare(j->file, order[i - 1], order[i]) == 0)
			report_entry(j, &list[order[i - 1]], &list[order[i]],
				order[i]);
	return order != NULL;
}

static int
keys_compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct safetensors_judge *j = ctx;
	const struct safetensors_key *ka = &j->keys[a], *kb = &j->keys[b];

	if (ka->object != kb->object)
		return ka->object < kb->object ? -1 : 1;
	if (ka->hash != kb->hash)
		return ka->hash < kb->hash ? -1 : 1;
	return ckpt_scan_compare(
		j->file->json, (size_t)j->file->header_bytes, ka->at, kb->at);
}

static bool
judge_keys(struct safetensors_judge *j)
{
	uint32_t *order =
		ckpt_sorted(&j->run->arena, j->nkeys, keys_compare, j);

	for (uint32_t i = 1; order && i < j->nkeys; i++) {
		const struct safetensors_key *first = &j->keys[order[i - 1]];
		const struct safetensors_key *last = &j->keys[order[i]];

		if (keys_compare(j, order[i - 1], order[i]) != 0)
			continue;
		SAFETENSORS_REPORT(j, .code = CKPT_D_ST_OTHER_REPEATED,
			.unit = last->record,
			.path = safetensors_path(j, last->record, ""),
			.off = safetensors_at(last->at),
			.expected = ckpt_v_text("a key of its own"),
			.found = ckpt_v_text(ckpt_walk_text(&j->walk,
				"%s at offset %llu, too",
				safetensors_raw(j, first->at,
					safetensors_string_end(j, first->at)),
				U(safetensors_at(first->at)))));
	}
	return order != NULL;
}

enum ckpt_status
safetensors_judge_repeats(struct safetensors_judge *j)
{
	if (!judge_tensors(j) ||
		(!j->reference && (!judge_entries(j) || !judge_keys(j))))
		return ckpt_run_memory(j->run);
	return CKPT_OK;
}
