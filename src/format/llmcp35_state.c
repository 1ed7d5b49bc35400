/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: the file as one state (format section 6: 6.1, F5 to F7, G1 to G5),
 * and the warnings of section 8, which never decide a verdict.
 */
#include "format/llmcp35.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort.h"
#include "model/config.h"

/* Names of part of the file, in bytewise order. */
struct name_set {
	const struct ckpt_str *names; /* by index */
	const uint32_t *order;
	uint32_t n;
};

static const struct ckpt_str *
sorted_name(const struct name_set *set, uint32_t i)
{
	return &set->names[set->order[i]];
}

static int
name_compare(const struct ckpt_str *a, const struct ckpt_str *b)
{
	return ckpt_bytes_compare(a->p, a->n, b->p, b->n);
}

static bool
sort_set(struct llmcp35_judge *j, struct name_set *set)
{
	set->order = ckpt_sorted(
		&j->run->arena, set->n, llmcp35_names_compare, set->names);
	return set->order != NULL;
}

/* n record names from record first on, step apart. */
static bool
record_names(struct llmcp35_judge *j, uint64_t first, uint32_t n, unsigned step,
	struct name_set *set)
{
	const struct llmcp35_record *records = LLMCP35_RECORDS(j->file);
	struct ckpt_str *names =
		ckpt_arena_alloc(&j->run->arena, (size_t)n * sizeof *names);

	if (!names)
		return false;
	for (uint32_t i = 0; i < n; i++)
		names[i] = records[first + (uint64_t)i * step].name;
	set->names = names;
	set->n = n;
	return sort_set(j, set);
}

static bool
group_names(struct llmcp35_judge *j, struct name_set *set)
{
	const struct llmcp35_groups *g = &j->file->header.groups;
	size_t a = g->decay.n, b = g->no_decay.n;
	struct ckpt_str *names =
		ckpt_arena_alloc(&j->run->arena, (a + b) * sizeof *names);

	if (!names)
		return false;
	if (a)
		memcpy(names, g->decay.p, a * sizeof *names);
	if (b)
		memcpy(names + a, g->no_decay.p, b * sizeof *names);
	set->names = names;
	set->n = (uint32_t)(a + b);
	return sort_set(j, set);
}

/* The first place at which two sorted sets differ; UINT32_MAX if nowhere. */
static uint32_t
first_difference(const struct name_set *a, const struct name_set *b)
{
	uint32_t n = a->n < b->n ? a->n : b->n;

	for (uint32_t i = 0; i < n; i++)
		if (name_compare(sorted_name(a, i), sorted_name(b, i)) != 0)
			return i;
	return a->n == b->n ? UINT32_MAX : n;
}

/* "12 names, the 3rd in order is x". */
static const char *
set_text(struct llmcp35_judge *j, const struct name_set *set, uint32_t at)
{
	struct ckpt_buf buf;
	const char *text;

	ckpt_buf_init(&buf);
	ckpt_buf_printf(&buf, "%u names", set->n);
	if (at < set->n) {
		ckpt_buf_printf(&buf, ", number %u in order is ", at);
		ckpt_buf_escape(&buf, sorted_name(set, at)->p,
			sorted_name(set, at)->n, CKPT_BUF_SHOWN);
	}
	text = ckpt_walk_text(&j->walk, "%s", buf.p ? buf.p : "");
	ckpt_buf_release(&buf);
	return text;
}

/* ---- 6.1 ---------------------------------------------------------------- */

static void
judge_config(struct llmcp35_judge *j)
{
	const struct llmcp35_decoder *d = &j->file->header.decoder;

	ckpt_diags_ran(&j->run->diags, "6.1");
	ckpt_walk_wants(&j->walk, LLMCP35_AT_DECODER, CKPT_UNIT_LAST);
	if (d->heads == 0 || d->width == 0)
		return;
	if (d->width % d->heads != 0)
		LLMCP35_REPORT(j, .code = CKPT_D_CONFIG_DIVISIBLE,
			.unit = CKPT_UNIT_LAST, .path = "header.decoder.width",
			.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
				"a multiple of the %llu heads",
				(unsigned long long)d->heads)),
			.found = ckpt_v_u64(d->width));
	else if (d->width / d->heads % 2 != 0)
		LLMCP35_REPORT(j, .code = CKPT_D_CONFIG_ODD_HEAD,
			.unit = CKPT_UNIT_LAST, .path = "header.decoder.width",
			.expected = ckpt_v_text("an even head width"),
			.found = ckpt_v_u64(d->width / d->heads));
}

