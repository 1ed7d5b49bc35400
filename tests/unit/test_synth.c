/* SPDX-License-Identifier: MIT */
/*
 * Made-up states: against values that were computed elsewhere, against the
 * rules that they promise to keep, and any piece of a tensor against the
 * whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "format/format.h"
#include "model/synth.h"
#include "sink/save.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ckpt_synth plain = {
	.config = { 5, 8, 2, 6, 2, 16, 10000.0, 1e-6, 0, 0 },
	.adamw = { 0.001, 0.9, 0.999, 1e-8, 0.01 },
	.tokenizer = CKPT_LITERAL,
	.step = 3,
	.gain_groups = true,
	.seed = 33,
	.sampling_rng_state = 35,
};

static void
make(struct ckpt_arena *arena, const struct ckpt_synth *synth,
	struct ckpt_state *state)
{
	ckpt_arena_init(arena, CKPT_MAX_MEMORY);
	assert_int_equal(ckpt_synth_state(arena, synth, state), CKPT_OK);
}

/* The whole content; the caller frees it. */
static uint8_t *
content(const struct ckpt_tensor *tensor)
{
	uint8_t *bytes = malloc((size_t)tensor->len + 1);

	assert_non_null(bytes);
	tensor->fill(tensor->fill_ctx, tensor, 0, bytes, (size_t)tensor->len);
	return bytes;
}

static bool
named(const struct ckpt_name *name, const char *text)
{
	return name->n == strlen(text) && memcmp(name->p, text, name->n) == 0;
}

/* ---- Known answers ------------------------------------------------------ */

static void
test_synth_makes_the_known_file(void **state)
{
	static const struct ckpt_synth synth = {
		.config = { 7, 6, 3, 5, 3, 5, 500.0, 1e-5, 0, 0 },
		.adamw = { 0.02, 0.9, 0.99, 1e-8, 0.1 },
		.tokenizer = CKPT_LITERAL,
		.seed = 1,
		.sampling_rng_state = 1,
	};
	struct ckpt_value label;
	struct ckpt_arena arena;
	struct ckpt_state made;
	struct ckpt_buf bytes;
	uint64_t n;

	(void)state;
	make(&arena, &synth, &made);
	ckpt_buf_init(&bytes);
	assert_int_equal(
		ckpt_encode(&bytes, ckpt_format_find("llmcp35"), &made, &label),
		CKPT_OK);
	assert_int_equal(bytes.n, 8676);
	assert_int_equal(label.kind, CKPT_V_HASH);
	assert_int_equal(label.u64, 0xdae9b18dc7729be8);
	assert_int_equal(
		ckpt_format_find("llmcp35")->measure(&made, &n), CKPT_OK);
	assert_int_equal(n, 8676);
	ckpt_buf_release(&bytes);
	ckpt_arena_release(&arena);
}

/* The first row of an embedding [5, 4] from seed 33. */
static void
test_synth_draws_known_weights(void **state)
{
	static const uint64_t bits[] = { 0xbfe1229d7c721a42, 0xbfe632531d2204ec,
		0xbfd5184930581c72, 0xbfe1d1bcef26e058 };
	struct ckpt_synth synth = plain;
	struct ckpt_arena arena;
	struct ckpt_state made;
	uint8_t *bytes;

	(void)state;
	synth.config.width = 4;
	make(&arena, &synth, &made);
	bytes = content(&made.parameters[0]);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ckpt_load_u64(bytes + 8 * i), bits[i]);
	free(bytes);
	ckpt_arena_release(&arena);
}

/* ---- What is promised --------------------------------------------------- */

static void
check_values(const struct ckpt_tensor *tensor, double low, double high)
{
	uint8_t *bytes = content(tensor);

	for (uint64_t i = 0; i < tensor->len; i += 8) {
		double x = ckpt_f64_from_bits(ckpt_load_u64(bytes + i));

		assert_true(x >= low && x <= high);
	}
	free(bytes);
}

