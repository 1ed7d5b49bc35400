/* SPDX-License-Identifier: MIT */
/*
 * mdoc(7) from plain text. Three things need care: a text line that starts
 * with a dot or an apostrophe is a request; a word of a macro line that is
 * itself a macro's name or a punctuation mark is not taken as text; and some
 * ASCII characters are typeset as others. The zero-width \& cures the first
 * two, character escapes the last.
 */
#include "sink/mdoc.h"

#include <ctype.h>
#include <string.h>

#include "base/utf8.h"

#define COLUMNS 78

static const char *
named_character(char c)
{
	switch (c) {
	case '\\': return "\\e";
	case '"': return "\\(dq";
	case '\'': return "\\(aq";
	case '`': return "\\(ga";
	case '^': return "\\(ha";
	case '~': return "\\(ti";
	default: return NULL;
	}
}

void
ckpt_mdoc_chars(struct ckpt_buf *buf, const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		const char *name = named_character(text[i]);
		uint32_t point = 0;
		size_t k = ckpt_utf8_decode(
			(const uint8_t *)text + i, n - i, &point);

		if (name)
			ckpt_buf_puts(buf, name);
		else if (k > 1)
			ckpt_buf_printf(buf, "\\[u%04X]", (unsigned)point);
		else if (k == 1 && point >= ' ' && point != 0x7f)
			ckpt_buf_add(buf, text + i, 1);
		else
			ckpt_buf_puts(buf, "?");
		i += k ? k : 1;
	}
}

void
ckpt_mdoc_arg(struct ckpt_buf *buf, const char *text, size_t n)
{
	bool spaces = n == 0 || memchr(text, ' ', n) != NULL;
	bool mark = n == 1 && !isalnum((unsigned char)text[0]);
	bool named =
		(n == 2 || n == 3) &&
		(text[0] == '%' || (isupper((unsigned char)text[0]) &&
					   (islower((unsigned char)text[1]) ||
						   text[1] == '1')));

	/* Macro names are as No, Brq, D1 or %A; delimiters one character. */
	ckpt_buf_puts(buf, spaces ? " \"" : " ");
	if (mark || named)
		ckpt_buf_puts(buf, "\\&");
	ckpt_mdoc_chars(buf, text, n);
	if (spaces)
		ckpt_buf_puts(buf, "\"");
}

void
ckpt_mdoc_literal(struct ckpt_buf *buf, const char *text, size_t n)
{
	while (n) {
		const char *dash = memchr(text, '-', n);
		size_t k = dash ? (size_t)(dash - text) : n;

		ckpt_mdoc_chars(buf, text, k);
		if (dash)
			ckpt_buf_puts(buf, "\\-");
		k += dash ? 1 : 0;
		text += k;
		n -= k;
	}
}

void
ckpt_mdoc_line(struct ckpt_buf *buf, const char *text)
{
	if (text[0] == '.' || text[0] == '\'' || text[0] == '\0')
		ckpt_buf_puts(buf, "\\&");
	ckpt_mdoc_literal(buf, text, strlen(text));
	ckpt_buf_puts(buf, "\n");
}

/* Is the word, without the marks around it, one of names? */
static bool
is_name(const char *word, size_t n, const char *names)
{
	while (names && *names) {
		size_t k = strcspn(names, " ");

		if (k == n && memcmp(names, word, n) == 0)
			return true;
		names += k + strspn(names + k, " ");
	}
	return false;
}

static bool
wordy(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '=';
}

/* The piece of a word before its next mark, in the font that its look asks
 * for; the dashes of an option must stay minus signs that can be copied. */
static void
write_piece(
	struct ckpt_buf *buf, const char *piece, size_t n, const char *names)
{
	const char *font = NULL;

	if (is_name(piece, n, names))
		font = "\\fI";
	else if (n > 1 && piece[0] == '-')
		font = "\\fB";
	if (!font) {
		ckpt_mdoc_chars(buf, piece, n);
		return;
	}
	ckpt_buf_puts(buf, font);
	for (; n && *piece == '-'; piece++, n--)
		ckpt_buf_puts(buf, "\\-");
	ckpt_mdoc_chars(buf, piece, n);
	ckpt_buf_puts(buf, "\\fP");
}

/* One word. code tells whether backquotes are open, and is left so for the
 * next word; the font never stays open across words, where a line may end. */
static void
write_word(struct ckpt_buf *buf, const char *word, size_t n, const char *names,
	bool *code)
{
	if (*code)
		ckpt_buf_puts(buf, "\\fB");
	for (size_t i = 0; i < n;) {
		size_t k = 0;

		while (i + k < n && wordy(word[i + k]))
			k++;
		if (k && !*code) {
			write_piece(buf, word + i, k, names);
		} else if (k) {
			ckpt_mdoc_literal(buf, word + i, k);
		} else if (word[i] == '`') {
			*code = !*code;
			ckpt_buf_puts(buf, *code ? "\\fB" : "\\fP");
			k = 1;
		} else {
			/* The whole of a character beyond ASCII. */
			do
				k++;
			while (i + k < n && (word[i + k] & 0xc0) == 0x80);
			ckpt_mdoc_chars(buf, word + i, k);
		}
		i += k;
	}
	if (*code)
		ckpt_buf_puts(buf, "\\fP");
}

static bool
ends_sentence(const char *word, size_t n)
{
	while (n > 1 && (word[n - 1] == ')' || word[n - 1] == '`'))
		n--;
	return n > 2 && strchr(".?!", word[n - 1]) != NULL;
}

void
ckpt_mdoc_text(struct ckpt_buf *buf, const char *text, const char *names)
{
	size_t line = buf->n, space;
	bool code = false, broken = true;

	for (text += strspn(text, " "); *text;) {
		size_t n = strcspn(text, " ");

		space = buf->n;
		if (!broken)
			ckpt_buf_puts(buf, " ");
		if (text[0] == '.')
			ckpt_buf_puts(buf, "\\&");
		write_word(buf, text, n, names, &code);
		if (!broken && !buf->failed && buf->n - line > COLUMNS) {
			buf->p[space] = '\n';
			line = space + 1;
		}
		broken = !code && ends_sentence(text, n);
		text += n + strspn(text + n, " ");
		if (broken && *text) {
			ckpt_buf_puts(buf, "\n");
			line = buf->n;
		}
	}
	ckpt_buf_puts(buf, "\n");
}
