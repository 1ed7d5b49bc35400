/* SPDX-License-Identifier: MIT */
/*
 * Two faults at once. tests/pairs.tsv says, read from the list of the loader's
 * checks and from nothing else, what each fault gives when it is alone and
 * where it ranks. Here every two of them are put into one file: the one that
 * ranks lower has to be the primary finding, with its path. Two edits that
 * give other bytes in another order, or of which one leaves nothing of the
 * other, do not coexist; what two faults make of each other otherwise is told
 * by an `except` line with its reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recipes.h"
#include "format/draft.h"
#include "support/judged.h"

/* A sanitised build looks for other things than ranks, and takes its time:
 * there each fault meets its neighbours and every fourth of the others. */
#if defined __SANITIZE_ADDRESS__
enum { EVERY = 4 };
#elif defined __has_feature
#if __has_feature(address_sanitizer)
enum { EVERY = 4 };
#else
enum { EVERY = 1 };
#endif
#else
enum { EVERY = 1 };
#endif

enum { EDITS = 64, PARTS = 6, MOST_FAULTS = 400, WORDS = 4096 };

/* When an edit of a row is made: rows of a pair take turns. */
enum stage {
	STAGE_BEFORE_RELAYOUT,
	STAGE_RELAYOUT,
	STAGE_FIELDS,
	STAGE_BYTES,
	STAGE_EXTENTS,
	STAGE_AFTER_EXTENTS,
	STAGE_CHECKSUM,
	STAGE_AFTER_CHECKSUM,
	STAGES
};

struct step {
	enum ckpt_draft_edit edit;
	enum stage stage;
	const char *words;
};

struct fault {
	const struct forge_recipe *row;
	char text[WORDS]; /* of the edits, cut into words */
	struct step steps[EDITS];
	size_t nsteps;
	bool relayout;
	char phase;
	uint64_t rank[1 + PARTS]; /* unit, then the parts of the step */
	char kind[32], id[16];
};

static struct forge_recipes rows;
static struct fault *faults;
static size_t nfaults;
static bool *used; /* of each row: an exception that was one */

/* ---- the table ---------------------------------------------------------- */

static const struct {
	const char *name;
	enum ckpt_draft_edit edit;
} edits[] = {
	{ "--set", CKPT_DRAFT_SET },
	{ "--delete", CKPT_DRAFT_DELETE },
	{ "--duplicate", CKPT_DRAFT_DUPLICATE },
	{ "--insert", CKPT_DRAFT_INSERT },
	{ "--swap", CKPT_DRAFT_SWAP },
	{ "--bytes", CKPT_DRAFT_BYTES },
	{ "--flip", CKPT_DRAFT_FLIP },
	{ "--truncate", CKPT_DRAFT_TRUNCATE },
	{ "--append", CKPT_DRAFT_APPEND },
};

static enum ckpt_draft_edit
edit_of(const char *word)
{
	for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
		if (strcmp(edits[i].name, word) == 0)
			return edits[i].edit;
	fail_msg("no edit %s", word);
	return CKPT_DRAFT_SET;
}

static void
read_steps(struct fault *f)
{
	enum stage stage = STAGE_FIELDS;
	char *save = NULL;

	f->relayout = strstr(f->row->edits, "--relayout") != NULL;
	if (f->relayout)
		stage = STAGE_BEFORE_RELAYOUT;
	assert_in_range(strlen(f->row->edits), 1, WORDS - 1);
	strcpy(f->text, f->row->edits);
	for (char *w = strtok_r(f->text, " ", &save); w;
		w = strtok_r(NULL, " ", &save)) {
		struct step *step = &f->steps[f->nsteps];

		if (strcmp(w, "--relayout") == 0) {
			stage = STAGE_FIELDS;
		} else if (strcmp(w, "--fix-extents") == 0) {
			stage = STAGE_AFTER_EXTENTS;
		} else if (strcmp(w, "--fix-checksum") == 0) {
			stage = STAGE_AFTER_CHECKSUM;
		} else {
			assert_true(f->nsteps < EDITS);
			step->edit = edit_of(w);
			if (step->edit > CKPT_DRAFT_RELAYOUT &&
				stage == STAGE_FIELDS)
				stage = STAGE_BYTES;
			step->stage = stage;
			step->words = strtok_r(NULL, " ", &save);
			assert_non_null(step->words);
			f->nsteps++;
		}
	}
}