static void
test_synth_values_keep_their_ranges(void **state)
{
	struct ckpt_arena arena;
	struct ckpt_state made;

	(void)state;
	make(&arena, &plain, &made);
	assert_int_equal(made.nparameters, 20);
	assert_int_equal(made.nmoments, 20);
	for (uint32_t i = 0; i < made.nparameters; i++) {
		const struct ckpt_tensor *t = &made.parameters[i];
		double limit =
			t->rank == 2
				? sqrt(6.0 / (double)(t->dims[0] + t->dims[1]))
				: 1.0;

		check_values(t, t->rank == 2 ? -limit : 1.0, limit);
	}
	for (uint32_t i = 0; i < made.nmoments; i++) {
		check_values(&made.first[i], -0x1p-7, 0x1p-7);
		check_values(&made.second[i], 0x1p-80, 0x1p-14);
	}
	ckpt_arena_release(&arena);
}

static void
test_synth_powers_are_multiplied(void **state)
{
	struct ckpt_synth synth = plain;
	struct ckpt_arena arena;
	struct ckpt_state made;

	(void)state;
	make(&arena, &synth, &made);
	assert_int_equal(ckpt_f64_bits(made.beta1_power),
		ckpt_f64_bits(0.9 * 0.9 * 0.9));
	assert_int_equal(ckpt_f64_bits(made.beta2_power),
		ckpt_f64_bits(0.999 * 0.999 * 0.999));
	ckpt_arena_release(&arena);
	synth.step = 0;
	make(&arena, &synth, &made);
	assert_int_equal(ckpt_f64_bits(made.beta1_power), ckpt_f64_bits(1.0));
	assert_int_equal(made.nmoments, 0);
	ckpt_arena_release(&arena);
	/* A power that has come to rest needs no more multiplications. */
	synth.step = UINT64_MAX;
	make(&arena, &synth, &made);
	assert_true(made.beta1_power >= 0.0 && made.beta1_power < 0x1p-1000);
	ckpt_arena_release(&arena);
}

static void
check_ascending(const struct ckpt_name *names, uint32_t n, bool gains)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *tail = (const char *)names[i].p + names[i].n - 5;

		assert_true((memcmp(tail, ".gain", 5) == 0) == gains);
		if (i > 0)
			assert_true(strcmp((const char *)names[i - 1].p,
					    (const char *)names[i].p) < 0);
	}
}

static void
test_synth_groups_are_sorted_and_complete(void **state)
{
	struct ckpt_synth synth = plain;
	struct ckpt_arena arena;
	struct ckpt_state made;

	(void)state;
	synth.config.layers = 11;
	make(&arena, &synth, &made);
	assert_true(made.groups);
	assert_int_equal(made.nno_decay, 2 * 11 + 1);
	assert_int_equal(made.ndecay, 7 * 11 + 1);
	check_ascending(made.decay, made.ndecay, false);
	check_ascending(made.no_decay, made.nno_decay, true);
	assert_true(
		named(&made.first[0].name, "blocks.0.attention.key.weight"));
	assert_true(
		named(&made.first[18].name, "blocks.10.attention.key.weight"));
	assert_true(named(&made.second[100].name, "token_embedding.weight"));
	ckpt_arena_release(&arena);
}

/* ---- Tokenizers --------------------------------------------------------- */

static void
check_piece(const struct ckpt_state *made, uint64_t i, const char *text)
{
	const struct ckpt_tensor *piece = &made->tokenizer.pieces[i];
	uint8_t *bytes = content(piece);

	assert_int_equal(piece->rank, 1);
	assert_int_equal(piece->dims[0], strlen(text));
	assert_int_equal(piece->len, strlen(text));
	assert_memory_equal(bytes, text, strlen(text));
	free(bytes);
}

static void
test_synth_pieces_are_distinct_numbers(void **state)
{
	struct ckpt_synth synth = plain;
	struct ckpt_arena arena;
	struct ckpt_state made;

	(void)state;
	make(&arena, &synth, &made);
	check_piece(&made, 0, "a");
	check_piece(&made, 4, "e");
	ckpt_arena_release(&arena);
	synth.config.vocabulary = 26 * 26 + 1;
	make(&arena, &synth, &made);
	check_piece(&made, 0, "aaa");
	check_piece(&made, 27, "abb");
	check_piece(&made, 26 * 26, "baa");
	ckpt_arena_release(&arena);
	synth.config.vocabulary = 26;
	synth.token_bytes = 4;
	synth.last_token_bytes = 6;
	make(&arena, &synth, &made);
	check_piece(&made, 1, "aaab");
	check_piece(&made, 25, "aaazaa");
	ckpt_arena_release(&arena);
}

