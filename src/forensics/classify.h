/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FORENSICS_CLASSIFY_H
#define CKPT_FORENSICS_CLASSIFY_H

/*
 * What happened to this file: looks for the traces that ways of damaging a
 * file leave, and ranks the causes that fit. Hints only: no verdict depends on
 * them. Innocent files have to look innocent, so what a healthy file may well
 * have (tensors of zeros, tied weights, rows that repeat) is never a strong
 * trace.
 *
 * It needs a source that can go back, reads it once more, front to back, and
 * compares no more than CKPT_CLASSIFY_AGAIN of it with other bytes of it; what
 * else it looks at again is a few megabytes. Of files beyond
 * CKPT_CLASSIFY_MOST it looks at pieces that are spread evenly over them.
 */

#include "diag/hint.h"
#include "sink/spans.h"

#define CKPT_CLASSIFY_MOST  ((uint64_t)1 << 30)
#define CKPT_CLASSIFY_AGAIN ((uint64_t)256 << 20)

/* run is over; spans listened to it, with format and records set, and are
 * closed here. The progress of the run's options is told of it, and false
 * from it cancels. The causes are released in any case. CKPT_OK; CKPT_STOP; CKPT_EIO with errno set;
 * CKPT_ENOMEM or CKPT_ELIMIT. Whatever was found before stays on the list. */
CKPT_MUST_USE enum ckpt_status ckpt_classify(struct ckpt_hints *causes,
	const struct ckpt_run *run, struct ckpt_spans *spans,
	struct ckpt_source *source);
void ckpt_hints_release(struct ckpt_hints *causes);

#endif
