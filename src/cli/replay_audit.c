/* SPDX-License-Identifier: MIT */
/*
 * ckreplay audit: the training checkpoints of one run, each replayed to the
 * next. What is proved is that this program under this arithmetic comes from
 * one to the other; the first bit that does not follow is named.
 */
#include "cli/replay_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "model/identity.h"
#include "sink/json.h"

#define SLOT(member) .slot = offsetof(struct replay_audit_options, member)

static const char *const formats[] = { "text", "json", NULL };

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .name = "job", .kind = CKPT_OPT_TEXT, .arg = "FILE", SLOT(job),
		.help = "the job file; the published job if it is not given" },
	{ .name = "allow-other-binary", .kind = CKPT_OPT_FLAG,
		SLOT(allow_other),
		.help = "replay checkpoints of another executable; those of "
			"another arithmetic are refused all the same" },
	{ .name = "format", .kind = CKPT_OPT_CHOICE, .words = formats,
		.preset = "text", SLOT(format),
		.help = "how to print the result" },
	{ .name = "max-memory", .kind = CKPT_OPT_SIZE, .arg = "SIZE",
		.preset = "64G", SLOT(max_memory),
		.help = "memory for the contents of an archive" },
	{ .letter = 'j', .name = "jobs", .kind = CKPT_OPT_U64, .arg = "N",
		.preset = "1", .least = 1, .most = 256, SLOT(jobs),
		.help = "threads to compute with; their number changes no "
			"bit" },
	{ 0 },
};
/* clang-format on */

static const char *const use[] = { "[options] CHECKPOINT CHECKPOINT...", NULL };

static const char *const about[] = {
	"replays a job from each training checkpoint to the next and compares "
	"what it comes to with what is stored: model, moments, powers, place "
	"in the data, counters, loss scale and the sampling stream, bit for "
	"bit. Of each step between two checkpoints it says that it is proved, "
	"or names the first difference.",
	NULL,
};

const struct ckpt_command replay_audit_command = {
	.name = "audit",
	.title = "replay a job from each training checkpoint to the next",
	.use = use,
	.about = about,
	.opts = opts,
	.operand = "CHECKPOINT",
	.least = 2,
	.most = CKPT_OPERANDS_ANY,
};

struct audit {
	struct ckpt_args *args;
	const struct replay_audit_options *options;
	struct ckpt_job job;
	struct replay_course courses[2]; /* from one, and the next */
	json_t *steps;
	bool equal; /* so far */
};

/* Loads a checkpoint and makes a session of it. */
static bool
enter(struct audit *a, struct replay_course *c, const char *path, int *status)
{
	const struct replay_audit_options *o = a->options;
	struct ckpt_checkpoint *from;
	enum ckpt_status s;

	if (!replay_course_begin(a->args, c, o->jobs, o->format, status))
		return false;
	from = replay_archive_load(a->args, path, CKPT_ARCHIVE_TRAINING,
		o->max_memory, o->format, status);
	if (!from)
		return false;
	s = ckpt_session_restore(&c->session, &a->job, from, &c->here,
		o->allow_other, &c->refusal);
	if (s != CKPT_OK)
		*status = replay_refused(
			a->args, path, o->format, s, &c->refusal);
	return s == CKPT_OK;
}

static json_t *
step_json(const struct audit *a, size_t i, uint64_t from, uint64_t to,
	struct ckpt_buf *difference)
{
	const char *const *paths = a->args->operands;
	/* Arguments have no order, and taking empties. */
	bool equal = difference->n == 0 && !difference->failed;
	json_t *first = equal ? json_null() : ckpt_json_take(difference);

	return json_pack("{s:o, s:o, s:o, s:o, s:i, s:b, s:o}", "from",
		replay_raw_json(paths[i], strlen(paths[i])), "to",
		replay_raw_json(paths[i + 1], strlen(paths[i + 1])),
		"from_step", ckpt_json_u64(from), "to_step", ckpt_json_u64(to),
		"skipped", (int)(a->courses[0].nrecords - (size_t)(to - from)),
		"bit_equal", (int)equal, "first_difference", first);
}

