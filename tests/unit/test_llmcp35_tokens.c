/* SPDX-License-Identifier: MIT */
/*
 * LLMCP35 tokenizers: repeats of literal tokens, merge operands, repeated
 * pairs, at any cut of the bytes; and the memory that all of it takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/build35.h"
#include "support/judged.h"

static void
literal(struct b35 *b, uint32_t tokens)
{
	b35_init(b);
	b35_literal(b, tokens);
	b35_model(b, 4, 2, 6, 0);
}

static void
set_token(struct b35 *b, uint32_t i, const void *p, uint64_t n)
{
	b35_payload(&b->records[i], p, n);
	b->records[i].dims[0] = n;
}

static void
check_repeat(struct b35 *b, uint32_t again, uint32_t earlier, uint64_t count)
{
	const struct ckpt_diag *d;
	struct judged j;
	char want[80];

	b35_build(b);
	for (size_t most = 1; most < 5000; most = most * 7 + 2) {
		judged_slowly(&j, b->bytes, b->n, most, false, UINT64_MAX);
		if (count == 0) {
			assert_int_equal(j.verdict, CKPT_VALID);
			judged_free(&j);
			continue;
		}
		d = ckpt_run_primary(j.run);
		assert_non_null(d);
		assert_string_equal(d->rule->id, "CK5004");
		snprintf(want, sizeof want, "token %u is token %u again", again,
			earlier);
		assert_string_equal(d->found.p, want);
		assert_int_equal(d->off, b->records[again].data_at);
		assert_int_equal(d->len, b->records[again].n);
		assert_int_equal(d->count, count);
		assert_int_equal(judged_faults(&j), 1);
		judged_free(&j);
	}
}

static void
test_llmcp35_tokens_repeats(void **state)
{
	uint8_t text[100];
	struct b35 b;

	(void)state;
	memset(text, 'x', sizeof text);
	literal(&b, 12);
	check_repeat(&b, 0, 0, 0);
	/* The first id that repeats, not the first in another order. */
	set_token(&b, 9, "0x", 2);
	check_repeat(&b, 9, 0, 1);
	set_token(&b, 5, "4x", 2);
	check_repeat(&b, 5, 4, 2);
	set_token(&b, 11, "4x", 2);
	check_repeat(&b, 5, 4, 3);
	b35_free(&b);
	/* Around the length of a digest: one byte more is another token, a
	 * last byte that differs too, the same bytes are not. */
	for (uint64_t n = 30; n < 36; n++) {
		literal(&b, 4);
		set_token(&b, 0, text, n);
		set_token(&b, 1, text, n + 1);
		text[n - 1] = 'y';
		set_token(&b, 2, text, n);
		check_repeat(&b, 0, 0, 0);
		set_token(&b, 3, text, n);
		check_repeat(&b, 3, 2, 1);
		text[n - 1] = 'x';
		b35_free(&b);
	}
}

/* A token may hold the bytes that the digest of another one is. */
static void
test_llmcp35_tokens_digest_is_no_token(void **state)
{
	/* SHA-256 of 33 times x. */
	static const uint8_t sha[32] = { 0x11, 0xba, 0x55, 0xa3, 0xa7, 0xc1,
		0xee, 0x0f, 0x8e, 0xb8, 0x86, 0x7d, 0xc4, 0x0a, 0x62, 0xc6,
		0x72, 0x40, 0xeb, 0x4a, 0x5e, 0xa1, 0x25, 0xee, 0x5c, 0x38,
		0x3f, 0xe9, 0x96, 0xb5, 0x7c, 0xd6 };
	struct b35 b;

	(void)state;
	literal(&b, 3);
	set_token(&b, 0, sha, 32);
	set_token(&b, 1, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 33);
	check_repeat(&b, 0, 0, 0);
	b35_free(&b);
}

