/* SPDX-License-Identifier: MIT */
/*
 * Archives: what the values of a training checkpoint have to say, once all
 * were read. Comparisons that NaN must fail are written so that it does.
 */
#include "format/archive.h"

#include <math.h>

#include "base/bytes.h"
#include "model/config.h"

#define LEAST_SCALE 0x1p-1022
#define MOST_SCALE  0x1p1023

static void
report(struct safetensors_judge *j, enum ckpt_code code, enum archive_small row,
	unsigned i, const char *expected)
{
	const struct archive *a = j->file->archive;
	uint64_t word = a->words[row][i];
	bool real = archive_small[row].dtype[0] == 'F';

	archive_report_value(j, code, a->small[row] - 1, i, expected,
		real ? ckpt_v_f64(word) : ckpt_v_u64(word), 1);
}

static bool
positive(double x)
{
	return isfinite(x) && x > 0.0;
}

/* ---- optimizer ---------------------------------------------------------- */

static void
judge_values(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	const struct {
		const struct archive_fault *fault;
		enum ckpt_code code;
		const char *expected;
	} faults[] = {
		{ &a->moments, CKPT_D_ARCHIVE_MOMENT, "finite moments" },
		{ &a->negative, CKPT_D_ARCHIVE_MOMENT_NEGATIVE,
			"second moments of at least 0" },
	};

	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		const struct archive_fault *f = faults[i].fault;

		if (f->count > 0)
			archive_report_value(j, faults[i].code, f->tensor,
				f->at, faults[i].expected, ckpt_v_f64(f->bits),
				f->count);
	}
}

static void
judge_powers(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	uint64_t step = a->words[ARCHIVE_STEP][0];

	for (unsigned i = 0; i < 2; i++) {
		double power = archive_f64(a, ARCHIVE_POWERS, i);

		if (step == 0 ? ckpt_f64_bits(power) != ckpt_f64_bits(1.0)
			      : !(power >= 0.0 && power < 1.0)) {
			report(j, CKPT_D_ARCHIVE_POWER, ARCHIVE_POWERS, i,
				step == 0 ? "exactly 1 at step 0"
					  : "at least 0 and below 1 after "
					    "step 0");
			break;
		}
	}
	if ((step == 0) != (a->nfirst == 0))
		report(j, CKPT_D_ARCHIVE_MOMENTS_STEP, ARCHIVE_STEP, 0,
			a->nfirst ? "at least 1 with moments"
				  : "0 without moments");
}

/* The settings with one of the two rates. */
static bool
check_settings(struct archive *a, double rate, struct ckpt_buf *why)
{
	const struct ckpt_adamw adamw = {
		.learning_rate = rate,
		.beta1 = archive_f64(a, ARCHIVE_SETTINGS, 1),
		.beta2 = archive_f64(a, ARCHIVE_SETTINGS, 2),
		.epsilon = archive_f64(a, ARCHIVE_SETTINGS, 3),
		.weight_decay = archive_f64(a, ARCHIVE_SETTINGS, 4),
	};

	return ckpt_adamw_check(&adamw, why);
}

static void
judge_settings(struct safetensors_judge *j)
{
	struct archive *a = j->file->archive;
	struct ckpt_buf why;
	bool with_peak, with_final;

	if (a->words[ARCHIVE_SETTINGS][0] != a->words[ARCHIVE_RATES][0])
		report(j, CKPT_D_ARCHIVE_PEAK, ARCHIVE_SETTINGS, 0,
			"the peak of schedule.rates, to the bit");
	if (!positive(archive_f64(a, ARCHIVE_RATES, 0)) ||
		!positive(archive_f64(a, ARCHIVE_RATES, 1)))
		return; /* said of the rates */
	ckpt_buf_init(&why);
	with_peak = check_settings(a, archive_f64(a, ARCHIVE_RATES, 0), &why);
	with_final = !with_peak ||
		     check_settings(a, archive_f64(a, ARCHIVE_RATES, 1), &why);
	if (!with_peak || !with_final)
		archive_report_value(j, CKPT_D_ARCHIVE_ADAMW,
			a->small[ARCHIVE_SETTINGS] - 1, 0,
			with_peak ? "settings for the final rate"
				  : "settings for the peak rate",
			ckpt_v_text(why.p ? why.p : ""), 1);
	ckpt_buf_release(&why);
}

/* ---- plan and data ------------------------------------------------------ */

