/* SPDX-License-Identifier: MIT */
/*
 * The terminal through curses, which this file alone knows. The grid is put
 * row by row where it differs from the one before; curses then sends what
 * differs on the screen. What ends the program is seen to in view/signals.c,
 * for which the strings that put the terminal back are prepared here.
 */
#define NCURSES_WIDECHAR 1
#include "view/term.h"

#include <curses.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termcap.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"
#include "view/clicks.h"
#include "view/keys.h"
#include "view/signals.h"

enum {
	ESCAPE_DELAY = 25, /* ms until Esc is no start of a sequence */
	WHEEL_LINES = 3,
	/* Waits that promise input where there is none. */
	DRY_MOST = 50,
};

struct view_term {
	struct view_term_options options;
	SCREEN *screen;
	struct view_signals signals;
	struct view_grid shown; /* what curses was given last */
	bool colored;
	bool resumed; /* curses has not got the terminal back yet */
	int dry;
	uint8_t part[4]; /* of a character */
	size_t npart;
	struct view_clicks clicks;
};

/* ---- Opening and closing ------------------------------------------------ */

/* How the styles look; monochrome must tell apart what colours do not. */
static const struct look {
	short color; /* -1: that of the terminal */
	attr_t colored, plain;
} looks[VIEW_STYLES] = {
	[VIEW_PLAIN] = { -1, 0, 0 },
	[VIEW_BOLD] = { -1, A_BOLD, A_BOLD },
	[VIEW_DIM] = { -1, A_DIM, A_DIM },
	[VIEW_TITLE] = { COLOR_CYAN, 0, 0 },
	[VIEW_FOCUSED] = { COLOR_CYAN, A_BOLD, A_BOLD },
	[VIEW_BAR] = { -1, A_REVERSE, A_REVERSE },
	[VIEW_HEADER] = { COLOR_CYAN, 0, A_BOLD },
	[VIEW_TOKENIZER] = { COLOR_MAGENTA, 0, 0 },
	[VIEW_PARAMETER] = { COLOR_GREEN, 0, 0 },
	[VIEW_MOMENT] = { COLOR_BLUE, A_BOLD, A_DIM },
	[VIEW_OTHER] = { -1, 0, 0 },
	[VIEW_LOST] = { COLOR_YELLOW, A_DIM, A_DIM },
	[VIEW_ERROR] = { COLOR_RED, A_BOLD, A_BOLD },
	[VIEW_WARNING] = { COLOR_YELLOW, A_BOLD, A_BOLD },
	[VIEW_GOOD] = { COLOR_GREEN, A_BOLD, A_BOLD },
};

static void
prepare_colors(struct view_term *term)
{
	short background = COLOR_BLACK, foreground = COLOR_WHITE;

	if (!term->options.color || !has_colors() || start_color() != OK ||
		COLOR_PAIRS <= VIEW_STYLES)
		return;
	if (use_default_colors() == OK)
		background = foreground = -1;
	for (short i = 0; i < VIEW_STYLES; i++)
		init_pair((short)(i + 1),
			looks[i].color < 0 ? foreground : looks[i].color,
			background);
	term->colored = true;
}

static void
add_capability(struct view_rescue *rescue, const char *name)
{
	const char *s = tigetstr(name);

	if (s && s != (const char *)-1)
		view_rescue_add(rescue, s);
}

static void
prepare_rescue(struct view_term *term, bool mouse)
{
	static const char *const names[] = { "sgr0", "op", "rmkx", "cnorm" };
	struct view_rescue *rescue = &term->signals.rescue;
	const char *leave = tigetstr("rmcup");

	if (mouse)
		view_rescue_add(rescue, "\033[?1006l\033[?1000l");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		add_capability(rescue, names[i]);
	if (leave && leave != (const char *)-1)
		view_rescue_add(rescue, leave);
	else
		view_rescue_add(rescue, "\r\n");
}

/* Asked before curses is: it would not release what it took in vain. */
static bool
can_place_cursor(void)
{
	const char *name = getenv("TERM"), *s;

	if (!name || tgetent(NULL, name) != 1)
		return false;
	s = tigetstr("cup");
	return s && s != (const char *)-1;
}

/* What curses shall do and not do. */
static void
prepare_curses(struct view_term *term)
{
	mmask_t mouse = 0;

	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	if (!getenv("ESCDELAY"))
		set_escdelay(ESCAPE_DELAY);
	if (term->options.mouse) {
		mouse = mousemask(
			BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED,
			NULL);
		/* Which clicks belong together is for us to say. */
		mouseinterval(0);
	}
	prepare_colors(term);
	prepare_rescue(term, mouse != 0);
}

