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

#include "forensics/classify_parts.h"
#include "support/asked.h"
#include "support/damage.h"

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

	while (i < SLUGS && strcmp(slugs[i], asked_top(a)) != 0)
		i++;
	assert_true(i < SLUGS);
	row->top[i]++;
	row->n++;
	row->right += is_right(kind, asked_top(a));
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
	{ "nothing", 100, 0 },
	{ "zero-pages", 85, 0 },
	{ "foreign-pages", 75, 2 },
	{ "foreign-bytes", 85, 5 },
	{ "zero-tail", 95, 2 },
	{ "zero-padding", 100, 0 },
	{ "cut-block", 100, 0 },
	{ "cut-anywhere", 90, 2 },
	{ "insert", 60, 2 },
	{ "lose", 60, 2 },
	{ "displace", 60, 2 },
	{ "repeat-block", 95, 2 },
	{ "write-twice", 95, 2 },
	{ "other-file", 85, 5 },
	{ "log-lines", 90, 2 },
	{ "swap-bytes", 85, 5 },
	{ "line-feeds", 100, 0 },
	{ "carriage-returns", 100, 0 },
	{ "replace", 100, 0 },
	{ "seven-bits", 100, 0 },
	{ "base64", 100, 0 },
	{ "error-page", 100, 0 },
	{ "append", 95, 0 },
	{ "flip", 95, 0 },
	{ "cut-and-torn", 90, 0 },
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
		asked_bytes(&a, file.p, file.n, file.name);
		add_to_row(row, kind, &a);
		asked_release(&a);
		damage_release(&file);
	}
}

