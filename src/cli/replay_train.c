/* SPDX-License-Identifier: MIT */
/*
 * ckreplay train and resume: a job's updates, from nothing, from a model's
 * weights, or from a training checkpoint. Nothing is written before every
 * update that was asked for is made, or an interrupt came between two.
 */
#include "cli/replay_job.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEFAULT_UNTIL = 2 };

static const char *const formats[] = { "text", "json", NULL };

#define JOB                                                                    \
	{                                                                      \
		.name = "job", .kind = CKPT_OPT_TEXT, .arg = "FILE",           \
		SLOT(job),                                                     \
		.help = "the job file; the published job if it is not given"   \
	}
#define COMMON                                                                 \
	{ .name = "progress",                                                  \
		.kind = CKPT_OPT_CHOICE,                                       \
		.words = ckpt_when_words,                                      \
		.preset = "auto",                                              \
		SLOT(progress),                                                \
		.help = "report on standard error how far it has come" },      \
		{ .name = "format",                                            \
			.kind = CKPT_OPT_CHOICE,                               \
			.words = formats,                                      \
			.preset = "text",                                      \
			SLOT(format),                                          \
			.help = "how to print the result" },                   \
		{ .name = "max-memory",                                        \
			.kind = CKPT_OPT_SIZE,                                 \
			.arg = "SIZE",                                         \
			.preset = "64G",                                       \
			SLOT(max_memory),                                      \
			.help = "memory for the contents of an archive" },     \
	{                                                                      \
		.letter = 'j', .name = "jobs", .kind = CKPT_OPT_U64,           \
		.arg = "N", .preset = "1", .least = 1, .most = 256,            \
		SLOT(jobs),                                                    \
		.help = "threads to compute with; their number changes no "    \
			"bit"                                                  \
	}

/* clang-format off */
#define SLOT(member) .slot = offsetof(struct replay_train_options, member)
static const struct ckpt_opt train_opts[] = {
	JOB,
	{ .name = "from", .kind = CKPT_OPT_TEXT, .arg = "MODEL", SLOT(from),
		.help = "begin with the weights of a portable model; "
			"everything else is fresh" },
	{ .name = "until", .kind = CKPT_OPT_U64, .arg = "STEP",
		.least = 1, SLOT(until),
		.help = "make that many updates, at most as many as the plan "
			"has; 2, or the plan's only one, if it is not given" },
	{ .name = "model", .kind = CKPT_OPT_TEXT, .arg = "FILE", SLOT(model),
		.help = "save the portable model here; needed" },
	{ .name = "checkpoint", .kind = CKPT_OPT_TEXT, .arg = "FILE",
		SLOT(checkpoint),
		.help = "save the training checkpoint here; needed" },
	COMMON,
	{ 0 },
};
#undef SLOT
#define SLOT(member) .slot = offsetof(struct replay_resume_options, member)
static const struct ckpt_opt resume_opts[] = {
	JOB,
	{ .name = "checkpoint", .kind = CKPT_OPT_TEXT, .arg = "FILE",
		SLOT(checkpoint), .help = "go on from here; needed" },
	{ .name = "until", .kind = CKPT_OPT_U64, .arg = "STEP", .least = 1,
		SLOT(until),
		.help = "the step to stop at; the end of the plan if it is "
			"not given" },
	{ .name = "model", .kind = CKPT_OPT_TEXT, .arg = "FILE", SLOT(model),
		.help = "save the portable model here; needed" },
	{ .name = "save", .kind = CKPT_OPT_TEXT, .arg = "FILE", SLOT(save),
		.help = "save the training checkpoint here; needed" },
	{ .name = "allow-other-binary", .kind = CKPT_OPT_FLAG,
		SLOT(allow_other),
		.help = "go on from a checkpoint of another executable, which "
			"the new one remembers; another arithmetic is refused "
			"all the same" },
	COMMON,
	{ 0 },
};
#undef SLOT
/* clang-format on */

static const char *const train_use[] = {
	"[options] --model=FILE --checkpoint=FILE", NULL
};
static const char *const resume_use[] = {
	"[options] --checkpoint=FILE --model=FILE --save=FILE", NULL
};

