/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_TERM_H
#define CKPT_VIEW_TERM_H

/*
 * The terminal: shows a grid, gives keys and the mouse. While it is open, it
 * is put back on every end of the program but SIGKILL (view/signals.h).
 */

#include "view/grid.h"
#include "view/wait.h"

struct view_term;

struct view_term_options {
	bool color; /* else bold, reverse and underline only */
	bool utf8;  /* else whatever is not ASCII is shown as '?' */
	bool mouse;
};

/* Takes over the terminal of standard input and output, of which the locale
 * was set. NULL if it is none, or cannot place its cursor, or memory is out;
 * then nothing was written to it. At most one at a time. */
struct view_term *view_term_open(const struct view_term_options *options);
/* Puts it back as it was. */
void view_term_close(struct view_term *term);

/* Its size now. */
void view_term_size(const struct view_term *term, int *rows, int *cols);

/* Shows the grid, with the terminal's cursor in a cell, or without if row is
 * negative. */
void view_term_draw(
	struct view_term *term, const struct view_grid *grid, int row, int col);
/* Forgets what the terminal shows: something else may have written to it. */
void view_term_forget(struct view_term *term);

/* Waits for input, for signals and for the bell, a file descriptor or -1, as
 * view_wait() does. */
unsigned view_term_wait(struct view_term *term, int bell, int milliseconds);

enum view_event_kind { VIEW_EVENT_KEY, VIEW_EVENT_CLICK, VIEW_EVENT_WHEEL };

struct view_event {
	enum view_event_kind kind;
	uint32_t key; /* as in view/keys.h */
	int row, col;
	bool twice; /* a second click on the same cell */
	int lines;  /* of the wheel, negative is up */
};

/* The next event, without waiting for one. */
bool view_term_next(struct view_term *term, struct view_event *event);

enum view_notice {
	VIEW_NOTICE_NONE,
	VIEW_NOTICE_RESIZED, /* or otherwise to be drawn anew */
	VIEW_NOTICE_END,
};

/* Sees to the next signal: stops when asked to, and so on. END gives the
 * signal that ends the program. */
enum view_notice view_term_notice(struct view_term *term, int *signal);
/* The signal that END gave does not end it after all. */
void view_term_go_on(struct view_term *term);

#endif
