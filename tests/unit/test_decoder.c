/* SPDX-License-Identifier: MIT */
/*
 * What training jobs add to the decoder: grouped key/value heads, a context
 * window, dropout, blocks that are computed again, microbatches, a key/value
 * cache, a backbone. Gradients are held against central differences; whatever
 * must not change a bit is compared by bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/team.h"
#include "model/rng.h"
#include "num/attn.h"
#include "num/decoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 7, VOCAB = 11 };

/* Token 3 comes twice, so one row of the embedding gathers from two. */
static const uint32_t ids[] = { 3, 0, 7, 3, 10, 1, 5 };
static const uint32_t targets[] = { 0, 7, 3, 10, 1, 5, 5 };

static const struct ckpt_dims plain = { .vocab = VOCAB,
	.width = 24,
	.heads = 6,
	.hidden = 10,
	.layers = 3,
	.rope_base = 50.0,
	.epsilon = 1e-5 };

/* Everything at once. */
static struct ckpt_dims
rich(void)
{
	struct ckpt_dims m = plain;

	m.kv_heads = 2;
	m.window = 3;
	m.only_seen = true;
	return m;
}

static double *
numbers(size_t n, uint64_t seed, double scale)
{
	struct ckpt_rng rng = { seed };
	double *p = malloc((n ? n : 1) * sizeof *p);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = scale * ((2.0 * ckpt_rng_unit(&rng)) - 1.0);
	return p;
}

static double *
zeros(size_t n)
{
	return numbers(n, 1, 0.0);
}

static double *
weights(const struct ckpt_dims *m)
{
	return numbers(ckpt_dims_scalars(m), 21, 0.6);
}

static bool
same(const double *a, const double *b, size_t n)
{
	return memcmp(a, b, n * sizeof *a) == 0;
}

static double *
space_for(const struct ckpt_dims *m, size_t batch, size_t tokens,
	enum ckpt_pass pass)
{
	size_t n;

	assert_true(ckpt_decoder_space(m, batch, tokens, pass, &n));
	/* Nothing may rely on what the space held before. */
	return numbers(n, 99, 1e3);
}

/* Logits of a batch, to be freed. */
static double *
logits_of(const struct ckpt_dims *m, double *x, const struct ckpt_batch *batch)
{
	double *space =
		space_for(m, batch->batch, batch->tokens, CKPT_PASS_FORWARD);
	double *logits = zeros(batch->batch * batch->tokens * m->vocab);
	struct ckpt_not_finite fault;

	assert_true(ckpt_decoder_forward(m, x, batch, space, logits, &fault));
	free(space);
	return logits;
}

static const struct ckpt_batch whole = { 1, TOKENS, ids, targets };

static struct ckpt_microbatch
microbatch_of(double probability, bool recompute)
{
	return (struct ckpt_microbatch){
		.batch = whole,
		.dropout = { probability, 77, 5 },
		.recompute = recompute,
		.factor = 1.0,
	};
}

/* Adds gradients; returns the loss terms' sum. */
static double
accumulate(const struct ckpt_dims *m, double *x,
	const struct ckpt_microbatch *microbatch, double *g)
{
	size_t T = microbatch->batch.tokens;
	double *space = space_for(m, 1, T,
		microbatch->recompute ? CKPT_PASS_RECOMPUTED
				      : CKPT_PASS_BACKWARD);
	double *logits = zeros(T * m->vocab), total = 0.0;
	struct ckpt_not_finite fault;

	assert_true(ckpt_decoder_accumulate(
		m, x, microbatch, space, logits, g, &total, &fault));
	free(space);
	free(logits);
	return total;
}

/* ---- gradients ---------------------------------------------------------- */

