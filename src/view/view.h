/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_VIEW_H
#define CKPT_VIEW_VIEW_H

/*
 * The viewer: panes around one cursor, which is a byte of the file. Panes
 * draw themselves into a grid and act on actions; they know neither each
 * other nor the terminal. Whoever moves the cursor calls view_go(), and all
 * panes follow.
 *
 * Events go in (view_key(), view_mouse(), view_resize(), view_poll()), a grid
 * comes out (view_draw()); view/loop.c connects both to a terminal, tests do
 * without.
 */

#include "view/doc.h"
#include "view/grid.h"
#include "view/keys.h"

struct view;

/* Panes; those before VIEW_PAGES share the screen, the others cover it. */
enum view_pane_id {
	VIEW_TREE,
	VIEW_HEX,
	VIEW_INSPECTOR,
	VIEW_STATS,
	VIEW_FINDINGS,
	VIEW_PAGES,
	VIEW_SUMMARY = VIEW_PAGES,
	VIEW_REPLAY,
	VIEW_COMPARE,
	VIEW_HELP,
	VIEW_STRIP, /* one line with the whole file; no keys */
	VIEW_PANES
};

/* A pane. Its state is its own: made by make(), which may give NULL only when
 * memory is out, and given to everything else. Functions may be NULL. */
struct view_pane_ops {
	const char *title;
	void *(*make)(struct view *view);
	void (*free)(void *state);
	/* Draws all of the area; row 0 of it is for view_title(). */
	void (*draw)(struct view *view, void *state,
		const struct view_area *area, bool focused);
	/* True if the action was this pane's. */
	bool (*act)(struct view *view, void *state, enum view_action action);
	/* A click on a cell of the area; twice: the second in a row. */
	void (*click)(
		struct view *view, void *state, int row, int col, bool twice);
	/* The cursor is elsewhere, or the index or findings are new. */
	void (*moved)(struct view *view, void *state);
	/* Takes over what the pane's jobs have done; true: draw again. */
	bool (*poll)(struct view *view, void *state);
	/* True while a job of the pane is at work. */
	bool (*busy)(const void *state);
};

extern const struct view_pane_ops view_tree_pane, view_hex_pane,
	view_inspector_pane, view_stats_pane, view_findings_pane,
	view_summary_pane, view_replay_pane, view_compare_pane, view_help_pane,
	view_strip_pane;

/* A pane that is covered by another, to be gone back to. */
struct view_below {
	enum view_pane_id pane;
	bool zoomed;
};

enum { VIEW_BELOW = 32 };

/* How offsets are shown. */
enum view_base { VIEW_HEXADECIMAL, VIEW_DECIMAL, VIEW_RELATIVE };

struct view_prompt;  /* view/prompt.h */
struct view_search;  /* view/search.h */
struct view_marks;   /* view/bookmark.h */
struct view_history; /* view/prompt.c */
struct view_export;  /* view/export.c */
struct view_compare; /* view/compare.h */

struct view {
	struct view_doc *doc;
	struct view_grid grid;
	int bell;        /* fd that jobs write to, or -1 */
	uint64_t cursor; /* below the size, or 0 */
	uint64_t before; /* where the last jump began */
	enum view_base base;
	enum view_pane_id focus;             /* never the strip */
	struct view_below below[VIEW_BELOW]; /* the way back, nearest last */
	size_t nbelow;
	bool zoomed;
	void *panes[VIEW_PANES];
	struct view_area areas[VIEW_PANES]; /* rows 0: not shown */
	struct ckpt_buf message;            /* last line, until the next key */
	unsigned message_style;
	struct view_prompt *prompt; /* NULL: nothing is being asked */
	struct view_search *search;
	struct view_marks *marks;
	struct view_history *history;  /* of prompts */
	struct view_export *exporting; /* NULL: nothing was exported */
	struct view_compare *compare;  /* NULL: one file only */
	enum view_action awaited;      /* MARK, JUMP: the letter is to come */
	bool quit, redraw, reload;
	bool verify_asked;   /* what came of it is to be said */
	uint64_t max_memory; /* of a replay */
};

