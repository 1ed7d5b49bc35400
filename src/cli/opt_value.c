/* SPDX-License-Identifier: MIT */
/*
 * Values of options: text to the type of the row's slot. Numbers are read
 * digit by digit, since strtoull takes signs, spaces and the bases of C, and
 * a size that wraps must be an error. Nothing here prints; what is wrong goes
 * into a buffer, with every byte of the command line escaped.
 */
#include "cli/opt.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "cli/nearest.h"

#define SHOWN 120 /* bytes of a value in a message */

enum reading { READ, NOT_A_NUMBER, TOO_LARGE };

bool
ckpt_opt_valued(const struct ckpt_opt *opt)
{
	switch (opt->kind) {
	case CKPT_OPT_END:
	case CKPT_OPT_HEADING:
	case CKPT_OPT_FLAG: return false;
	case CKPT_OPT_CHOICE:
	case CKPT_OPT_SIZE:
	case CKPT_OPT_U64:
	case CKPT_OPT_TEXT:
	case CKPT_OPT_LIST: return true;
	}
	return false;
}

static bool
digit(char c, unsigned base, unsigned *value)
{
	if (c >= '0' && c <= '9')
		*value = (unsigned)(c - '0');
	else if (base == 16 && c >= 'a' && c <= 'f')
		*value = (unsigned)(c - 'a') + 10;
	else if (base == 16 && c >= 'A' && c <= 'F')
		*value = (unsigned)(c - 'A') + 10;
	else
		return false;
	return true;
}

/* Reads all digits at *p, one at least, and leaves *p behind them. */
static enum reading
read_digits(const char **p, unsigned base, uint64_t *out)
{
	const char *start = *p;
	bool fits = true;
	unsigned d;

	*out = 0;
	for (; digit(**p, base, &d); (*p)++)
		fits = fits && ckpt_mul_u64(*out, base, out) &&
		       ckpt_add_u64(*out, d, out);
	if (*p == start)
		return NOT_A_NUMBER;
	return fits ? READ : TOO_LARGE;
}

static enum reading
read_u64(const char *text, uint64_t *out)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *p = hex ? text + 2 : text;
	enum reading reading = read_digits(&p, hex ? 16 : 10, out);

	return *p ? NOT_A_NUMBER : reading;
}

static enum reading
read_size(const char *text, uint64_t *out)
{
	static const char suffixes[] = "kMG";
	const char *p = text, *suffix;
	enum reading reading = read_digits(&p, 10, out);
	unsigned shift = 0;

	if (*p) {
		suffix = strchr(suffixes, *p == 'K' ? 'k' : *p);
		if (!suffix || p[1])
			return NOT_A_NUMBER;
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (reading == READ && !ckpt_mul_u64(*out, UINT64_C(1) << shift, out))
		return TOO_LARGE;
	return reading;
}

static void
quote(struct ckpt_buf *why, const char *value)
{
	ckpt_buf_puts(why, "'");
	ckpt_buf_escape(why, value, strlen(value), SHOWN);
	ckpt_buf_puts(why, "'");
}

static bool
store_number(const struct ckpt_opt *opt, const char *value, void *slot,
	struct ckpt_buf *why)
{
	bool size = opt->kind == CKPT_OPT_SIZE;
	uint64_t n = 0;
	enum reading reading =
		size ? read_size(value, &n) : read_u64(value, &n);

	if (reading == READ && n >= opt->least &&
		(opt->most == 0 || n <= opt->most)) {
		memcpy(slot, &n, sizeof n);
		return true;
	}
	quote(why, value);
	if (reading == NOT_A_NUMBER && size)
		ckpt_buf_puts(why, " is not a size (a number, or one followed "
				   "by k, M or G for powers of 1024)");
	else if (reading == NOT_A_NUMBER)
		ckpt_buf_puts(why, " is not a whole number");
	else if (reading == READ && n < opt->least)
		ckpt_buf_printf(
			why, " is too small, at least %" PRIu64, opt->least);
	else
		ckpt_buf_printf(why, " is too large, at most %" PRIu64,
			opt->most ? opt->most : UINT64_MAX);
	return false;
}

static bool
store_choice(const struct ckpt_opt *opt, const char *value, void *slot,
	struct ckpt_buf *why)
{
	struct ckpt_nearest nearest;

	for (int i = 0; opt->words[i]; i++) {
		if (strcmp(opt->words[i], value) == 0) {
			memcpy(slot, &i, sizeof i);
			return true;
		}
	}
	quote(why, value);
	ckpt_buf_puts(why, " is not one of ");
	ckpt_nearest_init(&nearest, value, strlen(value));
	for (size_t i = 0; opt->words[i]; i++) {
		if (i)
			ckpt_buf_puts(why, ", ");
		ckpt_buf_puts(why, opt->words[i]);
		ckpt_nearest_offer(&nearest, opt->words[i]);
	}
	if (nearest.best)
		ckpt_buf_printf(why, "; did you mean '%s'?", nearest.best);
	return false;
}

bool
ckpt_opt_store(const struct ckpt_opt *opt, const char *value, void *options,
	struct ckpt_buf *why)
{
	char *slot = (char *)options + opt->slot;
	bool yes = true;

	assert(value || opt->optional || opt->kind == CKPT_OPT_FLAG);
	switch (opt->kind) {
	case CKPT_OPT_END:
	case CKPT_OPT_HEADING:
	case CKPT_OPT_LIST: return true;
	case CKPT_OPT_FLAG: memcpy(slot, &yes, sizeof yes); return true;
	case CKPT_OPT_CHOICE:
		if (value)
			return store_choice(opt, value, slot, why);
		memcpy(slot, &opt->tag, sizeof opt->tag);
		return true;
	case CKPT_OPT_SIZE:
	case CKPT_OPT_U64: return store_number(opt, value, slot, why);
	case CKPT_OPT_TEXT: memcpy(slot, &value, sizeof value); return true;
	}
	return false;
}
