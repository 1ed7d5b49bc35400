/* SPDX-License-Identifier: MIT */
/*
 * Reads a job file: the settings. The lists (merges, documents, order) are
 * read in job_data.c. Ranges of single fields are judged where they are read,
 * what is between two of them behind that, so that a message names the field
 * to look at.
 */
#include "replay/job.h"

#include <math.h>
#include <string.h>

#include "base/try.h"
#include "model/config.h"
#include "model/synth.h"
#include "replay/job_parts.h"

#define MOST INT64_MAX /* what jansson holds as a whole number */

/* ---- sections ----------------------------------------------------------- */

static bool
read_model(struct ckpt_job_reader *r, const json_t *root)
{
	static const char *const keys[] = { "width", "heads", "kv_heads",
		"feed_forward_width", "layers", "max_positions",
		"context_window", "rope_base", "rms_epsilon", "init_seed",
		NULL };
	struct ckpt_config *c = &r->job->config;
	struct ckpt_fields f;

	if (!ckpt_fields_open(&f, r->why, json_object_get(root, "model"),
		    "model", keys) ||
		!ckpt_fields_count(&f, "width", 1, MOST, &c->width) ||
		!ckpt_fields_count(&f, "heads", 1, MOST, &c->heads) ||
		!ckpt_fields_count(&f, "kv_heads", 1, MOST, &c->kv_heads) ||
		!ckpt_fields_count(&f, "feed_forward_width", 1, MOST,
			&c->feed_forward_width) ||
		!ckpt_fields_count(&f, "layers", 0, MOST, &c->layers) ||
		/* The monitoring prompt has two tokens. */
		!ckpt_fields_count(
			&f, "max_positions", 2, MOST, &c->positions) ||
		!ckpt_fields_count(&f, "context_window", 1, c->positions,
			&c->context_window) ||
		!ckpt_fields_real(&f, "rope_base", &c->rope_base) ||
		!ckpt_fields_real(&f, "rms_epsilon", &c->rms_epsilon) ||
		!ckpt_fields_wide(&f, "init_seed", &r->job->init_seed))
		return false;
	if (c->heads % c->kv_heads != 0)
		return ckpt_fields_refuse(&f, "kv_heads",
			"%llu does not divide the %llu heads",
			(unsigned long long)c->kv_heads,
			(unsigned long long)c->heads);
	return true;
}

/* Finite and above 0. */
static bool
read_positive(struct ckpt_fields *f, const char *key, double *out)
{
	if (!ckpt_fields_real(f, key, out))
		return false;
	return *out > 0.0 ||
	       ckpt_fields_refuse(f, key, "%.17g is not above 0", *out);
}

static bool
read_plan(struct ckpt_job_reader *r, const json_t *root)
{
	static const char *const keys[] = { "updates", "warmup", "peak",
		"final", "clip", "microbatches", "recompute_blocks", NULL };
	struct ckpt_training *t = &r->job->training;
	struct ckpt_schedule *s = &t->schedule;
	struct ckpt_fields f;

	return ckpt_fields_open(&f, r->why, json_object_get(root, "plan"),
		       "plan", keys) &&
	       ckpt_fields_count(&f, "updates", 1, MOST, &s->updates) &&
	       ckpt_fields_count(&f, "warmup", 0, s->updates, &s->warmup) &&
	       read_positive(&f, "peak", &s->peak) &&
	       read_positive(&f, "final", &s->final) &&
	       read_positive(&f, "clip", &t->clip) &&
	       ckpt_fields_count(
		       &f, "microbatches", 1, MOST, &t->microbatches) &&
	       ckpt_fields_flag(&f, "recompute_blocks", &t->recompute_blocks);
}

/* The limits of the optimizer hold with both ends of the schedule. */
static bool
judge_adamw(struct ckpt_job_reader *r, struct ckpt_fields *f)
{
	const struct ckpt_schedule *s = &r->job->training.schedule;
	struct ckpt_adamw adamw = r->job->adamw;
	const double rates[] = { s->final, s->peak };

	for (size_t i = 0; i < 2; i++) {
		struct ckpt_buf why = { 0 };
		bool good;

		adamw.learning_rate = rates[i];
		good = ckpt_adamw_check(&adamw, &why);
		if (!good)
			ckpt_fields_refuse(
				f, NULL, "%s", why.p ? why.p : "refused");
		ckpt_buf_release(&why);
		if (!good)
			return false;
	}
	r->job->adamw = adamw;
	return true;
}

