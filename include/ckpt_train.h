/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TRAIN_H
#define CKPT_TRAIN_H

/*
 * libckpt, second chapter: models, optimizers and trainers that come out of a
 * checkpoint, and the checkpoint that comes out of a trainer.
 *
 * Who owns what
 *
 *   - A checkpoint is never changed. Restoring copies: two restores share no
 *     memory, and the checkpoint stays usable. Taking moves: afterwards the
 *     checkpoint holds nothing and refuses with CKPT_REJECTED.
 *   - Model, optimizer and step belong together. A trainer is made from one
 *     checkpoint and nothing else; no call pairs a step or an optimizer of
 *     one with a model of another.
 *   - A capture is made by a trainer only. It cannot be changed, and may be
 *     made into any number of checkpoints.
 *   - What an optimizer knows of the past (powers, moments) is restored as it
 *     was stored, never computed again from the step.
 *
 * Arithmetic: IEEE 754 binary64, no contraction, sums in the order of the
 * numerics specification; exp, log, log1p, pow, sin and cos are those of the
 * C library, on which the last bit depends.
 *
 * Everything made here is given back to its _free(); NULL is allowed there.
 */

#include <ckpt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ckpt_model;
struct ckpt_optimizer;
struct ckpt_trainer;
struct ckpt_capture;

/* Verifies n bytes and, only if they are valid, keeps a copy of what they
 * hold, as ckpt_checkpoint_read(). */
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_from_bytes(const void *bytes,
	size_t n, const struct ckpt_options *options,
	struct ckpt_checkpoint **out);

/* ---- Models ------------------------------------------------------------- */

/* The parameters and settings, without the optimizer. CKPT_OK, CKPT_ENOMEM,
 * CKPT_REJECTED if the checkpoint holds nothing (any more). *out is NULL
 * unless CKPT_OK. */
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_restore_model(
	const struct ckpt_checkpoint *checkpoint, struct ckpt_model **out);
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_take_model(
	struct ckpt_checkpoint *checkpoint, struct ckpt_model **out);
void ckpt_model_free(struct ckpt_model *model);

const struct ckpt_config *ckpt_model_config(const struct ckpt_model *model);

/* All parameters, one behind the other in model order, row-major; *n is their
 * number. Borrowed, not to be changed. */
const double *ckpt_model_parameters(const struct ckpt_model *model, size_t *n);

/* Tokens: batch rows of tokens ids each, row-major. targets has as many ids,
 * or is NULL where no loss is asked for. */
struct ckpt_tokens {
	size_t batch;
	size_t tokens;
	const uint32_t *ids;
	const uint32_t *targets;
};

/* logits [batch][tokens][vocabulary] of causal rows, positions from 0.
 * CKPT_REJECTED: ids beyond the vocabulary, more tokens than positions, none
 * at all, or a value that is not finite; logits is undefined then. */
CKPT_MUST_USE enum ckpt_status ckpt_model_logits(struct ckpt_model *model,
	const struct ckpt_tokens *tokens, double *logits);

/* ---- Optimizers --------------------------------------------------------- */

/* AdamW's settings and state, to look at. */
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_restore_optimizer(
	const struct ckpt_checkpoint *checkpoint, struct ckpt_optimizer **out);
void ckpt_optimizer_free(struct ckpt_optimizer *optimizer);

const struct ckpt_adamw *ckpt_optimizer_settings(
	const struct ckpt_optimizer *optimizer);
uint64_t ckpt_optimizer_step(const struct ckpt_optimizer *optimizer);

/* beta1 and beta2 multiplied step times, as they were stored. */
void ckpt_optimizer_powers(const struct ckpt_optimizer *optimizer,
	double *beta1_power, double *beta2_power);

/* ---- Trainers ----------------------------------------------------------- */

/* A trainer that goes on from a checkpoint; copies. CKPT_REJECTED also for an
 * archive: jobs go on with ckpt_job.h. */
CKPT_MUST_USE enum ckpt_status ckpt_trainer_resume(
	const struct ckpt_checkpoint *checkpoint, struct ckpt_trainer **out);
void ckpt_trainer_free(struct ckpt_trainer *trainer);

/* One update with a learning rate for this update only (the stored base rate
 * stays): mean loss over all positions, backward, AdamW, no clipping. *loss
 * may be NULL. CKPT_REJECTED: refused, or something was not finite; nothing
 * has changed then. */
CKPT_MUST_USE enum ckpt_status ckpt_trainer_step(struct ckpt_trainer *trainer,
	const struct ckpt_tokens *tokens, double learning_rate, double *loss);

/* Updates made so far. */
uint64_t ckpt_trainer_updates(const struct ckpt_trainer *trainer);

/* Model, optimizer and step as they are now; copies. */
CKPT_MUST_USE enum ckpt_status ckpt_trainer_capture(
	const struct ckpt_trainer *trainer, struct ckpt_capture **out);
void ckpt_capture_free(struct ckpt_capture *capture);

/* A checkpoint of a capture with a sampling stream (its state before the next
 * draw); copies, the capture stays usable. */
CKPT_MUST_USE enum ckpt_status ckpt_checkpoint_from_capture(
	const struct ckpt_capture *capture, uint64_t sampling_rng_state,
	struct ckpt_checkpoint **out);

#ifdef __cplusplus
}
#endif

#endif
