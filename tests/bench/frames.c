/* SPDX-License-Identifier: MIT */
/*
 * frames FILE: presses keys in the viewer, without a terminal, and prints how
 * long it takes until what they do is drawn: of scrolling the median and the
 * longest of many frames, then single actions. Milliseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "view/view.h"

enum { FRAMES = 2000 };

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int
ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
frame(struct view *view, const char *script)
{
	double begun = now();
	uint32_t key;

	while ((key = view_key_next(&script)) != 0)
		view_key(view, key);
	view_draw(view);
	return now() - begun;
}

static void
scroll(struct view *view, const char *what, const char *start, const char *key)
{
	static double times[FRAMES];

	frame(view, start);
	view_settle(view);
	for (int i = 0; i < FRAMES; i++) {
		times[i] = frame(view, key);
		view_poll(view);
	}
	qsort(times, FRAMES, sizeof times[0], ascending);
	printf("%.2f %s\n", times[FRAMES / 2], what);
	printf("%.2f %s, longest\n", times[FRAMES - 1], what);
	view_settle(view);
}

static void
act(struct view *view, const char *what, const char *script)
{
	printf("%.2f %s\n", frame(view, script), what);
	view_settle(view);
}

int
main(int argc, char **argv)
{
	struct view_doc doc;
	struct view view;

	if (argc != 2 || view_doc_open(&doc, argv[1], 0, -1) != 0 ||
		!view_init(&view, &doc, -1))
		return 1;
	view_resize(&view, 40, 120);
	view_settle(&view);
	scroll(&view, "tree, a row at a time", "Tg", "j");
	scroll(&view, "tree, a page at a time", "Tg", "<PgDn>");
	scroll(&view, "bytes of the header, a page", "xg", "<PgDn>");
	scroll(&view, "bytes of the payload, a page", "x:50%<Enter>", "<PgDn>");
	scroll(&view, "next tensor", "x:0<Enter>", "}");
	act(&view, "search for a name, first", "/gain<Enter>");
	act(&view, "search for it again", "n");
	act(&view, "filter by name", "Tfgain<Enter>");
	act(&view, "no filter", "<Esc>");
	act(&view, "sort by name", "t");
	act(&view, "last row", "G");
	view_release(&view);
	view_doc_release(&doc);
	return 0;
}
