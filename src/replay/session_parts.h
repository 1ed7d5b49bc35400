/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_SESSION_PARTS_H
#define CKPT_REPLAY_SESSION_PARTS_H

/* What a session needs beyond its own file; for nobody else. */

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "model/state.h"

/* Whether the model of a job (settings, constants, merges) is that of an
 * archive. If not, field says which field is not, with both values: "model
 * width: 4 in the job, 8 in the file". */
bool ckpt_model_agrees(const struct ckpt_state *job,
	const struct ckpt_state *file, struct ckpt_buf *field);

/* The same of all that a training checkpoint has from its job: order, plan,
 * optimizer, groups, dropout, bounds of the loss scale. */
bool ckpt_plan_agrees(const struct ckpt_state *job,
	const struct ckpt_state *file, struct ckpt_buf *field);

#endif
