/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_NUMBER_H
#define CKPT_SINK_NUMBER_H

/* Elements of tensors as numbers. bits is an element's bytes as a
 * little-endian number. */

#include "base/buf.h"
#include "diag/run.h"

enum ckpt_number {
	CKPT_NUMBER_FLOAT,
	CKPT_NUMBER_UNSIGNED,
	CKPT_NUMBER_OPAQUE, /* shown as its bytes */
};

enum ckpt_number ckpt_number_of(const struct ckpt_span *span);
double ckpt_number_value(const struct ckpt_span *span, uint64_t bits);
void ckpt_number_write(
	struct ckpt_buf *buf, const struct ckpt_span *span, uint64_t bits);

#endif
