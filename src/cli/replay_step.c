/* SPDX-License-Identifier: MIT */
/*
 * ckreplay step: the one supplied update, in two branches, compared.
 */
#include "cli/replay.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/replay_expect.h"
#include "cli/replay_step.h"
#include "cli/replay_update.h"
#include "sink/json.h"
#include "wire/value.h"

#define SLOT(member) .slot = offsetof(struct replay_step_options, member)

static const char *const formats[] = { "text", "json", NULL };

/* clang-format off */
static const struct ckpt_opt opts[] = {
	{ .name = "inputs", .kind = CKPT_OPT_TEXT, .arg = "IDS", SLOT(inputs),
		.help = "token ids with commas, rows of a batch with "
			"semicolons between them; needed" },
	{ .name = "targets", .kind = CKPT_OPT_TEXT, .arg = "IDS",
		SLOT(targets), .help = "as many ids as inputs; needed" },
	{ .name = "lr", .kind = CKPT_OPT_TEXT, .arg = "REAL", SLOT(rate),
		.help = "learning rate of this update, decimal or "
			"hexadecimal; needed" },
	{ .letter = 'o', .name = "output", .kind = CKPT_OPT_TEXT,
		.arg = "FILE", SLOT(output),
		.help = "write the updated checkpoint, atomically, if the "
			"branches are equal" },
	{ .name = "expect", .kind = CKPT_OPT_TEXT, .arg = "OTHER",
		SLOT(expect),
		.help = "compare the result with another checkpoint; where it "
			"differs, known slips are tried as its cause" },
	{ .name = "expect-arithmetic", .kind = CKPT_OPT_TEXT,
		.arg = "FINGERPRINT", SLOT(expect_arithmetic),
		.help = "what `ckreplay env` says where OTHER was made; if it "
			"is not what it says here, a difference is "
			"not-comparable and not a mismatch" },
	{ .name = "self-check", .kind = CKPT_OPT_FLAG, SLOT(self_check),
		.help = "also run controls that must come out different: "
			"changed ids, twice the rate, no moments, a flipped "
			"bit in each input tensor" },
	{ .name = "format", .kind = CKPT_OPT_CHOICE, .words = formats,
		.preset = "text", SLOT(format),
		.help = "how to print the result" },
	{ .name = "max-memory", .kind = CKPT_OPT_SIZE, .arg = "SIZE",
		.preset = "64G", SLOT(max_memory),
		.help = "memory for the checkpoint's contents" },
	{ .letter = 'j', .name = "jobs", .kind = CKPT_OPT_U64, .arg = "N",
		.preset = "1", .least = 1, .most = 256, SLOT(jobs),
		.help = "threads to compute with; their number changes no "
			"bit" },
	{ 0 },
};
/* clang-format on */

static const char *const use[] = {
	"[options] --inputs=IDS --targets=IDS --lr=REAL FILE", NULL
};

static const char *const about[] = {
	"rebuilds the decoder twice, from the decoded state and from that "
	"state encoded and loaded again, runs the one update that is supplied "
	"on both, and compares parameters, moments, powers, step, logits and "
	"the next draw of the sampling stream bit for bit.",
	"It shows the equality of one update under one arithmetic "
	"environment, and no more.",
	NULL,
};

const struct ckpt_command replay_step_command = {
	.name = "step",
	.title = "run the one supplied update and compare bit for bit",
	.use = use,
	.about = about,
	.opts = opts,
	.operand = "FILE",
	.least = 1,
	.most = 1,
};

/* Everything that was found. */
struct outcome {
	const struct ckpt_step *step;
	bool equal; /* the two branches */
	struct replay_expect expect;
	bool asked, checked; /* for controls, and them */
	struct ckpt_self_check controls;
};

static const char *
verdict_of(const struct outcome *r)
{
	if (!r->equal || (r->checked && !ckpt_self_check_passed(&r->controls)))
		return "mismatch";
	return r->expect.other ? replay_expect_verdict(&r->expect)
			       : "bit-equal";
}

static int
status_of(const struct outcome *r)
{
	const char *verdict = verdict_of(r);

	return strcmp(verdict, "bit-equal") == 0  ? CKPT_EXIT_OK
	       : strcmp(verdict, "mismatch") == 0 ? CKPT_EXIT_NEGATIVE
						  : CKPT_EXIT_TROUBLE;
}

/* ---- output ------------------------------------------------------------- */

static json_t *
hash(uint64_t h)
{
	char text[32];

	snprintf(text, sizeof text, "fnv1a64:%016" PRIx64, h);
	return json_string(text);
}

