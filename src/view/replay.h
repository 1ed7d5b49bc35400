/* SPDX-License-Identifier: MIT */
#ifndef CKPT_VIEW_REPLAY_H
#define CKPT_VIEW_REPLAY_H

/*
 * The page of replays and the run behind it. A run can be cancelled while it
 * loads and between the parts of an update, never inside of a part, and a part
 * of a large model may take minutes. So a viewer that shall end at once ends
 * its process and does not wait: nothing that a run has made is of use to
 * anybody, and what it put aside on disk has no name.
 */

#include "base/arithmetic.h"
#include "replay/request.h"
#include "replay/step.h"
#include "view/lines.h"
#include "view/view.h"

/* One update of the open file, in the background. Members behind the job are
 * of its thread until it was taken. */
struct view_replay_run {
	struct view_job job;
	struct ckpt_source source; /* reads the viewer's from its start */
	struct ckpt_source *inner;
	uint64_t at;
	struct ckpt_supplied supplied;
	struct ckpt_step step;
	_Atomic(const char *) part; /* what it does, in words */
	struct ckpt_arithmetic env; /* in that thread */
	enum ckpt_status status;
	/* Why nothing was done; the verdict is NULL if it was. */
	const char *verdict, *kind;
	struct ckpt_buf why;
};

enum view_replay_kind {
	VIEW_REPLAY_HEAD,   /* of the columns */
	VIEW_REPLAY_TOKENS, /* all records of the tokenizer, from row on */
	VIEW_REPLAY_RECORD,
	VIEW_REPLAY_FIRST_BRANCH, /* what differs, below its record */
	VIEW_REPLAY_SECOND_BRANCH,
};

/* A line of the table. */
struct view_replay_entry {
	uint32_t row; /* of the step */
	enum view_replay_kind kind;
};

/* The page. */
struct view_replay {
	struct view_replay_run *run; /* the last one; NULL: none yet */
	bool at_work;
	struct ckpt_buf answers[3]; /* the last ones: inputs, targets, rate */
	struct ckpt_buf trouble;    /* why an answer cannot be used */
	struct view_replay_entry *entries; /* the table; owned */
	size_t nentries;
	struct view_lines lines; /* above it, as they were drawn */
	size_t selected, top;    /* among lines and entries together */
	int height;              /* rows for them */
	uint64_t shown;          /* progress that was drawn, percent */
	const char *part;
	enum ckpt_status (*meddle)(struct ckpt_spool *reencoded);
};

static inline struct view_replay *
view_replay_of(const struct view *view)
{
	return view->panes[VIEW_REPLAY];
}

/* An update of what the viewer has open; takes over supplied. NULL if out of
 * memory. */
struct view_replay_run *view_replay_run_new(const struct view *view,
	struct ckpt_supplied *supplied,
	enum ckpt_status (*meddle)(struct ckpt_spool *reencoded));
/* Waits until the part that it is at is done. NULL is allowed. */
void view_replay_run_free(struct view_replay_run *run);

/* Bytes that a replay may take for a checkpoint. */
uint64_t view_replay_memory(const struct view *view);

/* Runs the update that these words ask for, and shows its page. What is wrong
 * with them is said there. */
void view_replay_start(struct view *view, const char *inputs,
	const char *targets, const char *rate);

/* For tests: meddle of the steps to come (struct ckpt_step). */
void view_replay_meddle(struct view *view,
	enum ckpt_status (*meddle)(struct ckpt_spool *reencoded));

/* ---- What the page says, replay_say.c -- */

/* Everything of a run that has ended but its rows. */
void view_replay_say(
	struct view_lines *lines, const struct view_replay_run *run);

/* ---- The table, replay_table.c -- */

/* Makes the entries, once the run has ended. */
void view_replay_list(struct view_replay *page);
/* Draws one of them. */
void view_replay_draw(struct view *view, const struct view_replay *page,
	const struct view_area *area, int at, size_t entry);

/* A row's record in the open file: the same role, name and length. NULL if
 * there is none. */
const struct ckpt_span *view_replay_record(const struct ckpt_spans *spans,
	const struct ckpt_step *step, size_t row);

#endif
