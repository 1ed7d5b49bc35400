/* SPDX-License-Identifier: MIT */
/*
 * ckreplay step, beyond the two branches: the result held against somebody
 * else's checkpoint, the causes tried where it differs, and the negative
 * controls. Their checkpoint is in memory only while it is compared and when
 * nothing else is.
 */
#include "cli/replay_expect.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/bytes.h"
#include "cli/replay.h"
#include "sink/json.h"
#include "wire/value.h"

/* "fnv1a64:" and 16 digits, or these alone. */
static bool
parse_fingerprint(const char *text, uint64_t *fingerprint)
{
	static const char digits[] = "0123456789abcdef";

	if (strncmp(text, "fnv1a64:", 8) == 0)
		text += 8;
	if (strlen(text) != 16 || strspn(text, digits) != 16)
		return false;
	*fingerprint = 0;
	for (; *text; text++)
		*fingerprint = *fingerprint << 4 |
			       (uint64_t)(strchr(digits, *text) - digits);
	return true;
}

bool
replay_expect_parse(struct ckpt_args *args, struct replay_expect *x,
	const char *other, const char *arithmetic)
{
	*x = (struct replay_expect){ .other = other };
	if (other && strcmp(other, "-") == 0 &&
		strcmp(args->operands[0], "-") == 0)
		return ckpt_args_fail(args,
			"standard input cannot be both FILE and OTHER", NULL,
			"");
	if (!arithmetic)
		return true;
	if (!other)
		return ckpt_args_fail(
			args, "--expect-arithmetic needs --expect", NULL, "");
	x->told = parse_fingerprint(arithmetic, &x->fingerprint);
	x->foreign = x->told &&
		     x->fingerprint != ckpt_arithmetic_probe().fingerprint;
	return x->told ||
	       ckpt_args_fail(args,
		       "not a fingerprint of `ckreplay env`: ", arithmetic, "");
}

/* Their checkpoint is given up, whatever comes of it. */
static enum ckpt_status
try_causes(struct replay_expect *x, const struct ckpt_step *step,
	struct ckpt_checkpoint *c)
{
	struct ckpt_trainer *t = ckpt_trainer_take(c);
	struct ckpt_outcome theirs;

	if (!t)
		return CKPT_ENOMEM;
	theirs.parameters = ckpt_trainer_parameters_fingerprint(t);
	theirs.state = ckpt_trainer_fingerprint(t);
	ckpt_trainer_free(t);
	x->tried = true;
	return ckpt_causes_try(step, &theirs, x->causes);
}

enum ckpt_status
replay_expect_run(struct replay_expect *x, const struct ckpt_step *step,
	struct ckpt_checkpoint *c)
{
	struct ckpt_comparison *found = &x->comparison;

	ckpt_compare(&step->outline.state, &c->state, found);
	x->equal = ckpt_comparison_equal(found);
	if (found->tensors > 0 && found->first.name.n > 0)
		ckpt_buf_escape(
			&x->name, found->first.name.p, found->first.name.n, 0);
	/* The name was borrowed. */
	found->first.name = (struct ckpt_name){ 0 };
	if (step->outline.failed || found->tensors == 0 || x->foreign) {
		ckpt_checkpoint_free(c);
		return step->outline.failed ? CKPT_EIO : CKPT_OK;
	}
	return try_causes(x, step, c);
}

void
replay_expect_release(struct replay_expect *x)
{
	ckpt_buf_release(&x->name);
}

const char *
replay_expect_verdict(const struct replay_expect *x)
{
	return x->equal     ? "bit-equal"
	       : x->foreign ? "not-comparable"
			    : "mismatch";
}

/* ---- text --------------------------------------------------------------- */

/* States of random numbers are read as hexadecimal everywhere else. */
static bool
is_rng(const struct ckpt_setting_difference *d)
{
	return strcmp(d->name, "sampling_rng_state") == 0;
}

