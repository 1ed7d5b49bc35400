/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_HTML_H
#define CKPT_SINK_HTML_H

/*
 * Text in HTML and SVG. What came from a file has passed ckpt_buf_escape()
 * before, as everywhere; here it loses whatever HTML could take for markup, so
 * that it can stand between tags and in double-quoted attributes.
 */

#include "base/buf.h"

/* Text as content or attribute. Control bytes, which no sanitised text has,
 * become U+FFFD. */
void ckpt_html_add(struct ckpt_buf *buf, const char *text, size_t n);
void ckpt_html_puts(struct ckpt_buf *buf, const char *text);
/* The text in words, which is empty afterwards. */
void ckpt_html_take(struct ckpt_buf *buf, struct ckpt_buf *words);

/* Lines as they are, each with its end. They are ours. */
void ckpt_html_lines(struct ckpt_buf *buf, const char *const *lines);
/* The same lines as a source of a Content-Security-Policy: 'sha256-...'. */
void ckpt_html_lines_hash(struct ckpt_buf *buf, const char *const *lines);

#endif
