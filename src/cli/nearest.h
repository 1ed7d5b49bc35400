/* SPDX-License-Identifier: MIT */
#ifndef CKPT_CLI_NEAREST_H
#define CKPT_CLI_NEAREST_H

/*
 * "Did you mean": offer every known word, then look at best, which is NULL
 * when none is close to the one that was typed.
 */

#include <stddef.h>

struct ckpt_nearest {
	const char *typed;
	size_t n; /* length of typed */
	const char *best;
	size_t distance; /* of best */
};

void ckpt_nearest_init(
	struct ckpt_nearest *nearest, const char *typed, size_t n);
void ckpt_nearest_offer(struct ckpt_nearest *nearest, const char *word);

#endif