static void
differences(const struct ckpt_dims *m, const struct ckpt_microbatch *microbatch)
{
	const double step = 0x1p-17;
	size_t n = ckpt_dims_scalars(m);
	double *x = weights(m), *g = zeros(n), *rest = zeros(n);

	accumulate(m, x, microbatch, g);
	for (size_t i = 0; i < n; i++) {
		double kept = x[i], up, down, slope;

		x[i] = kept + step;
		up = accumulate(m, x, microbatch, rest);
		x[i] = kept - step;
		down = accumulate(m, x, microbatch, rest);
		x[i] = kept;
		slope = (up - down) / (2.0 * step);
		if (fabs(slope - g[i]) > 1e-6 * (1.0 + fabs(g[i])))
			fail_msg("scalar %zu of %zu: %.9g, by differences "
				 "%.9g",
				i, n, g[i], slope);
	}
	free(x);
	free(g);
	free(rest);
}

static void
test_gradients_agree_with_differences(void **state)
{
	struct ckpt_dims m = plain;
	struct ckpt_microbatch microbatch = microbatch_of(0.0, false);

	(void)state;
	m.layers = 2;
	m.width = 12;
	m.hidden = 5;
	differences(&m, &microbatch);
	m.kv_heads = 2;
	differences(&m, &microbatch);
	m.window = 2;
	differences(&m, &microbatch);
	m.kv_heads = 1;
	microbatch = microbatch_of(0.4, false);
	differences(&m, &microbatch);
	microbatch = microbatch_of(0.4, true);
	differences(&m, &microbatch);
}

/* Differences do not see in which order a group's parts are added, or that
 * the sum of key gradients is what is rotated back; bits do. Made by this code
 * when it agreed with an independent program on other models, with both sets
 * of glibc's functions. */
static void
test_gradients_of_groups_keep_their_bits(void **state)
{
	const struct ckpt_dims m = rich();
	const struct ckpt_microbatch b = microbatch_of(0.3, true);
	size_t n = ckpt_dims_scalars(&m);
	double *x = weights(&m), *g = zeros(n);

	(void)state;
	accumulate(&m, x, &b, g);
	assert_int_equal(ckpt_fnv1a64(CKPT_FNV1A64_START, g, n * sizeof *g),
		0x231417353e9b8429);
	free(x);
	free(g);
}

static void
test_recomputed_blocks_give_the_same_bits(void **state)
{
	const struct ckpt_dims m = rich();
	size_t n = ckpt_dims_scalars(&m), kept, again;
	double *x = weights(&m), *g[2] = { zeros(n), zeros(n) }, total[2];

	(void)state;
	for (int recompute = 0; recompute < 2; recompute++) {
		struct ckpt_microbatch b = microbatch_of(0.3, recompute);

		total[recompute] = accumulate(&m, x, &b, g[recompute]);
	}
	assert_true(total[0] == total[1]);
	assert_true(same(g[0], g[1], n));
	/* And it is worth it. */
	assert_true(
		ckpt_decoder_space(&m, 1, TOKENS, CKPT_PASS_BACKWARD, &kept));
	assert_true(ckpt_decoder_space(
		&m, 1, TOKENS, CKPT_PASS_RECOMPUTED, &again));
	assert_true(again < kept);
	free(x);
	free(g[0]);
	free(g[1]);
}

/* Adding in place is the same as making each microbatch's gradients from +0.0
 * and adding those, element by element. */
static void
test_microbatches_add_up(void **state)
{
	const struct ckpt_dims m = rich();
	size_t n = ckpt_dims_scalars(&m);
	double *x = weights(&m), *in_place = zeros(n), *apart = zeros(n);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct ckpt_microbatch b = microbatch_of(0.3, i == 1);
		double *g = zeros(n);

		b.batch = (struct ckpt_batch){ 1, 2 + i, ids + i, targets + i };
		b.dropout.counter += 1000 * i;
		accumulate(&m, x, &b, g);
		for (size_t k = 0; k < n; k++)
			apart[k] = apart[k] + g[k];
		accumulate(&m, x, &b, in_place);
		assert_true(same(apart, in_place, n));
		free(g);
	}
	free(x);
	free(in_place);
	free(apart);
}

