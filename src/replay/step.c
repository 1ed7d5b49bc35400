/* SPDX-License-Identifier: MIT */
/*
 * Two branches, one after the other, so that they cost the memory of one. The
 * first is spooled as the bytes of its updated checkpoint; as the second one
 * is encoded, its bytes are compared with them and thrown away.
 */
#include "replay/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/try.h"
#include "format/format.h"
#include "model/rng.h"

/* ---- writers ------------------------------------------------------------ */

struct spool_writer {
	struct ckpt_writer writer;
	struct ckpt_spool *spool;
};

static enum ckpt_status
spool_write(struct ckpt_writer *writer, const void *bytes, size_t n)
{
	return ckpt_spool_write(
		((struct spool_writer *)writer)->spool, bytes, n);
}

static enum ckpt_status
spool_patch(
	struct ckpt_writer *writer, uint64_t off, const void *bytes, size_t n)
{
	return ckpt_spool_patch(
		((struct spool_writer *)writer)->spool, off, bytes, n);
}

static enum ckpt_status
encode_to(struct ckpt_step *step, struct ckpt_spool *spool,
	const struct ckpt_state *state, uint64_t *label)
{
	struct spool_writer w = { { spool_write, spool_patch, { 0 } }, spool };
	enum ckpt_status status = ckpt_spool_open(spool);

	if (status == CKPT_OK)
		status = step->format->encode(state, &w.writer);
	if (status == CKPT_EIO)
		ckpt_refuse_temporary(&step->refusal);
	*label = w.writer.label.u64;
	return status;
}

/* Compares what an encoder writes with a spool. The header, which is written
 * first and in one piece, is kept, because its checksum is patched later. */
struct compare_writer {
	struct ckpt_writer writer;
	struct ckpt_step *step;
	struct ckpt_buf header;
	uint64_t off;
	size_t row;
};

static void
note_difference(struct ckpt_step_row *row, uint64_t at, const uint8_t *first,
	const uint8_t *second, uint64_t piece, size_t n)
{
	uint64_t element = at / 8 * 8;

	row->equal = false;
	row->first = at;
	/* The whole element, if the piece holds it. */
	if (row->is_f64 && element >= piece && element + 8 <= piece + n) {
		row->bits[0] = ckpt_load_u64(first + (element - piece));
		row->bits[1] = ckpt_load_u64(second + (element - piece));
	}
}

/* n bytes at w->off that lie inside one row. */
static enum ckpt_status
compare_piece(struct compare_writer *w, const uint8_t *p, size_t n)
{
	struct ckpt_step_row *row = &w->step->rows[w->row];
	uint8_t other[4096];
	size_t i = 0;

	CKPT_TRY(ckpt_spool_read(&w->step->updated, w->off, other, n));
	if (w->off == row->off)
		row->equal = true;
	if (row->equal && memcmp(other, p, n) != 0) {
		while (other[i] == p[i])
			i++;
		note_difference(row, w->off - row->off + i, other, p,
			w->off - row->off, n);
	}
	w->off += n;
	return CKPT_OK;
}

static enum ckpt_status
compare_write(struct ckpt_writer *writer, const void *bytes, size_t n)
{
	struct compare_writer *w = (struct compare_writer *)writer;
	const uint8_t *p = bytes;

	if (w->off == 0) {
		ckpt_buf_add(&w->header, bytes, n);
		w->off = n;
		return w->header.failed ? CKPT_ENOMEM : CKPT_OK;
	}
	while (n > 0) {
		const struct ckpt_step_row *row;
		size_t k = n < 4096 ? n : 4096;

		while (w->row < w->step->nrows &&
			w->off >= w->step->rows[w->row].off +
					  w->step->rows[w->row].len)
			w->row++;
		/* The branches have the same records: their headers are
		 * compared, and the second one has been loaded. */
		if (w->row == w->step->nrows)
			return CKPT_REJECTED;
		row = &w->step->rows[w->row];
		if (k > row->off + row->len - w->off)
			k = (size_t)(row->off + row->len - w->off);
		CKPT_TRY(compare_piece(w, p, k));
		p += k;
		n -= k;
	}
	return CKPT_OK;
}

