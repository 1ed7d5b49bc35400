/* SPDX-License-Identifier: MIT */
/*
 * Escaping: known answers, then every byte and every pair of bytes: nothing of
 * what was given can be markup or end an attribute, and what a browser reads
 * back is what the sanitiser wrote.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sink/html.h"

/* Bytes of a file, as every section writes them. */
static void
write_hostile(struct ckpt_buf *buf, const void *bytes, size_t n)
{
	struct ckpt_buf words;

	ckpt_buf_init(&words);
	ckpt_buf_escape(&words, bytes, n, 0);
	ckpt_html_take(buf, &words);
	assert_int_equal(words.n, 0);
	ckpt_buf_release(&words);
}

static void
known_answers(void **state)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "", "" },
		{ "plain.name", "plain.name" },
		{ "<script>alert(1)</script>",
			"&lt;script&gt;alert(1)&lt;/script&gt;" },
		{ "\" onload='x'", "&quot; onload=&#39;x&#39;" },
		{ "&lt;", "&amp;lt;" },
		{ "a\nb\x1b[31m", "a\\nb\\x1b[31m" },
		{ "\xe2\x80\xaetxt.exe", "\\u{202e}txt.exe" },
		{ "\xff<", "\\xff&lt;" },
		{ "]]>--><!--", "]]&gt;--&gt;&lt;!--" },
		{ "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac" },
	};
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ckpt_buf_clear(&buf);
		ckpt_buf_puts(&buf, "");
		write_hostile(&buf, rows[i].from, strlen(rows[i].from));
		assert_string_equal(buf.p, rows[i].to);
	}
	ckpt_buf_release(&buf);
}

/* A browser's side: the five references back to their characters. Anything
 * else that is special means that the text was not safe. */
static void
read_back(struct ckpt_buf *to, const char *p)
{
	static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&quot;",
		"&#39;" };

	while (*p) {
		size_t i = 0;

		assert_null(strchr("<>\"'", *p));
		assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
		if (*p != '&') {
			ckpt_buf_add(to, p++, 1);
			continue;
		}
		while (strncmp(p, names[i], strlen(names[i])) != 0)
			assert_true(++i < 5);
		ckpt_buf_add(to, &"&<>\"'"[i], 1);
		p += strlen(names[i]);
	}
}

static void
every_pair_of_bytes(void **state)
{
	struct ckpt_buf html, back, plain;

	(void)state;
	ckpt_buf_init(&html);
	ckpt_buf_init(&back);
	ckpt_buf_init(&plain);
	for (unsigned i = 0; i < 0x10000; i++) {
		uint8_t pair[2] = { (uint8_t)(i >> 8), (uint8_t)i };

		ckpt_buf_clear(&html);
		ckpt_buf_clear(&back);
		ckpt_buf_clear(&plain);
		write_hostile(&html, pair, 2);
		ckpt_buf_escape(&plain, pair, 2, 0);
		read_back(&back, html.p);
		assert_string_equal(back.p, plain.p);
	}
	assert_false(html.failed);
	ckpt_buf_release(&html);
	ckpt_buf_release(&back);
	ckpt_buf_release(&plain);
}

/* Also what forgot to pass the sanitiser is not a control byte in the end. */
static void
no_control_byte_passes(void **state)
{
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	for (unsigned c = 0; c < 0x80; c++) {
		char byte = (char)c;

		ckpt_buf_clear(&buf);
		ckpt_html_add(&buf, &byte, 1);
		for (size_t i = 0; i < buf.n; i++)
			assert_true((unsigned char)buf.p[i] >= 0x20 &&
				    buf.p[i] != 0x7f);
	}
	ckpt_buf_release(&buf);
}

/* What failed to be said must not look as if it had been said. */
static void
failure_of_words_is_kept(void **state)
{
	struct ckpt_buf buf, words;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_buf_init(&words);
	words.failed = true;
	ckpt_html_take(&buf, &words);
	assert_true(buf.failed);
	ckpt_buf_release(&buf);
	ckpt_buf_release(&words);
}

/* Of "abc\n", by another program: openssl dgst -sha256 -binary | base64. */
static void
hash_of_lines(void **state)
{
	static const char *const lines[] = { "abc", NULL };
	struct ckpt_buf buf;

	(void)state;
	ckpt_buf_init(&buf);
	ckpt_html_lines_hash(&buf, lines);
	assert_string_equal(
		buf.p, "'sha256-7eqv8/F3StKIhnN3DG1kCX45G8Ni19b7NJgt3w79GMs='");
	ckpt_buf_clear(&buf);
	ckpt_html_lines(&buf, lines);
	assert_string_equal(buf.p, "abc\n");
	ckpt_buf_release(&buf);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(every_pair_of_bytes),
		cmocka_unit_test(no_control_byte_passes),
		cmocka_unit_test(failure_of_words_is_kept),
		cmocka_unit_test(hash_of_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