struct view_term *
view_term_open(const struct view_term_options *options)
{
	struct view_term *term;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
		!can_place_cursor())
		return NULL;
	term = calloc(1, sizeof *term);
	if (!term)
		return NULL;
	term->options = *options;
	term->signals.rescue.fd = STDOUT_FILENO;
	if (tcgetattr(STDOUT_FILENO, &term->signals.rescue.modes) != 0 ||
		!view_signals_catch(&term->signals)) {
		free(term);
		return NULL;
	}
	term->signals.drawn = 1;
	/* The size is what the terminal says; variables may be old. */
	use_env(FALSE);
	use_tioctl(TRUE);
	term->screen = newterm(NULL, stdout, stdin);
	if (term->screen) {
		prepare_curses(term);
		return term;
	}
	view_term_close(term);
	return NULL;
}

/* In the background the modes are another program's, and to touch them would
 * stop this one. */
static void
give_back(struct view_term *term)
{
	const struct view_rescue *rescue = &term->signals.rescue;
	pid_t front = tcgetpgrp(rescue->fd);

	if (front > 0 && front != getpgrp()) {
		if (write(rescue->fd, rescue->text, rescue->n) < 0)
			errno = 0;
		return;
	}
	if (term->screen)
		endwin();
	while (tcsetattr(rescue->fd, TCSADRAIN, &rescue->modes) != 0 &&
		errno == EINTR)
		continue;
}

void
view_term_close(struct view_term *term)
{
	if (!term)
		return;
	if (term->signals.drawn)
		give_back(term);
	if (term->screen)
		delscreen(term->screen);
	view_signals_release(&term->signals);
	view_grid_release(&term->shown);
	free(term);
}

/* ---- Drawing ------------------------------------------------------------ */

void
view_term_size(const struct view_term *term, int *rows, int *cols)
{
	struct winsize size;

	(void)term;
	*rows = LINES;
	*cols = COLS;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
		size.ws_col > 0) {
		*rows = size.ws_row;
		*cols = size.ws_col;
	}
}

void
view_term_forget(struct view_term *term)
{
	clearok(curscr, TRUE);
	view_grid_release(&term->shown);
}

static void
put_cell(struct view_term *term, int row, int col, const struct view_cell *cell)
{
	const struct look *look =
		&looks[cell->style < VIEW_STYLES ? cell->style : VIEW_PLAIN];
	attr_t attributes = term->colored ? look->colored : look->plain;
	short pair = term->colored ? (short)(look - looks + 1) : 0;
	wchar_t text[CCHARW_MAX + 1];
	cchar_t wide;

	if (view_cell_wide(cell, term->options.utf8, text, CCHARW_MAX) == 0) {
		/* The right half of a wide character is drawn with it. */
		if (term->options.utf8)
			return;
		text[0] = L' ';
		text[1] = L'\0';
	}
	if (cell->marks & VIEW_REVERSE)
		attributes ^= A_REVERSE;
	if (cell->marks & VIEW_UNDERLINE)
		attributes |= A_UNDERLINE;
	if (setcchar(&wide, text, attributes, pair, NULL) == OK)
		mvadd_wch(row, col, &wide);
}

/* Whether the row is as it was shown last. */
static bool
same_row(const struct view_term *term, const struct view_grid *grid, int row)
{
	size_t at = (size_t)row * (size_t)grid->cols;

	return term->shown.cells &&
	       memcmp(&term->shown.cells[at], &grid->cells[at],
		       (size_t)grid->cols * sizeof *grid->cells) == 0;
}

void
view_term_draw(
	struct view_term *term, const struct view_grid *grid, int row, int col)
{
	struct view_grid *shown = &term->shown;
	size_t n = (size_t)grid->rows * (size_t)grid->cols;

	if (shown->rows != grid->rows || shown->cols != grid->cols)
		view_grid_release(shown);
	for (int r = 0; r < grid->rows; r++)
		for (int c = 0; c < grid->cols && !same_row(term, grid, r); c++)
			put_cell(term, r, c, &grid->cells[r * grid->cols + c]);
	if (shown->cells || view_grid_resize(shown, grid->rows, grid->cols))
		memcpy(shown->cells, grid->cells, n * sizeof *grid->cells);
	curs_set(row >= 0);
	if (row >= 0)
		move(row, col);
	refresh();
	/* Otherwise keys would be sent in that mode from the second one on. */
	if (term->resumed)
		keypad(stdscr, TRUE);
	term->resumed = false;
}

/* ---- Waiting ------------------------------------------------------------ */

/* Keys that curses makes nothing of are no dry waits. */
static bool
has_bytes(void)
{
	int n = 0;

	return ioctl(STDIN_FILENO, FIONREAD, &n) == 0 && n > 0;
}

unsigned
view_term_wait(struct view_term *term, int bell, int milliseconds)
{
	unsigned came;

	if (term->dry > DRY_MOST)
		return VIEW_CAME_HANGUP;
	if (term->signals.ending)
		return VIEW_CAME_SIGNAL;
	came = view_wait(
		STDIN_FILENO, term->signals.pipe[0], bell, milliseconds);
	if (came & VIEW_CAME_INPUT)
		term->dry = has_bytes() ? 0 : term->dry + 1;
	return came;
}