static const char *const train_about[] = {
	"trains a model by a job and saves two archives: the training "
	"checkpoint, from which resume goes on in another process to the same "
	"bits, and the portable model, which infer needs alone. The "
	"checkpoint is saved first.",
	"When a gradient overflows, the update is skipped, the loss scale is "
	"halved, and the update is tried again. An interrupt lets the update "
	"in progress finish; then both archives are saved and the exit status "
	"is 130.",
	NULL,
};
static const char *const resume_about[] = {
	"goes on from a training checkpoint. Everything comes from it but the "
	"documents, which are those of the job. Other documents, another job, "
	"another executable or another arithmetic are refused before anything "
	"is written.",
	NULL,
};

const struct ckpt_command replay_train_command = {
	.name = "train",
	.title = "train a model by a job",
	.use = train_use,
	.about = train_about,
	.opts = train_opts,
};
const struct ckpt_command replay_resume_command = {
	.name = "resume",
	.title = "go on from a training checkpoint",
	.use = resume_use,
	.about = resume_about,
	.opts = resume_opts,
};

/* ---- the end ------------------------------------------------------------ */

int
replay_course_close(struct ckpt_args *args, struct replay_course *c, int format,
	const char *checkpoint, const char *model)
{
	const struct ckpt_envelope *e = &c->session.learner.training.envelope;
	struct ckpt_state state, portable;
	bool saved[2] = { false, false };
	const char *verdict = "valid";
	int status = CKPT_EXIT_OK;
	enum ckpt_status s =
		ckpt_session_capture(&c->session, &state, &c->refusal);
	json_t *o;

	if (s != CKPT_OK)
		return replay_refused(args, checkpoint, format, s, &c->refusal);
	portable = ckpt_state_model(&state);
	saved[0] = replay_archive_save(args, checkpoint, &state);
	saved[1] = saved[0] && replay_archive_save(args, model, &portable);
	if (!saved[1]) {
		verdict = "not-verified";
		status = CKPT_EXIT_TROUBLE;
	} else if (c->interrupted) {
		verdict = "interrupted";
		status = CKPT_EXIT_INTERRUPTED;
	}
	o = json_pack("{s:o, s:o, s:o, s:b, s:b}", "updates",
		replay_updates_json(c), "skipped", replay_skipped_json(c),
		"state", replay_state_json(&state), "model_saved", saved[1],
		"training_checkpoint_saved", saved[0]);
	if (o && e->noverrides) {
		json_t *list = json_array();

		for (uint32_t i = 0; i < e->noverrides; i++)
			json_array_append_new(
				list, replay_raw_json(e->overrides[i].p,
					      e->overrides[i].n));
		json_object_set_new(o, "executables_set_aside", list);
	}
	return replay_emit(format, o, verdict, status, NULL);
}

/* Whether the plan has such a step. */
static bool
plan_has(struct ckpt_args *args, const struct ckpt_job *job, uint64_t until)
{
	uint64_t updates = job->training.schedule.updates;
	char text[64], after[64];

	if (until <= updates)
		return true;
	snprintf(text, sizeof text, "%" PRIu64, until);
	snprintf(after, sizeof after, ", the plan has %" PRIu64 " updates",
		updates);
	return ckpt_args_fail(args, "--until is ", text, after);
}

/* ---- train -------------------------------------------------------------- */

static int
train(struct ckpt_args *args, const struct replay_train_options *o,
	struct ckpt_job *job, struct replay_course *c)
{
	uint64_t until = o->until ? o->until : DEFAULT_UNTIL;
	struct ckpt_checkpoint *model = NULL;
	const char *named = o->from  ? o->from
			    : o->job ? o->job
				     : "the published job";
	const char *const outputs[] = { o->checkpoint, o->model };
	enum ckpt_status s;
	int status;