static void
check_pairs(enum ckpt_merge_shape merge_shape, const uint32_t want[6])
{
	struct ckpt_synth synth = plain;
	struct ckpt_arena arena;
	struct ckpt_state made;
	uint8_t *bytes;

	synth.tokenizer = CKPT_BYTE_BPE;
	synth.merges = 3;
	synth.merge_shape = merge_shape;
	make(&arena, &synth, &made);
	assert_int_equal(made.tokenizer.vocabulary, 261);
	assert_int_equal(made.config.vocabulary, 261);
	assert_int_equal(made.parameters[0].dims[0], 261);
	assert_int_equal(made.tokenizer.npieces, 1);
	assert_int_equal(made.tokenizer.pieces[0].len, 24);
	bytes = content(&made.tokenizer.pieces[0]);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(ckpt_load_u32(bytes + 4 * i), want[i]);
	free(bytes);
	ckpt_arena_release(&arena);
}

static void
test_synth_merges_by_shape(void **state)
{
	(void)state;
	check_pairs(CKPT_MERGES_CHAIN,
		(const uint32_t[]){ 97, 98, 256, 99, 257, 100 });
	check_pairs(CKPT_MERGES_DOUBLING,
		(const uint32_t[]){ 97, 97, 256, 256, 257, 257 });
}

/* ---- Pieces of tensors -------------------------------------------------- */

static void
check_pieces_of(const struct ckpt_tensor *tensor, size_t width)
{
	static const size_t elements[] = { 1, 2, 3, 7, 64 };
	uint8_t *whole = content(tensor), piece[64 * 8];

	for (size_t k = 0; k < sizeof elements / sizeof elements[0]; k++) {
		size_t most = elements[k] * width;

		for (uint64_t off = 0; off < tensor->len; off += most) {
			size_t n = tensor->len - off < most
					   ? (size_t)(tensor->len - off)
					   : most;

			tensor->fill(tensor->fill_ctx, tensor, off, piece, n);
			assert_memory_equal(piece, whole + off, n);
		}
	}
	free(whole);
}

static void
test_synth_any_piece_is_that_of_the_whole(void **state)
{
	struct ckpt_synth synth = plain;
	struct ckpt_arena arena;
	struct ckpt_state made;

	(void)state;
	synth.token_bytes = 9;
	synth.last_token_bytes = 31;
	make(&arena, &synth, &made);
	for (uint64_t i = 0; i < made.tokenizer.npieces; i++)
		check_pieces_of(&made.tokenizer.pieces[i], 1);
	for (uint32_t i = 0; i < made.nparameters; i++) {
		check_pieces_of(&made.parameters[i], 8);
		check_pieces_of(&made.first[i], 8);
		check_pieces_of(&made.second[i], 8);
	}
	ckpt_arena_release(&arena);
	synth.tokenizer = CKPT_BYTE_BPE;
	synth.merges = 100;
	make(&arena, &synth, &made);
	check_pieces_of(&made.tokenizer.pieces[0], 4);
	ckpt_arena_release(&arena);
}

/* ---- What no valid file can have ---------------------------------------- */

/* Changes one setting; then the reason has to hold these words. */
#define REFUSES(words, ...)                                                    \
	do {                                                                   \
		struct ckpt_synth s = plain;                                   \
		__VA_ARGS__;                                                   \
		refuses(&s, words);                                            \
	} while (0)

static void
refuses(const struct ckpt_synth *synth, const char *words)
{
	struct ckpt_buf why;

	ckpt_buf_init(&why);
	assert_false(ckpt_synth_check(synth, &why));
	assert_non_null(why.p);
	if (!strstr(why.p, words))
		fail_msg("\"%s\" does not hold \"%s\"", why.p, words);
	ckpt_buf_release(&why);
}