static bool
read_optimizer(struct ckpt_job_reader *r, const json_t *root)
{
	static const char *const keys[] = { "beta1", "beta2", "epsilon",
		"weight_decay", "groups", NULL };
	struct ckpt_adamw *a = &r->job->adamw;
	struct ckpt_fields f;
	const char *groups;
	size_t n;

	if (!ckpt_fields_open(&f, r->why, json_object_get(root, "optimizer"),
		    "optimizer", keys) ||
		!ckpt_fields_real(&f, "beta1", &a->beta1) ||
		!ckpt_fields_real(&f, "beta2", &a->beta2) ||
		!ckpt_fields_real(&f, "epsilon", &a->epsilon) ||
		!ckpt_fields_real(&f, "weight_decay", &a->weight_decay) ||
		!ckpt_fields_text(&f, "groups", &groups, &n))
		return false;
	r->job->gain_groups = n == 5 && memcmp(groups, "gains", 5) == 0;
	if (!r->job->gain_groups && !(n == 4 && memcmp(groups, "none", 4) == 0))
		return ckpt_fields_refuse(
			&f, "groups", "neither \"gains\" nor \"none\"");
	return judge_adamw(r, &f);
}

static bool
read_streams(struct ckpt_job_reader *r, const json_t *root)
{
	static const char *const dropout[] = { "probability", "seed", NULL };
	static const char *const sampling[] = { "seed", NULL };
	struct ckpt_training *t = &r->job->training;
	double *p = &t->dropout_probability;
	struct ckpt_fields f;

	if (!ckpt_fields_open(&f, r->why, json_object_get(root, "dropout"),
		    "dropout", dropout) ||
		!ckpt_fields_real(&f, "probability", p) ||
		!ckpt_fields_wide(&f, "seed", &t->dropout_seed))
		return false;
	if (!(*p >= 0.0 && *p < 1.0))
		return ckpt_fields_refuse(&f, "probability",
			"%.17g is not at least 0 and below 1", *p);
	return ckpt_fields_open(&f, r->why, json_object_get(root, "sampling"),
		       "sampling", sampling) &&
	       ckpt_fields_wide(&f, "seed", &r->job->sampling_seed);
}

/* A power of two that a double holds in full. */
static bool
read_scale(struct ckpt_fields *f, const char *key, double *out)
{
	int exponent;

	if (!ckpt_fields_real(f, key, out))
		return false;
	if (frexp(*out, &exponent) == 0.5 && *out >= 0x1p-1022)
		return true;
	return ckpt_fields_refuse(f, key,
		"%.17g is not a power of two from 2^-1022 to 2^1023", *out);
}

static bool
read_scaler(struct ckpt_job_reader *r, const json_t *root)
{
	static const char *const keys[] = { "scale", "min", "max", "interval",
		NULL };
	struct ckpt_scaler *s = &r->job->training.scaler;
	struct ckpt_fields f;

	if (!ckpt_fields_open(&f, r->why, json_object_get(root, "scaler"),
		    "scaler", keys) ||
		!read_scale(&f, "scale", &s->scale) ||
		!read_scale(&f, "min", &s->min) ||
		!read_scale(&f, "max", &s->max) ||
		!ckpt_fields_count(&f, "interval", 1, MOST, &s->interval))
		return false;
	if (s->scale < s->min || s->scale > s->max)
		return ckpt_fields_refuse(&f, "scale",
			"%.17g is not from min %.17g to max %.17g", s->scale,
			s->min, s->max);
	return true;
}

/* ---- the whole ---------------------------------------------------------- */

static struct ckpt_synth
synth_of(const struct ckpt_job *job)
{
	return (struct ckpt_synth){
		.config = job->config,
		.adamw = job->adamw,
		.tokenizer = CKPT_BYTE_BPE,
		.merges = job->tokenizer.pieces[0].dims[0],
		.gain_groups = job->gain_groups,
		.seed = job->init_seed,
		.sampling_rng_state = job->sampling_seed,
	};
}

static bool
judge_model(struct ckpt_job_reader *r)
{
	struct ckpt_synth synth = synth_of(r->job);
	struct ckpt_buf why = { 0 };
	bool good = ckpt_synth_check(&synth, &why);

	if (!good)
		ckpt_buf_printf(r->why, "model: %s", why.p ? why.p : "refused");
	ckpt_buf_release(&why);
	return good;
}

