/* SPDX-License-Identifier: MIT */
/*
 * One line of text in the last row. A character here is what the caret steps
 * over: a code point and what combines with it. Where the text scrolls is
 * computed from the caret whenever it is drawn, so any width will do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "view/prompt_history.h"

enum { TEXT_MOST = 4096 };

struct view_prompt {
	char *label;
	char *draft; /* what was typed before Up; NULL: it is the text */
	size_t back; /* lines of history back from it */
	size_t n, caret;
	bool offered; /* nothing was pressed yet: typing replaces the text */
	void (*accept)(struct view *view, const char *text);
	char text[TEXT_MOST + 1];
};

/* ---- Text --------------------------------------------------------------- */

/* Bytes of the code point at p. */
static size_t
point_bytes(const char *p, size_t n)
{
	uint32_t point;
	size_t k = ckpt_utf8_decode((const uint8_t *)p, n, &point);

	return k ? k : 1;
}

/* The end of the character that begins at at. */
static size_t
after(const struct view_prompt *p, size_t at)
{
	if (at < p->n)
		at += point_bytes(p->text + at, p->n - at);
	while (at < p->n) {
		size_t k = point_bytes(p->text + at, p->n - at);

		if (view_width(p->text + at, k) > 0)
			break;
		at += k;
	}
	return at;
}

/* The beginning of the character that ends at at. */
static size_t
before(const struct view_prompt *p, size_t at)
{
	size_t start = 0;

	while (start < at) {
		size_t end = after(p, start);

		if (end >= at)
			break;
		start = end;
	}
	return start;
}

static void
erase(struct view_prompt *p, size_t from, size_t to)
{
	memmove(p->text + from, p->text + to, p->n - to + 1);
	p->n -= to - from;
	p->caret = from;
}

/* Adds what a terminal can show; THE sanitiser knows what that is. */
static void
insert(struct view_prompt *p, const char *point, size_t n)
{
	struct ckpt_buf shown = { 0 };
	bool plain;

	ckpt_buf_escape(&shown, point, n, 0);
	plain = shown.n == n || point[0] == '\\';
	ckpt_buf_release(&shown);
	if (!plain || n > TEXT_MOST - p->n)
		return;
	memmove(p->text + p->caret + n, p->text + p->caret,
		p->n - p->caret + 1);
	memcpy(p->text + p->caret, point, n);
	p->n += n;
	p->caret += n;
}

static void
insert_text(struct view_prompt *p, const char *text)
{
	size_t n = strlen(text), k;

	for (; n > 0; text += k, n -= k) {
		k = point_bytes(text, n);
		insert(p, text, k);
	}
}

static void
set_text(struct view_prompt *p, const char *text)
{
	erase(p, 0, p->n);
	insert_text(p, text);
}

static void
type(struct view_prompt *p, uint32_t key)
{
	char utf8[VIEW_KEY_UTF8];
	size_t n = view_key_utf8(key, utf8);

	if (n == 0)
		return;
	if (p->offered)
		erase(p, 0, p->n);
	insert(p, utf8, n);
}

/* The beginning of the word before the caret. */
static size_t
word_before(const struct view_prompt *p)
{
	size_t at = p->caret;

	while (at > 0 && p->text[at - 1] == ' ')
		at--;
	while (at > 0 && p->text[at - 1] != ' ')
		at--;
	return at;
}

/* ---- Keys --------------------------------------------------------------- */

/* by lines of history back, or forward if negative; the draft is the last. */
static void
recall(struct view *view, struct view_prompt *p, int by)
{
	size_t back = by > 0 ? p->back + 1 : p->back - 1;
	const char *line = view_history_line(view->history, p->label, back);

	if (by > 0 ? !line : p->back == 0)
		return;
	if (p->back == 0) {
		free(p->draft);
		p->draft = strdup(p->text);
	}
	p->back = back;
	set_text(p, line ? line : p->draft ? p->draft : "");
}

static void
finish(struct view *view, bool accepted)
{
	struct view_prompt *p = view->prompt;

	view->prompt = NULL;
	if (accepted) {
		view_history_add(view, p->label, p->text);
		p->accept(view, p->text);
	}
	view_prompt_free(p);
}

static bool
is_backspace(uint32_t key)
{
	return key == VIEW_KEY_BACKSPACE || key == VIEW_CTRL('h') ||
	       key == 0x7f;
}

