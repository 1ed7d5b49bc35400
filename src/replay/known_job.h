/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_KNOWN_JOB_H
#define CKPT_REPLAY_KNOWN_JOB_H

#include "diag/run.h"

/* The fact "next" of a training checkpoint names documents by number, because
 * it does not hold them. Where they are those of the job that is built in, by
 * their identity, their names are put in. */
void ckpt_run_name_documents(struct ckpt_run *run);

#endif
