/* SPDX-License-Identifier: MIT */
/*
 * Tokenizers: the ids of encodings that were worked out by hand, every error
 * of decoding in its order, expansions that double with each rank, and the
 * property that decoding undoes encoding for any bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "model/rng.h"
#include "model/tokenizer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, MERGES = 4096 };

struct bpe {
	uint8_t pairs[MERGES * 8];
	struct ckpt_tensor piece;
	struct ckpt_tokenizer t;
};

static void
bpe_add(struct bpe *b, uint32_t left, uint32_t right)
{
	ckpt_store_u32(b->pairs + b->piece.len, left);
	ckpt_store_u32(b->pairs + b->piece.len + 4, right);
	b->piece.len += 8;
	b->t.vocabulary++;
}

static struct bpe *
bpe_new(void)
{
	struct bpe *b = calloc(1, sizeof *b);

	assert_non_null(b);
	b->piece.data = b->pairs;
	b->t = (struct ckpt_tokenizer){ CKPT_BYTE_BPE, CKPT_TOKEN_MERGES,
		&b->piece, 1 };
	return b;
}

/* (a,b), (256,c), (a,a): ids 258, 259, 260. */
static struct bpe *
sample(void)
{
	struct bpe *b = bpe_new();

	bpe_add(b, 'a', 'b');
	bpe_add(b, 256, 'c');
	bpe_add(b, 'a', 'a');
	return b;
}

static void
assert_encodes(
	const struct bpe *b, const char *text, const uint32_t *want, size_t n)
{
	uint32_t ids[64];
	size_t got = ckpt_bpe_encode(
		&b->t, (const uint8_t *)text, strlen(text), ids);

	assert_int_equal(got, n);
	assert_memory_equal(ids, want, n * sizeof *ids);
}

#define ENCODES(b, text, ...)                                                  \
	do {                                                                   \
		const uint32_t want_[] = { __VA_ARGS__ };                      \
		assert_encodes(                                                \
			b, text, want_, sizeof want_ / sizeof want_[0]);       \
	} while (0)

static void
test_tokenizer_encodes_rank_by_rank(void **state)
{
	struct bpe *b = sample();

	(void)state;
	assert_encodes(b, "", NULL, 0);
	ENCODES(b, "z", 'z' + 2);
	ENCODES(b, "abc", 259);
	ENCODES(b, "ab", 258);
	/* Matches do not overlap: the last a stays. */
	ENCODES(b, "aaa", 260, 'a' + 2);
	ENCODES(b, "aaaa", 260, 260);
	/* Rank 0 takes its a before rank 2 may have it. */
	ENCODES(b, "aab", 'a' + 2, 258);
	ENCODES(b, "ababcaa", 258, 259, 260);
	free(b);
}

/* A merge is an operand like any other, on the side where it stands. */
static void
test_tokenizer_merges_what_was_merged(void **state)
{
	struct bpe *b = bpe_new();

	(void)state;
	bpe_add(b, 'x', 'y'); /* 258 */
	bpe_add(b, 'a', 'a'); /* 259 */
	bpe_add(b, 257, 257); /* 260: aaaa */
	bpe_add(b, 'a', 257); /* 261: a, then aa */
	ENCODES(b, "aaaaa", 260, 'a' + 2);
	ENCODES(b, "aaa", 259, 'a' + 2);
	free(b);
}

static void
test_tokenizer_document_has_controls_outside(void **state)
{
	struct bpe *b = bpe_new();
	uint32_t ids[4];

	(void)state;
	/* Bytes 0 and 1 are not the controls. */
	assert_int_equal(ckpt_bpe_encode_document(
				 &b->t, (const uint8_t *)"\0\1", 2, ids),
		4);
	assert_int_equal(ids[0], 0);
	assert_int_equal(ids[1], 2);
	assert_int_equal(ids[2], 3);
	assert_int_equal(ids[3], 1);
	assert_int_equal(ckpt_bpe_encode_document(&b->t, NULL, 0, ids), 2);
	assert_int_equal(ids[0], 0);
	assert_int_equal(ids[1], 1);
	free(b);
}

static void
test_tokenizer_decoding_undoes_encoding(void **state)
{
	struct bpe *b = sample();
	struct ckpt_rng rng = { 7 };
	struct ckpt_decode_fault fault;

	(void)state;
	for (uint32_t k = 0; k < 200; k++)
		bpe_add(b, (uint32_t)(ckpt_rng_draw(&rng) % (256 + 3 + k)),
			(uint32_t)(ckpt_rng_draw(&rng) % (256 + 3 + k)));
	for (int k = 0; k < 500; k++) {
		uint8_t bytes[40];
		uint32_t ids[42];
		size_t n = ckpt_rng_draw(&rng) % sizeof bytes, m;
		struct ckpt_buf out = { 0 };

		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)ckpt_rng_draw(&rng);
		/* Half of them of few letters, so that much merges. */
		for (size_t i = 0; k % 2 && i < n; i++)
			bytes[i] = (uint8_t)('a' + bytes[i] % 3);
		m = ckpt_bpe_encode_document(&b->t, bytes, n, ids);
		assert_true(m <= n + 2);
		assert_int_equal(
			ckpt_decode_document(&b->t, ids, m, MOST, &out, &fault),
			CKPT_DECODED);
		assert_int_equal(out.n, n);
		assert_memory_equal(n ? out.p : "", bytes, n);
		ckpt_buf_release(&out);
	}
	free(b);
}

struct refused {
	size_t n;
	uint32_t ids[5];
	enum ckpt_decoding want;
	size_t position;
	uint32_t id;
};

