/* SPDX-License-Identifier: MIT */
/*
 * What the head and the size say: another kind of file, the same file in
 * another code or with something before it, a file that was cut, a file with
 * something behind it.
 */
#include "forensics/classify_parts.h"

#include <inttypes.h>
#include <string.h>

#include "format/format.h"

enum { DECODED = 48 };

/* ---- The head ----------------------------------------------------------- */

/* Bytes of the text that stand for others; how many there are. */
static size_t
decode_hex(const uint8_t *text, size_t n, uint8_t *out)
{
	size_t k = 0;
	unsigned have = 0, value = 0;

	for (size_t i = 0; i < n && k < DECODED; i++) {
		uint8_t b = text[i];
		unsigned digit;

		if (b >= '0' && b <= '9')
			digit = (unsigned)b - '0';
		else if ((b | 32) >= 'a' && (b | 32) <= 'f')
			digit = (unsigned)(b | 32) - 'a' + 10;
		else if (b == ' ' || b == '\n' || b == '\r')
			continue;
		else
			return 0;
		value = value << 4 | digit;
		if (++have % 2 == 0)
			out[k++] = (uint8_t)value;
	}
	return k;
}

static size_t
decode_base64(const uint8_t *text, size_t n, uint8_t *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t k = 0;
	uint32_t value = 0;
	unsigned bits = 0;

	for (size_t i = 0; i < n && k < DECODED; i++) {
		uint8_t b = text[i] == '-'   ? '+'
			    : text[i] == '_' ? '/'
					     : text[i];
		const char *digit = b ? strchr(digits, b) : NULL;

		if (b == '\n' || b == '\r' || b == '=')
			continue;
		if (!digit)
			return 0;
		value = (value << 6 | (uint32_t)(digit - digits)) & 0xffffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[k++] = (uint8_t)(value >> bits);
		}
	}
	return k;
}

static const struct ckpt_format *
encoded_in(const struct classify *c, const char **code)
{
	uint8_t bytes[DECODED];
	size_t n = decode_hex(c->head, c->nhead, bytes);
	const struct ckpt_format *format =
		n ? ckpt_format_sniff(bytes, n) : NULL;

	*code = "hexadecimal digits";
	if (format)
		return format;
	*code = "base64";
	n = decode_base64(c->head, c->nhead, bytes);
	return n ? ckpt_format_sniff(bytes, n) : NULL;
}

/* Words of 2, 4 or 8 bytes, each backwards. */
static const struct ckpt_format *
swapped_in(const struct classify *c, unsigned *width)
{
	uint8_t bytes[DECODED];

	for (*width = 2; *width <= 8; *width *= 2) {
		const struct ckpt_format *format;

		if (c->nhead < DECODED)
			break;
		for (unsigned i = 0; i < DECODED; i++)
			bytes[i] = c->head[i - i % *width +
					   (*width - 1 - i % *width)];
		format = ckpt_format_sniff(bytes, DECODED);
		/* What has no magic must look more like itself than this. */
		if (format && (!format->named || bytes[9] == '"'))
			return format;
	}
	return NULL;
}

/* The file as it should be, but later. */
static const struct ckpt_format *
later_in(const struct classify *c, size_t *at)
{
	for (size_t i = 1; i + DECODED <= c->nhead; i++) {
		const uint8_t *p = c->head + i;
		const struct ckpt_format *f =
			ckpt_format_sniff(p, c->nhead - i);

		*at = i;
		if (f && (!f->named || (p[8] == '{' && p[9] == '"')))
			return f;
	}
	return NULL;
}

static void
judge_coded(
	struct classify *c, const struct ckpt_format *format, const char *code)
{
	struct ckpt_hint *cause = ckpt_classify_add(c, "text-transfer",
		"the file was saved in a code for text", CKPT_STRONG,
		"its beginning decodes to that of a checkpoint");

	ckpt_classify_say(c, cause, "as %s it begins a file of the format %s",
		code, format->name);
	c->explained = c->explained_size = c->text_mode = true;
}