/* Compares what the first course has come to with the second. A checkpoint can
 * have been saved after attempts that were skipped, which leave a smaller loss
 * scale behind; so while the stored one is smaller, another is made. */
static enum ckpt_status
compare(struct audit *a, struct ckpt_buf *difference)
{
	struct replay_course *c = &a->courses[0];
	struct ckpt_session *next = &a->courses[1].session;
	struct ckpt_state made, stored;
	bool skipped;
	enum ckpt_status s;

	CKPT_TRY(ckpt_session_capture(next, &stored, &c->refusal));
	do {
		CKPT_TRY(ckpt_session_capture(&c->session, &made, &c->refusal));
		ckpt_buf_clear(difference);
		if (ckpt_state_continues(&made, &stored, difference))
			return CKPT_OK;
		if (stored.training->scaler.scale >=
				made.training->scaler.scale ||
			made.optimizer_step >= ckpt_session_planned(next))
			break;
		s = replay_course_skip(c, &skipped);
		/* What cannot go on cannot come to the stored state. */
		if (s != CKPT_OK && s != CKPT_REJECTED)
			return s;
	} while (skipped && !c->interrupted);
	a->equal = false;
	return CKPT_OK;
}

/* Replays from the first course to the second and compares. */
static enum ckpt_status
replay(struct audit *a, size_t i)
{
	struct replay_course *c = &a->courses[0];
	struct ckpt_session *next = &a->courses[1].session;
	uint64_t from = ckpt_session_step(&c->session);
	uint64_t to = ckpt_session_step(next);
	struct ckpt_buf difference = { 0 };
	enum ckpt_status s;

	if (to < from) {
		c->refusal.kind = "Backwards";
		ckpt_buf_printf(&c->refusal.text,
			"step %" PRIu64 " comes after step %" PRIu64, to, from);
		return CKPT_REJECTED;
	}
	s = replay_course_run(c, to);
	if (s == CKPT_OK && !c->interrupted)
		s = compare(a, &difference);
	if (s == CKPT_OK && c->interrupted)
		s = CKPT_STOP;
	if (s == CKPT_OK &&
		json_array_append_new(
			a->steps, step_json(a, i, from, to, &difference)) != 0)
		s = CKPT_ENOMEM;
	ckpt_buf_release(&difference);
	return s;
}

static int
audit(struct audit *a)
{
	const char *const *paths = a->args->operands;
	int format = a->options->format, status = CKPT_EXIT_OK;
	enum ckpt_status s;

	if (!enter(a, &a->courses[0], paths[0], &status))
		return status;
	for (size_t i = 0; i + 1 < a->args->operand_count; i++) {
		if (!enter(a, &a->courses[1], paths[i + 1], &status))
			return status;
		s = replay(a, i);
		if (s == CKPT_STOP)
			return CKPT_EXIT_INTERRUPTED;
		if (s != CKPT_OK)
			return replay_refused(a->args, paths[i + 1], format, s,
				&a->courses[0].refusal);
		replay_course_release(&a->courses[0]);
		a->courses[0] = a->courses[1];
		a->courses[1] = (struct replay_course){ 0 };
	}
	status = a->equal ? CKPT_EXIT_OK : CKPT_EXIT_NEGATIVE;
	return replay_emit(format,
		json_pack("{s:s, s:O}", "data_sha256",
			a->job.training.data_sha256, "transitions", a->steps),
		a->equal ? "bit-equal" : "mismatch", status, NULL);
}

int
replay_audit(struct ckpt_args *args, const void *options)
{
	struct audit a = { .args = args, .options = options, .equal = true };
	int status;

	a.steps = json_array();
	if (replay_job_read(
		    args, a.options->job, a.options->format, &a.job, &status)) {
		replay_catch_interrupt();
		status = audit(&a);
	}
	replay_course_release(&a.courses[0]);
	replay_course_release(&a.courses[1]);
	ckpt_job_release(&a.job);
	json_decref(a.steps);
	return status;
}
