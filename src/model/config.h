/* SPDX-License-Identifier: MIT */
#ifndef CKPT_MODEL_CONFIG_H
#define CKPT_MODEL_CONFIG_H

#include "base/buf.h"
#include "base/checked.h"
#include "model/state.h"

/* Positions times rotary pairs: a table of that many doubles must be a size
 * that memory can have. */
#define CKPT_ROPE_MOST ((uint64_t)INT64_MAX / 8)

/*
 * Whether settings can be those of a valid checkpoint (format sections 6.1,
 * 6.2 and the RoPE rule of 6.6). On false, why is one clause that names the
 * setting in the words of the format: "width 7 is not a multiple of heads 2".
 * For whoever makes states; files are judged by the rules of their format,
 * which report places.
 */
CKPT_MUST_USE bool ckpt_config_check(
	const struct ckpt_config *config, struct ckpt_buf *why);
CKPT_MUST_USE bool ckpt_adamw_check(
	const struct ckpt_adamw *adamw, struct ckpt_buf *why);

/* Multiplications that ckpt_beta_power() does at most. */
enum { CKPT_POWER_MOST = 1 << 24 };

/* beta multiplied step times, as a training loop does it; stops where the
 * power does not move any more. False if that needs too many. */
CKPT_MUST_USE bool ckpt_beta_power(double beta, uint64_t step, double *power);

#endif