static bool
erase_key(struct view_prompt *p, uint32_t key)
{
	if (is_backspace(key)) {
		erase(p, before(p, p->caret), p->caret);
		return true;
	}
	switch (key) {
	case VIEW_KEY_DELETE: {
		size_t caret = p->caret;

		erase(p, caret, after(p, caret));
		return true;
	}
	case VIEW_CTRL('u'): erase(p, 0, p->caret); return true;
	case VIEW_CTRL('k'): erase(p, p->caret, p->n); return true;
	case VIEW_CTRL('w'): erase(p, word_before(p), p->caret); return true;
	}
	return false;
}

bool
view_prompt_key(struct view *view, uint32_t key)
{
	struct view_prompt *p = view->prompt;

	if (!p)
		return false;
	/* There is nothing left to be taken back but the question. */
	if (p->n == 0 && is_backspace(key)) {
		finish(view, false);
		return true;
	}
	if (erase_key(p, key)) {
		p->offered = false;
		return true;
	}
	switch (key) {
	case VIEW_KEY_ENTER:
	case '\n': finish(view, true); return true;
	case VIEW_KEY_ESCAPE:
	case VIEW_CTRL('c'):
	case VIEW_CTRL('g'): finish(view, false); return true;
	case VIEW_KEY_LEFT: p->caret = before(p, p->caret); break;
	case VIEW_KEY_RIGHT: p->caret = after(p, p->caret); break;
	case VIEW_KEY_HOME:
	case VIEW_CTRL('a'): p->caret = 0; break;
	case VIEW_KEY_END:
	case VIEW_CTRL('e'): p->caret = p->n; break;
	case VIEW_KEY_UP: recall(view, p, 1); break;
	case VIEW_KEY_DOWN: recall(view, p, -1); break;
	default: type(p, key); break;
	}
	p->offered = false;
	return true;
}

/* ---- Drawing ------------------------------------------------------------ */

/* Columns of the label: all of it, or half of the line. */
static int
label_columns(const struct view_prompt *p, int cols)
{
	int width = view_width(p->label, strlen(p->label));

	return width > cols / 2 ? cols / 2 : width;
}

/* The first byte shown. The text scrolls by half of its room, so that there
 * is something to be seen on both sides of the caret. */
static size_t
first_shown(const struct view_prompt *p, int room)
{
	int at = view_width(p->text, p->caret), step = room / 2, from;
	size_t first = 0;

	if (at < room)
		return 0;
	if (step < 1)
		return p->caret;
	from = ((at - room) / step + 1) * step;
	for (int col = 0; first < p->caret && col < from;) {
		size_t end = after(p, first);

		col += view_width(p->text + first, end - first);
		first = end;
	}
	return first;
}

void
view_prompt_draw(struct view *view, const struct view_area *area)
{
	const struct view_prompt *p = view->prompt;
	const char *more = view_sign(&view->grid, VIEW_SIGN_ELLIPSIS);
	size_t n = strlen(p->label), fit, first;
	int label = label_columns(p, area->cols);
	struct view_area rest;

	fit = view_fit(p->label, n, label);
	view_put(area, 0, 0, VIEW_BAR, p->label, fit);
	if (fit < n && label > 0)
		view_puts(area, 0, label - 1, VIEW_BAR, more);
	rest = view_area_part(area, 0, label, 1, area->cols - label);
	first = first_shown(p, rest.cols);
	view_put(&rest, 0, 0,
		VIEW_BAR | VIEW_MARKS(p->offered ? VIEW_UNDERLINE : 0),
		p->text + first, p->n - first);
	if (first > 0 && label > 0)
		view_puts(area, 0, label - 1, VIEW_BAR, more);
}

bool
view_prompt_caret(const struct view *view, int *col)
{
	const struct view_prompt *p = view->prompt;
	int cols = view->grid.cols, label;
	size_t first;

	*col = 0;
	if (!p)
		return false;
	label = label_columns(p, cols);
	first = first_shown(p, cols - label);
	*col = label + view_width(p->text + first, p->caret - first);
	if (*col >= cols)
		*col = cols - 1;
	return true;
}

/* ---- Asking ------------------------------------------------------------- */

void
view_prompt_free(struct view_prompt *prompt)
{
	if (!prompt)
		return;
	free(prompt->label);
	free(prompt->draft);
	free(prompt);
}

void
view_ask(struct view *view, const char *label, const char *text,
	void (*accept)(struct view *view, const char *text))
{
	struct view_prompt *p = calloc(1, sizeof *p);

	view_prompt_free(view->prompt);
	view->prompt = p;
	if (p)
		p->label = strdup(label);
	if (!p || !p->label) {
		view_prompt_free(p);
		view->prompt = NULL;
		view_say(view, VIEW_ERROR, "out of memory");
		return;
	}
	p->accept = accept;
	insert_text(p, text);
	p->offered = p->n > 0;
}
