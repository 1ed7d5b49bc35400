/* SPDX-License-Identifier: MIT */
/*
 * Names are looked at one by one: even of many records there are few enough
 * to do so when a key is pressed. A tensor is where its bytes are, or where
 * its record is if the file has none of them.
 */
#include "view/search_match.h"

#include <string.h>

struct search {
	struct view_match *match;
	uint64_t cursor;
	size_t before; /* matches that are not ahead of the cursor */
};

/* Whether a place is ahead of the cursor, in the direction of the search. */
static bool
ahead(const struct search *s, uint64_t at)
{
	return s->match->back ? at < s->cursor : at > s->cursor;
}

static void
add(struct search *s, uint64_t at, const struct ckpt_span *span,
	const struct ckpt_span_field *field)
{
	struct view_match *m = s->match;
	bool wrapped = !ahead(s, at),
	     nearer = m->back ? at > m->at : at < m->at;

	if (wrapped)
		s->before++;
	if (m->n++ > 0 && (wrapped == m->wrapped ? !nearer : wrapped))
		return;
	m->at = at;
	m->wrapped = wrapped;
	m->span = span;
	m->field = field;
}

static void
fold(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] >= 'A' && text[i] <= 'Z')
			text[i] = (char)(text[i] - 'A' + 'a');
}

/* Whether text holds the name, which is folded; the search of the C library
 * that ignores case is ten times slower. */
static bool
holds(struct ckpt_buf *text, const char *name)
{
	if (text->n == 0)
		return false;
	fold(text->p, text->n);
	return strstr(text->p, name) != NULL;
}

bool
view_match_name(
	struct view_match *match, const struct view_doc *doc, uint64_t cursor)
{
	struct search s = { .match = match, .cursor = cursor };
	const struct ckpt_spans *spans = doc->spans;
	struct ckpt_buf text = { 0 }, name = { 0 };

	match->n = 0;
	ckpt_buf_puts(&name, match->name);
	if (!name.p)
		return false;
	fold(name.p, name.n);
	for (uint64_t i = 0; spans && i < spans->nfields; i++) {
		ckpt_buf_clear(&text);
		ckpt_buf_puts(&text, spans->fields[i].path);
		if (holds(&text, name.p))
			add(&s, spans->fields[i].off, NULL, &spans->fields[i]);
	}
	for (uint64_t i = 0; spans && i < spans->ntensors; i++) {
		const struct ckpt_span *span = &spans->tensors[i];
		bool placed = span->len > 0 && span->off < doc->size;

		ckpt_buf_clear(&text);
		ckpt_span_name_write(&text, span);
		/* Nobody types what stands between them. */
		ckpt_buf_printf(&text, "\n%s", span->role);
		if (holds(&text, name.p))
			add(&s, placed ? span->off : span->record_at, span,
				NULL);
	}
	ckpt_buf_release(&text);
	ckpt_buf_release(&name);
	if (match->back)
		match->number = match->wrapped ? match->n : match->n - s.before;
	else
		match->number = match->wrapped ? 1 : s.before + 1;
	return match->n > 0;
}
