/* SPDX-License-Identifier: MIT */
/*
 * The files beside the weights: settings and progress have to be JSON objects,
 * state that we cannot read has to have bytes, and what is unfinished is told.
 * Then whether training could go on from what is there.
 */
#include "sets/set_parts.h"

#include <string.h>

#include "io/temporary_name.h"

/* What of a resume set there is. */
struct resume {
	bool optimizer, scheduler, rng, weights;
	bool trainer;     /* trainer_state.json, torn or not */
	bool unfinished;  /* it says that training is to go on */
	bool distributed; /* folders stand for the single files */
};

static const struct ckpt_folder_entry *
find_file(const struct ckpt_set *set, const char *name)
{
	const struct ckpt_folder_entry *e =
		ckpt_folder_find(&set->folder, name);

	return e && (e->kind == CKPT_ENTRY_FILE || e->kind == CKPT_ENTRY_LOST)
		       ? e
		       : NULL;
}

enum ckpt_status
ckpt_side_read(struct ckpt_set *set, const char *name, struct ckpt_doc *doc)
{
	const char *path = ckpt_set_path(set, name);
	const uint8_t *text;
	const char *pointer;
	enum ckpt_status status;
	size_t n;

	if (!path)
		return ckpt_arena_status(&set->arena);
	status = ckpt_entry_read(&set->arena, path, &text, &n);
	if (status == CKPT_OK)
		status = ckpt_doc_read(doc, &set->arena, text, n, false);
	if (status != CKPT_OK)
		return status;
	pointer = doc->root ? NULL : ckpt_set_pointer(set, text, n);
	if (pointer)
		doc->fault = "a Git LFS pointer";
	else if (n == 0)
		doc->fault = "no bytes";
	return CKPT_OK;
}

/* A file that has to be an object. CKPT_OK also if it is none, or cannot be
 * read, which is said. */
static enum ckpt_status
open_object(
	struct ckpt_set *set, const char *name, struct ckpt_doc *doc, bool *has)
{
	enum ckpt_status status;

	*has = find_file(set, name) != NULL;
	if (!*has)
		return CKPT_OK;
	status = ckpt_side_read(set, name, doc);
	if (status == CKPT_EIO) {
		ckpt_set_trouble(set, status, name);
		return CKPT_OK;
	}
	if (status != CKPT_OK)
		return status;
	if (!doc->root)
		ckpt_set_report(set, CKPT_D_SIDE_TORN, name,
			&(struct ckpt_diag){ .off = doc->fault_at,
				.found = ckpt_set_text(set, "%s, at byte %llu",
					doc->fault,
					(unsigned long long)doc->fault_at) });
	else if (doc->root->kind != CKPT_DOC_OBJECT)
		ckpt_set_add(
			set, CKPT_D_SIDE_TORN, name, "JSON, but no object");
	return CKPT_OK;
}

static void
look_at_unfinished(struct ckpt_set *set, const char *name)
{
	size_t n = ckpt_name_unfinished(name);
	const char *whole = n ? ckpt_arena_strndup(&set->arena, name, n) : NULL;

	if (!whole)
		return;
	if (find_file(set, whole))
		ckpt_set_add(set, CKPT_D_LEFTOVER, name, NULL);
	else
		ckpt_set_report(set, CKPT_D_UNFINISHED, name,
			&(struct ckpt_diag){
				.expected = ckpt_set_text(set, "%s",
					ckpt_set_quoted(set, whole, n)) });
}

bool
ckpt_set_temporary(struct ckpt_buf *found, const char *name)
{
	struct ckpt_temporary_name parts;

	if (!ckpt_temporary_name_parse(name, &parts))
		return false;
	ckpt_buf_puts(found, "an unfinished copy of ");
	ckpt_buf_escape(found, parts.name, parts.n, 0);
	ckpt_buf_printf(found, "%s by process %llu", parts.whole ? "" : "...",
		(unsigned long long)parts.pid);
	return true;
}

