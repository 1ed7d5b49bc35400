/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: the parameters against each other and against the settings (format
 * sections 6.1 and 6.6). Faults inside the table are reported in the order of
 * the list; what does not fit the settings is remembered and ranks last. A
 * rule whose cost grows with a shape runs only when every earlier shape check
 * of its layer passed, because an absurd shape can have no bytes.
 */
#include "format/llmcp35.h"

#include <math.h>

#include "base/checked.h"
#include "base/fmath.h"
#include "base/sort.h"
#include "model/config.h"
#include "model/params.h"

/* The items of section 6.6 as steps of a rank, behind those of diag.def for
 * count and names; the layer orders within the item. */
enum { EMBEDDING = 203, LAYERS, FINAL, REMEMBERED };

enum { LAYER_STEPS = 64 };

struct layout {
	struct llmcp35_judge *j;
	const struct llmcp35_record *p; /* the parameters */
	unsigned item;
	uint64_t layer;
	uint64_t step; /* within the layer; counts the checks */
	bool sound;    /* no fault in this layer so far */
	bool remembered;
};

static uint64_t
rank_step(const struct layout *l)
{
	return ckpt_rank_step(l->item, l->layer * LAYER_STEPS + l->step);
}

static void
fault(struct layout *l, enum ckpt_code code, uint64_t k, const char *field,
	const char *expected, const char *found)
{
	struct llmcp35_judge *j = l->j;

	l->sound = false;
	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = code,
			.unit = CKPT_UNIT_LAST,
			.ranked = true,
			.step = rank_step(l),
			.path = ckpt_walk_text(&j->walk, "records[%llu].%s",
				(unsigned long long)(j->ntokenizer + k), field),
			.expected = ckpt_v_text(expected),
			.found = ckpt_v_text(found),
			.note = l->item == LAYERS
					? ckpt_walk_text(&j->walk, "layer %llu",
						  (unsigned long long)l->layer)
					: NULL,
		});
}

static uint64_t
dim(const struct layout *l, uint64_t k, uint32_t i)
{
	return LLMCP35_DIMS(&l->p[k])[i];
}

/* Rank first, then no zero dimension; each is a check of its own. */
static bool
shaped(struct layout *l, uint64_t k, uint32_t rank)
{
	const struct llmcp35_record *r = &l->p[k];

	l->step++;
	if (r->dims.n != rank) {
		fault(l, CKPT_D_PARAMETER_RANK, k, "rank",
			rank == 1 ? "1" : "2",
			ckpt_walk_text(&l->j->walk, "%u", r->rank));
		l->step += rank;
		return false;
	}
	for (uint32_t i = 0; i < rank; i++) {
		l->step++;
		if (dim(l, k, i) == 0) {
			fault(l, CKPT_D_PARAMETER_EMPTY, k,
				i ? "dims[1]" : "dims[0]", "at least 1", "0");
			l->step += rank - 1 - i;
			return false;
		}
	}
	return true;
}

/* Dimension i of parameter k must be want. */
static void
equal(struct layout *l, uint64_t k, uint32_t i, uint64_t want, const char *of)
{
	l->step++;
	if (!l->sound || dim(l, k, i) == want)
		return;
	fault(l, CKPT_D_PARAMETER_SHAPE, k, i ? "dims[1]" : "dims[0]",
		ckpt_walk_text(
			&l->j->walk, "%llu, %s", (unsigned long long)want, of),
		ckpt_walk_text(
			&l->j->walk, "%llu", (unsigned long long)dim(l, k, i)));
}

/* Only the first mismatch with the settings is kept, and none of a layer that
 * has a fault. */
static void
remember(struct layout *l, uint64_t k, uint32_t i, uint64_t want,
	const char *setting)
{
	unsigned item = l->item;
	bool sound = l->sound;

	if (!sound || l->remembered || dim(l, k, i) == want)
		return;
	l->remembered = true;
	l->item = REMEMBERED;
	fault(l, CKPT_D_CONFIG_SHAPE, k, i ? "dims[1]" : "dims[0]",
		ckpt_walk_text(&l->j->walk, "%llu, %s",
			(unsigned long long)want, setting),
		ckpt_walk_text(
			&l->j->walk, "%llu", (unsigned long long)dim(l, k, i)));
	l->item = item;
	l->sound = sound;
}

/* ---- rotary angles ------------------------------------------------------ */

static double
frequency(double base, uint64_t head_width, uint64_t pair)
{
	return ckpt_pow(base, (-2.0 * (double)pair) / (double)head_width);
}