/* Without anything extra, a microbatch has the plain pass's gradients. */
static void
test_plain_microbatch_is_the_plain_pass(void **state)
{
	struct ckpt_microbatch b = microbatch_of(0.0, false);
	size_t n = ckpt_dims_scalars(&plain);
	double *x = weights(&plain), *g[2] = { zeros(n), zeros(n) };
	double *space = space_for(&plain, 1, TOKENS, CKPT_PASS_BACKWARD);
	double *logits = zeros(TOKENS * VOCAB), loss, total;
	struct ckpt_not_finite fault;

	(void)state;
	b.factor = 1.0 / (double)TOKENS;
	total = accumulate(&plain, x, &b, g[0]);
	assert_true(ckpt_decoder_gradients(
		&plain, x, &whole, space, logits, g[1], &loss, &fault));
	assert_true(loss == total / (double)TOKENS);
	assert_true(same(g[0], g[1], n));
	free(x);
	free(g[0]);
	free(g[1]);
	free(space);
	free(logits);
}

static void
test_threads_change_no_bit(void **state)
{
	struct ckpt_dims m = rich();
	struct ckpt_microbatch b = microbatch_of(0.3, true);
	double *x, *g[2];
	size_t n;

	(void)state;
	/* Large enough to be shared out. */
	m.vocab = 1201;
	m.width = 60;
	m.hidden = 600;
	n = ckpt_dims_scalars(&m);
	x = weights(&m);
	g[0] = zeros(n);
	g[1] = zeros(n);
	accumulate(&m, x, &b, g[0]);
	m.team = ckpt_team_new(3);
	accumulate(&m, x, &b, g[1]);
	assert_true(same(g[0], g[1], n));
	ckpt_team_free(m.team);
	free(x);
	free(g[0]);
	free(g[1]);
}

/* ---- attention ---------------------------------------------------------- */

static void
test_extras_that_say_nothing_change_no_bit(void **state)
{
	struct ckpt_microbatch b = microbatch_of(0.3, false);
	size_t n = ckpt_dims_scalars(&plain);
	double *x = weights(&plain), *want = zeros(n);

	(void)state;
	accumulate(&plain, x, &b, want);
	for (size_t window = TOKENS; window <= TOKENS + 1; window++)
		for (int only_seen = 0; only_seen < 2; only_seen++) {
			struct ckpt_dims m = plain;
			double *g = zeros(n);

			m.kv_heads = m.heads;
			m.window = window;
			m.only_seen = only_seen;
			assert_int_equal(ckpt_dims_scalars(&m), n);
			accumulate(&m, x, &b, g);
			assert_true(same(g, want, n));
			free(g);
		}
	free(x);
	free(want);
}

/* A model of grouped heads is one of single heads whose key and value columns
 * are repeated. */
static void
test_grouped_heads_are_shared_ones(void **state)
{
	struct ckpt_dims m = plain;
	double *x, *y, *want, *got;

	(void)state;
	m.kv_heads = 2;
	x = weights(&m);
	y = weights(&plain);
	memcpy(y, x, m.vocab * m.width * sizeof *y);
	for (size_t l = 0; l < m.layers; l++) {
		struct ckpt_block a = ckpt_dims_block(&m, x, l);
		struct ckpt_block b = ckpt_dims_block(&plain, y, l);
		size_t d = 4, D = m.width;

		memcpy(b.attention_norm, a.attention_norm,
			(D + D * D) * sizeof *y);
		memcpy(b.output, a.output,
			(D * D + D + 3 * D * m.hidden) * sizeof *y);
		for (size_t i = 0; i < D; i++)
			for (size_t c = 0; c < D; c++) {
				size_t from =
					i * 2 * d + c / (3 * d) * d + c % d;

				b.key[i * D + c] = a.key[from];
				b.value[i * D + c] = a.value[from];
			}
	}
	memcpy(ckpt_dims_final(&plain, y), ckpt_dims_final(&m, x),
		m.width * sizeof *y);
	want = logits_of(&plain, y, &whole);
	got = logits_of(&m, x, &whole);
	assert_true(same(got, want, TOKENS * VOCAB));
	free(x);
	free(y);
	free(want);
	free(got);
}

