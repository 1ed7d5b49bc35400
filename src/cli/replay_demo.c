/* SPDX-License-Identifier: MIT */
/*
 * ckreplay demo: a job up to a boundary, saved and loaded again, inferred
 * from, gone on from, and held against the run that never stopped; all in
 * memory. That a process may end in between is what train and resume show.
 */
#include "cli/replay_demo.h"

#include <stdio.h>
#include <string.h>

#include "base/try.h"
#include "cli/replay_model.h"
#include "format/format.h"
#include "model/identity.h"
#include "sink/json.h"
#include "sink/save.h"

#define SLOT(member) .slot = offsetof(struct replay_demo_options, member)

static const char *const formats[] = { "text", "json", NULL };

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .name = "job", .kind = CKPT_OPT_TEXT, .arg = "FILE", SLOT(job),
		.help = "the job file; the published job if it is not given" },
	{ .name = "format", .kind = CKPT_OPT_CHOICE, .words = formats,
		.preset = "text", SLOT(format),
		.help = "how to print the result" },
	{ .letter = 'j', .name = "jobs", .kind = CKPT_OPT_U64, .arg = "N",
		.preset = "1", .least = 1, .most = 256, SLOT(jobs),
		.help = "threads to compute with; their number changes no "
			"bit" },
	{ 0 },
};
/* clang-format on */

static const char *const use[] = { "[options]", NULL };

static const char *const about[] = {
	"trains half of a job, saves and loads the model and the training "
	"checkpoint, infers from the one, goes on from the other, and "
	"compares with the run that never stopped; then begins again from the "
	"weights alone, and shows what is refused.",
	"All of it is in memory and in one process, so it does not "
	"demonstrate that a process can exit in between: train and resume do.",
	NULL,
};

static const char scope[] =
	"in memory, in one process: this does not demonstrate process exit";

const struct ckpt_command replay_demo_command = {
	.name = "demo",
	.title = "show a job saved, loaded and gone on from, in memory",
	.use = use,
	.about = about,
	.opts = opts,
};

/* ---- files in memory ---------------------------------------------------- */

static enum ckpt_status
encode(struct ckpt_buf *bytes, const struct ckpt_state *state)
{
	const struct ckpt_format *format = ckpt_format_find("safetensors");

	return format ? ckpt_encode(bytes, format, state, NULL)
		      : CKPT_EUNSUPPORTED;
}

enum ckpt_status
replay_demo_load(
	const struct ckpt_buf *bytes, size_t n, struct ckpt_checkpoint **c)
{
	struct ckpt_options options = { .max_memory = UINT64_MAX };
	struct ckpt_source *source = ckpt_source_memory(bytes->p, n);
	enum ckpt_status s;

	*c = NULL;
	if (!source)
		return CKPT_ENOMEM;
	s = ckpt_checkpoint_read(source, &options, c);
	ckpt_source_close(source);
	if (s == CKPT_OK)
		return s;
	ckpt_checkpoint_free(*c);
	*c = NULL;
	return s;
}

/* ---- the parts ---------------------------------------------------------- */

void
replay_demo_put(struct replay_demo *d, const char *key, json_t *value)
{
	if (json_object_set_new(d->result, key, value) != 0)
		d->good = false;
}

/* Why a course cannot go on is why the demonstration cannot. */
static enum ckpt_status
advance(struct replay_demo *d, struct replay_course *c, uint64_t until)
{
	enum ckpt_status s = replay_course_run(c, until);

	if (s != CKPT_OK) {
		ckpt_buf_release(&d->refusal.text);
		d->refusal = c->refusal;
		c->refusal = (struct ckpt_refusal){ 0 };
	}
	return s;
}

