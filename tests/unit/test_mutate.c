/* SPDX-License-Identifier: MIT */
/*
 * The mutator and drafts: what each edit does, and that nothing else changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "cli/forge_edit.h"
#include "format/alias.h"
#include "support/roundtrip.h"
#include "wire/literal.h"

#define TINY      "corpus/llmcp35/good/tiny.ckpt"
#define STEP_ZERO "corpus/llmcp35/good/step-zero.ckpt"
#define BPE       "corpus/llmcp35/good/bpe-no-merges.ckpt"

static struct ckpt_buf
file_bytes(const char *path)
{
	struct ckpt_buf bytes = { 0 };
	struct stat st;

	if (forge_read(path, &bytes, &st) != 0)
		fail_msg("%s cannot be read", path);
	return bytes;
}

static void
open_draft(struct ckpt_draft *draft, const struct ckpt_buf *bytes)
{
	assert_int_equal(
		ckpt_draft_open(draft, bytes->p, bytes->n), CKPT_EDIT_OK);
}

static enum ckpt_edit_status
edit(struct ckpt_draft *draft, enum ckpt_draft_edit kind, const char *words)
{
	return ckpt_draft_apply(draft, kind, words);
}

static void
must(struct ckpt_draft *draft, enum ckpt_draft_edit kind, const char *words)
{
	if (edit(draft, kind, words) != CKPT_EDIT_OK)
		fail_msg("%s: %s", words ? words : "",
			draft->why ? draft->why : "no such path");
}

/* ---- values ------------------------------------------------------------- */

static void
test_mutate_reads_numbers(void **state)
{
	static const struct {
		enum ckpt_type type;
		const char *text;
		bool good;
		uint64_t bits;
	} rows[] = {
		{ CKPT_U8, "255", true, 255 },
		{ CKPT_U8, "256", false, 0 },
		{ CKPT_U16, "0xffff", true, 0xffff },
		{ CKPT_U32, "4294967296", false, 0 },
		{ CKPT_U64, "18446744073709551615", true, UINT64_MAX },
		{ CKPT_U64, "18446744073709551616", false, 0 },
		{ CKPT_U64, "010", true, 10 },
		{ CKPT_U64, "-1", false, 0 },
		{ CKPT_U64, " 1", false, 0 },
		{ CKPT_U64, "1x", false, 0 },
		{ CKPT_U64, "", false, 0 },
		{ CKPT_U64, "0x", false, 0 },
		{ CKPT_F64, "-0.0", true, 0x8000000000000000 },
		{ CKPT_F64, "1.5", true, 0x3ff8000000000000 },
		{ CKPT_F64, "0x1p-1074", true, 1 },
		{ CKPT_F64, "-inf", true, 0xfff0000000000000 },
		{ CKPT_F64, "bits:7ff0000000000001", true, 0x7ff0000000000001 },
		{ CKPT_F64, "bits:", false, 0 },
		{ CKPT_F64, "bits:00000000000000001", false, 0 },
		{ CKPT_F64, "one", false, 0 },
		{ CKPT_F64, "", false, 0 },
		{ CKPT_STR, "1", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t bits = 0;

		assert_int_equal(ckpt_number_read(rows[i].type, NULL,
					 rows[i].text, &bits),
			rows[i].good);
		if (rows[i].good)
			assert_int_equal(bits, rows[i].bits);
	}
}

static void
test_mutate_reads_bytes(void **state)
{
	struct ckpt_arena arena;
	struct ckpt_str s;

	(void)state;
	ckpt_arena_init(&arena, UINT64_MAX);
	assert_true(ckpt_bytes_read(&arena, "a\\x00\\\\\\xFFb", &s));
	assert_int_equal(s.n, 5);
	assert_memory_equal(s.p,
		"a\0\\\xff"
		"b",
		5);
	assert_true(ckpt_bytes_read(&arena, "hex:00fF", &s));
	assert_int_equal(s.n, 2);
	assert_memory_equal(s.p, "\0\xff", 2);
	assert_true(ckpt_bytes_read(&arena, "", &s));
	assert_int_equal(s.n, 0);
	assert_false(ckpt_bytes_read(&arena, "hex:0", &s));
	assert_false(ckpt_bytes_read(&arena, "hex:zz", &s));
	assert_false(ckpt_bytes_read(&arena, "\\", &s));
	assert_false(ckpt_bytes_read(&arena, "\\x", &s));
	assert_false(ckpt_bytes_read(&arena, "\\x1", &s));
	assert_false(ckpt_bytes_read(&arena, "\\n", &s));
	ckpt_arena_release(&arena);
}

/* ---- single edits ------------------------------------------------------- */

static void
test_draft_without_edits_is_the_file(void **state)
{
	static const char *const files[] = { TINY, STEP_ZERO, BPE,
		"corpus/llmcp35/good/bpe.ckpt",
		"corpus/llmcp35/good/eleven-layers.ckpt",
		"corpus/llmcp35/bad/dtype.ckpt",
		"corpus/llmcp35/bad/trailing-byte.ckpt",
		"corpus/llmcp35/bad/offset-gap.ckpt",
		"corpus/llmcp35/bad/payload-end.ckpt",
		"corpus/llmcp35/bad/descriptors-one-less.ckpt",
		"corpus/llmcp35/unsupported/version-2.ckpt",
		"corpus/foreign/model.gguf" };

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct ckpt_buf bytes = file_bytes(files[i]);
		struct ckpt_draft d;

		open_draft(&d, &bytes);
		if (i < 5) {
			must(&d, CKPT_DRAFT_RELAYOUT, NULL);
			must(&d, CKPT_DRAFT_FIX_EXTENTS, NULL);
			must(&d, CKPT_DRAFT_FIX_CHECKSUM, NULL);
		}
		assert_int_equal(d.opaque, i >= 10);
		assert_int_equal(ckpt_draft_finish(&d), CKPT_EDIT_OK);
		assert_int_equal(d.bytes.n, bytes.n);
		assert_memory_equal(d.bytes.p, bytes.p, bytes.n);
		ckpt_draft_release(&d);
		ckpt_buf_release(&bytes);
	}
}