/* In one layer, a token reaches exactly the rows whose window holds it. */
static void
test_window_bounds_what_is_seen(void **state)
{
	struct ckpt_dims m = plain;
	double *x, *before;

	(void)state;
	m.layers = 1;
	x = weights(&m);
	for (m.window = 1; m.window <= TOKENS; m.window++) {
		before = logits_of(&m, x, &whole);
		for (size_t at = 0; at < TOKENS; at++) {
			uint32_t changed[TOKENS];
			struct ckpt_batch batch = { 1, TOKENS, changed, NULL };
			double *after;

			memcpy(changed, ids, sizeof changed);
			changed[at] = 2;
			after = logits_of(&m, x, &batch);
			for (size_t i = 0; i < TOKENS; i++)
				assert_int_equal(
					same(before + i * VOCAB,
						after + i * VOCAB, VOCAB),
					i < at || i - at >= m.window);
			free(after);
		}
		free(before);
	}
	free(x);
}

/* Scores that nothing sees end a run only where they are asked for. */
static void
test_hidden_scores_that_are_not_finite(void **state)
{
	const double big[] = { 1e200, 1e200, 0.0, 0.0, 1e200, 1e200 };
	/* Query 0 meets key 2, and query 2 key 0, only behind the mask. */
	const double q[] = { 0.0, 1e200, 0.0, 0.0, 1e200, 0.0 };
	const double k[] = { 1e200, 0.0, 0.0, 0.0, 0.0, 1e200 };
	double w[9], o[6], gradients[18], scratch[18];
	struct ckpt_head head = { .tokens = 3,
		.width = 2,
		.stride = 2,
		.kv_stride = 2,
		.window = 2,
		.q = q,
		.k = k,
		.v = big,
		.w = w };

	(void)state;
	assert_false(ckpt_head_forward(&head, o));
	head.only_seen = true;
	assert_true(ckpt_head_forward(&head, o));
	assert_true(w[1] == 0.0 && w[2] == 0.0 && w[5] == 0.0 && w[6] == 0.0);
	assert_true(w[0] == 1.0 && w[3] == 0.5 && w[4] == 0.5);
	/* Row 0's gradient of the weight of value 2 overflows. */
	head.v = k;
	assert_true(ckpt_head_backward(&head, q, gradients, gradients + 6,
		gradients + 12, 2, scratch));
	head.only_seen = false;
	assert_false(ckpt_head_backward(&head, q, gradients, gradients + 6,
		gradients + 12, 2, scratch));
}

/* ---- cache and backbone ------------------------------------------------- */

/* Every way to cut the tokens into at most three pieces. */
static void
test_cache_changes_no_bit(void **state)
{
	struct ckpt_dims m = rich();
	size_t room = TOKENS + 2, n, work;
	double *x = weights(&m), *want = logits_of(&m, x, &whole);
	double *logits = zeros(TOKENS * VOCAB), *space;
	struct ckpt_not_finite fault;
	struct ckpt_cache cache = { .room = room };

	(void)state;
	assert_true(ckpt_cache_space(&m, room, &n));
	assert_int_equal(n, m.layers * room * 8);
	cache.k = numbers(n, 4, 1e3);
	cache.v = numbers(n, 5, 1e3);
	for (size_t a = 1; a <= TOKENS; a++)
		for (size_t b = a; b <= TOKENS; b++) {
			const size_t cuts[] = { 0, a, b, TOKENS };

			cache.tokens = 0;
			for (size_t i = 0; i < 3; i++) {
				size_t at = cuts[i], more = cuts[i + 1] - at;

				if (more == 0)
					continue;
				assert_true(
					ckpt_cache_work(&m, at, more, &work));
				space = numbers(work, 8, 1e3);
				assert_true(ckpt_decoder_extend(&m, x, ids + at,
					more, &cache, space,
					logits + at * VOCAB, &fault));
				free(space);
			}
			assert_int_equal(cache.tokens, TOKENS);
			assert_true(same(logits, want, TOKENS * VOCAB));
		}
	free(x);
	free(want);
	free(logits);
	free(cache.k);
	free(cache.v);
}