static void
look_at_temporary(struct ckpt_set *set, const struct ckpt_folder_entry *e)
{
	struct ckpt_buf found;

	ckpt_buf_init(&found);
	if (!e->link && ckpt_set_temporary(&found, e->name))
		ckpt_set_add(set, CKPT_D_ORPHAN_TEMPORARY, e->name, found.p);
	set->run->diags.lost |= found.failed;
	ckpt_buf_release(&found);
}

static void
look_at_opaque(struct ckpt_set *set, const struct ckpt_folder_entry *e)
{
	if (e->role != CKPT_ROLE_OTHER && !ckpt_role_resumes(e->role))
		return;
	if (ckpt_set_find_shard(set, e->name))
		return;
	if (e->kind == CKPT_ENTRY_LOST && !ckpt_index_names(set, e->name))
		ckpt_set_add(
			set, CKPT_D_IO, e->name, "a symbolic link to nothing");
	else if (e->kind == CKPT_ENTRY_FILE)
		ckpt_set_look_opaque(set, e->name, e->size);
}

enum ckpt_status
ckpt_side_open(struct ckpt_set *set)
{
	enum ckpt_status status;

	for (uint64_t i = 0; i < set->folder.n; i++) {
		const struct ckpt_folder_entry *e = &set->folder.entries[i];

		look_at_opaque(set, e);
		if (e->kind != CKPT_ENTRY_FILE)
			continue;
		look_at_unfinished(set, e->name);
		look_at_temporary(set, e);
	}
	status = open_object(
		set, "trainer_state.json", &set->trainer, &set->has_trainer);
	if (status == CKPT_OK)
		status = open_object(
			set, "config.json", &set->config, &set->has_config);
	return status;
}

/* ---- Resume sets -------------------------------------------------------- */

static bool
has_weights(const struct ckpt_set *set)
{
	for (uint64_t i = 0; i < set->nshards; i++)
		if (!ckpt_role_resumes(set->shards[i]->role))
			return true;
	for (uint64_t i = 0; i < set->folder.n; i++) {
		const struct ckpt_folder_entry *e = &set->folder.entries[i];

		if (e->kind == CKPT_ENTRY_FILE && e->role == CKPT_ROLE_OTHER)
			return true;
	}
	return false;
}

static void
look_at(struct resume *r, const struct ckpt_folder_entry *e)
{
	if (e->kind == CKPT_ENTRY_FOLDER)
		r->distributed |= ckpt_name_distributed(e->name);
	if (e->kind != CKPT_ENTRY_FILE && e->kind != CKPT_ENTRY_LOST)
		return;
	r->optimizer |= e->role == CKPT_ROLE_OPTIMIZER;
	r->scheduler |= e->role == CKPT_ROLE_SCHEDULER;
	r->rng |= e->role == CKPT_ROLE_RNG;
}

static void
judge_resume(struct ckpt_set *set, const struct resume *r)
{
	if (!r->optimizer && !r->scheduler && !r->rng && !r->unfinished)
		return;
	if (!r->optimizer && !r->distributed)
		ckpt_set_add(set, CKPT_D_RESUME, "", "no optimizer file");
	if (!r->scheduler && !r->distributed && r->trainer)
		ckpt_set_add(set, CKPT_D_RESUME, "", "no scheduler file");
	if (!r->rng)
		ckpt_set_add(set, CKPT_D_RESUME, "",
			"no file of random number states");
	if (!r->weights && !r->distributed)
		ckpt_set_add(set, CKPT_D_RESUME, "", "no weights");
}

void
ckpt_side_judge(struct ckpt_set *set)
{
	const struct ckpt_doc_value *state = set->trainer.root;
	struct resume r = { .trainer = set->has_trainer };
	bool weights = has_weights(set);
	double step, most;

	for (uint64_t i = 0; i < set->folder.n; i++)
		look_at(&r, &set->folder.entries[i]);
	r.weights = weights || set->nindexes > 0;
	r.unfinished =
		ckpt_doc_f64(ckpt_doc_get(state, "global_step"), &step) &&
		ckpt_doc_f64(ckpt_doc_get(state, "max_steps"), &most) &&
		step < most;
	judge_resume(set, &r);
	if (set->has_config && !weights && set->nindexes == 0)
		ckpt_set_add(set, CKPT_D_NO_WEIGHTS, "config.json", NULL);
}