enum view_notice
view_term_notice(struct view_term *term, int *signal)
{
	int rows, cols;

	*signal = view_signals_next(&term->signals);
	if (*signal == 0)
		return VIEW_NOTICE_NONE;
	if (*signal == SIGTSTP || *signal == SIGCONT) {
		/* Of a SIGSTOP nothing was known; modes may be others now. */
		endwin();
		term->resumed = true;
		term->signals.drawn = 0;
		if (*signal == SIGTSTP)
			view_signals_stop();
		/* The SIGCONT and the rest are seen to by drawing anew. */
		while (!term->signals.ending &&
			view_signals_next(&term->signals) != 0)
			continue;
		*signal = term->signals.ending;
	} else if (*signal == SIGWINCH) {
		*signal = 0;
	}
	if (*signal != 0)
		return VIEW_NOTICE_END;
	term->signals.drawn = 1;
	view_term_size(term, &rows, &cols);
	resizeterm(rows, cols);
	view_term_forget(term);
	return VIEW_NOTICE_RESIZED;
}

void
view_term_go_on(struct view_term *term)
{
	term->signals.ending = 0;
}

/* ---- Keys and mouse ----------------------------------------------------- */

static uint32_t
named_key(int code)
{
	static const struct {
		int code;
		uint32_t key;
	} rows[] = {
		{ KEY_UP, VIEW_KEY_UP },
		{ KEY_DOWN, VIEW_KEY_DOWN },
		{ KEY_LEFT, VIEW_KEY_LEFT },
		{ KEY_RIGHT, VIEW_KEY_RIGHT },
		{ KEY_PPAGE, VIEW_KEY_PAGE_UP },
		{ KEY_NPAGE, VIEW_KEY_PAGE_DOWN },
		{ KEY_HOME, VIEW_KEY_HOME },
		{ KEY_END, VIEW_KEY_END },
		{ KEY_DC, VIEW_KEY_DELETE },
		{ KEY_BACKSPACE, VIEW_KEY_BACKSPACE },
		{ KEY_BTAB, VIEW_KEY_BACKTAB },
		{ KEY_ENTER, VIEW_KEY_ENTER },
		{ KEY_F(5), VIEW_KEY_F5 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].code == code)
			return rows[i].key;
	return 0;
}

/* Takes a sequence that curses does not know off the input, so that it is not
 * read as Esc and letters. False: it is Esc. */
static bool
skip_sequence(void)
{
	int c = getch();

	if (c == ERR)
		return false;
	if (c != '[' && c != 'O') {
		ungetch(c);
		return false;
	}
	do
		c = getch();
	while ((c >= ' ' && c < 0x40) || (c > 0x7f && c <= UCHAR_MAX));
	/* A key that does not belong to it: it came in part only. */
	if (c != ERR && (c < ' ' || c >= 0x7f))
		ungetch(c);
	return true;
}

/* The character that a byte completes, 0 if it does not. Curses would give up
 * with a byte that is of none whatever came behind it. */
static uint32_t
complete(struct view_term *term, uint8_t byte)
{
	uint32_t point;

	if ((byte & 0xc0) != 0x80 || term->npart == sizeof term->part)
		term->npart = 0;
	term->part[term->npart++] = byte;
	if (ckpt_utf8_decode(term->part, term->npart, &point) != term->npart)
		return 0;
	term->npart = 0;
	return point;
}

/* The key that the terminal has sent as a byte; 0: none. */
static uint32_t
key_of(struct view_term *term, uint8_t byte)
{
	uint32_t c = complete(term, byte);

	if (c == VIEW_KEY_ESCAPE && skip_sequence())
		return 0;
	if (c == 0x7f || c == '\b')
		return VIEW_KEY_BACKSPACE;
	if (c == '\n')
		return VIEW_KEY_ENTER;
	return c < 0x7f || term->options.utf8 ? c : 0;
}

static bool
next_mouse(struct view_term *term, struct view_event *event)
{
	MEVENT mouse;
	struct timespec now;

	if (getmouse(&mouse) != OK)
		return false;
	event->row = mouse.y;
	event->col = mouse.x;
	if (mouse.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		event->kind = VIEW_EVENT_WHEEL;
		event->lines = mouse.bstate & BUTTON4_PRESSED ? -WHEEL_LINES
							      : WHEEL_LINES;
		return true;
	}
	if (!(mouse.bstate & BUTTON1_PRESSED))
		return false;
	event->kind = VIEW_EVENT_CLICK;
	clock_gettime(CLOCK_MONOTONIC, &now);
	event->twice = view_clicks_twice(&term->clicks, mouse.y, mouse.x, &now);
	return true;
}

bool
view_term_next(struct view_term *term, struct view_event *event)
{
	int c;

	while ((c = getch()) != ERR) {
		term->dry = 0;
		*event = (struct view_event){ .kind = VIEW_EVENT_KEY };
		if (c == KEY_MOUSE) {
			if (next_mouse(term, event))
				return true;
			continue;
		}
		event->key =
			c > UCHAR_MAX ? named_key(c) : key_of(term, (uint8_t)c);
		if (event->key != 0)
			return true;
	}
	return false;
}
