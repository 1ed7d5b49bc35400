/* SPDX-License-Identifier: MIT */
/*
 * Every field of a training checkpoint, by its path, to many other values: what
 * comes of it is refused, or it is a checkpoint of its own, which says exactly
 * what stands in it, or it says the same as before in other words. Nothing is
 * accepted and then passed over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "cli/forge_edit.h"
#include "format/archive.h"
#include "format/draft.h"
#include "replay/session.h"
#include "sink/save.h"
#include "sink/state.h"
#include "support/published.h"

enum { WORDS = 4096 };

/* What may come of an edit. */
enum outcome {
	REFUSED,
	ANOTHER, /* a checkpoint that says something else, all of it */
	SAME,    /* it means what it meant */
};

/* A file whose fields are tried. */
struct tried {
	struct ckpt_buf bytes;
	struct ckpt_run *run; /* of the bytes as they are */
	const struct safetensors_file *file;
	size_t outcomes[SAME + 1];
};

/* path NULL: the published job. */
static void
try_begin(struct tried *t, const char *path)
{
	struct ckpt_source *source;
	struct stat st;

	*t = (struct tried){ 0 };
	if (!path)
		published_archive(&t->bytes);
	else if (forge_read(path, &t->bytes, &st) != 0)
		fail_msg("%s cannot be read: make corpus", path);
	t->run = ckpt_run_new(NULL);
	source = ckpt_source_memory(t->bytes.p, t->bytes.n);
	assert_true(t->run && source);
	assert_int_equal(ckpt_verify(t->run, source), CKPT_VALID);
	ckpt_source_close(source);
	t->file = t->run->decoded;
}

static void
try_end(struct tried *t)
{
	ckpt_run_free(t->run);
	ckpt_buf_release(&t->bytes);
}

/* The header's text without the blanks behind it. */
static size_t
text_length(const struct ckpt_buf *b, size_t *data)
{
	size_t n = (size_t)ckpt_load_u64((const uint8_t *)b->p);

	*data = 8 + n;
	while (n > 0 && b->p[8 + n - 1] == ' ')
		n--;
	return n;
}

/* An edit does not pad the header anew. */
static bool
same(const struct ckpt_buf *a, const struct ckpt_buf *b)
{
	size_t x, y, n = text_length(a, &x);

	return n == text_length(b, &y) && memcmp(a->p + 8, b->p + 8, n) == 0 &&
	       a->n - x == b->n - y &&
	       memcmp(a->p + x, b->p + y, a->n - x) == 0;
}

static enum outcome
outcome_of(struct tried *t, const char *words, const struct ckpt_buf *bytes)
{
	struct ckpt_source *source = ckpt_source_memory(bytes->p, bytes->n);
	struct ckpt_buf again = { 0 };
	struct ckpt_checkpoint *c;
	enum ckpt_status status;
	enum outcome outcome = REFUSED;

	assert_non_null(source);
	source->name = "x.safetensors";
	status = ckpt_checkpoint_read(source, NULL, &c);
	if (status == CKPT_OK) {
		assert_int_equal(ckpt_encode(&again, &ckpt_format_archive,
					 &c->state, NULL),
			CKPT_OK);
		outcome = same(&again, &t->bytes) ? SAME : ANOTHER;
		if (outcome == ANOTHER && !same(&again, bytes))
			fail_msg("%s: accepted, and not all of it counts",
				words);
	} else if (!ckpt_run_primary(c->run)) {
		fail_msg("%s: refused without a reason", words);
	}
	ckpt_checkpoint_free(c);
	ckpt_source_close(source);
	ckpt_buf_release(&again);
	return outcome;
}

static enum outcome
try_edit(struct tried *t, enum ckpt_draft_edit kind, const char *words)
{
	struct ckpt_draft d;
	enum outcome outcome;

	assert_int_equal(
		ckpt_draft_open(&d, t->bytes.p, t->bytes.n), CKPT_EDIT_OK);
	if (ckpt_draft_apply(&d, kind, words) != CKPT_EDIT_OK)
		fail_msg("%s cannot be made", words);
	outcome = outcome_of(t, words, &d.bytes);
	t->outcomes[outcome]++;
	ckpt_draft_release(&d);
	return outcome;
}

__attribute__((format(printf, 2, 3))) static enum outcome
try_set(struct tried *t, const char *format, ...)
{
	char words[WORDS];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(words, sizeof words, format, args);
	va_end(args);
	assert_in_range(n, 1, WORDS - 1);
	return try_edit(t, CKPT_DRAFT_SET, words);
}

/* ---- metadata ----------------------------------------------------------- */

/* The key of a row of the tables, or ARCHIVE_KEYS. */
static enum archive_key
key_of(const struct tried *t, uint32_t entry)
{
	const struct archive *a = t->file->archive;

	for (enum archive_key k = 0; k < ARCHIVE_KEYS; k++)
		if (a->keys[k].there && a->keys[k].entry == entry)
			return k;
	return ARCHIVE_KEYS;
}

