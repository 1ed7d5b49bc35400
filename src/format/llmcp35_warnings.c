/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35: the warnings and notes of format section 8, which never decide a
 * verdict. They name what a loader accepts and an honest writer does not
 * write.
 */
#include "format/llmcp35.h"

#include "base/bytes.h"
#include "model/config.h"

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
	struct llmcp35_names parameters, groups;
	uint64_t count = 0;
	uint32_t p = 0, at = 0;

	if (!j->table_ok || h->optimizer.step != 0)
		return CKPT_OK;
	if (!llmcp35_record_names(
		    j, j->ntokenizer, h->counts.parameters, 1, &parameters) ||
		!llmcp35_group_names(j, &groups))
		return ckpt_run_memory(j->run);
	for (uint32_t g = 0; g < groups.n; g++) {
		const struct ckpt_str *name = llmcp35_name_at(&groups, g);

		while (p < parameters.n &&
			llmcp35_name_compare(
				llmcp35_name_at(&parameters, p), name) < 0)
			p++;
		if (p < parameters.n &&
			llmcp35_name_compare(
				llmcp35_name_at(&parameters, p), name) == 0)
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
