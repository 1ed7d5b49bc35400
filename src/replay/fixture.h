/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_FIXTURE_H
#define CKPT_REPLAY_FIXTURE_H

/*
 * The selected step-8 state, trained from nothing: eight clipped updates over
 * shuffled windows of two short documents, and of the measured steps the one
 * with the smallest validation loss. Every constant of it stands in fixture.c.
 */

#include "base/buf.h"
#include "format/format.h"
#include "replay/trainer.h"

/* Context tokens, and the targets one behind them, of one document. */
struct ckpt_window {
	unsigned document, start;
};

/* Whoever wants to see the training while it happens; any member may be
 * NULL. What is handed over is borrowed for the call. */
struct ckpt_fixture_watch {
	void *ctx;
	/* The windows in the order of the updates, before the first one. */
	void (*shuffled)(
		void *ctx, const struct ckpt_window *windows, size_t n);
	/* Update number step, from 1 on, was made. */
	void (*updated)(void *ctx, unsigned step,
		const struct ckpt_update *update,
		const struct ckpt_trainer *trainer);
	/* The mean validation loss at a step; selected: it is the best. */
	void (*measured)(void *ctx, unsigned step, double mean, bool selected,
		const struct ckpt_trainer *trainer);
};

/* Trains, and adds the checkpoint of the selected step to an empty buf. watch
 * may be NULL. CKPT_ENOMEM; CKPT_REJECTED only if the arithmetic of this
 * machine overflows where it cannot. */
CKPT_MUST_USE enum ckpt_status ckpt_fixture_selected_step8(
	const struct ckpt_format *format,
	const struct ckpt_fixture_watch *watch, struct ckpt_buf *bytes,
	struct ckpt_value *label);

#endif
