/* SPDX-License-Identifier: MIT */
/*
 * Which clicks are taken for a double click: on one cell, soon enough, and in
 * pairs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/clicks.h"

static void
test_clicks_in_pairs(void **state)
{
	static const struct {
		int row, col;
		struct timespec at;
		bool twice;
	} rows[] = {
		/* The first of all follows none, even soon after the start. */
		{ 0, 0, { 0, 1 }, false },
		{ 0, 0, { 0, 200000000 }, true },
		/* The third and fourth are a pair of their own. */
		{ 0, 0, { 0, 300000000 }, false },
		{ 0, 0, { 0, 400000000 }, true },
		{ 7, 8, { 0, 500000000 }, false },
		{ 7, 9, { 0, 600000000 }, false },
		{ 6, 9, { 0, 700000000 }, false },
		{ 6, 9, { 0, 800000000 }, true },
		/* Across a second; then exactly and just below the limit. */
		{ 6, 9, { 5, 900000000 }, false },
		{ 6, 9, { 6, 100000000 }, true },
		{ 6, 9, { 10, 0 }, false },
		{ 6, 9, { 10, 400000000 }, false },
		{ 6, 9, { 10, 799999999 }, true },
		/* Much later, by seconds that differ in nothing but them. */
		{ 6, 9, { 20, 0 }, false },
		{ 6, 9, { 21, 0 }, false },
		{ 6, 9, { 23, 0 }, false },
		{ 6, 9, { INT32_MAX, 0 }, false },
	};
	struct view_clicks clicks = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (view_clicks_twice(&clicks, rows[i].row, rows[i].col,
			    &rows[i].at) != rows[i].twice)
			fail_msg("click %zu", i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clicks_in_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
