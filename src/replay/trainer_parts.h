/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REPLAY_TRAINER_PARTS_H
#define CKPT_REPLAY_TRAINER_PARTS_H

/* What the trainer's own files and the learner share; for nobody else. */

#include "num/clip.h"
#include "replay/trainer.h"

static inline void
ckpt_refuse(struct ckpt_refusal *refusal, const char *kind)
{
	refusal->kind = kind;
	ckpt_buf_clear(&refusal->text);
}

#define SAY(refusal, ...) ckpt_buf_printf(&(refusal)->text, __VA_ARGS__)

/* CKPT_REJECTED, with what was not finite. */
enum ckpt_status ckpt_trainer_not_finite(
	const struct ckpt_not_finite *fault, struct ckpt_refusal *refusal);

/* Values of parameter k. */
static inline size_t
ckpt_trainer_values(const struct ckpt_trainer *t, uint32_t k)
{
	return (size_t)(t->state.parameters[k].len / sizeof(double));
}

/* Work space of n doubles, n x 8 <= SIZE_MAX; and for a pass. */
enum ckpt_status ckpt_trainer_reserve_space(
	struct ckpt_trainer *trainer, size_t n);
enum ckpt_status ckpt_trainer_reserve(struct ckpt_trainer *trainer, size_t rows,
	size_t tokens, enum ckpt_pass pass);

/* A table of tensors of our own, so that data can point to our arrays. */
struct ckpt_tensor *ckpt_trainer_tensors(struct ckpt_trainer *trainer,
	const struct ckpt_tensor *from, uint32_t n);

/* Moments of zero, for a model that has none yet. */
enum ckpt_status ckpt_trainer_moments(struct ckpt_trainer *trainer);

/* Makes gradients of a norm obey the maximum. False, refused: that cannot be
 * done. */
bool ckpt_trainer_clip(struct ckpt_trainer *trainer,
	const struct ckpt_norm_sum *norm, double maximum,
	struct ckpt_clip *clip, struct ckpt_refusal *refusal);

/* The update itself, from gradients: weights, moments, powers, step. On
 * failure nothing has changed. */
enum ckpt_status ckpt_trainer_apply(struct ckpt_trainer *trainer, double rate,
	double power1, double power2, struct ckpt_refusal *refusal);

#endif
