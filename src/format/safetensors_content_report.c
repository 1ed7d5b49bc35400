/* SPDX-License-Identifier: MIT */
/*
 * The rules over the values of a whole file, and the words in which they
 * speak. One finding tells of all values that are not finite, with the first
 * of them; tensors that are zero or absurd have one each. If the whole file is
 * zero, nothing else is said of zeros; if an adapter is without effect, its
 * matrices are not told one by one.
 */
#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "format/safetensors_content.h"

enum {
	WEIGHT_LEAST = 64,  /* elements of a weight that may not be zero */
	TAIL_LEAST = 96,    /* zero bytes at the end that are no accident */
	OUTLIER_LEAST = 64, /* values that have a typical size */
	PADDED_PART = 8,    /* one of so many rows may be padding */
};

static const struct safetensors_tensor *
tensor_of(const struct safetensors_judge *j, uint64_t i)
{
	return &SAFETENSORS_TENSORS(j->file)[i];
}

/* ---- Conditions --------------------------------------------------------- */

bool
safetensors_spread_absurd(const struct safetensors_spread *s)
{
	double rms = safetensors_spread_rms(s);

	return s->max > 1e30 || (s->max > 1e15 && s->min < 1e-15) ||
	       (s->n >= OUTLIER_LEAST && rms > 0.0 && s->max > 1e5 * rms);
}

/* Only whole last rows of the last tensor, few of them: a vocabulary that was
 * rounded up. */
static bool
padded(const struct safetensors_tensor *t, uint64_t zeros)
{
	uint64_t rows, row;

	if (t->shape.n < 2)
		return false;
	/* Not empty, so no dimension is 0; a row may be less than a byte. */
	rows = SAFETENSORS_SHAPE(t)[0];
	row = safetensors_len(t) / rows;
	return row > 0 && row * rows == safetensors_len(t) &&
	       zeros % row == 0 && zeros / row <= rows / PADDED_PART;
}

bool
safetensors_tail_torn(const struct safetensors_judge *j)
{
	const struct safetensors_tail *tail = &j->content->tail;
	const struct safetensors_tensor *t = tensor_of(j, tail->tensor);
	bool inside = tail->inside && safetensors_is_weight(t);

	if (tail->weights < TAIL_LEAST)
		return false;
	if (tail->whole == 0 && inside && padded(t, tail->zeros))
		return false;
	return inside || (tail->whole >= 2 && tail->matrix);
}

/* ---- Words -------------------------------------------------------------- */

static void
add_name(struct ckpt_buf *buf, const struct safetensors_tensor *t)
{
	ckpt_buf_quote(buf, t->name.p, t->name.n);
}

/* A finding on a tensor, or on a value in it (lane at, or UINT64_MAX). */
struct speech {
	enum ckpt_code code;
	uint64_t tensor, at, count;
	struct ckpt_value found;
	uint64_t off, len; /* in the tensor; of its own if at is given */
	struct ckpt_buf *words;
};

#define WHOLE_TENSOR UINT64_MAX

static void
add_index(struct ckpt_buf *buf, const struct safetensors_tensor *t, uint64_t i)
{
	uint64_t columns = t->shape.n == 2 ? SAFETENSORS_SHAPE(t)[1] : 0;

	if (columns > 0)
		ckpt_buf_printf(buf, ".data[%" PRIu64 ",%" PRIu64 "]",
			i / columns, i % columns);
	else
		ckpt_buf_printf(buf, ".data[%" PRIu64 "]", i);
}

static void
say(struct safetensors_judge *j, const struct speech *s)
{
	const struct safetensors_tensor *t = tensor_of(j, s->tensor);
	bool complex = t->dtype->kind == SAFETENSORS_COMPLEX;
	uint64_t width = t->dtype->bits / (complex ? 16 : 8);
	bool whole = s->at == WHOLE_TENSOR;
	struct ckpt_buf rest;

	ckpt_buf_init(&rest);
	ckpt_buf_puts(&rest, "");
	if (!whole)
		add_index(&rest, t, complex ? s->at / 2 : s->at);
	SAFETENSORS_REPORT(j, .code = s->code, .unit = s->tensor,
		.path = safetensors_path(
			j, s->tensor, rest.failed ? "" : rest.p),
		.off = safetensors_off(j->file, t) +
		       (whole ? s->off : s->at * width),
		.len = whole ? s->len : width, .found = s->found,
		.note = s->words->failed ? NULL : s->words->p,
		.count = s->count);
	ckpt_buf_release(&rest);
}

/* "NaN (bits 7fc00001)": the bits are those of the file, not those of the
 * double that the value would be. */
