/* SPDX-License-Identifier: MIT */
/*
 * Two faults in one archive. The corpus has each fault alone; here the edits of
 * every two that start from the same good file are made together. What is then
 * found stands in the order below, and the first decides: what the file is,
 * its settings, its tensors, the values of the model, and then of the training
 * state, in the order in which archives are described.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/recipes.h"
#include "format/draft.h"
#include "support/judged.h"
#include "support/published.h"

static const char order[] =
	/* the container */
	"CK2121 CK1106 CK1107 "
	/* what it is, settings */
	"CK5701 CK5702 CK5703 CK5704 CK5705 CK5706 CK5707 CK5708 CK5709 CK5710 "
	"CK5711 CK5712 CK5714 "
	/* tensors, values of the model, moments */
	"CK5721 CK5722 CK5723 CK5724 CK5725 CK5713 CK4301 CK5731 CK5732 CK4302 "
	"CK4303 "
	/* envelope, data, groups */
	"CK5801 CK5802 CK5803 CK5804 CK5805 CK5806 CK5811 CK5812 CK5813 "
	/* optimizer and plan */
	"CK5831 CK5821 CK5822 CK5823 CK5824 CK5832 CK5833 CK5834 "
	/* data, dropout, loss scaling, accumulation */
	"CK5841 CK5842 CK5851 CK5852 CK5861 CK5862 CK5863 CK5871 CK5872 "
	/* what it has of no known type */
	"CK2128";

/* Two that may stand in either order, as their places in the file say. */
static const char either[] = "CK5722 CK5723";

/* Faults that the corpus has of another good file only. */
static const struct forge_recipe more[] = {
	{ "key-unknown", "", "archive/good/foreign-keys.safetensors",
		"--set metadata[0].key=backbone.author", "CK5707", "" },
	{ "integer", "", "archive/good/foreign-keys.safetensors",
		"--set metadata[7].value=04", "CK5708", "" },
	{ "key-missing", "", "archive/good/foreign-keys.safetensors",
		"--delete metadata[7]", "CK5706", "" },
	{ "integer", "", "archive/good/text.safetensors",
		"--set metadata[6].value=04", "CK5708", "" },
	{ "heads-zero", "", "archive/good/text.safetensors",
		"--set metadata[2].value=0", "CK5712", "" },
	{ "tensor-missing", "", "archive/good/text.safetensors",
		"--set tensor:final_norm.gain.name=last_norm.gain", "CK5721",
		"" },
	{ "weight-nan", "", "archive/good/text.safetensors",
		"--set tensor:final_norm.gain.data[0]=nan", "CK4301", "" },
	{ "lm-head", "", "archive/good/step-zero.safetensors",
		"--set tensor:final_norm.gain.name=lm_head.weight", "CK5722",
		"" },
	{ "updates-zero", "", "archive/good/training.safetensors",
		"--set tensor:schedule.steps.data[1]=5", "CK5832", "" },
	{ "clip", "", "archive/good/training.safetensors",
		"--set tensor:plan.clip.data[0]=0", "CK5834", "" },
	{ "semantics", "", "archive/good/overrides.safetensors",
		"--set metadata[17].value=parallel", "CK5803", "" },
	{ "data-identity", "", "archive/good/overrides.safetensors",
		"--set metadata[10].value=0", "CK5805", "" },
};

static struct forge_recipes rows;

static const struct forge_recipe *
row_at(size_t i)
{
	return i < rows.n ? &rows.list[i] : &more[i - rows.n];
}

static int
read_recipes(void **state)
{
	struct ckpt_buf why = { 0 };
	int status = forge_recipes_read(&rows, "corpus/recipes.tsv", &why);

	(void)state;
	ckpt_buf_release(&why);
	return status;
}

static int
release_recipes(void **state)
{
	(void)state;
	forge_recipes_release(&rows);
	return 0;
}

static const char *
place(const char *id)
{
	const char *at = strstr(order, id);

	if (!at)
		fail_msg("%s has no place in the order", id);
	return at;
}

static bool
begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Whether both are one good archive with other faults. What is removed gives
 * others new numbers. */
static bool
can_meet(const struct forge_recipe *a, const struct forge_recipe *b)
{
	return begins(a->base, "archive/good/") &&
	       strcmp(a->base, b->base) == 0 && begins(a->expect, "CK") &&
	       begins(b->expect, "CK") && strcmp(a->expect, b->expect) != 0 &&
	       !(strstr(a->edits, "--delete") && strstr(b->edits, "--delete"));
}