/* Keys whose values are free within bounds that were tried. */
static bool
may_be_another(enum archive_key key, uint64_t layers)
{
	switch (key) {
	case ARCHIVE_FEED_FORWARD: return layers == 0;
	case ARCHIVE_POSITIONS: /* and the window stays below */
	case ARCHIVE_WINDOW:
	case ARCHIVE_DATA:
	case ARCHIVE_ARITHMETIC:
	case ARCHIVE_EXECUTABLE:
	case ARCHIVE_RECOMPUTE: return true;
	default: return false;
	}
}

static void
try_entry(struct tried *t, uint32_t i)
{
	static const char *const values[] = { "", "0", "1", "2", "3", "00",
		"01", "-1", "1.0", "1e0", " 1", "1 ", "4294967296",
		"18446744073709551615", "18446744073709551616", "x", "\\x00",
		"\\xc3\\xa9", "portable-model", "training-checkpoint",
		"text-decoder-v1", "backbone-v1", "token_embedding.weight",
		"final_norm.gain", "\\x0a", "final_norm.gain\\x0a",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
		"abcde0",
		"0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789"
		"abcdef" };
	enum archive_key key = key_of(t, i);
	char words[WORDS];

	assert_true(key < ARCHIVE_KEYS);
	for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
		if (try_set(t, "metadata[%u].value=%s", i, values[v]) ==
				ANOTHER &&
			!may_be_another(key, t->file->archive->config.layers))
			fail_msg("%s=%s is accepted", archive_keys[key].name,
				values[v]);
	snprintf(words, sizeof words, "metadata[%u]", i);
	/* Both group lists are there, or none. */
	assert_int_equal(try_edit(t, CKPT_DRAFT_DELETE, words), REFUSED);
	assert_int_equal(try_edit(t, CKPT_DRAFT_DUPLICATE, words), REFUSED);
	assert_int_equal(
		try_set(t, "metadata[%u].key=%s.", i, archive_keys[key].name),
		REFUSED);
	assert_int_equal(try_set(t, "metadata[%u].key=x", i), REFUSED);
}

static void
test_archive_mutate_metadata(void **state)
{
	struct tried t;

	(void)state;
	for (int layers = 0; layers < 2; layers++) {
		try_begin(&t,
			layers ? NULL
			       : "corpus/archive/good/training.safetensors");
		for (uint32_t i = 0; i < t.file->metadata.n; i++)
			try_entry(&t, i);
		assert_true(t.outcomes[REFUSED] > 600);
		assert_in_range(t.outcomes[ANOTHER], 5, 60);
		assert_true(t.outcomes[SAME] > 5);
		try_end(&t);
	}
}

/* A value written with an escape is the same value. */
static void
test_archive_mutate_spelling(void **state)
{
	struct tried t;

	(void)state;
	try_begin(&t, "corpus/archive/good/training.safetensors");
	for (uint32_t i = 0; i < t.file->metadata.n; i++) {
		enum archive_key key = key_of(&t, i);
		const struct ckpt_str *text = &t.file->archive->keys[key].text;

		if (text->n > 0 && text->p[0] > ' ')
			assert_int_equal(
				try_set(&t,
					"metadata[%u].key=json:\"\\u%04x%s\"",
					i, archive_keys[key].name[0],
					archive_keys[key].name + 1),
				SAME);
	}
	try_end(&t);
}

/* ---- tensors ------------------------------------------------------------ */

static void
try_record(struct tried *t, uint32_t i)
{
	static const char *const dtypes[] = { "F64", "F32", "U64", "I64", "U32",
		"I32", "C64", "BOOL", "F65", "" };
	const struct safetensors_tensor *tensor =
		&SAFETENSORS_TENSORS(t->file)[i];
	char words[WORDS];

	for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
		assert_int_equal(
			try_set(t, "tensors[%u].dtype=%s", i, dtypes[d]),
			strcmp(dtypes[d], tensor->dtype->name) == 0 ? SAME
								    : REFUSED);
	for (uint32_t k = 0; k < tensor->shape.n; k++) {
		uint64_t dim = SAFETENSORS_SHAPE(tensor)[k];

		assert_int_equal(try_set(t, "tensors[%u].shape[%u]=%" PRIu64, i,
					 k, dim + 1),
			REFUSED);
		/* The same number of elements, in another rank. */
		assert_int_equal(
			try_set(t, "tensors[%u].shape[%u]=%" PRIu64 ",1", i, k,
				dim),
			REFUSED);
	}
	for (uint32_t k = 0; k < 2; k++)
		assert_int_equal(
			try_set(t, "tensors[%u].data_offsets[%u]=%" PRIu64, i,
				k, (k ? tensor->end : tensor->begin) + 8),
			REFUSED);
	assert_int_equal(try_set(t, "tensors[%u].name=x", i), REFUSED);
	assert_int_equal(
		try_set(t, "tensors[%u].name=optimizer.first.x", i), REFUSED);
	snprintf(words, sizeof words, "tensors[%u]", i);
	assert_int_equal(try_edit(t, CKPT_DRAFT_DUPLICATE, words), REFUSED);
	assert_int_equal(try_edit(t, CKPT_DRAFT_DELETE, words), REFUSED);
}

