/* SPDX-License-Identifier: MIT */
/*
 * Edits of a draft in the words of the command line. The draft tells what an
 * edit did as data; here it becomes a line of the report, and a path that
 * leads nowhere becomes a message that names the nearest one there is.
 */
#include "cli/forge_edit.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt.h"

#include "cli/nearest.h"
#include "io/publish.h"
#include "wire/value.h"

enum { READ_STEP = 16 * 1024, SHOWN = 200 };

/* ---- paths that lead nowhere -------------------------------------------- */

/* Indices as "[i]", and without what follows the path. */
static void
without_indices(const char *words, char *out, size_t n)
{
	size_t k = 0;

	while (*words && *words != '=' && *words != ',' && k + 4 < n) {
		out[k++] = *words;
		if (*words++ != '[')
			continue;
		words += strcspn(words, "]=");
		out[k++] = 'i';
	}
	out[k] = '\0';
}

struct offers {
	struct ckpt_nearest nearest;
	struct ckpt_arena arena; /* of the paths */
	const char *typed;
	bool known; /* such a path exists, with another index */
};

static void
offer(struct offers *o, const char *path)
{
	if (path)
		ckpt_nearest_offer(&o->nearest, path);
	o->known |= path && strcmp(path, o->typed) == 0;
}

static void
offer_rows(struct offers *o, const struct ckpt_record *rec, const char *up)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *f = &rec->fields[i];
		const char *path =
			ckpt_arena_printf(&o->arena, "%s%s", up, f->name);

		if (!path)
			return;
		if (f->is_array && f->prefixed)
			offer(o,
				ckpt_arena_printf(&o->arena, "%s.count", path));
		if (f->is_array)
			path = ckpt_arena_printf(&o->arena, "%s[i]", path);
		if (!path)
			return;
		offer(o, path);
		if (f->is_array && f->type == CKPT_REC)
			offer(o, ckpt_arena_printf(&o->arena, "%s.data", path));
		path = f->type == CKPT_REC
			       ? ckpt_arena_printf(&o->arena, "%s.", path)
			       : NULL;
		if (path)
			offer_rows(o, f->rec, path);
	}
}

static void
no_path(const struct ckpt_draft *draft, struct ckpt_buf *why)
{
	const char *words = draft->path;
	struct offers o = { 0 };
	char typed[128];

	without_indices(words, typed, sizeof typed);
	ckpt_arena_init(&o.arena, UINT64_MAX);
	ckpt_nearest_init(&o.nearest, typed, strlen(typed));
	o.typed = typed;
	offer_rows(&o, draft->format->root, "");
	ckpt_buf_puts(why, "there is no '");
	ckpt_buf_escape(why, words, strcspn(words, "="), SHOWN);
	ckpt_buf_puts(why, "' in this file");
	if (!o.known && o.nearest.best)
		ckpt_buf_printf(why, "; did you mean '%s'?", o.nearest.best);
	ckpt_arena_release(&o.arena);
}

/* ---- the report --------------------------------------------------------- */

static void
show(struct ckpt_buf *report, const struct ckpt_change *change,
	const struct ckpt_value *value)
{
	if (value->kind == CKPT_V_NONE)
		ckpt_buf_puts(report, "nothing");
	else if (change->field)
		ckpt_field_value_write(report, change->field, value);
	else
		ckpt_value_write(report, value);
}

static void
tell(struct ckpt_buf *report, const struct ckpt_given *given,
	const struct ckpt_change *change)
{
	const char *words = given->value ? given->value : "";

	ckpt_buf_printf(report, "  %s%s", given->opt->name, *words ? " " : "");
	ckpt_buf_escape(report, words, strcspn(words, "="), SHOWN);
	ckpt_buf_printf(report,
		" at 0x%llx (%llu): ", (unsigned long long)change->off,
		(unsigned long long)change->off);
	show(report, change, &change->before);
	ckpt_buf_puts(report, " -> ");
	show(report, change, &change->after);
	ckpt_buf_puts(report, "\n");
}

/* ---- all edits ---------------------------------------------------------- */

static int
apply(const struct ckpt_given *given, struct ckpt_draft *draft,
	struct ckpt_buf *report, struct ckpt_buf *why)
{
	enum ckpt_edit_status status = ckpt_draft_apply(
		draft, (enum ckpt_draft_edit)given->opt->tag, given->value);