static json_t *
hex(uint64_t v)
{
	char text[32];

	snprintf(text, sizeof text, "0x%016" PRIx64, v);
	return json_string(text);
}

static json_t *
real(double x)
{
	struct ckpt_value value = { .kind = CKPT_V_F64,
		.u64 = ckpt_f64_bits(x) };

	return ckpt_json_value(&value);
}

static json_t *
ids(const struct ckpt_batch *b, const uint32_t *list)
{
	json_t *rows = json_array();

	for (size_t r = 0; r < b->batch; r++) {
		json_t *row = json_array();

		for (size_t t = 0; t < b->tokens; t++)
			json_array_append_new(
				row, json_integer(list[r * b->tokens + t]));
		json_array_append_new(rows, row);
	}
	return rows;
}

static const struct ckpt_step_row *
first_difference(const struct ckpt_step *s)
{
	for (size_t i = 0; i < s->nrows; i++)
		if (s->rows[i].compared && !s->rows[i].equal)
			return &s->rows[i];
	return NULL;
}

static json_t *
difference(const struct ckpt_step *s)
{
	const struct ckpt_step_row *row = first_difference(s);

	if (!row)
		return json_null();
	return json_pack("{s:s, s:o, s:o, s:o}", "record", row->name, "element",
		ckpt_json_u64(row->first / 8), "first", hex(row->bits[0]),
		"second", hex(row->bits[1]));
}

static bool
rows_equal(const struct ckpt_step *s, bool moments)
{
	for (size_t i = 0; i < s->nrows; i++)
		if (!s->rows[i].equal &&
			(strstr(s->rows[i].name, "moment ") != NULL) == moments)
			return false;
	return s->loads_again;
}

static json_t *
result(const struct outcome *r)
{
	const struct ckpt_step *s = r->step;
	const struct ckpt_branch *a = &s->branch[0], *b = &s->branch[1];

	return json_pack("{s:s, s:s, s:i, s:o, s:{s:o, s:o, s:o}, s:o,"
			 " s:{s:o, s:o}"
			 ", s:o, s:{s:o, s:o, s:o, s:o, s:o}"
			 ", s:{s:b, s:b, s:b, s:b}, s:{s:o, s:o}, s:o}",
		"schema", "ckreplay/1", "verdict", verdict_of(r), "exit_code",
		status_of(r), "arithmetic", replay_arithmetic_json(), "update",
		"inputs", ids(s->batch, s->batch->ids), "targets",
		ids(s->batch, s->batch->targets), "learning_rate",
		real(s->rate), "loss", real(a->loss), "before", "step",
		ckpt_json_u64(s->step_before), "logits", hash(a->before),
		"gradients", hash(a->gradients), "after", "step",
		ckpt_json_u64(s->step_after), "logits", hash(a->after), "state",
		hash(a->state), "bytes", ckpt_json_u64(s->updated.n),
		"checksum", hash(s->label), "identical", "parameters",
		rows_equal(s, false), "optimizer",
		rows_equal(s, true) && s->header_equal, "logits",
		a->before == b->before && a->after == b->after, "sampling_rng",
		a->rng_next == b->rng_next, "sampling_rng", "state",
		hex(s->sampling_rng_state), "next", hex(a->rng_next),
		"first_difference", difference(s));
}

static void
text_result(struct ckpt_buf *out, const char *path, const struct outcome *r)
{
	const struct ckpt_step *s = r->step;
	const struct ckpt_branch *a = &s->branch[0];

	ckpt_buf_escape(out, path, strlen(path), 0);
	ckpt_buf_printf(out, ": %s\n  step %" PRIu64 " -> %" PRIu64 ", loss ",
		verdict_of(r), s->step_before, s->step_after);
	ckpt_f64_write(out, ckpt_f64_bits(a->loss));
	ckpt_buf_printf(out,
		"\n  logits fnv1a64:%016" PRIx64 " -> fnv1a64:%016" PRIx64
		"\n  gradients fnv1a64:%016" PRIx64 "\n  updated file %" PRIu64
		" bytes, fnv1a64:%016" PRIx64
		"\n  sampling stream 0x%016" PRIx64 ", next draw 0x%016" PRIx64
		"\n",
		a->before, a->after, a->gradients, s->updated.n, s->label,
		s->sampling_rng_state, a->rng_next);
	if (!s->loads_again)
		ckpt_buf_puts(out, "  the re-encoded bytes are not valid\n");
	for (size_t i = 0; i < s->nrows; i++) {
		const struct ckpt_step_row *row = &s->rows[i];

		if (!row->compared)
			ckpt_buf_printf(out, "  not compared  %s\n", row->name);
		else if (row->equal)
			ckpt_buf_printf(out, "  equal      %s\n", row->name);
		else
			ckpt_buf_printf(out,
				"  different  %s, element %" PRIu64
				": %016" PRIx64 " and %016" PRIx64 "\n",
				row->name, row->first / 8, row->bits[0],
				row->bits[1]);
	}
	if (r->checked)
		replay_self_check_text(out, &r->controls);
	if (r->expect.other && r->equal)
		replay_expect_text(out, &r->expect);
	replay_arithmetic_text(out);
	ckpt_buf_puts(out, "  one update under one arithmetic environment; "
			   "nothing is said of the run that made the file\n");
}

