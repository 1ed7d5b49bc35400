/* SPDX-License-Identifier: MIT */
/*
 * Archives: metadata of a training checkpoint that is neither a number nor one
 * of a few words: digests, the plan's policy, and lists of names.
 */
#include "format/archive.h"

#include <string.h>

#include "base/checked.h"
#include "base/sha256.h"
#include "base/sort.h"
#include "base/try.h"

/* The lines of a value, of which an empty one has none; of more than most of
 * them no list is made. False: memory. */
static bool
lines(struct safetensors_judge *j, enum archive_key key, uint32_t most,
	struct ckpt_name **list, uint32_t *n)
{
	const struct ckpt_str *text = &j->file->archive->keys[key].text;
	uint32_t count = text->n > 0, from = 0;

	for (uint32_t i = 0; i < text->n; i++)
		count += text->p[i] == '\n';
	*list = NULL;
	*n = 0;
	if (count > most)
		return true;
	*list = ckpt_arena_alloc(&j->run->arena, count * sizeof **list);
	if (!*list)
		return false;
	for (uint32_t i = 0; *n < count; i++) {
		if (i < text->n && text->p[i] != '\n')
			continue;
		(*list)[(*n)++] =
			(struct ckpt_name){ text->p + from, i - from };
		from = i + 1;
	}
	return true;
}

static void
judge_digest(
	struct safetensors_judge *j, enum archive_key key, enum ckpt_code code)
{
	const struct archive_text *t = &j->file->archive->keys[key];

	if (t->there && !ckpt_sha256_is_text(t->text.p, t->text.n))
		archive_report_key(
			j, code, key, "64 lower-case hexadecimal digits");
}

static enum ckpt_status
judge_overrides(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	bool good;

	if (!a->keys[ARCHIVE_OVERRIDES].there)
		return CKPT_OK;
	if (!lines(j, ARCHIVE_OVERRIDES,
		    a->keys[ARCHIVE_OVERRIDES].text.n / CKPT_SHA256_TEXT + 1,
		    &a->overrides, &a->noverrides))
		return ckpt_run_memory(j->run);
	good = a->noverrides > 0;
	for (uint32_t i = 0; i < a->noverrides; i++)
		good &= ckpt_sha256_is_text(
			a->overrides[i].p, a->overrides[i].n);
	if (!good)
		archive_report_key(j, CKPT_D_ARCHIVE_OVERRIDES,
			ARCHIVE_OVERRIDES,
			"64 lower-case hexadecimal digits on every line");
	return CKPT_OK;
}

/* ---- groups ------------------------------------------------------------- */

static bool
ascends(const struct ckpt_name *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].n == 0 ||
			(i > 0 &&
				ckpt_bytes_compare(list[i - 1].p, list[i - 1].n,
					list[i].p, list[i].n) >= 0))
			return false;
	return true;
}

static enum ckpt_status
take_groups(struct safetensors_judge *j)
{
	static const enum archive_key keys[] = { ARCHIVE_DECAY,
		ARCHIVE_NO_DECAY };
	struct archive *a = j->file->archive;

	for (unsigned i = 0; i < 2; i++) {
		if (!a->keys[keys[i]].there)
			continue;
		if (!a->keys[keys[1 - i]].there)
			archive_report_key(j, CKPT_D_ARCHIVE_GROUP_ALONE,
				keys[i],
				i ? "optimizer.decay beside it"
				  : "optimizer.no_decay beside it");
		if (!lines(j, keys[i], j->file->tensors.n, &a->groups[i],
			    &a->ngroups[i]))
			return ckpt_run_memory(j->run);
		if (!a->groups[i] || !ascends(a->groups[i], a->ngroups[i]))
			archive_report_key(j, CKPT_D_ARCHIVE_GROUP_ORDER,
				keys[i], "names in ascending bytewise order");
	}
	return CKPT_OK;
}

static int
by_name(const void *ctx, uint32_t x, uint32_t y)
{
	const struct ckpt_name *names = ctx;

	return ckpt_bytes_compare(
		names[x].p, names[x].n, names[y].p, names[y].n);
}

/* The next of both lists, which ascend; which is the list that it is of, 2 if
 * it is in both. */
