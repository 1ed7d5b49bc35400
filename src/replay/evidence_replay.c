/* SPDX-License-Identifier: MIT */
/*
 * Evidence: the round trip and the one supplied update. Two trainers stand
 * beside each other, one from the file and one from its state encoded and
 * loaded again, and are compared bit for bit before and after the update.
 * Then the controls: the same update with another batch, and with another
 * rate, must lead elsewhere, or the comparison would prove nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/try.h"
#include "model/rng.h"
#include "replay/evidence_parts.h"
#include "sink/save.h"

struct replay {
	struct ckpt_evidence *e;
	struct ckpt_trainer *first, *second;
	size_t nlogits;
	double *logits[2];
};

/* ---- comparing ---------------------------------------------------------- */

static bool
same_doubles(const double *a, const double *b, size_t n)
{
	return memcmp(a, b, n * sizeof *a) == 0;
}

static bool
same_parameters(const struct ckpt_trainer *a, const struct ckpt_trainer *b)
{
	return a->scalars == b->scalars &&
	       same_doubles(a->parameters, b->parameters, a->scalars);
}

/* Moments, powers and step. */
static bool
same_optimizer(const struct ckpt_trainer *a, const struct ckpt_trainer *b)
{
	const struct ckpt_state *s = &a->state, *u = &b->state;
	bool same = s->optimizer_step == u->optimizer_step &&
		    s->nmoments == u->nmoments &&
		    same_doubles(&s->beta1_power, &u->beta1_power, 1) &&
		    same_doubles(&s->beta2_power, &u->beta2_power, 1);

	for (uint32_t k = 0; same && k < s->nmoments; k++) {
		size_t n = (size_t)(s->parameters[k].len / sizeof(double));

		same = same_doubles(a->first[k], b->first[k], n) &&
		       same_doubles(a->second[k], b->second[k], n);
	}
	return same;
}

static bool
same_logits(const struct replay *r)
{
	return same_doubles(r->logits[0], r->logits[1], r->nlogits);
}

static uint64_t
fingerprint(const struct replay *r)
{
	return ckpt_fnv1a64(CKPT_FNV1A64_START, r->logits[0],
		r->nlogits * sizeof *r->logits[0]);
}

static bool
same_bytes(const struct ckpt_buf *a, const void *p, size_t n)
{
	return a->n == n && memcmp(a->p, p, n) == 0;
}

/* ---- round trip --------------------------------------------------------- */

static enum ckpt_status
take_bytes(struct ckpt_evidence *e, const void *bytes, size_t n,
	struct ckpt_trainer **t)
{
	struct ckpt_checkpoint *c;
	enum ckpt_status status =
		ckpt_evidence_load(bytes, n, e->max_memory, &c);

	*t = NULL;
	if (status != CKPT_OK) {
		ckpt_checkpoint_free(c);
		return status;
	}
	*t = ckpt_trainer_take(c);
	return *t ? CKPT_OK : CKPT_ENOMEM;
}

/* Encodes twice, loads, encodes what was loaded: four times the same bytes,
 * those of the file among them. second stays NULL if they do not load. */
static enum ckpt_status
round_trip(struct replay *r, const struct ckpt_format *format,
	struct ckpt_buf bytes[3])
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_ROUNDTRIP;
	const struct ckpt_state *state = &r->first->state;
	struct ckpt_evidence *e = r->e;
	enum ckpt_status status;

	CKPT_TRY(ckpt_encode(&bytes[0], format, state, NULL));
	CKPT_TRY(ckpt_encode(&bytes[1], format, state, NULL));
	ckpt_evidence_claim(e, line, "bytes_deterministic",
		same_bytes(&bytes[0], bytes[1].p, bytes[1].n));
	status = take_bytes(e, bytes[0].p, bytes[0].n, &r->second);
	if (status != CKPT_OK && status != CKPT_REJECTED &&
		status != CKPT_EUNSUPPORTED)
		return status;
	if (r->second)
		CKPT_TRY(ckpt_encode(
			&bytes[2], format, &r->second->state, NULL));
	ckpt_evidence_claim(e, line, "loaded_bytes_identical",
		r->second && same_bytes(&bytes[0], e->bytes, e->n) &&
			same_bytes(&bytes[2], e->bytes, e->n));
	return CKPT_OK;
}