/* "E max 6.6.4.0.12" */
static void
read_rank(struct fault *f)
{
	char unit[24], step[32];
	const char *at = step;

	if (sscanf(f->row->text, "%c %23s %31s", &f->phase, unit, step) != 3)
		fail_msg("%s: what rank?", f->row->path);
	f->rank[0] = strcmp(unit, "max") == 0 ? UINT64_MAX
					      : strtoull(unit, NULL, 10);
	for (int i = 1; i <= PARTS && *at; i++) {
		char *end;

		f->rank[i] = strtoull(at, &end, 10);
		at = end + (*end == '.');
	}
	assert_true(*at == '\0');
}

static bool
is_base(const struct forge_recipe *row)
{
	return strncmp(row->path, "base:", 5) == 0;
}

static bool
is_exception(const struct forge_recipe *row)
{
	return strcmp(row->path, "except") == 0;
}

static int
read_table(void **state)
{
	struct ckpt_buf why = { 0 };

	(void)state;
	if (forge_recipes_read(&rows, "tests/pairs.tsv", &why) != 0) {
		fprintf(stderr, "%s\n", why.p ? why.p : "?");
		return 1;
	}
	faults = calloc(MOST_FAULTS, sizeof *faults);
	used = calloc(rows.n, sizeof *used);
	if (!faults || !used)
		return 1;
	for (size_t i = 0; i < rows.n; i++) {
		struct fault *f = &faults[nfaults];

		if (is_base(&rows.list[i]) || is_exception(&rows.list[i]))
			continue;
		assert_true(nfaults < MOST_FAULTS);
		f->row = &rows.list[i];
		read_steps(f);
		read_rank(f);
		if (sscanf(f->row->expect, "%31s %15s", f->kind, f->id) != 2)
			fail_msg("%s: what finding?", f->row->path);
		nfaults++;
	}
	return 0;
}

static int
release_table(void **state)
{
	(void)state;
	free(faults);
	free(used);
	forge_recipes_release(&rows);
	return 0;
}

/* ---- files -------------------------------------------------------------- */

static bool
take_turn(struct ckpt_draft *d, const struct fault *f, enum stage stage)
{
	for (size_t i = 0; f && i < f->nsteps; i++)
		if (f->steps[i].stage == stage &&
			ckpt_draft_apply(d, f->steps[i].edit,
				f->steps[i].words) != CKPT_EDIT_OK)
			return false;
	return true;
}

static bool
take_stage(struct ckpt_draft *d, const struct fault *a, const struct fault *b,
	enum stage stage)
{
	enum ckpt_draft_edit edit = CKPT_DRAFT_RELAYOUT;

	if (stage == STAGE_EXTENTS)
		edit = CKPT_DRAFT_FIX_EXTENTS;
	else if (stage == STAGE_CHECKSUM)
		edit = CKPT_DRAFT_FIX_CHECKSUM;
	else if (stage != STAGE_RELAYOUT)
		return take_turn(d, a, stage) && take_turn(d, b, stage);
	else if (!a->relayout && !(b && b->relayout))
		return true;
	return ckpt_draft_apply(d, edit, NULL) == CKPT_EDIT_OK;
}

/* The base with one fault or, in that order, with two; false if an edit
 * cannot be made. */
static bool
spoil(const struct ckpt_buf *base, const struct fault *a, const struct fault *b,
	struct ckpt_buf *bytes)
{
	struct ckpt_draft d;
	bool done;

	ckpt_buf_clear(bytes);
	done = ckpt_draft_open(&d, base->p, base->n) == CKPT_EDIT_OK;
	for (int stage = 0; done && stage < STAGES; stage++)
		done = take_stage(&d, a, b, (enum stage)stage);
	if (done)
		ckpt_buf_add(bytes, d.bytes.p, d.bytes.n);
	ckpt_draft_release(&d);
	return done && !bytes->failed;
}