static enum ckpt_status
up_to_boundary(struct replay_demo *d)
{
	struct replay_course *c = &d->whole;
	struct ckpt_state state, model;

	CKPT_TRY(ckpt_session_start(
		&c->session, &d->job, NULL, &c->here, &d->refusal));
	CKPT_TRY(advance(d, c, d->cut));
	CKPT_TRY(ckpt_session_capture(&c->session, &state, &d->refusal));
	model = ckpt_state_model(&state);
	CKPT_TRY(encode(&d->checkpoint, &state));
	CKPT_TRY(encode(&d->model, &model));
	replay_demo_put(d, "boundary_state", replay_state_json(&state));
	return CKPT_OK;
}

static enum ckpt_status
infer(struct replay_demo *d)
{
	struct replay_inference i = { .prompt = "ab", .tokens = 3 };
	struct ckpt_checkpoint *c;
	enum ckpt_status s = replay_demo_load(&d->model, d->model.n, &c);
	json_t *answer = NULL;

	if (s != CKPT_OK)
		return s;
	i.state = &c->state;
	if (i.tokens >= c->state.config.positions)
		i.tokens = c->state.config.positions - 1;
	s = replay_inference_run(&i, &answer, &d->refusal);
	ckpt_checkpoint_free(c);
	/* A model with fewer positions has no place for the prompt. */
	if (s == CKPT_REJECTED)
		answer = json_null();
	replay_demo_put(d, "portable_inference", answer);
	return s == CKPT_REJECTED ? CKPT_OK : s;
}

/* Both paths to the end. */
static enum ckpt_status
go_on(struct replay_demo *d)
{
	struct replay_course *r = &d->resumed;
	struct ckpt_checkpoint *c;

	CKPT_TRY(replay_demo_load(&d->checkpoint, d->checkpoint.n, &c));
	CKPT_TRY(ckpt_session_restore(
		&r->session, &d->job, c, &r->here, false, &d->refusal));
	CKPT_TRY(advance(d, r, d->planned));
	return advance(d, &d->whole, d->planned);
}

static bool
updates_equal(const json_t *whole, const json_t *resumed, size_t cut)
{
	size_t n = json_array_size(resumed);

	if (json_array_size(whole) != cut + n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!json_equal(json_array_get(whole, cut + i),
			    json_array_get(resumed, i)))
			return false;
	return true;
}

/* Says of one thing whether it is equal. */
static void
claim(struct replay_demo *d, const char *key, bool equal)
{
	replay_demo_put(d, key, json_boolean(equal));
	d->good = d->good && equal;
}

static enum ckpt_status
compare(struct replay_demo *d)
{
	struct ckpt_state a, b, progress;
	struct ckpt_buf what = { 0 };
	char x[2][CKPT_SHA256_TEXT], y[2][CKPT_SHA256_TEXT];
	json_t *whole, *resumed;

	CKPT_TRY(ckpt_session_capture(&d->whole.session, &a, &d->refusal));
	CKPT_TRY(ckpt_session_capture(&d->resumed.session, &b, &d->refusal));
	if (!ckpt_model_identity(&a, x[0]) || !ckpt_model_identity(&b, x[1]) ||
		!ckpt_optimizer_digest(&a, y[0]) ||
		!ckpt_optimizer_digest(&b, y[1]))
		return CKPT_ENOMEM;
	whole = replay_updates_json(&d->whole);
	resumed = replay_updates_json(&d->resumed);
	replay_demo_put(d, "final_state", replay_state_json(&b));
	claim(d, "weight_bits_equal", strcmp(x[0], x[1]) == 0);
	claim(d, "optimizer_bits_equal", strcmp(y[0], y[1]) == 0);
	claim(d, "remaining_updates_equal",
		updates_equal(whole, resumed, (size_t)d->cut));
	/* All but model and moments, which have just been judged. */
	progress = a;
	progress.parameters = b.parameters;
	progress.first = b.first;
	progress.second = b.second;
	claim(d, "progress_equal", ckpt_state_continues(&progress, &b, &what));
	replay_demo_put(d, "resumed_updates", resumed);
	json_decref(whole);
	ckpt_buf_release(&what);
	return CKPT_OK;
}

