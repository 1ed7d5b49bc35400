/* SPDX-License-Identifier: MIT */
/*
 * The table of names: what was put in is found, after its own start only, and
 * two tables do not hash alike, so that no file can aim at one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "view/names.h"

static void
test_names(void **state)
{
	struct view_names names, others;
	size_t at = 0;
	uint32_t value;
	char text[16];

	(void)state;
	view_names_init(&names);
	view_names_init(&others);
	assert_false(view_names_next(&names, 1, &at, &value));
	assert_int_not_equal(view_names_hash(&names, 0, "blocks", 6),
		view_names_hash(&others, 0, "blocks", 6));
	for (uint32_t i = 0; i < 10000; i++) {
		int n = snprintf(text, sizeof text, "name %u", i);

		assert_true(view_names_add(&names,
			view_names_hash(&names, i % 2, text, (size_t)n), i));
	}
	for (uint32_t i = 0; i < 10000; i++) {
		int n = snprintf(text, sizeof text, "name %u", i);

		at = 0;
		assert_true(view_names_next(&names,
			view_names_hash(&names, i % 2, text, (size_t)n), &at,
			&value));
		assert_int_equal(value, i);
		at = 0;
		assert_false(view_names_next(&names,
			view_names_hash(&names, 2, text, (size_t)n), &at,
			&value));
	}
	/* Lengths count, also of zero bytes. */
	assert_int_not_equal(view_names_hash(&names, 0, "\0\0\0\0\0\0\0\0", 7),
		view_names_hash(&names, 0, "\0\0\0\0\0\0\0\0", 8));
	view_names_release(&names);
	view_names_release(&others);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
