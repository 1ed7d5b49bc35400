/* SPDX-License-Identifier: MIT */
/*
 * Places of records by role and name, as the format calls them: the name may
 * be typed in full, with what is behind it, or in part.
 */
#include "view/goto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/format.h"

/* Whether a record is meant by text, what stands behind the prefix of its
 * alias; *rest is what follows. */
static bool
alias_is(const struct ckpt_alias *alias, const struct ckpt_span *span,
	const char *text, const char **rest)
{
	char index[32];
	size_t n = span->name_len;

	switch (alias->by) {
	case CKPT_ALIAS_ONLY: n = 0; break;
	case CKPT_ALIAS_BY_INDEX:
		n = (size_t)snprintf(
			index, sizeof index, "[%" PRIu64 "]", span->nth);
		if (strncmp(text, index, n) != 0)
			return false;
		break;
	case CKPT_ALIAS_BY_NAME:
		if (strlen(text) < n || memcmp(text, span->name, n) != 0)
			return false;
		break;
	}
	*rest = text + n;
	return **rest == '\0' || **rest == '.' || **rest == '[';
}

/* The text behind the prefix of an alias; NULL: it begins with another. */
static const char *
behind_prefix(const struct ckpt_alias *alias, const char *where)
{
	size_t n = alias ? strlen(alias->prefix) : 0;

	return n > 0 && strncmp(where, alias->prefix, n) == 0 ? where + n
							      : NULL;
}

/* Whether text begins with any, so that records have to be looked at. */
static bool
is_alias(const struct ckpt_spans *spans, const char *where)
{
	const struct ckpt_format *format = spans ? spans->format : NULL;

	for (size_t i = 0; format && i < format->naliases; i++)
		if (behind_prefix(&format->aliases[i], where))
			return true;
	return false;
}

/* "second:NAME", "token[0]", "param:NAME[1,2]" */
enum view_went
view_go_alias(struct view *view, const char *where)
{
	const struct ckpt_spans *spans = view->doc->spans;
	const struct ckpt_span *found = NULL;
	const char *rest, *behind = NULL;

	if (!is_alias(spans, where))
		return VIEW_WENT_NOT;
	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];
		const struct ckpt_alias *alias = ckpt_span_alias(spans, span);
		const char *text = behind_prefix(alias, where);

		/* A name may hold dots: the longest is taken. */
		if (text && alias_is(alias, span, text, &rest) &&
			(!found || span->name_len > found->name_len)) {
			found = span;
			behind = rest;
		}
	}
	return found ? view_go_record(view, found, behind, true)
		     : VIEW_WENT_NOT;
}

/* "second:embed" */
enum view_went
view_go_part_of_alias(struct view *view, const char *where)
{
	const struct ckpt_spans *spans = view->doc->spans;
	const struct ckpt_span *first = NULL;
	struct ckpt_buf text = { 0 };
	enum view_went went = VIEW_WENT_NOT;
	size_t n = 0;

	if (!is_alias(spans, where))
		return VIEW_WENT_NOT;
	for (uint64_t i = 0; i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];
		const struct ckpt_alias *alias = ckpt_span_alias(spans, span);
		const char *part = behind_prefix(alias, where);

		if (!part || *part == '\0' || alias->by != CKPT_ALIAS_BY_NAME)
			continue;
		ckpt_buf_clear(&text);
		ckpt_span_name_write(&text, span);
		if (text.p && strcasestr(text.p, part) && n++ == 0)
			first = span;
	}
	ckpt_buf_clear(&text);
	ckpt_buf_puts(&text, "with \"");
	ckpt_buf_escape(&text, where, strlen(where), 40);
	ckpt_buf_puts(&text, "\"");
	if (first)
		went = view_go_tensor(view, first, n, text.p ? text.p : "");
	ckpt_buf_release(&text);
	return went;
}
