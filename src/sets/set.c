/* SPDX-License-Identifier: MIT */
/*
 * Opening a set: reads names, indexes and side files, and decides what is to be
 * verified. Findings are ranked in the order in which they are made, which is
 * the same for the same files.
 */
#include "sets/set_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "io/temporary_name.h"

/* ---- Findings ----------------------------------------------------------- */

bool
ckpt_set_asks(const struct ckpt_set *set, enum ckpt_code code)
{
	return set->run->options.profile == CKPT_PROFILE_STRICT ||
	       ckpt_rule_row(code)->severity == CKPT_ERROR;
}

void
ckpt_set_report(struct ckpt_set *set, enum ckpt_code code, const char *name,
	const struct ckpt_diag *given)
{
	struct ckpt_diag diag = *given;
	struct ckpt_buf path;

	ckpt_buf_init(&path);
	ckpt_buf_escape(&path, name, strlen(name), 0);
	diag.path = path.p ? path.p : "";
	set->run->diags.lost |=
		path.failed || set->run->texts.failure != CKPT_ARENA_OK;
	if (ckpt_set_asks(set, code))
		ckpt_run_add(set->run, code, set->finds++, &diag);
	ckpt_buf_release(&path);
	ckpt_arena_reuse(&set->run->texts);
}

struct ckpt_value
ckpt_set_text(struct ckpt_set *set, const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = ckpt_arena_vprintf(&set->run->texts, format, args);
	va_end(args);
	return ckpt_v_text(text ? text : "");
}

const char *
ckpt_set_quoted(struct ckpt_set *set, const void *p, size_t n)
{
	struct ckpt_buf buf;
	const char *text;

	ckpt_buf_init(&buf);
	ckpt_buf_quote(&buf, p, n);
	text = buf.failed ? NULL
			  : ckpt_arena_strndup(&set->run->texts, buf.p, buf.n);
	ckpt_buf_release(&buf);
	return text ? text : "";
}

const char *
ckpt_set_number(struct ckpt_set *set, const struct ckpt_doc_value *number)
{
	enum { MOST = 40 };

	return ckpt_set_text(set, "%.*s%s",
		number->n < MOST ? (int)number->n : MOST, number->p,
		number->n > MOST ? "..." : "")
		.p;
}

void
ckpt_set_add(struct ckpt_set *set, enum ckpt_code code, const char *name,
	const char *found)
{
	ckpt_set_report(set, code, name,
		&(struct ckpt_diag){
			.found = found ? ckpt_v_text(found) : ckpt_v_none() });
}

void
ckpt_set_trouble(
	struct ckpt_set *set, enum ckpt_status status, const char *name)
{
	int error = errno;

	switch (status) {
	case CKPT_OK:
	case CKPT_STOP:
	case CKPT_REJECTED:
	case CKPT_EUNSUPPORTED:
	case CKPT_EDESTINATION:
	case CKPT_ENOATOMIC:
	case CKPT_ENOTSYNCED: break;
	case CKPT_EIO:
		if (error == EBUSY)
			ckpt_set_add(set, CKPT_D_CHANGED, name, NULL);
		else
			ckpt_set_add(set, CKPT_D_IO, name, strerror(error));
		break;
	case CKPT_ENOMEM:
		ckpt_set_add(set, CKPT_D_OUT_OF_MEMORY, name, strerror(ENOMEM));
		break;
	case CKPT_ELIMIT:
		ckpt_set_report(set, CKPT_D_MEMORY_LIMIT, name,
			&(struct ckpt_diag){
				.found = ckpt_set_text(set,
					"more than %" PRIu64 " bytes needed",
					set->max_memory) });
		break;
	}
}

/* ---- Files -------------------------------------------------------------- */

const char *
ckpt_set_path(struct ckpt_set *set, const char *name)
{
	return ckpt_arena_printf(&set->arena, "%s%s", set->root, name);
}

const char *
ckpt_set_pointer(struct ckpt_set *set, const uint8_t *text, size_t n)
{
	static const char start[] = "version https://git-lfs";
	char words[160];
	const char *name;

	if (n < sizeof start - 1 || memcmp(text, start, sizeof start - 1) != 0)
		return NULL;
	name = ckpt_foreign_name(text, n, words, sizeof words);
	return ckpt_set_text(set, "%s", name ? name : "a Git LFS pointer").p;
}

void
ckpt_set_look_opaque(struct ckpt_set *set, const char *name, uint64_t size)
{
	enum { POINTER_MOST = 1024 }; /* the specification's own bound */
	const char *path, *pointer;
	const uint8_t *text;
	enum ckpt_status status;
	size_t n;

	if (size == 0) {
		ckpt_set_add(set, CKPT_D_FILE_EMPTY, name, NULL);
		return;
	}
	if (size >= POINTER_MOST)
		return;
	path = ckpt_set_path(set, name);
	status = path ? ckpt_entry_read(&set->arena, path, &text, &n)
		      : ckpt_arena_status(&set->arena);
	if (status != CKPT_OK) {
		ckpt_set_trouble(set, status, name);
		return;
	}
	pointer = ckpt_set_pointer(set, text, n);
	if (pointer)
		ckpt_set_add(set, CKPT_D_LFS_POINTER, name, pointer);
}