static enum ckpt_status
compute_logits(struct replay *r)
{
	struct ckpt_evidence *e = r->e;

	CKPT_TRY(ckpt_trainer_logits(
		r->first, e->batch, r->logits[0], &e->refusal));
	return r->second ? ckpt_trainer_logits(r->second, e->batch,
				   r->logits[1], &e->refusal)
			 : CKPT_OK;
}

static enum ckpt_status
before(struct replay *r)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_ROUNDTRIP;
	struct ckpt_evidence *e = r->e;
	struct ckpt_rng first = { r->first->state.sampling_rng_state };
	struct ckpt_rng second = { 0 };
	uint64_t next = ckpt_rng_draw(&first);

	if (r->second)
		second.state = r->second->state.sampling_rng_state;
	CKPT_TRY(compute_logits(r));
	ckpt_evidence_claim(
		e, line, "logits_bits_identical", r->second && same_logits(r));
	ckpt_evidence_hash(e, line, "logits_fingerprint", fingerprint(r));
	ckpt_evidence_claim(e, line, "sampling_rng_next_identical",
		r->second && ckpt_rng_draw(&second) == next);
	ckpt_evidence_bits(e, line, "sampling_rng_next", next);
	return CKPT_OK;
}

/* ---- the update --------------------------------------------------------- */

static enum ckpt_status
update(struct replay *r, struct ckpt_trainer *t, const struct ckpt_batch *batch,
	double rate, struct ckpt_refusal *refusal)
{
	struct ckpt_update made = { .no_fingerprints = true };

	return ckpt_trainer_update(
		t, batch, rate, r->logits[1], &made, refusal);
}

/* A control: this update of the file's state must not lead where the supplied
 * one led. What it asks for may be impossible though the supplied one was
 * possible. */
static enum ckpt_status
control(struct replay *r, const char *key, const struct ckpt_batch *batch,
	double rate)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_COMPONENT_REPLAY;
	struct ckpt_evidence *e = r->e;
	struct ckpt_refusal refusal = { 0 };
	struct ckpt_trainer *t;
	enum ckpt_status status = take_bytes(e, e->bytes, e->n, &t);

	if (status == CKPT_OK)
		status = ckpt_trainer_accepts(t, batch, rate, &refusal)
				 ? update(r, t, batch, rate, &refusal)
				 : CKPT_REJECTED;
	if (status == CKPT_OK)
		ckpt_evidence_claim(e, line, key,
			!same_parameters(r->first, t) ||
				!same_optimizer(r->first, t));
	else if (status == CKPT_REJECTED)
		ckpt_evidence_not_applicable(e, line, key);
	ckpt_trainer_free(t);
	ckpt_buf_release(&refusal.text);
	return status == CKPT_REJECTED ? CKPT_OK : status;
}

/* Every id, of inputs and targets, is the next one of the vocabulary. */
static enum ckpt_status
change_batch(struct replay *r)
{
	static const char key[] = "changed_batch_diverges";
	struct ckpt_evidence *e = r->e;
	struct ckpt_batch batch = *e->batch;
	size_t n = batch.batch * batch.tokens, vocab = r->first->dims.vocab;
	uint32_t *ids = ckpt_arena_alloc(&e->arena, n * sizeof *ids);
	uint32_t *targets = ckpt_arena_alloc(&e->arena, n * sizeof *targets);

	if (!ids || !targets)
		return CKPT_ENOMEM;
	if (vocab == 1) {
		ckpt_evidence_not_applicable(
			e, CKPT_EVIDENCE_COMPONENT_REPLAY, key);
		return CKPT_OK;
	}
	for (size_t i = 0; i < n; i++) {
		ids[i] = (uint32_t)((batch.ids[i] + (uint64_t)1) % vocab);
		targets[i] =
			(uint32_t)((batch.targets[i] + (uint64_t)1) % vocab);
	}
	batch.ids = ids;
	batch.targets = targets;
	return control(r, key, &batch, e->rate);
}