static void
judge_plan(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	uint64_t updates = a->words[ARCHIVE_STEPS][0];

	if (!positive(archive_f64(a, ARCHIVE_RATES, 0)))
		report(j, CKPT_D_ARCHIVE_RATE, ARCHIVE_RATES, 0,
			"finite and above 0");
	else if (!positive(archive_f64(a, ARCHIVE_RATES, 1)))
		report(j, CKPT_D_ARCHIVE_RATE, ARCHIVE_RATES, 1,
			"finite and above 0");
	if (updates == 0)
		report(j, CKPT_D_ARCHIVE_UPDATES, ARCHIVE_STEPS, 0,
			"at least 1");
	else if (a->words[ARCHIVE_STEPS][1] > updates)
		report(j, CKPT_D_ARCHIVE_UPDATES, ARCHIVE_STEPS, 1,
			"at most the updates");
	if (a->words[ARCHIVE_STEP][0] > updates)
		report(j, CKPT_D_ARCHIVE_STEP, ARCHIVE_STEP, 0,
			ckpt_walk_text(&j->walk, "at most the %llu updates",
				(unsigned long long)updates));
	if (!positive(archive_f64(a, ARCHIVE_CLIP, 0)))
		report(j, CKPT_D_ARCHIVE_CLIP, ARCHIVE_CLIP, 0,
			"finite and above 0");
}

static void
judge_data(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	const struct archive_fault *f = &a->places;
	uint64_t documents = a->training.documents;

	if (f->count > 0)
		archive_report_value(j, CKPT_D_ARCHIVE_ORDER, f->tensor, f->at,
			ckpt_walk_text(&j->walk,
				"each document from 0 to %llu once",
				(unsigned long long)documents - 1),
			ckpt_v_u64(f->bits), f->count);
	if (a->words[ARCHIVE_CURSOR][0] >= documents)
		report(j, CKPT_D_ARCHIVE_CURSOR, ARCHIVE_CURSOR, 0,
			ckpt_walk_text(&j->walk, "below the %llu documents",
				(unsigned long long)documents));
}

static void
judge_dropout(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	double p = archive_f64(a, ARCHIVE_PROBABILITY, 0);

	if (!(p >= 0.0 && p < 1.0))
		report(j, CKPT_D_ARCHIVE_PROBABILITY, ARCHIVE_PROBABILITY, 0,
			"at least 0 and below 1");
	if (a->words[ARCHIVE_SEED][0] != a->words[ARCHIVE_COUNTER][0])
		report(j, CKPT_D_ARCHIVE_SEEDS, ARCHIVE_SEED, 0,
			"the seed of dropout.counter");
}

/* ---- scaler and accumulation -------------------------------------------- */

static bool
power_of_two(double x)
{
	int exponent;

	return x >= LEAST_SCALE && x <= MOST_SCALE &&
	       frexp(x, &exponent) == 0.5;
}

static void
judge_scaler(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;
	double scale = archive_f64(a, ARCHIVE_BOUNDS, 0);
	bool powers = true;

	for (unsigned i = 0; i < 3 && powers; i++) {
		powers = power_of_two(archive_f64(a, ARCHIVE_BOUNDS, i));
		if (!powers)
			report(j, CKPT_D_ARCHIVE_SCALE_POWER, ARCHIVE_BOUNDS, i,
				"a power of two from 2^-1022 to 2^1023");
	}
	if (powers && (scale < archive_f64(a, ARCHIVE_BOUNDS, 1) ||
			      scale > archive_f64(a, ARCHIVE_BOUNDS, 2)))
		report(j, CKPT_D_ARCHIVE_SCALE, ARCHIVE_BOUNDS, 0,
			"from its minimum to its maximum");
	if (a->words[ARCHIVE_PROGRESS][1] >= a->words[ARCHIVE_PROGRESS][0])
		report(j, CKPT_D_ARCHIVE_PROGRESS, ARCHIVE_PROGRESS, 1,
			"below the interval");
}

static void
judge_accumulation(struct safetensors_judge *j)
{
	const struct archive *a = j->file->archive;

	if (a->words[ARCHIVE_MICROBATCHES][0] == 0)
		report(j, CKPT_D_ARCHIVE_MICROBATCHES, ARCHIVE_MICROBATCHES, 0,
			"at least 1");
	if (a->words[ARCHIVE_MICROBATCHES][1] != 0)
		report(j, CKPT_D_ARCHIVE_PENDING, ARCHIVE_MICROBATCHES, 1, "0");
}

void
archive_judge_training(struct safetensors_judge *j)
{
	judge_values(j);
	judge_settings(j);
	judge_powers(j);
	judge_plan(j);
	judge_data(j);
	judge_dropout(j);
	judge_scaler(j);
	judge_accumulation(j);
}
