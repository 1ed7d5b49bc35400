/* SPDX-License-Identifier: MIT */
/*
 * A copy that some program made as text. What such a program does to line
 * ends and to bytes that are no text, it does everywhere, so whole classes of
 * bytes are missing from the file. How many there should be is estimated from
 * the bytes next to them in value, which no program treats specially: in
 * values of any kind neighbouring bytes are about equally frequent.
 */
#include "forensics/classify_parts.h"

#include <inttypes.h>

enum { ENOUGH = 16 };

/* The least of those around CR that mean nothing to text tools. */
static uint64_t
around_cr(const struct byte_counts *t)
{
	static const uint8_t others[] = { 0x0b, 0x0c, 0x0e, 0x0f, 0x10 };
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < sizeof others; i++)
		if (t->count[others[i]] < least)
			least = t->count[others[i]];
	return least;
}

static struct ckpt_hint *
add(struct classify *c, const char *title, enum ckpt_likelihood likelihood,
	const char *reason)
{
	c->explained = true;
	c->text_mode = true;
	c->explained_size |= !c->has_declared || c->size != c->declared;
	return ckpt_classify_add(c, "text-transfer", title, likelihood, reason);
}

/* How the size fits to n bytes more, or fewer. */
static void
say_size(struct classify *c, struct ckpt_hint *cause)
{
	if (c->has_declared && c->size > c->declared)
		ckpt_classify_say(c, cause,
			"the file is %" PRIu64 " bytes longer than it says",
			c->size - c->declared);
	else if (c->has_declared && c->size < c->declared)
		ckpt_classify_say(c, cause,
			"the file is %" PRIu64 " bytes shorter than it says",
			c->declared - c->size);
}

static bool
judge_replaced(struct classify *c)
{
	const struct byte_counts *t = &c->text;
	bool all = !t->not_utf8 && t->bytes == c->size;
	struct ckpt_hint *cause;

	/* By chance: once in 16 million bytes. */
	if (t->replaced < 4 || t->replaced < t->bytes >> 18)
		return false;
	cause = add(c, "bytes that are not UTF-8 were replaced by U+FFFD",
		CKPT_STRONG,
		"the three bytes of U+FFFD are far more frequent than by "
		"chance; what they replaced is lost");
	ckpt_classify_say(c, cause,
		"EF BF BD occurs %" PRIu64 " times in %" PRIu64 " bytes",
		t->replaced, t->bytes);
	if (all)
		ckpt_classify_say(c, cause, "all of the file is UTF-8");
	return true;
}

static bool
judge_utf8(struct classify *c)
{
	const struct byte_counts *t = &c->text;
	struct ckpt_hint *cause;

	if (t->not_utf8 || t->bytes != c->size || t->leads < 32 ||
		t->latin != t->leads)
		return false;
	cause = add(c, "each byte was taken for a character and saved as UTF-8",
		CKPT_STRONG,
		"all of the file is UTF-8, and no character is above U+00FF");
	ckpt_classify_say(c, cause,
		"%" PRIu64 " sequences begin with C2 or C3, none with another "
		"byte",
		t->leads);
	return true;
}

static bool
judge_utf16(struct classify *c)
{
	const struct byte_counts *t = &c->text;
	struct ckpt_hint *cause;

	if (c->nhead < 2 || c->head[0] != 0xff || c->head[1] != 0xfe ||
		t->bytes < 64 || t->odd_zero < t->bytes / 4)
		return false;
	cause = add(c, "the output of a program was saved as UTF-16",
		CKPT_STRONG,
		"it begins with the byte order mark FF FE, and bytes at odd "
		"offsets are zero");
	ckpt_classify_say(c, cause,
		"%" PRIu64 " of %" PRIu64 " bytes at odd offsets are zero",
		t->odd_zero, t->bytes / 2);
	return true;
}