bool
ckpt_set_verifies(struct ckpt_set *set, const struct ckpt_folder_entry *entry,
	const char *path)
{
	struct ckpt_temporary_name temporary;
	bool claims = ckpt_name_ends(entry->name, strlen(entry->name),
			      ".safetensors") ||
		      ckpt_entry_claims(entry->name);
	bool opened;

	(void)set;
	if (ckpt_name_unfinished(entry->name) ||
		(!entry->link &&
			ckpt_temporary_name_parse(entry->name, &temporary)))
		return false;
	switch (entry->role) {
	case CKPT_ROLE_INDEX:
	case CKPT_ROLE_SIDE: return false;
	case CKPT_ROLE_NONE:
	case CKPT_ROLE_WEIGHTS:
	case CKPT_ROLE_OTHER:
	case CKPT_ROLE_OPTIMIZER:
	case CKPT_ROLE_SCHEDULER:
	case CKPT_ROLE_RNG: break;
	}
	if (entry->kind == CKPT_ENTRY_LOST)
		return claims;
	if (entry->kind != CKPT_ENTRY_FILE)
		return false;
	/* What cannot be opened may be one. */
	return claims || ckpt_entry_peek(path, &opened) || !opened;
}

/* ---- Opening ------------------------------------------------------------ */

static struct ckpt_set *
set_new(const struct ckpt_options *options)
{
	struct ckpt_set *set = calloc(1, sizeof *set);

	if (!set)
		return NULL;
	set->run = ckpt_run_new(options);
	if (!set->run) {
		free(set);
		return NULL;
	}
	set->max_memory = set->run->options.max_memory;
	ckpt_arena_init(&set->arena, set->max_memory);
	ckpt_diags_ran(&set->run->diags, "set");
	return set;
}

void
ckpt_set_free(struct ckpt_set *set)
{
	if (!set)
		return;
	for (uint64_t i = 0; i < set->nshards; i++)
		ckpt_arena_release(&set->shards[i]->arena);
	ckpt_arena_release(&set->arena);
	ckpt_run_free(set->run);
	free(set);
}

/* By name, or JSON of another name that turns out to be one. */
static bool
is_index(struct ckpt_set *set, const struct ckpt_folder_entry *e)
{
	const char *path;

	if (e->role == CKPT_ROLE_INDEX)
		return e->kind == CKPT_ENTRY_FILE || e->kind == CKPT_ENTRY_LOST;
	if (e->role != CKPT_ROLE_NONE || e->kind != CKPT_ENTRY_FILE ||
		!ckpt_name_ends(e->name, strlen(e->name), ".json"))
		return false;
	path = ckpt_set_path(set, e->name);
	return path && ckpt_set_is_index(path, set->max_memory);
}

static enum ckpt_status
open_indexes(struct ckpt_set *set)
{
	for (uint64_t i = 0; i < set->folder.n; i++) {
		const struct ckpt_folder_entry *e = &set->folder.entries[i];
		enum ckpt_status status = CKPT_OK;

		if (is_index(set, e))
			status = ckpt_index_open(set, e->name);
		if (status != CKPT_OK)
			return status;
	}
	return CKPT_OK;
}

/* A link to nothing that an index names is a missing shard, and is said so. */
static enum ckpt_status
add_members(struct ckpt_set *set)
{
	for (uint64_t i = 0; i < set->folder.n; i++) {
		const struct ckpt_folder_entry *e = &set->folder.entries[i];
		const char *path = ckpt_set_path(set, e->name);

		if (!path)
			return ckpt_arena_status(&set->arena);
		if (e->kind == CKPT_ENTRY_LOST &&
			ckpt_index_names(set, e->name))
			continue;
		if (ckpt_set_verifies(set, e, path) &&
			!ckpt_set_add_shard(set, e->name, e->role))
			return ckpt_arena_status(&set->arena);
	}
	return CKPT_OK;
}

static enum ckpt_status
open_members(struct ckpt_set *set)
{
	enum ckpt_status status = open_indexes(set);

	if (status == CKPT_OK)
		status = add_members(set);
	return status == CKPT_OK ? ckpt_side_open(set) : status;
}

struct ckpt_set *
ckpt_set_folder(const char *path, const struct ckpt_options *options)
{
	struct ckpt_set *set = set_new(options);
	size_t n = strlen(path);
	enum ckpt_status status = CKPT_OK;

	if (!set)
		return NULL;
	set->whole = true;
	set->root = ckpt_arena_printf(&set->arena, "%s%s", path,
		n > 0 && path[n - 1] == '/' ? "" : "/");
	if (set->root) {
		set->listed = ckpt_folder_read(&set->folder, &set->arena, path);
		status = set->listed ? open_members(set) : CKPT_EIO;
	}
	/* Also where the set went on without what memory refused. */
	if (set->arena.failure != CKPT_ARENA_OK)
		status = ckpt_arena_status(&set->arena);
	ckpt_set_trouble(set, status, "");
	return set;
}

struct ckpt_set *
ckpt_set_index(const char *path, const struct ckpt_options *options)
{
	struct ckpt_set *set = set_new(options);
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	enum ckpt_status status;

	if (!set)
		return NULL;
	set->root =
		ckpt_arena_strndup(&set->arena, path, (size_t)(name - path));
	if (set->root) {
		/* Only to say what else is there: failing is no trouble. */
		set->listed = ckpt_folder_read(&set->folder, &set->arena,
			name == path ? "." : set->root);
		status = ckpt_index_open(set, name);
	} else {
		status = ckpt_arena_status(&set->arena);
	}
	ckpt_set_trouble(set, status, "");
	return set;
}

/* ---- Looking at a set --------------------------------------------------- */

struct ckpt_shard *
ckpt_set_shard(const struct ckpt_set *set, size_t i)
{
	return i < set->nshards ? set->shards[i] : NULL;
}

size_t
ckpt_set_shard_count(const struct ckpt_set *set)
{
	return (size_t)set->nshards;
}

struct ckpt_run *
ckpt_set_run(const struct ckpt_set *set)
{
	return set->run;
}