static void
run_table(void (*make)(struct damage_file *), const char *name)
{
	const char *wish = getenv("CKPT_CLASSIFY_ROUNDS");
	unsigned rounds = wish ? (unsigned)atoi(wish) : 12;
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

/* ---- what exactly is said ----------------------------------------------- */

static bool
says(const struct ckpt_hint *hint, const char *words)
{
	for (uint64_t i = 0; i < hint->nevidence; i++)
		if (strstr(hint->evidence[i], words))
			return true;
	return false;
}

/* Bytes inserted at a known place: how many, and where to an element. */
static void
test_classify_names_the_place_of_an_insertion(void **state)
{
	struct damage_file base;
	uint8_t *bytes;
	struct asked a;
	const struct ckpt_hint *hint;
	const size_t at = 100001;

	(void)state;
	damage_base_llmcp35(&base);
	bytes = malloc(base.n + 3);
	assert_non_null(bytes);
	memcpy(bytes, base.p, at);
	memcpy(bytes + at, "abc", 3);
	memcpy(bytes + at + 3, base.p + at, base.n - at);
	asked_bytes(&a, bytes, base.n + 3, NULL);
	hint = asked_find(&a, "bytes-inserted");
	assert_non_null(hint);
	assert_int_equal(hint->likelihood, CKPT_STRONG);
	assert_int_equal(hint->len, 3);
	assert_in_range(hint->off, at - 16, at + 16);
	assert_true(says(hint, "3 bytes longer"));
	assert_true(says(hint, "begin 3 bytes late"));
	asked_release(&a);
	free(bytes);
	damage_release(&base);
}

/* A page of zeros: its bounds are exact, and its owner is named. */
static void
test_classify_names_a_torn_page(void **state)
{
	struct damage_file base;
	struct asked a;
	const struct ckpt_hint *hint;

	(void)state;
	damage_base_llmcp35(&base);
	memset(base.p + 65536, 0, 8192);
	asked_bytes(&a, base.p, base.n, NULL);
	hint = asked_find(&a, "torn-pages");
	assert_non_null(hint);
	assert_ptr_equal(hint, &a.hints.list[0]);
	assert_int_equal(hint->off, 65536);
	assert_int_equal(hint->len, 8192);
	assert_non_null(strstr(hint->path, "records["));
	assert_true(
		says(hint, "zeros from 0x10000 (65536) to 0x12000 (73728)"));
	asked_release(&a);
	damage_release(&base);
}

/* CR LF to LF leaves little: it takes a larger file. */
static void
test_classify_lost_carriage_returns(void **state)
{
	struct damage_file base;
	uint8_t *many;
	size_t n = 0;
	struct asked a;
	struct ckpt_rng rng = { 5 };

	(void)state;
	damage_base_llmcp35(&base);
	many = malloc(base.n);
	assert_non_null(many);
	/* More pairs than chance would make of so few bytes. */
	for (int i = 0; i < 40; i++) {
		size_t at =
			(size_t)base.data +
			ckpt_rng_draw(&rng) % (base.n - base.data - 2) / 8 * 8;

		memcpy(base.p + at, "\r\n", 2);
	}
	for (size_t i = 0; i < base.n; i++)
		if (i + 1 == base.n || base.p[i] != '\r' ||
			base.p[i + 1] != '\n')
			many[n++] = base.p[i];
	assert_true(base.n - n >= 30);
	asked_bytes(&a, many, n, NULL);
	/* By the displacement: chance makes too few pairs to miss them. */
	assert_non_null(asked_find(&a, "bytes-lost"));
	asked_release(&a);
	free(many);
	damage_release(&base);
}

/* Two things that happened are two causes. */
static void
test_classify_two_at_once(void **state)
{
	const struct damage_kind *kind = damage_kind_find("cut-and-torn");
	struct ckpt_rng rng = { 9 };
	struct damage_file base;
	unsigned both = 0;

	(void)state;
	damage_base_llmcp35(&base);
	for (int i = 0; i < 10; i++) {
		struct damage_file file;
		struct asked a;

		kind->damage(&file, &base, &rng);
		asked_bytes(&a, file.p, file.n, NULL);
		both += asked_find(&a, "torn-pages") &&
			asked_find(&a, "cut-short");
		asked_release(&a);
		damage_release(&file);
	}
	assert_in_range(both, 9, 10);
	damage_release(&base);
}

/* What was appended to the file, and what is found then. */
static void
ask_appended(struct asked *a, const char *front, size_t nfront, size_t zeros)
{
	struct damage_file base;
	uint8_t *bytes;

	damage_base_llmcp35(&base);
	bytes = calloc(1, base.n + nfront + zeros);
	assert_non_null(bytes);
	memcpy(bytes, base.p, base.n);
	memcpy(bytes + base.n, front, nfront);
	asked_bytes(a, bytes, base.n + nfront + zeros, NULL);
	free(bytes);
	damage_release(&base);
}

/* That every byte behind the end is zero is said only where it is so. */
static void
test_classify_tells_padding_from_a_tail(void **state)
{
	static const char front[] = "abc";
	struct asked a;

	(void)state;
	ask_appended(&a, front, 0, 4096);
	assert_non_null(asked_find(&a, "zero-tail"));
	assert_null(asked_find(&a, "extra-tail"));
	asked_release(&a);
	for (size_t n = 1; n <= 3; n++) {
		ask_appended(&a, front, n, 4096);
		assert_null(asked_find(&a, "zero-tail"));
		assert_non_null(asked_find(&a, "extra-tail"));
		asked_release(&a);
	}
}

/* Zeros at the front of a piece were cut only if a gap is before it. */
static void
test_classify_zeros_know_where_gaps_are(void **state)
{
	static const uint8_t zeros[100];
	uint8_t ones[100];
	struct zero_run runs[4];
	struct classify c = { .zeros = { .runs = runs } };

	(void)state;
	memset(ones, 1, sizeof ones);
	c.zeros.after_gap = true;
	ckpt_classify_zeros_add(&c, 1000, zeros, sizeof zeros);
	ckpt_classify_zeros_add(&c, 1100, ones, sizeof ones);
	ckpt_classify_zeros_add(&c, 1200, zeros, sizeof zeros);
	ckpt_classify_zeros_close(&c, false);
	assert_int_equal(c.zeros.n, 2);
	assert_true(runs[0].cut);
	assert_int_equal(runs[1].off, 1200);
	assert_int_equal(runs[1].end, 1300);
	assert_false(runs[1].cut);
}

/* Noise in the last pages, of which the file fills one in part: the range ends where
 * the file does. */
static void
test_classify_ranges_end_with_the_file(void **state)
{
	struct damage_file base;
	struct ckpt_rng rng = { 3 };
	struct asked a;
	size_t from;

	(void)state;
	damage_base_llmcp35(&base);
	from = (base.n / 4096 - 1) * 4096;
	assert_true(base.n % 4096 > 0);
	for (size_t i = from; i < base.n; i++)
		base.p[i] = (uint8_t)(ckpt_rng_draw(&rng) >> 40);
	asked_bytes(&a, base.p, base.n, NULL);
	assert_non_null(asked_find(&a, "torn-pages"));
	for (uint64_t i = 0; i < a.hints.n; i++)
		assert_true(
			a.hints.list[i].off + a.hints.list[i].len <= base.n);
	assert_true(says(
		asked_find(&a, "torn-pages"), "up to the end of the file"));
	asked_release(&a);
	damage_release(&base);
}

/* Where one of the tensors ends, and no block does. */
static size_t
end_of_tensor(const struct damage_file *file)
{
	struct asked a;
	size_t found = 0;

	asked_bytes(&a, file->p, file->n, file->name);
	for (uint64_t i = 0; i < a.spans.ntensors; i++) {
		uint64_t end;

		if (ckpt_span_end(&a.spans.tensors[i], &end) &&
			end % 512 != 0 && end < file->n)
			found = (size_t)end;
	}
	asked_release(&a);
	return found;
}

static void
ask_cut(struct damage_file *file, bool at_end)
{
	static const char words[] = "it ends where a tensor ends";
	const struct ckpt_hint *hint;
	struct asked a;

	asked_bytes(&a, file->p, file->n, file->name);
	hint = asked_find(&a, "cut-short");
	assert_non_null(hint);
	assert_true((strcmp(hint->reason, words) == 0) == at_end);
	if (at_end)
		assert_int_equal(hint->likelihood, CKPT_LIKELY);
	asked_release(&a);
}

static void
test_classify_cut_where_a_tensor_ends(void **state)
{
	struct damage_file base;

	(void)state;
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			damage_base_safetensors(&base);
		else
			damage_base_llmcp35(&base);
		base.n = end_of_tensor(&base);
		assert_true(base.n > 0);
		ask_cut(&base, true);
		base.n--;
		assert_true(base.n % 512 != 0);
		ask_cut(&base, false);
		damage_release(&base);
	}
}

