/* SPDX-License-Identifier: MIT */
/*
 * Finds the known word nearest to a mistyped one. Distance counts insertions,
 * deletions, changes and swaps of neighbours; a third of the typed length is
 * allowed, so that short words do not attract everything. A word that starts
 * with what was typed counts as near: long options are not abbreviated, and
 * who tries it should learn the full name.
 */
#include "cli/nearest.h"

#include <string.h>

#define LONGEST 40

static size_t
least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Optimal string alignment; both lengths are at most LONGEST. */
static size_t
distance(const char *a, size_t an, const char *b, size_t bn)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	memset(rows, 0, sizeof rows);
	for (size_t j = 0; j <= bn; j++)
		last[j] = j;
	for (size_t i = 1; i <= an; i++) {
		size_t *spare = before;

		row[0] = i;
		for (size_t j = 1; j <= bn; j++) {
			size_t same = a[i - 1] == b[j - 1] ? 0 : 1;

			row[j] = least_of(last[j - 1] + same,
				least_of(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1])
				row[j] = least_of(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[bn];
}

void
ckpt_nearest_init(struct ckpt_nearest *nearest, const char *typed, size_t n)
{
	nearest->typed = typed;
	nearest->n = n;
	nearest->best = NULL;
	nearest->distance = n / 3 + 1;
}

void
ckpt_nearest_offer(struct ckpt_nearest *nearest, const char *word)
{
	size_t n = strlen(word), d;

	if (n > LONGEST || nearest->n > LONGEST || nearest->n < 2)
		return;
	if (n > nearest->n && strncmp(word, nearest->typed, nearest->n) == 0)
		d = 1;
	else
		d = distance(nearest->typed, nearest->n, word, n);
	if (d < nearest->distance ||
		(d == nearest->distance && d == 1 && !nearest->best)) {
		nearest->best = word;
		nearest->distance = d;
	}
}
