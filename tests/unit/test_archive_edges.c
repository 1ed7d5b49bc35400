/* SPDX-License-Identifier: MIT */
/*
 * Archives that are wrong in one or two places: every finding of each, so that
 * nothing is said that does not follow, and what is said first. Most stand on
 * an edge of a rule: a key that is the beginning of another one, a number of
 * one digit too many, a list longer than there can be names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "cli/forge_edit.h"
#include "diag/run.h"
#include "format/draft.h"
#include "wire/value.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Sixteen lines of a list. */
#define LINES   "a\\x0ab\\x0ac\\x0ad\\x0ae\\x0af\\x0ag\\x0ah\\x0a"
#define SIXTEEN LINES LINES

static const struct row {
	const char *base;
	/* What is set; or deleted, behind "-", or appended, behind "+". */
	const char *edits[6];
	const char *found;
} rows[] = {
	/* What the file is. */
	{ "backbone", { "metadata[7].value=portable" },
		"CK5701 metadata[7].value\n" },
	{ "backbone", { "metadata[7].value=" }, "CK5701 metadata[7].value\n" },
	{ "backbone", { "metadata[8].value=" }, "CK5702 metadata[8].value\n" },
	{ "backbone", { "metadata[7].key=ckpt.", "metadata[8].key=other" },
		"CK5706 metadata ckpt.kind\n" },
	{ "backbone",
		{ "metadata[7].key=ckpt", "metadata[8].key=ckpt_version" },
		"" },
	/* Keys. */
	{ "backbone", { "metadata[6].key=backbone.wid" },
		"CK5706 metadata backbone.width\n"
		"CK5707 metadata[6].key\n" },
	{ "backbone", { "metadata[0].key=backbone.", "metadata[2].key=head." },
		"CK5706 metadata backbone.context_window\n"
		"CK5706 metadata backbone.heads\n"
		"CK5707 metadata[0].key\n"
		"CK5707 metadata[2].key\n" },
	{ "backbone", { "metadata[6].value=184467440737095516150" },
		"CK5708 metadata[6].value\n" },
	{ "backbone", { "metadata[6].value=18446744073709551616" },
		"CK5708 metadata[6].value\n" },
	{ "text", { "metadata[11].value=01" }, "CK5708 metadata[11].value\n" },
	{ "text", { "metadata[11].value=" }, "CK5708 metadata[11].value\n" },
	{ "text", { "metadata[11].value=10" }, "CK5705 metadata[11].value\n" },
	{ "text", { "metadata[12].value=0" }, "CK5714 metadata[12].value\n" },
	{ "step-zero", { "metadata[19].value=" SIXTEEN SIXTEEN },
		"CK5812 metadata[19].value\n" },
	/* Behind settings that cannot be, tensors are not judged. */
	{ "backbone",
		{ "metadata[5].value=18446744073709551615",
			"metadata[4].value=2" },
		"CK5712 metadata[5].value\n" },
	/* Tensors. */
	{ "backbone", { "tensor:final_norm.gain.name=head." },
		"CK5721 header final_norm.gain\n"
		"CK5722 tensors[9].name\n" },
	{ "backbone", { "tensor:final_norm.gain.name=lm_head." },
		"CK5721 header final_norm.gain\n"
		"CK5722 tensors[9].name\n" },
	{ "backbone", { "tensor:final_norm.gain.name=head" },
		"CK5721 header final_norm.gain\n"
		"CK5723 tensors[9].name\n" },
	{ "backbone", { "tensor:final_norm.gain.name=blocks." },
		"CK5721 header final_norm.gain\n"
		"CK5723 tensors[9].name\n" },
	/* Parameter 11 of a file of eleven tensors. */
	{ "backbone",
		{ "metadata[4].value=2", "tensor:final_norm.gain.name="
					 "blocks.1.attention.key.weight" },
		"CK5721 header blocks.1.attention_norm.gain\n"
		"CK5725 tensors[9].shape\n" },
	{ "training", { "-tensor:tokenizer.merges" },
		"CK5721 header tokenizer.merges\n" },
	/* Behind tensors that are missing, groups are not judged. */
	{ "training",
		{ "-tensor:tokenizer.merges", "metadata[19].value=zebra" },
		"CK5721 header tokenizer.merges\n" },
	/* What is missing stands in the order of the tables. */
	{ "training",
		{ "-tensor:tokenizer.merges",
			"tensor:optimizer.first.final_norm.gain.name=other" },
		"CK5721 header optimizer.first.final_norm.gain\n"
		"CK5721 header tokenizer.merges\n"
		"CK5723 tensors[9].name\n" },
	/* Merges: of another rank; as many as ids can be, and one more. */
	{ "text",
		{ "tensor:tokenizer.merges.shape[0]=2",
			"tensor:tokenizer.merges.shape[1]=1,1" },
		"CK5725 tensors[3].shape\n" },
	{ "text",
		{ "tensor:tokenizer.merges.shape[0]=4294967038",
			"tensor:tokenizer.merges.data_offsets[1]=34359740480",
			"metadata[12].value=4294967296" },
		"CK1106 tensors[3].data_offsets\n"
		"CK5725 tensors[2].shape\n" },
	{ "text",
		{ "tensor:tokenizer.merges.shape[0]=4294967039",
			"tensor:tokenizer.merges.data_offsets[1]=34359740488",
			"metadata[12].value=4294967297" },
		"CK1106 tensors[3].data_offsets\n"
		"CK5714 metadata[12].value\n"
		"CK5725 tensors[2].shape\n" },
	/* (98, 98), (97, 97), and both again. */
	{ "text",
		{ "metadata[12].value=262",
			"tensor:token_embedding.weight.shape[0]=262",
			"tensor:token_embedding.weight.data_offsets[1]=4224",
			"tensor:tokenizer.merges.shape[0]=4",
			"tensor:tokenizer.merges.data_offsets[0]=4224",
			"tensor:tokenizer.merges.data_offsets[1]=4256" },
		"CK5732 tensors[3].data[2,0]\n" },
	/* None of the bounds is a power of two, nor is their order right. */
	{ "step-zero",
		{ "tensor:scaler.bounds.data[0]=3",
			"tensor:scaler.bounds.data[1]=5",
			"tensor:scaler.bounds.data[2]=1.5" },
		"CK5861 tensors[14].data[0]\n" },
};

