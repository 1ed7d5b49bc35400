/* SPDX-License-Identifier: MIT */
/*
 * The public side of models, optimizers, trainers and captures (ckpt_train.h).
 * A copy of a checkpoint is made the way a file is: encoded and loaded again.
 * So nothing can be shared by mistake, and whatever comes out was verified.
 */
#include <ckpt_train.h>

#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "format/format.h"
#include "replay/trainer.h"
#include "sink/save.h"

struct ckpt_model {
	struct ckpt_trainer *trainer; /* owned; only its parameters are used */
};

struct ckpt_optimizer {
	struct ckpt_checkpoint *from; /* owned */
};

struct ckpt_capture {
	const struct ckpt_format *format;
	struct ckpt_buf bytes; /* owned; an encoded checkpoint */
};

/* ---- copies ------------------------------------------------------------- */

enum ckpt_status
ckpt_checkpoint_from_bytes(const void *bytes, size_t n,
	const struct ckpt_options *options, struct ckpt_checkpoint **out)
{
	struct ckpt_source *source = ckpt_source_memory(bytes, n);
	enum ckpt_status status = CKPT_ENOMEM;

	*out = NULL;
	if (source)
		status = ckpt_checkpoint_read(source, options, out);
	ckpt_source_close(source);
	return status;
}

/* Bytes of our own making, whatever their size. */
static enum ckpt_status
load_own(const struct ckpt_buf *bytes, struct ckpt_checkpoint **out)
{
	const struct ckpt_options options = { .max_memory = UINT64_MAX };
	enum ckpt_status status =
		ckpt_checkpoint_from_bytes(bytes->p, bytes->n, &options, out);

	if (status != CKPT_OK) {
		ckpt_checkpoint_free(*out);
		*out = NULL;
	}
	return status;
}

static enum ckpt_status
copy_state(const struct ckpt_format *format, const struct ckpt_state *state,
	struct ckpt_checkpoint **out)
{
	struct ckpt_buf bytes;
	enum ckpt_status status;

	ckpt_buf_init(&bytes);
	status = ckpt_encode(&bytes, format, state, NULL);
	if (status == CKPT_OK)
		status = load_own(&bytes, out);
	ckpt_buf_release(&bytes);
	return status;
}

static enum ckpt_status
copy_checkpoint(const struct ckpt_checkpoint *c, struct ckpt_checkpoint **out)
{
	*out = NULL;
	if (!c->loaded)
		return CKPT_REJECTED;
	return copy_state(c->run->format, &c->state, out);
}

/* Everything of c goes over to a new checkpoint; c holds nothing any more. */
static struct ckpt_checkpoint *
move_checkpoint(struct ckpt_checkpoint *c)
{
	struct ckpt_checkpoint *to = malloc(sizeof *to);

	if (!to)
		return NULL;
	*to = *c;
	memset(c, 0, sizeof *c);
	c->verdict = CKPT_NOT_VERIFIED;
	return to;
}

/* ---- models ------------------------------------------------------------- */

static enum ckpt_status
model_of(struct ckpt_checkpoint *own, struct ckpt_model **out)
{
	struct ckpt_model *model = calloc(1, sizeof *model);

	if (!model) {
		ckpt_checkpoint_free(own);
		return CKPT_ENOMEM;
	}
	model->trainer = ckpt_trainer_take(own);
	if (!model->trainer) {
		free(model);
		return CKPT_ENOMEM;
	}
	*out = model;
	return CKPT_OK;
}

enum ckpt_status
ckpt_checkpoint_restore_model(
	const struct ckpt_checkpoint *checkpoint, struct ckpt_model **out)
{
	struct ckpt_checkpoint *own;

	*out = NULL;
	CKPT_TRY(copy_checkpoint(checkpoint, &own));
	return model_of(own, out);
}

enum ckpt_status
ckpt_checkpoint_take_model(
	struct ckpt_checkpoint *checkpoint, struct ckpt_model **out)
{
	struct ckpt_checkpoint *own;

	*out = NULL;
	if (!checkpoint->loaded)
		return CKPT_REJECTED;
	own = move_checkpoint(checkpoint);
	return own ? model_of(own, out) : CKPT_ENOMEM;
}

void
ckpt_model_free(struct ckpt_model *model)
{
	if (!model)
		return;
	ckpt_trainer_free(model->trainer);
	free(model);
}

const struct ckpt_config *
ckpt_model_config(const struct ckpt_model *model)
{
	return &model->trainer->state.config;
}

const double *
ckpt_model_parameters(const struct ckpt_model *model, size_t *n)
{
	*n = model->trainer->scalars;
	return model->trainer->parameters;
}

static struct ckpt_batch
batch_of(const struct ckpt_tokens *tokens, bool targets)
{
	return (struct ckpt_batch){ tokens->batch, tokens->tokens, tokens->ids,
		targets ? tokens->targets : NULL };
}