static enum ckpt_status
restart(struct replay_demo *d)
{
	struct replay_course *r = &d->restarted;
	uint64_t more = d->planned - d->cut;
	char x[CKPT_SHA256_TEXT], y[CKPT_SHA256_TEXT];
	struct ckpt_state a, b;
	struct ckpt_checkpoint *model;

	CKPT_TRY(replay_demo_load(&d->model, d->model.n, &model));
	CKPT_TRY(ckpt_session_start(
		&r->session, &d->job, model, &r->here, &d->refusal));
	CKPT_TRY(advance(d, r, more));
	CKPT_TRY(ckpt_session_capture(&d->whole.session, &a, &d->refusal));
	CKPT_TRY(ckpt_session_capture(&r->session, &b, &d->refusal));
	if (!ckpt_model_identity(&a, x) || !ckpt_model_identity(&b, y))
		return CKPT_ENOMEM;
	replay_demo_put(d, "weights_only_restart",
		json_pack("{s:o, s:o, s:o, s:o, s:b, s:[s, s, s, s, s, s]}",
			"restart_optimizer_step",
			ckpt_json_u64(b.optimizer_step),
			"continuation_optimizer_step",
			ckpt_json_u64(a.optimizer_step),
			"additional_updates_per_path", ckpt_json_u64(more),
			"restarted_updates", replay_updates_json(r),
			"weights_differ_from_continuation", strcmp(x, y) != 0,
			"reset_state", "AdamW moments and powers",
			"learning-rate clock", "data cursor", "dropout counter",
			"loss-scale progress", "sampling RNG"));
	return CKPT_OK;
}

/* The members in the order in which they are to be read. */
static json_t *
in_order(const json_t *result)
{
	static const char *const keys[] = { "portable_inference",
		"boundary_state", "resumed_updates", "final_state",
		"weights_only_restart", "weight_bits_equal",
		"optimizer_bits_equal", "remaining_updates_equal",
		"progress_equal", "refusals", "scope" };
	json_t *o = json_object();

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		json_object_set(o, keys[i], json_object_get(result, keys[i]));
	return o;
}

/* ---- the whole ---------------------------------------------------------- */

static int
run(struct ckpt_args *args, struct replay_demo *d)
{
	struct replay_course *const courses[] = { &d->whole, &d->resumed,
		&d->restarted };
	enum ckpt_status s;
	int status;

	for (size_t i = 0; i < 3; i++)
		if (!replay_course_begin(
			    args, courses[i], d->jobs, d->format, &status))
			return status;
	d->planned = d->job.training.schedule.updates;
	d->cut = (d->planned + 1) / 2;
	d->good = true;
	s = up_to_boundary(d);
	if (s == CKPT_OK)
		s = infer(d);
	if (s == CKPT_OK)
		s = go_on(d);
	if (s == CKPT_OK)
		s = compare(d);
	if (s == CKPT_OK)
		s = restart(d);
	if (s == CKPT_OK)
		s = replay_demo_refusals(d);
	if (s != CKPT_OK)
		return replay_refused(
			args, "the demonstration", d->format, s, &d->refusal);
	replay_demo_put(d, "scope", json_string(scope));
	return replay_emit(d->format, in_order(d->result),
		d->good ? "bit-equal" : "mismatch",
		d->good ? CKPT_EXIT_OK : CKPT_EXIT_NEGATIVE, NULL);
}

int
replay_demo(struct ckpt_args *args, const void *options)
{
	const struct replay_demo_options *o = options;
	struct replay_demo d = { .format = o->format, .jobs = o->jobs };
	int status;

	d.result = json_object();
	if (replay_job_read(args, o->job, o->format, &d.job, &status))
		status = run(args, &d);
	replay_course_release(&d.whole);
	replay_course_release(&d.resumed);
	replay_course_release(&d.restarted);
	ckpt_buf_release(&d.model);
	ckpt_buf_release(&d.checkpoint);
	ckpt_buf_release(&d.refusal.text);
	ckpt_job_release(&d.job);
	json_decref(d.result);
	return status;
}