static struct ckpt_value
lane_value(struct safetensors_judge *j, const struct safetensors_tensor *t,
	uint64_t bits)
{
	unsigned width =
		t->dtype->kind == SAFETENSORS_COMPLEX ? 32 : t->dtype->bits;
	double x = safetensors_dtype_value(t->dtype, bits);
	const char *name = x > 0 ? "inf" : "-inf";

	if (t->dtype->kind == SAFETENSORS_BOOL)
		return ckpt_v_u64(bits);
	if (width == 64)
		return ckpt_v_f64(bits);
	return ckpt_v_text(ckpt_walk_text(&j->walk, "%s (bits %0*" PRIx64 ")",
		isnan(x) ? "NaN" : name, (int)width / 4, bits));
}

/* "w", flat index 7, real part; 3 in 2 of 5 tensors */
static void
say_sum(struct safetensors_judge *j, enum ckpt_code code,
	const struct safetensors_sum *sum)
{
	const struct safetensors_tensor *t;
	bool complex;
	struct ckpt_buf words;

	if (sum->tensors == 0)
		return;
	t = tensor_of(j, sum->first);
	complex = t->dtype->kind == SAFETENSORS_COMPLEX;
	ckpt_buf_init(&words);
	add_name(&words, t);
	ckpt_buf_printf(&words, ", flat index %" PRIu64 "%s; %" PRIu64,
		complex ? sum->place.at / 2 : sum->place.at,
		!complex                 ? ""
		: sum->place.at % 2 != 0 ? ", imaginary part"
					 : ", real part",
		sum->count);
	if (sum->negative > 0 && sum->negative < sum->count)
		ckpt_buf_printf(
			&words, " (%" PRIu64 " of them -inf)", sum->negative);
	ckpt_buf_printf(&words, " in %" PRIu64 " of %" PRIu32 " tensors",
		sum->tensors, j->file->norder);
	say(j, &(struct speech){ .code = code,
		       .tensor = sum->first,
		       .at = sum->place.at,
		       .count = sum->count,
		       .found = lane_value(j, t, sum->place.bits),
		       .words = &words });
	ckpt_buf_release(&words);
}

/* ---- Zeros -------------------------------------------------------------- */

static void
say_zero(struct safetensors_judge *j, enum ckpt_code code, uint64_t i,
	struct ckpt_buf *words)
{
	say(j, &(struct speech){ .code = code,
		       .tensor = i,
		       .at = WHOLE_TENSOR,
		       .count = 1,
		       .len = safetensors_len(tensor_of(j, i)),
		       .words = words });
}

/* True if there are up matrices that are not empty, and all are zero. */
static bool
adapter_without_effect(
	struct safetensors_judge *j, uint64_t *n, uint64_t *first)
{
	*n = 0;
	for (uint32_t i = 0; i < j->file->norder; i++) {
		uint32_t at = j->file->order[i];
		const struct safetensors_tensor *t = tensor_of(j, at);

		if (safetensors_len(t) == 0 || !safetensors_is_adapter_up(t))
			continue;
		if (!j->content->zero[at])
			return false;
		if ((*n)++ == 0)
			*first = at;
	}
	return *n > 0;
}

static void
say_zero_weights(struct safetensors_judge *j, bool adapter)
{
	for (uint32_t i = 0; i < j->file->norder; i++) {
		uint32_t at = j->file->order[i];
		const struct safetensors_tensor *t = tensor_of(j, at);
		struct ckpt_buf words;

		if (!j->content->zero[at] || t->shape.n < 2 ||
			t->elements < WEIGHT_LEAST ||
			!safetensors_is_weight(t) || safetensors_is_bias(t) ||
			(adapter && safetensors_is_adapter_up(t)))
			continue;
		ckpt_buf_init(&words);
		add_name(&words, t);
		ckpt_buf_printf(&words, ", %" PRIu64 " elements", t->elements);
		say_zero(j, CKPT_D_ST_WEIGHT_ZERO, at, &words);
		ckpt_buf_release(&words);
	}
}

static void
say_tail(struct safetensors_judge *j)
{
	const struct safetensors_tail *tail = &j->content->tail;
	uint64_t i = tail->inside ? tail->tensor : tail->begin;
	const struct safetensors_tensor *t = tensor_of(j, i);
	uint64_t len = safetensors_len(t);
	uint64_t off = tail->inside ? len - tail->zeros : 0;
	uint64_t last = tensor_of(j, j->file->order[j->file->norder - 1])->end;
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	ckpt_buf_printf(&words, "zeros from %s",
		tail->inside ? "inside of " : "the begin of ");
	add_name(&words, t);
	ckpt_buf_printf(&words,
		" to the end of the file: %" PRIu64 " bytes, %" PRIu64
		" of them in weights",
		last - t->begin - off, tail->weights);
	say(j, &(struct speech){ .code = CKPT_D_ST_ZERO_TAIL,
		       .tensor = i,
		       .at = WHOLE_TENSOR,
		       .count = 1,
		       .off = off,
		       .len = last - t->begin - off,
		       .words = &words });
	ckpt_buf_release(&words);
}