static void
test_synth_refuses_what_no_decoder_can_have(void **state)
{
	(void)state;
	REFUSES("vocabulary is 0", s.config.vocabulary = 0);
	REFUSES("width is 0", s.config.width = 0);
	REFUSES("heads is 0", s.config.heads = 0);
	REFUSES("feed-forward width is 0", s.config.feed_forward_width = 0);
	REFUSES("positions is 0", s.config.positions = 0);
	REFUSES("not a multiple of heads 3", s.config.heads = 3);
	REFUSES("is odd", s.config.heads = 8);
	REFUSES("RoPE base", s.config.rope_base = 0.0);
	REFUSES("RoPE base", s.config.rope_base = (double)INFINITY);
	REFUSES("RMS epsilon", s.config.rms_epsilon = -1e-9);
	REFUSES("RMS epsilon", s.config.rms_epsilon = (double)NAN);
	REFUSES("rotary pairs", s.config.positions = UINT64_MAX);
	REFUSES("not finite", s.config = ((struct ckpt_config){ 5, 4096, 1, 1,
				      1, 1u << 31, 0x1p-1022, 1e-6, 0, 0 }));
	REFUSES("layers", s.config.layers = UINT64_MAX);
}

static void
test_synth_refuses_what_no_optimizer_can_have(void **state)
{
	(void)state;
	REFUSES("learning rate", s.adamw.learning_rate = 0.0);
	REFUSES("beta1", s.adamw.beta1 = 1.0);
	REFUSES("beta1", s.adamw.beta1 = (double)NAN);
	REFUSES("beta2", s.adamw.beta2 = -0.5);
	REFUSES("epsilon", s.adamw.epsilon = 0.0);
	REFUSES("weight decay", s.adamw.weight_decay = -1.0);
	REFUSES("weight decay", s.adamw.weight_decay = 1e6);
	REFUSES("weight decay", s.adamw.weight_decay = 0x1p-1074);
	REFUSES("multiplications",
		(s.step = UINT64_MAX, s.adamw.beta1 = 1.0 - 0x1p-53));
}

static void
test_synth_refuses_what_no_tokenizer_can_have(void **state)
{
	(void)state;
	REFUSES("27 distinct tokens need at least 2",
		(s.config.vocabulary = 27, s.token_bytes = 1));
	REFUSES("literal", s.config.vocabulary = UINT64_MAX);
	REFUSES("merges", (s.tokenizer = CKPT_BYTE_BPE, s.merges = UINT32_MAX));
	REFUSES("shorter", (s.token_bytes = 3, s.last_token_bytes = 2));
	REFUSES("2^62", s.token_bytes = UINT64_MAX);
	REFUSES("2^62", s.last_token_bytes = UINT64_MAX);
	REFUSES("2^62", s.config.feed_forward_width = UINT64_MAX);
	REFUSES("2^62", s.config.feed_forward_width = UINT64_MAX / 8 / 8);
	REFUSES("2^62", s.config.width = (uint64_t)1 << 40);
}

static void
test_synth_says_when_memory_is_used_up(void **state)
{
	struct ckpt_synth synth = plain;
	struct ckpt_state made;
	struct ckpt_arena arena;
	uint64_t n = 0;
	enum ckpt_status status;

	(void)state;
	synth.config.layers = 40;
	do {
		ckpt_arena_init(&arena, CKPT_MAX_MEMORY);
		arena.fail_at = ++n;
		status = ckpt_synth_state(&arena, &synth, &made);
		ckpt_arena_release(&arena);
		assert_true(status == CKPT_OK || status == CKPT_ENOMEM);
	} while (status != CKPT_OK);
	assert_true(n > 2);
	ckpt_arena_init(&arena, 100000);
	assert_int_equal(ckpt_synth_state(&arena, &synth, &made), CKPT_ELIMIT);
	ckpt_arena_release(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_synth_makes_the_known_file),
		cmocka_unit_test(test_synth_draws_known_weights),
		cmocka_unit_test(test_synth_values_keep_their_ranges),
		cmocka_unit_test(test_synth_powers_are_multiplied),
		cmocka_unit_test(test_synth_groups_are_sorted_and_complete),
		cmocka_unit_test(test_synth_pieces_are_distinct_numbers),
		cmocka_unit_test(test_synth_merges_by_shape),
		cmocka_unit_test(test_synth_any_piece_is_that_of_the_whole),
		cmocka_unit_test(test_synth_refuses_what_no_decoder_can_have),
		cmocka_unit_test(test_synth_refuses_what_no_optimizer_can_have),
		cmocka_unit_test(test_synth_refuses_what_no_tokenizer_can_have),
		cmocka_unit_test(test_synth_says_when_memory_is_used_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