static json_t *
json_result(const struct outcome *r)
{
	json_t *o = result(r);

	/* Branches that differ end it: what was not done is null. */
	if (o && r->asked)
		json_object_set_new(o, "self_check",
			r->checked ? replay_self_check_json(&r->controls)
				   : json_null());
	if (o && r->expect.other)
		json_object_set_new(o, "expected",
			r->equal ? replay_expect_json(&r->expect)
				 : json_null());
	return o;
}

static int
report(struct ckpt_args *args, const struct replay_step_options *o,
	const char *path, const struct outcome *r)
{
	int status = status_of(r);
	struct ckpt_buf out = { 0 };

	if (status == CKPT_EXIT_OK && o->output) {
		status = replay_step_save(args, o->output, r->step);
		if (status != CKPT_EXIT_OK)
			return status;
	}
	if (o->format == REPLAY_JSON) {
		ckpt_json_write(&out, json_result(r));
		ckpt_buf_puts(&out, "\n");
	} else {
		text_result(&out, path, r);
	}
	return replay_print(&out, status);
}

/* What is asked for beyond the two branches, which are done. */
static int
go_on(struct ckpt_args *args, const struct replay_step_options *o,
	const char *path, struct outcome *r)
{
	struct ckpt_refusal none = { 0 };
	struct ckpt_checkpoint *other;
	enum ckpt_status s = CKPT_OK;
	int status;

	r->equal = ckpt_step_equal(r->step);
	if (r->equal && r->expect.other) {
		other = replay_load(
			args, o->expect, o->max_memory, o->format, &status);
		if (!other)
			return status;
		s = replay_expect_run(&r->expect, r->step, other);
	}
	if (r->equal && r->asked && s == CKPT_OK) {
		r->checked = true;
		s = ckpt_self_check_run(&r->controls, r->step);
	}
	if (s == CKPT_OK)
		return report(args, o, path, r);
	/* A state that was loaded before and cannot be now is trouble. */
	return replay_refused(args, path, o->format,
		s == CKPT_REJECTED || s == CKPT_EUNSUPPORTED ? CKPT_EIO : s,
		&none);
}

int
replay_step(struct ckpt_args *args, const void *options)
{
	const struct replay_step_options *o = options;
	const char *path = args->operands[0];
	struct ckpt_supplied update = { 0 };
	struct ckpt_step step = { .max_memory = o->max_memory,
		.keep_outline = o->expect != NULL };
	struct outcome r = { .step = &step, .asked = o->self_check };
	struct ckpt_checkpoint *c;
	enum ckpt_status s;
	int status;

	if ((o->output && strcmp(o->output, "-") == 0 &&
		    !ckpt_args_fail(args,
			    "the updated checkpoint needs a file to replace, "
			    "not standard output",
			    NULL, "")) ||
		!replay_update_parse(
			args, o->inputs, o->targets, o->rate, &update) ||
		!replay_expect_parse(
			args, &r.expect, o->expect, o->expect_arithmetic) ||
		!replay_step_apart(args, o->output, path) ||
		!replay_step_apart(args, o->output, o->expect)) {
		ckpt_supplied_release(&update);
		return ckpt_args_report(args);
	}
	step.batch = &update.batch;
	step.rate = update.rate;
	step.team = ckpt_team_new((unsigned)o->jobs);
	c = replay_load(args, path, o->max_memory, o->format, &status);
	/* Both branches are a while of work. */
	if (c && o->output) {
		status = replay_step_rehearse(args, o->output);
		if (status != CKPT_EXIT_OK) {
			ckpt_checkpoint_free(c);
			c = NULL;
		}
	}
	if (c) {
		s = ckpt_step_run(&step, c);
		status = s == CKPT_OK ? go_on(args, o, path, &r)
				      : replay_refused(args, path, o->format, s,
						&step.refusal);
		ckpt_step_release(&step);
	}
	ckpt_team_free(step.team);
	ckpt_self_check_release(&r.controls);
	replay_expect_release(&r.expect);
	ckpt_supplied_release(&update);
	return status;
}