static bool
same(const struct ckpt_buf *a, const struct ckpt_buf *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

/* ---- judging ------------------------------------------------------------ */

static bool
path_fits(const char *path, const char *want)
{
	size_t n = strlen(want);

	return n > 0 && want[n - 1] == '*' ? strncmp(path, want, n - 1) == 0
					   : strcmp(path, want) == 0;
}

/* A pipe tells its length last of all. */
static bool
primary_is(const struct ckpt_buf *bytes, bool pipe, const char *kind,
	const char *id, const char *path, struct ckpt_buf *found)
{
	const struct ckpt_diag *d;
	struct judged j;
	bool good;

	judged_slowly(&j, bytes->p, bytes->n, pipe ? 100 : SIZE_MAX, pipe,
		UINT64_MAX);
	d = ckpt_run_primary(j.run);
	good = d && d->rule->seed_kind && strcmp(d->rule->id, id) == 0 &&
	       path_fits(d->path, path) &&
	       (!kind || strcmp(d->rule->seed_kind, kind) == 0);
	ckpt_buf_clear(found);
	ckpt_buf_printf(
		found, "%s %s", d ? d->rule->id : "valid", d ? d->path : "");
	judged_free(&j);
	return good;
}

static int
compare(const struct fault *a, const struct fault *b)
{
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	for (int i = 0; i <= PARTS; i++)
		if (a->rank[i] != b->rank[i])
			return a->rank[i] < b->rank[i] ? -1 : 1;
	return 0;
}

static bool
named(const char *name, const char *pattern)
{
	return fnmatch(pattern, name, 0) == 0;
}

static const struct forge_recipe *
exception_of(const struct fault *a, const struct fault *b, char base)
{
	for (size_t i = 0; i < rows.n; i++) {
		const struct forge_recipe *row = &rows.list[i];
		char x[64], y[64];

		if (!is_exception(row) || !strchr(row->base, base))
			continue;
		if (sscanf(row->edits, "%63s %63s", x, y) != 2)
			fail_msg("except %s: which two?", row->edits);
		if ((named(a->row->path, x) && named(b->row->path, y)) ||
			(named(b->row->path, x) && named(a->row->path, y)))
			return row;
	}
	return NULL;
}

/* ---- one base ----------------------------------------------------------- */

struct tally {
	char base;
	struct ckpt_buf bytes; /* of the base */
	struct ckpt_buf *alone;
	struct ckpt_buf both, other, found;
	const struct fault **list;
	size_t n, tried, apart, excepted, wrong;
};

static void
judge_alone(struct tally *t, size_t i)
{
	const struct fault *f = t->list[i];

	if (!spoil(&t->bytes, f, NULL, &t->alone[i]))
		fail_msg("%s cannot be made of %c", f->row->path, t->base);
	if (primary_is(
		    &t->alone[i], false, f->kind, f->id, f->row->at, &t->found))
		return;
	print_error("%c %s: %s instead of %s %s\n", t->base, f->row->path,
		t->found.p, f->row->expect, f->row->at);
	t->wrong++;
}

/* What an edit changes. The shape of a record and all of its payload are one
 * thing: each follows the other. */
static void
target(const char *words, char *out, size_t n)
{
	static const char *const shape[] = { ".dims", ".rank", ".data=" };

	snprintf(out, n, "%.*s", (int)strcspn(words, "="), words);
	for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
		const char *at = strstr(words, shape[i]);

		if (at)
			snprintf(out, n, "%.*s", (int)(at - words), words);
	}
}

static bool
share_target(const struct fault *a, const struct fault *b)
{
	for (size_t i = 0; i < a->nsteps; i++)
		for (size_t k = 0; k < b->nsteps; k++) {
			char x[128], y[128];

			target(a->steps[i].words, x, sizeof x);
			target(b->steps[k].words, y, sizeof y);
			if (strcmp(x, y) == 0)
				return true;
		}
	return false;
}

/* Where records are removed, others get their numbers. */
static bool
renumbers(const struct fault *a, const struct fault *b)
{
	return strstr(a->row->edits, "--delete records[") &&
	       !strstr(a->row->edits, "].dims") &&
	       strstr(b->row->edits, " records[");
}

/* Values that are set in different places can be set in any order. */
static bool
order_matters(const struct fault *a, const struct fault *b)
{
	bool moves = false, a_bytes = false, b_bytes = false;

	for (size_t i = 0; i < a->nsteps; i++) {
		a_bytes |= a->steps[i].edit > CKPT_DRAFT_RELAYOUT;
		moves |= a->steps[i].edit != CKPT_DRAFT_SET;
	}
	for (size_t i = 0; i < b->nsteps; i++) {
		b_bytes |= b->steps[i].edit > CKPT_DRAFT_RELAYOUT;
		moves |= b->steps[i].edit != CKPT_DRAFT_SET;
	}
	return moves && a_bytes == b_bytes;
}

static bool
coexist(struct tally *t, size_t i, size_t k)
{
	const struct fault *a = t->list[i], *b = t->list[k];

	if (share_target(a, b) || renumbers(a, b) || renumbers(b, a) ||
		!spoil(&t->bytes, a, b, &t->both) ||
		same(&t->both, &t->alone[i]) || same(&t->both, &t->alone[k]))
		return false;
	return !order_matters(a, b) ||
	       (spoil(&t->bytes, b, a, &t->other) && same(&t->both, &t->other));
}

