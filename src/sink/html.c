/* SPDX-License-Identifier: MIT */
/*
 * Text in HTML and SVG. All five characters that mean something to a parser
 * are written as references, whether or not they would matter where they
 * stand, so no caller has to know where that is.
 */
#include "sink/html.h"

#include <openssl/evp.h>
#include <string.h>

static const char *
reference(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	}
	return (unsigned char)c < 0x20 || c == 0x7f ? "\xef\xbf\xbd" : NULL;
}

void
ckpt_html_add(struct ckpt_buf *buf, const char *text, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		const char *as = reference(text[i]);

		if (!as)
			continue;
		ckpt_buf_add(buf, text + from, i - from);
		ckpt_buf_puts(buf, as);
		from = i + 1;
	}
	ckpt_buf_add(buf, text + from, n - from);
}

void
ckpt_html_puts(struct ckpt_buf *buf, const char *text)
{
	ckpt_html_add(buf, text, strlen(text));
}

void
ckpt_html_take(struct ckpt_buf *buf, struct ckpt_buf *words)
{
	if (words->failed)
		buf->failed = true;
	else if (words->n > 0)
		ckpt_html_add(buf, words->p, words->n);
	ckpt_buf_clear(words);
}

void
ckpt_html_lines(struct ckpt_buf *buf, const char *const *lines)
{
	for (; *lines; lines++) {
		ckpt_buf_puts(buf, *lines);
		ckpt_buf_puts(buf, "\n");
	}
}

void
ckpt_html_lines_hash(struct ckpt_buf *buf, const char *const *lines)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned char text[2 * EVP_MAX_MD_SIZE];
	struct ckpt_buf all;
	unsigned n = 0;

	ckpt_buf_init(&all);
	ckpt_html_lines(&all, lines);
	if (all.failed ||
		EVP_Digest(all.p, all.n, digest, &n, EVP_sha256(), NULL) != 1) {
		buf->failed = true;
	} else {
		EVP_EncodeBlock(text, digest, (int)n);
		ckpt_buf_printf(buf, "'sha256-%s'", (const char *)text);
	}
	ckpt_buf_release(&all);
}
