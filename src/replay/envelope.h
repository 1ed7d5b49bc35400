/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_ENVELOPE_H
#define CKPT_REPLAY_ENVELOPE_H

#include "base/arena.h"
#include "base/checked.h"
#include "model/training.h"

/* The envelope of the running program: the digest of its own file (program
 * NULL: /proc/self/exe) and the arithmetic as it is tried out now. What it
 * points to lives in the arena. CKPT_EIO with errno, CKPT_ENOMEM. */
CKPT_MUST_USE enum ckpt_status ckpt_envelope_here(struct ckpt_arena *arena,
	const char *program, struct ckpt_envelope *envelope);

#endif
