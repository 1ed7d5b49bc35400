/* SPDX-License-Identifier: MIT */
/*
 * A session under way, from the command line: attempts are kept for the
 * report, an interrupt ends it between two updates.
 */
#include "cli/replay_job.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/try.h"
#include "model/identity.h"
#include "replay/envelope.h"
#include "sink/json.h"
#include "wire/value.h"

/* Written by the handler only. */
static volatile sig_atomic_t stop;

static void
on_interrupt(int signal)
{
	(void)signal;
	stop = 1;
}

void
replay_catch_interrupt(void)
{
	struct sigaction now, action = { .sa_handler = on_interrupt };

	sigemptyset(&action.sa_mask);
	action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
	if (sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
}

bool
replay_course_begin(struct ckpt_args *args, struct replay_course *c,
	uint64_t jobs, int format, int *status)
{
	enum ckpt_status s;

	*c = (struct replay_course){ .progress = CKPT_WHEN_NEVER };
	ckpt_arena_init(&c->arena, UINT64_MAX);
	s = ckpt_envelope_here(&c->arena, NULL, &c->here);
	if (s != CKPT_OK) {
		*status = replay_refused(
			args, "/proc/self/exe", format, s, &c->refusal);
		return false;
	}
	c->team = ckpt_team_new((unsigned)jobs);
	return true;
}

void
replay_course_release(struct replay_course *c)
{
	ckpt_session_release(&c->session);
	ckpt_team_free(c->team);
	ckpt_arena_release(&c->arena);
	ckpt_buf_release(&c->refusal.text);
	free(c->records);
}

/* ---- progress ----------------------------------------------------------- */

/* What is on standard error while it goes on. */
struct meter {
	bool on, terminal, drawn;
	time_t next;
};

static void
meter_begin(struct meter *m, enum ckpt_when when)
{
	m->terminal = isatty(STDERR_FILENO) == 1;
	m->on = when == CKPT_WHEN_ALWAYS ||
		(when == CKPT_WHEN_AUTO && m->terminal);
	m->next = time(NULL) + 1;
}

static void
meter_show(struct meter *m, uint64_t done, uint64_t until, double loss)
{
	time_t now = m->on ? time(NULL) : 0;

	if (!m->on || now < m->next)
		return;
	m->next = now + 1;
	m->drawn = m->terminal;
	fprintf(stderr, "%supdate %llu of %llu, mean loss %.6g%s",
		m->terminal ? "\r" : "", (unsigned long long)done,
		(unsigned long long)until, loss, m->terminal ? "    " : "\n");
}

static void
meter_end(const struct meter *m)
{
	if (m->drawn)
		fprintf(stderr, "\r%78s\r", "");
}

/* ---- updates ------------------------------------------------------------ */

static enum ckpt_status
keep(struct replay_course *c, const struct ckpt_session_record *record)
{
	if (c->nrecords == c->room) {
		size_t room = c->room ? 2 * c->room : 64;
		struct ckpt_session_record *grown =
			realloc(c->records, room * sizeof *grown);

		if (!grown)
			return CKPT_ENOMEM;
		c->records = grown;
		c->room = room;
	}
	c->records[c->nrecords++] = *record;
	return CKPT_OK;
}

static enum ckpt_status
run(struct replay_course *c, uint64_t until, struct meter *m)
{
	struct ckpt_session *s = &c->session;

	ckpt_session_team(s, c->team);
	while (ckpt_session_step(s) < until && !c->interrupted) {
		struct ckpt_session_record record;

		CKPT_TRY(ckpt_session_update(s, &record, &c->refusal));
		CKPT_TRY(keep(c, &record));
		meter_show(m, ckpt_session_step(s), until,
			record.attempt.mean_loss);
		c->interrupted = stop != 0;
	}
	return CKPT_OK;
}

enum ckpt_status
replay_course_run(struct replay_course *c, uint64_t until)
{
	struct meter m = { 0 };
	enum ckpt_status status;

	meter_begin(&m, c->progress);
	status = run(c, until, &m);
	meter_end(&m);
	return status;
}

enum ckpt_status
replay_course_skip(struct replay_course *c, bool *skipped)
{
	struct ckpt_session_record record;

	*skipped = false;
	CKPT_TRY(ckpt_session_update(&c->session, &record, &c->refusal));
	c->interrupted = stop != 0;
	*skipped = record.attempt.skipped;
	return *skipped ? keep(c, &record) : CKPT_OK;
}

/* ---- JSON --------------------------------------------------------------- */

json_t *
replay_real_json(double x)
{
	struct ckpt_value value = ckpt_v_f64(ckpt_f64_bits(x));

	return ckpt_json_value(&value);
}

json_t *
replay_wide_json(uint64_t x)
{
	return json_sprintf("%llu", (unsigned long long)x);
}

json_t *
replay_ids_json(const uint32_t *ids, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(ids[i]));
	return list;
}