static void
test_draft_sets_one_field_and_no_other(void **state)
{
	struct ckpt_buf bytes = file_bytes(TINY);
	struct ckpt_draft d;

	(void)state;
	open_draft(&d, &bytes);
	must(&d, CKPT_DRAFT_SET, "header.selected_step=0x0102030405060708");
	assert_int_equal(d.change.off, 42);
	assert_int_equal(d.change.before.u64, 3);
	assert_int_equal(d.change.after.u64, 0x0102030405060708);
	assert_int_equal(ckpt_draft_finish(&d), CKPT_EDIT_OK);
	assert_memory_equal(d.bytes.p + 42, "\x8\x7\x6\x5\x4\x3\x2\x1", 8);
	ckpt_store_u64((uint8_t *)d.bytes.p + 42, 3);
	assert_memory_equal(d.bytes.p, bytes.p, bytes.n);
	assert_int_equal(edit(&d, CKPT_DRAFT_SET, "header.selected_step=1"),
		CKPT_EDIT_BAD);
	ckpt_draft_release(&d);
	ckpt_buf_release(&bytes);
}

static void
test_draft_lets_lies_stand(void **state)
{
	struct ckpt_buf bytes = file_bytes(TINY);
	struct ckpt_draft d;

	(void)state;
	open_draft(&d, &bytes);
	must(&d, CKPT_DRAFT_SET, "header.groups.decay.count=77");
	must(&d, CKPT_DRAFT_SET, "header.groups.decay[0].length=5");
	must(&d, CKPT_DRAFT_SET, "header.groups.no_decay[0].bytes=xyz");
	must(&d, CKPT_DRAFT_DELETE, "records[8]");
	assert_int_equal(ckpt_draft_finish(&d), CKPT_EDIT_OK);
	assert_int_equal(ckpt_load_u32((uint8_t *)d.bytes.p + 172), 77);
	assert_int_equal(ckpt_load_u32((uint8_t *)d.bytes.p + 176), 5);
	assert_memory_equal(d.bytes.p + 180, "token_embedding.weight", 22);
	assert_int_equal(ckpt_load_u32((uint8_t *)d.bytes.p + 206), 15);
	assert_memory_equal(d.bytes.p + 210, "xyz", 3);
	/* The payload of the record stays: its descriptor and twelve bytes
	 * of a name are gone. */
	assert_int_equal(d.bytes.n, bytes.n - (26 + 22 + 16) - 12);
	ckpt_draft_release(&d);
	ckpt_buf_release(&bytes);
}

