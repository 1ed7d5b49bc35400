/* SPDX-License-Identifier: MIT */
/*
 * Every field of a file set to every odd value, every element of every array
 * moved, copied and removed, every bit flipped, every prefix taken: the result
 * is refused with a finding or encodes to itself again, and nothing crashes.
 * The fields come from the rows, so a new one is tested as soon as it is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/forge_edit.h"
#include "support/judged.h"
#include "support/roundtrip.h"

#define TINY      "corpus/llmcp35/good/tiny.ckpt"
#define STEP_ZERO "corpus/llmcp35/good/step-zero.ckpt"
#define BPE       "corpus/llmcp35/good/bpe-no-merges.ckpt"

struct tried {
	struct ckpt_buf bytes; /* of the file before */
	size_t edits, valid;
};

enum { WORDS = 400, BITS = 8 };

/* Flipped in every number; all others are flipped further below, but without
 * their neighbours being moved. */
static const unsigned bits[BITS] = { 1, 7, 15, 31, 32, 51, 52, 63 };

/* Into WORDS bytes. */
__attribute__((format(printf, 2, 3))) static void
spell(char *out, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out, WORDS, format, args);
	va_end(args);
	assert_in_range(n, 1, WORDS - 1);
}

static void
try_begin(struct tried *t, const char *path)
{
	struct stat st;

	memset(t, 0, sizeof *t);
	if (forge_read(path, &t->bytes, &st) != 0)
		fail_msg("%s cannot be read", path);
}

static void
try_end(struct tried *t)
{
	ckpt_buf_release(&t->bytes);
}

static void
must(struct ckpt_draft *draft, enum ckpt_draft_edit kind, const char *words)
{
	if (ckpt_draft_apply(draft, kind, words) != CKPT_EDIT_OK)
		fail_msg("%s cannot be made", words);
}

/* One edit, with or without a relayout, extents and checksum set right. */
static void
try_edit(struct tried *t, enum ckpt_draft_edit kind, const char *words,
	bool relayout)
{
	struct ckpt_draft d;

	assert_int_equal(
		ckpt_draft_open(&d, t->bytes.p, t->bytes.n), CKPT_EDIT_OK);
	must(&d, kind, words);
	if (relayout)
		must(&d, CKPT_DRAFT_RELAYOUT, "");
	must(&d, CKPT_DRAFT_FIX_CHECKSUM, "");
	t->valid += roundtrip_judge(words, d.bytes.p, d.bytes.n);
	t->edits++;
	ckpt_draft_release(&d);
}

static void
try_value(struct tried *t, const char *path, const char *value)
{
	char words[WORDS];

	spell(words, "%s=%s", path, value);
	try_edit(t, CKPT_DRAFT_SET, words, false);
}

/* What changes the length of the header is tried with all offsets right, too.
 */
static void
try_length(struct tried *t, const char *path, const char *value)
{
	char words[WORDS];

	spell(words, "%s=%s", path, value);
	try_edit(t, CKPT_DRAFT_SET, words, false);
	try_edit(t, CKPT_DRAFT_SET, words, true);
}

static void
try_integer(struct tried *t, const char *path, unsigned width, uint64_t old)
{
	uint64_t most = UINT64_MAX >> (64 - 8 * width);
	uint64_t values[12 + BITS] = { 0, 1, 2, 3, old + 1, old - 1, 2 * old,
		most, most - 1, most / 2, most / 2 + 1, most / 8 };
	unsigned n = 12;
	char text[WORDS];

	for (unsigned i = 0; i < BITS; i++)
		if (bits[i] < 8 * width)
			values[n++] = old ^ (uint64_t)1 << bits[i];
	for (unsigned i = 0; i < n; i++) {
		spell(text, "%llu", (unsigned long long)(values[i] & most));
		try_value(t, path, text);
	}
}

static void
try_real(struct tried *t, const char *path, uint64_t old)
{
	static const char *const values[] = { "0", "-0.0", "1", "-1", "2",
		"nan", "bits:7ff0000000000001", "inf", "-inf", "0x1p-1074",
		"-0x1p-1074", "bits:7fefffffffffffff", "bits:ffefffffffffffff",
		"0x1.fffffffffffffp-1", "0x1.0000000000001p0", "1e-300",
		"1e300" };
	char text[WORDS];

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		try_value(t, path, values[i]);
	for (unsigned i = 0; i < BITS; i++) {
		spell(text, "bits:%016llx",
			(unsigned long long)(old ^ (uint64_t)1 << bits[i]));
		try_value(t, path, text);
	}
}

static void
try_string(struct tried *t, const char *path, const struct ckpt_str *old)
{
	static const char *const values[] = { "", "a", ".", "a..b", "A",
		"\\xff", "\\xc3", "\\xed\\xa0\\x80", "\\x00", "hex:f09f9880",
		"token_embedding.weight", "final_norm.gain", "training-pairs",
		"0", "1", "00", "4294967296" };
	char part[WORDS];

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		try_length(t, path, values[i]);
		spell(part, "%s.bytes", path);
		try_length(t, part, values[i]);
	}
	spell(part, "%s.length", path);
	try_integer(t, part, 4, old->n);
}

/* Fields as a draft of the file has them. */
static void try_record(struct tried *t, const struct ckpt_record *rec,
	const void *base, const char *up);

