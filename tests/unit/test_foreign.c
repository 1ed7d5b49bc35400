/* SPDX-License-Identifier: MIT */
/*
 * Files of other kinds are named, and are refused all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "support/judged.h"

/* A copy that stands alone, so that a sanitiser sees a read past its end. */
static const char *
name_of(const void *bytes, size_t n)
{
	static char text[160];
	uint8_t *copy = calloc(1, n ? n : 1);
	const char *name;

	if (n)
		memcpy(copy, bytes, n);
	name = ckpt_foreign_name(copy, n, text, sizeof text);
	free(copy);
	return name;
}

static const struct {
	const char *bytes;
	size_t n; /* 0: up to the NUL */
	const char *word;
} kinds[] = {
	{ "version https://git-lfs.github.com/spec/v1\noid sha256:00\n"
	  "size 6330\n",
		0, "6330 bytes" },
	{ "version https://git-lfs.github.com/spec/v1\n", 0, "Git LFS" },
	{ "<!DOCTYPE HTML><p>", 0, "HTML" },
	{ "\r\n\r\n\r\n\r\n  <html>\r\n", 0, "HTML" },
	{ "<?xml version='1.0'?><Error/>", 0, "XML" },
	{ "{\"error\":\"not found\"}", 0, "JSON" },
	{ "[\r\n1,\r\n2,\r\n3,\r\n4]", 0, "JSON" },
	{ "PK\003\004aaaa", 0, "zip" },
	{ "\x1f\x8b\x08", 0, "gzip" },
	{ "\x28\xb5\x2f\xfd", 0, "zstd" },
	{ "GGUF\x03", 0, "GGUF" },
	{ "\x93NUMPY\x01", 0, "NumPy" },
	{ "\x80\x02}q", 0, "pickle" },
	{ "\x80\x05\x95", 0, "pickle" },
	{ "\0\0\0\0\0\0\0\0\0\0\0\0", 12, "zero" },
	{ "../../blobs/0123456789abcdef", 0, "symbolic link" },
	{ "model.safetensors", 0, "symbolic link" },
	{ "pytorch_model-00001-of-00002.bin", 0, "symbolic link" },
	{ "LLMCP35\r", 0, "damaged magic" },
	{ "a\r\nb\r\nc\r\nd\r\n", 0, "CR LF" },
	{ "a\xef\xbf\xbd"
	  "b\xef\xbf\xbd",
		0, "U+FFFD" },
};

static void
test_foreign_kinds_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t n = kinds[i].n ? kinds[i].n : strlen(kinds[i].bytes);
		const char *name = name_of(kinds[i].bytes, n);
		struct judged j;

		if (!name || !strstr(name, kinds[i].word))
			fail_msg("%s: %s", kinds[i].word, name ? name : "-");
		assert_int_equal(ckpt_foreign_is_text_copy(name),
			strcmp(kinds[i].word, "CR LF") == 0 ||
				strcmp(kinds[i].word, "U+FFFD") == 0);
		judged_bytes(&j, kinds[i].bytes, n);
		assert_int_equal(j.verdict, CKPT_INVALID);
		assert_string_equal(
			judged_primary(&j), n < 38 ? "CK1001" : "CK1002");
		assert_string_equal(ckpt_run_primary(j.run)->note, name);
		assert_null(ckpt_run_format(j.run, NULL));
		judged_free(&j);
	}
}

static void
test_foreign_unknown_and_good_files_have_no_name(void **state)
{
	static const char *const unknown[] = { "hello", "x", "\x7f",
		"some text with / and more", "{\x01", "\x80\x02",
		".safetensors", "model.safetensors\n", "my model.bin", "a.b" };

	(void)state;
	assert_null(name_of("", 0));
	assert_null(name_of("LLMCP35\0\1\0", 10));
	for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
		assert_null(name_of(unknown[i], strlen(unknown[i])));
}

/* What was sniffed may end inside a character. */
static void
test_foreign_json_cut_inside_a_character(void **state)
{
	char text[4096];

	(void)state;
	memset(text, ' ', sizeof text);
	text[0] = '{';
	for (size_t i = 5; i + 3 <= sizeof text; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 3);
	for (size_t n = 4000; n <= sizeof text; n++)
		assert_non_null(name_of(text, n));
	text[100] = '\xff';
	assert_null(name_of(text, sizeof text));
}

/* Every prefix of everything, for the sanitisers. */
static void
test_foreign_prefixes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t n = kinds[i].n ? kinds[i].n : strlen(kinds[i].bytes);

		for (size_t k = 0; k < n; k++) {
			const char *name = name_of(kinds[i].bytes, k);

			assert_true(!name || *name);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreign_kinds_are_named),
		cmocka_unit_test(
			test_foreign_unknown_and_good_files_have_no_name),
		cmocka_unit_test(test_foreign_json_cut_inside_a_character),
		cmocka_unit_test(test_foreign_prefixes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
