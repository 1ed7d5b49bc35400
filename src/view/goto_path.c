/* SPDX-License-Identifier: MIT */
/*
 * Places by name and by path. The index is looked at anew each time; numbers
 * in a path are compared with what the file declares, and an element's place
 * is computed with checks, because shapes and offsets are claims.
 */
#include "view/goto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "format/alias.h"
#include "wire/value.h"

/* ---- Tensors ------------------------------------------------------------ */

static enum view_went
go_tensor(struct view *view, const struct ckpt_span *span, size_t of)
{
	struct ckpt_buf name = { 0 };
	bool placed = span->len > 0 && span->off < view->doc->size;

	view_jump(view, placed ? span->off : span->record_at);
	ckpt_span_name_write(&name, span);
	ckpt_buf_printf(&name, ", %s", span->role);
	if (of > 1)
		ckpt_buf_printf(&name, ": the first of %zu with that", of);
	if (!placed)
		ckpt_buf_puts(&name, "; it has no bytes in the file, this is "
				     "its record");
	view_say(view, placed ? VIEW_BAR : VIEW_WARNING, "%s",
		name.p ? name.p : "");
	ckpt_buf_release(&name);
	return VIEW_WENT;
}

/* By its name, as it is shown or as it is stored, or by a part of it. */
enum view_went
view_go_name(struct view *view, const char *where, bool whole)
{
	const struct ckpt_spans *spans = view->doc->spans;
	const struct ckpt_span *first = NULL;
	struct ckpt_buf shown = { 0 };
	size_t n = 0, bytes = strlen(where);

	for (uint64_t i = 0; spans && i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];
		const char *text;

		/* A name is shown with at least its bytes. */
		if (whole && bytes < span->name_len &&
			span->name_len <= CKPT_BUF_SHOWN)
			continue;
		ckpt_buf_clear(&shown);
		ckpt_span_name_write(&shown, span);
		text = shown.p ? shown.p : "";
		if (whole ? strcmp(text, where) != 0 &&
					(span->name_len != bytes ||
						memcmp(span->name, where,
							bytes) != 0)
			  : !strcasestr(text, where))
			continue;
		if (n++ == 0)
			first = span;
	}
	ckpt_buf_release(&shown);
	return first ? go_tensor(view, first, n) : VIEW_WENT_NOT;
}

/* ---- Paths -------------------------------------------------------------- */

/* "[1,2]" or "[7]" at *path, and nothing behind it. */
static bool
read_index(const char *path, uint64_t *a, uint64_t *b, bool *pair)
{
	char one[24], two[24];
	int end = 0;

	*pair = sscanf(path, "[%23[0-9],%23[0-9]]%n", one, two, &end) == 2 &&
		end > 0;
	if (!*pair && (sscanf(path, "[%23[0-9]]%n", one, &end) != 1 || !end))
		return false;
	return path[end] == '\0' && view_number_read(one, a) &&
	       (!*pair || view_number_read(two, b));
}

/* "[1,2]" of a tensor's data. */
static enum view_went
go_element(struct view *view, const struct ckpt_span *span, const char *path)
{
	uint64_t element, column = 0, n, off;
	bool pair;

	if (!read_index(path, &element, &column, &pair))
		return view_went_nowhere(
			view, "an element is data[7], or data[1,2]: ", path);
	if (pair && (span->rank != 2 || element >= span->dims[0] ||
			    column >= span->dims[1]))
		return view_went_nowhere(
			view, "the tensor has no element ", path);
	if (pair && (!ckpt_mul_u64(element, span->dims[1], &element) ||
			    !ckpt_add_u64(element, column, &element)))
		return view_went_nowhere(
			view, "the tensor has no element ", path);
	if (!ckpt_span_elements(span, &n) || element >= n)
		return view_went_nowhere(
			view, "the tensor has no element ", path);
	if (span->width == 0)
		return view_went_nowhere(view,
			"the width of its elements is not known: ",
			span->dtype);
	if (!ckpt_mul_u64(element, span->width, &off) ||
		!ckpt_add_u64(off, span->off, &off))
		off = UINT64_MAX;
	return view_went_to(view, off);
}

/* A field of those that are in memory; of strings also their parts. */
static const struct ckpt_span_field *
find_field(const struct ckpt_spans *spans, const char *path, uint64_t *off)
{
	for (uint64_t i = 0; i < spans->nfields; i++) {
		const struct ckpt_span_field *f = &spans->fields[i];
		size_t n = strlen(f->path);
		bool bytes;

		if (strncmp(f->path, path, n) != 0)
			continue;
		*off = f->off;
		if (path[n] == '\0')
			return f;
		bytes = strcmp(path + n, ".bytes") == 0;
		if (f->type != CKPT_STR ||
			(!bytes && strcmp(path + n, ".length") != 0))
			continue;
		if (bytes && !ckpt_add_u64(f->off, 4, off))
			continue;
		return f;
	}
	return NULL;
}

static enum view_went
go_field(struct view *view, const char *path)
{
	const struct ckpt_spans *spans = view->doc->spans;
	uint64_t off;

	if (!spans || !find_field(spans, path, &off))
		return VIEW_WENT_NOT;
	return view_went_to(view, off);
}

/* A field of a record that may be in no list: looking at the record's ends
 * loads the fields around them. */
static enum view_went
go_record_field(
	struct view *view, const struct ckpt_span *span, const char *path)
{
	const uint64_t ends[] = { span->record_at,
		span->record_at +
			(span->record_len ? span->record_len - 1 : 0) };
	struct view_owner owner;
	uint64_t off;

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		view_doc_fields(view->doc, ends[i]);
		if (view_doc_owner(view->doc, ends[i], &owner) && owner.spans &&
			find_field(owner.spans, path, &off))
			return view_went_to(view, off);
	}
	return view_went_nowhere(view, "no field has the path ", path);
}