enum ckpt_status
ckpt_model_logits(struct ckpt_model *model, const struct ckpt_tokens *tokens,
	double *logits)
{
	struct ckpt_batch batch = batch_of(tokens, false);
	struct ckpt_refusal refusal = { 0 };
	enum ckpt_status status = CKPT_REJECTED;

	if (ckpt_trainer_accepts(model->trainer, &batch, 0.0, &refusal))
		status = ckpt_trainer_logits(
			model->trainer, &batch, logits, &refusal);
	ckpt_buf_release(&refusal.text);
	return status;
}

/* ---- optimizers --------------------------------------------------------- */

enum ckpt_status
ckpt_checkpoint_restore_optimizer(
	const struct ckpt_checkpoint *checkpoint, struct ckpt_optimizer **out)
{
	struct ckpt_optimizer *optimizer;
	struct ckpt_checkpoint *own;

	*out = NULL;
	CKPT_TRY(copy_checkpoint(checkpoint, &own));
	optimizer = calloc(1, sizeof *optimizer);
	if (!optimizer) {
		ckpt_checkpoint_free(own);
		return CKPT_ENOMEM;
	}
	optimizer->from = own;
	*out = optimizer;
	return CKPT_OK;
}

void
ckpt_optimizer_free(struct ckpt_optimizer *optimizer)
{
	if (!optimizer)
		return;
	ckpt_checkpoint_free(optimizer->from);
	free(optimizer);
}

const struct ckpt_adamw *
ckpt_optimizer_settings(const struct ckpt_optimizer *optimizer)
{
	return &optimizer->from->state.adamw;
}

uint64_t
ckpt_optimizer_step(const struct ckpt_optimizer *optimizer)
{
	return optimizer->from->state.optimizer_step;
}

void
ckpt_optimizer_powers(const struct ckpt_optimizer *optimizer,
	double *beta1_power, double *beta2_power)
{
	*beta1_power = optimizer->from->state.beta1_power;
	*beta2_power = optimizer->from->state.beta2_power;
}

/* ---- trainers ----------------------------------------------------------- */

enum ckpt_status
ckpt_trainer_resume(
	const struct ckpt_checkpoint *checkpoint, struct ckpt_trainer **out)
{
	struct ckpt_checkpoint *own;

	*out = NULL;
	/* A step of its own would leave place, counters and scale behind. */
	if (checkpoint->loaded &&
		checkpoint->state.archive != CKPT_ARCHIVE_NONE)
		return CKPT_REJECTED;
	CKPT_TRY(copy_checkpoint(checkpoint, &own));
	*out = ckpt_trainer_take(own);
	return *out ? CKPT_OK : CKPT_ENOMEM;
}

enum ckpt_status
ckpt_trainer_step(struct ckpt_trainer *t, const struct ckpt_tokens *tokens,
	double learning_rate, double *loss)
{
	struct ckpt_batch batch = batch_of(tokens, true);
	struct ckpt_update update = { .no_fingerprints = true };
	struct ckpt_refusal refusal = { 0 };
	enum ckpt_status status = CKPT_REJECTED;
	double *logits = NULL;
	size_t n;

	if (batch.targets &&
		ckpt_trainer_accepts(t, &batch, learning_rate, &refusal)) {
		status = CKPT_ENOMEM;
		if (!__builtin_mul_overflow(
			    batch.batch * batch.tokens, t->dims.vocab, &n) &&
			n <= SIZE_MAX / sizeof *logits)
			logits = malloc(n * sizeof *logits);
	}
	if (logits)
		status = ckpt_trainer_update(
			t, &batch, learning_rate, logits, &update, &refusal);
	if (status == CKPT_OK && loss)
		*loss = update.loss;
	free(logits);
	ckpt_buf_release(&refusal.text);
	return status;
}

uint64_t
ckpt_trainer_updates(const struct ckpt_trainer *t)
{
	return t->state.optimizer_step;
}

enum ckpt_status
ckpt_trainer_capture(const struct ckpt_trainer *t, struct ckpt_capture **out)
{
	struct ckpt_capture *capture = calloc(1, sizeof *capture);
	enum ckpt_status status;

	*out = NULL;
	if (!capture)
		return CKPT_ENOMEM;
	capture->format = t->from ? t->from->run->format : ckpt_format_at(0);
	status = ckpt_encode(&capture->bytes, capture->format, &t->state, NULL);
	if (status == CKPT_OK)
		*out = capture;
	else
		ckpt_capture_free(capture);
	return status;
}

void
ckpt_capture_free(struct ckpt_capture *capture)
{
	if (!capture)
		return;
	ckpt_buf_release(&capture->bytes);
	free(capture);
}

enum ckpt_status
ckpt_checkpoint_from_capture(const struct ckpt_capture *capture,
	uint64_t sampling_rng_state, struct ckpt_checkpoint **out)
{
	struct ckpt_checkpoint *c;
	enum ckpt_status status;

	*out = NULL;
	CKPT_TRY(load_own(&capture->bytes, &c));
	c->state.sampling_rng_state = sampling_rng_state;
	status = copy_state(capture->format, &c->state, out);
	ckpt_checkpoint_free(c);
	return status;
}