static void
add_ids(struct ckpt_evidence *e, const char *key, const uint32_t *ids)
{
	const struct ckpt_batch *b = e->batch;
	struct ckpt_buf buf = { 0 };

	for (size_t row = 0; row < b->batch; row++) {
		ckpt_buf_puts(&buf, row > 0 ? "," : b->batch > 1 ? "[" : "");
		for (size_t t = 0; t < b->tokens; t++)
			ckpt_buf_printf(&buf, "%s%u", t > 0 ? "," : "[",
				ids[row * b->tokens + t]);
		ckpt_buf_puts(&buf, "]");
	}
	ckpt_buf_puts(&buf, b->batch > 1 ? "]" : "");
	ckpt_evidence_text(e, CKPT_EVIDENCE_COMPONENT_REPLAY, key,
		buf.failed ? NULL
			   : ckpt_arena_strndup(&e->arena, buf.p, buf.n));
	ckpt_buf_release(&buf);
}

/* Six decimals if they are the rate, else as many digits as it takes. */
static void
add_rate(struct ckpt_evidence *e)
{
	char text[400];

	snprintf(text, sizeof text, "%.6f", e->rate);
	if (ckpt_f64_bits(strtod(text, NULL)) != ckpt_f64_bits(e->rate))
		snprintf(text, sizeof text, "%.17g", e->rate);
	ckpt_evidence_text(e, CKPT_EVIDENCE_COMPONENT_REPLAY,
		"caller_learning_rate",
		ckpt_arena_strndup(&e->arena, text, strlen(text)));
}

static enum ckpt_status
after(struct replay *r)
{
	const enum ckpt_evidence_line line = CKPT_EVIDENCE_COMPONENT_REPLAY;
	struct ckpt_evidence *e = r->e;

	CKPT_TRY(update(r, r->first, e->batch, e->rate, &e->refusal));
	if (r->second)
		CKPT_TRY(update(r, r->second, e->batch, e->rate, &e->refusal));
	CKPT_TRY(compute_logits(r));
	add_ids(e, "caller_inputs", e->batch->ids);
	add_ids(e, "caller_targets", e->batch->targets);
	add_rate(e);
	ckpt_evidence_number(
		e, line, "next_step", r->first->state.optimizer_step);
	ckpt_evidence_claim(e, line, "parameter_bits_identical",
		r->second && same_parameters(r->first, r->second));
	ckpt_evidence_claim(e, line, "optimizer_state_identical",
		r->second && same_optimizer(r->first, r->second));
	ckpt_evidence_claim(
		e, line, "logits_bits_identical", r->second && same_logits(r));
	ckpt_evidence_hash(e, line, "logits_fingerprint", fingerprint(r));
	/* The controls need a trainer of their own. */
	ckpt_trainer_free(r->second);
	r->second = NULL;
	CKPT_TRY(change_batch(r));
	return control(
		r, "changed_learning_rate_diverges", e->batch, 2.0 * e->rate);
}

enum ckpt_status
ckpt_evidence_replay(struct ckpt_evidence *e, struct ckpt_trainer *trainer)
{
	const struct ckpt_format *format = trainer->from->run->format;
	struct replay r = { .e = e, .first = trainer };
	size_t rows = e->batch->batch * e->batch->tokens;
	struct ckpt_buf bytes[3] = { 0 };
	enum ckpt_status status = CKPT_ENOMEM;

	if (!__builtin_mul_overflow(rows, trainer->dims.vocab, &r.nlogits)) {
		r.logits[0] = calloc(r.nlogits, sizeof *r.logits[0]);
		r.logits[1] = calloc(r.nlogits, sizeof *r.logits[1]);
	}
	if (r.logits[0] && r.logits[1])
		status = round_trip(&r, format, bytes);
	for (size_t i = 0; i < 3; i++)
		ckpt_buf_release(&bytes[i]);
	if (status == CKPT_OK)
		status = before(&r);
	if (status == CKPT_OK)
		status = after(&r);
	ckpt_trainer_free(r.second);
	free(r.logits[0]);
	free(r.logits[1]);
	return status;
}