/* ---- F5, F6, F7 --------------------------------------------------------- */

static void
judge_power(struct llmcp35_judge *j, enum ckpt_code code, const char *path,
	double power)
{
	uint64_t step = j->file->header.optimizer.step;
	uint64_t bits = ckpt_f64_bits(power);

	if (step == 0 ? bits == ckpt_f64_bits(1.0)
		      : isfinite(power) && power >= 0.0 && power < 1.0)
		return;
	LLMCP35_REPORT(j, .code = code, .unit = CKPT_UNIT_LAST, .path = path,
		.expected = ckpt_v_text(
			step == 0 ? "exactly 1 at step 0"
				  : "finite, >= 0, < 1 after step 0"),
		.found = ckpt_v_f64(bits),
		.note = ckpt_walk_text(
			&j->walk, "step %llu", (unsigned long long)step));
}

static void
judge_presence(struct llmcp35_judge *j)
{
	uint64_t step = j->file->header.optimizer.step;
	uint32_t entries = j->file->header.counts.optimizer;

	if ((step == 0) == (entries == 0))
		return;
	LLMCP35_REPORT(j, .code = CKPT_D_STATE_PRESENCE, .unit = CKPT_UNIT_LAST,
		.path = "header.counts.optimizer",
		.expected = ckpt_v_text(
			step == 0 ? "0 at step 0" : "moments after step 0"),
		.found = ckpt_v_text(
			ckpt_walk_text(&j->walk, "%u entries at step %llu",
				entries, (unsigned long long)step)));
}

static void
judge_sets(struct llmcp35_judge *j, enum ckpt_code code, const char *path,
	const struct name_set *want, const struct name_set *have)
{
	uint32_t at = first_difference(want, have);

	if (at == UINT32_MAX)
		return;
	LLMCP35_REPORT(j, .code = code, .unit = CKPT_UNIT_LAST, .path = path,
		.expected = ckpt_v_text(set_text(j, want, at)),
		.found = ckpt_v_text(set_text(j, have, at)));
}

/* ---- G3, G4 ------------------------------------------------------------- */

static void
judge_shapes(struct llmcp35_judge *j, const struct name_set *parameters,
	const struct name_set *moments)
{
	const struct llmcp35_record *records = LLMCP35_RECORDS(j->file);
	uint64_t first = j->ntokenizer + j->file->header.counts.parameters;

	for (uint32_t i = 0; i < parameters->n; i++) {
		const struct llmcp35_record *p =
			&records[j->ntokenizer + parameters->order[i]];
		uint64_t at = first + 2 * (uint64_t)moments->order[i];

		if (llmcp35_same_shape(p, &records[at]))
			continue;
		LLMCP35_REPORT(j, .code = CKPT_D_OPTIMIZER_SHAPE, .sub = i,
			.path = ckpt_walk_text(&j->walk, "records[%llu].dims",
				(unsigned long long)at),
			.expected = ckpt_v_text(llmcp35_shape_text(j, p)),
			.found = ckpt_v_text(
				llmcp35_shape_text(j, &records[at])));
	}
}

/* ---- G5: the two ways in which a good state is not canonical ------------- */

static void
judge_order(struct llmcp35_judge *j, const struct ckpt_array *array,
	const char *list, uint64_t sub)
{
	const struct ckpt_str *names = array->p;

	for (uint32_t i = 1; i < array->n; i++) {
		if (name_compare(&names[i - 1], &names[i]) < 0)
			continue;
		LLMCP35_REPORT(j, .code = CKPT_D_GROUP_ORDER, .sub = sub + i,
			.path = ckpt_walk_text(
				&j->walk, "header.groups.%s[%u]", list, i),
			.expected = ckpt_v_text("names in ascending order"),
			.found = ckpt_v_bytes(names[i].p, names[i].n));
		return;
	}
}

static void
judge_moment_order(struct llmcp35_judge *j, const struct name_set *moments)
{
	uint64_t first = j->ntokenizer + j->file->header.counts.parameters;

	for (uint32_t i = 1; i < moments->n; i++) {
		const struct ckpt_str *name = &moments->names[i];

		if (name_compare(&moments->names[i - 1], name) < 0)
			continue;
		LLMCP35_REPORT(j, .code = CKPT_D_OPTIMIZER_ORDER, .sub = i,
			.path = ckpt_walk_text(&j->walk, "records[%llu].name",
				(unsigned long long)(first + 2 * (uint64_t)i)),
			.expected = ckpt_v_text("names in ascending order"),
			.found = ckpt_v_bytes(name->p, name->n));
		return;
	}
}

