/* SPDX-License-Identifier: MIT */
/*
 * Which settings of made-up states can be those of a valid file, and why not.
 * Everything that ckpt_synth_state() multiplies is multiplied here first, with
 * checks: the settings come from a command line.
 */
#include "model/config.h"
#include "model/params.h"
#include "model/synth_fill.h"

enum {
	MOST_LAYERS = 1000000,
	MOST_PIECES = 1000000,
};

uint64_t
ckpt_synth_vocabulary(const struct ckpt_synth *s)
{
	return s->tokenizer == CKPT_BYTE_BPE ? CKPT_BPE_BASE_IDS + s->merges
					     : s->config.vocabulary;
}

uint64_t
ckpt_synth_piece_bytes(const struct ckpt_synth *s)
{
	uint64_t digits = 1;

	for (uint64_t last = s->config.vocabulary - 1; last >= 26; last /= 26)
		digits++;
	return s->token_bytes ? s->token_bytes : digits;
}

static bool
check_most(
	uint64_t value, uint64_t most, const char *name, struct ckpt_buf *why)
{
	if (value <= most)
		return true;
	ckpt_buf_printf(why, "%s %llu is more than %llu", name,
		(unsigned long long)value, (unsigned long long)most);
	return false;
}

static bool
check_tokenizer(const struct ckpt_synth *s, struct ckpt_buf *why)
{
	struct ckpt_synth shortest = *s;
	uint64_t least;

	if (s->tokenizer == CKPT_BYTE_BPE)
		return check_most(
			s->merges, CKPT_BPE_MOST_MERGES, "merges", why);
	if (!check_most(s->config.vocabulary, MOST_PIECES,
		    "the vocabulary of a literal tokenizer,", why))
		return false;
	if (s->config.vocabulary == 0)
		return true; /* the configuration says so */
	shortest.token_bytes = 0;
	least = ckpt_synth_piece_bytes(&shortest);
	if (s->last_token_bytes &&
		s->last_token_bytes < ckpt_synth_piece_bytes(s)) {
		ckpt_buf_puts(why, "the last token is shorter than the others");
		return false;
	}
	if (s->token_bytes == 0 || s->token_bytes >= least)
		return true;
	ckpt_buf_printf(why,
		"%llu distinct tokens need at least %llu token bytes each",
		(unsigned long long)s->config.vocabulary,
		(unsigned long long)least);
	return false;
}

/* Adds the bytes of one parameter, count times, to *sum. */
static bool
add_parameter(const struct ckpt_param *row, const struct ckpt_config *config,
	uint64_t count, uint64_t *sum)
{
	uint64_t bytes = 8 * count;

	for (uint32_t i = 0; i < row->rank; i++)
		if (!ckpt_mul_u64(
			    bytes, ckpt_param_dim(row, i, config), &bytes))
			return false;
	return ckpt_add_u64(*sum, bytes, sum);
}

/* All values of the payload; layers are bounded by now. */
static bool
sum_payload(const struct ckpt_synth *s, const struct ckpt_config *config,
	uint64_t *sum)
{
	uint64_t tokens = 8 * s->merges;

	*sum = 0;
	for (unsigned slot = 0; slot < CKPT_SLOTS; slot++) {
		bool outer = slot == CKPT_SLOT_EMBEDDING ||
			     slot == CKPT_SLOT_FINAL_NORM;

		if (!add_parameter(ckpt_param_row((enum ckpt_slot)slot), config,
			    outer ? 1 : config->layers, sum))
			return false;
	}
	if (s->step && !ckpt_mul_u64(*sum, 3, sum))
		return false;
	if (s->tokenizer == CKPT_LITERAL &&
		(!ckpt_mul_u64(config->vocabulary, ckpt_synth_piece_bytes(s),
			 &tokens) ||
			!ckpt_add_u64(tokens, s->last_token_bytes, &tokens)))
		return false;
	return ckpt_add_u64(*sum, tokens, sum);
}

static bool
check_powers(const struct ckpt_synth *s, struct ckpt_buf *why)
{
	double power;

	if (ckpt_beta_power(s->adamw.beta1, s->step, &power) &&
		ckpt_beta_power(s->adamw.beta2, s->step, &power))
		return true;
	ckpt_buf_printf(why,
		"step %llu needs more than %d multiplications to know the "
		"powers of beta1 and beta2",
		(unsigned long long)s->step, CKPT_POWER_MOST);
	return false;
}

bool
ckpt_synth_check(const struct ckpt_synth *s, struct ckpt_buf *why)
{
	struct ckpt_config config = s->config;
	uint64_t sum;

	if (!check_tokenizer(s, why) ||
		!check_most(config.layers, MOST_LAYERS, "layers", why))
		return false;
	config.vocabulary = ckpt_synth_vocabulary(s);
	if (!ckpt_config_check(&config, why) ||
		!ckpt_adamw_check(&s->adamw, why) || !check_powers(s, why))
		return false;
	/* A file's length must fit what the system calls an offset, with
	 * some room for the header. */
	if (sum_payload(s, &config, &sum) && sum <= INT64_MAX / 2)
		return true;
	ckpt_buf_puts(why, "the file would have more than 2^62 bytes");
	return false;
}