/* Two rows of embeddings through a model without an embedding. */
static void
test_backbone_gives_the_features_of_the_model(void **state)
{
	struct ckpt_dims m = rich(), backbone = m;
	struct ckpt_batch two = { 2, 3, ids, NULL };
	size_t D = m.width, n = 6 * D;
	double *x = weights(&m), *want = logits_of(&m, x, &two);
	double *embeddings = zeros(n), *hidden = zeros(n), *space;
	struct ckpt_not_finite fault;

	(void)state;
	backbone.vocab = 0;
	assert_int_equal(ckpt_dims_scalars(&backbone),
		ckpt_dims_scalars(&m) - m.vocab * D);
	for (size_t r = 0; r < 6; r++)
		memcpy(embeddings + r * D, x + ids[r] * D, D * sizeof *x);
	space = space_for(&backbone, 2, 3, CKPT_PASS_FORWARD);
	two.ids = NULL;
	assert_true(ckpt_decoder_hidden(&backbone, x + m.vocab * D, &two,
		embeddings, space, hidden, &fault));
	for (size_t r = 0; r < 6; r++)
		for (size_t v = 0; v < VOCAB; v++) {
			double s = 0.0;

			for (size_t k = 0; k < D; k++) {
				/* Not to be contracted here. */
				volatile double term = hidden[r * D + k];

				term = term * x[v * D + k];
				s = s + term;
			}
			assert_true(s == want[r * VOCAB + v]);
		}
	embeddings[n - 1] = (double)INFINITY;
	assert_false(ckpt_decoder_hidden(&backbone, x + m.vocab * D, &two,
		embeddings, space, hidden, &fault));
	assert_string_equal(fault.operation, "embeddings");
	assert_int_equal(fault.index, n - 1);
	free(x);
	free(want);
	free(embeddings);
	free(hidden);
	free(space);
}

static void
test_sizes_that_do_not_fit_are_refused(void **state)
{
	struct ckpt_dims m = rich();
	size_t n;
	uint64_t words;

	(void)state;
	assert_false(ckpt_cache_space(&m, SIZE_MAX / 16, &n));
	assert_false(ckpt_cache_work(&m, SIZE_MAX, 1, &n));
	assert_false(ckpt_cache_work(&m, SIZE_MAX / 4, 1, &n));
	assert_false(ckpt_decoder_space(
		&m, 1, SIZE_MAX / 32, CKPT_PASS_RECOMPUTED, &n));
	/* 2 sites, 3 layers, width 24. */
	assert_true(ckpt_decoder_words(&m, 5, &words));
	assert_int_equal(words, 720);
	assert_false(ckpt_decoder_words(&m, SIZE_MAX / 143, &words));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gradients_agree_with_differences),
		cmocka_unit_test(test_gradients_of_groups_keep_their_bits),
		cmocka_unit_test(test_recomputed_blocks_give_the_same_bits),
		cmocka_unit_test(test_microbatches_add_up),
		cmocka_unit_test(test_plain_microbatch_is_the_plain_pass),
		cmocka_unit_test(test_threads_change_no_bit),
		cmocka_unit_test(test_extras_that_say_nothing_change_no_bit),
		cmocka_unit_test(test_grouped_heads_are_shared_ones),
		cmocka_unit_test(test_window_bounds_what_is_seen),
		cmocka_unit_test(test_hidden_scores_that_are_not_finite),
		cmocka_unit_test(test_cache_changes_no_bit),
		cmocka_unit_test(test_backbone_gives_the_features_of_the_model),
		cmocka_unit_test(test_sizes_that_do_not_fit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
