/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_BUF_H
#define CKPT_BASE_BUF_H

/*
 * A growing text or byte buffer for output. Failures to allocate are sticky:
 * write on, then look at failed once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ckpt_buf {
	char *p; /* owned; NUL-terminated once anything was added */
	size_t n;
	size_t cap;
	bool failed;
};

void ckpt_buf_init(struct ckpt_buf *buf);
void ckpt_buf_release(struct ckpt_buf *buf);
void ckpt_buf_clear(struct ckpt_buf *buf);
void ckpt_buf_add(struct ckpt_buf *buf, const void *p, size_t n);
void ckpt_buf_puts(struct ckpt_buf *buf, const char *s);
void ckpt_buf_printf(struct ckpt_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* THE sanitiser: every byte that came from a file or a path goes through here
 * before anything prints it. Printable UTF-8 passes; C0, C1, DEL, bytes that
 * are not UTF-8 (\xHH), bidirectional and zero-width controls (\u{HEX}) and
 * the backslash are escaped; \n \r \t in their usual spelling. More than
 * most bytes end in "..." (most = 0: no bound). */
void ckpt_buf_escape(
	struct ckpt_buf *buf, const void *bytes, size_t n, size_t most);

/* Bytes of a file that a message shows of a name or string. */
enum { CKPT_BUF_SHOWN = 80 };

/* The same in double quotes: "..."; of more than CKPT_BUF_SHOWN bytes the
 * first, and how many there are. */
void ckpt_buf_quote(struct ckpt_buf *buf, const void *bytes, size_t n);

#endif
