/* SPDX-License-Identifier: MIT */
/*
 * What may look like damage and is none: zeros, repeats, odd values, in
 * tensors of round sizes that begin where pages do, which is the hardest case.
 * No cause may be called strong or likely; of the corpus none at all is found
 * in a file without finding. And whatever bytes come, asking ends well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/forge_edit.h"
#include "cli/recipes.h"
#include "io/source_slow.h"
#include "model/rng.h"
#include "support/asked.h"
#include "support/content.h"
#include "support/damage.h"

enum { N = 64 * 1024 }; /* elements of a tensor: 256 by 256 */

static struct ckpt_rng rng = { 4711 };

static float
weight(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += ckpt_rng_unit(&rng);
	return (float)(sum / 50);
}

/* What element i of a strange tensor is, as the bits of an F32. */
static uint32_t
plain(size_t i)
{
	(void)i;
	return content_single(weight());
}

static uint32_t
unused_rows(size_t i) /* of moments: rows of 1 KiB, some of them zero */
{
	return i / 256 % 16 < 4 ? 0 : content_single(weight() * weight());
}

static uint32_t
padded_rows(size_t i) /* of a vocabulary: the last 64 of 256 */
{
	return i / 256 >= 192 ? 0 : content_single(weight());
}

static uint32_t
causal_mask(size_t i)
{
	return i % 256 > i / 256 ? 0xff7fffff : 0;
}

static uint32_t
lower_triangle(size_t i)
{
	return i % 256 > i / 256 ? 0 : content_single(weight());
}

static uint32_t
from_bf16(size_t i)
{
	return plain(i) & 0xffff0000;
}

static uint32_t
from_f16(size_t i)
{
	return plain(i) & 0xffffe000;
}

static uint32_t
wide(size_t i) /* second moments over 60 binades */
{
	return content_single(
		(float)ldexp((double)weight(), -(int)(i * 2654435761u % 60)));
}

static uint32_t
counters(size_t i)
{
	return content_single((float)i);
}

static uint32_t
ones(size_t i)
{
	(void)i;
	return ONE;
}

static uint32_t
any_bits(size_t i) /* something packed into floats */
{
	uint32_t bits = (uint32_t)(ckpt_rng_draw(&rng) >> 17);

	(void)i;
	return (bits & 0x7f800000) == 0x7f800000 ? bits ^ 0x40000000 : bits;
}

static uint32_t
sparse(size_t i)
{
	return i * 2654435761u % 8 ? 0 : plain(i);
}

static uint32_t
same_rows(size_t i) /* a head that 16 others share, row by row */
{
	static uint32_t row[256 * 16];

	if (i < 256 * 16)
		row[i] = plain(i);
	return row[i % (256 * 16)];
}

static uint32_t
half_zero(size_t i) /* the second half of the tensor */
{
	return i >= N / 2 ? 0 : plain(i);
}

static const struct {
	const char *name;
	uint32_t (*value)(size_t i);
} strange[] = {
	{ "plain", plain },
	{ "unused_rows", unused_rows },
	{ "padded_rows", padded_rows },
	{ "causal_mask", causal_mask },
	{ "lower_triangle", lower_triangle },
	{ "from_bf16", from_bf16 },
	{ "from_f16", from_f16 },
	{ "wide", wide },
	{ "counters", counters },
	{ "ones", ones },
	{ "any_bits", any_bits },
	{ "sparse", sparse },
	{ "same_rows", same_rows },
	{ "half_zero", half_zero },
};

static void
add(struct content *f, const char *name, uint32_t (*value)(size_t i))
{
	uint8_t *p = malloc(4 * N);

	assert_non_null(p);
	for (size_t i = 0; i < N; i++)
		ckpt_store_u32(p + 4 * i, value(i));
	content_add(f, name, "F32", "[256,256]", p, 4 * N);
	free(p);
}

/* The header grows until tensors begin where pages do. */
static uint8_t *
aligned(struct content *f, size_t *n)
{
	uint8_t *bytes;

	ckpt_buf_puts(&f->header, ",\"__metadata__\":{\"x\":\"");
	while ((8 + f->header.n + 3) % 4096 != 0)
		ckpt_buf_puts(&f->header, "x");
	ckpt_buf_puts(&f->header, "\"}");
	bytes = content_whole(f, n);
	assert_int_equal((8 + ckpt_load_u64(bytes)) % 4096, 0);
	return bytes;
}

static void
expect_innocent(const char *what, struct content *f)
{
	size_t n;
	uint8_t *bytes = aligned(f, &n);
	struct asked a;

	asked_bytes(&a, bytes, n, "model.safetensors");
	assert_int_equal(a.verdict, CKPT_VALID);
	if (asked_count(&a, CKPT_LIKELY) > 0)
		fail_msg("%s: %s, %s", what, asked_top(&a),
			a.hints.list[0].evidence[0]);
	asked_release(&a);
	free(bytes);
	ckpt_buf_release(&f->header);
	ckpt_buf_release(&f->data);
}

static void
test_healthy_strange_tensors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
		struct content f;

		content_begin(&f);
		add(&f, "a", plain);
		add(&f, "b", strange[i].value);
		add(&f, "c", plain);
		expect_innocent(strange[i].name, &f);
	}
}