static enum ckpt_status
judge_names(struct llmcp35_judge *j)
{
	const struct llmcp35_header *h = &j->file->header;
	struct ckpt_diags *diags = &j->run->diags;
	struct name_set parameters, moments, groups;
	static const char none[] = "there are no moments at step 0";
	uint64_t step = h->optimizer.step;

	if (!record_names(
		    j, j->ntokenizer, h->counts.parameters, 1, &parameters) ||
		!record_names(j, j->ntokenizer + h->counts.parameters,
			h->counts.optimizer, 2, &moments) ||
		!group_names(j, &groups))
		return ckpt_run_memory(j->run);
	judge_presence(j);
	ckpt_diags_ran(diags, "F6");
	judge_moment_order(j, &moments);
	if (step == 0 || h->groups.flag != 1) {
		ckpt_diags_skipped(diags, "F7",
			step == 0 ? none : "there are no parameter groups");
	} else {
		ckpt_diags_ran(diags, "F7");
		judge_sets(j, CKPT_D_GROUPS_MISMATCH,
			"header.groups.decay.count", &moments, &groups);
	}
	if (step == 0) {
		ckpt_diags_skipped(diags, "G3", none);
		ckpt_diags_skipped(diags, "G4", none);
		return CKPT_OK;
	}
	ckpt_diags_ran(diags, "G3");
	judge_sets(j, CKPT_D_OPTIMIZER_NAMES, "header.counts.optimizer",
		&parameters, &moments);
	if (first_difference(&parameters, &moments) != UINT32_MAX) {
		ckpt_diags_skipped(diags, "G4",
			"the moments do not belong to the parameters");
		return CKPT_OK;
	}
	ckpt_diags_ran(diags, "G4");
	judge_shapes(j, &parameters, &moments);
	return CKPT_OK;
}

enum ckpt_status
llmcp35_judge_state(struct llmcp35_judge *j)
{
	const struct llmcp35_header *h = &j->file->header;
	struct ckpt_diags *diags = &j->run->diags;

	judge_config(j);
	ckpt_diags_ran(diags, "F5");
	judge_power(j, CKPT_D_BETA1_POWER, "header.optimizer.beta1_power",
		h->optimizer.beta1_power);
	judge_power(j, CKPT_D_BETA2_POWER, "header.optimizer.beta2_power",
		h->optimizer.beta2_power);
	ckpt_diags_ran(diags, "G1");
	if (h->tokenizer_vocabulary != h->decoder.vocabulary)
		LLMCP35_REPORT(j, .code = CKPT_D_VOCABULARY,
			.path = "header.decoder.vocabulary",
			.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
				"%llu, that of the tokenizer",
				(unsigned long long)h->tokenizer_vocabulary)),
			.found = ckpt_v_u64(h->decoder.vocabulary));
	ckpt_diags_ran(diags, "G2");
	if (h->selected_step != h->optimizer.step)
		LLMCP35_REPORT(j, .code = CKPT_D_STEP,
			.path = "header.selected_step",
			.expected = ckpt_v_text(ckpt_walk_text(&j->walk,
				"%llu, the optimizer's step",
				(unsigned long long)h->optimizer.step)),
			.found = ckpt_v_u64(h->selected_step));
	ckpt_diags_ran(diags, "G5");
	judge_order(j, &h->groups.decay, "decay", 0);
	judge_order(j, &h->groups.no_decay, "no_decay", LLMCP35_SECOND_LIST);
	return j->table_ok ? judge_names(j) : CKPT_OK;
}

/* ---- warnings ----------------------------------------------------------- */

/* Repeated multiplication is exact for honest files. */
static void
warn_power(struct llmcp35_judge *j, const char *path, double beta,
	double stored, bool *all)
{
	uint64_t step = j->file->header.optimizer.step;
	double power;

	if (!ckpt_beta_power(beta, step, &power)) {
		*all = false;
		return;
	}
	if (ckpt_f64_bits(power) == ckpt_f64_bits(stored))
		return;
	LLMCP35_REPORT(j, .code = CKPT_D_BETA_POWER_STEP,
		.unit = CKPT_UNIT_LAST, .path = path,
		.expected = ckpt_v_f64(ckpt_f64_bits(power)),
		.found = ckpt_v_f64(ckpt_f64_bits(stored)),
		.note = ckpt_walk_text(&j->walk, "%.17g multiplied %llu times",
			beta, (unsigned long long)step));
}