/* Whether the angle of a pair is finite at a position. */
static bool
finite_angle(const struct llmcp35_decoder *d, uint64_t head_width,
	uint64_t position, uint64_t pair)
{
	/* Zero times infinity is not finite either. */
	return isfinite(
		(double)position * frequency(d->rope_base, head_width, pair));
}

/* Of the angles that are not finite, the one of the smallest position, then
 * pair. Below a base of 1 frequencies grow with the pair, and angles always
 * grow with the position, so halving finds both: a shape may claim more pairs
 * than the file has bytes. From a base of 1 on no frequency is above 1, and
 * all angles are finite. */
static void
judge_angles(struct layout *l, uint64_t k, uint64_t head_width)
{
	const struct llmcp35_decoder *d = &l->j->file->header.decoder;
	uint64_t last = head_width / 2 - 1;
	uint64_t low = 0, position = d->positions - 1, pair = last;

	if (finite_angle(d, head_width, position, last))
		return;
	while (low < position) {
		uint64_t mid = low + (position - low) / 2;

		if (finite_angle(d, head_width, mid, last))
			low = mid + 1;
		else
			position = mid;
	}
	low = 0;
	while (low < pair) {
		uint64_t mid = low + (pair - low) / 2;

		if (finite_angle(d, head_width, position, mid))
			low = mid + 1;
		else
			pair = mid;
	}
	fault(l, CKPT_D_ROPE_ANGLE, k, "dims",
		"finite angles at every position",
		ckpt_walk_text(&l->j->walk,
			"not finite at position %llu, pair %llu",
			(unsigned long long)position,
			(unsigned long long)pair));
}

static void
judge_rope(struct layout *l, uint64_t k, uint64_t head_width)
{
	const struct llmcp35_decoder *d = &l->j->file->header.decoder;
	uint64_t pairs = head_width / 2, cells;

	l->step++;
	if (!l->sound || d->positions == 0 || !(d->rope_base > 0.0))
		return;
	if (!ckpt_mul_u64(d->positions, pairs, &cells) ||
		cells > CKPT_ROPE_MOST)
		fault(l, CKPT_D_ROPE_SIZE, k, "dims",
			ckpt_walk_text(&l->j->walk,
				"positions x pairs up to %llu",
				(unsigned long long)CKPT_ROPE_MOST),
			ckpt_walk_text(&l->j->walk, "%llu x %llu",
				(unsigned long long)d->positions,
				(unsigned long long)pairs));
	l->step++;
	if (l->sound)
		judge_angles(l, k, head_width);
}

/* ---- one layer ---------------------------------------------------------- */

static void
judge_heads(struct layout *l, uint64_t q)
{
	uint64_t heads = l->j->file->header.decoder.heads;
	uint64_t width = dim(l, q, 0);

	l->step++;
	if (!l->sound || heads == 0)
		return;
	if (width % heads != 0 || width / heads % 2 != 0)
		fault(l, CKPT_D_PARAMETER_HEADS, q, "dims[0]",
			ckpt_walk_text(&l->j->walk, "%llu heads of even width",
				(unsigned long long)heads),
			ckpt_walk_text(&l->j->walk, "%llu",
				(unsigned long long)width));
}

static void
judge_attention(struct layout *l, uint64_t at)
{
	uint64_t q = at + CKPT_SLOT_QUERY, o = at + CKPT_SLOT_OUTPUT;
	uint64_t heads = l->j->file->header.decoder.heads;
	bool ok = true;

	for (uint64_t t = CKPT_SLOT_QUERY; t <= CKPT_SLOT_VALUE; t++)
		ok &= shaped(l, at + t, 2);
	if (ok) {
		for (uint64_t t = CKPT_SLOT_KEY; t <= CKPT_SLOT_VALUE; t++)
			equal(l, at + t, 0, dim(l, q, 0), "that of query");
		for (uint64_t t = CKPT_SLOT_KEY; t <= CKPT_SLOT_VALUE; t++)
			equal(l, at + t, 1, dim(l, q, 1), "that of query");
	}
	ok &= shaped(l, o, 2);
	if (!ok)
		return;
	judge_heads(l, q);
	equal(l, q, 1, dim(l, q, 0), "its own input");
	equal(l, o, 0, dim(l, q, 0), "the query's input");
	equal(l, o, 1, dim(l, q, 0), "the query's input");
	if (heads)
		judge_rope(l, q, dim(l, q, 0) / heads);
}