static void
try_field(struct tried *t, const struct ckpt_field *field, const void *value,
	const char *path)
{
	unsigned width = ckpt_type_width(field->type);
	struct ckpt_str str;
	char up[WORDS];

	switch (field->type) {
	case CKPT_U8:
	case CKPT_U16:
	case CKPT_U32:
	case CKPT_U64:
		try_integer(
			t, path, width, ckpt_slot_load(value, 0, field->type));
		break;
	case CKPT_F64:
		try_real(t, path, ckpt_slot_load(value, 0, field->type));
		break;
	case CKPT_MAGIC: try_value(t, path, "hex:0000000000000000"); break;
	case CKPT_STR:
		memcpy(&str, value, sizeof str);
		try_string(t, path, &str);
		break;
	case CKPT_REC:
		spell(up, "%s.", path);
		try_record(t, field->rec, value, up);
		break;
	}
}

static void
try_moves(struct tried *t, const struct ckpt_field *field, const char *path,
	uint32_t i, uint32_t n)
{
	char words[WORDS];

	for (int relayout = 0; relayout < 2; relayout++) {
		spell(words, "%s[%u]", path, i);
		try_edit(t, CKPT_DRAFT_DELETE, words, relayout);
		try_edit(t, CKPT_DRAFT_DUPLICATE, words, relayout);
		spell(words, "%s[%u],%s[%u]", path, i, path, (i + 1) % n);
		try_edit(t, CKPT_DRAFT_SWAP, words, relayout);
		spell(words, "%s[%u]=%s", path, i + 1, "1");
		if (field->type != CKPT_REC)
			try_edit(t, CKPT_DRAFT_INSERT, words, relayout);
	}
}

static void
try_array(struct tried *t, const struct ckpt_field *field, const void *base,
	const char *path)
{
	struct ckpt_array array;
	char element[WORDS];

	memcpy(&array, (const uint8_t *)base + field->slot, sizeof array);
	if (field->prefixed) {
		spell(element, "%s.count", path);
		try_integer(t, element, 4, array.declared);
	}
	for (uint32_t i = 0; i < array.n; i++) {
		spell(element, "%s[%u]", path, i);
		try_moves(t, field, path, i, array.n);
		try_field(t, field, ckpt_array_at(field, base, i), element);
	}
}

static void
try_record(struct tried *t, const struct ckpt_record *rec, const void *base,
	const char *up)
{
	for (size_t i = 0; i < rec->nfields; i++) {
		const struct ckpt_field *field = &rec->fields[i];
		char path[WORDS];

		if (!ckpt_field_present(field, base))
			continue;
		spell(path, "%s%s", up, field->name);
		if (field->is_array)
			try_array(t, field, base, path);
		else
			try_field(t, field, (const uint8_t *)base + field->slot,
				path);
	}
}

/* Among so many edits some must leave a valid file, and most must not. */
static void
try_file(const char *path, size_t least)
{
	struct ckpt_draft d;
	struct tried t;

	try_begin(&t, path);
	assert_int_equal(
		ckpt_draft_open(&d, t.bytes.p, t.bytes.n), CKPT_EDIT_OK);
	try_record(&t, d.format->root, d.root, "");
	ckpt_draft_release(&d);
	assert_in_range(t.edits, least, 100 * least);
	assert_in_range(t.valid, 50, t.edits / 2);
	try_end(&t);
}

static void
test_mutate_every_field_with_moments(void **state)
{
	(void)state;
	try_file(TINY, 2000);
}

static void
test_mutate_every_field_with_layers(void **state)
{
	(void)state;
	try_file(STEP_ZERO, 2000);
}

static void
test_mutate_every_field_with_merges(void **state)
{
	(void)state;
	try_file(BPE, 500);
}

/* ---- bits and prefixes -------------------------------------------------- */

static void
test_mutate_every_bit(void **state)
{
	char words[WORDS];
	struct ckpt_draft d;
	struct tried t;

	(void)state;
	try_begin(&t, TINY);
	for (size_t i = 0; i < 8 * t.bytes.n; i++) {
		struct judged j;

		t.bytes.p[i / 8] = (char)(t.bytes.p[i / 8] ^ 1 << i % 8);
		judged_bytes(&j, t.bytes.p, t.bytes.n);
		if (j.verdict == CKPT_VALID || j.verdict == CKPT_NOT_VERIFIED)
			fail_msg("bit %zu of byte %zu", i % 8, i / 8);
		judged_free(&j);
		t.bytes.p[i / 8] = (char)(t.bytes.p[i / 8] ^ 1 << i % 8);
	}
	/* With the checksum set right: one draft of bytes for all. */
	assert_int_equal(
		ckpt_draft_open(&d, t.bytes.p, t.bytes.n), CKPT_EDIT_OK);
	for (size_t i = 0; i < 8 * t.bytes.n; i++) {
		spell(words, "%zu.%zu", i / 8, i % 8);
		must(&d, CKPT_DRAFT_FLIP, words);
		must(&d, CKPT_DRAFT_FIX_CHECKSUM, "");
		t.valid += roundtrip_judge(words, d.bytes.p, d.bytes.n);
		t.edits++;
		must(&d, CKPT_DRAFT_FLIP, words);
	}
	ckpt_draft_release(&d);
	assert_in_range(t.valid, 1000, t.edits - 1000);
	try_end(&t);
}

static void
test_mutate_every_prefix(void **state)
{
	struct tried t;

	(void)state;
	try_begin(&t, TINY);
	for (size_t n = 0; n < t.bytes.n; n++) {
		const char *kind;
		struct judged j;

		judged_bytes(&j, t.bytes.p, n);
		assert_int_equal(j.verdict, CKPT_INVALID);
		kind = ckpt_run_primary(j.run)->rule->seed_kind;
		assert_string_equal(kind, n < 38 ? "Truncated" : "FileExtent");
		judged_free(&j);
	}
	try_end(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutate_every_field_with_moments),
		cmocka_unit_test(test_mutate_every_field_with_layers),
		cmocka_unit_test(test_mutate_every_field_with_merges),
		cmocka_unit_test(test_mutate_every_bit),
		cmocka_unit_test(test_mutate_every_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
