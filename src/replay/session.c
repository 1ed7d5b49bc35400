/* SPDX-License-Identifier: MIT */
/*
 * Sessions (archives sections 4 and 5). Whatever is refused is refused before
 * a trainer is made, so no caller ever holds mutable state of a refused
 * checkpoint. Names, shapes, groups and order are the job's, with which the
 * checkpoint agrees; so its memory is given back once its values are copied.
 */
#include "replay/session.h"

#include <string.h>

#include "base/try.h"
#include "replay/session_parts.h"

__attribute__((format(printf, 3, 4))) static enum ckpt_status
refuse(struct ckpt_refusal *r, const char *kind, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	r->kind = kind;
	ckpt_buf_clear(&r->text);
	ckpt_buf_puts(&r->text, text);
	return CKPT_REJECTED;
}

static void
prepare(struct ckpt_session *s, struct ckpt_job *job,
	struct ckpt_checkpoint *from)
{
	*s = (struct ckpt_session){ .job = job, .from = from };
	ckpt_arena_init(&s->arena, UINT64_MAX);
}

/* Makes the learner of a state; training is copied. */
static enum ckpt_status
begin(struct ckpt_session *s, const struct ckpt_state *state,
	const struct ckpt_training *training)
{
	struct ckpt_trainer *trainer = ckpt_trainer_start(state);

	if (!trainer)
		return CKPT_ENOMEM;
	/* What the mask hides reaches nothing that decides. */
	trainer->dims.only_seen = true;
	CKPT_TRY(ckpt_learner_init(&s->learner, trainer, training));
	s->learning = true;
	/* Everything has been copied. */
	ckpt_checkpoint_free(s->from);
	s->from = NULL;
	return CKPT_OK;
}

/* ---- beginning ---------------------------------------------------------- */

/* The job's names and shapes with the values of an archive that agrees. */
static enum ckpt_status
take_weights(struct ckpt_session *s, struct ckpt_state *state,
	const struct ckpt_state *from)
{
	struct ckpt_tensor *tensors = ckpt_arena_alloc(
		&s->arena, state->nparameters * sizeof *tensors);

	if (!tensors)
		return CKPT_ENOMEM;
	for (uint32_t k = 0; k < state->nparameters; k++) {
		tensors[k] = state->parameters[k];
		tensors[k].data = from->parameters[k].data;
		tensors[k].fill = NULL;
	}
	state->parameters = tensors;
	return CKPT_OK;
}

static enum ckpt_status
judge_model(const struct ckpt_state *state, const struct ckpt_state *model,
	struct ckpt_refusal *r)
{
	struct ckpt_buf field = { 0 };
	bool same;

	if (model->archive != CKPT_ARCHIVE_TEXT)
		return refuse(r, "NotAModel", "not a portable text model");
	same = ckpt_model_agrees(state, model, &field);
	if (!same)
		refuse(r, "OtherModel", "%s", field.p ? field.p : "settings");
	ckpt_buf_release(&field);
	return same ? CKPT_OK : CKPT_REJECTED;
}

enum ckpt_status
ckpt_session_start(struct ckpt_session *s, struct ckpt_job *job,
	struct ckpt_checkpoint *model, const struct ckpt_envelope *here,
	struct ckpt_refusal *r)
{
	struct ckpt_training training = job->training;
	struct ckpt_state state;

	prepare(s, job, model);
	training.envelope = *here;
	CKPT_TRY(ckpt_job_state(job, &state));
	if (model) {
		CKPT_TRY(judge_model(&state, &model->state, r));
		CKPT_TRY(take_weights(s, &state, &model->state));
	}
	return begin(s, &state, &training);
}

/* ---- going on ----------------------------------------------------------- */

static bool
same_name(const struct ckpt_name *a, const struct ckpt_name *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

/* The executables that were set aside so far, and one more if not NULL; the
 * checkpoint that they are from does not stay. */
static enum ckpt_status
keep_overrides(struct ckpt_session *s, const struct ckpt_envelope *old,
	const char *more, struct ckpt_envelope *to)
{
	uint32_t n = old->noverrides + (more != NULL);
	struct ckpt_name *all =
		ckpt_arena_alloc(&s->arena, (size_t)n * sizeof *all);

	if (!all)
		return CKPT_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct ckpt_name name = { (const uint8_t *)more,
			CKPT_SHA256_TEXT - 1 };
		char *copy;

		if (i < old->noverrides)
			name = old->overrides[i];
		copy = ckpt_arena_strndup(&s->arena, name.p, name.n);
		if (!copy)
			return CKPT_ENOMEM;
		all[i] = (struct ckpt_name){ (const uint8_t *)copy, name.n };
	}
	to->overrides = all;
	to->noverrides = n;
	return CKPT_OK;
}

