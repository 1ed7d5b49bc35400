/* SPDX-License-Identifier: MIT */
/*
 * What happened to this file: files damaged in known ways at random places,
 * and what is said of them. The bounds are what holds over many more rounds
 * than are run here (CKPT_CLASSIFY_ROUNDS=N runs as many, and prints the
 * table). Of healthy files nothing may be claimed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forensics/classify.h"
#include "sink/words.h"
#include "support/damage.h"

struct asked {
	struct ckpt_run *run;
	struct ckpt_spans spans;
	struct ckpt_hints hints;
	enum ckpt_verdict verdict;
};

/* Verifies bytes that stand alone in memory, then asks. */
static void
ask(struct asked *a, const uint8_t *p, size_t n, const char *name)
{
	uint8_t *alone = malloc(n ? n : 1);
	struct ckpt_source *source;

	assert_non_null(alone);
	memcpy(alone, p, n);
	memset(a, 0, sizeof *a);
	a->run = ckpt_run_new(NULL);
	source = ckpt_source_memory(alone, n);
	assert_non_null(a->run);
	assert_non_null(source);
	source->name = name;
	ckpt_spans_init(&a->spans, CKPT_MAX_MEMORY, false);
	ckpt_run_listen(a->run, &a->spans.sink);
	a->verdict = ckpt_verify(a->run, source);
	a->spans.format = a->run->format;
	a->spans.records = ckpt_records_name(a->run->format);
	assert_int_equal(
		ckpt_classify(&a->hints, a->run, &a->spans, source), CKPT_OK);
	assert_int_equal(
		ckpt_run_primary(a->run) == NULL, a->verdict == CKPT_VALID);
	ckpt_source_close(source);
	free(alone);
}

static void
release(struct asked *a)
{
	ckpt_hints_release(&a->hints);
	ckpt_spans_release(&a->spans);
	ckpt_run_free(a->run);
}

/* The best cause, "" if there is none. */
static const char *
top(const struct asked *a)
{
	return a->hints.n > 0 ? a->hints.list[0].slug : "";
}

static const struct ckpt_hint *
find(const struct asked *a, const char *slug)
{
	for (uint64_t i = 0; i < a->hints.n; i++)
		if (strcmp(a->hints.list[i].slug, slug) == 0)
			return &a->hints.list[i];
	return NULL;
}

static bool
is_right(const struct damage_kind *kind, const char *slug)
{
	for (size_t i = 0; i < 3 && kind->causes[i]; i++)
		if (strcmp(kind->causes[i], slug) == 0)
			return true;
	return false;
}

static bool
is_listed(const struct damage_kind *kind, const struct asked *a)
{
	for (uint64_t i = 0; i < a->hints.n; i++)
		if (is_right(kind, a->hints.list[i].slug))
			return true;
	return a->hints.n == 0 && is_right(kind, "");
}

/* ---- the table ---------------------------------------------------------- */

static const char *const slugs[] = { "torn-pages", "zeroed-range", "zero-tail",
	"cut-short", "bytes-inserted", "bytes-lost", "shifted-region",
	"byte-order-swapped", "repeated-block", "overwritten-region",
	"text-transfer", "another-kind-of-file", "extra-tail", "flipped-bit",
	"few-bytes-changed", "" };

enum { SLUGS = sizeof slugs / sizeof slugs[0], KINDS = 32 };

struct row {
	unsigned top[SLUGS];
	unsigned n, right, listed;
	unsigned strong, wrong; /* strong claims, and those that are wrong */
};

static void
add_to_row(
	struct row *row, const struct damage_kind *kind, const struct asked *a)
{
	size_t i = 0;

	while (i < SLUGS && strcmp(slugs[i], top(a)) != 0)
		i++;
	assert_true(i < SLUGS);
	row->top[i]++;
	row->n++;
	row->right += is_right(kind, top(a));
	row->listed += is_listed(kind, a);
	for (uint64_t k = 0; k < a->hints.n; k++) {
		const struct ckpt_hint *h = &a->hints.list[k];

		if (h->likelihood != CKPT_STRONG)
			continue;
		row->strong++;
		row->wrong += !is_right(kind, h->slug);
	}
}

static void
print_row(const struct damage_kind *kind, const char *base, const struct row *r)
{
	printf("%-12s %-17s n %4u right %4u listed %4u wrong-strong %3u:", base,
		kind->name, r->n, r->right, r->listed, r->wrong);
	for (size_t i = 0; i < SLUGS; i++)
		if (r->top[i] > 0)
			printf(" %s=%u", slugs[i][0] ? slugs[i] : "none",
				r->top[i]);
	printf("\n");
}

/* In per cent: how often the best cause is right at least, and wrong ones are
 * called strong at most. */
struct bound {
	const char *kind;
	unsigned right, wrong;
};

static const struct bound bounds[] = {
	{ NULL, 0, 0 },
};

static void
fill_row(const struct damage_kind *kind, const struct damage_file *base,
	unsigned rounds, struct row *row)
{
	struct ckpt_rng rng = { 1000 };

	for (unsigned i = 0; i < rounds; i++) {
		struct damage_file file;
		struct asked a;

		kind->damage(&file, base, &rng);
		ask(&a, file.p, file.n, file.name);
		add_to_row(row, kind, &a);
		release(&a);
		damage_release(&file);
	}
}

static void
run_table(void (*make)(struct damage_file *), const char *name)
{
	const char *wish = getenv("CKPT_CLASSIFY_ROUNDS");
	unsigned rounds = wish ? (unsigned)atoi(wish) : 6;
	struct damage_file base;

	make(&base);
	for (size_t i = 0; damage_kind_at(i); i++) {
		const struct damage_kind *kind = damage_kind_at(i);
		struct row row = { .n = 0 };

		fill_row(kind, &base, rounds, &row);
		if (wish)
			print_row(kind, name, &row);
		for (const struct bound *b = bounds; b->kind; b++)
			if (strcmp(b->kind, kind->name) == 0 &&
				(row.right * 100 < b->right * row.n ||
					row.wrong * 100 > b->wrong * row.n))
				fail_msg("%s %s: %u of %u right, %u wrong",
					name, kind->name, row.right, row.n,
					row.wrong);
	}
	damage_release(&base);
}

static void
test_classify_damages_of_llmcp35(void **state)
{
	(void)state;
	run_table(damage_base_llmcp35, "llmcp35");
}

static void
test_classify_damages_of_safetensors(void **state)
{
	(void)state;
	run_table(damage_base_safetensors, "safetensors");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classify_damages_of_llmcp35),
		cmocka_unit_test(test_classify_damages_of_safetensors),
	};

	(void)find;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