static void
say_zeros(struct safetensors_judge *j)
{
	const struct safetensors_content *c = j->content;
	uint64_t n, first = 0;
	struct ckpt_buf words;
	bool adapter;

	if (!c->any)
		return;
	ckpt_buf_init(&words);
	if (!c->nonzero) {
		ckpt_buf_puts(&words,
			safetensors_count(j, j->file->norder, "tensor"));
		SAFETENSORS_REPORT(j, .code = CKPT_D_ST_ALL_ZERO, .unit = 0,
			.path = "", .off = j->file->data_at, .note = words.p);
		ckpt_buf_release(&words);
		return;
	}
	adapter = adapter_without_effect(j, &n, &first);
	if (adapter) {
		add_name(&words, tensor_of(j, first));
		ckpt_buf_printf(
			&words, " and all others of its kind: %" PRIu64, n);
		say_zero(j, CKPT_D_ST_ADAPTER_ZERO, first, &words);
	}
	ckpt_buf_release(&words);
	say_zero_weights(j, adapter);
	if (safetensors_tail_torn(j))
		say_tail(j);
}

/* ---- Magnitudes, notes -------------------------------------------------- */

static void
say_absurd(struct safetensors_judge *j, const struct safetensors_absurd *a)
{
	const struct safetensors_tensor *t = tensor_of(j, a->tensor);
	double rms = safetensors_spread_rms(&a->spread);
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	add_name(&words, t);
	ckpt_buf_printf(&words,
		", flat index %" PRIu64 ": magnitudes of %.3g to %.3g",
		t->dtype->kind == SAFETENSORS_COMPLEX ? a->spread.max_at / 2
						      : a->spread.max_at,
		a->spread.min, a->spread.max);
	ckpt_buf_printf(&words, ", the others' root mean square is %.3g", rms);
	say(j, &(struct speech){ .code = CKPT_D_ST_MAGNITUDE,
		       .tensor = a->tensor,
		       .at = a->spread.max_at,
		       .count = 1,
		       .found = ckpt_v_f64(ckpt_f64_bits(a->spread.max)),
		       .words = &words });
	ckpt_buf_release(&words);
}

static void
say_narrow(struct safetensors_judge *j)
{
	const struct safetensors_sum *sum = &j->content->narrow;
	struct ckpt_buf words;

	if (sum->tensors == 0)
		return;
	ckpt_buf_init(&words);
	add_name(&words, tensor_of(j, sum->first));
	ckpt_buf_printf(&words, "; %" PRIu64 " of %" PRIu64 " F32 tensors",
		sum->tensors, j->content->singles);
	say(j, &(struct speech){ .code = CKPT_D_ST_BF16_IN_F32,
		       .tensor = sum->first,
		       .at = WHOLE_TENSOR,
		       .count = sum->tensors,
		       .len = safetensors_len(tensor_of(j, sum->first)),
		       .words = &words });
	ckpt_buf_release(&words);
}

static void
say_twin(struct safetensors_judge *j, uint32_t first, uint32_t again)
{
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	add_name(&words, tensor_of(j, again));
	ckpt_buf_puts(&words, " is ");
	add_name(&words, tensor_of(j, first));
	ckpt_buf_printf(&words, " again, %" PRIu64 " bytes",
		safetensors_len(tensor_of(j, again)));
	say_zero(j, CKPT_D_ST_IDENTICAL, again, &words);
	ckpt_buf_release(&words);
}

enum ckpt_status
safetensors_content_report(struct safetensors_judge *j)
{
	const struct safetensors_content *c = j->content;

	say_sum(j, CKPT_D_ST_NAN, &c->nan);
	say_sum(j, CKPT_D_ST_INFINITE, &c->infinite);
	say_sum(j, CKPT_D_ST_MASK, &c->mask);
	say_sum(j, CKPT_D_ST_BOOL, &c->not_bool);
	if (!c->stats)
		return CKPT_OK;
	say_zeros(j);
	for (const struct safetensors_absurd *a = c->absurd; a; a = a->next)
		say_absurd(j, a);
	say_narrow(j);
	return safetensors_each_twin(j, say_twin);
}