static enum ckpt_status
judge_envelope(struct ckpt_session *s, const struct ckpt_envelope *old,
	const struct ckpt_envelope *here, bool allow_other,
	struct ckpt_envelope *next, struct ckpt_refusal *r)
{
	*next = *here;
	if (!same_name(&old->arithmetic, &here->arithmetic)) {
		refuse(r, "OtherArithmetic", "made under ");
		ckpt_buf_escape(
			&r->text, old->arithmetic.p, old->arithmetic.n, 80);
		ckpt_buf_puts(&r->text, "; here it is ");
		ckpt_buf_escape(
			&r->text, here->arithmetic.p, here->arithmetic.n, 80);
		return CKPT_REJECTED;
	}
	if (strcmp(old->executable, here->executable) == 0)
		return keep_overrides(s, old, NULL, next);
	if (!allow_other)
		return refuse(r, "OtherExecutable",
			"made by the executable %s; this is %s",
			old->executable, here->executable);
	return keep_overrides(s, old, old->executable, next);
}

/* Of the job the state before its first update; it has to be that of the
 * checkpoint's job. */
static enum ckpt_status
judge_job(struct ckpt_session *s, const struct ckpt_state *stored,
	struct ckpt_state *state, struct ckpt_refusal *r)
{
	const char *data = stored->training->data_sha256;
	struct ckpt_buf field = { 0 };
	bool same;

	if (strcmp(data, s->job->training.data_sha256) != 0)
		return refuse(r, "OtherData",
			"documents: the checkpoint's have the identity %s, "
			"those of the job %s",
			data, s->job->training.data_sha256);
	CKPT_TRY(ckpt_job_state(s->job, state));
	same = ckpt_model_agrees(state, stored, &field) &&
	       ckpt_plan_agrees(state, stored, &field);
	if (!same)
		refuse(r, "OtherJob", "%s", field.p ? field.p : "settings");
	ckpt_buf_release(&field);
	return same ? CKPT_OK : CKPT_REJECTED;
}

/* What the checkpoint has beside its model. */
static void
take_optimizer(struct ckpt_state *state, const struct ckpt_state *stored)
{
	state->selected_step = stored->selected_step;
	state->sampling_rng_state = stored->sampling_rng_state;
	state->optimizer_step = stored->optimizer_step;
	state->beta1_power = stored->beta1_power;
	state->beta2_power = stored->beta2_power;
	state->first = stored->first;
	state->second = stored->second;
	state->nmoments = stored->nmoments;
}

enum ckpt_status
ckpt_session_restore(struct ckpt_session *s, struct ckpt_job *job,
	struct ckpt_checkpoint *checkpoint, const struct ckpt_envelope *here,
	bool allow_other, struct ckpt_refusal *r)
{
	const struct ckpt_state *stored = &checkpoint->state;
	struct ckpt_training training;
	struct ckpt_state state;

	prepare(s, job, checkpoint);
	if (!checkpoint->loaded || stored->archive != CKPT_ARCHIVE_TRAINING ||
		!stored->training)
		return refuse(r, "NotATrainingCheckpoint",
			"not a training checkpoint");
	training = *stored->training;
	CKPT_TRY(judge_job(s, stored, &state, r));
	CKPT_TRY(judge_envelope(s, &stored->training->envelope, here,
		allow_other, &training.envelope, r));
	training.order = job->training.order;
	CKPT_TRY(take_weights(s, &state, stored));
	take_optimizer(&state, stored);
	return begin(s, &state, &training);
}

void
ckpt_session_release(struct ckpt_session *s)
{
	if (s->learning)
		ckpt_learner_release(&s->learner);
	ckpt_checkpoint_free(s->from);
	ckpt_arena_release(&s->arena);
	*s = (struct ckpt_session){ 0 };
}

void
ckpt_session_team(struct ckpt_session *s, struct ckpt_team *team)
{
	s->learner.trainer->dims.team = team;
}

/* ---- updates ------------------------------------------------------------ */

