/* SPDX-License-Identifier: MIT */
/*
 * Places by name and by path. The index is looked at anew each time; numbers
 * in a path are compared with what the file declares, and an element's place
 * is computed with checks, because shapes and offsets are claims.
 */
#include "view/goto.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "wire/value.h"

/* What several places have in common. */
static void
write_alike(struct ckpt_buf *buf, const char *part, const char *of)
{
	if (!part) {
		ckpt_buf_printf(buf, "of that %s", of);
		return;
	}
	ckpt_buf_puts(buf, "with \"");
	ckpt_buf_escape(buf, part, strlen(part), 40);
	ckpt_buf_printf(buf, "\" in the %s", of);
}

/* ---- Tensors ------------------------------------------------------------ */

enum view_went
view_go_tensor(struct view *view, const struct ckpt_span *span, size_t of,
	const char *alike)
{
	struct ckpt_buf name = { 0 };
	bool placed = span->len > 0 && span->off < view->doc->size;

	view_jump(view, placed ? span->off : span->record_at);
	ckpt_span_name_write(&name, span);
	ckpt_buf_printf(&name, ", %s", span->role);
	if (of > 1)
		ckpt_buf_printf(&name, ": the first of %zu %s", of, alike);
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
	struct ckpt_buf shown = { 0 }, alike = { 0 };
	enum view_went went = VIEW_WENT_NOT;
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
	write_alike(&alike, whole ? NULL : where, "name");
	if (first)
		went = view_go_tensor(view, first, n, alike.p ? alike.p : "");
	ckpt_buf_release(&shown);
	ckpt_buf_release(&alike);
	return went;
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
	return VIEW_WENT_NOT;
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

/* "" , ".data", ".data[1,2]" or "[1,2]". */
static enum view_went
go_data(struct view *view, const struct ckpt_span *span, const char *rest)
{
	if (strcmp(rest, ".data") == 0)
		return view_go_tensor(view, span, 1, "");
	if (strncmp(rest, ".data[", 6) == 0)
		return go_element(view, span, rest + 5);
	return rest[0] == '[' && isdigit((unsigned char)rest[1])
		       ? go_element(view, span, rest)
		       : VIEW_WENT_NOT;
}

/* ".offset" and the like. */
static enum view_went
go_field_of(struct view *view, const struct ckpt_span *span, const char *rest,
	bool must)
{
	struct ckpt_buf path = { 0 };
	enum view_went went = VIEW_WENT_NOWHERE;

	ckpt_buf_printf(&path, "%s[%" PRIu64 "]%s", view->doc->spans->records,
		span->index, rest);
	if (!path.failed)
		went = go_record_field(view, span, path.p);
	if (went == VIEW_WENT_NOT && must)
		went = view_went_nowhere(
			view, "no field has the path ", path.p);
	ckpt_buf_release(&path);
	return went;
}

enum view_went
view_go_record(struct view *view, const struct ckpt_span *span,
	const char *rest, bool by_name)
{
	enum view_went went = go_data(view, span, rest);

	if (went != VIEW_WENT_NOT)
		return went;
	if (*rest == '\0' && by_name)
		return view_go_tensor(view, span, 1, "");
	if (*rest == '\0')
		return view_went_to(view, span->record_at);
	return go_field_of(view, span, rest, true);
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
	return view_go_record(view, span, path + n + 2 + k, false);
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
	struct ckpt_buf alike = { 0 };
	size_t n = 0;

	for (uint64_t i = 0; spans && i < spans->nfields; i++)
		if (strcasestr(spans->fields[i].path, where) && n++ == 0)
			first = &spans->fields[i];
	if (!first)
		return VIEW_WENT_NOT;
	view_jump(view, first->off);
	write_alike(&alike, where, "path");
	if (n > 1)
		view_say(view, VIEW_BAR, "%s: the first of %zu %s", first->path,
			n, alike.p ? alike.p : "");
	else
		view_say(view, VIEW_BAR, "%s", first->path);
	ckpt_buf_release(&alike);
	return VIEW_WENT;
}

/* ---- What is in a record, behind its name ------------------------------- */

/* The bytes of where that are the name of a tensor, as it is shown or stored,
 * if something of it follows; 0: none. */
static size_t
name_before(const struct ckpt_span *span, const char *where, size_t bytes,
	struct ckpt_buf *shown)
{
	size_t n = span->name_len;
	uint8_t first;

	if (n > 0 && n < bytes && memcmp(where, span->name, n) == 0 &&
		strchr(".[", where[n]))
		return n;
	/* Mostly the first character tells that it is another. */
	first = span->label[0] ? (uint8_t)span->label[0]
		: n > 0        ? span->name[0]
			       : '"';
	if (first > ' ' && first <= '~' && first != '\\' &&
		first != (uint8_t)where[0])
		return 0;
	ckpt_buf_clear(shown);
	ckpt_span_name_write(shown, span);
	n = shown->n;
	return n > 0 && n < bytes && memcmp(where, shown->p, n) == 0 &&
			       strchr(".[", where[n])
		       ? n
		       : 0;
}

/* A name may hold dots, so the longest is taken; of tensors with one name the
 * first that is no moment, because moments have the names of parameters. */
static const struct ckpt_span *
find_name_before(const struct ckpt_spans *spans, const char *where,
	size_t *longest, size_t *alike)
{
	const struct ckpt_span *found = NULL;
	struct ckpt_buf shown = { 0 };
	size_t bytes = strlen(where);

	*longest = *alike = 0;
	for (uint64_t i = 0; spans && i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];
		size_t n = name_before(span, where, bytes, &shown);

		if (n == 0 || n < *longest)
			continue;
		*alike = n > *longest ? 1 : *alike + 1;
		if (n > *longest || (found->class_ == CKPT_TENSOR_MOMENT &&
					    span->class_ != found->class_))
			found = span;
		*longest = n;
	}
	ckpt_buf_release(&shown);
	return found;
}

enum view_went
view_go_behind_name(struct view *view, const char *where)
{
	struct ckpt_buf name = { 0 };
	size_t n, alike;
	const struct ckpt_span *span =
		find_name_before(view->doc->spans, where, &n, &alike);
	enum view_went went;

	if (!span)
		return VIEW_WENT_NOT;
	went = go_data(view, span, where + n);
	if (went == VIEW_WENT_NOT)
		went = go_field_of(view, span, where + n, false);
	if (went != VIEW_WENT || alike == 1)
		return went;
	ckpt_span_name_write(&name, span);
	view_say(view, VIEW_BAR, "%s, %s: the first of %zu of that name",
		name.p ? name.p : "", span->role, alike);
	ckpt_buf_release(&name);
	return went;
}
