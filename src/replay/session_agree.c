/* SPDX-License-Identifier: MIT */
/*
 * In what two states of a training job agree, field by field; the first that
 * differs is named. Reals are compared by their bits. Parameters are in model
 * order on both sides, moments in bytewise order of their names.
 */
#include "replay/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "replay/session_parts.h"

/* The words for the two sides. */
struct sides {
	struct ckpt_buf *what;
	const char *a, *b;
};

static const char job_side[] = "in the job", file_side[] = "in the file";

static bool
same_u64(const struct sides *s, const char *field, uint64_t a, uint64_t b)
{
	if (a == b)
		return true;
	ckpt_buf_printf(s->what, "%s: %" PRIu64 " %s, %" PRIu64 " %s", field, a,
		s->a, b, s->b);
	return false;
}

static bool
same_f64(const struct sides *s, const char *field, double a, double b)
{
	uint64_t x = ckpt_f64_bits(a), y = ckpt_f64_bits(b);

	if (x == y)
		return true;
	ckpt_buf_printf(s->what,
		"%s: %.17g (%016" PRIx64 ") %s, %.17g (%016" PRIx64 ") %s",
		field, a, x, s->a, b, y, s->b);
	return false;
}

static uint64_t
or_else(uint64_t value, uint64_t otherwise)
{
	return value ? value : otherwise;
}

static bool
same_merges(const struct sides *s, const struct ckpt_tokenizer *a,
	const struct ckpt_tokenizer *b)
{
	const struct ckpt_tensor *x = a->pieces, *y = b->pieces;

	if (!same_u64(s, "tokenizer.merges", x->len / 8, y->len / 8))
		return false;
	for (uint64_t rank = 0; rank < x->len / 8; rank++) {
		if (memcmp(x->data + 8 * rank, y->data + 8 * rank, 8) == 0)
			continue;
		ckpt_buf_printf(s->what,
			"tokenizer.merges: rank %" PRIu64 " is another pair",
			rank);
		return false;
	}
	return true;
}

bool
ckpt_model_agrees(const struct ckpt_state *job, const struct ckpt_state *file,
	struct ckpt_buf *field)
{
	const struct sides s = { field, job_side, file_side };
	const struct ckpt_config *a = &job->config, *b = &file->config;

	return same_u64(&s, "model.width", a->width, b->width) &&
	       same_u64(&s, "model.heads", a->heads, b->heads) &&
	       same_u64(&s, "model.kv_heads", or_else(a->kv_heads, a->heads),
		       or_else(b->kv_heads, b->heads)) &&
	       same_u64(&s, "model.feed_forward_width", a->feed_forward_width,
		       b->feed_forward_width) &&
	       same_u64(&s, "model.layers", a->layers, b->layers) &&
	       same_u64(
		       &s, "model.max_positions", a->positions, b->positions) &&
	       same_u64(&s, "model.context_window",
		       or_else(a->context_window, a->positions),
		       or_else(b->context_window, b->positions)) &&
	       same_f64(&s, "model.rope_base", a->rope_base, b->rope_base) &&
	       same_f64(&s, "model.rms_epsilon", a->rms_epsilon,
		       b->rms_epsilon) &&
	       same_merges(&s, &job->tokenizer, &file->tokenizer);
}

/* ---- what a checkpoint has from its job --------------------------------- */

static bool
same_order(const struct sides *s, const struct ckpt_training *a,
	const struct ckpt_training *b)
{
	char field[32];

	if (!same_u64(s, "order: places", a->documents, b->documents))
		return false;
	for (uint64_t i = 0; i < a->documents; i++)
		if (a->order[i] != b->order[i]) {
			snprintf(field, sizeof field, "order[%" PRIu64 "]", i);
			return same_u64(s, field, a->order[i], b->order[i]);
		}
	return true;
}

static bool
same_plan(const struct sides *s, const struct ckpt_training *a,
	const struct ckpt_training *b)
{
	const struct ckpt_schedule *x = &a->schedule, *y = &b->schedule;

	return same_u64(s, "plan.updates", x->updates, y->updates) &&
	       same_u64(s, "plan.warmup", x->warmup, y->warmup) &&
	       same_f64(s, "plan.peak", x->peak, y->peak) &&
	       same_f64(s, "plan.final", x->final, y->final) &&
	       same_f64(s, "plan.clip", a->clip, b->clip) &&
	       same_u64(s, "plan.microbatches", a->microbatches,
		       b->microbatches) &&
	       same_u64(s, "plan.recompute_blocks", a->recompute_blocks,
		       b->recompute_blocks);
}