static void
test_draft_refuses_what_is_not_there(void **state)
{
	static const struct {
		enum ckpt_draft_edit kind;
		const char *words;
		enum ckpt_edit_status status;
	} rows[] = {
		{ CKPT_DRAFT_SET, "header.steps=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "records[9].rank=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "token[3].rank=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "bpe.rank=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "param:x.rank=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "records[3].data[6]=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "records[3].data[0,2]=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "records[9].data=1", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SET, "header.selected_step", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SET, "records[3]=1", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SET, "records=1", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SET, "records[3].role=Weights", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SET, "fixed_header.magic=abc", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SET, "records[0].data[0]=256", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_DELETE, "records", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_DELETE, "records[9]", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_DELETE, "header[0]", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_DUPLICATE, "records[9]", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_INSERT, "records[0]=1", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_INSERT, "records[3].dims[3]=1",
			CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SWAP, "records[0]", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_SWAP, "records[0],records[9]", CKPT_EDIT_NO_PATH },
		{ CKPT_DRAFT_SWAP, "records[3].dims[0],records[4].dims[0]",
			CKPT_EDIT_BAD },
		{ CKPT_DRAFT_BYTES, "100000=00", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_BYTES, "18446744073709551615=00", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_BYTES, "1=0", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_FLIP, "0.8", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_FLIP, "100000.0", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_TRUNCATE, "100000", CKPT_EDIT_BAD },
		{ CKPT_DRAFT_MANGLE, "rot13", CKPT_EDIT_BAD },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ckpt_buf bytes = file_bytes(TINY);
		struct ckpt_draft d;

		open_draft(&d, &bytes);
		if (edit(&d, rows[i].kind, rows[i].words) != rows[i].status)
			fail_msg("%s", rows[i].words);
		if (rows[i].status == CKPT_EDIT_BAD)
			assert_non_null(d.why);
		assert_int_equal(ckpt_draft_finish(&d), CKPT_EDIT_OK);
		assert_int_equal(d.bytes.n, bytes.n);
		assert_memory_equal(d.bytes.p, bytes.p, bytes.n);
		ckpt_draft_release(&d);
		ckpt_buf_release(&bytes);
	}
}

static void
test_draft_of_a_header_that_cannot_be_parsed(void **state)
{
	struct ckpt_buf bytes =
		file_bytes("corpus/llmcp35/unsupported/version-2.ckpt");
	struct ckpt_draft d;

	(void)state;
	open_draft(&d, &bytes);
	assert_true(d.opaque);
	assert_int_equal(edit(&d, CKPT_DRAFT_SET, "fixed_header.version=1"),
		CKPT_EDIT_BAD);
	assert_int_equal(edit(&d, CKPT_DRAFT_RELAYOUT, NULL), CKPT_EDIT_BAD);
	must(&d, CKPT_DRAFT_BYTES, "8=0100");
	must(&d, CKPT_DRAFT_FIX_CHECKSUM, NULL);
	assert_true(roundtrip_judge("repaired", d.bytes.p, d.bytes.n));
	ckpt_draft_release(&d);
	ckpt_buf_release(&bytes);
}

static void
test_alias_names_records(void **state)
{
	static const char *const rows[][2] = {
		{ "token[1].rank", "records[1].rank" },
		{ "param:final_norm.gain.data[1]", "records[4].data[1]" },
		{ "first:final_norm.gain", "records[5]" },
		{ "second:token_embedding.weight.dims[0]",
			"records[8].dims[0]" },
		{ "param:final_norm", "param:final_norm" },
		{ "token[9]", "token[9]" },
		{ "tokens", "tokens" },
	};
	struct ckpt_buf bytes = file_bytes(TINY);
	struct ckpt_draft d;

	(void)state;
	open_draft(&d, &bytes);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_string_equal(ckpt_alias_expand(d.format, d.root,
					    &d.run->arena, rows[i][0]),
			rows[i][1]);
	ckpt_draft_release(&d);
	ckpt_buf_release(&bytes);
}

/* ---- relayout ----------------------------------------------------------- */