static void
test_archive_mutate_tensors(void **state)
{
	struct tried t;

	(void)state;
	try_begin(&t, "corpus/archive/good/training.safetensors");
	for (uint32_t i = 0; i < t.file->tensors.n; i++)
		try_record(&t, i);
	assert_int_equal(t.outcomes[ANOTHER], 0);
	assert_true(t.outcomes[REFUSED] > 400);
	try_end(&t);
}

/* ---- values ------------------------------------------------------------- */

/* Small tensors of which any value of the right kind will do. */
static bool
is_free(enum archive_small row, unsigned i)
{
	return row == ARCHIVE_TRAVERSALS || row == ARCHIVE_SAMPLING ||
	       (row == ARCHIVE_COUNTER && i == 1);
}

static void
try_small(struct tried *t, enum archive_small row, unsigned i)
{
	static const char *const words[] = { "0", "1", "2", "3", "4", "255",
		"9007199254740993", "9223372036854775808",
		"18446744073709551615" };
	static const char *const reals[] = { "0", "-0.0", "1", "-1", "0.5",
		"0.25", "6", "0x1p-1074", "0x1p-1022", "0x1p-1023", "0x1p1023",
		"0x1.fffffffffffffp1023", "bits:7ff0000000000000",
		"bits:fff0000000000000", "bits:7ff8000000000000",
		"bits:fff0000000000001", "bits:3ff0000000000001" };
	bool real = archive_small[row].dtype[0] == 'F';
	const char *const *values = real ? reals : words;
	size_t n = real ? sizeof reals / sizeof reals[0]
			: sizeof words / sizeof words[0];
	size_t refused = t->outcomes[REFUSED];

	for (size_t v = 0; v < n; v++) {
		enum outcome outcome = try_set(t, "tensor:%s.data[%u]=%s",
			archive_small[row].name, i, values[v]);

		/* Not a number, infinite, or below 0: never. */
		if (real && v >= 12 && v < n - 1)
			assert_int_equal(outcome, REFUSED);
		if (real && v == 3)
			assert_int_equal(outcome, REFUSED);
	}
	if (is_free(row, i))
		assert_int_equal(t->outcomes[REFUSED], refused);
	else
		assert_true(t->outcomes[REFUSED] > refused);
}

static void
test_archive_mutate_small_values(void **state)
{
	struct tried t;

	(void)state;
	try_begin(&t, "corpus/archive/good/training.safetensors");
	for (enum archive_small row = 0; row < ARCHIVE_SMALL; row++) {
		uint64_t n = archive_small[row].dims[0];

		if (row == ARCHIVE_ORDER)
			n = 3;
		for (unsigned i = 0; i < n; i++)
			try_small(&t, row, i);
	}
	assert_true(t.outcomes[REFUSED] > 200);
	try_end(&t);
}

static void
test_archive_mutate_weights_and_moments(void **state)
{
	static const char *const prefixes[] = { "", "optimizer.first.",
		"optimizer.second." };
	struct tried t;

	(void)state;
	try_begin(&t, "corpus/archive/good/training.safetensors");
	for (size_t i = 0; i < 3; i++) {
		const char *p = prefixes[i];

		assert_int_equal(
			try_set(&t, "tensor:%sfinal_norm.gain.data[1]=7", p),
			ANOTHER);
		assert_int_equal(
			try_set(&t, "tensor:%sfinal_norm.gain.data[1]=-0.0", p),
			ANOTHER);
		assert_int_equal(
			try_set(&t,
				"tensor:%sfinal_norm.gain.data[1]=-0x1p-1074",
				p),
			i == 2 ? REFUSED : ANOTHER);
		for (size_t k = 0; k < 4; k++) {
			static const char *const bad[] = { "7ff0000000000000",
				"fff0000000000000", "7ff0000000000001",
				"fff8000000000000" };

			/* The last value of the largest tensor. */
			assert_int_equal(
				try_set(&t,
					"tensor:%stoken_embedding.weight."
					"data[257,1]=bits:%s",
					p, bad[k]),
				REFUSED);
		}
	}
	try_end(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archive_mutate_metadata),
		cmocka_unit_test(test_archive_mutate_spelling),
		cmocka_unit_test(test_archive_mutate_tensors),
		cmocka_unit_test(test_archive_mutate_small_values),
		cmocka_unit_test(test_archive_mutate_weights_and_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