static bool
read_root(struct ckpt_job_reader *r, const json_t *root)
{
	static const char *const keys[] = { "schema", "model", "tokenizer",
		"documents", "order", "plan", "optimizer", "dropout",
		"sampling", "scaler", NULL };
	static const char schema[] = "ckpt-job/1";
	struct ckpt_fields f;
	const char *text;
	size_t n;

	if (!ckpt_fields_open(&f, r->why, root, "", keys) ||
		!ckpt_fields_text(&f, "schema", &text, &n))
		return false;
	if (n != sizeof schema - 1 || memcmp(text, schema, n) != 0)
		return ckpt_fields_refuse(&f, "schema", "not %s", schema);
	return read_model(r, root) && read_plan(r, root) &&
	       read_optimizer(r, root) && read_streams(r, root) &&
	       read_scaler(r, root) && ckpt_job_read_merges(r, root) &&
	       judge_model(r) && ckpt_job_read_documents(r, root) &&
	       ckpt_job_read_order(r, root);
}

/* ---- text --------------------------------------------------------------- */

/* Digits from text[at] on, behind a minus or not, if they are a whole number
 * that has no place in 63 bits: where they end; else at. */
static size_t
wide_end(const char *text, size_t n, size_t at)
{
	size_t end = at;
	uint64_t x = 0;
	bool fits = true;

	while (end < n && text[end] >= '0' && text[end] <= '9') {
		fits = fits && ckpt_mul_u64(x, 10, &x) &&
		       ckpt_add_u64(x, (uint64_t)(text[end] - '0'), &x);
		end++;
	}
	if (end < n && memchr(".eE", text[end], 3))
		return at;
	return fits && x <= MOST ? at : end;
}

/* Whether text[at] can be the first digit of a number, outside strings. */
static bool
begins(const char *text, size_t at)
{
	static const char within[] = "0123456789.eE+";
	size_t sign = at > 0 && text[at - 1] == '-' ? at - 1 : at;

	return sign == 0 || !memchr(within, text[sign - 1], sizeof within - 1);
}

/* Jansson refuses whole numbers that are too wide for it, and they are reals
 * like any other where a real has to be. They get an exponent of 0: the same
 * value, and where an integer has to be it is refused by name. */
static bool
widen(struct ckpt_buf *to, const char *text, size_t n)
{
	bool quoted = false;

	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		size_t end = i;

		if (quoted && c == '\\' && i + 1 < n)
			ckpt_buf_add(to, &text[i++], 1);
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && begins(text, i))
			end = wide_end(text, n, i);
		if (end > i) {
			ckpt_buf_add(to, text + i, end - i);
			ckpt_buf_puts(to, "e0");
			i = end - 1;
		} else {
			ckpt_buf_add(to, &text[i], 1);
		}
	}
	return !to->failed;
}

static json_t *
decode(const char *text, size_t n, json_error_t *error)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
	struct ckpt_buf wide = { 0 };
	json_t *root = json_loadb(text, n, flags, error);

	if (!root && json_error_code(error) == json_error_numeric_overflow &&
		widen(&wide, text, n))
		root = json_loadb(wide.p, wide.n, flags, error);
	ckpt_buf_release(&wide);
	return root;
}

enum ckpt_status
ckpt_job_read(
	struct ckpt_job *job, const void *text, size_t n, struct ckpt_buf *why)
{
	struct ckpt_job_reader reader = { .job = job, .why = why };
	json_error_t error;
	const char *nul;
	json_t *root;
	bool good = false;

	*job = (struct ckpt_job){ 0 };
	ckpt_arena_init(&job->arena, UINT64_MAX);
	ckpt_buf_clear(why);
	/* No JSON has this byte, but jansson takes it for a number's end. */
	nul = n > 0 ? memchr(text, 0, n) : NULL;
	root = nul ? NULL : decode(text, n, &error);
	if (root)
		good = read_root(&reader, root);
	else if (nul)
		ckpt_buf_printf(why, "a NUL byte at offset %zu",
			(size_t)(nul - (const char *)text));
	else
		ckpt_buf_printf(why, "line %d, column %d: %s", error.line,
			error.column, error.text);
	json_decref(root);
	if (why->n > 0)
		return CKPT_REJECTED;
	return good && !why->failed ? CKPT_OK : CKPT_ENOMEM;
}

void
ckpt_job_release(struct ckpt_job *job)
{
	ckpt_arena_release(&job->arena);
}

enum ckpt_status
ckpt_job_state(struct ckpt_job *job, struct ckpt_state *state)
{
	struct ckpt_synth synth = synth_of(job);

	if (!job->stated) {
		CKPT_TRY(ckpt_synth_state(&job->arena, &synth, &job->state));
		job->state.archive = CKPT_ARCHIVE_TRAINING;
		job->state.tokenizer = job->tokenizer;
		job->stated = true;
	}
	*state = job->state;
	state->training = &job->training;
	return CKPT_OK;
}