static json_t *
documents_json(const struct ckpt_session *s, uint64_t first)
{
	const struct ckpt_training *t = &s->learner.training;
	json_t *list = json_array();

	for (uint64_t i = 0; i < t->microbatches; i++) {
		uint64_t place = (first + i % t->documents) % t->documents;
		const struct ckpt_name *id =
			&s->job->documents[t->order[place]].id;

		json_array_append_new(list, replay_raw_json(id->p, id->n));
	}
	return list;
}

static json_t *
update_json(const struct ckpt_session *s, const struct ckpt_session_record *r)
{
	const struct ckpt_attempt *a = &r->attempt;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:o,"
			 " s:o, s:o, s:o, s:b}",
		"step", ckpt_json_u64(a->step), "learning_rate",
		replay_real_json(a->rate), "mean_loss",
		replay_real_json(a->mean_loss), "microbatches",
		ckpt_json_u64(s->learner.training.microbatches),
		"valid_targets", ckpt_json_u64(a->targets), "loss_scale",
		a->scale, "next_loss_scale", a->next_scale, "data_document_ids",
		documents_json(s, r->first), "next_cursor",
		ckpt_json_u64(r->cursor), "epoch", ckpt_json_u64(r->traversals),
		"dropout_next_counter", replay_wide_json(r->counter),
		"monitoring_token_ids", replay_ids_json(&a->monitored, 1),
		"sampling_rng_state", replay_wide_json(r->rng),
		"gradients_cleared", s->learner.cleared);
}

json_t *
replay_updates_json(const struct replay_course *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->nrecords; i++)
		if (!c->records[i].attempt.skipped)
			json_array_append_new(
				list, update_json(&c->session, &c->records[i]));
	return list;
}

json_t *
replay_skipped_json(const struct replay_course *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->nrecords; i++) {
		const struct ckpt_attempt *a = &c->records[i].attempt;

		if (a->skipped)
			json_array_append_new(list,
				json_pack("{s:o, s:f, s:f}", "step",
					ckpt_json_u64(a->step), "loss_scale",
					a->scale, "next_loss_scale",
					a->next_scale));
	}
	return list;
}

static json_t *
order_json(const struct ckpt_training *t)
{
	json_t *list = json_array();

	for (uint64_t i = 0; i < t->documents; i++)
		json_array_append_new(list, ckpt_json_u64(t->order[i]));
	return list;
}

static json_t *
next_rate_json(const struct ckpt_state *state)
{
	const struct ckpt_schedule *s = &state->training->schedule;

	if (state->optimizer_step >= s->updates)
		return json_null();
	return replay_real_json(
		ckpt_schedule_rate(s, state->optimizer_step + 1));
}

json_t *
replay_state_json(const struct ckpt_state *state)
{
	const struct ckpt_training *t = state->training;
	char model[CKPT_SHA256_TEXT], optimizer[CKPT_SHA256_TEXT];

	if (!ckpt_model_identity(state, model) ||
		!ckpt_optimizer_digest(state, optimizer))
		return NULL;
	return json_pack("{s:s, s:s, s:o, s:[o, o], s:o, s:o, s:o, s:o, s:o,"
			 " s:o, s:f, s:o, s:i, s:s, s:o}",
		"model_id", model, "optimizer_digest", optimizer, "step",
		ckpt_json_u64(state->optimizer_step), "powers",
		replay_real_json(state->beta1_power),
		replay_real_json(state->beta2_power), "cursor",
		ckpt_json_u64(t->cursor), "epoch", ckpt_json_u64(t->traversals),
		"document_order", order_json(t), "dropout_seed",
		replay_wide_json(t->dropout_seed), "dropout_next_counter",
		replay_wide_json(t->dropout_counter), "sampling_rng_state",
		replay_wide_json(state->sampling_rng_state), "loss_scale",
		t->scaler.scale, "scaler_progress",
		ckpt_json_u64(t->scaler.progress), "pending_microbatches", 0,
		"data_sha256", t->data_sha256, "next_learning_rate",
		next_rate_json(state));
}