	if (status == CKPT_EDIT_OK) {
		tell(report, given, &draft->change);
		return CKPT_EXIT_OK;
	}
	ckpt_buf_printf(why, "--%s", given->opt->name);
	if (given->value) {
		ckpt_buf_puts(why, " '");
		ckpt_buf_escape(why, given->value, strlen(given->value), SHOWN);
		ckpt_buf_puts(why, "'");
	}
	ckpt_buf_puts(why, ": ");
	switch (status) {
	case CKPT_EDIT_NO_PATH: no_path(draft, why); break;
	case CKPT_EDIT_BAD: ckpt_buf_puts(why, draft->why); break;
	case CKPT_EDIT_NO_MEMORY:
		ckpt_buf_puts(why, strerror(ENOMEM));
		return CKPT_EXIT_TROUBLE;
	case CKPT_EDIT_OK: break;
	}
	return draft->opaque ? CKPT_EXIT_NEGATIVE : CKPT_EXIT_USAGE;
}

/* Extents come after all edits, the checksum after them. */
static int
turn_of(const struct ckpt_given *given)
{
	if (ckpt_opt_is_builtin(given->opt) ||
		(given->opt->kind != CKPT_OPT_LIST &&
			given->opt->kind != CKPT_OPT_FLAG))
		return -1;
	if (given->opt->tag == CKPT_DRAFT_FIX_EXTENTS)
		return 1;
	return given->opt->tag == CKPT_DRAFT_FIX_CHECKSUM ? 2 : 0;
}

int
forge_edit(const struct ckpt_args *args, struct ckpt_draft *draft,
	struct ckpt_buf *report, struct ckpt_buf *why)
{
	for (int turn = 0; turn < 3; turn++)
		for (size_t i = 0; i < args->given_count; i++) {
			const struct ckpt_given *given = &args->given[i];
			int status;

			if (turn_of(given) != turn)
				continue;
			status = apply(given, draft, report, why);
			if (status != CKPT_EXIT_OK)
				return status;
		}
	if (ckpt_draft_finish(draft) == CKPT_EDIT_OK)
		return CKPT_EXIT_OK;
	ckpt_buf_puts(why, strerror(ENOMEM));
	return CKPT_EXIT_TROUBLE;
}

/* ---- files -------------------------------------------------------------- */

int
forge_read(const char *path, struct ckpt_buf *bytes, struct stat *st)
{
	struct ckpt_source *source = ckpt_source_open(path);
	char piece[READ_STEP];
	ptrdiff_t n = -1;

	memset(st, 0, sizeof *st);
	if (source)
		/* A device may never end: not even when memory has. */
		while (!bytes->failed && !forge_interrupted() &&
			(n = source->read(source, piece, READ_STEP)) > 0)
			ckpt_buf_add(bytes, piece, (size_t)n);
	if (forge_interrupted()) {
		errno = EINTR;
		n = -1;
	}
	if (n == 0 && (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, st)
					      : stat(path, st)) != 0)
		n = -1;
	if (bytes->failed) {
		errno = ENOMEM;
		n = -1;
	}
	ckpt_source_close(source);
	return n == 0 ? CKPT_EXIT_OK : CKPT_EXIT_TROUBLE;
}

int
forge_write(
	const char *path, const struct ckpt_buf *bytes, struct ckpt_buf *why)
{
	struct ckpt_publish pub = { 0 };
	enum ckpt_status status =
		ckpt_publish_begin(&pub, &ckpt_file_ops_posix, path);

	if (status == CKPT_OK)
		status = ckpt_publish_write(&pub, bytes->p, bytes->n);
	if (status == CKPT_OK)
		status = ckpt_publish_commit(&pub);
	if (status == CKPT_OK)
		return CKPT_EXIT_OK;
	ckpt_buf_escape(why, path, strlen(path), SHOWN);
	ckpt_buf_printf(why, ": cannot %s: %s",
		pub.fault.action ? pub.fault.action : "write it",
		pub.fault.reason ? pub.fault.reason
				 : strerror(pub.fault.error));
	if (status == CKPT_ENOTSYNCED)
		ckpt_buf_puts(why, "; the new file is in place");
	return CKPT_EXIT_TROUBLE;
}