static void
judge_pair(struct tally *t, size_t i, size_t k)
{
	const struct fault *a = t->list[i], *b = t->list[k];
	const struct fault *low = compare(a, b) <= 0 ? a : b;
	const struct forge_recipe *except = exception_of(a, b, t->base);
	const char *kind = except ? NULL : low->kind;
	const char *id = except ? except->expect : low->id;
	const char *path = except ? except->at : low->row->at;

	t->tried++;
	if (!coexist(t, i, k)) {
		t->apart++;
		return;
	}
	if (except) {
		used[except - rows.list] = true;
		t->excepted++;
	}
	if (primary_is(&t->both, false, kind, id, path, &t->found) &&
		(low->phase > 'A' ||
			primary_is(&t->both, true, kind, id, path, &t->found)))
		return;
	print_error("%c %s + %s: %s instead of %s %s\n", t->base, a->row->path,
		b->row->path, t->found.p, id, path);
	t->wrong++;
}

static void
judge_base(const struct forge_recipe *row)
{
	struct tally t = { .base = row->path[5] };
	struct ckpt_buf why = { 0 };

	if (forge_recipe_make(&rows, row, &t.bytes, &why) != 0)
		fail_msg("%s: %s", row->path, why.p ? why.p : "?");
	t.list = calloc(nfaults, sizeof *t.list);
	t.alone = calloc(nfaults, sizeof *t.alone);
	assert_true(t.list && t.alone);
	for (size_t i = 0; i < nfaults; i++)
		if (strchr(faults[i].row->base, t.base))
			t.list[t.n++] = &faults[i];
	for (size_t i = 0; i < t.n; i++)
		judge_alone(&t, i);
	for (size_t i = 0; i < t.n; i++)
		for (size_t k = i + 1; k < t.n; k++)
			if ((k - i - 1) % EVERY == 0 ||
				exception_of(t.list[i], t.list[k], t.base))
				judge_pair(&t, i, k);
	print_message("base %c: %zu faults, %zu pairs, %zu do not coexist, "
		      "%zu excepted, %zu wrong\n",
		t.base, t.n, t.tried, t.apart, t.excepted, t.wrong);
	assert_true(t.tried - t.apart > t.tried / 2);
	assert_int_equal(t.wrong, 0);
	for (size_t i = 0; i < t.n; i++)
		ckpt_buf_release(&t.alone[i]);
	free(t.alone);
	free(t.list);
	ckpt_buf_release(&t.bytes);
	ckpt_buf_release(&t.both);
	ckpt_buf_release(&t.other);
	ckpt_buf_release(&t.found);
	ckpt_buf_release(&why);
}

static void
pairs_on(const char *base)
{
	for (size_t i = 0; i < rows.n; i++)
		if (strcmp(rows.list[i].path, base) == 0) {
			judge_base(&rows.list[i]);
			return;
		}
	fail_msg("no %s", base);
}

static void
test_pairs_with_groups_and_moments(void **state)
{
	(void)state;
	pairs_on("base:L");
}

static void
test_pairs_at_step_zero(void **state)
{
	(void)state;
	pairs_on("base:S");
}

static void
test_pairs_with_merges(void **state)
{
	(void)state;
	pairs_on("base:P");
}

static void
test_pairs_with_a_wide_head(void **state)
{
	(void)state;
	pairs_on("base:W");
}

/* What no file can show is read from the specification elsewhere: the rest of
 * the errors about bytes have a row. */
static void
test_pairs_have_every_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < ckpt_rule_count(); i++) {
		const struct ckpt_rule *rule = ckpt_rule_at(i);
		bool there = rule->severity != CKPT_ERROR ||
			     rule->id[2] >= '6' ||
			     /* Of a format whose loader has no such kinds. */
			     !rule->seed_kind ||
			     /* Such a merge table has at least 32 GiB. */
			     strcmp(rule->id, "CK5007") == 0;

		for (size_t k = 0; k < nfaults; k++)
			there |= strcmp(faults[k].id, rule->id) == 0;
		if (!there)
			fail_msg("no row for %s", rule->id);
	}
}

/* After all others: no exception is left over from another reading. */
static void
test_pairs_need_every_exception(void **state)
{
	(void)state;
	for (size_t i = 0; i < rows.n; i++)
		if (is_exception(&rows.list[i]) && !used[i])
			fail_msg("needless: except %s", rows.list[i].edits);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs_have_every_rule),
		cmocka_unit_test(test_pairs_with_merges),
		cmocka_unit_test(test_pairs_with_a_wide_head),
		cmocka_unit_test(test_pairs_at_step_zero),
		cmocka_unit_test(test_pairs_with_groups_and_moments),
		cmocka_unit_test(test_pairs_need_every_exception),
	};

	return cmocka_run_group_tests(tests, read_table, release_table);
}
