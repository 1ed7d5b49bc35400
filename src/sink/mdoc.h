/* SPDX-License-Identifier: MIT */
#ifndef CKPT_SINK_MDOC_H
#define CKPT_SINK_MDOC_H

/*
 * Writing mdoc manual pages from plain text, so that no text of ours can be
 * taken for a request, a macro or an escape sequence.
 */

#include <stdbool.h>

#include "base/buf.h"

/* The characters of text, for use anywhere but at the start of a line. */
void ckpt_mdoc_chars(struct ckpt_buf *buf, const char *text, size_t n);

/* The same of what is typed or read by machines: a - stays a minus sign. */
void ckpt_mdoc_literal(struct ckpt_buf *buf, const char *text, size_t n);

/* One argument of a macro line, with a space before it. */
void ckpt_mdoc_arg(struct ckpt_buf *buf, const char *text, size_t n);

/* A paragraph in filled lines; every sentence starts a new one. Words such as
 * --name and what stands in `backquotes` are set in bold, the words of names
 * (separated by spaces; NULL: none) in italics. */
void ckpt_mdoc_text(struct ckpt_buf *buf, const char *text, const char *names);

/* One line as it is, for literal displays. */
void ckpt_mdoc_line(struct ckpt_buf *buf, const char *text);

#endif
