/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_SYNTH_FILL_H
#define CKPT_MODEL_SYNTH_FILL_H

/* What ckpt_synth_state() needs beyond its own file; for nobody else. */

#include "model/rng.h"
#include "model/synth.h"

enum ckpt_synth_values {
	CKPT_SYNTH_ONE,        /* 1 */
	CKPT_SYNTH_EVEN,       /* scale * (2 unit - 1) */
	CKPT_SYNTH_ABOVE_ZERO, /* scale * (unit + 2^-53) */
};

/* Where the content of one tensor comes from. */
struct ckpt_synth_fill {
	enum ckpt_synth_values values;
	double scale;
	struct ckpt_rng rng;         /* before the draw of element 0 */
	uint64_t number, digits;     /* of a literal piece */
	enum ckpt_merge_shape shape; /* of pairs */
};

/* As ckpt_tensor.fill; ctx is a struct ckpt_synth_fill. */
void ckpt_synth_fill_values(void *ctx, const struct ckpt_tensor *tensor,
	uint64_t off, uint8_t *bytes, size_t n);
void ckpt_synth_fill_piece(void *ctx, const struct ckpt_tensor *tensor,
	uint64_t off, uint8_t *bytes, size_t n);
void ckpt_synth_fill_pairs(void *ctx, const struct ckpt_tensor *tensor,
	uint64_t off, uint8_t *bytes, size_t n);

/* Bytes of a literal piece; all but the last have as many. */
uint64_t ckpt_synth_piece_bytes(const struct ckpt_synth *synth);

#endif