/* Every LF has a CR before it. */
static bool
judge_feeds(struct classify *c)
{
	const struct byte_counts *t = &c->text;
	uint64_t feeds = t->count['\n'];
	struct ckpt_hint *cause;

	if (feeds < 8 || t->crlf != feeds || !ckpt_run_primary(c->run))
		return false;
	cause = add(c, "line feeds became CR LF", CKPT_STRONG,
		"by chance one byte in 256 before a line feed is a carriage "
		"return");
	ckpt_classify_say(c, cause,
		"all %" PRIu64 " line feeds have a carriage return before them",
		feeds);
	say_size(c, cause);
	return true;
}

/* No CR at all. */
static bool
judge_returns(struct classify *c)
{
	const struct byte_counts *t = &c->text;
	uint64_t around = around_cr(t), feeds = t->count['\n'];
	bool became = feeds > around + around / 2;
	bool valid = !ckpt_run_primary(c->run);
	struct ckpt_hint *cause;

	if (around < ENOUGH || t->count['\r'] > 0 ||
		(valid && (!became || around < 4 * (uint64_t)ENOUGH)))
		return false;
	cause = add(c,
		became ? "carriage returns became line feeds"
		       : "carriage returns were dropped",
		valid ? CKPT_POSSIBLE : CKPT_STRONG,
		"bytes next to 0d in value are frequent, and 0d does not "
		"occur");
	ckpt_classify_say(c, cause,
		"0d occurs 0 times; the bytes next to it in value at least "
		"%" PRIu64 " times each, line feeds %" PRIu64 " times",
		around, feeds);
	say_size(c, cause);
	return true;
}

/* No CR LF, although both occur. */
static bool
judge_pairs(struct classify *c)
{
	const struct byte_counts *t = &c->text;
	double chance = t->bytes ? (double)t->count['\r'] *
					   (double)t->count['\n'] /
					   (double)t->bytes
				 : 0;
	uint64_t n;
	struct ckpt_hint *cause;
	bool fits;

	/* CR CR LF leaves one behind. */
	if ((double)t->crlf * 16 > chance || chance < 4 || !c->has_declared ||
		c->size >= c->declared || c->sampled)
		return false;
	n = c->declared - c->size;
	/* The pairs that were there became line feeds: as many bytes are
	 * missing, give or take what chance does. */
	fits = (double)n > chance / 3 && (double)n < 3 * chance;
	if (!fits && chance < 12)
		return false;
	cause = add(c, "CR LF became line feeds",
		fits && chance >= 8 ? CKPT_STRONG : CKPT_LIKELY,
		"hardly a CR LF is left where chance makes some");
	ckpt_classify_say(c, cause,
		"CR LF occurs %" PRIu64
		" times; by chance it would about %.0f times",
		t->crlf, chance);
	say_size(c, cause);
	return true;
}

/* Eighth bits are all clear. */
static bool
judge_seven_bits(struct classify *c)
{
	const struct byte_counts *t = &c->text;
	uint64_t high = 0, nonzero = t->bytes - t->count[0], values = 0;
	uint64_t controls = 0;
	bool valid = !ckpt_run_primary(c->run);
	struct ckpt_hint *cause;

	for (unsigned i = 0; i < 256; i++) {
		values += t->count[i] > 0;
		high += i >= 128 ? t->count[i] : 0;
		controls += i < 32 && i > 0 ? t->count[i] : 0;
	}
	if (high > 0 || nonzero < 1024 || values < 120 ||
		controls < nonzero / 16)
		return false;
	cause = add(c, "the eighth bit of every byte was lost",
		valid ? CKPT_POSSIBLE : CKPT_STRONG,
		"nearly all bytes below 80 occur, and none above");
	ckpt_classify_say(c, cause,
		"of %" PRIu64 " bytes that are not zero none is above 7f",
		nonzero);
	return true;
}

void
ckpt_classify_judge_text(struct classify *c)
{
	bool (*const judges[])(struct classify *) = {
		judge_utf16,
		judge_utf8,
		judge_replaced,
		judge_feeds,
		judge_returns,
		judge_pairs,
		judge_seven_bits,
	};

	for (size_t i = 0; i < sizeof judges / sizeof judges[0]; i++)
		if (!c->text_mode && judges[i](c))
			return;
}