uint64_t
ckpt_session_step(const struct ckpt_session *s)
{
	return s->learner.trainer->state.optimizer_step;
}

uint64_t
ckpt_session_planned(const struct ckpt_session *s)
{
	return s->learner.training.schedule.updates;
}

/* Document number i of the next update as a row: each token's target is the
 * one behind it. */
static struct ckpt_batch
row_of(const struct ckpt_session *s, uint64_t i)
{
	uint64_t d = ckpt_learner_document(&s->learner, i);
	const struct ckpt_document *document = &s->job->documents[d];

	return (struct ckpt_batch){ 1, document->n - 1, document->ids,
		document->ids + 1 };
}

/* Targets of the next update. More microbatches than documents go round. */
static bool
targets_of(const struct ckpt_session *s, uint64_t *targets)
{
	const struct ckpt_training *t = &s->learner.training;
	uint64_t rounds = t->microbatches / t->documents;
	uint64_t some = t->microbatches % t->documents;
	uint64_t round = 0, rest = 0;

	for (uint64_t i = 0; i < (rounds ? t->documents : some); i++) {
		uint64_t tokens = row_of(s, i).tokens;

		if (!ckpt_add_u64(round, tokens, &round) ||
			(i < some && !ckpt_add_u64(rest, tokens, &rest)))
			return false;
	}
	return ckpt_mul_u64(rounds, round, targets) &&
	       ckpt_add_u64(*targets, rest, targets);
}

/* Begins the next update, unless it is under way. */
static enum ckpt_status
begin_update(struct ckpt_session *s, struct ckpt_refusal *r)
{
	uint64_t targets;

	if (s->learner.pending > 0)
		return CKPT_OK;
	if (!targets_of(s, &targets))
		return CKPT_ELIMIT;
	return ckpt_learner_begin(&s->learner, targets, r);
}

enum ckpt_status
ckpt_session_accumulate(struct ckpt_session *s, struct ckpt_refusal *r)
{
	struct ckpt_learner *l = &s->learner;
	struct ckpt_batch row;

	if (l->pending == l->training.microbatches)
		return refuse(r, "Pending",
			"all %llu microbatches of the update are there",
			(unsigned long long)l->pending);
	CKPT_TRY(begin_update(s, r));
	row = row_of(s, l->pending);
	return ckpt_learner_add(l, &row, r);
}

enum ckpt_status
ckpt_session_update(struct ckpt_session *s, struct ckpt_session_record *record,
	struct ckpt_refusal *r)
{
	struct ckpt_learner *l = &s->learner;

	*record = (struct ckpt_session_record){ .first = l->training.cursor };
	CKPT_TRY(begin_update(s, r));
	while (l->pending < l->training.microbatches) {
		struct ckpt_batch row = row_of(s, l->pending);

		CKPT_TRY(ckpt_learner_add(l, &row, r));
	}
	CKPT_TRY(ckpt_learner_finish(l, &record->attempt, r));
	record->cursor = l->training.cursor;
	record->traversals = l->training.traversals;
	record->counter = l->training.dropout_counter;
	record->rng = l->trainer->state.sampling_rng_state;
	return CKPT_OK;
}

/* ---- what it has come to ------------------------------------------------ */

enum ckpt_status
ckpt_session_capture(const struct ckpt_session *s, struct ckpt_state *state,
	struct ckpt_refusal *r)
{
	if (!ckpt_learner_settled(&s->learner, r))
		return CKPT_REJECTED;
	*state = s->learner.trainer->state;
	state->archive = CKPT_ARCHIVE_TRAINING;
	state->training = &s->learner.training;
	return CKPT_OK;
}

struct ckpt_state
ckpt_state_model(const struct ckpt_state *state)
{
	return (struct ckpt_state){
		.archive = CKPT_ARCHIVE_TEXT,
		.config = state->config,
		.tokenizer = state->tokenizer,
		.parameters = state->parameters,
		.nparameters = state->nparameters,
	};
}

struct ckpt_state
ckpt_state_backbone(const struct ckpt_state *state)
{
	struct ckpt_state backbone = ckpt_state_model(state);

	backbone.archive = CKPT_ARCHIVE_BACKBONE;
	backbone.config.vocabulary = 0;
	backbone.tokenizer = (struct ckpt_tokenizer){ 0 };
	backbone.parameters++;
	backbone.nparameters--;
	return backbone;
}
