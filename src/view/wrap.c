/* SPDX-License-Identifier: MIT */
/*
 * Where a row of words ends.
 */
#include "view/wrap.h"

#include "view/grid.h"

size_t
view_row_bytes(const char *text, size_t n, int cols)
{
	/* A wide character needs two. */
	size_t fit = view_fit(text, n, cols > 2 ? cols : 2), end;

	if (fit == n)
		return n;
	for (end = fit; end > 0 && text[end] != ' ';)
		end--;
	if (end > 0)
		return end;
	for (end = fit; end > 0 && text[end] != '.' && text[end] != '[';)
		end--;
	if (end > 0)
		return end;
	return fit > 0 ? fit : 1;
}
