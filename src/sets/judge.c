/* SPDX-License-Identifier: MIT */
/*
 * The end of a set: compares what was opened with what the shards were found
 * to hold, and says which rules there was nothing for.
 */
#include "sets/set_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"

static void
judge_strays(struct ckpt_set *set)
{
	bool readable = false;

	for (uint64_t i = 0; i < set->nindexes; i++)
		readable |= set->indexes[i].n > 0;
	for (uint64_t i = 0; readable && i < set->nshards; i++) {
		const struct ckpt_shard *shard = set->shards[i];

		if (shard->role == CKPT_ROLE_WEIGHTS &&
			!ckpt_index_names(set, shard->name))
			ckpt_set_add(set, CKPT_D_STRAY, shard->name, NULL);
	}
}

/* A folder of folders is told, in the order of training. */
static void
judge_folders(struct ckpt_set *set)
{
	const struct ckpt_folder_entry *last = NULL;
	struct ckpt_buf names;
	uint64_t n = 0;

	for (uint64_t i = 0; i < set->folder.n; i++)
		n += set->folder.entries[i].kind == CKPT_ENTRY_FOLDER;
	if (n == 0) {
		ckpt_set_add(set, CKPT_D_NOTHING_TO_VERIFY, "", NULL);
		return;
	}
	ckpt_run_fact(set->run, "subfolders", ckpt_v_u64(n));
	ckpt_buf_init(&names);
	for (uint64_t k = 0; k < n && k < 100; k++) {
		const struct ckpt_folder_entry *next = NULL;

		for (uint64_t i = 0; i < set->folder.n; i++) {
			const struct ckpt_folder_entry *e =
				&set->folder.entries[i];

			if (e->kind == CKPT_ENTRY_FOLDER &&
				(!last || ckpt_name_by_number(
						  last->name, e->name) < 0) &&
				(!next || ckpt_name_by_number(
						  e->name, next->name) < 0))
				next = e;
		}
		ckpt_buf_puts(&names, k ? ", " : "");
		ckpt_buf_escape(&names, next->name, strlen(next->name), 0);
		last = next;
	}
	if (n > 100)
		ckpt_buf_printf(&names, ", %" PRIu64 " more", n - 100);
	/* A trainer's file is something that was verified. */
	if (!set->has_trainer)
		ckpt_set_add(set, CKPT_D_SUBFOLDERS, "", names.p);
	set->run->diags.lost |= names.failed;
	ckpt_buf_release(&names);
}

static bool
holds_anything(const struct ckpt_set *set)
{
	bool any = set->nshards > 0 || set->nindexes > 0 || set->has_config;

	for (uint64_t i = 0; i < set->folder.n; i++) {
		const struct ckpt_folder_entry *e = &set->folder.entries[i];

		any |= e->kind == CKPT_ENTRY_FILE &&
		       (e->role == CKPT_ROLE_OTHER ||
			       ckpt_role_resumes(e->role));
	}
	return any;
}

static void
skip(struct ckpt_set *set, const enum ckpt_code *codes, size_t n,
	const char *why)
{
	for (size_t i = 0; i < n; i++)
		ckpt_diags_not_ran(&set->run->diags, codes[i], why);
}

/* Rules for which there is nothing in this set. */
static void
skip_rules(struct ckpt_set *set)
{
	static const enum ckpt_code of_indexes[] = { CKPT_D_INDEX_JSON,
		CKPT_D_INDEX_REPEAT, CKPT_D_INDEX_MAP, CKPT_D_SHARD_PATH,
		CKPT_D_STALE_INDEX, CKPT_D_SHARD_MISSING, CKPT_D_SHARD_BAD,
		CKPT_D_TENSOR_MISSING, CKPT_D_TENSOR_UNPLACED,
		CKPT_D_TOTAL_SIZE, CKPT_D_STRAY };
	static const enum ckpt_code of_settings[] = { CKPT_D_CONFIG_VOCAB,
		CKPT_D_CONFIG_HIDDEN, CKPT_D_CONFIG_LAYERS, CKPT_D_CONFIG_DTYPE,
		CKPT_D_CONFIG_HEAD, CKPT_D_TOKENIZER_IDS,
		CKPT_D_TOKENIZER_TORN };
	static const enum ckpt_code of_folders[] = { CKPT_D_ORPHAN_TEMPORARY,
		CKPT_D_NOTHING_TO_VERIFY, CKPT_D_UNFINISHED, CKPT_D_SIDE_TORN,
		CKPT_D_STRAY, CKPT_D_LEFTOVER, CKPT_D_RESUME, CKPT_D_NO_WEIGHTS,
		CKPT_D_CONFIG_VOCAB, CKPT_D_CONFIG_HIDDEN, CKPT_D_CONFIG_LAYERS,
		CKPT_D_CONFIG_DTYPE, CKPT_D_CONFIG_HEAD, CKPT_D_TOKENIZER_IDS,
		CKPT_D_TOKENIZER_TORN, CKPT_D_SUBFOLDERS };

	for (size_t i = 0; i < ckpt_rule_count(); i++)
		if (strcmp(ckpt_rule_at(i)->check, "set") == 0 &&
			!ckpt_set_asks(set, (enum ckpt_code)i))
			ckpt_diags_not_ran(&set->run->diags, (enum ckpt_code)i,
				"the reference profile gives no warnings");
	if (set->nindexes == 0)
		skip(set, of_indexes, sizeof of_indexes / sizeof of_indexes[0],
			"there is no index");
	if (!set->whole)
		skip(set, of_folders, sizeof of_folders / sizeof of_folders[0],
			"an index is only itself and its shards");
	else if (!set->listed)
		skip(set, of_folders, sizeof of_folders / sizeof of_folders[0],
			"the folder could not be read");
	else if (!holds_anything(set))
		skip(set, of_settings,
			sizeof of_settings / sizeof of_settings[0],
			"there is nothing to compare");
}

/* A shard whose tensors could not be put in order is not compared. */
static void
report_unsorted(struct ckpt_set *set)
{
	for (uint64_t i = 0; i < set->nshards; i++) {
		struct ckpt_shard *shard = set->shards[i];

		if (shard->judged && !shard->sorted)
			ckpt_set_trouble(set, ckpt_arena_status(&shard->arena),
				shard->name);
	}
}

enum ckpt_verdict
ckpt_set_judge(struct ckpt_set *set)
{
	struct ckpt_diags *diags = &set->run->diags;

	report_unsorted(set);
	for (uint64_t i = 0; i < set->nindexes; i++)
		ckpt_index_judge(set, &set->indexes[i]);
	if (set->whole && set->listed) {
		judge_strays(set);
		ckpt_side_judge(set);
		if (holds_anything(set))
			ckpt_config_judge(set);
		else if (diags->errors == 0)
			judge_folders(set);
	}
	skip_rules(set);
	if (diags->lost)
		ckpt_set_trouble(set, CKPT_ENOMEM, "");
	ckpt_diags_close(diags);
	return ckpt_diags_verdict(diags);
}
