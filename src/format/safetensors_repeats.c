/* SPDX-License-Identifier: MIT */
/*
 * Names and keys that stand twice. They are found by sorting hashes and, where
 * these are equal, the unescaped texts; so no choice of names makes it slow.
 * A name counts whether its entry is sound or not.
 */
#include "format/safetensors.h"

#include "base/sort.h"
#include "format/safetensors_dtype.h"

#define U(x) ((unsigned long long)(x))

/* The names of the sound entries, then of the faulty ones. The hashes stand
 * side by side: most comparisons look no further. */
struct names {
	struct safetensors_judge *j;
	const uint32_t *hashes;
	uint32_t sound;
};

/* The entry of name i, or NULL if it is faulty. */
static struct safetensors_tensor *
sound_of(const struct names *names, uint32_t i)
{
	return i < names->sound ? &SAFETENSORS_TENSORS(names->j->file)[i]
				: NULL;
}

/* Where its name stands, and its number in the header. */
static struct safetensors_faulty
place_of(const struct names *names, uint32_t i)
{
	const struct safetensors_tensor *t = sound_of(names, i);

	return t ? (struct safetensors_faulty){ t->at, t->number }
		 : names->j->faulty[i - names->sound];
}

static int
compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int
names_compare(const struct names *names, uint32_t a, uint32_t b)
{
	const struct safetensors_file *file = names->j->file;
	const struct safetensors_tensor *ta, *tb;
	int c = compare_u32(names->hashes[a], names->hashes[b]);

	if (c != 0)
		return c;
	ta = sound_of(names, a);
	tb = sound_of(names, b);
	if (ta && tb)
		return ckpt_bytes_compare(
			ta->name.p, ta->name.n, tb->name.p, tb->name.n);
	return ckpt_scan_compare(file->json, (size_t)file->header_bytes,
		place_of(names, a).at, place_of(names, b).at);
}

/* Of equal names the first in the text comes first. */
static int
by_name(const void *ctx, uint32_t a, uint32_t b)
{
	int c = names_compare(ctx, a, b);

	if (c != 0)
		return c;
	return place_of(ctx, a).at < place_of(ctx, b).at ? -1 : 1;
}

static const char *
text_of(const struct names *names, uint32_t i)
{
	struct safetensors_judge *j = names->j;
	const struct safetensors_tensor *t = sound_of(names, i);
	uint64_t begin, end;

	if (t)
		return ckpt_walk_text(&j->walk, "%s %s at %llu..%llu",
			t->dtype ? t->dtype->name : "an unknown dtype",
			safetensors_shape_text(j, t), U(t->begin), U(t->end));
	begin = safetensors_value_of(j, place_of(names, i).at, &end);
	return safetensors_raw(j, begin, end);
}

static void
report_name(const struct names *names, uint32_t ifirst, uint32_t ilast)
{
	struct safetensors_judge *j = names->j;
	struct safetensors_faulty first = place_of(names, ifirst),
				  last = place_of(names, ilast);
	uint64_t end;

	(void)safetensors_value_of(j, last.at, &end);
	SAFETENSORS_REPORT(j, .code = CKPT_D_ST_NAME_REPEATED,
		.unit = last.number,
		.path = safetensors_path(j, last.number, ".name"),
		.off = safetensors_at(last.at), .len = end - last.at,
		.expected = ckpt_v_text("a name of its own"),
		.found = ckpt_v_text(ckpt_walk_text(&j->walk,
			"%s, which tensors[%u] at offset %llu has",
			safetensors_string(j, last.at), first.number,
			U(safetensors_at(first.at)))),
		.note = safetensors_readers(
			j, text_of(names, ifirst), text_of(names, ilast)));
}

static void
judge_pair(const struct names *names, uint32_t first, uint32_t last)
{
	if (names_compare(names, first, last) != 0)
		return;
	/* A file with a faulty entry has no verdict to gain from this. */
	if (sound_of(names, first) && sound_of(names, last))
		sound_of(names, first)->replaced = true;
	if (!names->j->reference)
		report_name(names, first, last);
}