static void
warn_negative_zero(struct llmcp35_judge *j, const char *path, double x)
{
	if (ckpt_f64_bits(x) == ckpt_f64_bits(-0.0))
		LLMCP35_REPORT(j, .code = CKPT_D_NEGATIVE_ZERO, .path = path,
			.expected = ckpt_v_text("0"),
			.found = ckpt_v_f64(ckpt_f64_bits(x)));
}

static enum ckpt_status
warn_groups(struct llmcp35_judge *j)
{
	const struct llmcp35_header *h = &j->file->header;
	struct name_set parameters, groups;
	uint64_t count = 0;
	uint32_t p = 0, at = 0;

	if (!j->table_ok || h->groups.flag != 1 || h->optimizer.step != 0)
		return CKPT_OK;
	if (!record_names(
		    j, j->ntokenizer, h->counts.parameters, 1, &parameters) ||
		!group_names(j, &groups))
		return ckpt_run_memory(j->run);
	for (uint32_t g = 0; g < groups.n; g++) {
		const struct ckpt_str *name = sorted_name(&groups, g);

		while (p < parameters.n &&
			name_compare(sorted_name(&parameters, p), name) < 0)
			p++;
		if (p < parameters.n &&
			name_compare(sorted_name(&parameters, p), name) == 0)
			continue;
		if (count++ == 0)
			at = groups.order[g];
	}
	if (count)
		LLMCP35_REPORT(j, .code = CKPT_D_GROUP_UNKNOWN,
			.path = ckpt_walk_text(&j->walk, "header.groups.%s[%u]",
				at < h->groups.decay.n ? "decay" : "no_decay",
				at < h->groups.decay.n
					? at
					: at - h->groups.decay.n),
			.expected = ckpt_v_text("the name of a parameter"),
			.found = ckpt_v_bytes(
				groups.names[at].p, groups.names[at].n),
			.count = count);
	return CKPT_OK;
}

enum ckpt_status
llmcp35_judge_warnings(struct llmcp35_judge *j)
{
	const struct llmcp35_header *h = &j->file->header;
	bool all = true;

	ckpt_diags_ran(&j->run->diags, "8");
	if (h->optimizer.step > 0) {
		warn_power(j, "header.optimizer.beta1_power", h->adamw.beta1,
			h->optimizer.beta1_power, &all);
		warn_power(j, "header.optimizer.beta2_power", h->adamw.beta2,
			h->optimizer.beta2_power, &all);
	}
	if (!all)
		ckpt_diags_not_ran(&j->run->diags, CKPT_D_BETA_POWER_STEP,
			"the step is too high to multiply that often");
	if (j->second_seen && !j->second_nonzero && h->optimizer.step > 0)
		LLMCP35_REPORT(j, .code = CKPT_D_SECOND_MOMENTS_ZERO,
			.path = "header.counts.optimizer",
			.expected = ckpt_v_text("a second moment above 0"),
			.found = ckpt_v_text(ckpt_walk_text(&j->walk,
				"all zero at step %llu",
				(unsigned long long)h->optimizer.step)));
	if (h->sampling_rng_state == 0)
		LLMCP35_REPORT(j, .code = CKPT_D_RNG_STATE_ZERO,
			.path = "header.sampling_rng_state",
			.expected = ckpt_v_text("a state that was set"),
			.found = ckpt_v_u64(0));
	warn_negative_zero(
		j, "header.decoder.rms_epsilon", h->decoder.rms_epsilon);
	warn_negative_zero(j, "header.adamw.beta1", h->adamw.beta1);
	warn_negative_zero(j, "header.adamw.beta2", h->adamw.beta2);
	warn_negative_zero(
		j, "header.adamw.weight_decay", h->adamw.weight_decay);
	warn_negative_zero(
		j, "header.optimizer.beta1_power", h->optimizer.beta1_power);
	warn_negative_zero(
		j, "header.optimizer.beta2_power", h->optimizer.beta2_power);
	return warn_groups(j);
}
