/* SPDX-License-Identifier: MIT */
/*
 * The limits of a model's and an optimizer's settings, in the order of the
 * format's lists. A comparison that NaN must fail is written so that it does.
 */
#include "model/config.h"

#include <math.h>

#include "base/fmath.h"

static bool
refuse_number(struct ckpt_buf *why, const char *name, double x, const char *is)
{
	ckpt_buf_printf(why, "%s %.17g is not %s", name, x, is);
	return false;
}

static bool
check_sizes(const struct ckpt_config *c, struct ckpt_buf *why)
{
	const struct {
		const char *name;
		uint64_t value;
	} sizes[] = {
		{ "vocabulary", c->vocabulary },
		{ "width", c->width },
		{ "heads", c->heads },
		{ "feed-forward width", c->feed_forward_width },
		{ "positions", c->positions },
	};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		if (sizes[i].value > 0)
			continue;
		ckpt_buf_printf(why, "%s is 0, at least 1", sizes[i].name);
		return false;
	}
	if (c->width % c->heads != 0) {
		ckpt_buf_printf(why,
			"width %llu is not a multiple of heads %llu",
			(unsigned long long)c->width,
			(unsigned long long)c->heads);
		return false;
	}
	if (c->width / c->heads % 2 != 0) {
		ckpt_buf_printf(why,
			"width %llu / heads %llu = %llu is odd, and rotary "
			"angles need pairs",
			(unsigned long long)c->width,
			(unsigned long long)c->heads,
			(unsigned long long)(c->width / c->heads));
		return false;
	}
	return true;
}

/* Both may be 0, which is how a format says nothing of them. */
static bool
check_attention(const struct ckpt_config *c, struct ckpt_buf *why)
{
	if (c->kv_heads && c->heads % c->kv_heads != 0) {
		ckpt_buf_printf(why,
			"heads %llu is not a multiple of kv heads %llu",
			(unsigned long long)c->heads,
			(unsigned long long)c->kv_heads);
		return false;
	}
	if (c->context_window > c->positions) {
		ckpt_buf_printf(why,
			"context window %llu is more than positions %llu",
			(unsigned long long)c->context_window,
			(unsigned long long)c->positions);
		return false;
	}
	return true;
}

/* A frequency is base to a power between -1 and 0: the first and the last
 * pair bound all others. Angles grow with the position. */
static bool
check_angles(const struct ckpt_config *c, struct ckpt_buf *why)
{
	uint64_t head_width = c->width / c->heads;
	uint64_t pairs = head_width / 2, cells;
	double exponent = (-2.0 * (double)(pairs - 1)) / (double)head_width;
	double last = ckpt_pow(c->rope_base, exponent);

	if (!ckpt_mul_u64(c->positions, pairs, &cells) ||
		cells > CKPT_ROPE_MOST) {
		ckpt_buf_printf(why,
			"positions %llu x %llu rotary pairs is more than %llu",
			(unsigned long long)c->positions,
			(unsigned long long)pairs,
			(unsigned long long)CKPT_ROPE_MOST);
		return false;
	}
	/* At position 0 an infinite frequency gives no number at all. */
	if (isfinite((double)(c->positions - 1) * last))
		return true;
	ckpt_buf_printf(why,
		"RoPE base %.17g gives rotary angles that are not finite",
		c->rope_base);
	return false;
}

bool
ckpt_config_check(const struct ckpt_config *c, struct ckpt_buf *why)
{
	if (!check_sizes(c, why) || !check_attention(c, why))
		return false;
	if (!isfinite(c->rope_base) || !(c->rope_base > 0.0))
		return refuse_number(
			why, "RoPE base", c->rope_base, "finite and above 0");
	if (!isfinite(c->rms_epsilon) || !(c->rms_epsilon >= 0.0))
		return refuse_number(why, "RMS epsilon", c->rms_epsilon,
			"finite and at least 0");
	return c->layers == 0 || check_angles(c, why);
}

bool
ckpt_adamw_check(const struct ckpt_adamw *a, struct ckpt_buf *why)
{
	static const char below_one[] = "at least 0 and below 1";
	double product = a->learning_rate * a->weight_decay;

	if (!isfinite(a->learning_rate) || !(a->learning_rate > 0.0))
		return refuse_number(why, "learning rate", a->learning_rate,
			"finite and above 0");
	if (!(a->beta1 >= 0.0 && a->beta1 < 1.0))
		return refuse_number(why, "beta1", a->beta1, below_one);
	if (!(a->beta2 >= 0.0 && a->beta2 < 1.0))
		return refuse_number(why, "beta2", a->beta2, below_one);
	if (!isfinite(a->epsilon) || !(a->epsilon > 0.0))
		return refuse_number(
			why, "epsilon", a->epsilon, "finite and above 0");
	if (!isfinite(a->weight_decay) || !(a->weight_decay >= 0.0))
		return refuse_number(why, "weight decay", a->weight_decay,
			"finite and at least 0");
	if (a->weight_decay != 0.0 && !(product > 0.0 && product < 1.0))
		return refuse_number(why, "learning rate x weight decay",
			product, "above 0 and below 1");
	return true;
}

bool
ckpt_beta_power(double beta, uint64_t step, double *power)
{
	double p = 1.0;

	for (uint64_t i = 0; i < step; i++) {
		double next = p * beta;

		if (next == p)
			break;
		if (i == CKPT_POWER_MOST)
			return false;
		p = next;
	}
	*power = p;
	return true;
}