static void
test_llmcp35_tokens_long_tokens_at_buffer_edges(void **state)
{
	enum { LONG = 300 * 1024 };
	uint8_t *text = malloc(LONG);
	struct judged j;
	struct b35 b;

	(void)state;
	for (size_t i = 0; i < LONG; i++)
		text[i] = (uint8_t)(i * 31 >> 3);
	literal(&b, 3);
	set_token(&b, 0, text, LONG);
	set_token(&b, 1, text, LONG);
	b.records[1].payload[LONG - 1] ^= 1;
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_int_equal(j.verdict, CKPT_VALID);
	judged_free(&j);
	set_token(&b, 2, b.records[1].payload, LONG);
	b35_build(&b);
	judged_bytes(&j, b.bytes, b.n);
	assert_string_equal(judged_primary(&j), "CK5004");
	judged_free(&j);
	b35_free(&b);
	free(text);
}

static void
bpe(struct b35 *b, uint32_t merges)
{
	b35_init(b);
	b35_bpe(b, merges);
	b35_model(b, 2, 1, 1, 0);
}

static void
set_pair(struct b35 *b, uint32_t rank, uint32_t left, uint32_t right)
{
	uint8_t *p = b->records[0].payload + 8 * (size_t)rank;

	for (unsigned k = 0; k < 4; k++) {
		p[k] = (uint8_t)(left >> (8 * k));
		p[4 + k] = (uint8_t)(right >> (8 * k));
	}
}

static void
check_merge(struct b35 *b, const char *id, uint32_t rank, unsigned side,
	const char *found, size_t faults)
{
	const struct ckpt_diag *d;
	struct judged j;
	char path[60];

	b35_build(b);
	snprintf(path, sizeof path, "records[0].data[%u,%u]", rank, side);
	for (size_t most = 1; most < 5000; most = most * 7 + 2) {
		judged_slowly(&j, b->bytes, b->n, most, true, UINT64_MAX);
		d = ckpt_run_primary(j.run);
		if (!id) {
			assert_int_equal(j.verdict, CKPT_VALID);
			judged_free(&j);
			continue;
		}
		assert_non_null(d);
		assert_string_equal(d->rule->id, id);
		assert_string_equal(d->path, path);
		assert_int_equal(
			d->off, b->records[0].data_at + 8 * rank + 4 * side);
		assert_string_equal(judged_value(&j, &d->found), found);
		assert_int_equal(judged_faults(&j), faults);
		judged_free(&j);
	}
}

static void
test_llmcp35_tokens_merges(void **state)
{
	struct b35 b;

	(void)state;
	bpe(&b, 0);
	check_merge(&b, NULL, 0, 0, NULL, 0);
	b35_free(&b);
	bpe(&b, 50);
	set_pair(&b, 10, 265, 265); /* rank 9's own result is 265 */
	check_merge(&b, NULL, 0, 0, NULL, 0);
	set_pair(&b, 40, 7, 7);
	set_pair(&b, 30, 7, 7);
	check_merge(&b, "CK5009", 40, 0, "(7, 7) again", 1);
	set_pair(&b, 41, 5, 7777);
	check_merge(&b, "CK5009", 40, 0, "(7, 7) again", 2);
	set_pair(&b, 20, 5, 276); /* its own result */
	check_merge(&b, "CK5008", 20, 1, "276", 2);
	set_pair(&b, 20, 276, 99999); /* the left one is named */
	check_merge(&b, "CK5008", 20, 0, "276", 2);
	set_pair(&b, 0, UINT32_MAX, 0);
	check_merge(&b, "CK5008", 0, 0, "4294967295", 2);
	b35_free(&b);
	/* Two values repeat: the smallest rank that does. */
	bpe(&b, 50);
	set_pair(&b, 45, 1, 0); /* rank 1 has it */
	set_pair(&b, 44, 9, 0); /* rank 9 has it */
	set_pair(&b, 46, 1, 0);
	check_merge(&b, "CK5009", 44, 0, "(9, 0) again", 1);
	b35_free(&b);
}

/* 200 merges that double: 2^200 bytes that nobody builds. */
static void
test_llmcp35_tokens_doubling_merges(void **state)
{
	struct b35 b;

	(void)state;
	bpe(&b, 200);
	for (uint32_t r = 1; r < 200; r++)
		set_pair(&b, r, 255 + r, 255 + r);
	check_merge(&b, NULL, 0, 0, NULL, 0);
	b35_free(&b);
}

