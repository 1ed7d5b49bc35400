/* SPDX-License-Identifier: MIT */
/*
 * Edits by path of a header that is text: they change what they name and the
 * header's length, paths lead to where things are after the edits before, and
 * no path that the format names can be edited into a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/draft.h"
#include "support/judged.h"

static const char header[] =
	"{\"__metadata__\":{\"a\":\"1\",\"b\":\"2\"},"
	"\"w\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]},"
	"\"v\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[8,10]}}  ";

static size_t
make(uint8_t *bytes)
{
	size_t n = strlen(header);

	ckpt_store_u64(bytes, n);
	memcpy(bytes + 8, header, n);
	memcpy(bytes + 8 + n, "\0\0\x80\x3f\0\0\0\x40\1\2", 10);
	return 8 + n + 10;
}

struct edit {
	enum ckpt_draft_edit edit;
	const char *words;
};

/* Applies edits up to { 0, NULL }; the text of the header, and the bytes
 * behind it. */
static void
apply(struct ckpt_draft *draft, const struct edit *edits)
{
	uint8_t bytes[512];
	size_t n = make(bytes);

	assert_int_equal(ckpt_draft_open(draft, bytes, n), CKPT_EDIT_OK);
	assert_true(draft->textual);
	for (; edits->words; edits++)
		if (ckpt_draft_apply(draft, edits->edit, edits->words) !=
			CKPT_EDIT_OK)
			fail_msg("%s: %s", edits->words,
				draft->why ? draft->why : "?");
	assert_int_equal(ckpt_draft_finish(draft), CKPT_EDIT_OK);
}

static void
expect_header(const struct edit *edits, const char *want, const char *data,
	size_t ndata)
{
	struct ckpt_draft draft;
	size_t n = strlen(want);

	apply(&draft, edits);
	assert_int_equal(draft.bytes.n, 8 + n + ndata);
	assert_int_equal(ckpt_load_u64((uint8_t *)draft.bytes.p), n);
	if (memcmp(draft.bytes.p + 8, want, n) != 0)
		fail_msg("%.*s", (int)n, draft.bytes.p + 8);
	assert_memory_equal(draft.bytes.p + 8 + n, data, ndata);
	ckpt_draft_release(&draft);
}

#define DATA "\0\0\x80\x3f\0\0\0\x40\1\2"

static void
test_draft_text_sets_what_it_names(void **state)
{
	static const struct edit edits[] = {
		{ CKPT_DRAFT_SET, "tensor:w.dtype=BF16" },
		{ CKPT_DRAFT_SET, "tensors[1].name=x\"\\x0a=y" },
		{ CKPT_DRAFT_SET, "tensors[0].shape[1]=-0" },
		{ CKPT_DRAFT_SET, "tensors[1].data_offsets[0]=007" },
		{ CKPT_DRAFT_SET, "metadata[1].value=" },
		{ CKPT_DRAFT_SET, "metadata[0].key=json:17" },
		{ 0, NULL },
	};

	(void)state;
	expect_header(edits + 0,
		"{\"__metadata__\":{17:\"1\",\"b\":\"\"},"
		"\"w\":{\"dtype\":\"BF16\",\"shape\":[1,-0],"
		"\"data_offsets\":[0,8]},"
		"\"x\\\"\\u000a=y\":{\"dtype\":\"U8\",\"shape\":[2],"
		"\"data_offsets\":[007,10]}}  ",
		DATA, 10);
}

static void
test_draft_text_takes_out_and_doubles(void **state)
{
	static const struct edit edits[] = {
		{ CKPT_DRAFT_DELETE, "metadata[0]" },
		{ CKPT_DRAFT_DELETE, "metadata[0]" },
		{ CKPT_DRAFT_DUPLICATE, "tensors[0]" },
		{ CKPT_DRAFT_DELETE, "tensors[2]" },
		{ CKPT_DRAFT_DELETE, "tensors[1].shape[1]" },
		{ CKPT_DRAFT_DUPLICATE, "tensors[0].shape[0]" },
		{ 0, NULL },
	};

	(void)state;
	expect_header(edits,
		"{\"__metadata__\":{},"
		"\"w\":{\"dtype\":\"F32\",\"shape\":[1,1,2],"
		"\"data_offsets\":[0,8]},"
		"\"w\":{\"dtype\":\"F32\",\"shape\":[1],"
		"\"data_offsets\":[0,8]}}  ",
		DATA, 10);
}