static void
judge_layer(struct layout *l, uint64_t layer)
{
	const struct llmcp35_decoder *d = &l->j->file->header.decoder;
	uint64_t at = layer * CKPT_LAYER_PARAMS;
	uint64_t width;

	l->layer = layer;
	l->step = 0;
	l->sound = true;
	shaped(l, at + CKPT_SLOT_ATTENTION_NORM, 1);
	judge_attention(l, at);
	l->step = 32;
	shaped(l, at + CKPT_SLOT_FFN_NORM, 1);
	for (uint64_t t = CKPT_SLOT_GATE; t <= CKPT_SLOT_DOWN; t++)
		shaped(l, at + t, 2);
	if (!l->sound)
		return;
	width = dim(l, at + CKPT_SLOT_QUERY, 0);
	equal(l, at + CKPT_SLOT_UP, 0, dim(l, at + CKPT_SLOT_GATE, 0),
		"that of gate");
	equal(l, at + CKPT_SLOT_UP, 1, dim(l, at + CKPT_SLOT_GATE, 1),
		"that of gate");
	equal(l, at + CKPT_SLOT_DOWN, 0, dim(l, at + CKPT_SLOT_GATE, 1),
		"the gate's output");
	equal(l, at + CKPT_SLOT_ATTENTION_NORM, 0, width, "the query's input");
	equal(l, at + CKPT_SLOT_FFN_NORM, 0, width, "the query's input");
	equal(l, at + CKPT_SLOT_GATE, 0, width, "the query's input");
	equal(l, at + CKPT_SLOT_DOWN, 1, width, "the query's input");
	remember(l, at + CKPT_SLOT_QUERY, 0, d->width, "the decoder width");
	remember(l, at + CKPT_SLOT_GATE, 1, d->feed_forward_width,
		"the decoder feed-forward width");
}

/* ---- count and names ---------------------------------------------------- */

static bool
judge_names(struct layout *l, uint64_t count)
{
	struct llmcp35_judge *j = l->j;
	bool good = true;

	for (uint64_t k = 0; k < count; k++) {
		const struct ckpt_str *name = &l->p[k].name;
		char want[CKPT_PARAM_NAME];
		size_t n = ckpt_param_name(k, count, want);

		if (ckpt_bytes_compare(name->p, name->n, want, n) == 0)
			continue;
		good = false;
		ckpt_walk_report(&j->walk,
			&(struct ckpt_report){
				.code = CKPT_D_PARAMETER_ORDER,
				.unit = CKPT_UNIT_LAST,
				.sub = k,
				.path = ckpt_walk_text(&j->walk,
					"records[%llu].name",
					(unsigned long long)(j->ntokenizer +
							     k)),
				.expected = ckpt_v_text(want),
				.found = ckpt_v_bytes(name->p, name->n),
			});
	}
	return good;
}

static bool
judge_count(struct llmcp35_judge *j, uint64_t *count)
{
	uint64_t layers = j->file->header.decoder.layers;
	uint64_t actual = j->file->header.counts.parameters;
	bool fits = ckpt_param_count(layers, count);

	if (fits && *count == actual)
		return true;
	ckpt_walk_report(&j->walk,
		&(struct ckpt_report){
			.code = CKPT_D_PARAMETER_COUNT,
			.unit = CKPT_UNIT_LAST,
			.path = "header.decoder.layers",
			.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
				"9 x layers + 2 = %llu parameters",
				(unsigned long long)actual)),
			.found = ckpt_v_text(ckpt_walk_text(&j->walk,
				fits ? "%llu layers" : "%llu layers (overflow)",
				(unsigned long long)layers)),
		});
	return false;
}

enum ckpt_status
llmcp35_judge_layout(struct llmcp35_judge *j)
{
	const struct llmcp35_decoder *d = &j->file->header.decoder;
	struct layout l = { .j = j, .sound = true };
	uint64_t count;

	if (!judge_count(j, &count)) {
		ckpt_diags_skipped(&j->run->diags, "6.6",
			"the number of parameters is wrong");
		return CKPT_OK;
	}
	/* There are at least two parameters from here on. */
	l.p = LLMCP35_RECORDS(j->file) + j->ntokenizer;
	ckpt_diags_ran(&j->run->diags, "6.6");
	/* Shapes of tensors that are not the expected ones mean nothing. */
	if (!judge_names(&l, count))
		return CKPT_OK;
	l.item = EMBEDDING;
	shaped(&l, 0, 2);
	remember(&l, 0, 0, d->vocabulary, "the decoder vocabulary");
	remember(&l, 0, 1, d->width, "the decoder width");
	l.item = LAYERS;
	for (uint64_t layer = 0; layer < d->layers; layer++)
		judge_layer(&l, layer);
	l.item = FINAL;
	l.layer = 0;
	l.step = 0;
	l.sound = true;
	shaped(&l, count - 1, 1);
	remember(&l, count - 1, 0, d->width, "the decoder width");
	return CKPT_OK;
}
