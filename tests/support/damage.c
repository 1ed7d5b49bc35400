/* SPDX-License-Identifier: MIT */
/*
 * What happens to files. Each kind draws its place and size from the stream
 * that it is given, so a seed is a file.
 */
#include "support/damage.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

static size_t
draw(struct ckpt_rng *rng, size_t least, size_t most)
{
	return least + ckpt_rng_draw(rng) % (most - least + 1);
}

static void
copy(struct damage_file *out, const struct damage_file *base, size_t room)
{
	*out = *base;
	out->p = malloc(base->n + room);
	assert(out->p);
	memcpy(out->p, base->p, base->n);
}

/* A page whose neighbours are values, too, with so many behind it. */
static size_t
page_in(const struct damage_file *f, struct ckpt_rng *rng, size_t pages)
{
	size_t first = (size_t)f->data / PAGE + 2, last = f->n / PAGE;

	return PAGE * draw(rng, first, last - pages - 2);
}

static void
fill_random(struct damage_file *f, struct ckpt_rng *rng, size_t off, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->p[off + i] = (uint8_t)(ckpt_rng_draw(rng) >> 40);
}

/* n bytes of from stand at off in out, which has room for them. */
static void
put(struct damage_file *out, size_t off, const uint8_t *from, size_t n)
{
	memmove(out->p + off + n, out->p + off, out->n - off);
	memcpy(out->p + off, from, n);
	out->n += n;
}

static void
take(struct damage_file *out, size_t off, size_t n)
{
	memmove(out->p + off, out->p + off + n, out->n - off - n);
	out->n -= n;
}

static void
nothing(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	(void)rng;
	copy(out, base, 0);
}

static void
zero_pages(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t pages = draw(rng, 1, 4);

	copy(out, base, 0);
	memset(out->p + page_in(base, rng, pages), 0, pages * PAGE);
}

static void
foreign_pages(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t pages = draw(rng, 1, 4);

	copy(out, base, 0);
	fill_random(out, rng, page_in(base, rng, pages), pages * PAGE);
}

static void
foreign_bytes(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t n = draw(rng, 3 * PAGE, 6 * PAGE);
	size_t off = page_in(base, rng, 6) + draw(rng, 40, PAGE - 40);

	copy(out, base, 0);
	fill_random(out, rng, off, n);
}

static void
zero_tail(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t off =
		page_in(base, rng, 1) + draw(rng, 0, 1) * draw(rng, 1, PAGE);

	copy(out, base, 0);
	memset(out->p + off, 0, out->n - off);
}

static void
zero_padding(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t n = draw(rng, 1, 2) * PAGE;

	n -= base->n % PAGE;
	copy(out, base, n);
	memset(out->p + out->n, 0, n);
	out->n += n;
}

static void
cut_block(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	copy(out, base, 0);
	out->n = page_in(base, rng, 0);
}

static void
cut_anywhere(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	copy(out, base, 0);
	out->n = page_in(base, rng, 1) + draw(rng, 1, PAGE - 1);
}

static void
insert(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	static const uint8_t bytes[8] = "\r\n?abcd";
	size_t off = page_in(base, rng, 4) + draw(rng, 1, PAGE);

	copy(out, base, 8);
	put(out, off, bytes, draw(rng, 1, 7));
}

static void
lose(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	copy(out, base, 0);
	take(out, page_in(base, rng, 4) + draw(rng, 1, PAGE), draw(rng, 1, 7));
}

static void
displace(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t n = draw(rng, 3, 10) * PAGE, k = draw(rng, 1, 7);
	size_t off = page_in(base, rng, 11) + draw(rng, 1, PAGE);

	copy(out, base, 0);
	memmove(out->p + off + k, out->p + off, n);
}

static void
repeat_block(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t pages = draw(rng, 1, 6), from, to;

	copy(out, base, 0);
	from = page_in(base, rng, pages);
	do
		to = page_in(base, rng, pages);
	while (to == from);
	memcpy(out->p + to, base->p + from, pages * PAGE);
}

static void
write_twice(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t pages = draw(rng, 1, 6), off = page_in(base, rng, pages);

	copy(out, base, pages * PAGE);
	put(out, off, base->p + off, pages * PAGE);
}

/* Another file, as long as it goes: a head and bytes like those of code. */
static void
other_file(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t n = draw(rng, 2 * PAGE, 5 * PAGE);
	size_t off = page_in(base, rng, 5) + 512 * draw(rng, 0, 7);

	copy(out, base, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t x = ckpt_rng_draw(rng);

		/* Small numbers are more frequent, as in most formats. */
		out->p[off + i] = (uint8_t)(x >> 40) >> (x >> 61);
	}
	memcpy(out->p + off,
		"\x7f"
		"ELF\2\1\1",
		8);
}

static void
log_lines(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	static const char line[] = "2026-11-30 12:00:00 INFO saved step 500\n";
	size_t n = draw(rng, 2 * PAGE, 5 * PAGE);
	size_t off = page_in(base, rng, 5) + draw(rng, 0, PAGE);

	copy(out, base, 0);
	for (size_t i = 0; i < n; i++)
		out->p[off + i] = (uint8_t)line[i % (sizeof line - 1)];
}