/* What else the whole file may be; true if it is something else. */
static bool
judge_other_kind(struct classify *c)
{
	char text[160];
	const char *name =
		ckpt_foreign_name(c->head, c->nhead, text, sizeof text);
	bool zero = c->nhead > 0 && c->head[0] == 0 &&
		    memcmp(c->head, c->head + 1, c->nhead - 1) == 0;
	struct ckpt_hint *cause;

	if (!name || zero)
		return false;
	/* Judged by all of the file, not by its head. */
	if (ckpt_foreign_is_text_copy(name))
		return false;
	for (size_t i = 0; ckpt_format_at(i); i++)
		if (ckpt_format_at(i)->resembles &&
			ckpt_format_at(i)->resembles(c->head, c->nhead))
			return false;
	cause = ckpt_classify_add(c, "another-kind-of-file",
		"something else was saved under this name", CKPT_STRONG,
		"its first bytes are those of another kind of file");
	ckpt_classify_say(c, cause, "it is %s", name);
	ckpt_classify_say(c, cause, "it has %" PRIu64 " bytes", c->size);
	c->explained = c->explained_size = c->text_mode = true;
	return true;
}

static void
judge_before(struct classify *c, const struct ckpt_format *format, size_t n)
{
	struct ckpt_hint *cause = ckpt_classify_add(c, "bytes-inserted",
		"something stands before the file", CKPT_STRONG,
		"the beginning of a checkpoint is there, but later");

	ckpt_classify_where(c, cause, 0, n);
	ckpt_classify_say(c, cause,
		"a file of the format %s begins at %s, not at 0", format->name,
		ckpt_classify_at(c, n));
	ckpt_classify_say_bytes(c, cause, "before it stands", 0, n);
	c->explained = c->explained_size = true;
}

void
ckpt_classify_judge_head(struct classify *c)
{
	const struct ckpt_format *format;
	struct ckpt_hint *cause;
	const char *code;
	unsigned width;
	size_t at;

	if (ckpt_format_sniff(c->head, c->nhead) || c->nhead == 0)
		return;
	format = encoded_in(c, &code);
	if (format) {
		judge_coded(c, format, code);
		return;
	}
	format = swapped_in(c, &width);
	if (format) {
		cause = ckpt_classify_add(c, "byte-order-swapped",
			"the bytes of the whole file were swapped", CKPT_STRONG,
			"swapped back it begins as a checkpoint does");
		ckpt_classify_say(c, cause,
			"with each %u bytes backwards it begins a file of the "
			"format %s",
			width, format->name);
		c->explained = c->explained_size = true;
		return;
	}
	if (judge_other_kind(c))
		return;
	format = later_in(c, &at);
	if (format)
		judge_before(c, format, at);
}

/* ---- The size ----------------------------------------------------------- */

/* Sizes at which programs and file systems stop. */
static const char *
limit_at(uint64_t size)
{
	if (size == INT32_MAX)
		return "2^31 - 1, the most that a signed 32-bit size can be";
	if (size == UINT32_MAX)
		return "2^32 - 1, the most that FAT32 can hold";
	return NULL;
}

/* Whether values are in their places up to the end, so that nothing is
 * missing before it. */
static bool
good_to_the_end(const struct classify *c)
{
	const struct phases *p = &c->phases;

	return p->good_pages > 0 && p->n == 0 && p->lost == 0 &&
	       c->size - p->good_end < 2 * (uint64_t)CLASSIFY_PAGE;
}

static bool
ends_with_tensor(const struct classify *c)
{
	const struct ckpt_span *t =
		c->size > 0 ? ckpt_classify_tensor(c, c->size - 1) : NULL;
	uint64_t end;

	return t && ckpt_span_end(t, &end) && end == c->size;
}

