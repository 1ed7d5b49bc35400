/* SPDX-License-Identifier: MIT */
/*
 * The viewer in a terminal: waits for keys, for the background, for signals,
 * and now and then looks whether the file has changed; draws when there is
 * something new. Nothing here takes longer than a screen does, so whatever is
 * pressed is answered at once.
 */
#include "view/loop.h"

#include <ckpt.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "view/compare.h"
#include "view/layout.h"
#include "view/view.h"

enum {
	/* Milliseconds. */
	INDEX_WAIT = 30,    /* before the first screen, for the index */
	VERDICT_WAIT = 15,  /* and for the verdict, where it is near */
	IDLE = 1000,        /* between looks at the file */
	BUSY = 200,         /* between looks at the progress */
	STOPPING = 400,     /* for jobs to stop, on the way out */
	REMOVING = 4000,    /* and for gigabytes of an export to go */
	EVENTS_AT_ONCE = 64 /* between two drawings */
};

struct loop {
	const struct view_loop_options *options;
	struct view_term *term;
	struct view_doc *doc; /* owned */
	struct view view;
	int bell[2];
	int ending;  /* the signal that ends it */
	bool gone;   /* the terminal is */
	bool stale;  /* there is something to be drawn */
	bool failed; /* memory is out */
	bool lost;   /* an export is */
};

/* What is open; other is NULL if there is no second file. */
struct files {
	struct view_doc *doc;
	struct view_compare *other;
};

static void
doc_free(struct view_doc *doc)
{
	if (doc)
		view_doc_release(doc);
	free(doc);
}

static struct view_doc *
open_doc(const struct loop *loop)
{
	struct view_doc *doc = calloc(1, sizeof *doc);

	if (doc && view_doc_open(doc, loop->options->path,
			   loop->options->max_memory, loop->bell[1]) == 0)
		return doc;
	doc_free(doc);
	return NULL;
}

/* Both or none: NULL, or why not. */
static const char *
open_files(const struct loop *loop, struct files *files)
{
	const struct view_loop_options *o = loop->options;

	*files = (struct files){ .doc = open_doc(loop) };
	if (!files->doc)
		return "the file cannot be opened again";
	if (!o->other)
		return NULL;
	files->other = view_compare_new(o->other, o->max_memory, loop->bell[1]);
	if (files->other)
		return NULL;
	doc_free(files->doc);
	return "the second file cannot be opened again";
}

/* Takes over the files. */
static bool
make_view(struct loop *loop, const struct files *files)
{
	int rows, cols;

	loop->doc = files->doc;
	if (!view_init(&loop->view, loop->doc, loop->bell[1])) {
		view_compare_free(files->other);
		return false;
	}
	loop->view.grid.utf8 = loop->options->term.utf8;
	loop->view.max_memory = loop->options->max_memory;
	view_term_size(loop->term, &rows, &cols);
	view_resize(&loop->view, rows, cols);
	loop->stale = true;
	if (files->other)
		view_compare_with(&loop->view, files->other);
	return true;
}

static void
draw(struct loop *loop)
{
	int row, col;

	loop->stale = false;
	view_draw(&loop->view);
	if (!view_caret(&loop->view, &row, &col))
		row = col = -1;
	view_term_draw(loop->term, &loop->view.grid, row, col);
}

/* Opens the file again. Where the cursor was stays, and what was shown; what
 * the panes knew of the file does not. */
static void
reload(struct loop *loop)
{
	struct view *view = &loop->view;
	struct files files;
	const char *refused = open_files(loop, &files);
	uint64_t cursor = view->cursor, before = view->before;
	enum view_pane_id focus = view->focus;
	struct view_below below[VIEW_BELOW];
	size_t nbelow = view->nbelow;
	enum view_base base = view->base;
	bool zoomed = view->zoomed;

	view->reload = false;
	loop->stale = true;
	if (refused) {
		view_say(view, VIEW_ERROR, "%s; what is shown is what was open",
			refused);
		return;
	}
	memcpy(below, view->below, sizeof below);
	view_release(view);
	doc_free(loop->doc);
	if (!make_view(loop, &files)) {
		loop->failed = view->quit = true;
		return;
	}
	view->base = base;
	view->before = before;
	view->zoomed = zoomed;
	memcpy(view->below, below, sizeof below);
	view->nbelow = nbelow;
	view->focus = focus;
	view_layout(view);
	view_go(view, cursor);
}

static void
handle(struct loop *loop, const struct view_event *event)
{
	struct view *view = &loop->view;

	loop->stale = true;
	switch (event->kind) {
	case VIEW_EVENT_KEY: view_key(view, event->key); break;
	case VIEW_EVENT_CLICK:
		view_click(view, event->row, event->col, event->twice);
		break;
	case VIEW_EVENT_WHEEL:
		view_wheel(view, event->row, event->col, event->lines);
		break;
	}
	if (view->reload)
		reload(loop);
	if (view->redraw)
		view_term_forget(loop->term);
	view->redraw = false;
}