static bool
make(const struct forge_recipe *a, const struct forge_recipe *b,
	struct ckpt_buf *bytes)
{
	struct forge_recipe both = *a;
	struct ckpt_buf edits = { 0 }, why = { 0 };
	bool made, swap = strstr(a->edits, "--delete");

	ckpt_buf_printf(&edits, "%s %s", swap ? b->edits : a->edits,
		swap ? a->edits : b->edits);
	both.edits = edits.p;
	ckpt_buf_clear(bytes);
	made = forge_recipe_make(&rows, &both, bytes, &why) == 0;
	ckpt_buf_release(&edits);
	ckpt_buf_release(&why);
	return made;
}

static const struct ckpt_diag *
error_behind(const struct judged *j, size_t *i)
{
	while (*i < j->run->diags.n) {
		const struct ckpt_diag *d = &j->run->diags.list[(*i)++];

		if (d->rule->severity == CKPT_ERROR)
			return d;
	}
	return NULL;
}

/* All errors stand in their order, and the first decides. */
static void
expect_order(const struct judged *j, const struct forge_recipe *a,
	const struct forge_recipe *b)
{
	size_t i = 0;
	const struct ckpt_diag *last = error_behind(j, &i), *d;

	if (!last)
		fail_msg("%s + %s: no error", a->path, b->path);
	else
		assert_string_equal(judged_primary(j), last->rule->id);
	for (; last && (d = error_behind(j, &i)); last = d) {
		if (strstr(either, last->rule->id) &&
			strstr(either, d->rule->id))
			continue;
		if (place(last->rule->id) > place(d->rule->id))
			fail_msg("%s + %s: %s before %s", a->path, b->path,
				last->rule->id, d->rule->id);
	}
}

/* Whether both were found. */
static bool
judge(const struct forge_recipe *a, const struct forge_recipe *b,
	struct ckpt_buf *bytes)
{
	struct judged j;
	bool both;

	if (!make(a, b, bytes))
		return false;
	judged_bytes(&j, bytes->p, bytes->n);
	assert_int_not_equal(j.verdict, CKPT_VALID);
	both = judged_find(&j, a->expect) && judged_find(&j, b->expect);
	expect_order(&j, a, b);
	judged_free(&j);
	return both;
}

static void
test_archive_pairs(void **state)
{
	const size_t n = rows.n + sizeof more / sizeof more[0];
	struct ckpt_buf bytes = { 0 };
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (can_meet(row_at(i), row_at(k)))
				found += judge(row_at(i), row_at(k), &bytes);
	print_message("%zu pairs of faults were both found\n", found);
	assert_in_range(found, 500, SIZE_MAX);
	ckpt_buf_release(&bytes);
}

/* A checkpoint that has everything, and in it each kind of bad value. */
static void
test_archive_pairs_of_values(void **state)
{
	static const char *const edits[] = {
		"tensor:final_norm.gain.data[0]=nan",
		"tensor:tokenizer.merges.data[7,1]=264",
		"tensor:tokenizer.merges.data[1,0]=116",
		"tensor:tokenizer.merges.data[1,1]=104",
		"tensor:optimizer.first.final_norm.gain.data[0]=inf",
		"tensor:optimizer.second.final_norm.gain.data[0]=-1",
	};
	struct ckpt_buf bytes = { 0 }, ids = { 0 };
	struct ckpt_draft draft;
	struct judged j;

	(void)state;
	published_archive(&bytes);
	assert_int_equal(
		ckpt_draft_open(&draft, bytes.p, bytes.n), CKPT_EDIT_OK);
	for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
		assert_int_equal(
			ckpt_draft_apply(&draft, CKPT_DRAFT_SET, edits[i]),
			CKPT_EDIT_OK);
	judged_bytes(&j, draft.bytes.p, draft.bytes.n);
	for (size_t i = 0; i < j.run->diags.n; i++)
		ckpt_buf_printf(&ids, " %s", j.run->diags.list[i].rule->id);
	assert_string_equal(ids.p, " CK4301 CK5731 CK5732 CK4302 CK4303");
	judged_free(&j);
	ckpt_draft_release(&draft);
	ckpt_buf_release(&bytes);
	ckpt_buf_release(&ids);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archive_pairs),
		cmocka_unit_test(test_archive_pairs_of_values),
	};

	return cmocka_run_group_tests(tests, read_recipes, release_recipes);
}
