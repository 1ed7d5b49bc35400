/* SPDX-License-Identifier: MIT */
/*
 * Two faults in one archive. The corpus has each fault alone; here the edits of
 * every two that start from the same good file are made together. Where both
 * are found, the one that decides is the one that stands first below: what the
 * file is, its settings, its tensors, the values of the model, and then of
 * the training state, in the order in which archives are described.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cli/recipes.h"
#include "support/judged.h"

static const char order[] =
	/* the container */
	"CK2121 CK1106 CK1107 "
	/* what it is, settings */
	"CK5701 CK5702 CK5703 CK5704 CK5705 CK5706 CK5707 CK5708 CK5709 CK5710 "
	"CK5711 CK5712 CK5714 "
	/* tensors, values of the model, moments */
	"CK5721 CK5723 CK5724 CK5725 CK5713 CK4301 CK5731 CK5732 CK4302 CK4303 "
	/* envelope, data, groups */
	"CK5801 CK5802 CK5803 CK5804 CK5805 CK5806 CK5811 CK5812 CK5813 "
	/* optimizer and plan */
	"CK5831 CK5821 CK5822 CK5823 CK5824 CK5832 CK5833 CK5834 "
	/* data, dropout, loss scaling, accumulation */
	"CK5841 CK5842 CK5851 CK5852 CK5861 CK5862 CK5863 CK5871 CK5872";

static struct forge_recipes rows;

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

/* Whether both were found; if so the right one has decided. */
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
	if (both) {
		const char *first = place(a->expect) < place(b->expect)
					    ? a->expect
					    : b->expect;

		if (strcmp(judged_primary(&j), first) != 0)
			fail_msg("%s + %s: %s decides, not %s", a->path,
				b->path, judged_primary(&j), first);
	}
	judged_free(&j);
	return both;
}

static void
test_archive_pairs(void **state)
{
	struct ckpt_buf bytes = { 0 };
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < rows.n; i++)
		for (size_t k = i + 1; k < rows.n; k++)
			if (can_meet(&rows.list[i], &rows.list[k]))
				found += judge(
					&rows.list[i], &rows.list[k], &bytes);
	print_message("%zu pairs of faults were both found\n", found);
	assert_in_range(found, 500, SIZE_MAX);
	ckpt_buf_release(&bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archive_pairs),
	};

	return cmocka_run_group_tests(tests, read_recipes, release_recipes);
}
