/* SPDX-License-Identifier: MIT */
/*
 * Lines that were entered, for as long as the viewer runs: a list for each
 * first word of a label, so that "write 8 bytes of x to: " and "write 160
 * bytes of y to: " have one.
 */
#include "view/prompt_history.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_KEPT = 50, LISTS_KEPT = 16 };

struct list {
	char *word;
	char *lines[LINES_KEPT]; /* the oldest first */
	size_t n;
};

struct view_history {
	struct list lists[LISTS_KEPT]; /* the oldest first */
	size_t n;
};

void
view_history_free(struct view_history *history)
{
	for (size_t i = 0; history && i < history->n; i++) {
		struct list *list = &history->lists[i];

		for (size_t k = 0; k < list->n; k++)
			free(list->lines[k]);
		free(list->word);
	}
	free(history);
}

static size_t
word_length(const char *label)
{
	return strcspn(label, " ");
}

static const struct list *
find_list(const struct view_history *history, const char *label)
{
	size_t n = word_length(label);

	for (size_t i = 0; history && i < history->n; i++)
		if (strlen(history->lists[i].word) == n &&
			memcmp(history->lists[i].word, label, n) == 0)
			return &history->lists[i];
	return NULL;
}

static void
drop_line(struct list *list, size_t i)
{
	free(list->lines[i]);
	list->n--;
	memmove(&list->lines[i], &list->lines[i + 1],
		(list->n - i) * sizeof list->lines[0]);
}

/* The list of a label, made if there is none; NULL if out of memory. */
static struct list *
make_list(struct view *view, const char *label)
{
	struct view_history *history = view->history;
	const struct list *found = find_list(history, label);
	struct list *list;

	if (found)
		return &history->lists[found - history->lists];
	if (!history)
		history = view->history = calloc(1, sizeof *history);
	if (!history)
		return NULL;
	if (history->n == LISTS_KEPT) {
		while (history->lists[0].n > 0)
			drop_line(&history->lists[0], 0);
		free(history->lists[0].word);
		history->n--;
		memmove(&history->lists[0], &history->lists[1],
			history->n * sizeof history->lists[0]);
	}
	list = &history->lists[history->n];
	memset(list, 0, sizeof *list);
	list->word = strndup(label, word_length(label));
	if (!list->word)
		return NULL;
	history->n++;
	return list;
}

void
view_history_add(struct view *view, const char *label, const char *text)
{
	struct list *list = text[0] ? make_list(view, label) : NULL;
	char *copy = list ? strdup(text) : NULL;

	if (!copy)
		return;
	for (size_t i = list->n; i > 0; i--)
		if (strcmp(list->lines[i - 1], text) == 0)
			drop_line(list, i - 1);
	if (list->n == LINES_KEPT)
		drop_line(list, 0);
	list->lines[list->n++] = copy;
}

const char *
view_history_line(
	const struct view_history *history, const char *label, size_t back)
{
	const struct list *list = find_list(history, label);

	return list && back > 0 && back <= list->n ? list->lines[list->n - back]
						   : NULL;
}