static struct ckpt_buf
synth(const char *more)
{
	const char *argv[] = { "ckforge", "synth", "--vocabulary=3",
		"--width=2", "--heads=1", "--feed-forward-width=1",
		"--positions=8", "--layers=0", "--step=3", "--groups=gains",
		more };
	char *words[sizeof argv / sizeof argv[0]];
	int argc = (int)(sizeof argv / sizeof argv[0]) - (more ? 0 : 1);
	struct ckpt_command subs[2] = { forge_synth_command, { 0 } };
	struct ckpt_command tool = { .name = "ckforge", .subs = subs };
	union forge_options options;
	struct ckpt_buf bytes = { 0 }, why = { 0 };
	struct ckpt_args args;

	memset(&options, 0, sizeof options);
	for (int i = 0; i < argc; i++)
		words[i] = strdup(argv[i]);
	assert_true(ckpt_args_parse(&args, &tool, &options, argc, words));
	assert_int_equal(forge_synth_bytes(&options.synth, &bytes, &why), 0);
	ckpt_args_release(&args);
	for (int i = 0; i < argc; i++)
		free(words[i]);
	ckpt_buf_release(&why);
	return bytes;
}

static void
test_relayout_grows_tokens_as_synth_makes_them(void **state)
{
	struct ckpt_buf small = synth(NULL), large = synth("--token-bytes=3");
	struct ckpt_draft d;

	(void)state;
	open_draft(&d, &small);
	must(&d, CKPT_DRAFT_SET, "token[0].data=aaa");
	must(&d, CKPT_DRAFT_SET, "records[1].data=hex:616162");
	must(&d, CKPT_DRAFT_SET, "token[2].data=aac");
	must(&d, CKPT_DRAFT_RELAYOUT, NULL);
	assert_int_equal(d.change.before.u64, small.n);
	assert_int_equal(d.change.after.u64, large.n);
	must(&d, CKPT_DRAFT_FIX_CHECKSUM, NULL);
	assert_int_equal(d.bytes.n, large.n);
	assert_memory_equal(d.bytes.p, large.p, large.n);
	ckpt_draft_release(&d);
	ckpt_buf_release(&small);
	ckpt_buf_release(&large);
}

static void
test_relayout_follows_moved_records(void **state)
{
	struct ckpt_buf bytes = file_bytes(TINY);
	struct ckpt_draft d;

	(void)state;
	open_draft(&d, &bytes);
	must(&d, CKPT_DRAFT_SWAP, "param:token_embedding.weight,records[4]");
	must(&d, CKPT_DRAFT_DUPLICATE, "records[0]");
	must(&d, CKPT_DRAFT_RELAYOUT, NULL);
	must(&d, CKPT_DRAFT_DELETE, "records[0]");
	must(&d, CKPT_DRAFT_SWAP, "records[3],records[4]");
	must(&d, CKPT_DRAFT_RELAYOUT, NULL);
	must(&d, CKPT_DRAFT_FIX_CHECKSUM, NULL);
	assert_int_equal(d.bytes.n, bytes.n);
	assert_memory_equal(d.bytes.p, bytes.p, bytes.n);
	ckpt_draft_release(&d);
	ckpt_buf_release(&bytes);
}

/* ---- the rows of the command line --------------------------------------- */

static void
test_mutate_rows_are_well_made(void **state)
{
	static const char *const use[] = { "SUBCOMMAND", NULL };
	struct ckpt_command subs[3] = { forge_mutate_command,
		forge_corpus_command, { 0 } };
	struct ckpt_command tool = { .name = "ckforge",
		.title = "forge",
		.use = use,
		.date = "today",
		.subs = subs };
	struct ckpt_buf why = { 0 };

	(void)state;
	if (!ckpt_command_check(&tool, &why))
		fail_msg("%s", why.p ? why.p : "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutate_reads_numbers),
		cmocka_unit_test(test_mutate_reads_bytes),
		cmocka_unit_test(test_draft_without_edits_is_the_file),
		cmocka_unit_test(test_draft_sets_one_field_and_no_other),
		cmocka_unit_test(test_draft_lets_lies_stand),
		cmocka_unit_test(test_draft_refuses_what_is_not_there),
		cmocka_unit_test(test_draft_of_a_header_that_cannot_be_parsed),
		cmocka_unit_test(test_alias_names_records),
		cmocka_unit_test(
			test_relayout_grows_tokens_as_synth_makes_them),
		cmocka_unit_test(test_mutate_rows_are_well_made),
		cmocka_unit_test(test_relayout_follows_moved_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