static void
test_draft_text_sets_values(void **state)
{
	static const struct edit edits[] = {
		{ CKPT_DRAFT_SET, "tensor:w.data[1]=-1.5" },
		{ CKPT_DRAFT_SET, "tensor:w.data[0,0]=0x7fc00001" },
		{ CKPT_DRAFT_SET, "tensor:v.data=hex:0a0b0c" },
		{ 0, NULL },
	};

	(void)state;
	expect_header(
		edits, header, "\1\0\xc0\x7f\0\0\xc0\xbf\x0a\x0b\x0c", 11);
}

/* What cannot be done leaves the file as it was. */
static void
test_draft_text_refuses(void **state)
{
	static const struct {
		enum ckpt_draft_edit edit;
		const char *words;
		enum ckpt_edit_status status;
	} rows[] = {
		{ CKPT_DRAFT_SET, "tensors[2].name=x", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "tensors[0].shape[2]=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "tensors[0].shape=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "tensors[0].name", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "tensors[0].data[2]=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "tensors[0].data[0,2]=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "metadata[2].key=x", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "nothing=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "tensors[1].data[0]=256", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SET, "tensors[0].data[0]=x", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SET, "header_bytes=-1", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_DELETE, "tensors[0].name", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SWAP, "tensors[0],tensors[1]", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_INSERT, "tensors[0]=x", CKPT_EDIT_BAD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_draft draft;
		uint8_t bytes[512];
		size_t n = make(bytes);

		assert_int_equal(
			ckpt_draft_open(&draft, bytes, n), CKPT_EDIT_OK);
		if (ckpt_draft_apply(&draft, rows[i].edit, rows[i].words) !=
			rows[i].status)
			fail_msg("%s", rows[i].words);
		assert_int_equal(draft.bytes.n, n);
		assert_memory_equal(draft.bytes.p, bytes, n);
		ckpt_draft_release(&draft);
	}
}

/* Every path with every value ends in a file that is judged. */
static void
test_draft_text_every_field_every_value(void **state)
{
	static const char *const paths[] = { "header_bytes", "metadata[0]",
		"metadata[0].key", "metadata[1].value", "tensors[0]",
		"tensors[0].name", "tensors[0].dtype", "tensors[0].shape[1]",
		"tensors[0].data_offsets[0]", "tensors[1].data_offsets[1]",
		"tensors[0].data", "tensors[1].data[1]" };
	static const char *const values[] = { "", "0", "1", "-1",
		"18446744073709551615", "18446744073709551616",
		"json:", "json:null", "json:{}", "json:[[[[[[[[[",
		"json:\"\\ud800\"", "json:1,2", "json:}", "hex:ff", "w", "v",
		"__metadata__" };

	(void)state;
	for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++)
		for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
			struct ckpt_draft draft;
			uint8_t bytes[512];
			size_t n = make(bytes);
			struct judged j;
			char words[128];

			snprintf(words, sizeof words, "%s=%s", paths[p],
				values[v]);
			assert_int_equal(ckpt_draft_open(&draft, bytes, n),
				CKPT_EDIT_OK);
			if (ckpt_draft_apply(&draft, CKPT_DRAFT_SET, words) ==
				CKPT_EDIT_OK) {
				judged_named(&j, "x.safetensors", draft.bytes.p,
					draft.bytes.n);
				assert_int_not_equal(
					j.verdict, CKPT_NOT_VERIFIED);
				judged_free(&j);
			}
			ckpt_draft_release(&draft);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_draft_text_sets_what_it_names),
		cmocka_unit_test(test_draft_text_takes_out_and_doubles),
		cmocka_unit_test(test_draft_text_sets_values),
		cmocka_unit_test(test_draft_text_refuses),
		cmocka_unit_test(test_draft_text_every_field_every_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
