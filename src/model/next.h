/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_NEXT_H
#define CKPT_MODEL_NEXT_H

/* What a training job does next, in words. */

#include "base/buf.h"
#include "model/training.h"

/* "next update 3: documents 0, 1; rate 0.000325; scale 8, 2 of 3 finite, 16
 * after success", for a job that has made step updates; or that there is none.
 * name gives a document's name (escaped, to be shown with its number) or NULL;
 * it may be NULL itself. Of an order of which training->order is NULL only
 * places are said. */
void ckpt_next_write(struct ckpt_buf *buf, const struct ckpt_training *training,
	uint64_t step, const char *(*name)(void *ctx, uint64_t document),
	void *ctx);

/* The fewest digits that give the same double again. */
void ckpt_next_real(struct ckpt_buf *buf, double x);

#endif