static bool
judge_tensors(struct safetensors_judge *j)
{
	struct ckpt_arena *arena = &j->run->arena;
	uint32_t sound = j->file->tensors.n, n = sound + j->nfaulty;
	uint32_t *hashes = ckpt_arena_alloc(arena, (size_t)n * sizeof *hashes);
	const struct names names = { j, hashes, sound };
	uint32_t *order;

	if (!hashes)
		return false;
	for (uint32_t i = 0; i < n; i++)
		hashes[i] = i < sound ? SAFETENSORS_TENSORS(j->file)[i].hash
				      : ckpt_scan_hash(j->file->json,
						(size_t)j->file->header_bytes,
						j->faulty[i - sound].at);
	order = ckpt_sorted(arena, n, by_name, &names);
	for (uint32_t i = 1; order && i < n; i++)
		judge_pair(&names, order[i - 1], order[i]);
	return order != NULL;
}

static int
entries_compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct safetensors_judge *j = ctx;
	const struct safetensors_file *file = j->file;
	const struct safetensors_entry *ea = SAFETENSORS_ENTRIES(file) + a;
	const struct safetensors_entry *eb = SAFETENSORS_ENTRIES(file) + b;
	/* Metadata that is there twice are two objects. */
	int c = compare_u32(
		ea->at > j->metadata_again, eb->at > j->metadata_again);

	if (c == 0)
		c = compare_u32(ea->hash, eb->hash);
	if (c != 0)
		return c;
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
		.note = safetensors_readers(j,
			safetensors_raw(j, first->at, first->after),
			safetensors_raw(j, last->at, last->after)));
}

static bool
judge_entries(struct safetensors_judge *j)
{
	const struct safetensors_entry *list = SAFETENSORS_ENTRIES(j->file);
	uint32_t n = j->file->metadata.n;
	uint32_t *order = ckpt_sorted(&j->run->arena, n, entries_compare, j);

	for (uint32_t i = 1; order && i < n; i++)
		if (entries_compare(j, order[i - 1], order[i]) == 0)
			report_entry(j, &list[order[i - 1]], &list[order[i]],
				order[i]);
	return order != NULL;
}

static int
keys_compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct safetensors_judge *j = ctx;
	const struct safetensors_key *ka = &j->keys[a], *kb = &j->keys[b];
	int c = compare_u32(ka->object, kb->object);

	if (c == 0)
		c = compare_u32(ka->hash, kb->hash);
	if (c != 0)
		return c;
	return ckpt_scan_compare(
		j->file->json, (size_t)j->file->header_bytes, ka->at, kb->at);
}

static bool
plain(const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (!(p[i] >= '0' && p[i] <= '9') && p[i] != '_' &&
			!((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'z'))
			return false;
	return n > 0 && n <= 64;
}

/* "tensors[3].x"; what stands deeper, or has an odd name, is of the entry. */
static const char *
key_path(struct safetensors_judge *j, const struct safetensors_key *key)
{
	const char *name = (const char *)j->file->json + key->at + 1;
	uint64_t end = safetensors_string_end(j, key->at);
	uint64_t n = end - key->at - 2;

	if (key->record == SAFETENSORS_IN_METADATA)
		return "metadata";
	if (!key->field || !plain((const uint8_t *)name, n))
		return safetensors_path(j, key->record, "");
	return safetensors_path(j, key->record,
		ckpt_walk_text(&j->walk, ".%.*s", (int)n, name));
}

static void
report_key(struct safetensors_judge *j, const struct safetensors_key *first,
	const struct safetensors_key *last)
{
	uint64_t end[2];

	(void)safetensors_value_of(j, first->at, &end[0]);
	(void)safetensors_value_of(j, last->at, &end[1]);
	SAFETENSORS_REPORT(j, .code = CKPT_D_ST_OTHER_REPEATED,
		.unit = last->record, .path = key_path(j, last),
		.off = safetensors_at(last->at), .len = end[1] - last->at,
		.expected = ckpt_v_text("a key of its own"),
		.found = ckpt_v_text(
			ckpt_walk_text(&j->walk, "%s at offset %llu, too",
				safetensors_string(j, first->at),
				U(safetensors_at(first->at)))),
		.note = safetensors_readers(j,
			safetensors_raw(j, first->at, end[0]),
			safetensors_raw(j, last->at, end[1])));
}

static bool
judge_keys(struct safetensors_judge *j)
{
	uint32_t *order =
		ckpt_sorted(&j->run->arena, j->nkeys, keys_compare, j);

	for (uint32_t i = 1; order && i < j->nkeys; i++) {
		const struct safetensors_key *first = &j->keys[order[i - 1]];
		const struct safetensors_key *last = &j->keys[order[i]];

		if (keys_compare(j, order[i - 1], order[i]) == 0)
			report_key(j, first, last);
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