/* doc is borrowed; bell may be -1. False if out of memory. Release in any
 * case. */
bool view_init(struct view *view, struct view_doc *doc, int bell);
void view_release(struct view *view);

/* ---- Events -- */

void view_resize(struct view *view, int rows, int cols);
void view_key(struct view *view, uint32_t key);
void view_click(struct view *view, int row, int col, bool twice);
void view_wheel(struct view *view, int row, int col, int lines);
/* Ctrl-C: gives up what is being asked. False if nothing is: it is for the
 * program then. */
bool view_interrupt(struct view *view);
/* Takes over what the background has done; true if there is something new to
 * be drawn. */
bool view_poll(struct view *view);
/* Whether anything goes on in the background. */
bool view_busy(const struct view *view);
/* Waits for the background, taking over what it does. For tests. */
void view_settle(struct view *view);

/* Draws everything into the grid. */
void view_draw(struct view *view);
/* The cell where the terminal's cursor belongs; false: nowhere. */
bool view_caret(const struct view *view, int *row, int *col);

/* ---- For panes -- */

/* Does an action, as its key does. */
void view_do(struct view *view, enum view_action action);

/* Moves the cursor; offsets behind the end become the last byte. */
void view_go(struct view *view, uint64_t off);
/* The same, and remembers where it was, for '' to go back. */
void view_jump(struct view *view, uint64_t off);

/* Says something in the last line until the next key. */
void view_say(struct view *view, unsigned style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Gives the focus to a pane; what that covers is gone back to by view_back(),
 * which is false if there is nothing more (back.c). */
void view_focus(struct view *view, enum view_pane_id pane);
bool view_back(struct view *view);

/* Asks for a line of text, with what is there to begin with; accept gets it,
 * or nothing is called when it is cancelled; it may ask for the next. Labels
 * with the same first word share a history. What is in the label is drawn as
 * it is. */
void view_ask(struct view *view, const char *label, const char *text,
	void (*accept)(struct view *view, const char *text));

/* An offset in the base that is set, as in the hex pane: "0x00000b36", "2870",
 * "+16". */
void view_offset_write(struct ckpt_buf *buf, struct view *view, uint64_t off);

/* The style of an owner's bytes. */
enum view_style view_owner_style(const struct view_owner *owner);

/* ---- Actions that are no pane's (each in its file) -- */

void view_go_ask(struct view *view); /* goto.c */
bool view_go_to(struct view *view, const char *where);
void view_search_ask(struct view *view); /* search.c */
void view_search_again(struct view *view, bool back);
bool view_search_poll(struct view *view);
bool view_search_busy(const struct view *view);
void view_search_cancel(struct view *view);
void view_search_free(struct view_search *search);
void view_export_ask(struct view *view); /* export.c */
bool view_export_poll(struct view *view);
bool view_export_busy(const struct view *view);
void view_export_cancel(struct view *view);
/* False once in an export, with words: the key was perhaps not meant so. */
bool view_export_may_leave(struct view *view);
/* Ends it now. False if nothing is left of it. */
bool view_export_stop(struct view_export *export);
void view_export_free(struct view_export *export);
void view_bookmark_set(struct view *view, uint32_t letter); /* bookmark.c */
void view_bookmark_go(struct view *view, uint32_t letter);
void view_bookmark_free(struct view_marks *marks);
void view_filter_ask(struct view *view); /* tree.c */
void view_filter_clear(struct view *view);
void view_replay_ask(struct view *view); /* replay.c */

/* prompt.c */
bool view_prompt_key(struct view *view, uint32_t key);
void view_prompt_draw(struct view *view, const struct view_area *area);
bool view_prompt_caret(const struct view *view, int *col);
void view_prompt_free(struct view_prompt *prompt);
void view_history_free(struct view_history *history);

#endif