static const struct ckpt_name *
next_name(const struct archive *a, uint32_t at[2], unsigned *which)
{
	const struct ckpt_name *next[2];
	int order;

	for (unsigned i = 0; i < 2; i++)
		next[i] = at[i] < a->ngroups[i] ? &a->groups[i][at[i]] : NULL;
	if (!next[0] && !next[1])
		return NULL;
	order = !next[0]   ? 1
		: !next[1] ? -1
			   : ckpt_bytes_compare(next[0]->p, next[0]->n,
				     next[1]->p, next[1]->n);
	*which = order < 0 ? 0 : order > 0 ? 1 : 2;
	at[0] += order <= 0;
	at[1] += order >= 0;
	return *which == 1 ? next[1] : next[0];
}

static void
report_names(struct safetensors_judge *j, unsigned which,
	const struct ckpt_name *want, const struct ckpt_name *have)
{
	const struct archive_text *t =
		&j->file->archive
			 ->keys[which == 1 ? ARCHIVE_NO_DECAY : ARCHIVE_DECAY];
	const struct safetensors_entry *e =
		&SAFETENSORS_ENTRIES(j->file)[t->entry];

	SAFETENSORS_REPORT(j, .code = CKPT_D_ARCHIVE_GROUP_NAMES,
		.path = ckpt_walk_text(
			&j->walk, "metadata[%u].value", t->entry),
		.off = safetensors_at(e->value_at),
		.len = e->after - e->value_at,
		.expected = want ? ckpt_v_bytes(want->p, want->n)
				 : ckpt_v_text("no more names"),
		.found = have ? ckpt_v_bytes(have->p, have->n)
			      : ckpt_v_text("no more names"),
		.note = which == 2 ? "a name is in both groups" : NULL);
}

/* Names of the parameters in bytewise order; NULL: memory. */
static struct ckpt_name *
parameter_names(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	struct ckpt_arena *arena = &j->run->arena;
	size_t n = (size_t)a->nparameters;
	struct ckpt_name *names = ckpt_arena_alloc(arena, n * sizeof *names);
	struct ckpt_name *sorted = ckpt_arena_alloc(arena, n * sizeof *sorted);
	uint32_t *order;

	if (!names || !sorted)
		return NULL;
	for (size_t k = 0; k < n; k++) {
		const struct ckpt_str *name =
			&SAFETENSORS_TENSORS(j->file)[a->parameters[k] - 1]
				 .name;

		names[k] = (struct ckpt_name){ name->p, name->n };
	}
	order = ckpt_sorted(arena, n, by_name, names);
	for (size_t k = 0; order && k < n; k++)
		sorted[k] = names[order[k]];
	return order ? sorted : NULL;
}

enum ckpt_status
archive_judge_groups(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	const struct ckpt_name *want, *have;
	struct ckpt_name *names;
	uint32_t at[2] = { 0 };
	unsigned which = 0;

	if (!a->groups[0] || !a->groups[1])
		return CKPT_OK;
	if (!ascends(a->groups[0], a->ngroups[0]) ||
		!ascends(a->groups[1], a->ngroups[1]))
		return CKPT_OK;
	names = parameter_names(j);
	if (!names)
		return ckpt_run_memory(j->run);
	for (uint64_t i = 0;; i++) {
		want = i < a->nparameters ? &names[i] : NULL;
		have = next_name(a, at, &which);
		if (!want && !have)
			return CKPT_OK;
		if (!want || !have || which == 2 ||
			ckpt_bytes_compare(
				want->p, want->n, have->p, have->n) != 0)
			break;
	}
	report_names(j, which, want, have);
	return CKPT_OK;
}

/* ---- all of them -------------------------------------------------------- */

enum ckpt_status
archive_judge_texts(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	const struct archive_text *recompute = &a->keys[ARCHIVE_RECOMPUTE];
	const struct archive_text *arithmetic = &a->keys[ARCHIVE_ARITHMETIC];

	judge_digest(j, ARCHIVE_DATA, CKPT_D_ARCHIVE_DATA);
	judge_digest(j, ARCHIVE_EXECUTABLE, CKPT_D_ARCHIVE_EXECUTABLE);
	if (arithmetic->there && arithmetic->text.n == 0)
		archive_report_key(j, CKPT_D_ARCHIVE_ARITHMETIC,
			ARCHIVE_ARITHMETIC, "a profile and a fingerprint");
	if (recompute->there && !(recompute->text.n == 1 &&
					(recompute->text.p[0] == '0' ||
						recompute->text.p[0] == '1')))
		archive_report_key(j, CKPT_D_ARCHIVE_RECOMPUTE,
			ARCHIVE_RECOMPUTE, "0 or 1");
	CKPT_TRY(judge_overrides(j));
	return take_groups(j);
}