/* Interface section 1: what verifying may take. */
static void
check_memory(struct b35 *b, uint64_t tokens, uint64_t merges)
{
	uint64_t bound, most, payload = 0, used;
	struct judged j;

	for (uint32_t i = 0; i < b->nrecords; i++)
		if (b->records[i].role <= 2)
			payload += b->records[i].n;
	b35_build(b);
	judged_bytes(&j, b->bytes, b->n);
	most = merges ? 8 * merges : 32 * tokens;
	most = most < payload ? most : payload;
	bound = ((uint64_t)16 << 20) + 4 * b->header_end + 4 * most;
	used = j.run->arena.used + j.run->words.used + j.run->texts.used +
	       j.run->diags.apart.used;
	if (used > bound)
		fail_msg("%llu bytes used, %llu allowed",
			(unsigned long long)used, (unsigned long long)bound);
	assert_null(judged_find(&j, "CK9003"));
	assert_null(judged_find(&j, "CK9004"));
	judged_free(&j);
	b35_free(b);
}

static void
test_llmcp35_tokens_memory_of_many_tokens(void **state)
{
	struct b35 b;

	(void)state;
	literal(&b, 300000);
	check_memory(&b, 300000, 0);
	/* Just beyond a power of two, where doubling arrays are half empty. */
	literal(&b, 262145);
	check_memory(&b, 262145, 0);
	/* All of them wrong: findings are bounded as well. */
	literal(&b, 300000);
	for (uint32_t i = 0; i < 300000; i++)
		b.records[i].dtype = 4;
	check_memory(&b, 300000, 0);
	literal(&b, 300000);
	for (uint32_t i = 0; i < 300000; i++)
		b.records[i].name[0] = 'x';
	check_memory(&b, 300000, 0);
}

static void
test_llmcp35_tokens_memory_of_many_merges(void **state)
{
	struct b35 b;

	(void)state;
	bpe(&b, 300000);
	for (uint32_t r = 65536; r < 300000; r++)
		set_pair(&b, r, r, r);
	check_memory(&b, 0, 300000);
	bpe(&b, 1000000);
	for (uint32_t r = 65536; r < 1000000; r++)
		set_pair(&b, r, r, r / 2);
	check_memory(&b, 0, 1000000);
	bpe(&b, 1048577); /* most of them repeat */
	check_memory(&b, 0, 1048577);
}

static void
test_llmcp35_tokens_memory_of_many_names(void **state)
{
	enum { NAMES = 200000 };
	char(*text)[12] = calloc(NAMES, sizeof *text);
	struct b35 b;

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		b35_small(&b);
		b.groups_flag = 1;
		b.ndecay = NAMES;
		b.decay = calloc(NAMES, sizeof *b.decay);
		for (uint32_t i = 0; i < NAMES; i++) {
			int n = snprintf(text[i], sizeof *text, "%x", i);

			if (kind == 1) /* not UTF-8 */
				text[i][0] = (char)0xff;
			b.decay[i] = (struct b35_str){ text[i],
				kind == 2 ? 0 : (uint32_t)n, { 0 } };
		}
		check_memory(&b, 3, 0);
	}
	free(text);
}

static void
test_llmcp35_tokens_memory_of_many_descriptors(void **state)
{
	char name[16];
	struct b35 b;

	(void)state;
	for (uint32_t kind = 0; kind < 2; kind++) {
		b35_small(&b);
		for (uint32_t i = 0; i < 100000; i++) {
			snprintf(name, sizeof name, "%x", i / (kind + 1));
			b35_add(&b, 3 + i % 3, name, 3, 0, 0, 0, 8);
		}
		b.parameters += 100000;
		check_memory(&b, 3, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_llmcp35_tokens_repeats),
		cmocka_unit_test(test_llmcp35_tokens_digest_is_no_token),
		cmocka_unit_test(
			test_llmcp35_tokens_long_tokens_at_buffer_edges),
		cmocka_unit_test(test_llmcp35_tokens_merges),
		cmocka_unit_test(test_llmcp35_tokens_doubling_merges),
		cmocka_unit_test(test_llmcp35_tokens_memory_of_many_tokens),
		cmocka_unit_test(test_llmcp35_tokens_memory_of_many_merges),
		cmocka_unit_test(test_llmcp35_tokens_memory_of_many_names),
		cmocka_unit_test(
			test_llmcp35_tokens_memory_of_many_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