static void
text_value(struct ckpt_buf *out, const struct ckpt_setting_difference *d,
	const struct ckpt_value *value)
{
	if (is_rng(d))
		ckpt_buf_printf(out, "0x%016" PRIx64, value->u64);
	else
		ckpt_value_write(out, value);
}

static void
text_tensor(struct ckpt_buf *out, const struct replay_expect *x)
{
	const struct ckpt_comparison *c = &x->comparison;
	const struct ckpt_tensor_difference *d = &c->first;

	ckpt_buf_printf(out, "    first difference: %s ", d->role);
	if (x->name.n > 0)
		ckpt_buf_add(out, x->name.p, x->name.n);
	else
		ckpt_buf_printf(out, "%" PRIu64, d->index);
	switch (d->fault) {
	case CKPT_TENSOR_VALUES:
		ckpt_buf_printf(out,
			d->f64 ? ", element %" PRIu64 ": %016" PRIx64
				 " and %016" PRIx64 ", "
			       : ", byte %" PRIu64 ": %02" PRIx64
				 " and %02" PRIx64 "\n",
			d->element, d->bits[0], d->bits[1]);
		if (d->f64)
			ckpt_buf_printf(out, "%" PRIu64 " ULPs\n", d->ulps);
		break;
	case CKPT_TENSOR_NAME: ckpt_buf_puts(out, ": other name\n"); break;
	case CKPT_TENSOR_SHAPE: ckpt_buf_puts(out, ": other shape\n"); break;
	case CKPT_TENSOR_ABSENT: ckpt_buf_puts(out, ": only in one\n"); break;
	}
	ckpt_buf_printf(out,
		"    %" PRIu64 " tensors and %" PRIu64
		" numbers differ, at most %" PRIu64 " ULPs\n",
		c->tensors, c->elements, c->most_ulps);
}

void
replay_expect_text(struct ckpt_buf *out, const struct replay_expect *x)
{
	const struct ckpt_comparison *c = &x->comparison;

	ckpt_buf_puts(out, "  computed and expected (");
	ckpt_buf_escape(out, x->other, strlen(x->other), 0);
	ckpt_buf_printf(out, "): %s\n", replay_expect_verdict(x));
	if (x->foreign)
		ckpt_buf_printf(out,
			"    made with other arithmetic, fnv1a64:%016" PRIx64
			"\n",
			x->fingerprint);
	for (size_t i = 0; i < c->nsettings; i++) {
		const struct ckpt_setting_difference *d = &c->settings[i];

		ckpt_buf_printf(out, "    %s differs", d->name);
		if (d->a.kind != CKPT_V_NONE) {
			ckpt_buf_puts(out, ": ");
			text_value(out, d, &d->a);
			ckpt_buf_puts(out, " and ");
			text_value(out, d, &d->b);
		}
		ckpt_buf_puts(out, "\n");
	}
	if (c->tensors > 0)
		text_tensor(out, x);
	for (size_t i = 0; x->tried && i < CKPT_CAUSES; i++)
		ckpt_buf_printf(out, "    cause %-14s %s\n",
			ckpt_cause_outcome_name(x->causes[i].outcome),
			x->causes[i].name);
}

void
replay_self_check_text(
	struct ckpt_buf *out, const struct ckpt_self_check *check)
{
	for (size_t i = 0; i < check->n; i++) {
		const struct ckpt_control *c = &check->controls[i];

		ckpt_buf_printf(out, "  control %-14s ",
			ckpt_control_outcome_name(c->outcome));
		ckpt_buf_add(out, c->name.p, c->name.n);
		if (c->why.n > 0) {
			ckpt_buf_puts(out, ": ");
			ckpt_buf_add(out, c->why.p, c->why.n);
		}
		ckpt_buf_puts(out, "\n");
	}
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *
json_bits(uint64_t v)
{
	char text[32];

	snprintf(text, sizeof text, "%016" PRIx64, v);
	return json_string(text);
}

static json_t *
json_setting_value(
	const struct ckpt_setting_difference *d, const struct ckpt_value *value)
{
	char text[32];

	if (!is_rng(d))
		return ckpt_json_value(value);
	snprintf(text, sizeof text, "0x%016" PRIx64, value->u64);
	return json_string(text);
}

static json_t *
json_settings(const struct ckpt_comparison *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->nsettings; i++) {
		const struct ckpt_setting_difference *d = &c->settings[i];

		json_array_append_new(list,
			json_pack("{s:s, s:o, s:o}", "name", d->name,
				"computed", json_setting_value(d, &d->a),
				"expected", json_setting_value(d, &d->b)));
	}
	return list;
}