static const struct ckpt_span *
find_record(const struct ckpt_spans *spans, uint64_t index)
{
	if (index < spans->ntensors && spans->tensors[index].index == index)
		return &spans->tensors[index];
	for (uint64_t i = 0; i < spans->ntensors; i++)
		if (spans->tensors[i].index == index)
			return &spans->tensors[i];
	return NULL;
}

/* What stands behind a record: "", ".data", ".data[1,2]", ".offset". */
static enum view_went
go_record(struct view *view, const struct ckpt_span *span, const char *rest,
	bool by_name)
{
	struct ckpt_buf path = { 0 };
	enum view_went went;

	if (*rest == '\0' && by_name)
		return go_tensor(view, span, 1);
	if (*rest == '\0')
		return view_went_to(view, span->record_at);
	if (strcmp(rest, ".data") == 0)
		return go_tensor(view, span, 1);
	if (strncmp(rest, ".data[", 6) == 0)
		return go_element(view, span, rest + 5);
	ckpt_buf_printf(&path, "%s[%" PRIu64 "]%s", view->doc->spans->records,
		span->index, rest);
	went = path.failed ? VIEW_WENT_NOWHERE
			   : go_record_field(view, span, path.p);
	ckpt_buf_release(&path);
	return went;
}

/* "records[3]" and what is behind it. */
static enum view_went
go_record_path(struct view *view, const char *path)
{
	const struct ckpt_spans *spans = view->doc->spans;
	const struct ckpt_span *span;
	size_t n = spans ? strlen(spans->records) : 0, k;
	char number[24];
	uint64_t index;

	if (n == 0 || strncmp(path, spans->records, n) != 0 || path[n] != '[')
		return VIEW_WENT_NOT;
	k = strspn(path + n + 1, "0123456789");
	if (k == 0 || k >= sizeof number || path[n + 1 + k] != ']')
		return VIEW_WENT_NOT;
	memcpy(number, path + n + 1, k);
	number[k] = '\0';
	span = view_number_read(number, &index) ? find_record(spans, index)
						: NULL;
	if (!span)
		return view_went_nowhere(
			view, "there is no such record: ", path);
	return go_record(view, span, path + n + 2 + k, false);
}

enum view_went
view_go_path(struct view *view, const char *where)
{
	enum view_went went = go_record_path(view, where);

	return went == VIEW_WENT_NOT ? go_field(view, where) : went;
}

enum view_went
view_go_part_of_path(struct view *view, const char *where)
{
	const struct ckpt_spans *spans = view->doc->spans;
	const struct ckpt_span_field *first = NULL;
	size_t n = 0;

	for (uint64_t i = 0; spans && i < spans->nfields; i++)
		if (strcasestr(spans->fields[i].path, where) && n++ == 0)
			first = &spans->fields[i];
	if (!first)
		return VIEW_WENT_NOT;
	view_jump(view, first->off);
	if (n > 1)
		view_say(view, VIEW_BAR, "%s: the first of %zu with that",
			first->path, n);
	else
		view_say(view, VIEW_BAR, "%s", first->path);
	return VIEW_WENT;
}

/* ---- Names of records by role ------------------------------------------- */

/* Whether a record is meant by text, what stands behind the prefix of its
 * alias; *rest is what follows. */
static bool
alias_is(const struct ckpt_alias *alias, const struct ckpt_span *span,
	uint64_t number, const char *text, const char **rest)
{
	char index[32];
	size_t n = span->name_len;

	switch (alias->by) {
	case CKPT_ALIAS_ONLY: n = 0; break;
	case CKPT_ALIAS_BY_INDEX:
		n = (size_t)snprintf(
			index, sizeof index, "[%" PRIu64 "]", number);
		if (strncmp(text, index, n) != 0)
			return false;
		break;
	case CKPT_ALIAS_BY_NAME:
		if (strlen(text) < n || memcmp(text, span->name, n) != 0)
			return false;
		break;
	}
	*rest = text + n;
	return **rest == '\0' || **rest == '.';
}

static enum view_went
go_alias_of(struct view *view, const struct ckpt_alias *alias, const char *role,
	const char *where)
{
	const struct ckpt_spans *spans = view->doc->spans;
	const struct ckpt_span *found = NULL;
	const char *rest, *behind = NULL;
	uint64_t number = 0;

	where += strlen(alias->prefix);
	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];

		if (strcmp(span->role, role) != 0)
			continue;
		/* A name may hold dots: the longest is taken. */
		if (alias_is(alias, span, number++, where, &rest) &&
			(!found || span->name_len > found->name_len)) {
			found = span;
			behind = rest;
		}
	}
	return found ? go_record(view, found, behind, true) : VIEW_WENT_NOT;
}

/* "second:NAME", "token[0]" */
enum view_went
view_go_alias(struct view *view, const char *where)
{
	const struct ckpt_format *format = view->doc->format;
	const struct ckpt_field *records =
		format && format->root ? ckpt_payload_records(format) : NULL;
	const struct ckpt_field *role =
		records ? ckpt_record_field(records->rec, "role") : NULL;

	for (size_t i = 0; role && view->doc->spans && i < format->naliases;
		i++) {
		const struct ckpt_alias *alias = &format->aliases[i];
		const char *name = ckpt_tag_name(role->want, alias->role);
		enum view_went went;

		if (!name || strncmp(where, alias->prefix,
				     strlen(alias->prefix)) != 0)
			continue;
		went = go_alias_of(view, alias, name, where);
		if (went != VIEW_WENT_NOT)
			return went;
	}
	return VIEW_WENT_NOT;
}