/* True if there is perhaps more to come. */
static bool
take_input(struct loop *loop)
{
	struct view_event event;

	for (int i = 0; i < EVENTS_AT_ONCE; i++) {
		if (loop->view.quit || !view_term_next(loop->term, &event))
			return false;
		handle(loop, &event);
	}
	return true;
}

static void
take_signals(struct loop *loop)
{
	enum view_notice notice;
	int rows, cols;

	while ((notice = view_term_notice(loop->term, &loop->ending)) !=
		VIEW_NOTICE_NONE) {
		loop->stale = true;
		if (notice == VIEW_NOTICE_RESIZED) {
			view_term_size(loop->term, &rows, &cols);
			view_resize(&loop->view, rows, cols);
		} else if (loop->ending == SIGINT &&
			   view_interrupt(&loop->view)) {
			/* It was for the prompt, not for the program. */
			loop->ending = 0;
			view_term_go_on(loop->term);
		} else {
			return;
		}
	}
}

/* Small files are read in a moment: their first screen shall not blink. */
static void
await_index(struct loop *loop)
{
	struct timespec begun, now;
	long left = INDEX_WAIT;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	while (left > 0 && view_doc_busy(loop->doc)) {
		unsigned came =
			view_term_wait(loop->term, loop->bell[0], (int)left);

		view_poll(&loop->view);
		if (came & ~(unsigned)VIEW_CAME_BELL)
			return;
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = (loop->doc->spans ? VERDICT_WAIT : INDEX_WAIT) -
		       (now.tv_sec - begun.tv_sec) * 1000 -
		       (now.tv_nsec - begun.tv_nsec) / 1000000;
	}
}

static void
run(struct loop *loop)
{
	bool more = false;

	await_index(loop);
	while (!loop->view.quit && !loop->gone && !loop->ending) {
		bool busy = view_busy(&loop->view);
		unsigned came;

		if (loop->stale)
			draw(loop);
		came = view_term_wait(loop->term, loop->bell[0],
			more   ? 0
			: busy ? BUSY
			       : IDLE);
		if (came & VIEW_CAME_SIGNAL)
			take_signals(loop);
		if (came & VIEW_CAME_INPUT || more)
			more = take_input(loop);
		else if (came & VIEW_CAME_HANGUP)
			loop->gone = true;
		if (loop->failed)
			return;
		/* Progress is shown, though nothing has come of it yet. */
		if (view_poll(&loop->view) || (busy && came == 0))
			loop->stale = true;
	}
}

/* ---- The way out -------------------------------------------------------- */

static void *
release(void *arg)
{
	struct loop *loop = arg;

	loop->lost = !view_export_stop(loop->view.exporting);
	view_release(&loop->view);
	doc_free(loop->doc);
	return NULL;
}

/* Stops all jobs. False if one of them does not stop; then nothing but the
 * end of the program is left. */
static bool
stop(struct loop *loop, bool exporting)
{
	const int wait = exporting ? REMOVING : STOPPING;
	struct timespec until;
	pthread_t thread;

	if (loop->failed || !view_busy(&loop->view) ||
		pthread_create(&thread, NULL, release, loop) != 0) {
		release(loop);
		return true;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait % 1000 * 1000000L;
	until.tv_sec += wait / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

/* What is to be known of it, once the screen is gone that it was said on. */
static void
say_last(const struct loop *loop, bool exporting, bool stopped)
{
	if (loop->failed)
		fputs("ckinspect: not enough memory\n", stderr);
	if (exporting && !stopped)
		fputs("ckinspect: the export was cancelled; a part of the new "
		      "file may be left\n",
			stderr);
	else if (exporting && loop->lost)
		fputs("ckinspect: the export was cancelled, nothing was "
		      "written\n",
			stderr);
}

static int
leave(struct loop *loop)
{
	int status = loop->ending == SIGINT       ? CKPT_EXIT_INTERRUPTED
		     : loop->gone || loop->failed ? CKPT_EXIT_TROUBLE
						  : CKPT_EXIT_OK;
	bool exporting = view_export_busy(&loop->view), stopped;

	view_term_close(loop->term);
	stopped = stop(loop, exporting);
	say_last(loop, exporting, stopped);
	if (loop->ending && loop->ending != SIGINT) {
		signal(loop->ending, SIG_DFL);
		raise(loop->ending);
	}
	if (!stopped)
		_exit(status);
	close(loop->bell[0]);
	close(loop->bell[1]);
	return status;
}

int
view_loop_run(const struct view_loop_options *options)
{
	struct loop loop = { .options = options };
	struct files files;

	if (pipe2(loop.bell, O_CLOEXEC | O_NONBLOCK) != 0)
		return VIEW_REFUSED;
	/* Before the terminal is changed for a file that is not there. */
	if (open_files(&loop, &files) == NULL) {
		loop.term = view_term_open(&options->term);
		if (loop.term && make_view(&loop, &files)) {
			run(&loop);
			return leave(&loop);
		}
		view_term_close(loop.term);
		if (loop.term)
			view_release(&loop.view);
		else
			view_compare_free(files.other);
		doc_free(files.doc);
	}
	close(loop.bell[0]);
	close(loop.bell[1]);
	return VIEW_REFUSED;
}