static const char merges[] =
	"00000000000000000000000000000000000000000000000000000000000000000000"
	"00000000000062000000620000006100000061000000610000006100000062000000"
	"62000000";

static void
edit(struct ckpt_draft *d, const char *words)
{
	bool deletes = *words == '-';

	if (ckpt_draft_apply(d, deletes ? CKPT_DRAFT_DELETE : CKPT_DRAFT_SET,
		    words + deletes) != CKPT_EDIT_OK)
		fail_msg("%s: %s", words, d->why);
}

static void
make(const struct row *row, struct ckpt_draft *d)
{
	struct ckpt_buf bytes = { 0 };
	struct stat st;
	char path[128];

	snprintf(path, sizeof path, "corpus/archive/good/%s.safetensors",
		row->base);
	if (forge_read(path, &bytes, &st) != 0)
		fail_msg("%s cannot be read: make corpus", path);
	assert_int_equal(ckpt_draft_open(d, bytes.p, bytes.n), CKPT_EDIT_OK);
	for (size_t i = 0; i < COUNT(row->edits) && row->edits[i]; i++)
		edit(d, row->edits[i]);
	if (row->edits[5])
		assert_int_equal(ckpt_draft_apply(d, CKPT_DRAFT_APPEND, merges),
			CKPT_EDIT_OK);
	assert_int_equal(ckpt_draft_finish(d), CKPT_EDIT_OK);
	ckpt_buf_release(&bytes);
}

/* What is missing has no place of its own, and is named. */
static void
add(struct ckpt_buf *found, const struct ckpt_diag *d)
{
	ckpt_buf_printf(found, "%s %s", d->rule->id, d->path);
	if (strcmp(d->path, "header") == 0 ||
		strcmp(d->path, "metadata") == 0) {
		ckpt_buf_puts(found, " ");
		ckpt_value_write(found, &d->expected);
	}
	ckpt_buf_puts(found, "\n");
}

static void
expect(const struct row *row, const struct ckpt_options *options,
	const char *wanted)
{
	struct ckpt_run *run = ckpt_run_new(options);
	struct ckpt_buf found = { 0 };
	struct ckpt_source *source;
	struct ckpt_draft d;

	make(row, &d);
	source = ckpt_source_memory(d.bytes.p, d.bytes.n);
	assert_true(run && source);
	ckpt_verify(run, source);
	ckpt_source_close(source);
	ckpt_buf_puts(&found, "");
	for (size_t i = 0; i < ckpt_run_finding_count(run); i++)
		add(&found, ckpt_run_finding(run, i));
	if (strcmp(found.p, wanted) != 0)
		fail_msg("%s %s:\n%sinstead of\n%s", row->base, row->edits[0],
			found.p, wanted);
	ckpt_buf_release(&found);
	ckpt_draft_release(&d);
	ckpt_run_free(run);
}

static void
test_archive_edges_of_the_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(&rows[i], NULL, rows[i].found);
}

/* An option that cannot apply is all that is said of any archive. */
static void
test_archive_edges_of_options(void **state)
{
	const struct ckpt_options off = { .values = CKPT_VALUES_OFF };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (*rows[i].found)
			expect(&rows[i], &off, "CK9007 \n");
}

/* Of a text that breaks, nobody knows what it would have been. */
static void
test_archive_edges_of_a_broken_header(void **state)
{
	(void)state;
	for (unsigned cut = 0; cut < 2; cut++) {
		struct ckpt_run *run = ckpt_run_new(NULL);
		struct ckpt_source *source;
		struct ckpt_draft d;
		uint8_t *p;

		make(&rows[0], &d);
		p = (uint8_t *)d.bytes.p;
		/* The closing brace stands in front of three spaces. */
		ckpt_store_u64(p, ckpt_load_u64(p) - 4 * cut);
		source = ckpt_source_memory(d.bytes.p, d.bytes.n);
		assert_true(run && source);
		assert_int_equal(ckpt_verify(run, source), CKPT_INVALID);
		assert_string_equal(ckpt_run_primary(run)->rule->id,
			cut ? "CK2113" : "CK5701");
		assert_string_equal(ckpt_run_format(run, NULL),
			cut ? "safetensors" : "ckpt-archive");
		ckpt_source_close(source);
		ckpt_draft_release(&d);
		ckpt_run_free(run);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archive_edges_of_the_rules),
		cmocka_unit_test(test_archive_edges_of_options),
		cmocka_unit_test(test_archive_edges_of_a_broken_header),
	};

	return cmocka_run_group_tests_name("archive edges", tests, NULL, NULL);
}