/* At the end there is no tensor behind that would tell zeros from a tail. */
static void
test_healthy_strange_last_tensors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
		struct content f;

		content_begin(&f);
		add(&f, "a", plain);
		add(&f, "b", strange[i].value);
		expect_innocent(strange[i].name, &f);
	}
}

static void
test_healthy_tied_weights(void **state)
{
	struct content f;
	uint8_t *p = malloc(4 * N);

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i < N; i++)
		ckpt_store_u32(p + 4 * i, plain(i));
	content_begin(&f);
	content_add(&f, "embed", "F32", "[256,256]", p, 4 * N);
	add(&f, "other", plain);
	content_add(&f, "head", "F32", "[256,256]", p, 4 * N);
	/* The lower half of a tensor as one of its own. */
	content_add(&f, "part", "F32", "[128,256]", p + 2 * N, 2 * N);
	expect_innocent("tied", &f);
	free(p);
}

/* ---- files that are there ----------------------------------------------- */

/* No bytes make it crash; no file without finding makes it speak. */
static void
test_healthy_corpus(void **state)
{
	struct forge_recipes recipes;
	struct ckpt_buf why = { 0 };

	(void)state;
	assert_int_equal(
		forge_recipes_read(&recipes, "corpus/recipes.tsv", &why), 0);
	for (size_t i = 0; i < recipes.n; i++) {
		const struct forge_recipe *r = &recipes.list[i];
		struct ckpt_buf bytes = { 0 };
		struct asked a;

		assert_int_equal(
			forge_recipe_make(&recipes, r, &bytes, &why), 0);
		asked_bytes(&a, bytes.p, bytes.n, r->path);
		if (a.verdict == CKPT_VALID && a.run->diags.warnings == 0 &&
			a.hints.n > 0)
			fail_msg("%s: %s", r->path, asked_top(&a));
		asked_release(&a);
		ckpt_buf_release(&bytes);
	}
	ckpt_buf_release(&why);
	forge_recipes_release(&recipes);
}

/* A verdict is the same whoever listens, and the hints are the same twice. */
static void
test_healthy_asking_changes_nothing(void **state)
{
	struct damage_file base;
	struct ckpt_rng stream = { 3 };

	(void)state;
	damage_base_llmcp35(&base);
	for (size_t i = 0; damage_kind_at(i); i++) {
		struct damage_file file;
		struct asked a, b;

		damage_kind_at(i)->damage(&file, &base, &stream);
		asked_bytes(&a, file.p, file.n, NULL);
		asked_bytes(&b, file.p, file.n, NULL);
		assert_int_equal(a.verdict, b.verdict);
		assert_int_equal(a.hints.n, b.hints.n);
		for (uint64_t k = 0; k < a.hints.n; k++) {
			const struct ckpt_hint *x = &a.hints.list[k];
			const struct ckpt_hint *y = &b.hints.list[k];

			assert_string_equal(x->slug, y->slug);
			assert_int_equal(x->nevidence, y->nevidence);
			for (uint64_t e = 0; e < x->nevidence; e++)
				assert_string_equal(
					x->evidence[e], y->evidence[e]);
		}
		asked_release(&a);
		asked_release(&b);
		damage_release(&file);
	}
	damage_release(&base);
}

/* ---- what prevents it --------------------------------------------------- */

/* The run begins at 0, and the question once more: that is cancelled. */
static bool
only_once(void *ctx, uint64_t done, uint64_t total)
{
	unsigned *begun = ctx;

	(void)total;
	*begun += done == 0;
	return *begun < 2;
}

static void
test_healthy_cancelled(void **state)
{
	unsigned begun = 0;
	struct ckpt_options options = { .progress = only_once,
		.progress_ctx = &begun };
	struct damage_file base;
	struct asked a;

	(void)state;
	damage_base_llmcp35(&base);
	base.p[base.n - 1] ^= 1;
	asked_source(&a, ckpt_source_memory(base.p, base.n), &options);
	assert_int_equal(a.verdict, CKPT_INVALID);
	assert_int_equal(a.status, CKPT_STOP);
	assert_int_equal(a.hints.n, 0);
	asked_release(&a);
	damage_release(&base);
}

static void
test_healthy_pipe_is_not_asked(void **state)
{
	struct damage_file base;
	struct asked a;

	(void)state;
	damage_base_llmcp35(&base);
	base.p[base.n - 1] ^= 1;
	asked_source(&a,
		ckpt_source_slow(ckpt_source_memory(base.p, base.n), 999, true,
			UINT64_MAX),
		NULL);
	assert_int_equal(a.status, CKPT_OK);
	assert_int_equal(a.verdict, CKPT_INVALID);
	assert_int_equal(a.hints.n, 0);
	assert_int_equal(a.hints.examined, 0);
	assert_non_null(strstr(a.hints.limit, "twice"));
	asked_release(&a);
	damage_release(&base);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_healthy_strange_tensors),
		cmocka_unit_test(test_healthy_strange_last_tensors),
		cmocka_unit_test(test_healthy_tied_weights),
		cmocka_unit_test(test_healthy_corpus),
		cmocka_unit_test(test_healthy_asking_changes_nothing),
		cmocka_unit_test(test_healthy_cancelled),
		cmocka_unit_test(test_healthy_pipe_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
