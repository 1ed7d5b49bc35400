/* SPDX-License-Identifier: MIT */
/*
 * The values of a safetensors file, once, in file order: each tensor is
 * scanned as it passes by, and what it leaves behind is a few numbers. Nothing
 * is reported before the file was read to its end, because most rules speak
 * about more than one tensor and a file that is cut off has no say.
 */
#include "format/safetensors_content.h"

#include "base/try.h"

static const struct safetensors_tensor *
tensor_of(const struct safetensors_judge *j, uint64_t i)
{
	return &SAFETENSORS_TENSORS(j->file)[i];
}

/* ---- One tensor --------------------------------------------------------- */

static void
start(struct safetensors_judge *j, uint64_t i)
{
	struct safetensors_content *c = j->content;

	safetensors_scan_begin(&c->scan, tensor_of(j, i), c->kernels, c->stats);
	c->tensor = i;
	c->scanning = true;
	c->digesting =
		c->next_twin < c->ntwins && c->twins[c->next_twin].tensor == i;
	if (c->digesting)
		XXH3_64bits_reset(c->digest);
}

static void
add_places(struct safetensors_sum *sum, uint64_t tensor,
	const struct safetensors_places *places)
{
	if (places->count == 0)
		return;
	if (sum->tensors++ == 0) {
		sum->first = tensor;
		sum->place = *places;
	}
	sum->count += places->count;
}

static void
add_to_tail(struct safetensors_tail *tail, const struct safetensors_tensor *t,
	const struct safetensors_scan *s, uint64_t i)
{
	uint64_t len = safetensors_len(t);
	bool weight = safetensors_is_weight(t);
	uint64_t zeros = len;

	if (s->nonzero_end > 0) {
		zeros = safetensors_scan_zero_tail(s, t, len);
		*tail = (struct safetensors_tail){
			.inside = zeros > 0, .tensor = i, .zeros = zeros
		};
	} else {
		if (tail->whole++ == 0)
			tail->begin = i;
		tail->matrix |= weight && t->shape.n >= 2;
	}
	/* Never more than the bytes of the file. */
	if (weight)
		tail->weights += zeros;
}

static enum ckpt_status
keep_absurd(struct safetensors_judge *j, uint64_t i)
{
	struct safetensors_content *c = j->content;
	struct safetensors_absurd *one;

	if (!c->scan.squares || !safetensors_spread_absurd(&c->scan.spread))
		return CKPT_OK;
	if (c->nabsurd++ >= CKPT_DIAGS_PER_RULE)
		return CKPT_OK;
	one = ckpt_arena_zalloc(&j->run->arena, sizeof *one);
	if (!one)
		return ckpt_run_memory(j->run);
	one->tensor = i;
	one->spread = c->scan.spread;
	*c->absurd_end = one;
	c->absurd_end = &one->next;
	return CKPT_OK;
}

static void
keep_twin(struct safetensors_content *c)
{
	struct safetensors_twin *twin = &c->twins[c->next_twin++];

	twin->digest = XXH3_64bits_digest(c->digest);
	twin->constant = c->scan.constant;
	c->digesting = false;
}

/* What of a single is narrow only counts if the tensor is large. */
static void
add_narrow(struct safetensors_content *c, const struct safetensors_tensor *t,
	uint64_t i)
{
	const struct safetensors_places one = { .count = 1 };

	if (t->dtype->kind != SAFETENSORS_FLOAT || t->dtype->bits != 32)
		return;
	c->singles++;
	if (c->scan.narrow && c->scan.fraction &&
		t->elements >= SAFETENSORS_NARROW_LEAST)
		add_places(&c->narrow, i, &one);
}

static enum ckpt_status
finish(struct safetensors_judge *j)
{
	struct safetensors_content *c = j->content;
	const struct safetensors_scan *s = &c->scan;
	uint64_t i = c->tensor;
	const struct safetensors_tensor *t = tensor_of(j, i);
	bool mask = s->mask && s->nan.count == 0;
	struct safetensors_sum *infinite = mask ? &c->mask : &c->infinite;

	c->scanning = false;
	c->any = true;
	c->nonzero |= s->nonzero_end > 0;
	c->zero[i] = s->nonzero_end == 0;
	add_places(&c->nan, i, &s->nan);
	add_places(infinite, i, &s->infinite);
	infinite->negative += s->negative;
	add_places(&c->not_bool, i, &s->not_bool);
	add_to_tail(&c->tail, t, s, i);
	add_narrow(c, t, i);
	if (c->digesting)
		keep_twin(c);
	return keep_absurd(j, i);
}

/* ---- The four entry points ---------------------------------------------- */

enum ckpt_status
safetensors_content_begin(struct safetensors_judge *j)
{
	struct safetensors_content *c;
	size_t n = j->file->tensors.n;

	if (j->run->options.values == CKPT_VALUES_OFF) {
		ckpt_diags_skipped(&j->run->diags, "finite stats",
			"the option --values=off leaves values out");
		return CKPT_OK;
	}
	c = ckpt_arena_zalloc(&j->run->arena, sizeof *c);
	if (!c)
		return ckpt_run_memory(j->run);
	c->zero = ckpt_arena_zalloc(&j->run->arena, n);
	if (!c->zero)
		return ckpt_run_memory(j->run);
	c->stats = j->run->options.values == CKPT_VALUES_STATS;
	c->kernels = safetensors_kernels();
	c->absurd_end = &c->absurd;
	j->content = c;
	return c->stats ? safetensors_find_twins(j) : CKPT_OK;
}

enum ckpt_status
safetensors_content_data(struct safetensors_judge *j, uint64_t tensor,
	uint64_t at, const uint8_t *p, size_t n)
{
	struct safetensors_content *c = j->content;

	if (!c)
		return CKPT_OK;
	if (at == 0) {
		if (c->scanning)
			CKPT_TRY(finish(j));
		start(j, tensor);
	}
	safetensors_scan_data(&c->scan, p, n);
	if (c->digesting)
		XXH3_64bits_update(c->digest, p, n);
	return CKPT_OK;
}

enum ckpt_status
safetensors_content_end(struct safetensors_judge *j)
{
	struct safetensors_content *c = j->content;

	if (!c)
		return CKPT_OK;
	if (c->scanning)
		CKPT_TRY(finish(j));
	ckpt_diags_ran(&j->run->diags, c->stats ? "finite stats" : "finite");
	if (!c->stats)
		ckpt_diags_skipped(&j->run->diags, "stats",
			"the option --values=finite leaves them out");
	return safetensors_content_report(j);
}

void
safetensors_content_release(struct safetensors_judge *j)
{
	if (j->content)
		XXH3_freeState(j->content->digest);
	j->content = NULL;
}