static bool
same_names(const struct ckpt_name *a, uint32_t na, const struct ckpt_name *b,
	uint32_t nb)
{
	if (na != nb)
		return false;
	for (uint32_t i = 0; i < na; i++)
		if (a[i].n != b[i].n || memcmp(a[i].p, b[i].p, a[i].n) != 0)
			return false;
	return true;
}

static bool
same_optimizer(const struct sides *s, const struct ckpt_state *a,
	const struct ckpt_state *b)
{
	const struct ckpt_adamw *x = &a->adamw, *y = &b->adamw;

	if (!same_f64(s, "optimizer.beta1", x->beta1, y->beta1) ||
		!same_f64(s, "optimizer.beta2", x->beta2, y->beta2) ||
		!same_f64(s, "optimizer.epsilon", x->epsilon, y->epsilon) ||
		!same_f64(s, "optimizer.weight_decay", x->weight_decay,
			y->weight_decay))
		return false;
	if (a->groups == b->groups &&
		same_names(a->decay, a->ndecay, b->decay, b->ndecay) &&
		same_names(
			a->no_decay, a->nno_decay, b->no_decay, b->nno_decay))
		return true;
	ckpt_buf_puts(s->what, "optimizer.groups: other groups");
	return false;
}

bool
ckpt_plan_agrees(const struct ckpt_state *job, const struct ckpt_state *file,
	struct ckpt_buf *field)
{
	const struct sides s = { field, job_side, file_side };
	const struct ckpt_training *a = job->training, *b = file->training;
	const struct ckpt_scaler *x = &a->scaler, *y = &b->scaler;

	return same_order(&s, a, b) && same_plan(&s, a, b) &&
	       same_optimizer(&s, job, file) &&
	       same_f64(&s, "dropout.probability", a->dropout_probability,
		       b->dropout_probability) &&
	       same_u64(&s, "dropout.seed", a->dropout_seed, b->dropout_seed) &&
	       same_f64(&s, "scaler.min", x->min, y->min) &&
	       same_f64(&s, "scaler.max", x->max, y->max) &&
	       same_u64(&s, "scaler.interval", x->interval, y->interval);
}

/* ---- what comes next ---------------------------------------------------- */

static bool
same_values(const struct sides *s, const char *kind,
	const struct ckpt_tensor *a, const struct ckpt_tensor *b, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint64_t i = 0, x, y;

		if (memcmp(a[k].data, b[k].data, (size_t)a[k].len) == 0)
			continue;
		do {
			x = ckpt_load_u64(a[k].data + 8 * i);
			y = ckpt_load_u64(b[k].data + 8 * i);
			i++;
		} while (x == y);
		ckpt_buf_printf(s->what, "%s ", kind);
		ckpt_buf_escape(s->what, a[k].name.p, a[k].name.n, 80);
		ckpt_buf_printf(s->what,
			" element %" PRIu64 ": %016" PRIx64 " %s, %016" PRIx64
			" %s",
			i - 1, x, s->a, y, s->b);
		return false;
	}
	return true;
}

static bool
same_place(const struct sides *s, const struct ckpt_training *a,
	const struct ckpt_training *b)
{
	return same_u64(s, "cursor", a->cursor, b->cursor) &&
	       same_u64(s, "traversals", a->traversals, b->traversals) &&
	       same_u64(s, "dropout counter", a->dropout_counter,
		       b->dropout_counter) &&
	       same_f64(s, "loss scale", a->scaler.scale, b->scaler.scale) &&
	       same_u64(s, "scaler progress", a->scaler.progress,
		       b->scaler.progress);
}

bool
ckpt_state_continues(const struct ckpt_state *a, const struct ckpt_state *b,
	struct ckpt_buf *what)
{
	const struct sides s = { what, "replayed", "stored" };

	return same_u64(&s, "step", a->optimizer_step, b->optimizer_step) &&
	       same_values(&s, "model", a->parameters, b->parameters,
		       a->nparameters) &&
	       same_u64(&s, "moments", a->nmoments, b->nmoments) &&
	       same_values(&s, "first moment of", a->first, b->first,
		       a->nmoments) &&
	       same_values(&s, "second moment of", a->second, b->second,
		       a->nmoments) &&
	       same_f64(&s, "beta1 power", a->beta1_power, b->beta1_power) &&
	       same_f64(&s, "beta2 power", a->beta2_power, b->beta2_power) &&
	       same_place(&s, a->training, b->training) &&
	       same_u64(&s, "sampling state", a->sampling_rng_state,
		       b->sampling_rng_state);
}