static enum ckpt_status
compare_patch(
	struct ckpt_writer *writer, uint64_t off, const void *bytes, size_t n)
{
	struct compare_writer *w = (struct compare_writer *)writer;

	if (off > w->header.n || n > w->header.n - off)
		return CKPT_REJECTED;
	memcpy(w->header.p + off, bytes, n);
	return CKPT_OK;
}

/* ---- rows --------------------------------------------------------------- */

static bool
add_row(struct ckpt_step *step, const char *role, const struct ckpt_name *name,
	uint64_t *off, uint64_t len, bool is_f64)
{
	struct ckpt_step_row *row = &step->rows[step->nrows];
	struct ckpt_buf text;

	ckpt_buf_init(&text);
	ckpt_buf_puts(&text, role);
	ckpt_buf_escape(&text, name->p, name->n, 0);
	*row = (struct ckpt_step_row){
		.name = text.p, .off = *off, .len = len, .is_f64 = is_f64
	};
	step->nrows++;
	*off += len;
	return !text.failed;
}

/* The records of an updated state, in the order in which they are stored. */
static enum ckpt_status
make_rows(struct ckpt_step *step, const struct ckpt_state *s)
{
	uint64_t payload = 0, off;
	bool good = true;
	size_t n = (size_t)s->tokenizer.npieces + s->nparameters +
		   2 * (size_t)s->nmoments;

	step->rows = calloc(n, sizeof *step->rows);
	if (!step->rows)
		return CKPT_ENOMEM;
	for (uint64_t i = 0; i < s->tokenizer.npieces; i++)
		payload += s->tokenizer.pieces[i].len;
	for (uint32_t i = 0; i < s->nparameters; i++)
		payload += s->parameters[i].len;
	for (uint32_t i = 0; i < s->nmoments; i++)
		payload += s->first[i].len + s->second[i].len;
	off = step->updated.n - payload;
	for (uint64_t i = 0; good && i < s->tokenizer.npieces; i++) {
		char text[24];
		int k = snprintf(
			text, sizeof text, "%llu", (unsigned long long)i);
		struct ckpt_name name = { (const uint8_t *)text, (uint32_t)k };

		good = add_row(step,
			s->tokenizer.kind == CKPT_LITERAL ? "token "
							  : "merges ",
			&name, &off, s->tokenizer.pieces[i].len, false);
	}
	for (uint32_t i = 0; good && i < s->nparameters; i++)
		good = add_row(step, "parameter ", &s->parameters[i].name, &off,
			s->parameters[i].len, true);
	for (uint32_t i = 0; good && i < s->nmoments; i++)
		good = add_row(step, "first moment ", &s->first[i].name, &off,
			       s->first[i].len, true) &&
		       add_row(step, "second moment ", &s->second[i].name, &off,
			       s->second[i].len, true);
	return good ? CKPT_OK : CKPT_ENOMEM;
}

static enum ckpt_status
make_outline(struct ckpt_step *step, const struct ckpt_state *s)
{
	uint64_t *where = calloc(step->nrows, sizeof *where);
	enum ckpt_status status = CKPT_ENOMEM;

	for (size_t i = 0; where && i < step->nrows; i++)
		where[i] = step->rows[i].off;
	if (where)
		status = ckpt_outline_make(
			&step->outline, s, &step->updated, where);
	free(where);
	return status;
}

/* ---- branches ----------------------------------------------------------- */

static uint64_t
fingerprint(const double *p, size_t n)
{
	return ckpt_fnv1a64(CKPT_FNV1A64_START, p, n * sizeof *p);
}

