/* SPDX-License-Identifier: MIT */
/*
 * Output buffer and the one sanitiser. What the sanitiser lets through cannot
 * move a cursor, start an escape sequence, reorder or hide text on a terminal.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void
ckpt_buf_init(struct ckpt_buf *buf)
{
	memset(buf, 0, sizeof *buf);
}

void
ckpt_buf_release(struct ckpt_buf *buf)
{
	free(buf->p);
	ckpt_buf_init(buf);
}

void
ckpt_buf_clear(struct ckpt_buf *buf)
{
	buf->n = 0;
	if (buf->p)
		buf->p[0] = '\0';
}

static bool
reserve(struct ckpt_buf *buf, size_t n)
{
	size_t want, cap = buf->cap ? buf->cap : 256;
	char *p;

	if (buf->failed)
		return false;
	if (__builtin_add_overflow(buf->n, n, &want) ||
		__builtin_add_overflow(want, 1, &want)) {
		buf->failed = true;
		return false;
	}
	if (want <= buf->cap)
		return true;
	while (cap < want)
		if (__builtin_mul_overflow(cap, 2, &cap))
			cap = want;
	p = realloc(buf->p, cap);
	if (!p) {
		buf->failed = true;
		return false;
	}
	buf->p = p;
	buf->cap = cap;
	return true;
}

void
ckpt_buf_add(struct ckpt_buf *buf, const void *p, size_t n)
{
	if (!reserve(buf, n))
		return;
	if (n)
		memcpy(buf->p + buf->n, p, n);
	buf->n += n;
	buf->p[buf->n] = '\0';
}

void
ckpt_buf_puts(struct ckpt_buf *buf, const char *s)
{
	ckpt_buf_add(buf, s, strlen(s));
}

void
ckpt_buf_printf(struct ckpt_buf *buf, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0 || !reserve(buf, (size_t)n)) {
		buf->failed = true;
		return;
	}
	va_start(args, format);
	vsnprintf(buf->p + buf->n, (size_t)n + 1, format, args);
	va_end(args);
	buf->n += (size_t)n;
}

/* Bidirectional and zero-width controls, line separators, and everything else
 * that by Unicode's own list (Default_Ignorable_Code_Point) shows nothing and
 * so lets one name look like another. */
static bool
hidden(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{ 0x00ad, 0x00ad },
		{ 0x034f, 0x034f },
		{ 0x061c, 0x061c },
		{ 0x115f, 0x1160 },
		{ 0x17b4, 0x17b5 },
		{ 0x180b, 0x180f },
		{ 0x200b, 0x200f },
		{ 0x2028, 0x202e },
		{ 0x2060, 0x206f },
		{ 0x3164, 0x3164 },
		{ 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff },
		{ 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb },
		{ 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

static void
escape_point(struct ckpt_buf *buf, uint32_t point, const uint8_t *p, size_t k)
{
	if (point == '\\')
		ckpt_buf_puts(buf, "\\\\");
	else if (point == '\n')
		ckpt_buf_puts(buf, "\\n");
	else if (point == '\r')
		ckpt_buf_puts(buf, "\\r");
	else if (point == '\t')
		ckpt_buf_puts(buf, "\\t");
	else if (point < 0x20 || point == 0x7f)
		ckpt_buf_printf(buf, "\\x%02x", (unsigned)point);
	else if ((point >= 0x80 && point <= 0x9f) || hidden(point))
		ckpt_buf_printf(buf, "\\u{%x}", (unsigned)point);
	else
		ckpt_buf_add(buf, p, k);
}

void
ckpt_buf_escape(struct ckpt_buf *buf, const void *bytes, size_t n, size_t most)
{
	const uint8_t *p = bytes;
	size_t shown = most && n > most ? most : n;
	size_t i = 0;

	while (i < shown) {
		uint32_t point;
		size_t k = ckpt_utf8_decode(p + i, n - i, &point);

		if (k == 0) {
			ckpt_buf_printf(buf, "\\x%02x", p[i]);
			i++;
			continue;
		}
		escape_point(buf, point, p + i, k);
		i += k;
	}
	/* A character that begins within the bound is shown whole. */
	if (i < n)
		ckpt_buf_puts(buf, "...");
}

void
ckpt_buf_quote(struct ckpt_buf *buf, const void *bytes, size_t n)
{
	ckpt_buf_puts(buf, "\"");
	ckpt_buf_escape(buf, bytes, n, CKPT_BUF_SHOWN);
	ckpt_buf_puts(buf, "\"");
	if (n > CKPT_BUF_SHOWN)
		ckpt_buf_printf(buf, " (%zu bytes)", n);
}