struct patience {
	unsigned left; /* questions that are answered with yes */
	unsigned asked;
};

static bool
is_patient(void *ctx, uint64_t done, uint64_t total)
{
	struct patience *p = ctx;

	(void)done;
	(void)total;
	return p->asked++ < p->left;
}

static enum ckpt_status
ask_patiently(const struct damage_file *file, struct patience *p)
{
	const struct ckpt_options options = { .progress = is_patient,
		.progress_ctx = p };
	struct asked a;
	enum ckpt_status status;

	asked_source(&a, ckpt_source_memory(file->p, file->n), &options);
	status = a.status;
	asked_release(&a);
	return status;
}

/* Blocks that occur twice are compared, which may be cancelled, too. */
static void
test_classify_asks_before_it_compares(void **state)
{
	struct damage_file base;
	struct patience plain = { .left = 1000 }, twice = plain, last;

	(void)state;
	damage_base_llmcp35(&base);
	assert_true(base.n > 4 * 65536);
	base.p[65536] ^= 1; /* of a file that is proved nothing is asked */
	assert_int_equal(ask_patiently(&base, &plain), CKPT_OK);
	memmove(base.p + 3 * 65536, base.p + 65536, 16384);
	assert_int_equal(ask_patiently(&base, &twice), CKPT_OK);
	assert_true(twice.asked > plain.asked);
	last = (struct patience){ .left = twice.asked - 1 };
	assert_int_equal(ask_patiently(&base, &last), CKPT_STOP);
	damage_release(&base);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classify_damages_of_llmcp35),
		cmocka_unit_test(test_classify_damages_of_safetensors),
		cmocka_unit_test(test_classify_names_the_place_of_an_insertion),
		cmocka_unit_test(test_classify_names_a_torn_page),
		cmocka_unit_test(test_classify_lost_carriage_returns),
		cmocka_unit_test(test_classify_two_at_once),
		cmocka_unit_test(test_classify_tells_padding_from_a_tail),
		cmocka_unit_test(test_classify_zeros_know_where_gaps_are),
		cmocka_unit_test(test_classify_ranges_end_with_the_file),
		cmocka_unit_test(test_classify_cut_where_a_tensor_ends),
		cmocka_unit_test(test_classify_asks_before_it_compares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