/* Of the elements of 8, 4 or 2 bytes that begin at the data. */
static void
swap_bytes(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	unsigned width = base->name ? 4 : 8;
	size_t n = draw(rng, 3, 10) * PAGE;
	size_t off = page_in(base, rng, 11);

	copy(out, base, 0);
	if (base->name) /* the tensors of F32 begin at 60200 */
		off = (size_t)base->data + 60200 + 8 * draw(rng, 1, 200);
	else
		off += (size_t)(8 - (off - base->n % 8) % 8) % 8;
	for (size_t i = off; i + width <= off + n; i += width)
		for (unsigned k = 0; k < width; k++)
			out->p[i + k] = base->p[i + width - 1 - k];
}

static void
line_feeds(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	(void)rng;
	copy(out, base, base->n);
	out->n = 0;
	for (size_t i = 0; i < base->n; i++) {
		if (base->p[i] == '\n')
			out->p[out->n++] = '\r';
		out->p[out->n++] = base->p[i];
	}
}

static void
carriage_returns(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	bool drop = draw(rng, 0, 1) == 1;

	copy(out, base, 0);
	out->n = 0;
	for (size_t i = 0; i < base->n; i++) {
		if (base->p[i] != '\r')
			out->p[out->n++] = base->p[i];
		else if (!drop)
			out->p[out->n++] = '\n';
	}
}

static void
replace(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	bool latin = draw(rng, 0, 1) == 1;

	copy(out, base, 2 * base->n);
	out->n = 0;
	for (size_t i = 0; i < base->n; i++) {
		uint8_t b = base->p[i];

		if (b < 0x80) {
			out->p[out->n++] = b;
		} else if (latin) {
			out->p[out->n++] = (uint8_t)(0xc0 | b >> 6);
			out->p[out->n++] = (uint8_t)(0x80 | (b & 0x3f));
		} else {
			memcpy(out->p + out->n, "\xef\xbf\xbd", 3);
			out->n += 3;
		}
	}
}

static void
seven_bits(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	(void)rng;
	copy(out, base, 0);
	for (size_t i = 0; i < out->n; i++)
		out->p[i] &= 0x7f;
}

static void
base64(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	(void)rng;
	copy(out, base, base->n);
	out->n = 0;
	for (size_t i = 0; i + 3 <= base->n; i += 3) {
		const uint8_t *b = base->p + i;
		uint32_t x = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];

		for (int k = 18; k >= 0; k -= 6)
			out->p[out->n++] = (uint8_t)digits[x >> k & 63];
		if (i % 57 == 54)
			out->p[out->n++] = '\n';
	}
}

static void
error_page(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	static const char *const pages[] = {
		"<!DOCTYPE html><html><body>404 Not Found</body></html>",
		"{\"error\":\"Repository not found\"}",
		("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
		 "size 4949453792\n"),
	};
	const char *page = pages[draw(rng, 0, 2)];

	copy(out, base, 0);
	out->n = strlen(page);
	memcpy(out->p, page, out->n);
}

static void
append(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t n = draw(rng, 100, 9000);

	copy(out, base, n);
	fill_random(out, rng, out->n, n);
	out->n += n;
}

static void
flip(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t off = draw(rng, (size_t)base->data, base->n - 1);

	copy(out, base, 0);
	out->p[off] ^= (uint8_t)(1u << draw(rng, 0, 7));
}

static void
cut_and_torn(struct damage_file *out, const struct damage_file *base,
	struct ckpt_rng *rng)
{
	size_t end = page_in(base, rng, 0), off;

	copy(out, base, 0);
	if (end < 12 * PAGE + base->data)
		end = (size_t)(12 * PAGE + base->data) / PAGE * PAGE;
	out->n = end;
	off = page_in(out, rng, 3);
	fill_random(out, rng, off, PAGE);
}

static const struct damage_kind kinds[] = {
	{ "nothing", { "" }, nothing },
	{ "zero-pages", { "torn-pages" }, zero_pages },
	{ "foreign-pages", { "torn-pages" }, foreign_pages },
	{ "foreign-bytes", { "overwritten-region" }, foreign_bytes },
	{ "zero-tail", { "zero-tail" }, zero_tail },
	{ "zero-padding", { "zero-tail" }, zero_padding },
	{ "cut-block", { "cut-short" }, cut_block },
	{ "cut-anywhere", { "cut-short" }, cut_anywhere },
	{ "insert", { "bytes-inserted" }, insert },
	{ "lose", { "bytes-lost" }, lose },
	{ "displace", { "shifted-region" }, displace },
	{ "repeat-block", { "repeated-block" }, repeat_block },
	{ "write-twice", { "repeated-block" }, write_twice },
	{ "other-file", { "overwritten-region" }, other_file },
	{ "log-lines", { "overwritten-region" }, log_lines },
	{ "swap-bytes", { "byte-order-swapped" }, swap_bytes },
	{ "line-feeds", { "text-transfer" }, line_feeds },
	{ "carriage-returns", { "text-transfer" }, carriage_returns },
	{ "replace", { "text-transfer" }, replace },
	{ "seven-bits", { "text-transfer" }, seven_bits },
	{ "base64", { "text-transfer" }, base64 },
	{ "error-page", { "another-kind-of-file" }, error_page },
	{ "append", { "extra-tail" }, append },
	{ "flip", { "few-bytes-changed", "flipped-bit", "" }, flip },
	{ "cut-and-torn", { "torn-pages", "cut-short" }, cut_and_torn },
};

const struct damage_kind *
damage_kind_at(size_t i)
{
	return i < sizeof kinds / sizeof kinds[0] ? &kinds[i] : NULL;
}

const struct damage_kind *
damage_kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}