static json_t *
json_tensor(const struct replay_expect *x)
{
	static const char *const faults[] = {
		[CKPT_TENSOR_VALUES] = "values",
		[CKPT_TENSOR_NAME] = "name",
		[CKPT_TENSOR_SHAPE] = "shape",
		[CKPT_TENSOR_ABSENT] = "absent",
	};
	const struct ckpt_tensor_difference *d = &x->comparison.first;
	bool values = d->fault == CKPT_TENSOR_VALUES;

	if (x->comparison.tensors == 0)
		return json_null();
	return json_pack("{s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "what",
		faults[d->fault], "role", d->role, "name",
		x->name.n > 0 ? x->name.p : NULL, "index",
		ckpt_json_u64(d->index), "element",
		values ? ckpt_json_u64(d->element) : json_null(), "computed",
		values ? json_bits(d->bits[0]) : json_null(), "expected",
		values ? json_bits(d->bits[1]) : json_null(), "ulps",
		values && d->f64 ? ckpt_json_u64(d->ulps) : json_null());
}

static json_t *
json_causes(const struct replay_expect *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < CKPT_CAUSES; i++) {
		struct ckpt_value rate = { .kind = CKPT_V_F64,
			.u64 = ckpt_f64_bits(x->causes[i].rate) };

		json_array_append_new(list,
			json_pack("{s:s, s:s, s:o}", "cause", x->causes[i].name,
				"result",
				ckpt_cause_outcome_name(x->causes[i].outcome),
				"learning_rate", ckpt_json_value(&rate)));
	}
	return list;
}

/* The first that leads to their bits, or NULL. */
static const char *
cause_of(const struct replay_expect *x)
{
	for (size_t i = 0; x->tried && i < CKPT_CAUSES; i++)
		if (x->causes[i].outcome == CKPT_CAUSE_EQUAL)
			return x->causes[i].name;
	return NULL;
}

json_t *
replay_expect_json(const struct replay_expect *x)
{
	const struct ckpt_comparison *c = &x->comparison;
	char told[32];

	snprintf(told, sizeof told, "fnv1a64:%016" PRIx64, x->fingerprint);
	return json_pack("{s:o, s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:s?, s:o}",
		"file", ckpt_json_escaped(x->other, strlen(x->other)),
		"verdict", replay_expect_verdict(x), "arithmetic",
		x->told ? told : NULL, "settings", json_settings(c), "tensors",
		ckpt_json_u64(c->tensors), "elements",
		ckpt_json_u64(c->elements), "most_ulps",
		ckpt_json_u64(c->most_ulps), "first_difference", json_tensor(x),
		"cause", cause_of(x), "causes",
		x->tried ? json_causes(x) : json_null());
}

json_t *
replay_self_check_json(const struct ckpt_self_check *check)
{
	json_t *list = json_array();

	for (size_t i = 0; i < check->n; i++) {
		const struct ckpt_control *c = &check->controls[i];

		json_array_append_new(list,
			json_pack("{s:s, s:s, s:s?}", "control", c->name.p,
				"result", ckpt_control_outcome_name(c->outcome),
				"reason", c->why.n > 0 ? c->why.p : NULL));
	}
	return list;
}