/* Between the parts of the work. */
static enum ckpt_status
part(const struct ckpt_step *step, const char *what)
{
	return !step->go_on || step->go_on(step->go_on_ctx, what) ? CKPT_OK
								  : CKPT_STOP;
}

static bool
loading(void *ctx, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	return part(ctx, "loading what was encoded") == CKPT_OK;
}

/* Everything of a branch but what becomes of its state. */
static enum ckpt_status
run_branch(struct ckpt_step *step, struct ckpt_trainer *t, double *logits,
	struct ckpt_branch *branch)
{
	size_t n = step->batch->batch * step->batch->tokens * t->dims.vocab;
	struct ckpt_update update = { 0 };
	struct ckpt_rng rng = { t->state.sampling_rng_state };

	CKPT_TRY(part(step, "logits before the update"));
	CKPT_TRY(ckpt_trainer_logits(t, step->batch, logits, &step->refusal));
	branch->before = fingerprint(logits, n);
	CKPT_TRY(part(step, "the update"));
	CKPT_TRY(ckpt_trainer_update(
		t, step->batch, step->rate, logits, &update, &step->refusal));
	branch->loss = update.loss;
	branch->gradients = update.gradients;
	CKPT_TRY(part(step, "logits after the update"));
	CKPT_TRY(ckpt_trainer_logits(t, step->batch, logits, &step->refusal));
	branch->after = fingerprint(logits, n);
	branch->parameters = ckpt_trainer_parameters_fingerprint(t);
	branch->state = ckpt_trainer_fingerprint(t);
	branch->rng_next = ckpt_rng_draw(&rng);
	return CKPT_OK;
}

static enum ckpt_status
first_branch(struct ckpt_step *step, struct ckpt_trainer *t, double *logits)
{
	uint64_t ignored;

	step->format = t->from->run->format;
	step->step_before = t->state.optimizer_step;
	step->vocabulary = t->dims.vocab;
	step->sampling_rng_state = t->state.sampling_rng_state;
	CKPT_TRY(encode_to(step, &step->reencoded, &t->state, &ignored));
	CKPT_TRY(run_branch(step, t, logits, &step->branch[0]));
	step->step_after = t->state.optimizer_step;
	CKPT_TRY(encode_to(step, &step->updated, &t->state, &step->label));
	CKPT_TRY(make_rows(step, &t->state));
	return step->keep_outline ? make_outline(step, &t->state) : CKPT_OK;
}

/* Equal is only what was seen to its end; off is how far that was. */
static void
settle_rows(struct ckpt_step *step, uint64_t off)
{
	for (size_t i = 0; i < step->nrows; i++) {
		struct ckpt_step_row *row = &step->rows[i];

		row->compared = row->off + row->len <= off;
		row->equal = row->compared && (row->equal || row->len == 0);
	}
}

static enum ckpt_status
compare_state(struct ckpt_step *step, const struct ckpt_trainer *t)
{
	struct compare_writer w = {
		.writer = { compare_write, compare_patch, { 0 } }, .step = step
	};
	uint8_t *other = NULL;
	enum ckpt_status status = step->format->encode(&t->state, &w.writer);

	if (status == CKPT_OK) {
		other = malloc(w.header.n);
		status = other ? ckpt_spool_read(
					 &step->updated, 0, other, w.header.n)
			       : CKPT_ENOMEM;
	}
	if (status == CKPT_OK)
		step->header_equal = memcmp(other, w.header.p, w.header.n) == 0;
	settle_rows(step, w.off);
	/* Other records than the first branch has: a difference. */
	if (status == CKPT_REJECTED)
		status = CKPT_OK;
	free(other);
	ckpt_buf_release(&w.header);
	return status;
}