	replay_catch_interrupt();
	if (!replay_outputs_rehearse(args, o->format, outputs, 2, &status) ||
		!replay_course_begin(args, c, o->jobs, o->format, &status))
		return status;
	c->progress = (enum ckpt_when)o->progress;
	if (until > job->training.schedule.updates)
		until = job->training.schedule.updates;
	if (o->from) {
		model = replay_archive_load(args, o->from, CKPT_ARCHIVE_TEXT,
			o->max_memory, o->format, &status);
		if (!model)
			return status;
	}
	s = ckpt_session_start(&c->session, job, model, &c->here, &c->refusal);
	if (s == CKPT_OK)
		s = replay_course_run(c, until);
	if (s != CKPT_OK)
		return replay_refused(args, named, o->format, s, &c->refusal);
	return replay_course_close(args, c, o->format, o->checkpoint, o->model);
}

int
replay_train(struct ckpt_args *args, const void *options)
{
	const struct replay_train_options *o = options;
	const char *const outputs[] = { o->checkpoint, o->model };
	const char *const inputs[] = { o->job, o->from };
	struct replay_course course = { 0 };
	struct ckpt_job job;
	int status;

	if (!replay_needs(args, "--model", o->model) ||
		!replay_needs(args, "--checkpoint", o->checkpoint) ||
		!replay_inputs_apart(args, inputs, 2) ||
		!replay_outputs_apart(args, outputs, 2, inputs, 2))
		return ckpt_args_report(args);
	if (replay_job_read(args, o->job, o->format, &job, &status)) {
		status = plan_has(args, &job, o->until)
				 ? train(args, o, &job, &course)
				 : ckpt_args_report(args);
		replay_course_release(&course);
	}
	ckpt_job_release(&job);
	return status;
}

/* ---- resume ------------------------------------------------------------- */

static int
resume(struct ckpt_args *args, const struct replay_resume_options *o,
	struct ckpt_job *job, struct replay_course *c)
{
	uint64_t until = o->until ? o->until : job->training.schedule.updates;
	const char *const outputs[] = { o->save, o->model };
	struct ckpt_checkpoint *from;
	enum ckpt_status s;
	int status;

	replay_catch_interrupt();
	if (!replay_outputs_rehearse(args, o->format, outputs, 2, &status) ||
		!replay_course_begin(args, c, o->jobs, o->format, &status))
		return status;
	c->progress = (enum ckpt_when)o->progress;
	from = replay_archive_load(args, o->checkpoint, CKPT_ARCHIVE_TRAINING,
		o->max_memory, o->format, &status);
	if (!from)
		return status;
	s = ckpt_session_restore(
		&c->session, job, from, &c->here, o->allow_other, &c->refusal);
	if (s == CKPT_OK && ckpt_session_step(&c->session) > until) {
		c->refusal.kind = "BehindCheckpoint";
		ckpt_buf_printf(&c->refusal.text,
			"the checkpoint is at step %" PRIu64
			", --until is %" PRIu64,
			ckpt_session_step(&c->session), until);
		s = CKPT_REJECTED;
	}
	if (s == CKPT_OK)
		s = replay_course_run(c, until);
	if (s != CKPT_OK)
		return replay_refused(
			args, o->checkpoint, o->format, s, &c->refusal);
	return replay_course_close(args, c, o->format, o->save, o->model);
}

int
replay_resume(struct ckpt_args *args, const void *options)
{
	const struct replay_resume_options *o = options;
	const char *const outputs[] = { o->save, o->model };
	const char *const inputs[] = { o->job, o->checkpoint };
	struct replay_course course = { 0 };
	struct ckpt_job job;
	int status;

	if (!replay_needs(args, "--checkpoint", o->checkpoint) ||
		!replay_needs(args, "--model", o->model) ||
		!replay_needs(args, "--save", o->save) ||
		!replay_inputs_apart(args, inputs, 2) ||
		!replay_outputs_apart(args, outputs, 2, inputs, 2))
		return ckpt_args_report(args);
	if (replay_job_read(args, o->job, o->format, &job, &status)) {
		status = plan_has(args, &job, o->until)
				 ? resume(args, o, &job, &course)
				 : ckpt_args_report(args);
		replay_course_release(&course);
	}
	ckpt_job_release(&job);
	return status;
}
