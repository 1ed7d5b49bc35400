/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: the file as one state (format section 6: 6.1, F5 to F7, G1 to
 * G5).
 */
#include "format/llmcp35.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"

/* ---- 6.1 ---------------------------------------------------------------- */

static void
judge_config(struct llmcp35_judge *j)
{
	const struct llmcp35_decoder *d = &j->file->header.decoder;

	ckpt_diags_ran(&j->run->diags, "6.1");
	ckpt_walk_wants(&j->walk, LLMCP35_AT_DECODER, CKPT_UNIT_LAST);
	if (d->heads == 0)
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
	const struct llmcp35_names *want, const struct llmcp35_names *have)
{
	uint32_t at = llmcp35_names_difference(want, have);

	if (at == UINT32_MAX)
		return;
	LLMCP35_REPORT(j, .code = code, .unit = CKPT_UNIT_LAST, .path = path,
		.expected = ckpt_v_text(llmcp35_names_text(j, want, at)),
		.found = ckpt_v_text(llmcp35_names_text(j, have, at)));
}

/* ---- G3, G4 ------------------------------------------------------------- */

static void
judge_shapes(struct llmcp35_judge *j, const struct llmcp35_names *parameters,
	const struct llmcp35_names *moments)
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
		if (llmcp35_name_compare(&names[i - 1], &names[i]) < 0)
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
judge_moment_order(struct llmcp35_judge *j, const struct llmcp35_names *moments)
{
	uint64_t first = j->ntokenizer + j->file->header.counts.parameters;

	for (uint32_t i = 1; i < moments->n; i++) {
		const struct ckpt_str *name = &moments->names[i];

		if (llmcp35_name_compare(&moments->names[i - 1], name) < 0)
			continue;
		LLMCP35_REPORT(j, .code = CKPT_D_OPTIMIZER_ORDER,
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
	struct llmcp35_names parameters, moments, groups;
	static const char none[] = "there are no moments at step 0";
	uint64_t step = h->optimizer.step;

	if (!llmcp35_record_names(
		    j, j->ntokenizer, h->counts.parameters, 1, &parameters) ||
		!llmcp35_record_names(j, j->ntokenizer + h->counts.parameters,
			h->counts.optimizer, 2, &moments) ||
		!llmcp35_group_names(j, &groups))
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
	if (llmcp35_names_difference(&parameters, &moments) != UINT32_MAX) {
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