static enum ckpt_likelihood
cut_likelihood(const struct classify *c, uint64_t block, const char **reason)
{
	if (limit_at(c->size)) {
		*reason = "the size is a limit of programs";
		return CKPT_STRONG;
	}
	if (block >= 4096) {
		*reason = "one size in 4096 or fewer is such a multiple";
		return CKPT_STRONG;
	}
	if (ends_with_tensor(c)) {
		*reason = "it ends where a tensor ends";
		return CKPT_LIKELY;
	}
	if (block > 0) {
		*reason = "one size in 512 is such a multiple";
		return CKPT_LIKELY;
	}
	if (good_to_the_end(c)) {
		*reason = "the values up to the end are in their places";
		return CKPT_LIKELY;
	}
	*reason = "bytes are missing, at the end or before it";
	return CKPT_POSSIBLE;
}

static void
judge_cut(struct classify *c)
{
	const char *words, *reason, *limit = limit_at(c->size);
	uint64_t block = ckpt_classify_block(c->size, &words);
	enum ckpt_likelihood likelihood = cut_likelihood(c, block, &reason);
	struct ckpt_hint *cause = ckpt_classify_add(c, "cut-short",
		block || limit ? "the file was cut between two parts of a "
				 "transfer or of a write"
			       : "the file was cut, or the write was not "
				 "finished",
		likelihood, reason);

	ckpt_classify_where(
		c, cause, c->size ? c->size - 1 : 0, c->size ? 1 : 0);
	ckpt_classify_say(c, cause, "it has %" PRIu64 " bytes", c->size);
	if (c->has_declared && c->declared > c->size)
		ckpt_classify_say(c, cause,
			"it says that it has %" PRIu64 ", so %" PRIu64
			" are missing",
			c->declared, c->declared - c->size);
	if (block)
		ckpt_classify_say(c, cause,
			"%" PRIu64 " is %" PRIu64 " times %s", c->size,
			c->size / block, words);
	if (limit)
		ckpt_classify_say(c, cause, "%s", limit);
	c->explained |= likelihood != CKPT_POSSIBLE;
}

static void
judge_longer(struct classify *c)
{
	uint64_t n = c->size - c->declared;
	struct ckpt_hint *cause = ckpt_classify_add(c, "extra-tail",
		"something was appended, or a shorter file was written over a "
		"longer one",
		CKPT_LIKELY, "the file goes on behind its own end");
	uint8_t head[512];
	size_t k = ckpt_classify_read(c, c->declared, head, sizeof head);
	const char *name = ckpt_foreign_magic(head, k);
	const struct ckpt_format *format = ckpt_format_sniff(head, k);

	ckpt_classify_where(c, cause, c->declared, n);
	ckpt_classify_say(c, cause, "%" PRIu64 " more bytes from %s on", n,
		ckpt_classify_at(c, c->declared));
	if (format)
		ckpt_classify_say(c, cause,
			"there begins a file of the format %s", format->name);
	else if (name)
		ckpt_classify_say(c, cause, "there begins %s", name);
	ckpt_classify_say_bytes(c, cause, "they begin with", c->declared, n);
	c->explained = true;
}

void
ckpt_classify_judge_extent(struct classify *c)
{
	static const enum ckpt_code cut[] = { CKPT_D_FIXED_HEADER_TRUNCATED,
		CKPT_D_FILE_TRUNCATED, CKPT_D_HEADER_TRUNCATED,
		CKPT_D_ST_LENGTH_TRUNCATED, CKPT_D_ST_HEADER_BEYOND,
		CKPT_D_ST_DATA_TRUNCATED };
	bool is_cut = false;

	for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++)
		is_cut |= ckpt_classify_found(c, cut[i]);
	if (c->explained_size)
		return;
	if (is_cut && c->size > 0)
		judge_cut(c);
	else if (c->has_declared && c->size > c->declared &&
		 (ckpt_classify_found(c, CKPT_D_TRAILING_BYTES) ||
			 ckpt_classify_found(c, CKPT_D_ST_DATA_TRAILING)))
		judge_longer(c);
}