enum ckpt_status
ckpt_step_reload(const struct ckpt_step *step, struct ckpt_trainer **t)
{
	struct ckpt_step copy = *step;
	struct ckpt_options options = { .max_memory = step->max_memory,
		.progress = loading,
		.progress_ctx = &copy };
	struct ckpt_source *source = ckpt_spool_source(&step->reencoded);
	struct ckpt_checkpoint *c = NULL;
	enum ckpt_status status = CKPT_ENOMEM;

	*t = NULL;
	if (source)
		status = ckpt_checkpoint_read(source, &options, &c);
	ckpt_source_close(source);
	if (status != CKPT_OK) {
		ckpt_checkpoint_free(c);
		return status;
	}
	*t = ckpt_trainer_take(c);
	if (!*t)
		return CKPT_ENOMEM;
	(*t)->dims.team = step->team;
	return CKPT_OK;
}

/* Loads the re-encoded bytes; NULL with CKPT_OK when they are not valid. */
static enum ckpt_status
load_again(struct ckpt_step *step, struct ckpt_trainer **t)
{
	enum ckpt_status status = ckpt_step_reload(step, t);

	step->loads_again = status == CKPT_OK;
	return status == CKPT_REJECTED || status == CKPT_EUNSUPPORTED ? CKPT_OK
								      : status;
}

static enum ckpt_status
second_branch(struct ckpt_step *step, double *logits)
{
	struct ckpt_trainer *t;
	enum ckpt_status status;

	if (step->meddle)
		CKPT_TRY(step->meddle(&step->reencoded));
	CKPT_TRY(load_again(step, &t));
	if (!t)
		return CKPT_OK;
	/* What the first branch could do, the second must be able to do. */
	if (!ckpt_trainer_accepts(t, step->batch, step->rate, &step->refusal))
		status = CKPT_OK;
	else
		status = run_branch(step, t, logits, &step->branch[1]);
	if (status == CKPT_OK && step->branch[1].state != 0)
		status = compare_state(step, t);
	ckpt_trainer_free(t);
	return status == CKPT_REJECTED ? CKPT_OK : status;
}

enum ckpt_status
ckpt_step_run(struct ckpt_step *step, struct ckpt_checkpoint *checkpoint)
{
	struct ckpt_trainer *t = ckpt_trainer_take(checkpoint);
	double *logits = NULL;
	enum ckpt_status status = CKPT_ENOMEM;
	size_t n;

	step->reencoded.fd = step->updated.fd = -1;
	if (!t)
		return CKPT_ENOMEM;
	t->dims.team = step->team;
	if (!ckpt_trainer_accepts(t, step->batch, step->rate, &step->refusal)) {
		status = CKPT_REJECTED;
		goto out;
	}
	if (!__builtin_mul_overflow(step->batch->batch * step->batch->tokens,
		    t->dims.vocab, &n) &&
		n <= SIZE_MAX / sizeof *logits)
		logits = malloc(n * sizeof *logits);
	if (!logits)
		goto out;
	status = first_branch(step, t, logits);
	ckpt_trainer_free(t);
	t = NULL;
	if (status == CKPT_OK)
		status = second_branch(step, logits);
out:
	free(logits);
	ckpt_trainer_free(t);
	return status;
}

bool
ckpt_step_equal(const struct ckpt_step *step)
{
	const struct ckpt_branch *a = &step->branch[0], *b = &step->branch[1];
	bool equal = step->loads_again && step->header_equal &&
		     a->before == b->before && a->after == b->after &&
		     a->rng_next == b->rng_next && a->state == b->state;

	for (size_t i = 0; equal && i < step->nrows; i++)
		equal = step->rows[i].equal;
	return equal;
}

void
ckpt_step_release(struct ckpt_step *step)
{
	for (size_t i = 0; i < step->nrows; i++)
		free(step->rows[i].name);
	free(step->rows);
	step->rows = NULL;
	step->nrows = 0;
	ckpt_spool_close(&step->reencoded);
	ckpt_spool_close(&step->updated);
	ckpt_outline_release(&step->outline);
	ckpt_buf_release(&step->refusal.text);
}