/* A control anywhere comes before an unknown id anywhere. */
static void
test_tokenizer_refuses_in_order(void **state)
{
	static const struct refused content[] = {
		{ 2, { 2, 0 }, CKPT_DECODE_CONTROL, 1, 0 },
		{ 1, { 1 }, CKPT_DECODE_CONTROL, 0, 1 },
		{ 3, { 9999, 2, 1 }, CKPT_DECODE_CONTROL, 2, 1 },
		{ 3, { 2, 261, 9999 }, CKPT_DECODE_UNKNOWN, 1, 261 },
	};
	static const struct refused documents[] = {
		{ 1, { 0 }, CKPT_DECODE_TOO_FEW, 0, 0 },
		{ 2, { 2, 2 }, CKPT_DECODE_NO_BOS, 0, 2 },
		{ 2, { 9999, 0 }, CKPT_DECODE_NO_BOS, 0, 9999 },
		{ 2, { 0, 2 }, CKPT_DECODE_NO_EOS, 1, 2 },
		{ 5, { 0, 9999, 1, 2, 1 }, CKPT_DECODE_CONTROL, 2, 1 },
		{ 4, { 0, 2, 261, 1 }, CKPT_DECODE_UNKNOWN, 2, 261 },
	};
	struct bpe *b = sample();
	struct ckpt_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < 4 + 6; i++) {
		const struct refused *r =
			i < 4 ? &content[i] : &documents[i - 4];
		struct ckpt_decode_fault fault = { 77, 77 };

		assert_int_equal(
			(i < 4 ? ckpt_decode_content : ckpt_decode_document)(
				&b->t, r->ids, r->n, MOST, &out, &fault),
			r->want);
		assert_int_equal(fault.position, r->position);
		assert_int_equal(fault.id, r->id);
		assert_int_equal(out.n, 0);
	}
	free(b);
}

/* 200 doublings stand for 2^200 bytes; a chain of thousands of ranks is as
 * deep as there are ranks. */
static void
test_tokenizer_expands_no_more_than_asked(void **state)
{
	struct bpe *b = bpe_new();
	struct ckpt_decode_fault fault;
	struct ckpt_buf out = { 0 };
	uint32_t last[] = { CKPT_TOKEN_MERGES + 199, 'z' + 2 };

	(void)state;
	bpe_add(b, 'a', 'b');
	for (uint32_t r = 1; r < 200; r++)
		bpe_add(b, 255 + r, 255 + r);
	assert_int_equal(ckpt_decode_content(&b->t, last, 2, 5, &out, &fault),
		CKPT_DECODED_PART);
	assert_int_equal(out.n, 5);
	assert_memory_equal(out.p, "ababa", 5);
	ckpt_buf_clear(&out);
	last[0] = CKPT_TOKEN_MERGES + 1;
	assert_int_equal(ckpt_decode_content(&b->t, last, 2, 5, &out, &fault),
		CKPT_DECODED);
	assert_int_equal(out.n, 5);
	assert_memory_equal(out.p, "ababz", 5);
	ckpt_buf_clear(&out);
	for (uint32_t r = 200; r < MERGES; r++)
		bpe_add(b, r == 200 ? 'x' : 255 + r, 'y');
	last[0] = CKPT_TOKEN_MERGES + MERGES - 1;
	assert_int_equal(
		ckpt_decode_content(&b->t, last, 1, MOST, &out, &fault),
		CKPT_DECODED);
	assert_int_equal(out.n, MERGES - 200 + 1);
	assert_int_equal(out.p[0], 'x');
	assert_int_equal(out.p[out.n - 1], 'y');
	ckpt_buf_release(&out);
	free(b);
}

static void
test_tokenizer_literal_is_concatenation(void **state)
{
	static const struct ckpt_tensor pieces[] = {
		{ .len = 1, .data = (const uint8_t *)"a" },
		{ .len = 3, .data = (const uint8_t *)"\0bc" },
		{ .len = 2, .data = (const uint8_t *)"\xff\n" },
	};
	static const struct ckpt_tokenizer t = { CKPT_LITERAL, 3, pieces, 3 };
	static const uint32_t ids[] = { 2, 0, 1, 0, 3 };
	struct ckpt_decode_fault fault = { 0 };
	struct ckpt_buf out = { 0 };

	(void)state;
	assert_int_equal(ckpt_decode_content(&t, ids, 4, MOST, &out, &fault),
		CKPT_DECODED);
	assert_int_equal(out.n, 7);
	assert_memory_equal(out.p, "\xff\na\0bca", 7);
	ckpt_buf_clear(&out);
	assert_int_equal(ckpt_decode_content(&t, ids, 4, 4, &out, &fault),
		CKPT_DECODED_PART);
	assert_int_equal(out.n, 4);
	ckpt_buf_clear(&out);
	assert_int_equal(ckpt_decode_content(&t, ids, 5, MOST, &out, &fault),
		CKPT_DECODE_UNKNOWN);
	assert_int_equal(fault.position, 4);
	assert_int_equal(fault.id, 3);
	assert_int_equal(ckpt_decode_content(&t, ids, 0, MOST, &out, &fault),
		CKPT_DECODED);
	assert_int_equal(out.n, 0);
	ckpt_buf_release(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokenizer_encodes_rank_by_rank),
		cmocka_unit_test(test_tokenizer_merges_what_was_merged),
		cmocka_unit_test(test_tokenizer_document_has_controls_outside),
		cmocka_unit_test(test_tokenizer_decoding_undoes_encoding),
		cmocka_unit_test(test_tokenizer_refuses_in_order),
		cmocka_unit_test(test_tokenizer_expands_no_more_than_asked),
		cmocka_unit_test(test_tokenizer_literal_is_concatenation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
